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
from sally.core.rules.metric import Metric, Played, mean, shared
from sally.games.bargaining.rules import (
    BUYER,
    Bargaining,
    State,
    gain,
    other,
    round_gain,
)
from sally.games.bargaining.solver import KnownLimitSolution, known, mirrored, rule_of
from sally.games.bargaining.spec import limit_of
from sally.games.bargaining.talk import read_message
from sally.games.bargaining.values import HIGHEST

T = TypeVar("T")
Measure = Callable[[Played, Seat], float | None]


class Quoted(msgspec.Struct, frozen=True):
    """A round in which both seats quoted, from one seat's perspective."""

    number: int  # from 0
    mine: int
    theirs: int
    price: int | None
    said: str  # the seat's own message
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


@shared
def table(played: Played, seat: Seat) -> SeatEpisode | None:
    """Return the rounds in which both seats quoted; None if no round has both quotes or no
    limits were dealt."""
    state: State = played.replay.present
    mine, theirs = limit_of(state, seat), limit_of(state, other(seat))
    if mine is None or theirs is None:
        return None
    rounds = []
    for number, each in enumerate(state.past):
        quote, met = each.quote(seat), each.quote(other(seat))
        if quote is not None and met is not None:
            said = dict(each.said)
            texts = (said.get(seat, ""), said.get(other(seat), ""))
            rounds.append(Quoted(number, quote, met, each.price, *texts))
    return SeatEpisode(mine, theirs, tuple(rounds)) if rounds else None


# --- yardsticks -----------------------------------------------------------------------------------


def earned(seat: Seat, at: SeatEpisode) -> float:
    """Return the total earnings, averaged over the coin toss that rounds a midpoint price ending in
    .5."""
    return sum(round_gain(seat, at.limit, each.mine, each.theirs) for each in at.rounds)


def hindsight(seat: Seat, at: SeatEpisode) -> float:
    """Return the total earnings of matching every profitable quote of the other seat exactly."""
    return sum(max(0.0, gain(seat, at.limit, each.theirs)) for each in at.rounds)


def random_worth(seat: Seat, limit: int, theirs: int) -> float:
    """Return the mean earnings in one round of a quote drawn uniformly from 0 to 100, against the
    quote `theirs`.

    >>> random_worth(BUYER, 70, 40)
    9.05940594059406
    """
    bid, worth = theirs, limit  # in the buyer's frame
    if seat != BUYER:
        bid, worth = HIGHEST - theirs, HIGHEST - limit
    n = HIGHEST - bid + 1  # bids from the ask up to 100
    return n * (worth - (3 * bid + HIGHEST) / 4) / (HIGHEST + 1)


@shared
def solved(played: Played, seat: Seat) -> KnownLimitSolution | None:
    """Return the exact solution against the other seat's declared rule; None if it declares no
    rule.

    The optimum is for the number of rounds played: a declared rule does not advance in a round
    without both quotes.
    """
    at, sits = table(played, seat), played.episode.setup.lineup.get(other(seat))
    rule = rule_of(sits.player, sits.params) if sits is not None else None
    if at is None or rule is None:
        return None
    is_buyer = seat == BUYER
    value = mirrored(not is_buyer, at.limit)
    cost = mirrored(not is_buyer, at.their_limit)
    return known(rule, value, cost, len(at.rounds))


def _payoff_per_round(played: Played, seat: Seat) -> float | None:
    at, payoffs = table(played, seat), played.episode.payoffs
    return None if at is None or payoffs is None else payoffs[seat] / len(at.rounds)


def random_payoff_per_round(setup: Setup, seat: Seat) -> float | None:
    """Return the mean payoff of uniformly random quotes against a declared rule.

    None if the limits are dealt by chance or the other player declares no rule.
    """
    game = Bargaining(**setup.instance.params)
    across = setup.lineup.get(str(other(seat)))
    rule = None if across is None else rule_of(across.player, across.params)
    if rule is None or game.value is None or game.cost is None:
        return None
    is_buyer = seat == BUYER
    mine, theirs = (game.value, game.cost) if is_buyer else (game.cost, game.value)
    limits = mirrored(not is_buyer, mine), mirrored(not is_buyer, theirs)
    return known(rule, *limits, game.rounds).random_worth / game.rounds


