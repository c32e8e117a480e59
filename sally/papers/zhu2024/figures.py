"""Figures of one-shot 2x2 games: gains, levels of reasoning, and a mixture of levels.

A choice is scored against the choices of all people in the other role. The score, called doing, is
0 for a random choice and 1 for the best reply to these choices. In intervals, a person is a
cluster.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import numpy as np

from sally.papers.zhu2024.reader import (
    KINDS,
    Choice,
    Crowds,
    Floats,
    canonical,
    kind_of,
    pure_equilibria,
)
from sally.stats.cluster_interval import lone_by_rule, ratio_by_rule
from sally.stats.intervals import Estimate

LEVELS = 4
GRID = tuple(round(0.05 * n, 2) for n in range(1, 20))
FIXED_ERROR = 0.1
STEPS, CLOSE = 500, 1e-10  # of the fit of a mixture
TIE = 1e-9  # points


class ChoiceTable(msgspec.Struct, frozen=True):
    """A table of choices, as columns."""

    person: np.ndarray
    kind: np.ndarray
    row: np.ndarray  # 0: A, 1: B
    own_payoffs: Floats  # (choice, row, column)
    other_payoffs: Floats
    crowd: np.ndarray  # people across
    values: Floats  # (choice, row): expected payoff against the crowd; 0 without one


def table_of(choices: tuple[Choice, ...], crowds: Crowds) -> ChoiceTable:
    """Return a table of choices, each with its expected payoffs against the people in the other
    role."""
    across = np.array([crowds.across(choice) for choice in choices], float)
    own_pays = np.array([c.own_payoffs for c in choices], float).reshape(-1, 2, 2)
    other_pays = np.array([c.other_payoffs for c in choices], float).reshape(-1, 2, 2)
    size = across.sum(axis=1)
    odds = across / np.maximum(size, 1)[:, None]
    return ChoiceTable(
        np.array([c.person for c in choices]),
        np.array(
            [KINDS.index(kind_of(canonical(c.own_payoffs, c.other_payoffs)[0])) for c in choices]
        ),
        np.array([c.row for c in choices]),
        own_pays,
        other_pays,
        size.astype(int),
        np.einsum("nrc,nc->nr", own_pays, odds),
    )


def _best(values: Floats) -> Floats:
    """Return the probability of choosing the first option: 1 if it is better, 0 if it is worse, .5
    in a tie."""
    gap = values[:, 0] - values[:, 1]
    return np.where(gap > 0, 1.0, np.where(gap < 0, 0.0, 0.5))


def levels(table: ChoiceTable) -> list[Floats]:
    """Return the probability that levels 0, 1, 2, ... choose row A; it is .5 in a tie."""
    rows = [np.full(len(table.row), 0.5)]
    columns = [np.full(len(table.row), 0.5)]
    for _ in range(LEVELS):
        column_odds = np.stack([columns[-1], 1 - columns[-1]], axis=1)
        row_odds = np.stack([rows[-1], 1 - rows[-1]], axis=1)
        rows.append(_best(np.einsum("nrc,nc->nr", table.own_payoffs, column_odds)))
        columns.append(_best(np.einsum("nrc,nr->nc", table.other_payoffs, row_odds)))
    return rows


def rules(table: ChoiceTable) -> dict[str, Floats]:
    """Return the probability that each rule of thumb chooses row A."""
    rules_found = {f"level {k}": row for k, row in enumerate(levels(table)) if k}
    rules_found["own largest payoff"] = _best(table.own_payoffs.max(axis=2))
    rules_found["largest sum"] = _best((table.own_payoffs + table.other_payoffs).max(axis=2))
    rules_found["maxmin"] = _best(table.own_payoffs.min(axis=2))
    flat = table.own_payoffs.reshape(-1, 4), table.other_payoffs.reshape(-1, 4)
    equilibrium_shares: dict[tuple[float, ...], float] = {}
    equilibrium = []
    for own_pays, other_pays in zip(*flat, strict=True):
        key = (*own_pays, *other_pays)
        if key not in equilibrium_shares:
            cells = pure_equilibria(tuple(own_pays), tuple(other_pays))
            equilibrium_shares[key] = sum(r == 0 for r, _ in cells) / len(cells) if cells else 0.5
        equilibrium.append(equilibrium_shares[key])
    rules_found["equilibrium"] = np.array(equilibrium)
    return rules_found


def agreement(table: ChoiceTable, rule: Floats) -> Estimate:
    """Return how often people choose the row that a rule chooses, leaving out ties."""
    is_defined = rule != 0.5
    is_followed = (table.row == 0) == (rule == 1.0)
    people = table.person[is_defined]
    return ratio_by_rule(
        is_followed[is_defined].astype(float), np.ones(is_defined.sum()), people, (0.0, 1.0)
    )


def _gains(
    table: ChoiceTable, rule: Floats | None, smallest_crowd: int
) -> tuple[Floats, Floats, np.ndarray]:
    """Return, for each choice, its expected payoff minus that of a random choice, the same
    difference for the best choice, and the person who chose."""
    has_crowd = table.crowd >= max(1, smallest_crowd)
    values = table.values[has_crowd]
    if rule is None:
        payoffs = values[np.arange(len(values)), table.row[has_crowd]]
    else:
        payoffs = values[:, 0] * rule[has_crowd] + values[:, 1] * (1 - rule[has_crowd])
    even = values.mean(axis=1)
    return payoffs - even, values.max(axis=1) - even, table.person[has_crowd]


def doing(table: ChoiceTable, rule: Floats | None = None, smallest_crowd: int = 1) -> Estimate:
    """Return how much people gained, or a rule would have gained on the same choices, from 0
    (random choice) to 1 (best choice).

    Each person is a cluster.

    Args:
        table: The choices.
        rule: The probability that a rule chooses row A; None scores the people themselves.
        smallest_crowd: Choices with fewer recorded opponents are left out.
    """
    gained, best_gains, person = _gains(table, rule, smallest_crowd)
    return ratio_by_rule(gained, best_gains, person)


def doing_by_person(table: ChoiceTable, smallest_crowd: int = 1) -> Floats:
    """Return how much each person gained, from 0 (random choice) to 1 (best choice). Persons
    without any choice between unequal payoffs are left out."""
    gained, best_gains, person = _gains(table, None, smallest_crowd)
    _, codes = np.unique(person, return_inverse=True)
    top, bottom = np.bincount(codes, gained), np.bincount(codes, best_gains)
    return np.asarray(top[bottom > 0] / bottom[bottom > 0])


def best_reply_taken(table: ChoiceTable, smallest_crowd: int = 1) -> Estimate:
    """Return how often the chosen row was a best reply to the choices of the people in the other
    role."""
    has_crowd = table.crowd >= max(1, smallest_crowd)
    values, row = table.values[has_crowd], table.row[has_crowd]
    losses = values.max(axis=1) - values[np.arange(len(values)), row]
    best = (losses < TIE).astype(float)
    return ratio_by_rule(best, np.ones(len(best)), table.person[has_crowd])


class Mixture(msgspec.Struct, frozen=True):
    """Shares of people at levels of reasoning 0 to 3, with one error rate for all people."""

    error: float  # the chance of even odds instead of the level's choice
    shares: tuple[float, ...]
    log_likelihood: float


def mixture(table: ChoiceTable, error: float, top: int = 3) -> Mixture:
    """Return the shares of levels, fitted by expectation maximisation at a given error rate."""
    _, codes = np.unique(table.person, return_inverse=True)
    chances = np.stack(levels(table)[: top + 1])
    chance_of_choice = np.where(table.row == 0, chances, 1 - chances)
    logs = np.log((1 - error) * chance_of_choice + error / 2)
    fits = np.stack([np.bincount(codes, row) for row in logs])  # (level, person)
    shift = fits.max(axis=0)
    weights, shares, last = np.exp(fits - shift), np.full(top + 1, 1 / (top + 1)), -np.inf
    for _ in range(STEPS):
        joint = shares[:, None] * weights
        totals = joint.sum(axis=0)
        total = float((np.log(totals) + shift).sum())
        shares = (joint / totals).mean(axis=1)
        if total - last < CLOSE:
            break
        last = total
    return Mixture(error, tuple(map(float, shares)), total)


def fitted_mixture(table: ChoiceTable) -> Mixture:
    """Return the likeliest mixture of reasoning levels, over a grid of error rates in steps of
    .05."""
    return max((mixture(table, e) for e in GRID), key=lambda fit: fit.log_likelihood)


def summary(table: ChoiceTable, smallest_crowd: int = 1) -> dict[str, Estimate | float]:
    """Return the main figures of a table, by name."""
    results: dict[str, Estimate | float] = {"doing, pooled": doing(table, None, smallest_crowd)}
    results["doing, mean over people"] = lone_by_rule(doing_by_person(table, smallest_crowd))
    results["best reply to the crowd taken"] = best_reply_taken(table, smallest_crowd)
    chances = rules(table)
    first, second, third = chances["level 1"], chances["level 2"], chances["level 3"]
    for name, rule in chances.items():
        results[f"agreement with {name}"] = agreement(table, rule)
        results[f"doing of {name}"] = doing(table, rule, smallest_crowd)
    for name, rule, rival in (
        ("level 1 where level 2 differs", first, second),
        ("level 2 where level 3 differs", second, third),
    ):
        tells_apart = (rule != 0.5) & (rival != 0.5) & (rule != rival)
        results[name] = agreement(table, np.where(tells_apart, rule, 0.5))
    return results


def by_kind(table: ChoiceTable) -> Mapping[str, dict[str, Estimate | int]]:
    """Return, for each kind of game, the number of choices and their agreement with level-1 and
    level-2 reasoning."""
    chances = levels(table)
    results: dict[str, dict[str, Estimate | int]] = {}
    for number, kind in enumerate(KINDS):
        is_kind = table.kind == number
        results[kind] = {
            "choices": int(is_kind.sum()),
            **{
                f"level {k}": agreement(table, np.where(is_kind, chances[k], 0.5))
                for k in (1, 2)
                if is_kind.any()
            },
        }
    return results
