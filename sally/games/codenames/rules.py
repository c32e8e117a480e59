"""The rules of two-player Codenames against a simulated rival: clues, numbers and cards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import msgspec

from sally.core.errors import BadInput
from sally.core.rules.game import NATURE, Game, Seat
from sally.core.rules.menu import Act, Form, Options, Text, Whole
from sally.games.association.frozen import row_of
from sally.games.association.lexicon import clue_problem, open_words, places
from sally.games.codenames.instances import Colour, Problem, frozen

LONGEST = 40  # characters of a clue
GIVER, GUESSER = Seat("giver"), Seat("guesser")
End = Literal["won", "assassin", "rival"]


class Clue(Act, frozen=True):
    """A clue: one word, and the number of cards it refers to."""

    word: str
    number: int


class Guess(Act, frozen=True):
    """A guess: a card to turn over, by the guesser or by the rival team."""

    word: str


class Stop(Act, frozen=True):
    """The guesser's decision to turn over no more cards in this turn."""


Action = Clue | Guess | Stop


class GivenClue(msgspec.Struct, frozen=True, tag="said"):
    """An accepted clue."""

    word: str
    number: int


class Turned(msgspec.Struct, frozen=True, tag="turned"):
    """A card that was turned over, and by which side."""

    word: str
    colour: Colour
    rival: bool = False


class Passed(msgspec.Struct, frozen=True, tag="passed"):
    """A turn that ended without another card, because the guesser stopped or a seat forfeited."""

    forfeited: str = ""


class Over(msgspec.Struct, frozen=True, tag="over"):
    """The end of a board: how it ended, and the points it paid."""

    how: End
    paid: float


Event = GivenClue | Turned | Passed | Over


class Refusal(msgspec.Struct, frozen=True):
    """A clue that the rules rejected, and how many events preceded it."""

    after: int
    word: str
    why: str


class State(msgspec.Struct, frozen=True):
    """The full state: the events so far, and the current board."""

    log: tuple[Event, ...] = ()
    board: int = 0
    began: int = 0  # how many events precede the current board
    clue: GivenClue | None = None
    left: int = 0  # cards that the guesser may still turn over in this turn
    rival: bool = False  # whether the rival team is to turn over a card
    refused: tuple[Refusal, ...] = ()

    @property
    def turned_cards(self) -> tuple[Turned, ...]:
        """The cards that are turned over on the current board."""
        return tuple(e for e in self.log[self.began :] if isinstance(e, Turned))

    @property
    def has_guessed(self) -> bool:
        """Whether a card has been turned over since the clue."""
        return bool(self.log) and isinstance(self.log[-1], Turned)


class View(msgspec.Struct, frozen=True):
    """The information of a seat; only the giver sees the keys."""

    seat: Seat
    boards: tuple[tuple[str, ...], ...]  # the words of every board so far
    log: tuple[Event, ...]
    began: int
    keys: tuple[tuple[Colour, ...], ...] = ()
    clue: GivenClue | None = None
    left: int = 0
    over: bool = False
    refused: tuple[Refusal, ...] = ()  # the giver's own

    @property
    def turned_colours(self) -> dict[str, Colour]:
        """The colours of the cards that are turned over on the current board, by word."""
        return {e.word: e.colour for e in self.log[self.began :] if isinstance(e, Turned)}

    @property
    def covered_words(self) -> tuple[str, ...]:
        """The words of the current board that are still covered."""
        turned = self.turned_colours
        return tuple(word for word in self.boards[-1] if word not in turned)

    @property
    def colours(self) -> dict[str, Colour]:
        """The colours of all cards of the current board, by word, for the giver."""
        return dict(zip(self.boards[-1], self.keys[-1], strict=True)) if self.keys else {}


