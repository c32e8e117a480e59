"""Main findings of recorded bargaining, with intervals.

Every figure is a ratio of sums over seat-games. A game is a cluster, because its two seats depend
on each other; models are not clusters, so intervals hold for these models only. Payoffs are as
recorded, including the luck of rounding; the best quote in hindsight is the best reply to the
other's recorded quotes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise

import msgspec
import numpy as np

from sally.core.rules.chance import Stream
from sally.core.rules.game import Seat
from sally.core.rules.history import History
from sally.games.bargaining.metrics import (
    Quoted,
    SeatEpisode,
    claims_of,
    hindsight,
    is_bluff,
    kept_met,
    lost,
    random_worth,
    words_of,
)
from sally.games.bargaining.partners import (
    Habit,
    concede,
    copy_last_capped,
    fifty_capped,
    halfway,
    split_own_and_last,
    three_quarters,
)
from sally.games.bargaining.rules import BUYER, SEATS, Round, View, gain, other, round_gain
from sally.papers.pact.reading import Record
from sally.stats.additive_ratings import additive_ratings
from sally.stats.bradley_terry import components
from sally.stats.cluster_interval import ratio_by_rule
from sally.stats.intervals import Estimate

Pair = tuple[float, float]  # numerator and denominator of one seat-game


class SeatGame(msgspec.Struct, frozen=True):
    """One seat of one recorded game."""

    game: str
    seat: Seat
    model: str
    opponent: str
    era: str
    at: SeatEpisode

    @property
    def paid(self) -> float:
        """The payoff as recorded."""
        prices = (each.price for each in self.at.rounds if each.price is not None)
        return sum(gain(self.seat, self.at.limit, price) for price in prices)

    @property
    def share(self) -> float:
        """The payoff as a share of the total gain available to both seats."""
        return self.paid / (len(self.at.rounds) * self.at.surplus)


def seat_games(records: Iterable[Record]) -> list[SeatGame]:
    """Return both seats of every record."""
    return [_seat_game(record, seat) for record in records for seat in SEATS]


def _seat_game(record: Record, seat: Seat) -> SeatGame:
    rounds = tuple(
        Quoted(
            number,
            each.quotes[seat],
            each.quotes[other(seat)],
            each.price,
            each.message(seat),
            each.message(other(seat)),
        )
        for number, each in enumerate(record.rounds)
    )
    at = SeatEpisode(record.limit(seat), record.limit(other(seat)), rounds)
    names = record.names[seat], record.names[other(seat)]
    return SeatGame(record.id, seat, *names, record.era, at)


def estimate(games: Sequence[SeatGame], pair: Callable[[SeatGame], Pair]) -> Estimate | None:
    """Return a ratio of sums over seat-games with its interval; None if the denominator is 0."""
    bounds = (0.0, 1.0) if pair in SHARES else None
    pairs = [pair(game) for game in games]
    kept = [(n, (top, below)) for n, (top, below) in enumerate(pairs) if below]
    if not kept:
        return None
    tops, belows = zip(*(pair for _, pair in kept), strict=True)
    return ratio_by_rule(list(tops), list(belows), [games[n].game for n, _ in kept], bounds)


# --- the measures ---------------------------------------------------------------------------------


def doing(game: SeatGame) -> Pair:
    """Return the payoff, and the best payoff in hindsight, each minus the payoff of uniform
    quotes."""
    random = _random(game)
    return game.paid - random, hindsight(game.seat, game.at) - random


def _random(game: SeatGame) -> float:
    seat, at = game.seat, game.at
    return sum(random_worth(seat, at.limit, each.theirs) for each in at.rounds)


def share(game: SeatGame) -> Pair:
    return game.share, 1.0


def efficiency(game: SeatGame) -> Pair:
    return sum(each.price is not None for each in game.at.rounds), len(game.at.rounds)


def irrational(game: SeatGame) -> Pair:
    beyond = sum(gain(game.seat, game.at.limit, each.mine) < 0 for each in game.at.rounds)
    return beyond, len(game.at.rounds)


def announced(game: SeatGame) -> Pair:
    return len(words_of(game.seat, game.at)), len(game.at.rounds)


def kept(game: SeatGame) -> Pair:
    words = words_of(game.seat, game.at)
    return sum(word.kept for word in words), len(words)


def broken_own(game: SeatGame) -> Pair:
    words = words_of(game.seat, game.at)
    return sum(word.own_favour(game.seat) for word in words), len(words)


def broken_for_other(game: SeatGame) -> Pair:
    """Return the number of announcements broken in the other's favour, and of all broken
    announcements."""
    broken = [word for word in words_of(game.seat, game.at) if not word.kept]
    return sum(not word.own_favour(game.seat) for word in broken), len(broken)


def met(game: SeatGame) -> Pair:
    return kept_met(game.seat, game.at)


def loss(part: str) -> Callable[[SeatGame], Pair]:
    """Return a function that maps a game to a pair: one part of its regret, and its number of
    rounds."""

    def measured(game: SeatGame) -> Pair:
        seat, at = game.seat, game.at
        parts = [lost(seat, at.limit, each.mine, each.theirs) for each in at.rounds]
        return sum(getattr(each, part) for each in parts), len(parts)

    return measured


def aim(game: SeatGame) -> Pair:
    """Return the summed distance between the seat's quote and the other's from round 2 on, and the
    number of rounds."""
    rounds = game.at.rounds[1:]
    return sum(abs(each.mine - each.theirs) for each in rounds), len(rounds)


def naive_aim(game: SeatGame) -> Pair:
    """Return the summed distance between the other's quote and its previous quote, and the number
    of rounds."""
    rounds = game.at.rounds
    steps = pairwise(rounds)
    return sum(abs(a.theirs - b.theirs) for a, b in steps), len(rounds) - 1


def first_claim(game: SeatGame) -> str:
    """Return "true", "bluff" or "self-harming" for the first value or cost that a seat claimed to
    have, or "none" if it claimed none."""
    claims = claims_of(game.seat, game.at)
    if not claims:
        return "none"
    if claims[0] == game.at.limit:
        return "true"
    return "bluff" if is_bluff(game.seat, game.at.limit, claims[0]) else "self-harming"


MEASURES: Mapping[str, Callable[[SeatGame], Pair]] = {
    "doing in hindsight": doing,
    "surplus share": share,
    "trades per round": efficiency,
    "irrational quotes": irrational,
    "announced quotes": announced,
    "announced = quoted": kept,
    "broken in own favour": broken_own,
    "of the broken, in the other's favour": broken_for_other,
    "kept announcements met exactly": met,
    "missed trades, a round": loss("missed"),
    "overpaid, a round": loss("overpaid"),
    "beyond the own limit, a round": loss("beyond"),
    "distance to the other's quote": aim,
    "distance of the other's quote from its last": naive_aim,
}

SHARES = {efficiency, irrational, announced, kept, broken_own, broken_for_other, met}

# --- mindless players on the recorded quotes ------------------------------------------------------


HABITS: Mapping[str, Habit] = {
    "truthful": lambda view, limit, last: limit,
    "half": halfway,
    "three_quarters": three_quarters,
    "fifty_capped": fifty_capped,
    "copy_last_capped": copy_last_capped,
    "split_own_and_last": split_own_and_last,
    "always_concede_1": concede,
}


def mindless(habit: Habit) -> Callable[[SeatGame], Pair]:
    """Return a function that applies a fixed rule for quoting (a habit) to a recorded game, against
    the other side's recorded quotes.

    The function returns how much more than random quotes the rule earns, and how much more the best
    quotes would have earned in hindsight.
    """

    def measured(game: SeatGame) -> Pair:
        seat, at = game.seat, game.at
        total, past = 0.0, History[Round]()
        for each in at.rounds:
            view = View(seat, at.limit, past, 0, talking=False)
            mine = habit(view, at.limit, view.last())
            total += round_gain(seat, at.limit, mine, each.theirs)
            bid, ask = (mine, each.theirs) if seat == BUYER else (each.theirs, mine)
            past = past.append(Round(bid, ask))
        random = _random(game)
        return total - random, hindsight(seat, at) - random

    return measured


# --- rating ---------------------------------------------------------------------------------------


class Rating(msgspec.Struct, frozen=True):
    """An additive rating: a model's share of the surplus relative to all models, adjusted for
    opponents."""

    model: str
    games: int
    rating: float
    low: float
    high: float
    share: (
        float | None
    )  # raw surplus share, both seats weighted equally; None: one seat was not played


class Ratings(msgspec.Struct, frozen=True):
    """Ratings of all models, the number of groups of models that never met each other, and the
    advantage of the buyer's seat."""

    models: tuple[Rating, ...]
    components: int
    buyer: float


