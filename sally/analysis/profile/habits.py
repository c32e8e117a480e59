"""Habits of a player, and acting on predictions beyond what habits explain.

A habit is a rule of choice that ignores the situation: always one label, always one position, the
label just predicted, or one of the simple rules (`sally.parts.simple_rules`), such as the other
player's last move. The score of a habit is computed by exchanging moves between episodes: the
labels that a player pressed in the other instances are compared with the predictions in this
instance, averaged over all such pairs. A player that follows its predictions scores less after the
exchange; one that always presses the same label does not.

*Beyond habits* is read one-sidedly: above 0, moves follow predictions more than any of these habits
explains; below 0 it means nothing, because a player that has a habit and nothing else can be there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from sally.analysis.profile.estimates import Means, or_missing, total
from sally.frames.profiles import Codes, Floats, SeatSums
from sally.metrics.habits import LABEL, MOVE, POSITION
from sally.parts.simple_rules import LAST, MOVES, OWN_LAST, RULES, WIN_STAY
from sally.stats.cluster_interval import squared_length_by_rule
from sally.stats.columns import encode_labels
from sally.stats.intervals import Estimate, without_interval

ALWAYS = 0.9  # share of moves at which a habit is reported by name
LEAST = 0.05  # of judged moves: if a habit leaves less than this to explain, there is no scale
BLIND, IMITATION = "a blind pick", "the predicted label"
OF_OWN_MOVES = (OWN_LAST, WIN_STAY)  # rules that mostly repeat the player's own last move
Units = Codes | range  # the unit of each row; a range if each row is a unit of its own


class Habit(msgspec.Struct, frozen=True):
    """The habit that best explains why the player's moves fit its own predictions."""

    rule: str
    fits: float  # moves that would fit if they followed the habit, in percent


class HabitEstimates(msgspec.Struct, frozen=True):
    """The habits of a player, and how far it acts on its predictions beyond these habits."""

    pooled_label_bias: Estimate
    pooled_position_bias: Estimate
    pooled_imitation: Estimate
    pooled_copying: Estimate
    pooled_repetition: Estimate
    habit: Habit | None
    acting_beyond: Estimate
    acting_beyond_move: Estimate  # the same, with always the same move among the habits
    acting_beyond_repetition: Estimate  # the same, with rules that repeat its own move, too
    decides: float | None  # moves whose best reply depends on the prediction, in percent
    called: str  # what the player always does; empty if there is no such habit


def habit_estimates(means: Means) -> HabitEstimates:
    """Return the estimates of a player's habits, such as a preference for a label or for its last
    move."""
    table = means.group
    of = table.of
    presses = presses_by_kind(table)
    keys = expected_presses(presses)
    (rule, expected), (_, one_move), (_, repetition) = expected_fits(table, keys)
    judged = of("judged")
    classified = total(of("decided")) + total(of("undecided"))
    return HabitEstimates(
        pooled_label_bias=same_key_estimate(presses[LABEL], means.cluster_codes),
        pooled_position_bias=same_key_estimate(presses[POSITION], means.cluster_codes),
        pooled_imitation=means.share(100 * of("imitated"), of("imitable"), largest=100.0),
        pooled_copying=_following(means, LAST),
        pooled_repetition=_following(means, OWN_LAST),
        habit=Habit(rule, 100 * total(expected) / total(judged)) if rule else None,
        acting_beyond=_beyond(means, expected),
        acting_beyond_move=_beyond(means, one_move),
        acting_beyond_repetition=_beyond(means, repetition),
        decides=100 * total(of("decided")) / classified if classified else None,
        called=_describe_habit(table, keys),
    )


def expected_fits(table: SeatSums, keys: Mapping[str, ExpectedPresses]) -> list[tuple[str, Floats]]:
    """Return the habit that explains most moves, and its expected number of fitting moves by row:
    of the habits alone; with always the same underlying move, whatever its label; and with
    repeating the last move, too.

    A player that acts on stable predictions repeats itself, so repetition does not refute acting on
    predictions; it shows where the moves do not distinguish the two.
    """
    units = _exchanged_units(table)
    explained = dict(_fits_by_habit(table, units, keys))
    if not explained:
        return [("", np.zeros(len(table)))] * 3
    best = [_best_habit(explained)]
    explained["one move"] = _pressed_elsewhere(_presses_of(table, MOVE, units)).fits
    best.append(_best_habit(explained))
    explained |= _fits_by_rules(table, units, OF_OWN_MOVES)
    return [*best, _best_habit(explained)]


