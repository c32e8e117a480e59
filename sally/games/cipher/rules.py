"""The rules of Cipher: a secret code, three hints, two hidden guesses, and tokens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import msgspec

from sally.core.errors import BadInput
from sally.core.rules.game import NATURE, Game, Seat
from sally.core.rules.menu import Act, Form, Options, Text
from sally.games.association.lexicon import (
    ONE_WORD,
    SHAPE,
    clue_problem,
    open_words,
    overlaps,
    places,
)
from sally.games.cipher.instances import PastRound, Problem, problems_of
from sally.games.cipher.listeners import CODES, DIGITS, LENGTH, Filed, digits

ENCODER, DECODER, INTERCEPTOR = Seat("encoder"), Seat("decoder"), Seat("interceptor")
TEAM = (ENCODER, DECODER)
NONE = 0  # no code: not drawn yet, or a guess that was forfeited
End = Literal["survived", "miscommunication", "interception", "both"]
LONGEST = 40  # characters of a hint
Told = Literal["", "history", "bayes", "blind"]


# --- moves, states and views --------------------------------------------------------------------


class Hints(Act, frozen=True):
    """Three hints, in the order of the code's digits."""

    first: str
    second: str
    third: str

    @property
    def words(self) -> tuple[str, str, str]:
        return (self.first, self.second, self.third)


Action = int | Hints  # a code is an int: 421 is 4-2-1


class Hinted(msgspec.Struct, frozen=True, tag="hinted"):
    """Accepted hints."""

    hints: tuple[str, str, str]


class Revealed(msgspec.Struct, frozen=True, tag="revealed"):
    """The end of a round: its code and both guesses, where 0 is a forfeited guess."""

    code: int
    decoder: int
    interceptor: int


class Void(msgspec.Struct, frozen=True, tag="void"):
    """A round without hints: its code is revealed and cannot recur."""

    code: int


class Over(msgspec.Struct, frozen=True, tag="over"):
    """The end of a game."""

    how: End


Event = Hinted | Revealed | Void | Over


class Refusal(msgspec.Struct, frozen=True):
    """Rejected hints, and how many events preceded them."""

    after: int
    hints: tuple[str, str, str]
    why: str


class Record(msgspec.Struct, frozen=True):
    """Public information about a game in progress."""

    filed: Filed = ((),) * DIGITS
    used: tuple[int, ...] = ()
    played: int = 0  # rounds that count: with hints, since the game began
    miscommunications: int = 0
    interceptions: int = 0
    void_in_a_row: int = 0

    @property
    def remaining_codes(self) -> tuple[int, ...]:
        """The codes that can still occur."""
        return tuple(code for code in CODES if code not in self.used)


def record_of(past: Iterable[PastRound], events: Iterable[Event]) -> Record:
    """Return the record of a game from its earlier rounds and the events since then."""
    filed: list[list[str]] = [[] for _ in range(DIGITS)]
    used: list[int] = []
    hints: tuple[str, ...] = ()
    played = missed = caught = void = 0
    for past_round in past:
        _file(filed, past_round.code, past_round.hints)
        used.append(past_round.code)
    for event in events:
        if isinstance(event, Hinted):
            hints = event.hints
        elif isinstance(event, Void):
            used.append(event.code)
            void += 1
        elif isinstance(event, Revealed):
            _file(filed, event.code, hints)
            used.append(event.code)
            played, void = played + 1, 0
            missed += event.decoder != event.code
            caught += event.interceptor == event.code
    return Record(tuple(map(tuple, filed)), tuple(used), played, missed, caught, void)


def _file(filed: list[list[str]], code: int, hints: tuple[str, ...]) -> None:
    for digit, hint in zip(digits(code), hints, strict=True):
        filed[digit - 1].append(hint)


class State(msgspec.Struct, frozen=True):
    """The full state: all past events, and the secrets of the current round."""

    log: tuple[Event, ...] = ()
    game: int = 0
    began: int = 0  # how many events precede the current game
    code: int = NONE
    reading: int = NONE  # what a faulty line shows the interceptor, if there is one
    readings: tuple[int, ...] = ()  # the readings of every round so far
    hints: tuple[str, ...] = ()
    refused: tuple[Refusal, ...] = ()


class View(msgspec.Struct, frozen=True):
    """The information of a seat: encoder and decoder see the keywords; the encoder also sees the
    code and which of its hints were refused."""

    seat: Seat
    game: int
    pasts: tuple[tuple[PastRound, ...], ...]  # the rounds before each game so far
    log: tuple[Event, ...]
    began: int
    keywords: tuple[tuple[str, ...], ...] = ()  # of every game so far
    code: int = NONE
    reading: int = NONE  # the interceptor's
    readings: tuple[int, ...] = ()  # of every round so far
    hints: tuple[str, ...] = ()
    over: bool = False
    refused: tuple[Refusal, ...] = ()

    @property
    def record(self) -> Record:
        """The record of the current game."""
        return record_of(self.pasts[-1], self.log[self.began :])