DRAWS = 200


def ratings(games: Sequence[SeatGame], least: int = 1, draws: int = DRAWS) -> Ratings:
    """Return ratings theta from the model: buyer share - seller share = theta_B - theta_S + role.

    Shares are clipped to [-1, 2]. Intervals are percentiles over resampled games. Models that are
    not connected by games cannot be compared; `components` is the number of connected parts.
    """
    played = [game for game in games if game.seat == BUYER]
    paid = {(game.game, game.seat): game.share for game in games}
    counts: dict[str, int] = {}
    for game in games:
        counts[game.model] = counts.get(game.model, 0) + 1
    played = [g for g in played if min(counts[g.model], counts[g.opponent]) >= least]
    names = sorted({name for game in played for name in (game.model, game.opponent)})
    place = {name: n for n, name in enumerate(names)}
    rows, aims = np.zeros((len(played), len(names) + 1)), np.zeros(len(played))
    for n, game in enumerate(played):
        rows[n, place[game.model]], rows[n, place[game.opponent]], rows[n, -1] = 1, -1, 1
        shares = paid[game.game, BUYER], paid[game.game, other(BUYER)]
        aims[n] = np.clip(shares[0], -1, 2) - np.clip(shares[1], -1, 2)
    terms, results = rows[:, None, :], aims[:, None]
    generator = Stream("pact", "ratings").generator()
    best, low, high = additive_ratings(terms, results, len(names), draws, generator)
    models = [
        Rating(
            name, counts[name], float(best[n]), float(low[n]), float(high[n]), balanced(games, name)
        )
        for name, n in place.items()
    ]
    ordered = tuple(sorted(models, key=lambda each: -each.rating))
    pairs = np.array([(place[game.model], place[game.opponent]) for game in played])
    groups = int(components(len(names), pairs).max()) + 1
    return Ratings(ordered, groups, float(best[-1]))


def balanced(games: Sequence[SeatGame], model: str) -> float | None:
    """Return the average of a model's mean share of the surplus as buyer and as seller; None unless
    it played both roles."""
    means = []
    for seat in SEATS:
        shares = [g.share for g in games if (g.model, g.seat) == (model, seat)]
        if not shares:
            return None
        means.append(sum(shares) / len(shares))
    return sum(means) / len(means)
