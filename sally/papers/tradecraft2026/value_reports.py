"""What value reports say, arm by arm: beliefs over turns, exchange rates, decisions explained."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import msgspec

from sally.core.rules.game import Seat
from sally.core.rules.metric import Played
from sally.games.tradecraft.decisions import Fit
from sally.games.tradecraft.trades import beliefs_apart, exchange_of, fit_of, reporting
from sally.games.tradecraft.values import Exchange
from sally.stats.cluster_interval import lone_by_rule
from sally.stats.intervals import Estimate

Plays = Sequence[tuple[Played, Seat]]


class BeliefsAtTurn(msgspec.Struct, frozen=True):
    """How far beliefs were off in one turn, over the episodes that reached it."""

    turn: int
    kl: Estimate  # KL(the other's V0 || V1), as our protocol has it
    reverse: Estimate
    jensen_shannon: Estimate


class ValueReports(msgspec.Struct, frozen=True):
    """All analyses of one arm."""

    episodes: int
    whole: int  # reports that value every item
    partial: int
    refused: int
    beliefs: tuple[BeliefsAtTurn, ...]
    exchange: Exchange | None  # None without a valued proposal
    fits: tuple[Fit | None, ...]  # by order; None where the decisions allow no fit


def value_reports(
    plays: Plays, order: int, *, seed: int, step: float = 0.25, draws: int = 2000
) -> ValueReports:
    """The analyses of an arm whose seats report values up to an order."""
    counts = [reporting(played, seat) for played, seat in plays]
    return ValueReports(
        episodes=len(plays),
        whole=sum(count.whole for count in counts),
        partial=sum(count.partial for count in counts),
        refused=sum(count.refused for count in counts),
        beliefs=tuple(beliefs_by_turn(plays)),
        exchange=_exchange(plays, seed, draws),
        fits=tuple(_fit(plays, k, seed, step) for k in range(order + 1)),
    )


def beliefs_by_turn(plays: Plays, order: int = 1) -> list[BeliefsAtTurn]:
    """Divergences turn by turn; later turns rest on fewer episodes, and say how many."""
    by_turn: dict[int, list[tuple[float, float, float]]] = {}
    for played, seat in plays:
        for apart in beliefs_apart(played, seat, order):
            found = apart.divergence
            measures = (found.kl, found.reverse, found.jensen_shannon)
            by_turn.setdefault(apart.turn, []).append(measures)
    return [
        BeliefsAtTurn(turn, *(lone_by_rule(column, (0, inf)) for column in zip(*rows, strict=True)))
        for turn, rows in sorted(by_turn.items())
    ]


def _exchange(plays: Plays, seed: int, draws: int) -> Exchange | None:
    found = exchange_of(plays, seed=seed, draws=draws) if plays else None
    return found if found is not None and found.proposals else None


def _fit(plays: Plays, order: int, seed: int, step: float) -> Fit | None:
    try:
        return fit_of(plays, order, seed=seed, step=step)
    except ValueError:  # too few episodes, or all decisions alike
        return None
