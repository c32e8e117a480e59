"""Shared parts of the one-choice games `toma_po` and `toma_mg`: rules, and texts with numbered
options."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import msgspec

from sally.core.errors import BadInput, unknown
from sally.core.match.partner import Answerer, Partner, Script, by_name
from sally.core.match.player import Turn
from sally.core.reply.reader import read_choice
from sally.core.rules.game import A, Game, Seat, V
from sally.core.rules.menu import Options
from sally.core.rules.probe import At, Probe, ProbeReport, Question
from sally.core.rules.replay import Trajectory
from sally.core.rules.words import Words
from sally.parts.training import Split, Training, by_problem

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
T_contra = TypeVar("T_contra", bound=OneShotScenario, contravariant=True)


class Solver(Protocol[T_contra]):
    """The exact rules of a one-choice game, in its module `rules`; agents are given by number."""

    @property
    def LEVELS(self) -> Sequence[int]: ...
    def check(self, scenario: T_contra) -> None: ...
    def answer(self, scenario: T_contra) -> int: ...
    def predictions(self, scenario: T_contra) -> dict[int, int]: ...
    def rational_actions(
        self, scenario: T_contra, predicted: Mapping[int, int]
    ) -> frozenset[int]: ...


class OneShot(Game[State, int, V], Generic[T, V]):
    """A game with one choice in a scenario; a forfeit ends it without a choice.

    `scenario` is a complete scenario or the id of a stored one; without it, the first stored
    scenario of the `level` (and of the cover `story`, if given) is played.
    """

    seats = (PLAYER,)
    name: str  # of the game
    solver: Solver[Any]
    default_level: int
    # the parameters of the game, which each game declares with its own type of scenario
    scenario: str | T
    level: int | None
    story: str
    subject: str  # the only agent that the probe is about; empty: every predictable one

    @abstractmethod
    def stored_scenarios(self) -> Mapping[str, T]:
        """Return every stored scenario by id, those of the current set first."""

    @property
    @abstractmethod
    def agents(self) -> Mapping[str, int]:
        """The numbers of the agents that the player can predict, by name."""

    def __post_init__(self) -> None:
        problem = self.problem
        self.solver.check(problem)
        self.solver.answer(problem)  # raises on a tie
        for name, wanted_value, scenario_value in (
            ("level", self.level, problem.level),
            ("story", self.story or None, problem.story),
        ):
            if wanted_value is not None and wanted_value != scenario_value:
                raise BadInput(
                    f"{name} is {wanted_value}, but scenario {problem.id} has {scenario_value}"
                )
        if self.subject and self.subject not in self.agents:
            raise unknown(
                f"agent that the player of {problem.id} can predict", self.subject, self.agents
            )

    @cached_property
    def problem(self) -> T:
        """The scenario being played."""
        if not isinstance(self.scenario, str):
            return self.scenario
        scenarios = self.stored_scenarios()
        if self.scenario in scenarios:
            return scenarios[self.scenario]
        if self.scenario:
            raise unknown(f"stored scenario of {self.name}", self.scenario, scenarios)
        level = self.default_level if self.level is None else self.level
        levels = self.solver.LEVELS
        if level not in levels:
            raise BadInput(f"level must be one of {min(levels)} to {max(levels)}, not {level}")
        for scenario in scenarios.values():
            if scenario.level == level and self.story in ("", scenario.story):
                return scenario
        raise BadInput(
            f"there is no stored scenario of level {level} with the story {self.story!r}"
        )

    def as_seen(self, view: V) -> T:
        """Return the scenario as scripted players receive it."""
        return self.problem

    # --- the rules --------------------------------------------------------------------------------

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

    def payoffs(self, state: State) -> Mapping[Seat, float]:
        return {PLAYER: float(state.chosen == self.solver.answer(self.problem))}


# --- the probe, best replies and training ---------------------------------------------------------

AnyOneShot = OneShot[Any, Any]


def probe(name: str, about: str, choices: Sequence[int]) -> Probe:
    """Return the probe for the choice of every agent that the player can predict."""

    def asks(game: AnyOneShot, view: Any, seat: Seat) -> tuple[Question, ...]:
        agents = (game.subject,) if game.subject else tuple(game.agents)
        return tuple(Question(name, "choice", tuple(choices), about=agent) for agent in agents)

    def truth(replay: Trajectory[State, int, Any], place: At) -> int:
        game = replay.game
        assert isinstance(game, OneShot)
        return game.solver.predictions(game.problem)[game.agents[place.about]]

    return Probe(name, about, "before", "choice", (PLAYER,), asks, truth)


def best_replies(game: AnyOneShot, view: Any, belief: Mapping[str, int]) -> tuple[int, ...] | None:
    """Return the right options given beliefs about all agents; None if a belief is missing."""
    if set(belief) != set(game.agents):
        return None
    predicted = {game.agents[name]: choice for name, choice in belief.items()}
    return tuple(sorted(game.solver.rational_actions(game.as_seen(view), predicted)))


def training(scenarios: Callable[[], Iterable[str]]) -> Training:
    """Return the training data of a game: its stored scenarios, split into training, validation
    and held-out scenarios."""

    def split(game: str) -> Split:
        return by_problem(game, "player", {id: {"scenario": id} for id in scenarios()}, {})

    return Training(split)


# --- scripted players -----------------------------------------------------------------------------

ChoiceTurn = Turn[int, Any]


def reports(game: AnyOneShot, predict: Callable[[ChoiceTurn, int], int]) -> Answerer:
    """Return a function that answers the probe about an agent with the choice that `predict`
    returns for the agent's number."""

    def report(turn: ChoiceTurn) -> ProbeReport:
        assert turn.question is not None
        return ProbeReport(predict(turn, game.agents[turn.question.about]))

    return report