def past_guesses(view: View) -> Iterator[tuple[Record, tuple[str, ...], int]]:
    """Yield the interceptor's past guesses, each with the record before the round and the hints."""
    game = began = 0
    hints: tuple[str, ...] = ()
    for number, event in enumerate(view.log):
        if isinstance(event, Hinted):
            hints = event.hints
        elif isinstance(event, Revealed) and event.interceptor:
            yield (
                record_of(view.pasts[game], view.log[began : number - 1]),
                hints,
                event.interceptor,
            )
        elif isinstance(event, Over):
            game, began = game + 1, number + 1


# --- the game -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cipher(Game[State, Action, View]):
    """Several games with the same players, each with its own keywords.

    `set` and `number` name a stored series of games; `problems` gives custom games instead. With
    `channel`, the interceptor receives a randomly garbled copy of the code that does not depend on
    the hints: each row of `channel` gives the probabilities that 0, 1, 2 and 3 digits of the copy
    are right in a round (the last row holds for all later rounds). `told` is the statement about
    the interceptor in the encoder's prompt; it may be false.
    """

    set: str = "plain"
    number: int = 0
    games: int = 4
    problems: tuple[Problem, ...] = ()
    rounds: int = 8  # rounds after which the team has won
    tokens: int = 2  # of one kind that lose a game
    any_word: bool = False  # whether hints from outside the word list are allowed
    channel: tuple[tuple[float, float, float, float], ...] = ()
    told: Told = ""
    void_limit: int = 3  # consecutive void rounds that end the episode without a result

    seats = (ENCODER, DECODER, INTERCEPTOR)
    helpers = (NATURE,)
    pays_as_it_goes = True
    censors_forfeits = True

    def __post_init__(self) -> None:
        if not 1 <= self.games <= len(self.row):
            raise BadInput(f"games must be from 1 to {len(self.row)}, not {self.games}")
        for name in ("rounds", "tokens", "void_limit"):
            if getattr(self, name) < 1:
                raise BadInput(f"{name} must be at least 1, not {getattr(self, name)}")
        for chances in self.channel:
            if min(chances) < 0 or abs(sum(chances) - 1) > 1e-6:
                raise BadInput("each row of channel needs four probabilities that sum to 1")
        for problem in self.row:
            self._check(problem)

    def _check(self, problem: Problem) -> None:
        words = problem.keywords
        for word in words:
            if word not in places():
                raise BadInput(f"the keyword {word!r} is not on the word list")
        for n, word in enumerate(words):
            if any(overlaps(word, earlier_word) for earlier_word in words[:n]):
                raise BadInput(f"the keywords {', '.join(words)} are too similar")
        codes = [*(past_round.code for past_round in problem.past), *problem.codes]
        wrong = [code for code in codes if code not in CODES]
        if wrong:
            raise BadInput(f"a code is three different digits from 1 to 4, not {wrong[0]}")
        if len({*codes}) < len(codes):
            raise BadInput("a code cannot occur twice in a game")
        if len(problem.past) + self.rounds > len(CODES):
            n_codes_left = len(CODES) - len(problem.past)
            raise BadInput(f"rounds must be at most {n_codes_left}, the number of codes left")
        for past_round in problem.past:
            for hint in past_round.hints:
                if (problem_text := clue_problem(hint, words, any_word=True)) is not None:
                    raise BadInput(f"the past hint {hint!r} is not allowed: {problem_text}")

    @cached_property
    def row(self) -> tuple[Problem, ...]:
        """The games of this match, in order."""
        return self.problems or problems_of(self.set, self.number)

    # --- the rules --------------------------------------------------------------------------

    def start(self) -> State:
        return State()

    def to_move(self, state: State) -> tuple[Seat, ...]:
        if state.game >= self.games:
            return ()
        if state.code == NONE or (self.channel and state.reading == NONE):
            return (NATURE,)
        return (DECODER, INTERCEPTOR) if state.hints else (ENCODER,)

    def record(self, state: State) -> Record:
        """Return the public record of the current game."""
        return record_of(self.row[state.game].past, state.log[state.began :])

    def options(self, state: State, seat: Seat) -> Options[Action]:
        if seat == NATURE:
            return tuple(self.odds(state))
        if seat != ENCODER:
            return self.record(state).remaining_codes
        word = Text(LONGEST, SHAPE, open_words(self.row[state.game].keywords), form=ONE_WORD)
        return (Form(Hints, tuple((name, word) for name in Hints.__struct_fields__)),)

    def odds(self, state: State) -> Mapping[Action, float]:
        """Return the probabilities of nature's move: equal ones for the remaining codes or, once
        the code is drawn, those of the garbled copy of it that the interceptor receives through the
        channel."""
        record, problem = self.record(state), self.row[state.game]
        if state.code == NONE:
            fixed = problem.codes[len(record.used) - len(problem.past) :]
            codes = fixed[:1] or record.remaining_codes
            return {code: 1 / len(codes) for code in codes}
        chances = self.channel[min(record.played, len(self.channel) - 1)]
        alike = {code: places_right(code, state.code) for code in record.remaining_codes}
        counts = [list(alike.values()).count(n) for n in range(LENGTH + 1)]
        total_chance = sum(chance for chance, n in zip(chances, counts, strict=True) if n)
        if not total_chance:  # no remaining code fits the chances: the line shows any code
            return {code: 1 / len(alike) for code in alike}
        return {
            code: chances[n] / counts[n] / total_chance for code, n in alike.items() if chances[n]
        }

    def step(self, state: State, moves: Mapping[Seat, Action]) -> State:
        if NATURE in moves:
            nature_move = moves[NATURE]
            assert isinstance(nature_move, int)
            if state.code == NONE:
                return msgspec.structs.replace(state, code=nature_move)
            readings = (*state.readings, nature_move)
            return msgspec.structs.replace(state, reading=nature_move, readings=readings)
        if ENCODER in moves:
            hints = moves[ENCODER]
            assert isinstance(hints, Hints)
            return self._apply_hints(state, hints)
        return self._reveal_guesses(state, moves)

    def _apply_hints(self, state: State, hints: Hints) -> State:
        keywords = self.row[state.game].keywords
        for word in hints.words:
            if (reason := clue_problem(word, keywords, self.any_word)) is not None:
                refusal = Refusal(len(state.log), hints.words, reason)
                return msgspec.structs.replace(state, refused=(*state.refused, refusal))
        log = (*state.log, Hinted(hints.words))
        return msgspec.structs.replace(state, log=log, hints=hints.words)

    def _reveal_guesses(self, state: State, moves: Mapping[Seat, Action]) -> State:
        guesses = [moves.get(seat, NONE) for seat in (DECODER, INTERCEPTOR)]
        decoder, interceptor = (guess if isinstance(guess, int) else NONE for guess in guesses)
        return self._next(state, Revealed(state.code, decoder, interceptor))

    def _next(self, state: State, event: Event) -> State:
        """Return the state at the start of the next round or game."""
        kept_fields: dict[str, Any] = {"refused": state.refused, "readings": state.readings}
        next_state = State((*state.log, event), state.game, state.began, **kept_fields)
        end = self.ending(self.record(next_state))
        if end is None:
            return next_state
        log = (*next_state.log, Over(end))
        return State(log, state.game + 1, len(log), **kept_fields)

    def ending(self, record: Record) -> End | None:
        """Return how a game with this record ended, or None if it continues."""
        missed = record.miscommunications >= self.tokens
        caught = record.interceptions >= self.tokens
        if missed or caught:
            return "both" if missed and caught else "miscommunication" if missed else "interception"
        return "survived" if record.played >= self.rounds else None

    def forfeit(
        self, state: State, moves: Mapping[Seat, Action], forfeited: tuple[Seat, ...]
    ) -> State:
        """Void a round without hints and reveal its code; count a missing guess as wrong."""
        if ENCODER in forfeited:
            return self._next(state, Void(state.code))
        return self._reveal_guesses(state, moves)

    def censored(self, state: State) -> str | None:
        if state.game >= self.games:
            return None
        record = self.record(state)
        if record.void_in_a_row >= self.void_limit:
            return f"{record.void_in_a_row} rounds in a row were void"
        if len(record.remaining_codes) < self.rounds - record.played:
            return f"{len(record.remaining_codes)} codes are too few for {self.rounds} rounds"
        return None

    def rejections(self, state: State, seat: Seat) -> int:
        if seat != ENCODER or state.hints:
            return 0
        return sum(refusal.after == len(state.log) for refusal in state.refused)

    def begins_turn(self, state: State) -> bool:
        return not state.hints and not self.rejections(state, ENCODER)

    def observe(self, state: State, seat: Seat) -> View:
        is_over = state.game >= self.games
        visible_problems = self.row[: min(state.game + 1, self.games)]
        return View(
            seat=seat,
            game=len(visible_problems),
            pasts=tuple(problem.past for problem in visible_problems),
            log=state.log,
            began=state.began,
            keywords=tuple(problem.keywords for problem in visible_problems)
            if seat in TEAM
            else (),
            code=state.code if seat == ENCODER else NONE,
            reading=state.reading if seat == INTERCEPTOR else NONE,
            readings=state.readings if seat == INTERCEPTOR else (),
            hints=state.hints,
            over=is_over,
            refused=state.refused if seat == ENCODER else (),
        )

    def payoffs(self, state: State) -> Mapping[Seat, float]:
        """Pay 1 for every game that the seat's side has won, and -1 for every game it has lost."""
        ends = [event.how for event in state.log if isinstance(event, Over)]
        team = float(sum(1 if end == "survived" else -1 for end in ends))
        return {ENCODER: team, DECODER: team, INTERCEPTOR: 0.0 - team}


def places_right(guess: int, code: int) -> int:
    """Return how many digits of a guess are right."""
    return sum(a == b for a, b in zip(digits(guess), digits(code), strict=True))
