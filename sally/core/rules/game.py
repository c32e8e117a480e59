"""The interface of a game: its pure rules, and its spec with words, probes and tools."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, replace
from functools import cached_property
from inspect import get_annotations
from threading import RLock
from typing import Any, Generic, Literal, TypeVar, get_args, get_origin, get_type_hints

import msgspec

from sally.core.errors import BadInput, join_names, unknown
from sally.core.log.seat import NATURE as NATURE
from sally.core.log.seat import A as A
from sally.core.log.seat import S as S
from sally.core.log.seat import Seat as Seat
from sally.core.log.seat import V as V
from sally.core.rules.awareness import EVERYWHERE
from sally.core.rules.chance import Stream
from sally.core.rules.menu import Options
from sally.core.rules.menu_width import widest_menu_of
from sally.core.rules.probe import Probe, is_repeated, repeat_probe
from sally.core.rules.words import Words, read_tables

OF_THE_GAME = {
    "seats",
    "helpers",
    "pays_as_it_goes",
    "same_menus",
    "censors_forfeits",
    "censor_cause",
}
MOST_ROUNDS = 1_000_000  # of a game whose length is a parameter


class Game(ABC, Generic[S, A, V]):
    """Pure rules. No method changes its arguments, draws a random number or produces text.

    A game is a frozen dataclass; its fields are its parameters.
    """

    seats: tuple[Seat, ...]
    helpers: tuple[Seat, ...] = ()  # nature, a reader: no payoff, a default occupant
    pays_as_it_goes: bool = False  # whether `payoffs` is meaningful before the end
    same_menus: bool = False  # whether a seat's options never change
    censors_forfeits: bool = False  # whether `censored` gives a reason only right after a forfeit
    censor_cause: str = "forfeits"  # logged as the cause if `censored` gives a reason

    def __init_subclass__(cls) -> None:
        """Reject annotated attributes such as `seats`, which `dataclass` would make parameters."""
        super().__init_subclass__()
        for name, annotation in get_annotations(cls).items():
            if name in OF_THE_GAME and "ClassVar" not in str(annotation):
                raise BadInput(
                    f"{cls.__name__}.{name}: write `{name} = ...` without a type; a dataclass "
                    "would take an annotated name as a parameter of the game."
                )

    @abstractmethod
    def start(self) -> S: ...

    @abstractmethod
    def to_move(self, state: S) -> tuple[Seat, ...]:
        """Return the seats to move: several for simultaneous moves, none when the game is over."""

    @abstractmethod
    def options(self, state: S, seat: Seat) -> Options[A]:
        """Return the options of `seat` now: complete actions, and forms to be filled in."""

    def odds(self, state: S) -> Mapping[A, float]:
        """Return the probabilities of nature's options when nature is to move."""
        raise LookupError(f"{type(self).__name__} has no chance moves")

    @abstractmethod
    def step(self, state: S, moves: Mapping[Seat, A]) -> S: ...

    @abstractmethod
    def forfeit(self, state: S, moves: Mapping[Seat, A], forfeited: tuple[Seat, ...]) -> S:
        """Return the state after some movers forfeited because they gave no legal action; the rules
        may make the round void or let these seats pass."""

    def rejections(self, state: S, seat: Seat) -> int:
        """Return how many times in a row the rules have rejected the action of `seat`."""
        return 0

    def begins_turn(self, state: S) -> bool:
        """Return whether a turn begins in this state, so that the probes at the start of a turn are
        asked.

        A second try at the same move does not begin a turn.
        """
        return True

    def censored(self, state: S) -> str | None:
        """Return why the rules stop the episode without a result, if they do."""
        return None

    @abstractmethod
    def observe(self, state: S, seat: Seat) -> V: ...

    @abstractmethod
    def payoffs(self, state: S) -> Mapping[Seat, float]:
        """Return each seat's payoff at the end or, if `pays_as_it_goes`, the payoff so far."""

    def widest_menu(self) -> int | None:
        """Return the largest number of options a seat can ever have; None if an option may be a
        form, which stands for many actions.

        The default implementation explores the game; a game that knows the number may override it.
        """
        if "_widest" not in self.__dict__:  # a frozen dataclass caches through __dict__
            self.__dict__["_widest"] = widest_menu_of(self)
        widest: int | None = self.__dict__["_widest"]
        return widest