def _following(means: Means, rule: str) -> Estimate:
    """Return how often a player followed a simple rule, in percent."""
    able, followed, _, _ = _sums_of_rule(means.group, rule)
    return means.share(100 * followed, able, largest=100.0)


def _best_habit(explained: Mapping[str, Floats]) -> tuple[str, Floats]:
    rule = max(explained, key=lambda name: total(explained[name]))
    return rule, explained[rule]


def presses_by_kind(table: SeatSums) -> dict[str, KeyPresses]:
    """Return the presses of labels and of positions."""
    units = _exchanged_units(table)
    return {kind: _presses_of(table, kind, units) for kind in (LABEL, POSITION)}


def expected_presses(presses: Mapping[str, KeyPresses]) -> dict[str, ExpectedPresses]:
    """Return the expected presses of each kind of keys."""
    return {kind: _pressed_elsewhere(of_kind) for kind, of_kind in presses.items()}


def _beyond(means: Means, expected: Floats) -> Estimate:
    """Return the share of moves that fit the player's own predictions, rescaled so that 0 is the
    share that a habit explains and 1 means that all moves fit."""
    judged, fits = means.group.of("judged"), means.group.of("judged_fits")
    unexplained = total(judged) - total(expected)
    if unexplained <= LEAST * total(judged):
        return without_interval(None, 0, "t", "nothing is left to explain")
    excess = np.where(judged == 0, np.nan, fits - expected)
    return means.ratio(excess, or_missing(judged) - expected, (-total(expected) / unexplained, 1.0))


# --- one key --------------------------------------------------------------------------------------


class ExpectedPresses(msgspec.Struct):
    """The number of key presses in each row, and the numbers to be expected if the player pressed
    keys as often as it does in the other instances (or episodes, if there is only one instance)."""

    presses: Floats
    fits: Floats  # expected best replies if keys were pressed as in the other units
    favourite_presses: float = 0.0  # presses of the favourite key of each set, over all rows
    names: list[str] = []  # the favourite keys


def _pressed_elsewhere(presses: KeyPresses) -> ExpectedPresses:
    """Return, for each row, the number of key presses, and the numbers to be expected if the player
    pressed keys as often as it does in the other units (instances or episodes)."""
    is_elsewhere = presses.offered_elsewhere > 0.5
    hits, offered = presses.pressed_elsewhere, np.maximum(presses.offered_elsewhere, 1.0)
    rates = np.where(is_elsewhere, hits / offered, 1 / presses.size)
    pressed = presses.pressed * presses.times
    totals = np.bincount(presses.key, pressed, minlength=len(presses.names))
    favourites: dict[str, int] = {}
    for key in sorted(range(len(presses.names)), key=presses.names.__getitem__):
        menu = presses.names[key].partition(" of ")[2]
        if menu not in favourites or totals[key] > totals[favourites[menu]]:
            favourites[menu] = key
    return ExpectedPresses(
        presses=_sums_by_row(presses, presses.pressed * is_elsewhere),
        fits=_sums_by_row(presses, presses.best * rates),
        favourite_presses=float(sum(totals[key] for key in favourites.values())),
        names=sorted(presses.names[key] for key in favourites.values()),
    )


def _sums_by_row(presses: KeyPresses, column: Floats) -> Floats:
    count = int(presses.menu_of_row.max(initial=-1)) + 1
    sums: Floats = np.bincount(presses.menu, column, minlength=count).astype(np.float64)
    return sums[presses.menu_of_row]


def _presses_of(table: SeatSums, kind: str, units: Units) -> KeyPresses:
    codes, menus = table.encode_json("keys")
    return key_presses(menus, units, kind, codes)


class KeyPresses(msgspec.Struct, frozen=True):
    """The presses of a player, one entry for each key of a menu.

    Rows of one unit with the same presses share their entries.
    """

    menu: Codes  # number of the menu, in ascending order
    key: Codes
    size: Floats  # of the menu
    offered: Floats  # in one row
    pressed: Floats
    best: Floats  # best replies
    times: Codes  # rows with these presses
    offered_elsewhere: Floats  # in the other units, or in all units if there is only one
    pressed_elsewhere: Floats
    names: list[str]  # of the keys
    menu_of_row: Codes


