"""Metrics of bargaining: payoff, benchmarks, promises, and where surplus was lost.

Payoffs and benchmarks are averaged over the coin toss that rounds a midpoint price ending in .5.
The two benchmarks differ if the partner reacts: *hindsight* holds the partner's quotes fixed; the
*optimum* is exact play against the partner's declared rule with its limit known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import TypeVar

import msgspec

from sally.core.log.events import Setup
from sally.core.rules.game import Seat
from sally.core.rules.metric import Metric, Played, cache_by_seat, mean
from sally.games.bargaining.rules import (
    BUYER,
    Bargaining,
    State,
    gain,
    other_seat,
    round_gain,
)
from sally.games.bargaining.solver import (
    KnownLimitSolution,
    mirror_price,
    rule_of,
    solve_known_limit,
)
from sally.games.bargaining.spec import limit_of
from sally.games.bargaining.talk import read_message
from sally.games.bargaining.values import HIGHEST

T = TypeVar("T")
Measure = Callable[[Played, Seat], float | None]


class Quoted(msgspec.Struct, frozen=True):
    """A round in which both seats quoted, from one seat's perspective."""

    number: int  # from 0
    own_quote: int
    other_quote: int
    price: int | None
    own_message: str  # the seat's own message
    heard: str  # the other's message


class SeatEpisode(msgspec.Struct, frozen=True):
    """An episode from one seat's perspective."""

    limit: int
    their_limit: int
    rounds: tuple[Quoted, ...]

    @property
    def surplus(self) -> int:
        """The joint gain from a trade in a round."""
        return abs(self.limit - self.their_limit)


def game_of(played: Played) -> Bargaining:
    return played.replay.rules(Bargaining)


@cache_by_seat
def table(played: Played, seat: Seat) -> SeatEpisode | None:
    """Return the rounds in which both seats quoted; None if no round has both quotes or no
    limits were dealt."""
    state: State = played.replay.present
    own_limit, other_limit = limit_of(state, seat), limit_of(state, other_seat(seat))
    if own_limit is None or other_limit is None:
        return None
    rounds = []
    for number, past_round in enumerate(state.past):
        quote, other_quote = past_round.quote(seat), past_round.quote(other_seat(seat))
        if quote is not None and other_quote is not None:
            messages = dict(past_round.said)
            texts = (messages.get(seat, ""), messages.get(other_seat(seat), ""))
            rounds.append(Quoted(number, quote, other_quote, past_round.price, *texts))
    return SeatEpisode(own_limit, other_limit, tuple(rounds)) if rounds else None


# --- yardsticks -----------------------------------------------------------------------------------


def earnings(seat: Seat, seat_episode: SeatEpisode) -> float:
    """Return the total earnings, averaged over the coin toss that rounds a midpoint price ending in
    .5."""
    return sum(
        round_gain(seat, seat_episode.limit, quoted.own_quote, quoted.other_quote)
        for quoted in seat_episode.rounds
    )


def hindsight(seat: Seat, seat_episode: SeatEpisode) -> float:
    """Return the total earnings of matching every profitable quote of the other seat exactly."""
    return sum(
        max(0.0, gain(seat, seat_episode.limit, quoted.other_quote))
        for quoted in seat_episode.rounds
    )


def random_worth(seat: Seat, limit: int, other_quote: int) -> float:
    """Return the mean earnings in one round of a quote drawn uniformly from 0 to 100, against the
    quote `other_quote`.

    >>> random_worth(BUYER, 70, 40)
    9.05940594059406
    """
    bid, own_value = other_quote, limit  # in the buyer's frame
    if seat != BUYER:
        bid, own_value = HIGHEST - other_quote, HIGHEST - limit
    n = HIGHEST - bid + 1  # bids from the ask up to 100
    return n * (own_value - (3 * bid + HIGHEST) / 4) / (HIGHEST + 1)


@cache_by_seat
def solve_table(played: Played, seat: Seat) -> KnownLimitSolution | None:
    """Return the exact solution against the other seat's declared rule; None if it declares no
    rule.

    The optimum is for the number of rounds played: a declared rule does not advance in a round
    without both quotes.
    """
    seat_episode, sits = table(played, seat), played.episode.setup.lineup.get(other_seat(seat))
    rule = rule_of(sits.player, sits.params) if sits is not None else None
    if seat_episode is None or rule is None:
        return None
    is_buyer = seat == BUYER
    value = mirror_price(not is_buyer, seat_episode.limit)
    cost = mirror_price(not is_buyer, seat_episode.their_limit)
    return solve_known_limit(rule, value, cost, len(seat_episode.rounds))


