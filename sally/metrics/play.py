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


def error_survival(played: Played, seat: Seat) -> float | None:
    """Return how much of a seat's payoff may be due to others' forfeits; None in one-player games.

    In a game that pays turn by turn, this is the seat's gain in turns in which another seat
    forfeited and this seat did not. In a game that pays at the end, it is the whole payoff of an
    episode in which another seat forfeited: at most this much comes from others' errors.
    """
    replay, final = played.replay, played.episode.payoffs
    if len(replay.game.seats) < 2 or final is None:
        return None
    seats = {*replay.game.seats}
    others_forfeits = [
        step
        for step in replay.steps()
        if seat not in step.forfeited and seats & {*step.forfeited} - {seat}
    ]
    if not others_forfeits:
        return 0.0
    if not getattr(replay.game, "pays_as_it_goes", False):
        return float(final.get(seat, 0.0))
    pays = replay.game.payoffs
    return float(sum(pays(step.after)[seat] - pays(step.before)[seat] for step in others_forfeits))


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
        name="error_survival",
        about="payoff that may come from others' forfeits: gained in turns in which another seat "
        "forfeited, or, if paid at the end, in episodes with such a turn",
        measure=error_survival,
        unit="payoff",
    ),
    Metric(
        name="retries",
        about="tries beyond the first, over moves and probes",
        measure=_retries,
        better="lower",
        unit="tries",
    ),
)
