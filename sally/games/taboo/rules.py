"""The rules of two-player Taboo: one-word hints for a secret word, with some words banned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

import msgspec

from sally.core.errors import BadInput
from sally.core.rules.chance import Stream
from sally.core.rules.game import Game, Seat
from sally.core.rules.menu import Act, Form, Options, Text
from sally.games.association.frozen import row_of
from sally.games.association.lexicon import (
    ONE_WORD,
    SHAPE,
    cards,
    clue_problem,
    open_words,
    places,
    plain,
    plain_words,
)
from sally.games.taboo.instances import Problem, frozen

GIVER, GUESSER = Seat("giver"), Seat("guesser")
LONGEST = 40  # characters of a word
MOST_CUES = 20


class Hint(Act, frozen=True):
    """The giver's one-word hint."""

    word: str


class Guess(Act, frozen=True):
    """The word that the guesser names in reply to the hints, or to a cue before play."""

    word: str


Action = Hint | Guess
Tries = tuple[tuple[str | None, str | None], ...]  # hint and guess; None: forfeited


class Refusal(msgspec.Struct, frozen=True):
    """A hint that the rules rejected."""

    round: int
    number: int  # of the hint, from 0
    word: str
    why: str


class Round(msgspec.Struct, frozen=True):
    """The hint and guess pairs of a round."""

    tries: Tries = ()
    found: bool = False


class State(msgspec.Struct, frozen=True):
    """The full state: answers to the cues before play, rounds, and the current hint."""

    answers: tuple[str | None, ...] = ()  # to the cues before play
    past: tuple[Round, ...] = ()
    now: Round = Round()
    hint: str | None = None
    refused: tuple[Refusal, ...] = ()


class Seen(msgspec.Struct, frozen=True):
    """A past round as both seats remember it."""

    target: str
    tries: Tries
    found: bool
    points: int


class View(msgspec.Struct, frozen=True):
    """The information of a seat; only the giver sees target and banned words during a round."""

    seat: Seat
    cues: tuple[tuple[str, str | None], ...]  # the guesser's associations before play
    past: tuple[Seen, ...]
    cue: str = ""  # what the guesser is asked before play
    target: str = ""
    banned: tuple[str, ...] = ()
    tries: Tries = ()
    hint: str | None = None
    over: bool = False
    refused: tuple[Refusal, ...] = ()  # the giver's own


