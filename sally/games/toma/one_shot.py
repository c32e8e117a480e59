"""Shared parts of the one-choice games `toma_po` and `toma_mg`: rules, and texts with numbered
options."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar, Protocol, TypeVar

import msgspec

from sally.core.errors import BadInput, Unreadable, unknown
from sally.core.prompt.words import Words
from sally.core.reply import reading
from sally.core.rules.game import A, Game, Seat, V
from sally.core.rules.menu import Options
from sally.core.rules.probe import ProbeReport, Question

PLAYER = Seat("player")


class State(msgspec.Struct, frozen=True):
    """The player's choice; after a forfeit, `over` is true without a choice."""

    chosen: int | None = None
    over: bool = False


class OneShotScenario(Protocol):
    """The fields by which a scenario can be selected."""

    @property
    def id(self) -> str: ...
    @property
    def level(self) -> int: ...
    @property
    def story(self) -> str: ...


T = TypeVar("T", bound=OneShotScenario)


class OneShot(Game[State, int, V]):
    """A game with one choice; a forfeit ends it without a choice."""

    seats = (PLAYER,)

    def start(self) -> State:
        return State()

    def to_move(self, state: State) -> tuple[Seat, ...]:
        return () if state.over else self.seats

    def step(self, state: State, moves: Mapping[Seat, int]) -> State:
        return State(moves[PLAYER], True)

    def forfeit(
        self, state: State, moves: Mapping[Seat, int], forfeited: tuple[Seat, ...]
    ) -> State:
        """End the scenario without a choice."""
        return State(None, True)


def check_agreement(problem: OneShotScenario, level: int | None, story: str) -> None:
    """Raise BadInput if the scenario does not have the requested level or story."""
    for name, asked, given in (
        ("level", level, problem.level),
        ("story", story or None, problem.story),
    ):
        if asked is not None and asked != given:
            raise BadInput(f"{name} is {asked}, but scenario {problem.id} has {given}")


def frozen_scenario(game: str, id: str, known: Mapping[str, T]) -> T:
    """Return the stored scenario with this id; raise BadInput if there is none."""
    if id not in known:
        raise unknown(f"stored scenario of {game}", id, known)
    return known[id]


def first_scenario(known: Mapping[str, T], level: int, story: str, levels: Collection[int]) -> T:
    """Return the first stored scenario of a level, and of a story if one is given."""
    if level not in levels:
        raise BadInput(f"level must be one of {min(levels)} to {max(levels)}, not {level}")
    for scenario in known.values():
        if scenario.level == level and story in ("", scenario.story):
            return scenario
    raise BadInput(f"there is no stored scenario of level {level} with the story {story!r}")


# --- words for numbered options -------------------------------------------------------------------


class NumberedWords(Words[A, V]):
    """Texts of a game with one choice from a short list, answered by number or name (kang2026,
    appendix F)."""

    label: ClassVar[str] = "Answer"

    def format(self, view: V, options: Options[A]) -> str:
        return self.say("format.number", options=numbered(self.listing(self.menu(options))))

    def read(self, reply: str, view: V, options: Options[A]) -> A:
        place = read_numbered(reply, self.listing(self.menu(options)), self.label)
        chosen: Any = self.listing(options)[place]
        return chosen  # type: ignore[no-any-return]

    def aside_format(self, question: Question) -> str:
        return self.say("format.number", options=numbered(self._choices(question)))

    def read_report(self, reply: str, question: Question) -> ProbeReport:
        place = read_numbered(reply, self._choices(question), self.label)
        return ProbeReport(self.listing(question.choices)[place], reply=reply)

    def _choices(self, question: Question) -> tuple[str, ...]:
        names = (self.choice_name(question, choice) for choice in question.choices)
        return tuple(self.listing(names))


def numbered(names: Sequence[str]) -> str:
    """Return the options, one per line, each preceded by its number."""
    return "\n".join(f"{number}. {name}" for number, name in enumerate(names, 1))


def read_numbered(reply: str, names: Sequence[str], label: str) -> int:
    """Return the index of the only option that a reply gives by number, by name or by both.

    Raises: Unreadable if the reply gives no option or several.
    """
    try:
        return reading.read_numbered(reply, names, label)
    except Unreadable:
        raise Unreadable(
            f"Answer with one line `{label}:` and exactly one option number from 1 to {len(names)}."
        ) from None
