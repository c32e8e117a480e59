"""Rules of elicitation: a player states beliefs about others and chooses one action.

What the others did is part of the problem, and hidden from the player. If the problem does not say
it, a decision has no payoff and its episode ends without a result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite
from typing import Literal

import msgspec

from sally.core.errors import BadInput, join_names
from sally.core.rules.game import Game, Seat
from sally.games.elicitation.payoffs import REPLY, Pays, SequentialTransfer, Vectors

PLAYER = Seat("player")
Kind = Literal["odds", "counts", "number", "choice"]
Asked = Literal["before", "same screen", "after", "unknown"]
Answer = str | tuple[float, ...] | float | None
MOST_OPTIONS = 1001


class BeliefQuestion(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A question about others: its options, and what turned out to be true, if that is known."""

    ask: str
    options: tuple[str | float, ...]  # of a number: the least and the largest answer
    kind: Kind
    truth: str | tuple[float, ...] | float | None = None
    about: str = ""
    asked: Asked = "before"
    paid: str | None = None
    bears: str = ""  # on what: `payoff`, `peer` (others' choice from the same menu), or both

    def __post_init__(self) -> None:
        if not self.ask.strip():
            raise BadInput("a question has no name")
        if self.kind == "number":
            numbers = [option for option in self.options if not isinstance(option, str)]
            if len(self.options) != 2 or len(numbers) < 2 or not numbers[0] < numbers[1]:
                raise BadInput(f"{self.ask}: options must be the least and the largest number")
        else:
            _check_names(f"options of {self.ask}", self.options)
        if words := set(self.bears.split()) - {"payoff", "peer"}:
            raise BadInput(
                f"{self.ask}: bears names {join_names(sorted(words))}, not payoff or peer"
            )
        if self.truth is not None and (problem := self.problem(self.truth)):
            raise BadInput(f"{self.ask}: truth: {problem}")

    @property
    def names(self) -> tuple[str, ...]:
        """The options by name; of a number, the name of the question."""
        return (self.ask,) if self.kind == "number" else tuple(map(str, self.options))

    @property
    def is_about_peers(self) -> bool:
        """Whether the question is about others' choice from the player's own menu."""
        return "peer" in self.bears.split()

    @property
    def is_after(self) -> bool:
        """Whether the question was asked after the move, so that the move may explain the
        answer."""
        return self.asked == "after"

    def problem(self, answer: Answer) -> str | None:
        """Return why a value is not an answer, or a truth, of this question; None if it is one."""
        if self.kind in ("odds", "choice") and isinstance(answer, str):
            if answer in self.options:
                return None
            return f"{answer!r} is not one of {join_names(self.names, 'or')}"
        if self.kind == "counts" and isinstance(answer, tuple):
            if len(answer) != len(self.options) or not all(_is_count(n) for n in answer):
                return f"there should be {len(self.options)} whole numbers of at least 0"
            return None if sum(answer) else "all counts are 0"
        if self.kind == "number" and isinstance(answer, int | float):
            low, high = self.bounds
            is_inside = isfinite(answer) and low <= answer <= high
            return None if is_inside else f"{answer} is not from {low:g} to {high:g}"
        return f"{answer!r} does not fit the kind {self.kind}"

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and the largest number that may be answered."""
        low, high = (float(option) for option in self.options[:2])
        return low, high

    def vector(self, answer: Answer | Mapping[str, float]) -> tuple[float, ...]:
        """Return an answer as numbers: probabilities, counts or one number."""
        if isinstance(answer, str):
            return tuple(float(option == answer) for option in self.options)
        if isinstance(answer, Mapping):
            return tuple(float(answer[name]) for name in self.names)
        return (float(answer),) if isinstance(answer, int | float) else tuple(answer or ())


def _is_count(number: float) -> bool:
    return isfinite(number) and number >= 0 and number == int(number)


def _check_names(subject: str, names: tuple[str | float, ...]) -> None:
    texts = [name for name in names if isinstance(name, str) and name.strip()]
    if not 2 <= len(names) <= MOST_OPTIONS or len(set(texts)) < len(names):
        raise BadInput(f"{subject} must be 2 to {MOST_OPTIONS} different texts")


class State(msgspec.Struct, frozen=True):
    """Whether the decision has been made, and the action; None if it was forfeited."""

    is_over: bool = False
    move: int | None = None


class View(msgspec.Struct, frozen=True):
    """The information of the player: its own move, once made."""

    is_over: bool = False
    move: int | None = None


def _transfer() -> SequentialTransfer:
    return SequentialTransfer(100, 3, (0, 50, 100))


def example_questions(truths: Sequence[str] = ("L", "L", "M", "M")) -> tuple[BeliefQuestion, ...]:
    """Return the questions of the default problem: the reply to each action and, after the move,
    what the other player would have done first."""
    options = ("L", "M", "H")
    *replies, first = truths
    questions = [
        BeliefQuestion(f"{REPLY}{action}", options, "odds", reply, "the other", bears="payoff")
        for action, reply in zip(options, replies, strict=True)
    ]
    peer = BeliefQuestion("same_move", options, "odds", first, "the other", "after", bears="peer")
    return (*questions, peer)


@dataclass(frozen=True)
class Elicitation(Game[State, int, View]):
    """One decision with questions about others; without a menu there are only the questions."""

    menu: tuple[str, ...] = ("L", "M", "H")
    pays: Pays | None = field(default_factory=_transfer)
    questions: tuple[BeliefQuestion, ...] = field(default_factory=example_questions)
    # whether earlier moves of the player set the numbers of this problem; it is then not scored
    adaptive: bool = False

    seats = (PLAYER,)
    censor_cause = "record"

    def __post_init__(self) -> None:
        if self.menu:
            _check_names("menu", self.menu)
        names = [question.ask for question in self.questions]
        if len(set(names)) < len(names):
            raise BadInput("two questions have the same name")
        for question in self.questions if self.menu else ():
            if question.is_about_peers and set(question.options) != set(self.menu):
                raise BadInput(f"{question.ask} bears on peers, so its options must be the menu")
        if self.pays is not None:
            self._check_payoffs(self.pays)

    def _check_payoffs(self, pays: Pays) -> None:
        pays.check(self.menu)
        by_name = {question.ask: question for question in self.questions}
        for ask, options in pays.needs(self.menu).items():
            question = by_name.get(ask)
            if question is None:
                raise BadInput(f"the payoff function needs the question {ask}")
            is_number = question.kind == "number"
            fits = is_number if options is None else question.options == options
            if not fits or "payoff" not in question.bears.split():
                names = "of a number" if options is None else join_names(options)
                raise BadInput(f"{ask} must bear on the payoff, with the options {names}")

    # --- the rules --------------------------------------------------------------------------------

    def start(self) -> State:
        return State()

    def to_move(self, state: State) -> tuple[Seat, ...]:
        return () if state.is_over else self.seats

    def options(self, state: State, seat: Seat) -> tuple[int, ...]:
        return tuple(range(len(self.menu) or 1))

    def step(self, state: State, moves: Mapping[Seat, int]) -> State:
        return State(True, moves[PLAYER])

    def forfeit(
        self, state: State, moves: Mapping[Seat, int], forfeited: tuple[Seat, ...]
    ) -> State:
        """End the game without a move."""
        return State(True)

    def censored(self, state: State) -> str | None:
        if state.move is None or self.pays is None or self.true_values is not None:
            return None
        return "the problem does not say what the others did"

    def observe(self, state: State, seat: Seat) -> View:
        return View(state.is_over, state.move)

    def payoffs(self, state: State) -> Mapping[Seat, float]:
        values = self.true_values
        payoff = 0.0 if state.move is None or values is None else values[state.move]
        return {PLAYER: payoff}

    def widest_menu(self) -> int:
        return len(self.menu) or 1

    # --- what words and measures ask --------------------------------------------------------------

    def values(self, beliefs: Vectors) -> tuple[float, ...] | None:
        """Return the expected payoff of each action, given the answers to the questions that bear
        on it; None if they do not determine it."""
        if self.pays is None or not set(self.pays.needs(self.menu)) <= set(beliefs):
            return None
        return self.pays.values(self.menu, beliefs)

    @cached_property
    def true_values(self) -> tuple[float, ...] | None:
        """The payoff of each action, given what the others did; None if that is not known."""
        return self.values(
            {
                question.ask: question.vector(question.truth)
                for question in self.questions
                if question.truth is not None
            }
        )