def same_key_estimate(presses: KeyPresses, clusters: Codes) -> Estimate:
    """Return how often moves of different units use the same key: 0 as often as a blind player, 1
    always. `clusters` has the cluster of each row."""
    is_elsewhere = presses.offered_elsewhere > 0.5
    pressed_there = np.bincount(presses.menu, presses.pressed * is_elsewhere)[presses.menu]
    is_scored = is_elsewhere & (pressed_there > 0)
    menu, key, times = (c[is_scored] for c in (presses.menu, presses.key, presses.times))
    size, offered, pressed, offered_elsewhere, hits = (
        column[is_scored]
        for column in (presses.size, presses.offered, presses.pressed,
                       presses.offered_elsewhere, presses.pressed_elsewhere)
    )  # fmt: skip
    row, entry = _entries_by_row(menu, presses.menu_of_row)
    total_pressed = float((pressed * times).sum())
    blind = float((offered / size**2)[entry].sum())
    scale = total_pressed - blind
    if scale <= 0:
        return without_interval(None, 0, "t", "no key is offered twice")
    agreed = float((pressed * hits / offered_elsewhere)[entry].sum())
    codes, columns = np.unique(clusters, return_inverse=True)[1][row], int(key.max()) + 1
    weights = (pressed - offered / size) / np.sqrt(np.bincount(key, offered * times)[key])
    cells = codes * columns + key[entry]
    count = (int(codes.max()) + 1) * columns
    sums = np.bincount(cells, weights[entry], minlength=count).astype(np.float64)
    value, bounds = (agreed - blind) / scale, (-blind / scale, 1.0)
    rows = int(np.count_nonzero(np.diff(row, prepend=-1)))
    return squared_length_by_rule(value, sums.reshape(-1, columns), scale, bounds, rows)


def key_presses(
    menus: Sequence[Mapping[str, Sequence[float]]],
    units: Units,
    kind: str,
    codes: Codes | None = None,
) -> KeyPresses:
    """Return the presses of keys of one kind.

    Args:
        menus: By key, the size of the menu, how often the key was offered and pressed, and its best
            replies.
        units: The instance of each row; a range if each row is a unit of its own.
        kind: The kind of keys, such as labels.
        codes: The index into `menus`, by row; by default row n has menu n.
    """
    codes = np.arange(len(menus)) if codes is None else codes
    numbers: dict[str, int] = {}
    entries = [
        (code, numbers.setdefault(key, len(numbers)), *counts)
        for code, keys in enumerate(menus)
        for key, counts in keys.items()
        if key.startswith(kind)
    ]
    columns = list(zip(*entries, strict=True)) if entries else [()] * 6
    menu, key = (np.array(column, dtype=np.int64) for column in columns[:2])
    counts = [np.array(column, dtype=np.float64) for column in columns[2:]]
    unit: Codes | None = None
    menu_of_row = codes
    if not isinstance(units, range):
        pairs, menu_of_row = np.unique(units * len(menus) + codes, return_inverse=True)
        unit, menu_codes = np.divmod(pairs, len(menus))
        menu, entry = _entries_by_row(menu, menu_codes)
        key, counts = key[entry], [column[entry] for column in counts]
    times = np.bincount(menu_of_row, minlength=int(menu.max(initial=-1)) + 1)
    if unit is None:
        own_keys, unit_count = None, int(times[np.unique(menu)].sum())
    else:
        own_keys, unit_count = unit[menu] * len(numbers) + key, len(np.unique(unit[menu]))
    size, offered, pressed, best = counts
    offered_elsewhere, pressed_elsewhere = (
        _counts_elsewhere(column, times[menu], key, own_keys, is_alone=unit_count == 1)
        for column in (offered, pressed)
    )
    return KeyPresses(
        menu=menu,
        key=key,
        size=size,
        offered=offered,
        pressed=pressed,
        best=best,
        times=times[menu],
        offered_elsewhere=offered_elsewhere,
        pressed_elsewhere=pressed_elsewhere,
        names=list(numbers),
        menu_of_row=menu_of_row,
    )


def _counts_elsewhere(
    column: Floats, times: Codes, key: Codes, own_keys: Codes | None, is_alone: bool
) -> Floats:
    """Return, for each entry, the sum of a column over the entries of its key in the other units.

    Args:
        column: The counts in one row.
        times: The number of rows of each entry.
        key: The key of each entry.
        own_keys: The number of the unit and key of each entry; None if each row is a unit of its
            own.
        is_alone: Whether there is only one unit, which is compared with itself.
    """
    sums: Floats = np.bincount(key, column * times).astype(np.float64)[key]
    if is_alone:
        return sums
    return sums - (column if own_keys is None else np.bincount(own_keys, column * times)[own_keys])


