"""The rules of two-player Wavelength: one clue for a target that only the psychic sees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property

import msgspec

from sally.core.errors import BadInput
from sally.core.rules.game import Game, Seat
from sally.core.rules.menu import Act, Form, Options, Text
from sally.games.association.frozen import row_of
from sally.games.association.lexicon import clue_problem, open_words
from sally.games.wavelength.instances import Problem, frozen
from sally.games.wavelength.spectra import places_by_name, spectrum

PSYCHIC, GUESSER = Seat("psychic"), Seat("guesser")
LONGEST = 40  # characters of a clue
DIAL = tuple(range(101))
BANDS = ((2, 4), (6, 3), (10, 2))  # (largest error, points)


class Clue(Act, frozen=True):
    """The psychic's one-word clue."""

    word: str


Action = Clue | int  # an integer is the guesser's dial position


class Round(msgspec.Struct, frozen=True):
    """A finished round; `clue` or `dial` is None if it was forfeited."""

    clue: str | None
    dial: int | None


class State(msgspec.Struct, frozen=True):
    """The rounds so far, the current clue and all rejected clues."""

    past: tuple[Round, ...] = ()
    clue: str | None = None
    refused: tuple[tuple[int, str, str], ...] = ()  # (round, clue, why it is not allowed)


class Seen(msgspec.Struct, frozen=True):
    """A past round as both seats remember it."""

    left: str
    right: str
    target: int
    clue: str | None
    dial: int | None
    points: int


class View(msgspec.Struct, frozen=True):
    """The information of a seat; only the psychic sees the target until the dial is set."""

    seat: Seat
    past: tuple[Seen, ...]
    left: str = ""
    right: str = ""
    target: int | None = None
    clue: str | None = None
    refused: tuple[tuple[int, str, str], ...] = ()  # the psychic's own


@dataclass(frozen=True)
class Wavelength(Game[State, Action, View]):
    """The game of Wavelength, played on a stored sequence of problems (sequence `number` of the set
    `set`) or on custom `problems`."""

    set: str = "balanced"
    number: int = 0
    rounds: int = 10
    problems: tuple[Problem, ...] = ()
    bands: tuple[tuple[int, int], ...] = BANDS
    any_word: bool = False  # whether clues from outside the word list are allowed

    seats = (PSYCHIC, GUESSER)
    pays_as_it_goes = True

    def __post_init__(self) -> None:
        if self.rounds < 1 or self.rounds > len(self.row):
            raise BadInput(f"rounds must be from 1 to {len(self.row)}, not {self.rounds}")
        widths = [width for width, _ in self.bands]
        if not widths or widths != sorted({*widths}) or widths[0] < 0:
            raise BadInput(
                "`bands` must list pairs of an error and its points, with errors that start at 0 "
                "or more and increase, as in [[2, 4], [6, 3], [10, 2]]"
            )
        for problem in self.row:
            spectrum(problem.left, problem.right)
            if problem.target not in DIAL:
                raise BadInput(f"a target must be from 0 to 100, not {problem.target}")

    @cached_property
    def row(self) -> tuple[Problem, ...]:
        """The problems of this game in order."""
        return self.problems or row_of(frozen(self.set), self.number)

    @property
    def best_score(self) -> int:
        """The points of a perfect round."""
        return max(points for _, points in self.bands)

    def points(self, target: int, dial: int | None) -> int:
        """Return the points for a dial position; 0 if no position was set."""
        if dial is None:
            return 0
        return next(
            (band_points for width, band_points in self.bands if abs(target - dial) <= width), 0
        )

    # --- the rules --------------------------------------------------------------------------------

    def start(self) -> State:
        return State()

    def to_move(self, state: State) -> tuple[Seat, ...]:
        if len(state.past) >= self.rounds:
            return ()
        return (PSYCHIC,) if state.clue is None else (GUESSER,)

    def options(self, state: State, seat: Seat) -> Options[Action]:
        if seat == GUESSER:
            return DIAL
        now = self.row[len(state.past)]
        return (Form(Clue, (("word", Text(LONGEST, samples=legal(now.left, now.right))),)),)

    def step(self, state: State, moves: Mapping[Seat, Action]) -> State:
        if state.clue is None:
            clue = moves[PSYCHIC]
            assert isinstance(clue, Clue)
            problem = self.row[len(state.past)]
            reason = self.objection(problem.left, problem.right, clue.word)
            if reason is None:
                return msgspec.structs.replace(state, clue=clue.word)
            refusal = (len(state.past), clue.word, reason)
            return msgspec.structs.replace(state, refused=(*state.refused, refusal))
        dial = moves[GUESSER]
        assert isinstance(dial, int)
        return self._end_round(state, Round(state.clue, dial))

    def forfeit(
        self, state: State, moves: Mapping[Seat, Action], forfeited: tuple[Seat, ...]
    ) -> State:
        """Void the round: it pays nothing, and without a clue the guesser does not move."""
        return self._end_round(state, Round(state.clue, None))

    def _end_round(self, state: State, done: Round) -> State:
        return State((*state.past, done), None, state.refused)

    def objection(self, left: str, right: str, clue: str) -> str | None:
        """Return why a clue is not allowed on a dial with these ends, or None if it is allowed."""
        if clue.strip().casefold() in places_by_name():
            return f"The clue '{clue.strip()}' names a place on the dial; say what lies there."
        return clue_problem(clue, (left, right), self.any_word)

    def rejections(self, state: State, seat: Seat) -> int:
        if seat != PSYCHIC or state.clue is not None:
            return 0
        return sum(number == len(state.past) for number, _, _ in state.refused)

    def begins_turn(self, state: State) -> bool:
        return state.clue is None and not self.rejections(state, PSYCHIC)

    def observe(self, state: State, seat: Seat) -> View:
        past = tuple(map(self._past_round, self.row, state.past))
        refused = state.refused if seat == PSYCHIC else ()
        if len(state.past) >= self.rounds:
            return View(seat, past, refused=refused)
        now = self.row[len(state.past)]
        target = now.target if seat == PSYCHIC else None
        return View(seat, past, now.left, now.right, target, state.clue, refused)

    def _past_round(self, problem: Problem, done: Round) -> Seen:
        points = self.points(problem.target, done.dial)
        return Seen(problem.left, problem.right, problem.target, done.clue, done.dial, points)

    def payoffs(self, state: State) -> Mapping[Seat, float]:
        """Return the total points, which are the same for both seats."""
        total = sum(past_round.points for past_round in map(self._past_round, self.row, state.past))
        return {PSYCHIC: float(total), GUESSER: float(total)}


@cache
def legal(left_pole: str, right_pole: str) -> tuple[str, ...]:
    """Return the vocabulary words that are legal clues for a spectrum, in alphabetical order."""
    return tuple(w for w in open_words((left_pole, right_pole)) if w not in places_by_name())