def _payoff_per_round(played: Played, seat: Seat) -> float | None:
    seat_episode, payoffs = table(played, seat), played.episode.payoffs
    return (
        None
        if seat_episode is None or payoffs is None
        else payoffs[seat] / len(seat_episode.rounds)
    )


def random_payoff_per_round(setup: Setup, seat: Seat) -> float | None:
    """Return the mean payoff of uniformly random quotes against a declared rule.

    None if the limits are dealt by chance or the other player declares no rule.
    """
    game = Bargaining(**setup.instance.params)
    across = setup.lineup.get(str(other_seat(seat)))
    rule = None if across is None else rule_of(across.player, across.params)
    if rule is None or game.value is None or game.cost is None:
        return None
    is_buyer = seat == BUYER
    own_limit, other_limit = (game.value, game.cost) if is_buyer else (game.cost, game.value)
    limits = mirror_price(not is_buyer, own_limit), mirror_price(not is_buyer, other_limit)
    return solve_known_limit(rule, *limits, game.rounds).random_worth / game.rounds


def _surplus_share(played: Played, seat: Seat) -> float | None:
    seat_episode, payoffs = table(played, seat), played.episode.payoffs
    if seat_episode is None or payoffs is None:
        return None
    return payoffs[seat] / (len(seat_episode.rounds) * seat_episode.surplus)


def _hindsight(played: Played, seat: Seat) -> float | None:
    seat_episode = table(played, seat)
    if seat_episode is None:
        return None
    best = hindsight(seat, seat_episode)
    random = sum(
        random_worth(seat, seat_episode.limit, quoted.other_quote) for quoted in seat_episode.rounds
    )
    return (
        (earnings(seat, seat_episode) - random) / (best - random) if best - random > 1e-9 else None
    )


def _hindsight_regret(played: Played, seat: Seat) -> float | None:
    seat_episode = table(played, seat)
    return (
        None
        if seat_episode is None
        else (hindsight(seat, seat_episode) - earnings(seat, seat_episode))
        / len(seat_episode.rounds)
    )


def expected_earnings(played: Played, seat: Seat) -> float | None:
    """Return the expected earnings of the seat's quotes against the other seat's declared rule."""
    seat_episode, solution = table(played, seat), solve_table(played, seat)
    if seat_episode is None or solution is None:
        return None
    if solution.rule.keep >= 1:
        return earnings(seat, seat_episode)
    total = 0.0
    for past_round in seat_episode.rounds:
        ask, own_bid = solution.rule.start, mirror_price(seat != BUYER, past_round.own_quote)
        for quoted, chance in (
            (ask, solution.rule.keep),
            (solution.rule.slipped_quote(ask), 1 - solution.rule.keep),
        ):
            total += chance * round_gain(BUYER, solution.value, own_bid, quoted)
    return total


def _optimum(played: Played, seat: Seat) -> float | None:
    earned_total, solution = expected_earnings(played, seat), solve_table(played, seat)
    if earned_total is None or solution is None:
        return None
    span = solution.optimum - solution.random_worth
    return (earned_total - solution.random_worth) / span if span > 1e-9 else None


def _optimum_regret(played: Played, seat: Seat) -> float | None:
    earned_total, solution = expected_earnings(played, seat), solve_table(played, seat)
    if earned_total is None or solution is None or played.episode.payoffs is None:
        return None
    return max(0.0, solution.optimum - earned_total) / solution.rounds


# --- where surplus was lost -----------------------------------------------------------------------


class Losses(msgspec.Struct, frozen=True):
    """The regret of a round relative to the best quote in hindsight, by cause."""

    missed: float = 0.0  # a profitable quote was not met
    overpaid: float = 0.0  # half the distance between the quotes in a trade that pays
    beyond: float = 0.0  # a quote beyond the seat's own limit was met


def split_loss(seat: Seat, limit: int, own_quote: int, other_quote: int) -> Losses:
    """Split the regret of a round by cause; the three parts sum to the hindsight payoff minus the
    earnings."""
    best_gain, round_payoff = (
        gain(seat, limit, other_quote),
        round_gain(seat, limit, own_quote, other_quote),
    )
    trades = own_quote >= other_quote if seat == BUYER else other_quote >= own_quote
    if best_gain > 0 and not trades:
        return Losses(missed=best_gain)
    if best_gain > 0:
        return Losses(overpaid=best_gain - round_payoff)
    return Losses(beyond=-round_payoff) if trades else Losses()


