"""Figures of mori2024: beliefs about thirty others, and choices in groups of five."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sally.papers.belief_records import (
    BeliefRecord,
    Figures,
    acting_figures,
    columns_of,
    count,
    mean,
    plain,
)
from sally.papers.mori2024.importer import ADDITIONAL, MAIN, OTHERS
from sally.stats import belief_measures as measures
from sally.stats.columns import Floats

ACTIONS = ("C", "D", "L")
ROUNDS = (1, 2, 3)


def figures(records: Sequence[BeliefRecord]) -> Figures:
    """Return all figures of both experiments."""
    parts = parts_of(records)
    main, additional = parts["main"], parts["additional"]
    result: Figures = {
        "decisions that replay, main": count(len(main)),
        "decisions that replay, additional": count(len(additional)),
    }
    for name, part in parts.items():
        if part:
            result |= acting_figures(measures.keep_judged(columns_of(part)), f"{name}: ")
    for name in ("main", "additional"):
        if parts[name]:
            result |= _knowing(name, parts[name])
    if main:
        result |= _thresholds(main)
    if additional:
        result |= _rounds(additional)
    return result


def parts_of(records: Sequence[BeliefRecord]) -> dict[str, list[BeliefRecord]]:
    """Return the records of both experiments and of the two halves of the main one."""
    main = [record for record in records if record.row.source == MAIN]
    return {
        "main": main,
        "mandatory": [record for record in main if record.row.cell.startswith("M")],
        "voluntary": [record for record in main if record.row.cell.startswith("V")],
        "additional": [record for record in records if record.row.source == ADDITIONAL],
    }


def _knowing(name: str, records: Sequence[BeliefRecord]) -> Figures:
    """Return how far beliefs are from the others' choices, in people of 30 and as Brier scores."""
    stated, true = (shares(records, field) for field in ("value", "truth"))
    person, n = np.array([record.row.person for record in records]), len(records)
    sizes = (~np.isnan(stated)).sum(axis=1)
    even = np.where(np.isnan(stated), np.nan, 1 / sizes[:, None])

    def count_misplaced(odds: Floats) -> Floats:
        return np.asarray(OTHERS * np.nansum(np.abs(odds - true), axis=1) / 2)

    return {
        f"{name}: misplaced of 30": mean(count_misplaced(stated), person),
        f"{name}: misplaced of 30, equal odds": plain(float(count_misplaced(even).mean()), n),
        f"{name}: Brier": mean(measures.brier(stated, true), person),
        f"{name}: Brier, base": plain(float(measures.brier(true, true).mean()), n),
    }


def shares(records: Sequence[BeliefRecord], field: str) -> Floats:
    """Return stated or true counts as shares of the actions; NaN for an action not on the menu."""
    parts = np.full((len(records), len(ACTIONS)), np.nan)
    for n, record in enumerate(records):
        belief = record.row.beliefs[0]
        counts = np.array(getattr(belief, field), float)
        for option, part in zip(belief.options, counts / counts.sum(), strict=True):
            parts[n, ACTIONS.index(str(option))] = part
    return parts


def _thresholds(records: Sequence[BeliefRecord]) -> Figures:
    """Return the mandatory decisions by threshold; only threshold 2 separates the best reply from
    what is expected of others."""
    result: Figures = {}
    for threshold in (2, 4, 5):
        part = [record for record in records if record.row.cell == f"M{threshold}"]
        if not part:
            continue
        table = measures.keep_judged(columns_of(part))
        acts = measures.acts(table)
        result[f"mandatory, threshold {threshold}: acts"] = measures.share(acts, table.person)
        if threshold == 2:
            believed, gives = table.expected[:, 0], (table.move == 0).astype(float)
            best = measures.largest(table.stated_worth)[:, 0].astype(float)
            for name, column in (("own giving", gives), ("giving as best reply", best)):
                r = float(np.corrcoef(believed, column)[0, 1])
                result[f"mandatory, threshold 2: r of belief and {name}"] = plain(r, len(table))
    return result


def _rounds(records: Sequence[BeliefRecord]) -> Figures:
    table = measures.keep_judged(columns_of(records))
    acts, person = measures.acts(table), table.person
    result: Figures = {}
    for number in ROUNDS:
        rows = table.period == number
        if rows.any():
            result[f"additional: acts, round {number}"] = measures.share(acts[rows], person[rows])
    stated, true = (shares(records, field) for field in ("value", "truth"))
    own_actions = np.array([[float(record.row.action == action) for action in ACTIONS]
                    for record in records])  # fmt: skip
    cells = np.array([record.row.cell for record in records])
    for cell in np.unique(cells):
        rows = cells == cell
        for column in (stated, own_actions, true):
            column[rows] -= column[rows].mean(axis=0)
    for name, column in (("own action", own_actions), ("the session's", true)):
        r = float(np.corrcoef(stated.ravel(), column.ravel())[0, 1])
        result[f"additional: r of belief and {name}"] = plain(r, len(records))
    return result