def _solver(game: AnyOneShot, seat: Seat) -> Script:
    return lambda turn: game.solver.answer(game.as_seen(turn.view))


def _answer_as_solver(game: AnyOneShot, seat: Seat) -> Answerer:
    return reports(game, lambda turn, a: game.solver.predictions(game.as_seen(turn.view))[a])


def _believer(game: AnyOneShot, seat: Seat) -> Script:
    """Return a script that acts on the predictions injected into its prompt; for agents without
    such a prediction, it uses the solver's."""

    def act(turn: ChoiceTurn) -> int:
        scenario_seen = game.as_seen(turn.view)
        predicted = game.solver.predictions(scenario_seen)
        for injected in turn.told:
            assert isinstance(injected.value, int)
            predicted[game.agents[injected.about]] = injected.value
        return turn.draws.pick(sorted(game.solver.rational_actions(scenario_seen, predicted)))

    return act


def check_depth(depth: int) -> None:
    """Raise BadInput unless the depth of a reasoner is a whole number, 0 or more."""
    if not isinstance(depth, int) or depth < 0:
        raise BadInput(f"depth must be a whole number, 0 or more, not {depth!r}")


def exact_partners(about: str, source: str) -> dict[str, Partner]:
    """Return the exact solver, with its description and source, and the player `believer`."""
    return by_name(
        Partner("solver", about, source, _solver, answers=_answer_as_solver),
        Partner(
            "believer",
            "takes the best move if all injected predictions are true: the upper bound of "
            "injection",
            "ours, for the injection experiment of Kang et al. 2026",
            _believer,
            answers=_answer_as_solver,
        ),
    )


# --- words for numbered options -------------------------------------------------------------------


class NumberedWords(Words[A, V]):
    """Texts of a game with one choice from a short list, answered by number or name (kang2026,
    appendix F)."""

    label: ClassVar[str] = "Answer"

    def format(self, view: V, options: Options[A]) -> str:
        return self.say("format.number", options=number_options(self.listing(self.menu(options))))

    def read(self, reply: str, view: V, options: Options[A]) -> A:
        place = read_numbered(reply, self.listing(self.menu(options)), self.label)
        chosen: Any = self.listing(options)[place]
        return chosen  # type: ignore[no-any-return]

    def aside_format(self, question: Question) -> str:
        return self.say("format.number", options=number_options(self._choices(question)))

    def read_report(self, reply: str, question: Question) -> ProbeReport:
        place = read_numbered(reply, self._choices(question), self.label)
        return ProbeReport(self.listing(question.choices)[place], reply=reply)

    def _choices(self, question: Question) -> tuple[str, ...]:
        names = (self.choice_name(question, choice) for choice in question.choices)
        return tuple(self.listing(names))


def number_options(names: Sequence[str]) -> str:
    """Return the options, one per line, each preceded by its number."""
    return "\n".join(f"{number}. {name}" for number, name in enumerate(names, 1))


def read_numbered(reply: str, names: Sequence[str], label: str) -> int:
    """Return the index of the only option that a reply gives by number, by name or by both.

    Raises: Unreadable if the reply gives no option or several.
    """
    numbers = [str(number) for number in range(1, len(names) + 1)]
    teach = f"Answer with one line `{label}:` and exactly one option number from 1 to {len(names)}."
    return read_choice(reply, names, label, numbers, teach)