def _mean_over(
    items: Callable[[Seat, SeatEpisode], Sequence[T]],
    value: Callable[[Seat, SeatEpisode, T], float],
) -> Measure:
    """Return a measure: the mean value of an episode's rounds, announcements or claims."""

    def measure(played: Played, seat: Seat) -> float | None:
        seat_episode = table(played, seat)
        return (
            None
            if seat_episode is None
            else mean([value(seat, seat_episode, item) for item in items(seat, seat_episode)])
        )

    return measure


def _rounds_of(seat: Seat, seat_episode: SeatEpisode) -> Sequence[Quoted]:
    return seat_episode.rounds


def _mean_loss(cause: str, about: str) -> Metric:
    def value(seat: Seat, seat_episode: SeatEpisode, quoted: Quoted) -> float:
        return float(
            getattr(
                split_loss(seat, seat_episode.limit, quoted.own_quote, quoted.other_quote), cause
            )
        )

    measure, bounds = _mean_over(_rounds_of, value), (0.0, HIGHEST)
    return Metric(f"lost_{cause}", about, measure, better="lower", unit="payoff", bounds=bounds)


# --- word and deed --------------------------------------------------------------------------------


class Word(msgspec.Struct, frozen=True):
    """An announced quote and the quote that followed."""

    announced: int
    quoted: int

    @property
    def was_kept(self) -> bool:
        return self.announced == self.quoted

    def own_favour(self, seat: Seat) -> bool:
        """Return whether the announcement was broken in the speaker's favour: with a lower bid
        or a higher ask than announced."""
        is_lower = self.quoted < self.announced
        return not self.was_kept and is_lower == (seat == BUYER)


def words_of(seat: Seat, seat_episode: SeatEpisode) -> list[Word]:
    """Return the announcements of a seat with the quotes that followed."""
    announcements = [
        (read_message(quoted.own_message, seat).announced, quoted.own_quote)
        for quoted in seat_episode.rounds
    ]
    return [
        Word(announcement, quoted)
        for announcement, quoted in announcements
        if announcement is not None
    ]


def claims_of(seat: Seat, seat_episode: SeatEpisode) -> list[int]:
    """Return the values that a seat has stated, in order."""
    stated = (read_message(quoted.own_message, seat).claimed for quoted in seat_episode.rounds)
    return [claimed for claimed in stated if claimed is not None]


def is_bluff(seat: Seat, limit: int, claimed: int) -> bool:
    """Return whether a stated value is better for the speaker than the true one."""
    return gain(seat, claimed, 0) < gain(seat, limit, 0)


def _share_announced(played: Played, seat: Seat) -> float | None:
    seat_episode = table(played, seat)
    if seat_episode is None or game_of(played).talk == "none":
        return None
    return len(words_of(seat, seat_episode)) / len(seat_episode.rounds)


def from_truthful(seat: Seat, seat_episode: SeatEpisode) -> tuple[float, int]:
    """Return the payoff in the rounds in which the other seat's latest stated value is true, and
    the number of these rounds."""
    stated, total, n = None, 0.0, 0
    for quoted in seat_episode.rounds:
        claimed = read_message(quoted.heard, other_seat(seat)).claimed
        stated = stated if claimed is None else claimed
        if stated == seat_episode.their_limit:
            total += 0.0 if quoted.price is None else gain(seat, seat_episode.limit, quoted.price)
            n += 1
    return total, n


def _from_truthful(played: Played, seat: Seat) -> float | None:
    seat_episode = table(played, seat)
    if seat_episode is None:
        return None
    total, n = from_truthful(seat, seat_episode)
    return total / (n * seat_episode.surplus) if n else None


def kept_met(seat: Seat, seat_episode: SeatEpisode) -> tuple[int, int]:
    """Return two counts: the profitable announcements that the other seat kept and this seat
    matched exactly, and all profitable announcements that the other seat kept."""
    n_met = due = 0
    for quoted in seat_episode.rounds:
        announcement = read_message(quoted.heard, other_seat(seat)).announced
        if (
            announcement is not None
            and announcement == quoted.other_quote
            and gain(seat, seat_episode.limit, announcement) > 0
        ):
            due += 1
            n_met += quoted.own_quote == announcement
    return n_met, due


def _kept_met(played: Played, seat: Seat) -> float | None:
    seat_episode = table(played, seat)
    n_met, due = (0, 0) if seat_episode is None else kept_met(seat, seat_episode)
    return n_met / due if due else None


