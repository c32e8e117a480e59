"""Habits of a player, and what is left of acting on predictions once habits are taken off.

A habit is a dull way to choose: always one label, always one position, the label just predicted,
the other's last move. What a habit would score is computed by exchanging moves between episodes:
the labels that a player pressed in the other instances are set against the predictions of this
one, averaged over all such pairs. A player that follows its predictions loses by the exchange; one
that presses a key does not.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from sally.analysis.columns.measured_table import Floats, MeasuredTable
from sally.analysis.profile.estimates import Means, or_missing, total
from sally.metrics.habits import LABEL, POSITION
from sally.stats import Estimate
from sally.stats.intervals import without_interval

ALWAYS = 0.9  # share of moves from which a habit is called by its name
LEAST = 0.05  # of judged moves: if a habit leaves less than this to explain, there is no scale
BLIND, IMITATION, COPYING = "a blind pick", "the predicted label", "the other's last move"


class Habit(msgspec.Struct, frozen=True):
    """The habit that explains most moves which fit the player's own predictions."""

    rule: str
    fits: float  # moves that would fit if they followed the habit, in percent


class HabitEstimates(msgspec.Struct, frozen=True):
    """The habits of a row and its acting beyond them."""

    label_bias: Estimate
    position_bias: Estimate
    imitation: Estimate
    copying: Estimate
    habit: Habit | None
    acting_beyond: Estimate
    decides: float | None  # moves whose best reply depends on the prediction, in percent
    called: str  # what the player always does; empty if there is no such habit


def habit_estimates(means: Means) -> HabitEstimates:
    """Return the habits of a row."""
    table = means.group
    of = table.of
    explained = _explained(table)
    rule = max(explained, key=lambda name: total(explained[name])) if explained else ""
    expected = explained.get(rule, np.zeros(len(table)))
    judged = of("judged")
    known = total(of("decided")) + total(of("undecided"))
    return HabitEstimates(
        label_bias=_bias(means, LABEL),
        position_bias=_bias(means, POSITION),
        imitation=means.share(100 * of("imitated"), of("imitable"), most=100.0),
        copying=means.share(100 * of("copies"), of("copyable"), most=100.0),
        habit=Habit(rule, 100 * total(expected) / total(judged)) if rule else None,
        acting_beyond=_beyond(means, expected),
        decides=100 * total(of("decided")) / known if known else None,
        called=_called(table),
    )


def _beyond(means: Means, expected: Floats) -> Estimate:
    """Return the moves that fit beyond a habit, as a share of those possible beyond it."""
    judged, fits = means.group.of("judged"), means.group.of("judged_fits")
    left = total(judged) - total(expected)
    if left <= LEAST * total(judged):
        return without_interval(None, 0, "t", "nothing is left to explain")
    known = np.where(judged == 0, np.nan, fits - expected)
    return means.ratio(known, or_missing(judged) - expected, (-total(expected) / left, 1.0))


# --- one key --------------------------------------------------------------------------------------


def _favourite(table: MeasuredTable, kind: str) -> str:
    """Return the key pressed most often beyond a blind pick; the first by name if several are."""
    excess: dict[str, float] = {}
    for code, many in _codes(table).items():
        for key, (even, pressed, _) in table.pressed[code].items():
            if key.startswith(kind):
                excess[key] = excess.get(key, 0.0) + many * (pressed - even)
    return min(excess, key=lambda key: (-excess[key], key)) if excess else ""


def _codes(table: MeasuredTable) -> dict[int, int]:
    codes, many = np.unique(table.keys, return_counts=True)
    return dict(zip(codes.tolist(), many.tolist(), strict=True))


def _column(table: MeasuredTable, key: str, part: int) -> Floats:
    """Return one number of a key in each row."""
    by_code = np.array([float(keys.get(key, (0.0, 0, 0))[part]) for keys in table.pressed])
    found: Floats = by_code[table.keys]
    return found


def _bias(means: Means, kind: str) -> Estimate:
    """Return the presses of the favourite key beyond a blind pick, as a share of those possible."""
    table = means.group
    presses, blind = table.of("presses"), table.of("blind")
    key = _favourite(table, kind)
    if not key:
        return without_interval(None, 0, "t", "no move was chosen from a short menu")
    excess = _column(table, key, 1) - _column(table, key, 0)
    left = total(presses) - total(blind)
    lowest = -total(blind) / left
    return means.ratio(
        np.where(presses == 0, np.nan, excess), or_missing(presses) - blind, (lowest, 1.0)
    )


def _called(table: MeasuredTable) -> str:
    """Return what the player always does, in words."""
    presses = total(table.of("presses"))
    if presses < 2:
        return ""
    found = []
    keys = []
    for kind in (LABEL, POSITION):
        key = _favourite(table, kind)
        share = total(_column(table, key, 1)) / presses
        if share >= ALWAYS:
            keys.append(f"{key} in {100 * share:.0f} %")
    if keys:
        found.append(f"always presses one key: {' and '.join(keys)} of {presses:.0f} moves")
    for did, able, what in (
        ("imitated", "imitable", "plays the label that it predicted of the other"),
        ("copies", "copyable", "repeats the other's last move"),
    ):
        many = total(table.of(able))
        if not keys and many > 1 and total(table.of(did)) >= ALWAYS * many:
            share = total(table.of(did)) / many
            found.append(f"{what} in {100 * share:.0f} % of {many:.0f} moves")
    return "; ".join(found)


# --- what a habit explains ------------------------------------------------------------------------


def _explained(table: MeasuredTable) -> dict[str, Floats]:
    """Return, by habit, the expected number of moves in each row that fit the predictions."""
    of = table.of
    if not of("judged").any():
        return {}
    found = {BLIND: of("by_blind")}
    units = _exchanged_units(table)
    for kind, name in ((LABEL, "one label"), (POSITION, "one position")):
        found[name] = _by_key(table, kind, units)
    for name, did, able, on, off in (
        (IMITATION, "imitated", "imitable", "by_predicted", "by_unpredicted"),
        (COPYING, "copies", "copyable", "by_copied", "by_uncopied"),
    ):
        rate = _elsewhere(of(did), units) / np.maximum(_elsewhere(of(able), units), 1e-12)
        if of(able).any():
            found[name] = rate * of(on) + (1 - rate) * of(off)
    return found


def _exchanged_units(table: MeasuredTable) -> Sequence[int]:
    """Return the unit of each row between which moves are exchanged.

    These are instances; episodes where there is one instance. A single episode is set against
    itself.
    """
    ids = [table.shared[kind].setup.instance.id for kind in table.kind.tolist()]
    known = {name: n for n, name in enumerate(dict.fromkeys(ids))}
    if len(known) > 1:
        return [known[name] for name in ids]
    return range(len(table))


def _elsewhere(column: Floats, units: Sequence[int]) -> Floats:
    """Return, for each row, the sum of a column over the other units; with one unit, over it."""
    where = np.asarray(units, dtype=np.int64)
    sums: Floats = np.bincount(where, weights=column).astype(np.float64)
    return float(column.sum()) - sums[where] if len(sums) > 1 else sums[where]


def _by_key(table: MeasuredTable, kind: str, units: Sequence[int]) -> Floats:
    """Return the expected fits in each row of keys pressed as often as in the other units."""
    names = dict.fromkeys(k for code in _codes(table) for k in table.pressed[code])
    presses = np.maximum(_elsewhere(table.of("presses"), units), 1e-12)
    found = np.zeros(len(table))
    for key in names:
        if key.startswith(kind):
            share = _elsewhere(_column(table, key, 1), units) / presses
            found += share * _column(table, key, 2)
    return found