def check_rounds(rounds: int, void_limit: int) -> None:
    """Raise BadInput unless a game can have this many rounds and this limit of void rounds."""
    if not 1 <= rounds <= MOST_ROUNDS:
        raise BadInput(f"rounds must be from 1 to {MOST_ROUNDS:,}, not {rounds}")
    if void_limit < 1:
        raise BadInput(f"void_limit must be at least 1, not {void_limit}")


PayRange = Callable[[Any, Seat], tuple[float, float]]  # (game, seat) -> minimum and maximum


def over_all_rounds(a_round: PayRange) -> PayRange:
    """Return the range of an episode's payoff, given that of a round; a void round pays nothing."""

    def an_episode(game: Any, seat: Seat) -> tuple[float, float]:
        low, high = a_round(game, seat)
        return game.rounds * min(low, 0.0), game.rounds * max(high, 0.0)

    return an_episode


@dataclass(frozen=True)
class Tool(Generic[V]):
    """A tool a player may use while it decides: a pure function of its view."""

    name: str
    about: str
    parameters: Mapping[str, Any]  # a JSON schema
    run: Callable[[V, Mapping[str, Any]], Any]


Replies = tuple[A, ...] | Callable[[A], bool] | None
"""Best replies to a belief: a tuple, a predicate for free-text moves, or None if undefined."""


@dataclass(frozen=True)
class Doing:
    """The declaration of how the performance of a seat is measured."""

    metric: str = "reward"
    by_seat: Mapping[str, str] = field(default_factory=dict)  # seats with another metric
    regret: str = ""  # the metric of the distance to the exact optimum, in the same unit
    regret_in: Callable[[Any], str] | None = None  # (game) -> the regret of a variant, "" for none
    right: float | None = None  # the value of a right decision, if decisions are independent
    decisions: Callable[[Any], int] | None = None  # how many of these a game has; None: one
    range: PayRange | None = None
    """(game, seat) -> the minimum and maximum of the metric, if the game declares them."""
    no_split: str = ""  # why no prediction determines a best move, if none does

    def of(self, seat: str) -> str:
        """Return the name of the metric that applies to one seat."""
        return self.by_seat.get(seat, self.metric)

    def regret_of(self, game: Any) -> str:
        """Return the name of the metric of regret in one game; "" if there is none."""
        return (self.regret_in(game) if self.regret_in is not None else "") or self.regret


@dataclass(frozen=True)
class PeopleSpec:
    """What people see of a game."""

    texts: Mapping[str, str] = field(default_factory=dict)  # texts shown to people instead
    titles: Mapping[str, str] = field(default_factory=dict)  # display names
    sentences: Mapping[str, str] = field(default_factory=dict)  # descriptions of the game
    roles: Mapping[str, str] = field(default_factory=dict)  # "the guide", by seat
    glyphs: Mapping[str, str] = field(default_factory=dict)  # the picture of each preset's tile
    minutes: Mapping[str, int] = field(default_factory=dict)  # how long a game takes, estimated
    briefs: Mapping[str, str] = field(default_factory=dict)
    """The rules in at most 60 words, the first screen of a game whose rules are longer: by preset
    and seat (`NAME.SEAT`), by preset, by seat, or under "" for all."""
    settings: Mapping[str, tuple[int, int] | None] = field(default_factory=dict)
    """Parameters that a visitor may set: bounds of a whole number, or None for a stored problem."""
    fresh: Callable[[Stream, str], Mapping[str, Any]] | None = None
    """Function that draws the parameters of a visitors' table, given the game's name, for games
    whose default problem is always the same."""
    visitors: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Parameters of a visitors' table by preset that are no problem of their own, such as names."""

    @classmethod
    def read(cls, package: str, **others: Any) -> PeopleSpec:
        """Return the fields that are tables of the file `texts.toml` in a game's package, and
        others; `texts` is the table `people`."""
        tables = {"texts" if name == "people" else name: table
                  for name, table in read_tables(package).items() if name != "texts"}  # fmt: skip
        return cls(**{**tables, **others})


@dataclass(frozen=True)
class LearnerSpec(Generic[V]):
    """What learners are given."""

    numbers: Callable[[Any, V], tuple[float, ...]] | None = None  # (game, view) -> features