def _in_a_round(game: Bargaining, seat: Seat) -> tuple[float, float]:
    return -float(HIGHEST), float(HIGHEST)


METRICS = (
    Metric(
        "payoff_per_round",
        "payoff per round in which both quoted",
        _payoff_per_round,
        better="higher",
        unit="payoff",
        within=_in_a_round,
        headline=True,
        at_random=random_payoff_per_round,
    ),
    Metric(
        "surplus_share",
        "payoff as a share of the joint gain; outside 0 to 1 only beyond a limit",
        _surplus_share,
        better="higher",
        unit="of the surplus",
        bounds=(-inf, inf),
        headline=True,
    ),
    Metric(
        "doing_hindsight",
        "0: as random quotes, 1: the best against the other's actual quotes",
        _hindsight,
        better="higher",
        unit="of the best",
        bounds=(-inf, 1.0),
        headline=True,
    ),
    Metric(
        "doing_optimum",
        "0: as random quotes, 1: exact play against the other's declared rule",
        _optimum,
        better="higher",
        unit="of the best",
        bounds=(-inf, 1.0),
        headline=True,
    ),
    Metric(
        "optimum_regret",
        "payoff per round that exact play against the declared rule, its limit known, would add",
        _optimum_regret,
        better="lower",
        unit="payoff",
        bounds=(0.0, inf),
    ),
    Metric(
        "hindsight_regret",
        "payoff per round that the best against the other's actual quotes would add",
        _hindsight_regret,
        better="lower",
        unit="payoff",
        bounds=(0.0, inf),
    ),
    _mean_loss("missed", "payoff per round missed by not meeting a quote that would have paid"),
    _mean_loss(
        "overpaid", "payoff per round given away by quoting past the other's quote in a trade"
    ),
    _mean_loss("beyond", "payoff per round lost by meeting a quote beyond the seat's own limit"),
    Metric(
        "trade_rate",
        "share of rounds with a trade",
        _mean_over(_rounds_of, lambda seat, seat_episode, quoted: quoted.price is not None),
        unit="share",
    ),
    Metric(
        "irrational_quotes",
        "share of quotes beyond the seat's own limit",
        _mean_over(
            _rounds_of,
            lambda seat, seat_episode, quoted: gain(seat, seat_episode.limit, quoted.own_quote) < 0,
        ),
        better="lower",
        unit="share",
    ),
    Metric(
        "aim_error",
        "mean distance between the seat's quote and the other's",
        _mean_over(
            _rounds_of,
            lambda seat, seat_episode, quoted: abs(quoted.own_quote - quoted.other_quote),
        ),
        better="lower",
        unit="price",
        bounds=(0.0, HIGHEST),
    ),
    Metric(
        "announced_share",
        "share of rounds in which the seat announced its quote, as the reader of messages reads it",
        _share_announced,
        unit="share",
    ),
    Metric(
        "promises_kept",
        "share of announced quotes that were quoted exactly",
        _mean_over(words_of, lambda seat, seat_episode, word: word.was_kept),
        unit="share",
    ),
    Metric(
        "broken_own_favour",
        "share of announced quotes that were broken in the seat's own favour",
        _mean_over(words_of, lambda seat, seat_episode, word: word.own_favour(seat)),
        unit="share",
    ),
    Metric(
        "broken_other_favour",
        "share of announced quotes that were broken in the other's favour",
        _mean_over(
            words_of,
            lambda seat, seat_episode, word: not word.was_kept and not word.own_favour(seat),
        ),
        unit="share",
    ),
    Metric(
        "claims_true",
        "share of stated values that were true",
        _mean_over(claims_of, lambda seat, seat_episode, claimed: claimed == seat_episode.limit),
        unit="share",
    ),
    Metric(
        "claims_bluff",
        "share of stated values that were shaded in the seat's own favour",
        _mean_over(
            claims_of,
            lambda seat, seat_episode, claimed: is_bluff(seat, seat_episode.limit, claimed),
        ),
        unit="share",
    ),
    Metric(
        "share_from_truthful",
        "share of the surplus taken in rounds in which the other's latest stated value is true",
        _from_truthful,
        unit="of the surplus",
        bounds=(-inf, inf),
    ),
    Metric(
        "kept_word_met",
        "share of the other's kept, profitable announcements that were met exactly",
        _kept_met,
        better="higher",
        unit="share",
    ),
)
