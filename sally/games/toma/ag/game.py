"""The rules of the ambiguity game: one clue, then two guesses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property

import msgspec

from sally.core.errors import BadInput, unknown
from sally.core.rules.game import Game, Seat
from sally.core.rules.menu import Act, Form, Options, Text
from sally.games.association.english import vocabulary
from sally.games.toma.ag.rules import (
    Item,
    Outcome,
    is_right,
    items,
    objection,
    outcome,
)

SPEAKER, TEAMMATE, OPPONENT = Seat("speaker"), Seat("teammate"), Seat("opponent")
LISTENERS = (TEAMMATE, OPPONENT)
LONGEST = 200  # characters of a clue: one sentence


class Clue(Act, frozen=True):
    """The speaker's clue to both listeners."""

    text: str


class Guess(Act, frozen=True):
    """A listener's guess."""

    word: str


Action = Clue | Guess


class State(msgspec.Struct, frozen=True):
    """The full state: the clue, the clues rejected before it, and the guesses."""

    clue: str | None = None
    refused: tuple[tuple[str, str], ...] = ()  # (clue, why it is not allowed)
    guesses: tuple[tuple[str, str], ...] = ()  # (listener, word); a forfeit leaves none
    over: bool = False


class View(msgspec.Struct, frozen=True):
    """The information of a seat: the speaker knows everything, a listener its own hint and the
    clue."""

    seat: Seat
    word: str = ""
    b_hint: str = ""
    c_hint: str = ""
    clue: str | None = None
    refused: tuple[tuple[str, str], ...] = ()  # the speaker's own


@dataclass(frozen=True)
class Ambiguity(Game[State, Action, View]):
    """The ambiguity game, played on one of Sally's hundred problems (`word`) or on a custom
    `item`."""

    word: str = "bank"
    item: Item | None = None

    seats = (SPEAKER, TEAMMATE, OPPONENT)

    def __post_init__(self) -> None:
        item = self.problem
        if not item.word.strip() or not item.b_hint.strip() or not item.c_hint.strip():
            raise BadInput("item needs a word and two hints")
        if item.b_hint.casefold() == item.c_hint.casefold():
            raise BadInput(f"item: both listeners have the same hint {item.b_hint!r}")
        for hint in (item.b_hint, item.c_hint):
            if objection(item, hint) is not None:
                raise BadInput(f"item: the hint {hint!r} contains the word {item.word!r}")

    @cached_property
    def problem(self) -> Item:
        """The word and its two hints."""
        if self.item is not None:
            return self.item
        items_by_word = {item.word: item for item in items()}
        if self.word not in items_by_word:
            raise unknown("word in the list of toma_ag", self.word, items_by_word)
        return items_by_word[self.word]

    # --- the rules --------------------------------------------------------------------------------

    def start(self) -> State:
        return State()

    def to_move(self, state: State) -> tuple[Seat, ...]:
        if state.over:
            return ()
        return (SPEAKER,) if state.clue is None else LISTENERS

    def options(self, state: State, seat: Seat) -> Options[Action]:
        if seat == SPEAKER:
            return (Form(Clue, (("text", Text(LONGEST, samples=legal_words(self.problem))),)),)
        return (Form(Guess, (("word", Text(40, samples=vocabulary())),)),)

    def step(self, state: State, moves: Mapping[Seat, Action]) -> State:
        if state.clue is None:
            clue = moves[SPEAKER]
            assert isinstance(clue, Clue)
            reason = objection(self.problem, clue.text)
            if reason is not None:
                return msgspec.structs.replace(state, refused=(*state.refused, (clue.text, reason)))
            return msgspec.structs.replace(state, clue=clue.text)
        guesses = tuple((str(s), g.word) for s, g in moves.items() if isinstance(g, Guess))
        return msgspec.structs.replace(state, guesses=guesses, over=True)

    def forfeit(
        self, state: State, moves: Mapping[Seat, Action], forfeited: tuple[Seat, ...]
    ) -> State:
        """End the game if the clue is missing; count a missing guess as wrong."""
        if state.clue is None:
            return msgspec.structs.replace(state, over=True)
        return self.step(state, moves)

    def rejections(self, state: State, seat: Seat) -> int:
        return len(state.refused) if seat == SPEAKER and state.clue is None else 0

    def observe(self, state: State, seat: Seat) -> View:
        word, b_hint, c_hint = self.problem.word, self.problem.b_hint, self.problem.c_hint
        if seat == SPEAKER:
            return View(seat, word, b_hint, c_hint, state.clue, state.refused)
        if seat == TEAMMATE:
            return View(seat, b_hint=b_hint, clue=state.clue)
        return View(seat, c_hint=c_hint, clue=state.clue)

    def payoffs(self, state: State) -> Mapping[Seat, float]:
        """Pay the team 1 for a win and -1 for a loss, and the opponent 1 if it finds the word."""
        ended = self.outcome(state)
        team = {"win": 1.0, "loss": -1.0}.get(ended or "", 0.0)
        opponent_found = float(ended in ("leak", "loss"))
        return {SPEAKER: team, TEAMMATE: team, OPPONENT: opponent_found}

    def outcome(self, state: State) -> Outcome | None:
        """Return win, leak, loss or miss; None if no clue was given."""
        if not state.over or state.clue is None:
            return None
        right = {guesser: is_right(self.problem, word) for guesser, word in state.guesses}
        return outcome(right.get(TEAMMATE, False), right.get(OPPONENT, False))


@cache
def legal_words(item: Item) -> tuple[str, ...]:
    """Return the legal clues among the words of the vocabulary, in alphabetical order."""
    return tuple(word for word in vocabulary() if objection(item, word) is None)