def _surplus_share(played: Played, seat: Seat) -> float | None:
    at, payoffs = table(played, seat), played.episode.payoffs
    if at is None or payoffs is None:
        return None
    return payoffs[seat] / (len(at.rounds) * at.surplus)


def _hindsight(played: Played, seat: Seat) -> float | None:
    at = table(played, seat)
    if at is None:
        return None
    best = hindsight(seat, at)
    random = sum(random_worth(seat, at.limit, each.theirs) for each in at.rounds)
    return (earned(seat, at) - random) / (best - random) if best - random > 1e-9 else None


def _hindsight_regret(played: Played, seat: Seat) -> float | None:
    at = table(played, seat)
    return None if at is None else (hindsight(seat, at) - earned(seat, at)) / len(at.rounds)


def expected(played: Played, seat: Seat) -> float | None:
    """Return the expected earnings of the seat's quotes against the other seat's declared rule."""
    at, found = table(played, seat), solved(played, seat)
    if at is None or found is None:
        return None
    if found.rule.keep >= 1:
        return earned(seat, at)
    total = 0.0
    for each in at.rounds:
        ask, mine = found.rule.start, mirrored(seat != BUYER, each.mine)
        for quoted, chance in (
            (ask, found.rule.keep),
            (found.rule.slipped(ask), 1 - found.rule.keep),
        ):
            total += chance * round_gain(BUYER, found.value, mine, quoted)
    return total


def _optimum(played: Played, seat: Seat) -> float | None:
    got, found = expected(played, seat), solved(played, seat)
    if got is None or found is None:
        return None
    span = found.optimum - found.random_worth
    return (got - found.random_worth) / span if span > 1e-9 else None


def _optimum_regret(played: Played, seat: Seat) -> float | None:
    got, found = expected(played, seat), solved(played, seat)
    if got is None or found is None or played.episode.payoffs is None:
        return None
    return max(0.0, found.optimum - got) / found.rounds


# --- where surplus was lost -----------------------------------------------------------------------


class Losses(msgspec.Struct, frozen=True):
    """The regret of a round relative to the best quote in hindsight, by cause."""

    missed: float = 0.0  # a profitable quote was not met
    overpaid: float = 0.0  # half the distance between the quotes in a trade that pays
    beyond: float = 0.0  # a quote beyond the seat's own limit was met


def lost(seat: Seat, limit: int, mine: int, theirs: int) -> Losses:
    """Split the regret of a round by cause; the three parts sum to the hindsight payoff minus the
    earnings."""
    worth, got = gain(seat, limit, theirs), round_gain(seat, limit, mine, theirs)
    trades = mine >= theirs if seat == BUYER else theirs >= mine
    if worth > 0 and not trades:
        return Losses(missed=worth)
    if worth > 0:
        return Losses(overpaid=worth - got)
    return Losses(beyond=-got) if trades else Losses()


def _mean_over(
    items: Callable[[Seat, SeatEpisode], Sequence[T]],
    value: Callable[[Seat, SeatEpisode, T], float],
) -> Measure:
    """Return a measure: the mean value of an episode's rounds, announcements or claims."""

    def measure(played: Played, seat: Seat) -> float | None:
        at = table(played, seat)
        return None if at is None else mean([value(seat, at, one) for one in items(seat, at)])

    return measure


def _quoted(seat: Seat, at: SeatEpisode) -> Sequence[Quoted]:
    return at.rounds


def _mean_loss(cause: str, about: str) -> Metric:
    def value(seat: Seat, at: SeatEpisode, each: Quoted) -> float:
        return float(getattr(lost(seat, at.limit, each.mine, each.theirs), cause))

    measure, bounds = _mean_over(_quoted, value), (0.0, HIGHEST)
    return Metric(f"lost_{cause}", about, measure, better="lower", unit="payoff", bounds=bounds)


# --- word and deed --------------------------------------------------------------------------------


class Word(msgspec.Struct, frozen=True):
    """An announced quote and the quote that followed."""

    announced: int
    quoted: int

    @property
    def kept(self) -> bool:
        return self.announced == self.quoted

    def own_favour(self, seat: Seat) -> bool:
        """Return whether the announcement was broken in the speaker's favour: with a lower bid
        or a higher ask than announced."""
        less = self.quoted < self.announced
        return not self.kept and less == (seat == BUYER)


