"""Main findings of recorded bargaining, with intervals.

Every figure is a ratio of sums over seat-games. A game is a cluster, because its two seats depend
on each other; models are not clusters, so intervals hold for these models only. Payoffs are as
recorded, including the luck of rounding; the best quote in hindsight is the best reply to the
other's recorded quotes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import pairwise

import msgspec
import numpy as np

from sally.core.rules.chance import Stream
from sally.core.rules.game import Seat
from sally.core.rules.history import History
from sally.games.bargaining.metrics import (
    Losses,
    Quoted,
    SeatEpisode,
    Word,
    claims_of,
    hindsight,
    is_bluff,
    kept_met,
    random_worth,
    split_loss,
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
from sally.games.bargaining.rules import BUYER, SEATS, Round, View, gain, other_seat, round_gain
from sally.papers.pact.reader import Record
from sally.stats.additive_ratings import additive_ratings
from sally.stats.bradley_terry import components
from sally.stats.cluster_interval import ratio_by_rule
from sally.stats.intervals import Estimate

Pair = tuple[float, float]  # numerator and denominator of one seat-game


class SeatGame(msgspec.Struct, frozen=True, dict=True):
    """One seat of one recorded game; what several measures need is computed once."""

    game: str
    seat: Seat
    model: str
    opponent: str
    era: str
    seat_episode: SeatEpisode

    @cached_property
    def words(self) -> list[Word]:
        """The announcements with the quotes that followed."""
        return words_of(self.seat, self.seat_episode)

    @cached_property
    def random(self) -> float:
        """The payoff of uniform quotes."""
        seat, seat_episode = self.seat, self.seat_episode
        return sum(
            random_worth(seat, seat_episode.limit, quoted.other_quote)
            for quoted in seat_episode.rounds
        )

    @cached_property
    def best(self) -> float:
        """The best payoff in hindsight."""
        return hindsight(self.seat, self.seat_episode)

    @cached_property
    def losses(self) -> list[Losses]:
        """The regret of each round by cause."""
        seat, seat_episode = self.seat, self.seat_episode
        return [
            split_loss(seat, seat_episode.limit, quoted.own_quote, quoted.other_quote)
            for quoted in seat_episode.rounds
        ]

    @cached_property
    def first_claim(self) -> str:
        """The first value or cost that the seat claimed to have: "true", "bluff" or "self-harming",
        or "none" if it claimed none."""
        claims = claims_of(self.seat, self.seat_episode)
        if not claims:
            return "none"
        if claims[0] == self.seat_episode.limit:
            return "true"
        return (
            "bluff" if is_bluff(self.seat, self.seat_episode.limit, claims[0]) else "self-harming"
        )

    @cached_property
    def payoff(self) -> float:
        """The payoff as recorded."""
        prices = (quoted.price for quoted in self.seat_episode.rounds if quoted.price is not None)
        return sum(gain(self.seat, self.seat_episode.limit, price) for price in prices)

    @property
    def share(self) -> float:
        """The payoff as a share of the total gain available to both seats."""
        return self.payoff / (len(self.seat_episode.rounds) * self.seat_episode.surplus)


def seat_games(records: Iterable[Record]) -> list[SeatGame]:
    """Return both seats of every record."""
    return [_seat_game(record, seat) for record in records for seat in SEATS]


def _seat_game(record: Record, seat: Seat) -> SeatGame:
    rounds = tuple(
        Quoted(
            number,
            quoted.quotes[seat],
            quoted.quotes[other_seat(seat)],
            quoted.price,
            quoted.message(seat),
            quoted.message(other_seat(seat)),
        )
        for number, quoted in enumerate(record.rounds)
    )
    seat_episode = SeatEpisode(record.limit(seat), record.limit(other_seat(seat)), rounds)
    names = record.names[seat], record.names[other_seat(seat)]
    return SeatGame(record.id, seat, *names, record.era, seat_episode)


def estimate(games: Sequence[SeatGame], pair: Callable[[SeatGame], Pair]) -> Estimate | None:
    """Return a ratio of sums over seat-games with its interval; None if the denominator is 0."""
    bounds = (0.0, 1.0) if pair in SHARES else None
    pairs = [pair(game) for game in games]
    defined_pairs = [(n, (top, below)) for n, (top, below) in enumerate(pairs) if below]
    if not defined_pairs:
        return None
    tops, belows = zip(*(pair for _, pair in defined_pairs), strict=True)
    return ratio_by_rule(
        list(tops), list(belows), [games[n].game for n, _ in defined_pairs], bounds
    )


# --- the measures ---------------------------------------------------------------------------------


def doing(game: SeatGame) -> Pair:
    """Return the payoff, and the best payoff in hindsight, each minus the payoff of uniform
    quotes."""
    return game.payoff - game.random, game.best - game.random


def share(game: SeatGame) -> Pair:
    return game.share, 1.0


def efficiency(game: SeatGame) -> Pair:
    return sum(quoted.price is not None for quoted in game.seat_episode.rounds), len(
        game.seat_episode.rounds
    )


def irrational(game: SeatGame) -> Pair:
    beyond = sum(
        gain(game.seat, game.seat_episode.limit, quoted.own_quote) < 0
        for quoted in game.seat_episode.rounds
    )
    return beyond, len(game.seat_episode.rounds)


def announced_pair(game: SeatGame) -> Pair:
    return len(game.words), len(game.seat_episode.rounds)


def kept_pair(game: SeatGame) -> Pair:
    return sum(word.was_kept for word in game.words), len(game.words)


def broken_own(game: SeatGame) -> Pair:
    return sum(word.own_favour(game.seat) for word in game.words), len(game.words)


def broken_for_other(game: SeatGame) -> Pair:
    """Return the number of announcements broken in the other's favour, and of all broken
    announcements."""
    broken = [word for word in game.words if not word.was_kept]
    return sum(not word.own_favour(game.seat) for word in broken), len(broken)


def met_pair(game: SeatGame) -> Pair:
    return kept_met(game.seat, game.seat_episode)


def loss(part: str) -> Callable[[SeatGame], Pair]:
    """Return a function that maps a game to a pair: one part of its regret, and its number of
    rounds."""

    def measure_loss(game: SeatGame) -> Pair:
        return sum(getattr(losses, part) for losses in game.losses), len(game.losses)

    return measure_loss


def aim(game: SeatGame) -> Pair:
    """Return the summed distance between the seat's quote and the other's from round 2 on, and the
    number of rounds."""
    rounds = game.seat_episode.rounds[1:]
    return sum(abs(quoted.own_quote - quoted.other_quote) for quoted in rounds), len(rounds)


def naive_aim(game: SeatGame) -> Pair:
    """Return the summed distance between the other's quote and its previous quote, and the number
    of rounds."""
    rounds = game.seat_episode.rounds
    steps = pairwise(rounds)
    return sum(abs(a.other_quote - b.other_quote) for a, b in steps), len(rounds) - 1


MEASURES: Mapping[str, Callable[[SeatGame], Pair]] = {
    "doing in hindsight": doing,
    "surplus share": share,
    "trades per round": efficiency,
    "irrational quotes": irrational,
    "announced quotes": announced_pair,
    "announced = quoted": kept_pair,
    "broken in own favour": broken_own,
    "of the broken, in the other's favour": broken_for_other,
    "kept announcements met exactly": met_pair,
    "missed trades, a round": loss("missed"),
    "overpaid, a round": loss("overpaid"),
    "beyond the own limit, a round": loss("beyond"),
    "distance to the other's quote": aim,
    "distance of the other's quote from its last": naive_aim,
}

SHARES = {efficiency, irrational, announced_pair, kept_pair, broken_own, broken_for_other, met_pair}

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

    def measure_habit(game: SeatGame) -> Pair:
        seat, seat_episode = game.seat, game.seat_episode
        total, past = 0.0, History[Round]()
        for quoted in seat_episode.rounds:
            view = View(seat, seat_episode.limit, past, 0, talking=False)
            own_quote = habit(view, seat_episode.limit, view.last())
            total += round_gain(seat, seat_episode.limit, own_quote, quoted.other_quote)
            bid, ask = (
                (own_quote, quoted.other_quote)
                if seat == BUYER
                else (quoted.other_quote, own_quote)
            )
            past = past.append(Round(bid, ask))
        return total - game.random, game.best - game.random

    return measure_habit


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


def ratings(games: Sequence[SeatGame], fewest_games: int = 1, draws: int = DRAWS) -> Ratings:
    """Return ratings theta from the model: buyer share - seller share = theta_B - theta_S + role.

    Shares are clipped to [-1, 2]. Intervals are percentiles over resampled games. Models that are
    not connected by games cannot be compared; `components` is the number of connected parts.
    """
    played = [game for game in games if game.seat == BUYER]
    paid = {(game.game, game.seat): game.share for game in games}
    counts: dict[str, int] = {}
    for game in games:
        counts[game.model] = counts.get(game.model, 0) + 1
    played = [g for g in played if min(counts[g.model], counts[g.opponent]) >= fewest_games]
    names = sorted({name for game in played for name in (game.model, game.opponent)})
    place = {name: n for n, name in enumerate(names)}
    rows, aims = np.zeros((len(played), len(names) + 1)), np.zeros(len(played))
    for n, game in enumerate(played):
        rows[n, place[game.model]], rows[n, place[game.opponent]], rows[n, -1] = 1, -1, 1
        shares = paid[game.game, BUYER], paid[game.game, other_seat(BUYER)]
        aims[n] = np.clip(shares[0], -1, 2) - np.clip(shares[1], -1, 2)
    terms, results = rows[:, None, :], aims[:, None]
    generator = Stream("pact", "ratings").generator()
    best, low, high = additive_ratings(terms, results, len(names), draws, generator)
    shares_of: dict[tuple[str, Seat], list[float]] = {}
    for game in games:
        shares_of.setdefault((game.model, game.seat), []).append(game.share)
    models = [
        Rating(
            name,
            counts[name],
            float(best[n]),
            float(low[n]),
            float(high[n]),
            balance_roles([shares_of.get((name, seat), []) for seat in SEATS]),
        )
        for name, n in place.items()
    ]
    ordered = tuple(sorted(models, key=lambda model: -model.rating))
    pairs = np.array([(place[game.model], place[game.opponent]) for game in played])
    groups = int(components(len(names), pairs).max()) + 1
    return Ratings(ordered, groups, float(best[-1]))


def balance_roles(shares: Sequence[Sequence[float]]) -> float | None:
    """Return the average of a model's mean shares of the surplus as buyer and as seller; None
    unless it played both roles."""
    if not all(shares):
        return None
    return sum(sum(role_shares) / len(role_shares) for role_shares in shares) / len(shares)