@dataclass(frozen=True)
class MeasureSpec(Generic[A, V]):
    """How play is judged."""

    doing: Doing = field(default_factory=Doing)
    best_replies: Callable[[Any, V, Any], Replies[A]] | None = None  # (game, view, belief)
    acts_on: tuple[str, ...] = ()  # probes that `best_replies` takes; empty: all about minds
    same_question: tuple[str, ...] = ()  # probes that ask the same; the first one asked counts
    pays: PayRange | None = None
    """(game, seat) -> the minimum and maximum payoff of an episode, if known."""
    reference: str = ""  # the player that represents the optimum, if any


@dataclass(frozen=True, eq=False)  # compared by identity: it holds functions and mappings
class GameSpec(Generic[S, A, V]):
    """A registered game: rules, words, probes and tools under one name."""

    name: str
    about: str
    game: type[Game[S, A, V]]
    words: Callable[[Any, Mapping[str, str]], Words[A, V]]  # (game, texts) -> words
    texts: Mapping[str, str]  # every text by its key; a words pack may replace any
    action: Any = int  # the action type, used to decode the log
    probes: tuple[Probe, ...] = ()
    tools: tuple[Tool[V], ...] = ()
    defaults: Mapping[str, Any] = field(default_factory=dict)  # default parameters
    # default parameters by preset
    presets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    abouts: Mapping[str, str] = field(default_factory=dict)  # descriptions of presets
    family: str = ""  # the family whose partners and metrics fit; empty: its own name
    occupants: Mapping[Seat, str] = field(default_factory=dict)  # default occupants of helper seats
    people: PeopleSpec = field(default_factory=PeopleSpec)
    learners: LearnerSpec[V] = field(default_factory=LearnerSpec)
    measured: MeasureSpec[A, V] = field(default_factory=MeasureSpec)
    portable: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None
    """Converts parameters to a machine-independent form, such as a path to its file's hash."""
    # default opponent; empty: the reference player, or a player chosen by game type
    usual: str = ""
    version: int = 1  # of the rules: raised when a playthrough changes
    words_version: int = 1  # of the words: raised when a page changes

    def build(self, params: Mapping[str, Any] | None = None) -> Game[S, A, V]:
        """Build the rules with these parameters; raises BadInput if they are invalid."""
        parameters = {**self.defaults, **(params or {})}
        for name in parameters:
            if name not in self.parameters:
                raise unknown(f"parameter of {self.name}", name, self.parameters)
            refuse_unstorable(f"{name} of {self.name}", parameters[name])
        try:
            return _build_cached(self.game, parameters)
        except msgspec.ValidationError as error:
            self._check_choices(parameters)
            raise BadInput(f"{self.name}: {_plainly(str(error))}.") from None

    def _check_choices(self, parameters: Mapping[str, Any]) -> None:
        """Raise BadInput, listing the valid values, if a parameter's value is not among them."""
        for name, hint in get_type_hints(self.game).items():
            choices = get_args(hint) if get_origin(hint) is Literal else ()
            if choices and name in parameters and parameters[name] not in choices:
                raise unknown(f"{name} of {self.name}", str(parameters[name]), map(str, choices))

    @cached_property
    def by_name(self) -> dict[str, GameSpec[S, A, V]]:
        """Return this game under its own name and under each preset's name."""
        presets = {
            name: replace(
                self,
                name=name,
                about=self.abouts.get(name, self.about),
                defaults=preset,
                presets={},
                family=self.name,
            )
            for name, preset in self.presets.items()
        }
        return {self.name: replace(self, family=self.name), **presets}

    def __repr__(self) -> str:
        rules = self.game
        default_values = {**self.default_parameters, **self.defaults}
        settings = ", ".join(
            f"{name}={_brief(default_values[name])}" if name in default_values else name
            for name in self.parameters
        )
        probes = ", ".join(probe.name for probe in self.probes)
        lines = [f"{self.name}: {self.about}", f"  parameters: {settings or 'none'}"]
        if isinstance(seats := getattr(rules, "seats", None), tuple):
            lines.insert(1, f"  seats: {', '.join(seats)}")
        return "\n".join([*lines, f"  probes: {probes or 'none'}"])

    @cached_property
    def default_parameters(self) -> dict[str, Any]:
        """The default value of each parameter that has one, before `defaults`."""
        return {
            name: field.default_factory() if field.default is MISSING else field.default
            for name, field in self.game.__dataclass_fields__.items()  # type: ignore[attr-defined]
            if field.default is not MISSING or field.default_factory is not MISSING
        }

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        return tuple(self.game.__dataclass_fields__)  # type: ignore[attr-defined]

    @property
    def title(self) -> str:
        """The display name of the game."""
        return self.people.titles.get(self.name, self.name.replace("_", " ").capitalize())

    @property
    def sentence(self) -> str:
        """The description people see before they play."""
        return self.people.sentences.get(self.name, self.about)

    def probe(self, name: str) -> Probe:
        for probe in self.probes:
            if probe.name == name:
                return probe
        if name in EVERYWHERE:
            return EVERYWHERE[name]
        if is_repeated(name):
            return repeat_probe(name, self.probe)
        raise unknown(f"probe of {self.name}", name, (*(p.name for p in self.probes), *EVERYWHERE))

    def is_best_reply(self, game: Any, view: V, belief: Any, move: A) -> bool | None:
        """Return whether a move is a best reply to a belief; None if that is undefined."""
        rule = self.measured.best_replies
        replies = rule and rule(game, view, belief)
        if replies is None:
            return None
        return replies(move) if callable(replies) else move in replies


