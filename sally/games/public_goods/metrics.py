"""Metrics of public goods, on two scales: the player's own loss, and the group's loss."""

from __future__ import annotations

from itertools import pairwise
from math import inf

from sally.core.log.events import Setup
from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.core.rules.metric import Metric, Played, cache_by_seat, mean
from sally.core.rules.simultaneous import Moves, others_of
from sally.games.public_goods.contribution_rules import nearest, rule_of
from sally.games.public_goods.rules import PublicGoods, others_mean

LEAST_PAIRS = 3  # rounds after a round that a slope needs
MOST_STATES = 1_000  # combinations of the others' contributions that are followed


def game_of(played: Played) -> PublicGoods:
    return played.replay.rules(PublicGoods)


@cache_by_seat
def rounds(played: Played, seat: Seat) -> list[Moves | None]:
    """Return the contributions of every round by seat; None for a void round."""
    seats = game_of(played).seats
    return [
        None if step.forfeited else tuple(step.moves[round_seat] for round_seat in seats)
        for step in played.replay.steps()
    ]


def contributions_of(played: Played, seat: Seat) -> list[int]:
    """Return a seat's contributions in the rounds that were played."""
    number = game_of(played).number[seat]
    return [
        contributions[number] for contributions in rounds(played, seat) if contributions is not None
    ]


def _mean_payoff(played: Played, seat: Seat) -> float | None:
    game = game_of(played)
    number = game.number[seat]
    return mean(
        [
            game.round_payoffs(contributions)[number]
            for contributions in rounds(played, seat)
            if contributions is not None
        ]
    )


def random_earned(setup: Setup, seat: Seat) -> float | None:
    """Return the expected payoff per round of uniformly random contributions.

    The value is exact if all others are scripted players with a known rule: the distribution of
    their contributions is computed round by round. It is None with other players, or if the
    contributions take too many values.
    """
    game = registry.game(setup.instance.game).build(setup.instance.params)
    assert isinstance(game, PublicGoods)
    me = game.number[seat]
    others = [(game.number[s], rule_of(setup.lineup.get(str(s)))) for s in game.seats if s != seat]
    rules = [(number, rule) for number, rule in others if rule is not None]
    if len(rules) < len(others):
        return None
    first = tuple(nearest(game, rule(game, None)) for _, rule in rules)
    odds, total, mean_contribution = {first: 1.0}, 0.0, sum(game.menu) / len(game.menu)
    for _ in range(game.rounds):
        total += sum(
            p * (game.tokens - mean_contribution + game.back * (mean_contribution + sum(o)))
            for o, p in odds.items()
        )
        odds_after: dict[Moves, float] = {}
        for other_moves, p in odds.items():
            for contribution in game.menu:
                last = (*other_moves[:me], contribution, *other_moves[me:])
                next_moves = tuple(
                    nearest(game, rule(game, others_mean(last, n))) for n, rule in rules
                )
                odds_after[next_moves] = odds_after.get(next_moves, 0.0) + p / len(game.menu)
        if len(odds_after) > MOST_STATES:
            return None
        odds = odds_after
    return total / game.rounds


def own_regret(played: Played, seat: Seat) -> float | None:
    """Return the mean payoff per round lost relative to the dominant contribution."""
    game, contributions = game_of(played), contributions_of(played, seat)
    best = game.dominant
    if best is None:
        return 0.0 if contributions else None
    return mean([abs(contribution - best) * abs(1 - game.back) for contribution in contributions])


def joint_regret(played: Played, seat: Seat) -> float | None:
    """Return the mean group payoff per round lost relative to the contribution that is best for
    all."""
    game, contributions = game_of(played), contributions_of(played, seat)
    best = game.joint_optimum
    if best is None:
        return 0.0 if contributions else None
    return mean([abs(contribution - best) * abs(game.ratio - 1) for contribution in contributions])


def given_share(played: Played, seat: Seat) -> float | None:
    """Return the percentage of the endowment that was contributed."""
    game = game_of(played)
    return mean(
        [100.0 * contribution / game.tokens for contribution in contributions_of(played, seat)]
    )


def conditional_slope(played: Played, seat: Seat) -> float | None:
    """Return the slope of the seat's contributions on the others' mean in the previous round."""
    all_rounds, number = rounds(played, seat), game_of(played).number[seat]
    pairs = []
    for last, now in pairwise(all_rounds):
        if last is not None and now is not None:
            other_contributions = others_of(last, number)
            pairs.append((sum(other_contributions) / len(other_contributions), float(now[number])))
    return slope(pairs)


def slope(pairs: list[tuple[float, float]]) -> float | None:
    """Return the least-squares slope; None if there are too few pairs or the predictor is
    constant."""
    n = len(pairs)
    if n < LEAST_PAIRS:
        return None
    x, y = sum(a for a, _ in pairs) / n, sum(b for _, b in pairs) / n
    spread = sum((a - x) ** 2 for a, _ in pairs)
    return sum((a - x) * (b - y) for a, b in pairs) / spread if spread > 1e-9 else None


METRICS = (
    Metric(
        name="earned_per_round",
        about="payoff per round that was played",
        measure=_mean_payoff,
        at_random=random_earned,
        better="higher",
        unit="tokens",
        headline=True,
    ),
    Metric(
        name="own_regret",
        about="what the dominant contribution would have added for the player, per round",
        measure=own_regret,
        better="lower",
        unit="tokens",
        bounds=(0.0, inf),
        headline=True,
    ),
    Metric(
        name="joint_regret",
        about="what the best contribution for all would have added for the group, per round",
        measure=joint_regret,
        better="lower",
        unit="tokens",
        bounds=(0.0, inf),
    ),
    Metric(
        name="given_share",
        about="share of the tokens that was given",
        measure=given_share,
        unit="%",
        bounds=(0.0, 100.0),
        headline=True,
    ),
    Metric(
        name="conditional_slope",
        about="slope of contributions on what the others gave on average in the round before",
        measure=conditional_slope,
        unit="tokens per token",
    ),
)
