"""Records of decisions with stated beliefs: one row per decision, as an episode and back.

The stated beliefs are the reports of the episode. A move that the player did not choose is not a
move of the episode: an unread reply is a forfeit, and a decision that was an accident, or whose
numbers depended on the player's earlier moves, has no result.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import Any, Literal

import msgspec

from sally.core.errors import BadInput, join_names
from sally.core.log.events import Episode, Instance, Moved, Reported, Setup
from sally.core.match.engine import Match
from sally.core.match.player import Decision, Forfeit, NoAnswer
from sally.core.registry import registry
from sally.core.rules.probe import ProbeReport, odds_problem
from sally.games.elicitation.payoffs import FUNCTIONS
from sally.games.elicitation.rules import PLAYER, Asked, BeliefQuestion, Elicitation, Kind
from sally.games.elicitation.spec import AFTER, BELIEF, MOST_COUNT
from sally.parts.importers import HUMAN, Difference, Source, recorded_player

GAME = "elicitation"
CHOSEN, DEFAULT, ACCIDENT, ADAPTIVE = "chosen", "default", "accident", "adaptive price"
Status = Literal["chosen", "default", "accident", "adaptive price"]
Number = int | float
Value = str | tuple[Number, ...] | Number | None
SAME = 1e-6  # points by which a recorded payoff may differ from ours


class StatedBelief(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A question about others as it was asked, and the answer."""

    ask: str
    options: tuple[str | Number, ...]
    kind: Kind
    value: Value = None  # None: no answer could be read
    confidence: Number | None = None
    truth: Value = None
    about: str = ""
    asked: Asked = "unknown"
    paid: str | None = None
    bears: str = ""

    @property
    def question(self) -> BeliefQuestion:
        """The question without the answer, as it is stored in the problem."""
        return BeliefQuestion(
            self.ask,
            self.options,
            self.kind,
            self.truth,
            self.about,
            self.asked,
            self.paid,
            self.bears,
        )

    def report(self, question: BeliefQuestion) -> ProbeReport:
        """Return the answer as the report of a probe; raises BadInput if it is not an answer."""
        value = self.value
        if self.confidence is not None and not 0 <= self.confidence <= 1:
            raise BadInput(f"{self.ask}: confidence must be from 0 to 1, not {self.confidence}")
        if value is None:
            return ProbeReport(None)
        if self.kind == "odds":
            return self._odds()
        if problem := question.problem(value):
            raise BadInput(f"{self.ask}: value: {problem}")
        if isinstance(value, str):
            return ProbeReport(value)
        numbers = dict(zip(question.names, question.vector(value), strict=True))
        if self.kind == "counts" and max(numbers.values()) > MOST_COUNT:
            raise BadInput(f"{self.ask}: value: counts must be at most {MOST_COUNT:,.0f}")
        return ProbeReport(numbers)

    def _odds(self) -> ProbeReport:
        if not isinstance(self.value, tuple):
            raise BadInput(f"{self.ask}: value: a probability for each option is expected")
        odds = tuple(map(float, self.value))
        if problem := odds_problem(odds, len(self.options)):
            raise BadInput(f"{self.ask}: value: {problem}")
        return ProbeReport(str(self.options[odds.index(max(odds))]), odds)


class BeliefRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One decision: who decided what, from which menu, and what was stated about others."""

    source: str
    person: str
    instance: str
    cell: str
    beliefs: tuple[StatedBelief, ...]
    cluster: str | None = None
    period: int | None = None
    menu: tuple[str, ...] | None = None
    action: str | None = None
    status: Status = "chosen"
    payoff: str | None = None
    params: dict[str, Any] | None = None
    earned: Number | None = None
    model: str | None = None  # the model that decided; None: a person

    def problem(self) -> dict[str, Any]:
        """Return the parameters of the game that the row describes."""
        if self.action is None and self.menu and self.status == CHOSEN:
            raise BadInput("action is missing; without a choice, menu and payoff must be empty too")
        if self.action is not None and self.action not in (self.menu or ()):
            raise BadInput(f"action {self.action!r} is not on the menu")
        pays: dict[str, Any] | None = None
        if self.payoff is not None:
            if self.payoff not in FUNCTIONS:
                names = join_names(FUNCTIONS, "or")
                raise BadInput(f"payoff must be {names}, or empty, not {self.payoff!r}")
            if not self.menu:
                raise BadInput("payoff is given without a menu")
            pays = {**(self.params or {}), "kind": self.payoff}
        elif self.params:
            raise BadInput("params are given without a payoff function")
        questions = [msgspec.to_builtins(belief.question) for belief in self.beliefs]
        problem: dict[str, Any] = {"menu": list(self.menu or ()), "pays": pays}
        problem["questions"] = questions
        return {**problem, "adaptive": True} if self.status == ADAPTIVE else problem

    def facts(self) -> dict[str, Any]:
        """Return what an episode stores about a row besides problem, moves and reports."""
        facts = {
            "source": self.source,
            "cluster": self.cluster,
            "period": self.period,
            "status": self.status,
            "action": None if self.status == CHOSEN else self.action,
            "confidence": {
                belief.ask: belief.confidence
                for belief in self.beliefs
                if belief.confidence is not None
            },
            "earned": self.earned,
        }
        return {name: value for name, value in facts.items() if value not in (None, {})}


WHY = {
    ACCIDENT: "the recorded move was an accident, not a choice",
    ADAPTIVE: "the numbers of this decision depended on the player's earlier moves",
}
UNREAD = "unreadable"


def episode_of(
    row: BeliefRow, source: Source, extra: Mapping[str, Any] | None = None
) -> tuple[Episode, tuple[Difference, ...]]:
    """Return a row as an episode, and its difference from the recorded payoff, if there is one.

    Args:
        row: The decision.
        source: Where it was recorded.
        extra: Further facts of a source that its figures need.

    Raises:
        BadInput: The row contradicts itself; the message says how.
    """
    for name in ("source", "person", "instance"):
        if not getattr(row, name).strip():
            raise BadInput(f"{name} is empty")
    if row.earned is not None and not isfinite(row.earned):
        raise BadInput(f"earned must be a number, not {row.earned}")
    reports = {belief.ask: belief.report(belief.question) for belief in row.beliefs}
    probes = {AFTER if belief.question.is_after else BELIEF for belief in row.beliefs}
    arms = {str(PLAYER): tuple(sorted(probes))}
    lineup = {str(PLAYER): recorded_player(row.model or HUMAN, row.person)}
    setup = Setup(Instance(row.instance, GAME, row.problem()), 0, lineup, arms=arms)
    match: Match[Any, int, Any] = Match(registry.game(GAME), setup)
    _answer(match, reports)
    if row.status in WHY:
        match.censor("record", WHY[row.status])
    else:
        menu = row.menu or ()
        move = menu.index(row.action) if row.action is not None else 0
        decision = Forfeit(UNREAD) if row.status == DEFAULT else Decision(move)
        match.answer((0, PLAYER, "", ""), decision)
        _answer(match, reports)
    used = {"source": msgspec.to_builtins(source), "record": row.facts(), **(extra or {})}
    return match.episode(row.cell, used), tuple(_differences(row, match))


def _answer(match: Match[Any, int, Any], reports: Mapping[str, ProbeReport]) -> None:
    """Answer the open questions as recorded."""
    for turn in match.asks():
        if turn.question is not None:
            match.answer(turn.id, reports.get(turn.question.about) or NoAnswer("not on record"))


def _differences(row: BeliefRow, match: Match[Any, int, Any]) -> Iterator[Difference]:
    game = match.game
    assert isinstance(game, Elicitation)
    if row.earned is None or row.action is None or game.true_values is None:
        return
    payoff = game.true_values[game.menu.index(row.action)]
    if abs(payoff - row.earned) > SAME:
        yield Difference(row.instance, "payoff", None, f"{row.earned:g}", f"{payoff:g}")


def row_of(episode: Episode) -> BeliefRow:
    """Return the row from which an episode was made.

    Raises:
        BadInput: The episode is not an imported decision.
    """
    facts, setup = episode.used.get("record"), episode.setup
    if setup.instance.game != GAME or not isinstance(facts, Mapping):
        raise BadInput(f"Episode {episode.id} is not an imported decision with stated beliefs.")
    game = registry.game(GAME).build(setup.instance.params)
    assert isinstance(game, Elicitation)
    player = setup.lineup[str(PLAYER)]
    reports = {event.about: event for event in episode.events if isinstance(event, Reported)}
    moves = [event.action for event in episode.events if isinstance(event, Moved)]
    action = facts.get("action")
    if moves and game.menu:
        action = game.menu[moves[0]]
    pays = dict(setup.instance.params["pays"] or {})
    name = str(player.params["name"])
    return BeliefRow(
        source=facts["source"],
        person=str(player.params["participant"]),
        instance=setup.instance.id,
        cell=episode.cell,
        beliefs=tuple(
            _belief(question, reports.get(question.ask), facts.get("confidence", {}))
            for question in game.questions
        ),
        cluster=facts.get("cluster"),
        period=facts.get("period"),
        menu=game.menu or None,
        action=action,
        status=facts["status"],
        payoff=pays.pop("kind", None),
        params=pays or None,
        earned=facts.get("earned"),
        model=None if name == HUMAN else name,
    )


def _belief(
    question: BeliefQuestion, report: Reported | None, confidence: Mapping[str, float]
) -> StatedBelief:
    return StatedBelief(
        question.ask,
        question.options,
        question.kind,
        None if report is None or report.value is None else _value(question, report),
        confidence.get(question.ask),
        question.truth,
        question.about,
        question.asked,
        question.paid,
        question.bears,
    )


def _value(question: BeliefQuestion, report: Reported) -> Value:
    if question.kind == "odds":
        return report.odds
    if isinstance(report.value, dict):
        numbers: Sequence[float] = question.vector(report.value)
        return numbers[0] if question.kind == "number" else tuple(numbers)
    return report.value
