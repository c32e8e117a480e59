"""Metrics of TradeCraft: wins, offers, acceptances, and beliefs about the other player's values."""

from __future__ import annotations

from sally.core.rules.game import Seat
from sally.core.rules.metric import Metric, Played
from sally.games.tradecraft.thresholds import FOLLOWS
from sally.games.tradecraft.trades import (
    beliefs_apart,
    mean_apart,
    priced,
    reporting,
    state_of,
    trades,
    trend,
)


def _win(played: Played, seat: Seat) -> float | None:
    if played.episode.payoffs is None:
        return None
    return float(seat in state_of(played).winners)


def _win_alone(played: Played, seat: Seat) -> float | None:
    if played.episode.payoffs is None:
        return None
    return float(state_of(played).winners == (seat,))


def _turns_played(played: Played, seat: Seat) -> float | None:
    return None if played.episode.payoffs is None else float(state_of(played).turn)


def _proposals_accepted(played: Played, seat: Seat) -> float | None:
    answers = [t.accepted for t in trades(played) if t.proposer == seat]
    given = [answer for answer in answers if answer is not None]
    return sum(given) / len(given) if given else None


def _accepts(played: Played, seat: Seat) -> float | None:
    answers = [t.accepted for t in trades(played) if t.proposal.to == seat]
    given = [answer for answer in answers if answer is not None]
    return sum(given) / len(given) if given else None


def _offer_share(played: Played, seat: Seat) -> float | None:
    found = priced(played, seat)
    asked = sum(request for request, _ in found)
    return sum(offer for _, offer in found) / asked if asked else None


def _offer_slope(played: Played, seat: Seat) -> float | None:
    return trend(priced(played, seat))


def _kl_v1(played: Played, seat: Seat) -> float | None:
    return mean_apart(played, seat, "kl")


def _kl_v1_reverse(played: Played, seat: Seat) -> float | None:
    return mean_apart(played, seat, "reverse")


def _kl_v1_trend(played: Played, seat: Seat) -> float | None:
    apart = beliefs_apart(played, seat)
    return trend([(float(each.turn), each.divergence.kl) for each in apart])


def _kl_v2(played: Played, seat: Seat) -> float | None:
    return mean_apart(played, seat, "kl", 2)


def _js_v1(played: Played, seat: Seat) -> float | None:
    return mean_apart(played, seat, "jensen_shannon")


def _whole_reports(played: Played, seat: Seat) -> float | None:
    found = reporting(played, seat)
    return found.whole / found.asked if found.asked else None


METRICS = (
    FOLLOWS,
    Metric(
        name="win",
        about="1 where the target was in hand at the end, alone or with others; blank if censored",
        measure=_win,
        better="higher",
        unit="share",
        headline=True,
    ),
    Metric(
        name="win_alone",
        about="1 where a seat was the only winner",
        measure=_win_alone,
        better="higher",
        unit="share",
    ),
    Metric(
        name="turns_played",
        about="turns until somebody won, or the limit",
        measure=_turns_played,
        unit="turns",
        headline=True,
    ),
    Metric(
        name="proposals_accepted",
        about="share of a seat's answered proposals that were accepted",
        measure=_proposals_accepted,
        unit="share",
    ),
    Metric(
        name="accepts",
        about="share of the proposals to a seat that it accepted",
        measure=_accepts,
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
        measure=_offer_slope,
    ),
    Metric(
        name="kl_v1",
        about="mean KL(V0 of the other || V1 of the seat) over turns; .5 added, normalised to 1",
        measure=_kl_v1,
        better="lower",
        unit="nats",
        headline=True,
    ),
    Metric(
        name="kl_v1_reverse",
        about="mean KL(V1 of the seat || V0 of the other) over turns; .5 added, normalised to 1",
        measure=_kl_v1_reverse,
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
        measure=_kl_v2,
        better="lower",
        unit="nats",
    ),
    Metric(
        name="js_v1",
        about="mean Jensen-Shannon divergence of V1 and the other's V0 over turns",
        measure=_js_v1,
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