@dataclass(frozen=True)
class Taboo(Game[State, Action, View]):
    """The game of Taboo, played on a stored sequence of problems (number `number` of the collection
    `set`) or on custom `problems`."""

    set: str = "balanced"
    number: int = 0
    rounds: int = 10
    problems: tuple[Problem, ...] = ()
    hints: int = 5
    cues: int = 0  # number of associations of the guesser shown before play
    any_word: bool = False  # whether hints from outside the word list are allowed

    seats = (GIVER, GUESSER)
    pays_as_it_goes = True

    def __post_init__(self) -> None:
        if not 1 <= self.rounds <= len(self.row):
            raise BadInput(f"rounds must be from 1 to {len(self.row)}, not {self.rounds}")
        if not 1 <= self.hints <= 20:
            raise BadInput(f"hints must be from 1 to 20, not {self.hints}")
        if not 0 <= self.cues <= MOST_CUES:
            raise BadInput(f"cues must be from 0 to {MOST_CUES}, not {self.cues}")
        for problem in self.row:
            if problem.target not in places():
                raise BadInput(f"the target {problem.target!r} is not on the word list")

    @cached_property
    def row(self) -> tuple[Problem, ...]:
        """The problems of this game in order."""
        return self.problems or row_of(frozen(self.set), self.number)

    @cached_property
    def cue_words(self) -> tuple[str, ...]:
        """The cue words asked before play; they are never targets, so they reveal nothing."""
        return _cues(self.set, self.number)[: self.cues] if self.cues else ()

    def points(self, done: Round) -> int:
        """Return 1 point for finding the word plus 1 for every unused hint; 0 if it was not
        found."""
        return self.hints + 1 - len(done.tries) if done.found else 0

    # --- the rules --------------------------------------------------------------------------------

    def start(self) -> State:
        return State()

    def to_move(self, state: State) -> tuple[Seat, ...]:
        if len(state.answers) < self.cues:
            return (GUESSER,)
        if len(state.past) >= self.rounds:
            return ()
        return (GIVER,) if state.hint is None else (GUESSER,)

    def options(self, state: State, seat: Seat) -> Options[Action]:
        if seat == GUESSER:
            word = Text(LONGEST, SHAPE, samples=cards(), form=ONE_WORD)
            return (Form(Guess, (("word", word),)),)
        samples = open_words(hidden(self.row[len(state.past)]))
        return (Form(Hint, (("word", Text(LONGEST, samples=samples)),)),)

    def step(self, state: State, moves: Mapping[Seat, Action]) -> State:
        if len(state.answers) < self.cues:
            cue_answer = moves[GUESSER].word
            return msgspec.structs.replace(state, answers=(*state.answers, cue_answer))
        if state.hint is None:
            return self._apply_hint(state, moves[GIVER].word)
        return self._apply_guess(state, state.hint, moves[GUESSER].word)

    def _apply_hint(self, state: State, word: str) -> State:
        reason = self.objection(state, word)
        if reason is None:
            return msgspec.structs.replace(state, hint=word)
        refusal = Refusal(len(state.past), len(state.now.tries), word, reason)
        return msgspec.structs.replace(state, refused=(*state.refused, refusal))

    def _apply_guess(self, state: State, hint: str | None, guess: str | None) -> State:
        is_found = guess is not None and is_right(self.row[len(state.past)].target, guess)
        now = Round((*state.now.tries, (hint, guess)), is_found)
        if is_found or len(now.tries) >= self.hints:
            return msgspec.structs.replace(state, past=(*state.past, now), now=Round(), hint=None)
        return msgspec.structs.replace(state, now=now, hint=None)

    def forfeit(
        self, state: State, moves: Mapping[Seat, Action], forfeited: tuple[Seat, ...]
    ) -> State:
        """Handle a forfeit: a cue remains unanswered, and a missing hint or guess uses up one hint
        without a guess."""
        if len(state.answers) < self.cues:
            return msgspec.structs.replace(state, answers=(*state.answers, None))
        return self._apply_guess(state, state.hint, None)

    def objection(self, state: State, hint: str) -> str | None:
        """Return why a hint is not allowed now, or None if it is allowed."""
        problem = self.row[len(state.past)]
        hints = tuple(hint for hint, _ in state.now.tries if hint)
        return self.objection_to(hint, problem.target, problem.banned, hints)

    def objection_to(
        self, new_hint: str, target: str, banned: tuple[str, ...], hints: tuple[str, ...]
    ) -> str | None:
        """Return why a hint for this target is not allowed after these hints, or None if it is
        allowed."""
        word = plain(new_hint)
        if word in banned:
            return f"The word '{word}' is banned."
        if word in {plain(hint) for hint in hints}:
            return f"You have said '{word}' already."
        return clue_problem(new_hint, (target, *banned), self.any_word)

    def rejections(self, state: State, seat: Seat) -> int:
        if seat != GIVER or state.hint is not None:
            return 0
        place = (len(state.past), len(state.now.tries))
        return sum((refusal.round, refusal.number) == place for refusal in state.refused)

    def begins_turn(self, state: State) -> bool:
        playing = len(state.answers) >= self.cues and state.hint is None
        return playing and not state.now.tries and not self.rejections(state, GIVER)

    def observe(self, state: State, seat: Seat) -> View:
        cues = tuple(zip(self.cue_words, state.answers, strict=False))
        past = tuple(map(self._past_round, self.row, state.past))
        refused = state.refused if seat == GIVER else ()
        if len(state.answers) < self.cues:
            cue = self.cue_words[len(state.answers)] if seat == GUESSER else ""
            return View(seat, cues, past, cue)
        if len(state.past) >= self.rounds:
            return View(seat, cues, past, over=True, refused=refused)
        now, is_giver = self.row[len(state.past)], seat == GIVER
        return View(
            seat,
            cues,
            past,
            target=now.target if is_giver else "",
            banned=now.banned if is_giver else (),
            tries=state.now.tries,
            hint=state.hint,
            refused=refused,
        )

    def _past_round(self, problem: Problem, done: Round) -> Seen:
        return Seen(problem.target, done.tries, done.found, self.points(done))

    def payoffs(self, state: State) -> Mapping[Seat, float]:
        """Return the total points, which are the same for both seats."""
        total = float(sum(map(self.points, state.past)))
        return {GIVER: total, GUESSER: total}


def is_right(target: str, guess: str) -> bool:
    """Return whether a guess is the target word, in the singular or plural."""
    plain_guess = plain(guess)
    plural = {target + "s", target + "es"} | ({target[:-1] + "ies"} if target[-1] == "y" else set())
    return plain_guess == target or plain_guess in plural


@lru_cache(maxsize=1024)
def _cues(name: str, number: int) -> tuple[str, ...]:
    """Return all cues for a sequence of problems, in order; a game asks the first few of them."""
    return tuple(Stream("cues", name, number).shuffled(plain_words())[:MOST_CUES])


def hidden(problem: Problem) -> tuple[str, ...]:
    """Return the words that a hint may neither be nor resemble."""
    return (problem.target, *problem.banned)