def _entries_by_row(menu: Codes, menu_of_row: Codes) -> tuple[Codes, Codes]:
    """Return the row and the index of each entry, one row after another; `menu` is the menu of each
    entry, in ascending order."""
    lengths = np.bincount(menu, minlength=int(menu_of_row.max(initial=-1)) + 1)
    row_lengths, starts = lengths[menu_of_row], np.cumsum(lengths) - lengths
    offsets = starts[menu_of_row] - (np.cumsum(row_lengths) - row_lengths)
    rows = np.repeat(np.arange(len(menu_of_row)), row_lengths)
    return rows, np.arange(len(rows)) + offsets[rows]


def _describe_habit(table: SeatSums, by_kind: Mapping[str, ExpectedPresses]) -> str:
    """Return a description of what the player (almost) always does; "" if nothing stands out."""
    presses = total(table.of("presses"))
    clauses, keys = [], []
    for kind, of in by_kind.items():
        repeated = total(of.presses)  # keys that occur once cannot show a habit
        if (
            presses > 1
            and repeated >= ALWAYS * presses
            and of.favourite_presses >= ALWAYS * presses
        ):
            sets = len(of.names)
            description = of.names[0] if sets == 1 else f"one {kind.strip()} of each of {sets} sets"
            keys.append(f"{description} in {100 * of.favourite_presses / presses:.0f} %")
    if keys:
        clauses.append(f"always presses one key: {' and '.join(keys)} of {presses:.0f} moves")
    able, copies, _, _ = _sums_of_rule(table, LAST)
    for followed, count, description in (
        (total(table.of("imitated")), total(table.of("imitable")),
         "plays the label that it predicted of the other"),
        (total(copies), total(able), "repeats the other's last move"),
    ):  # fmt: skip
        if not keys and count > 1 and followed >= ALWAYS * count:
            clauses.append(f"{description} in {100 * followed / count:.0f} % of {count:.0f} moves")
    return "; ".join(clauses)


# --- what a habit explains ------------------------------------------------------------------------


def _fits_by_habit(
    table: SeatSums, units: Units, keys: Mapping[str, ExpectedPresses]
) -> dict[str, Floats]:
    """Return, for each habit, how many moves of each row would be expected to fit the player's
    predictions under this habit."""
    of = table.of
    if not of("judged").any():
        return {}
    fits = {BLIND: of("by_blind")}
    fits |= {"one label": keys[LABEL].fits, "one position": keys[POSITION].fits}
    sums = of("imitable"), of("imitated"), of("by_predicted"), of("by_unpredicted")
    fits |= _fits_by_following(units, IMITATION, sums)
    return fits | _fits_by_rules(table, units, [rule for rule in RULES if rule != OWN_LAST])


def _fits_by_rules(table: SeatSums, units: Units, rules: Sequence[str]) -> dict[str, Floats]:
    """Return the same for simple rules, by what they choose."""
    fits: dict[str, Floats] = {}
    for rule in rules:
        name = RULES.get(rule) or MOVES[rule]
        fits |= _fits_by_following(units, name, _sums_of_rule(table, rule))
    return fits


def _sums_of_rule(table: SeatSums, rule: str) -> tuple[Floats, ...]:
    """Return the fields of `sally.metrics.habits.FollowedRule` by row, 0 without the rule."""
    codes, rows = table.encode_json("followed")
    sums = np.array([row.get(rule, (0, 0, 0.0, 0.0)) for row in rows], dtype=np.float64)
    return tuple(sums[codes].T)


def _fits_by_following(units: Units, name: str, sums: tuple[Floats, ...]) -> dict[str, Floats]:
    """Return, for a habit and each row, the expected number of moves that fit the player's
    predictions if the player follows the habit as often as it does in the other `units` (instances
    or episodes); nothing if it can never be followed."""
    able, followed, fits, other_fits = sums
    if not able.any():
        return {}
    rate = _elsewhere(followed, units) / np.maximum(_elsewhere(able, units), 1e-12)
    return {name: rate * fits + (1 - rate) * other_fits}


def _exchanged_units(table: SeatSums) -> Units:
    """Return the unit of each row. A player's moves in one unit are compared with its moves in all
    other units.

    Units are instances, or episodes if there is only one instance. A single episode is compared
    with itself.
    """
    instances = table.rows["instance"].to_physical().to_numpy()
    codes, count = encode_labels(instances, len(table), "instances")
    return codes if count > 1 else range(len(table))


def _elsewhere(column: Floats, units: Units) -> Floats:
    """Return, for each row, the sum of a column over all rows of other `units` (instances or
    episodes), or over all rows if there is only one unit."""
    codes = np.arange(len(units)) if isinstance(units, range) else units
    sums: Floats = np.bincount(codes, weights=column).astype(np.float64)
    return float(column.sum()) - sums[codes] if len(sums) > 1 else sums[codes]