def _brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


BUILT = 64  # number of cached games: rules are frozen, so one object serves many episodes
_games: dict[tuple[type[Any], bytes], Any] = {}
# msgspec 0.22 crashes the process when two threads convert to one class for the first time;
# tests/core/test_building.py holds this lock to it.
_building = RLock()
G = TypeVar("G")


def _build_cached(kind: type[G], parameters: Mapping[str, Any]) -> G:
    """Return the rules with these parameters; recently built rules are reused."""
    if missing := sorted(getattr(kind, "__abstractmethods__", ())):  # msgspec does not look
        raise BadInput(f"{kind.__name__} does not define {join_names(missing)}.")
    try:
        key = (kind, msgspec.msgpack.encode(parameters))
    except TypeError:  # the conversion reports what is wrong
        with _building:
            return msgspec.convert(parameters, kind)
    cached_game: G | None = _games.get(key)
    if cached_game is not None:
        return cached_game
    with _building:
        built = msgspec.convert(parameters, kind)
        if len(_games) >= BUILT:
            _games.clear()
        _games[key] = built
    return built


def refuse_unstorable(subject: str, value: Any) -> None:
    """Raise BadInput if a parameter holds a number or a text that no log can store: a whole number
    of more than 64 bits, an infinite number, or a text with half of a surrogate pair."""
    if isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            digits = len(str(abs(value) >> 64)) + 19 if value.bit_length() < 10_000 else "many"
            raise BadInput(
                f"{subject} must be below 2 to the power of 63, not a number of about {digits} "
                f"digits."
            )
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise BadInput(f"{subject} is not finite ({value}); give a finite number.")
    elif isinstance(value, str):
        if not value.isascii() and any("\ud800" <= sign <= "\udfff" for sign in value):
            raise BadInput(f"{subject} holds half of a surrogate pair, which is not a character.")
    elif isinstance(value, Mapping):
        for name, inside in value.items():
            refuse_unstorable(f"a name in {subject}", name)
            refuse_unstorable(f"{name} in {subject}", inside)
    elif isinstance(value, list | tuple):
        for inside in value:
            refuse_unstorable(f"a value in {subject}", inside)


TYPES_IN_WORDS = {
    "int": "a whole number",
    "float": "a number",
    "str": "a text",
    "bool": "true or false",
    "array": "a list",
    "object": "a table",
    "null": "nothing",
}


def _plainly(message: str) -> str:
    """Return a validation message that starts with the parameter's name, in words."""
    problem, separator, parameter = message.partition(" - at `$.")
    problem = problem.rstrip(".").replace("`", "")
    if types := re.fullmatch(r"Expected (\w+), got (\w+)", problem):
        expected, actual = (TYPES_IN_WORDS.get(name, name) for name in types.groups())
        problem = f"the value must be {expected}, not {actual}"
    return f"{parameter.rstrip('`')}: {problem}" if separator else problem.replace(" - at $", "")
