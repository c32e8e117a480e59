"""Reward columns, one row per decision; the value of a decision and the format of its reply are
separate columns."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any

import msgspec

from sally.core.errors import unknown
from sally.core.log.events import Forfeited, Moved, Reported
from sally.core.match.engine import Match
from sally.core.prompt.model import Reply, Scores
from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.core.rules.metric import judge_report
from sally.parts.training import Training, Worths
from sally.players.calls import Request

AUTOMATON = {"regret": 1.0, "format": 1.0}  # weights if the others are known automata
ANYBODY = {"payoff": 1.0, "format": 1.0}


class Columns(msgspec.Struct, frozen=True, omit_defaults=True):
    """The rewards of one decision; None if a column is undefined or not known yet."""

    payoff: float | None = None  # gained since the previous decision
    regret: float | None = None  # exact loss of the move as a negative number; 0 at best
    # 1 if the move is a best reply to the player's own prediction, else 0
    reply: float | None = None
    belief: float | None = None  # 1 - Brier/2 of stated odds; for a bare choice 1 if right, else 0
    format: float | None = None  # 0 if readable, -1 if not

    def reward(self, weights: Mapping[str, float]) -> float:
        """Return the weighted sum of the reward columns; a column that is not known counts as 0."""
        total = 0.0
        for name in weights:
            total += weights[name] * (getattr(self, name) or 0.0)
        return total


NOTHING = Columns()


class Row(msgspec.Struct):
    """One decision: the prompt and reply of each try, and the rewards."""

    turn: int
    kind: str  # "move", or the name of the probe
    about: str  # the subject of the probe
    tries: list[tuple[Request, Reply | Scores | str]]
    columns: Columns = NOTHING
    move: Any = None  # the move read from it; for a probe, the report's value
    worths: list[float] | None = None  # value of each option and of a forfeit, if known
    truth: Any = None  # the truth of a probe


def worths_at(match: Match, seat: str) -> Worths | None:
    """Return a function that values each move of a seat, or None if the values are unknown.

    The match must be at its start.
    """
    room: Training | None = registry.part(match.spec.name, "training")
    if room is None or room.worths is None:
        return None
    return room.worths(match.game, Seat(seat), match.setup.lineup)


def check_weights(weights: Mapping[str, float]) -> dict[str, float]:
    """Return the weights; raises BadInput for an unknown column."""
    for name in weights:
        if name not in Columns.__struct_fields__:
            raise unknown("reward column", name, Columns.__struct_fields__)
    return {name: float(weight) for name, weight in weights.items()}


class Ledger:
    """The decisions of one seat in one episode as rows, filled in as soon as rewards are known."""

    def __init__(self, match: Match, seat: str, worths: Worths | None = None) -> None:
        self._match, self._seat, self._worths = match, Seat(seat), copy(worths)
        self._probed = bool(match.setup.arms.get(self._seat))
        self._read, self._had = 0, 0.0
        self.rows: list[Row] = []

    @property
    def exact(self) -> bool:
        """Whether regret is known in this match."""
        return self._worths is not None

    def begin(self, request: Request) -> None:
        """Start a row for a new decision, with the value of each option and of a forfeit if
        known."""
        (turn, _, probe, about), best = request.ask.id, None
        if self._worths is not None and not probe:
            worths = self._worths(request.ask.view)
            best = None if worths is None else list(worths)
        self.rows.append(Row(turn, probe or "move", about, [], NOTHING, None, best))

    def settle(self) -> Columns:
        """Fill in the rewards that have become known since the last call, and return their sum by
        column."""
        events, new_columns = self._match.events, list[Columns]()
        for place in range(self._read, len(events)):
            event = events[place]
            if event.seat != self._seat:
                continue
            if isinstance(event, (Moved, Forfeited)):
                row = self._row(event.turn, "move")
                row.columns, row.move = self._move_columns(event, row), _action(event)
                new_columns.append(row.columns)
            elif isinstance(event, Reported) and event.source == "probe":
                row = self._row(event.turn, event.probe, event.about)
                row.columns, row.move = self._report_columns(event, row), event.value
                new_columns.append(row.columns)
        self._read = len(events)
        gained, last = self._new_payoff()
        if gained is None:
            return _sum(new_columns)
        # nearly always
        if len(new_columns) == 1 and last is not None and last.columns is new_columns[0]:
            last.columns = _add_payoff(last.columns, gained)
            return last.columns
        if last is not None:
            last.columns = _add_payoff(last.columns, gained)
        return _sum([*new_columns, Columns(payoff=gained)])

    def _row(self, turn: int, kind: str, about: str = "") -> Row:
        for row in reversed(self.rows):
            if row.turn == turn and row.kind == kind and row.about == about:
                return row
        raise LookupError(f"there is no ask {(turn, kind, about)} of {self._seat}")

    def _new_payoff(self) -> tuple[float | None, Row | None]:
        """Return the seat's payoff since the last call, and the row of the move that earned it."""
        match = self._match
        if not match.over and not match.game.pays_as_it_goes:
            return None, None
        has = float(match.game.payoffs(match.state)[self._seat])
        gained, self._had = has - self._had, has
        for row in reversed(self.rows):
            if row.kind == "move":
                return gained, row if row.columns.format is not None else None
        return gained, None

    def _move_columns(self, event: Moved | Forfeited, row: Row) -> Columns:
        regret = None
        if row.worths is not None:
            option = -1 if isinstance(event, Forfeited) else self._place(event)
            regret = row.worths[option] - max(row.worths)
        is_forfeit = isinstance(event, Forfeited)
        fits = None if is_forfeit or not self._probed else self._fits(event)
        return Columns(regret=regret, reply=fits, format=-1.0 if is_forfeit else 0.0)

    def _place(self, event: Moved) -> int:
        """Return the position of the move in the menu; values of moves are stored in this order."""
        match = self._match
        options = match.game.options(match.replay.states[event.turn], self._seat)
        return options.index(event.action)

    def _fits(self, event: Moved | Forfeited) -> float | None:
        match = self._match
        belief: dict[str, Any] = {}
        for e in match.events:
            if isinstance(e, Reported) and e.turn == event.turn and e.seat == self._seat:
                about_minds = match.spec.probe(e.probe).of_mind and e.value is not None
                asked_odds = match.spec.probe(e.probe).kind == "odds"
                if about_minds and e.about not in belief:
                    belief[e.about] = e.odds if asked_odds else e.value
        if not belief:
            return None
        view = match.replay.view(event.turn, self._seat)
        move = match.replay.move(event.turn, self._seat)
        fits = match.spec.is_best_reply(match.game, view, belief, move)
        return None if fits is None else float(fits)

    def _report_columns(self, event: Reported, row: Row) -> Columns:
        if event.value is None:
            return Columns(format=-1.0)
        judgement = judge_report(self._match.spec, self._match.replay, event)
        scores = judgement.scores if judgement is not None else {}
        row.truth = None if judgement is None else judgement.truth
        belief = None
        if event.odds is not None and "brier" in scores:
            belief = 1 - scores["brier"] / 2
        elif "right" in scores:
            belief = float(scores["right"])
        return Columns(belief=belief, format=0.0)


def _add_payoff(columns: Columns, gained: float) -> Columns:
    """Return the reward columns with a gain added to the payoff."""
    payoff = (columns.payoff or 0.0) + gained
    return Columns(payoff, columns.regret, columns.reply, columns.belief, columns.format)


def _action(event: Moved | Forfeited) -> Any:
    return event.action if isinstance(event, Moved) else None


def _sum(column_sets: list[Columns]) -> Columns:
    """Add up several sets of reward columns, name by name. A column that is None in every set stays
    None; otherwise None counts as 0."""
    added = {}
    for name in Columns.__struct_fields__:
        values = [value for columns in column_sets if (value := getattr(columns, name)) is not None]
        added[name] = sum(values) if values else None
    return Columns(**added)
