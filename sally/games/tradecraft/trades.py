"""TradeCraft episodes as rows: proposals, decisions and reports, for the analyses of the protocol.

Reports belong to the start of a turn, so a proposal or a decision is valued with the reports of
its own turn. What was refused, left out or forfeited makes no row, and is counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from sally.core.log.events import Reported, Skipped
from sally.core.rules.game import Seat
from sally.core.rules.metric import Played
from sally.games.tradecraft.actions import ACCEPT, Answer, Propose, goods
from sally.games.tradecraft.decisions import Fit, fit_decisions
from sally.games.tradecraft.rules import DECIDING, PROPOSING, State, TradeCraft
from sally.games.tradecraft.values import Divergence, Exchange, divergence, exchange, worth

FAMILY = "tradecraft"
Values = Mapping[str, float]


class Trade(msgspec.Struct, frozen=True):
    """A valid proposal and what came of it; `accepted` None where the answer was forfeited."""

    turn: int
    start: int  # the step of the match at which the turn began, where reports were asked
    proposer: Seat
    proposal: Propose
    accepted: bool | None


class Apart(msgspec.Struct, frozen=True):
    """How far a belief about another's values was from what the other reported."""

    turn: int
    about: Seat
    divergence: Divergence


def state_of(played: Played) -> State:
    """The last state of an episode."""
    last: State = played.replay.states[-1]
    return last


def starts(played: Played) -> dict[int, int]:
    """The step of the match at which each turn began."""
    found: dict[int, int] = {}
    for step, state in enumerate(played.replay.states):
        if state.phase == PROPOSING:
            found.setdefault(state.turn, step)
    return found


def trades(played: Played) -> Iterator[Trade]:
    """Every proposal that reached somebody, in order."""
    begun, game = starts(played), played.replay.game
    assert isinstance(game, TradeCraft)
    for step in played.replay.steps():
        state: State = step.before
        if state.phase != DECIDING or state.proposal is None:
            continue
        given = next(iter(step.moves.values()), None)
        accepted = given.answer == ACCEPT if isinstance(given, Answer) else None
        proposer = game.proposer(state.turn)
        yield Trade(state.turn, begun[state.turn], proposer, state.proposal, accepted)


def values(played: Played, step: int, seat: Seat, probe: str, about: str = "") -> Values | None:
    """A value report, or None where there is none."""
    found = played.replay.report(step, seat, probe, about)
    return found.value if found is not None and isinstance(found.value, dict) else None


# --- beliefs ----------------------------------------------------------------------------------


def beliefs_apart(played: Played, seat: Seat, order: int = 1) -> list[Apart]:
    """Turn by turn: V1 against the other's V0 (order 1), or V2 against the other's V1 (order 2)."""
    found = []
    for turn, step in starts(played).items():
        for other in played.replay.game.seats:
            if other == seat:
                continue
            about = "" if order == 1 else seat
            said = values(played, step, other, f"v{order - 1}", about)
            believed = values(played, step, seat, f"v{order}", other)
            if said is not None and believed is not None:
                apart = divergence(said, believed)
                if apart is not None:
                    found.append(Apart(turn, other, apart))
    return found


def mean_apart(played: Played, seat: Seat, measure: str, order: int = 1) -> float | None:
    """The mean of one divergence over an episode's turns."""
    found = [float(getattr(a.divergence, measure)) for a in beliefs_apart(played, seat, order)]
    return sum(found) / len(found) if found else None


def trend(points: Sequence[tuple[float, float]]) -> float | None:
    """The least-squares slope through points; None where the first numbers do not vary."""
    if len({x for x, _ in points}) < 2:
        return None
    middle = sum(x for x, _ in points) / len(points)
    spread = sum((x - middle) ** 2 for x, _ in points)
    return sum((x - middle) * y for x, y in points) / spread


# --- proposals --------------------------------------------------------------------------------


def priced(played: Played, seat: Seat) -> list[tuple[float, float]]:
    """For each proposal of a seat, the V0 it asked for and the V0 it offered."""
    found = []
    for trade in trades(played):
        mine = values(played, trade.start, seat, "v0") if trade.proposer == seat else None
        if mine is None:
            continue
        asked = worth(mine, goods(trade.proposal.request))
        given = worth(mine, goods(trade.proposal.offer))
        if asked is not None and given is not None:
            found.append((asked, given))
    return found


def exchange_of(plays: Iterable[tuple[Played, Seat]], *, seed: int, draws: int = 2000) -> Exchange:
    """Slope and correlation of offered on requested value, over the proposals of many episodes."""
    asked, given, names = [], [], []
    for played, seat in plays:
        for request, offer in priced(played, seat):
            asked.append(request)
            given.append(offer)
            names.append(played.episode.id)
    return exchange(asked, given, names, seed=seed, draws=draws)


# --- decisions --------------------------------------------------------------------------------


class Decided(msgspec.Struct, frozen=True):
    """Decisions of many episodes as arrays: G0, L0, G1, L1, ... by decision."""

    features: list[list[float]]
    accepted: list[bool]
    episodes: list[str]
    missing: int  # decisions without the reports they would be valued with


def decisions(plays: Iterable[tuple[Played, Seat]], order: int) -> Decided:
    """What the seats decided, valued by their own reports up to an order."""
    rows: list[list[float]] = []
    accepted: list[bool] = []
    names: list[str] = []
    missing = 0
    for played, seat in plays:
        for trade in trades(played):
            if trade.proposal.to != seat or trade.accepted is None:
                continue
            row = _features(played, seat, trade, order)
            if row is None:
                missing += 1
                continue
            rows.append(row)
            accepted.append(trade.accepted)
            names.append(played.episode.id)
    return Decided(rows, accepted, names, missing)


def _features(played: Played, seat: Seat, trade: Trade, order: int) -> list[float] | None:
    """G over what the seat would receive and L over what it would give, for each order."""
    row: list[float] = []
    for k in range(order + 1):
        said = values(played, trade.start, seat, f"v{k}", trade.proposer if k else "")
        gain = None if said is None else worth(said, goods(trade.proposal.offer))
        loss = None if said is None else worth(said, goods(trade.proposal.request))
        if gain is None or loss is None:
            return None
        row += [gain, loss]
    return row


def fit_of(plays: Iterable[tuple[Played, Seat]], order: int, *, seed: int, **options: Any) -> Fit:
    """The utility of an order fitted to the decisions of many episodes."""
    found = decisions(plays, order)
    return fit_decisions(
        found.features, found.accepted, found.episodes, order, seed=seed, **options
    )


# --- reports as reports -----------------------------------------------------------------------


class Reporting(msgspec.Struct, frozen=True):
    """How a seat reported its values: whole, in part, or not at all."""

    whole: int = 0
    partial: int = 0
    refused: int = 0

    @property
    def asked(self) -> int:
        return self.whole + self.partial + self.refused


def reporting(played: Played, seat: Seat) -> Reporting:
    """The value reports of a seat, counted."""
    whole = partial = refused = 0
    for event in played.episode.events:
        if not isinstance(event, Reported | Skipped) or event.seat != seat:
            continue
        if event.probe not in ("v0", "v1", "v2"):
            continue
        value = event.value if isinstance(event, Reported) else None
        if not isinstance(value, dict) or not value:
            refused += 1
        elif set(value) == set(played.replay.view(event.turn, seat).items):
            whole += 1
        else:
            partial += 1
    return Reporting(whole, partial, refused)