def words_of(seat: Seat, at: SeatEpisode) -> list[Word]:
    """Return the announcements of a seat with the quotes that followed."""
    found = [(read_message(each.said, seat).announced, each.mine) for each in at.rounds]
    return [Word(said, quoted) for said, quoted in found if said is not None]


def claims_of(seat: Seat, at: SeatEpisode) -> list[int]:
    """Return the values that a seat has stated, in order."""
    found = (read_message(each.said, seat).claimed for each in at.rounds)
    return [claimed for claimed in found if claimed is not None]


def is_bluff(seat: Seat, limit: int, claimed: int) -> bool:
    """Return whether a stated value is better for the speaker than the true one."""
    return gain(seat, claimed, 0) < gain(seat, limit, 0)


def _announced(played: Played, seat: Seat) -> float | None:
    at = table(played, seat)
    if at is None or game_of(played).talk == "none":
        return None
    return len(words_of(seat, at)) / len(at.rounds)


def from_truthful(seat: Seat, at: SeatEpisode) -> tuple[float, int]:
    """Return the payoff in the rounds in which the other seat's latest stated value is true, and
    the number of these rounds."""
    stated, total, n = None, 0.0, 0
    for each in at.rounds:
        claimed = read_message(each.heard, other(seat)).claimed
        stated = stated if claimed is None else claimed
        if stated == at.their_limit:
            total += 0.0 if each.price is None else gain(seat, at.limit, each.price)
            n += 1
    return total, n


def _from_truthful(played: Played, seat: Seat) -> float | None:
    at = table(played, seat)
    if at is None:
        return None
    total, n = from_truthful(seat, at)
    return total / (n * at.surplus) if n else None


def kept_met(seat: Seat, at: SeatEpisode) -> tuple[int, int]:
    """Return two counts: the profitable announcements that the other seat kept and this seat
    matched exactly, and all profitable announcements that the other seat kept."""
    met = due = 0
    for each in at.rounds:
        said = read_message(each.heard, other(seat)).announced
        if said is not None and said == each.theirs and gain(seat, at.limit, said) > 0:
            due += 1
            met += each.mine == said
    return met, due


def _kept_met(played: Played, seat: Seat) -> float | None:
    at = table(played, seat)
    met, due = (0, 0) if at is None else kept_met(seat, at)
    return met / due if due else None


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
        _mean_over(_quoted, lambda seat, at, each: each.price is not None),
        unit="share",
    ),
    Metric(
        "irrational_quotes",
        "share of quotes beyond the seat's own limit",
        _mean_over(_quoted, lambda seat, at, each: gain(seat, at.limit, each.mine) < 0),
        better="lower",
        unit="share",
    ),
    Metric(
        "aim_error",
        "mean distance between the seat's quote and the other's",
        _mean_over(_quoted, lambda seat, at, each: abs(each.mine - each.theirs)),
        better="lower",
        unit="price",
        bounds=(0.0, HIGHEST),
    ),
    Metric(
        "announced_share",
        "share of rounds in which the seat announced its quote, as the reader of messages reads it",
        _announced,
        unit="share",
    ),
    Metric(
        "promises_kept",
        "share of announced quotes that were quoted exactly",
        _mean_over(words_of, lambda seat, at, word: word.kept),
        unit="share",
    ),
    Metric(
        "broken_own_favour",
        "share of announced quotes that were broken in the seat's own favour",
        _mean_over(words_of, lambda seat, at, word: word.own_favour(seat)),
        unit="share",
    ),
    Metric(
        "broken_other_favour",
        "share of announced quotes that were broken in the other's favour",
        _mean_over(words_of, lambda seat, at, word: not word.kept and not word.own_favour(seat)),
        unit="share",
    ),
    Metric(
        "claims_true",
        "share of stated values that were true",
        _mean_over(claims_of, lambda seat, at, claimed: claimed == at.limit),
        unit="share",
    ),
    Metric(
        "claims_bluff",
        "share of stated values that were shaded in the seat's own favour",
        _mean_over(claims_of, lambda seat, at, claimed: is_bluff(seat, at.limit, claimed)),
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