@dataclass(frozen=True)
class Codenames(Game[State, Action, View]):
    """The game of Codenames; `set` and `number` name a stored series of boards, and `problems`
    gives custom boards instead."""

    set: str = "small"
    number: int = 0
    boards: int = 3
    problems: tuple[Problem, ...] = ()
    bonus: float = 1.0  # for every rival card that is still covered when a board is won
    any_word: bool = False  # whether clues from outside the word list are allowed

    seats = (GIVER, GUESSER)
    helpers = (NATURE,)
    pays_as_it_goes = True

    def __post_init__(self) -> None:
        if not 1 <= self.boards <= len(self.row):
            raise BadInput(f"boards must be from 1 to {len(self.row)}, not {self.boards}")
        for problem in self.row:
            if len(problem.words) != len(problem.key) or len({*problem.words}) < len(problem.key):
                raise BadInput("a board needs distinct words and one colour per word")
            if not {"own", "other"} <= {*problem.key}:
                raise BadInput("a board needs cards of both teams")
            for word in problem.words:
                if word not in places():
                    raise BadInput(f"the card {word!r} is not on the word list")

    @cached_property
    def row(self) -> tuple[Problem, ...]:
        """The boards of this game, in order."""
        return self.problems or row_of(frozen(self.set), self.number)

    @cached_property
    def _colours(self) -> tuple[dict[str, str], ...]:
        return tuple(dict(zip(p.words, p.key, strict=True)) for p in self.row)

    # --- the rules --------------------------------------------------------------------------

    def start(self) -> State:
        return State()

    def to_move(self, state: State) -> tuple[Seat, ...]:
        if state.board >= self.boards:
            return ()
        if state.rival:
            return (NATURE,)
        return (GIVER,) if state.clue is None else (GUESSER,)

    def options(self, state: State, seat: Seat) -> Options[Action]:
        covered = self.covered_words(state)
        if seat == NATURE:
            colours = self._colours[state.board]
            return tuple(Guess(word) for word in covered if colours[word] == "other")
        if seat == GUESSER:
            stop = (Stop(),) if state.has_guessed else ()
            return (*(Guess(word) for word in covered), *stop)
        n_own = self.row[state.board].key.count("own")
        word = Text(LONGEST, samples=open_words(covered))
        return (Form(Clue, (("word", word), ("number", Whole(1, n_own)))),)

    def odds(self, state: State) -> Mapping[Action, float]:
        """Return equal probabilities for the covered cards of the rival team's colour."""
        cards = self.options(state, NATURE)
        return {card: 1 / len(cards) for card in cards if isinstance(card, Guess)}

    def covered_words(self, state: State) -> tuple[str, ...]:
        """Return the words of the current board that are still covered."""
        turned = {card.word for card in state.turned_cards}
        return tuple(word for word in self.row[state.board].words if word not in turned)

    def step(self, state: State, moves: Mapping[Seat, Action]) -> State:
        ((seat, move),) = moves.items()
        if isinstance(move, Clue):
            return self._give_clue(state, move)
        if isinstance(move, Stop):
            return self._end_turn(state, Passed())
        return self._turn_card(state, move.word, rival=seat == NATURE)

    def _give_clue(self, state: State, clue: Clue) -> State:
        reason = clue_problem(clue.word, self.covered_words(state), self.any_word)
        if reason is not None:
            refusal = Refusal(len(state.log), clue.word, reason)
            return msgspec.structs.replace(state, refused=(*state.refused, refusal))
        given_clue = GivenClue(clue.word, clue.number)
        return msgspec.structs.replace(
            state, log=(*state.log, given_clue), clue=given_clue, left=clue.number, rival=False
        )

    def _turn_card(self, state: State, word: str, rival: bool) -> State:
        colour = self._colours[state.board][word]
        card = Turned(word, colour, rival)  # type: ignore[arg-type]
        next_state = msgspec.structs.replace(state, log=(*state.log, card), left=state.left - 1)
        if colour == "assassin":
            return self._end_board(next_state, "assassin")
        if not self.count_covered(next_state, "own"):
            return self._end_board(next_state, "won")
        if not self.count_covered(next_state, "other"):
            return self._end_board(next_state, "rival")
        if rival:
            return msgspec.structs.replace(next_state, rival=False, left=0)
        if colour == "own" and next_state.left > 0:
            return next_state
        return msgspec.structs.replace(next_state, clue=None, left=0, rival=True)

    def _end_turn(self, state: State, passed: Passed) -> State:
        return msgspec.structs.replace(
            state, log=(*state.log, passed), clue=None, left=0, rival=True
        )

    @property
    def best_score(self) -> float:
        """The points of a perfect board; the highest such value if boards differ."""
        keys = [problem.key for problem in self.row[: self.boards]]
        return max(key.count("own") + self.bonus * key.count("other") for key in keys)

    def _end_board(self, state: State, end: End) -> State:
        n_found, rivals = self.count_found(state), self.count_covered(state, "other")
        paid = {"won": n_found + self.bonus * rivals, "assassin": 0.0, "rival": float(n_found)}[end]
        log = (*state.log, Over(end, paid))
        return State(log, state.board + 1, len(log), refused=state.refused)

    def count_found(self, state: State) -> int:
        """Return how many of the team's own cards have been turned over on the current board."""
        return sum(card.colour == "own" for card in state.turned_cards)

    def count_covered(self, state: State, colour: str) -> int:
        """Return how many cards of a colour are still covered."""
        open_cards = sum(card.colour == colour for card in state.turned_cards)
        return self.row[state.board].key.count(colour) - open_cards

    def forfeit(
        self, state: State, moves: Mapping[Seat, Action], forfeited: tuple[Seat, ...]
    ) -> State:
        """Pass the turn to the rival team."""
        return self._end_turn(state, Passed(str(forfeited[0])))

    def rejections(self, state: State, seat: Seat) -> int:
        if seat != GIVER or state.clue is not None:
            return 0
        return sum(refusal.after == len(state.log) for refusal in state.refused)

    def begins_turn(self, state: State) -> bool:
        return state.clue is None and not self.rejections(state, GIVER)

    def observe(self, state: State, seat: Seat) -> View:
        is_over = state.board >= self.boards
        visible_problems = self.row[: self.boards if is_over else state.board + 1]
        boards = tuple(problem.words for problem in visible_problems)
        clue, cards_left = state.clue, state.left
        if seat != GIVER:
            return View(seat, boards, state.log, state.began, (), clue, cards_left, is_over)
        keys = tuple(problem.key for problem in visible_problems)
        return View(
            seat, boards, state.log, state.began, keys, clue, cards_left, is_over, state.refused
        )

    def payoffs(self, state: State) -> Mapping[Seat, float]:
        """Return the points, the same for both seats: those of finished boards, plus one for each
        of the team's cards found on the current board."""
        total = sum(event.paid for event in state.log if isinstance(event, Over))
        if state.board < self.boards:
            total += self.count_found(state)
        return {GIVER: float(total), GUESSER: float(total)}
