"""Figures of one-shot 2x2 games: gains, levels of reasoning, and a mixture of levels.

A choice is scored against the choices of all people in the other role. The score, called doing, is
0 for a random choice and 1 for the best reply to these choices. In intervals, a person is a
cluster.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import numpy as np

from sally.papers.zhu2024.reading import (
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
    own: Floats  # (choice, row, column)
    other: Floats
    crowd: np.ndarray  # people across
    values: Floats  # (choice, row): expected payoff against the crowd; 0 without one


def table_of(choices: tuple[Choice, ...], crowds: Crowds) -> ChoiceTable:
    """Return a table of choices, each with its expected payoffs against the people in the other
    role."""
    across = np.array([crowds.across(choice) for choice in choices], float)
    own = np.array([c.own for c in choices], float).reshape(-1, 2, 2)
    other = np.array([c.other for c in choices], float).reshape(-1, 2, 2)
    size = across.sum(axis=1)
    odds = across / np.maximum(size, 1)[:, None]
    return ChoiceTable(
        np.array([c.person for c in choices]),
        np.array([KINDS.index(kind_of(canonical(c.own, c.other)[0])) for c in choices]),
        np.array([c.row for c in choices]),
        own,
        other,
        size.astype(int),
        np.einsum("nrc,nc->nr", own, odds),
    )


def _best(worth: Floats) -> Floats:
    """Return the probability of choosing the first option: 1 if it is better, 0 if it is worse, .5
    in a tie."""
    gap = worth[:, 0] - worth[:, 1]
    return np.where(gap > 0, 1.0, np.where(gap < 0, 0.0, 0.5))


def levels(table: ChoiceTable) -> list[Floats]:
    """Return the probability that levels 0, 1, 2, ... choose row A; it is .5 in a tie."""
    rows = [np.full(len(table.row), 0.5)]
    columns = [np.full(len(table.row), 0.5)]
    for _ in range(LEVELS):
        theirs = np.stack([columns[-1], 1 - columns[-1]], axis=1)
        mine = np.stack([rows[-1], 1 - rows[-1]], axis=1)
        rows.append(_best(np.einsum("nrc,nc->nr", table.own, theirs)))
        columns.append(_best(np.einsum("nrc,nr->nc", table.other, mine)))
    return rows


def rules(table: ChoiceTable) -> dict[str, Floats]:
    """Return the probability that each rule of thumb chooses row A."""
    found = {f"level {k}": row for k, row in enumerate(levels(table)) if k}
    found["own largest payoff"] = _best(table.own.max(axis=2))
    found["largest sum"] = _best((table.own + table.other).max(axis=2))
    found["maxmin"] = _best(table.own.min(axis=2))
    flat = table.own.reshape(-1, 4), table.other.reshape(-1, 4)
    known: dict[tuple[float, ...], float] = {}
    equilibrium = []
    for own, other in zip(*flat, strict=True):
        key = (*own, *other)
        if key not in known:
            cells = pure_equilibria(tuple(own), tuple(other))
            known[key] = sum(r == 0 for r, _ in cells) / len(cells) if cells else 0.5
        equilibrium.append(known[key])
    found["equilibrium"] = np.array(equilibrium)
    return found


def agreement(table: ChoiceTable, rule: Floats) -> Estimate:
    """Return how often people choose the row that a rule chooses, leaving out ties."""
    there = rule != 0.5
    taken = (table.row == 0) == (rule == 1.0)
    people = table.person[there]
    return ratio_by_rule(taken[there].astype(float), np.ones(there.sum()), people, (0.0, 1.0))


def _gains(
    table: ChoiceTable, rule: Floats | None, least: int
) -> tuple[Floats, Floats, np.ndarray]:
    """Return, for each choice, its expected payoff minus that of a random choice, the same
    difference for the best choice, and the person who chose."""
    there = table.crowd >= max(1, least)
    values = table.values[there]
    if rule is None:
        got = values[np.arange(len(values)), table.row[there]]
    else:
        got = values[:, 0] * rule[there] + values[:, 1] * (1 - rule[there])
    even = values.mean(axis=1)
    return got - even, values.max(axis=1) - even, table.person[there]


def doing(table: ChoiceTable, rule: Floats | None = None, least: int = 1) -> Estimate:
    """Return how much people gained, or a rule would have gained on the same choices, from 0
    (random choice) to 1 (best choice).

    Each person is a cluster.

    Args:
        table: The choices.
        rule: The probability that a rule chooses row A; None scores the people themselves.
        least: Choices with fewer recorded opponents are left out.
    """
    gained, most, person = _gains(table, rule, least)
    return ratio_by_rule(gained, most, person)


def doing_by_person(table: ChoiceTable, least: int = 1) -> Floats:
    """Return how much each person gained, from 0 (random choice) to 1 (best choice). Persons
    without any choice between unequal payoffs are left out."""
    gained, most, person = _gains(table, None, least)
    _, codes = np.unique(person, return_inverse=True)
    top, bottom = np.bincount(codes, gained), np.bincount(codes, most)
    return np.asarray(top[bottom > 0] / bottom[bottom > 0])


def best_reply_taken(table: ChoiceTable, least: int = 1) -> Estimate:
    """Return how often the chosen row was a best reply to the choices of the people in the other
    role."""
    there = table.crowd >= max(1, least)
    values, row = table.values[there], table.row[there]
    lost = values.max(axis=1) - values[np.arange(len(values)), row]
    best = (lost < TIE).astype(float)
    return ratio_by_rule(best, np.ones(len(best)), table.person[there])


class Mixture(msgspec.Struct, frozen=True):
    """Shares of people at levels of reasoning 0 to 3, with one error rate for all people."""

    error: float  # the chance of even odds instead of the level's choice
    shares: tuple[float, ...]
    log_likelihood: float


def mixture(table: ChoiceTable, error: float, top: int = 3) -> Mixture:
    """Return the shares of levels, fitted by expectation maximisation at a given error rate."""
    _, codes = np.unique(table.person, return_inverse=True)
    chances = np.stack(levels(table)[: top + 1])
    taken = np.where(table.row == 0, chances, 1 - chances)
    logs = np.log((1 - error) * taken + error / 2)
    fits = np.stack([np.bincount(codes, row) for row in logs])  # (level, person)
    shift = fits.max(axis=0)
    weights, shares, last = np.exp(fits - shift), np.full(top + 1, 1 / (top + 1)), -np.inf
    for _ in range(STEPS):
        joint = shares[:, None] * weights
        whole = joint.sum(axis=0)
        total = float((np.log(whole) + shift).sum())
        shares = (joint / whole).mean(axis=1)
        if total - last < CLOSE:
            break
        last = total
    return Mixture(error, tuple(map(float, shares)), total)


def fitted_mixture(table: ChoiceTable) -> Mixture:
    """Return the likeliest mixture of reasoning levels, over a grid of error rates in steps of
    .05."""
    return max((mixture(table, e) for e in GRID), key=lambda found: found.log_likelihood)


def summary(table: ChoiceTable, least: int = 1) -> dict[str, Estimate | float]:
    """Return the main figures of a table, by name."""
    found: dict[str, Estimate | float] = {"doing, pooled": doing(table, None, least)}
    found["doing, mean over people"] = lone_by_rule(doing_by_person(table, least))
    found["best reply to the crowd taken"] = best_reply_taken(table, least)
    chances = rules(table)
    first, second, third = chances["level 1"], chances["level 2"], chances["level 3"]
    for name, rule in chances.items():
        found[f"agreement with {name}"] = agreement(table, rule)
        found[f"doing of {name}"] = doing(table, rule, least)
    for name, rule, rival in (
        ("level 1 where level 2 differs", first, second),
        ("level 2 where level 3 differs", second, third),
    ):
        apart = (rule != 0.5) & (rival != 0.5) & (rule != rival)
        found[name] = agreement(table, np.where(apart, rule, 0.5))
    return found


def by_kind(table: ChoiceTable) -> Mapping[str, dict[str, Estimate | int]]:
    """Return, for each kind of game, the number of choices and their agreement with level-1 and
    level-2 reasoning."""
    chances = levels(table)
    found: dict[str, dict[str, Estimate | int]] = {}
    for number, kind in enumerate(KINDS):
        there = table.kind == number
        found[kind] = {
            "choices": int(there.sum()),
            **{
                f"level {k}": agreement(table, np.where(there, chances[k], 0.5))
                for k in (1, 2)
                if there.any()
            },
        }
    return found
