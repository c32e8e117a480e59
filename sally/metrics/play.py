"""Payoff, forfeits and retries of a seat, in any game."""

from __future__ import annotations

from sally.core.log.events import Forfeited
from sally.core.rules.game import Seat
from sally.core.rules.metric import Metric, Played


def _reward(played: Played, seat: Seat) -> float | None:
    payoffs = played.episode.payoffs
    return None if payoffs is None else payoffs.get(seat)


def _forfeits(played: Played, seat: Seat) -> float:
    events = played.episode.events
    return float(len([e for e in events if type(e) is Forfeited and e.seat == seat]))


def _retries(played: Played, seat: Seat) -> float:
    # events that are not answers count as one try
    return float(sum([e.tries - 1 for e in played.episode.events if e.seat == seat]))


METRICS = (
    Metric(
        name="reward",
        about="total payoff; blank where the episode was censored",
        measure=_reward,
        better="higher",
        unit="payoff",
    ),
    Metric(
        name="forfeits",
        about="moves that could not be read, or were rejected, within the tries allowed",
        measure=_forfeits,
        better="lower",
        unit="moves",
        label="forfeits",
        headline=True,
    ),
    Metric(
        name="retries",
        about="tries beyond the first, over moves and probes",
        measure=_retries,
        better="lower",
        unit="tries",
    ),
)
