"""Figures of fischbacher2010: beliefs about three others, and contributions beside the own
schedule."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sally.papers.belief_records import BeliefRecord, Figures, count, mean, plain
from sally.papers.fischbacher2010.importer import BACK, PLAYERS, TOKENS
from sally.stats import belief_measures as measures
from sally.stats.columns import Codes, Floats

ERROR_RULE, GAP_RULE = 4, 2  # constants to which errors and gaps are compared
DRAWS = 2000


def figures(records: Sequence[BeliefRecord]) -> Figures:
    """Return all figures of the record."""
    rows = [record.row for record in records]
    facts = [record.facts["public_good"] for record in records]
    person = np.array([row.person for row in rows])
    period = np.array([row.period for row in rows], float)
    session = [str(row.cluster) for row in rows]
    gave = np.array([int(str(row.action)) for row in rows], float)
    belief = np.array([row.beliefs[0].value for row in rows], float)
    others = np.array([row.beliefs[0].truth for row in rows], float)
    schedule = np.array([fact["schedule"] for fact in facts], float)
    n, order = len(rows), np.lexsort((period, person))
    row_before = np.full(n, -1, dtype=np.intp)
    follows = (person[order][1:] == person[order][:-1]) & (
        period[order][1:] == period[order][:-1] + 1
    )
    row_before[order[1:]] = np.where(follows, order[:-1], -1)
    later = row_before >= 0
    planned = schedule[np.arange(n), np.rint(belief).astype(int)]
    gap, error = np.abs(gave - planned), np.abs(belief - others)
    result: Figures = {
        "contributions that replay": count(n),
        "belief error": mean(error, person),
        "belief error of 4 always": plain(float(np.abs(ERROR_RULE - others).mean()), n),
        "belief error, periods 2 to 10": mean(error[later], person[later]),
        "belief error of the last seen": plain(
            float(np.abs(others[row_before[later]] - others[later]).mean()), int(later.sum())
        ),
        "believed mean": plain(float(belief.mean()), n),
        "true mean": plain(float(others.mean()), n),
        "belief exact": mean((belief == others).astype(float), person),
        "gives 0": mean((gave == 0).astype(float), person),
        "loss": mean((1 - BACK) * gave, person),
        "loss, random": plain((1 - BACK) * TOKENS / 2, n),
        "doing": plain(1 - float(gave.mean()) / (TOKENS / 2), n),
        "gap to schedule": mean(gap, person),
        "gap to schedule, exact": mean((gap == 0).astype(float), person),
        "gap to another's schedule": mean(
            _other_schedules(person, period, gave, belief, schedule), person
        ),
        "gap to schedule at another period's belief": mean(
            _other_beliefs(person, gave, belief, schedule), person
        ),
        "gap to 2 always": plain(float(np.abs(gave - GAP_RULE).mean()), n),
        "gap to schedule, periods 2 to 10": mean(gap[later], person[later]),
        "gap to the own last contribution": mean(
            np.abs(gave[later] - gave[row_before[later]]), person[later]
        ),
        "exact, usual contribution": mean(_usual(person, gave), person),
    }
    result |= _regressions(gave, belief, planned, others, row_before, later)
    result |= _projection(belief, gave, others, list(zip(session, period.tolist(), strict=True)))
    for number in (1, 10):
        chosen = period == number
        if chosen.any():
            result[f"belief error, period {number}"] = mean(error[chosen], person[chosen])
            result[f"gap to schedule, period {number}"] = mean(gap[chosen], person[chosen])
    sequence = np.array([float(fact["sequence"]) for fact in facts])
    for number in (0, 1):
        chosen = sequence == number
        if chosen.any():
            result[f"gap to schedule, sequence {number}"] = mean(gap[chosen], person[chosen])
    return result


def _other_schedules(
    person: np.ndarray, period: Floats, gave: Floats, belief: Floats, schedule: Floats
) -> Floats:
    """Return the mean gap to the schedules of all other people of the period, at the own belief."""
    gaps = np.full(len(gave), np.nan)
    for row in range(len(gave)):
        chosen = (period == period[row]) & (person != person[row])
        if chosen.any():
            planned = schedule[chosen, int(np.rint(belief[row]))]
            gaps[row] = np.abs(gave[row] - planned).mean()
    return gaps


def _other_beliefs(person: np.ndarray, gave: Floats, belief: Floats, schedule: Floats) -> Floats:
    """Return the mean gap to the own schedule at the own beliefs of other periods."""
    gaps = np.full(len(gave), np.nan)
    for row in range(len(gave)):
        chosen = (person == person[row]) & (np.arange(len(gave)) != row)
        if chosen.any():
            planned = schedule[row, np.rint(belief[chosen]).astype(int)]
            gaps[row] = np.abs(gave[row] - planned).mean()
    return gaps


def _usual(person: np.ndarray, gave: Floats) -> Floats:
    """Return, by row, whether the contribution is the mode of the person's other ones; ties count
    by their share."""
    hits = np.full(len(gave), np.nan)
    for row in range(len(gave)):
        chosen = (person == person[row]) & (np.arange(len(gave)) != row)
        if chosen.any():
            values, counts = np.unique(gave[chosen], return_counts=True)
            modes = values[counts == counts.max()]
            hits[row] = float((modes == gave[row]).mean())
    return hits


def _regressions(
    gave: Floats,
    belief: Floats,
    planned: Floats,
    others: Floats,
    row_before: Codes,
    later: measures.Bools,
) -> Figures:
    def weights(outcome: Floats, *predictors: Floats) -> Floats:
        design = np.stack([np.ones(len(outcome)), *predictors], axis=1)
        return np.asarray(np.linalg.lstsq(design, outcome, rcond=None)[0][1:], np.float64)

    now, last = np.flatnonzero(later), row_before[later]
    first = weights(gave, belief, planned)
    result: Figures = {
        "contribution on belief": plain(float(first[0]), len(gave)),
        "contribution on schedule": plain(float(first[1]), len(gave)),
    }
    if len(now) > 3:
        second = weights(belief[now], others[last], belief[last])
        result["belief on last seen"] = plain(float(second[0]), len(now))
        result["belief on last belief"] = plain(float(second[1]), len(now))
    return result


def _projection(
    belief: Floats, gave: Floats, others: Floats, groups: list[tuple[str, float]]
) -> Figures:
    n = len(belief)
    projected = measures.projection(belief, gave, others)
    null = measures.pairing_null(belief, gave, others, groups, PLAYERS, DRAWS)
    return {
        "r of belief and own contribution": plain(projected.own, n),
        "r of belief and others'": plain(projected.others, n),
        "r of belief and own contribution, partial": plain(projected.own_partial, n),
        "r of belief and others', partial": plain(projected.others_partial, n),
        "r within session and period": plain(null.r, n),
        "r within session and period: null": plain(null.null, DRAWS),
        "r within session and period: null, low": plain(null.low, DRAWS),
        "r within session and period: null, high": plain(null.high, DRAWS),
        "r within session and period: p": plain(null.p, DRAWS),
    }
