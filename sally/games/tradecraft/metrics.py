"""Metrics of TradeCraft: wins, offers, acceptances, and beliefs about the other player's values."""

from __future__ import annotations

from collections.abc import Callable

from sally.core.rules.game import Seat
from sally.core.rules.metric import Metric, Played
from sally.games.tradecraft.rules import State
from sally.games.tradecraft.thresholds import FOLLOWS
from sally.games.tradecraft.trades import (
    Trade,
    beliefs_apart,
    mean_apart,
    price_proposals,
    reporting,
    trades,
    trend,
)

Measure = Callable[[Played, Seat], float | None]


def _at_the_end(measure: Callable[[State, Seat], float]) -> Measure:
    """Return a measure of the last state; None if the episode was censored."""

    def measure_end(played: Played, seat: Seat) -> float | None:
        last: State = played.replay.present
        return None if played.episode.payoffs is None else float(measure(last, seat))

    return measure_end


def _share_accepted(seat_of: Callable[[Trade], str]) -> Measure:
    """Return the share of accepted proposals among the answered ones for which `seat_of` returns
    the measured seat."""

    def measure_share(played: Played, seat: Seat) -> float | None:
        answers = [trade.accepted for trade in trades(played) if seat_of(trade) == seat]
        answered = [answer for answer in answers if answer is not None]
        return sum(answered) / len(answered) if answered else None

    return measure_share


def _offer_share(played: Played, seat: Seat) -> float | None:
    prices = price_proposals(played, seat)
    requested_value = sum(request for request, _ in prices)
    return sum(offer for _, offer in prices) / requested_value if requested_value else None


def _kl_v1_trend(played: Played, seat: Seat) -> float | None:
    distances = beliefs_apart(played, seat)
    return trend([(float(distance.turn), distance.divergence.kl) for distance in distances])


def _whole_reports(played: Played, seat: Seat) -> float | None:
    report_counts = reporting(played, seat)
    return report_counts.whole / report_counts.total if report_counts.total else None


METRICS = (
    FOLLOWS,
    Metric(
        name="win",
        about="1 where the target was in hand at the end, alone or with others; blank if censored",
        measure=_at_the_end(lambda last, seat: seat in last.winners),
        better="higher",
        unit="share",
        headline=True,
    ),
    Metric(
        name="win_alone",
        about="1 where a seat was the only winner",
        measure=_at_the_end(lambda last, seat: last.winners == (seat,)),
        better="higher",
        unit="share",
    ),
    Metric(
        name="turns_played",
        about="turns until somebody won, or the limit",
        measure=_at_the_end(lambda last, seat: last.turn),
        unit="turns",
        headline=True,
    ),
    Metric(
        name="proposals_accepted",
        about="share of a seat's answered proposals that were accepted",
        measure=_share_accepted(lambda trade: trade.proposer),
        unit="share",
    ),
    Metric(
        name="accepts",
        about="share of the proposals to a seat that it accepted",
        measure=_share_accepted(lambda trade: trade.proposal.to),
        unit="share",
    ),
    Metric(
        name="offer_share",
        about="total V0 offered over total V0 requested in a seat's proposals",
        measure=_offer_share,
    ),
    Metric(
        name="offer_slope",
        about="slope of offered on requested V0 over a seat's proposals in one episode",
        measure=lambda played, seat: trend(price_proposals(played, seat)),
    ),
    Metric(
        name="kl_v1",
        about="mean KL(V0 of the other || V1 of the seat) over turns; .5 added, normalised to 1",
        measure=lambda played, seat: mean_apart(played, seat, "kl"),
        better="lower",
        unit="nats",
        headline=True,
    ),
    Metric(
        name="kl_v1_reverse",
        about="mean KL(V1 of the seat || V0 of the other) over turns; .5 added, normalised to 1",
        measure=lambda played, seat: mean_apart(played, seat, "reverse"),
        better="lower",
        unit="nats",
    ),
    Metric(
        name="kl_v1_trend",
        about="slope of KL(V0 of the other || V1) over turns; below 0 means that beliefs improve",
        measure=_kl_v1_trend,
        better="lower",
        unit="nats a turn",
    ),
    Metric(
        name="kl_v2",
        about="mean KL(V1 of the other || V2 of the seat); blank unless the other reports V1",
        measure=lambda played, seat: mean_apart(played, seat, "kl", 2),
        better="lower",
        unit="nats",
    ),
    Metric(
        name="js_v1",
        about="mean Jensen-Shannon divergence of V1 and the other's V0 over turns",
        measure=lambda played, seat: mean_apart(played, seat, "jensen_shannon"),
        better="lower",
        unit="nats",
    ),
    Metric(
        name="whole_reports",
        about="share of value reports that value every item; partial and refused ones are not",
        measure=_whole_reports,
        better="higher",
        unit="share",
    ),
)
