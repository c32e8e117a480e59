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
    keys = expected_presses(table)
    (rule, expected), (_, one_move), (_, repetition) = expected_fits(table, keys)
    judged = of("judged")
    classified = total(of("decided")) + total(of("undecided"))
    return HabitEstimates(
        pooled_label_bias=_bias(means, LABEL),
        pooled_position_bias=_bias(means, POSITION),
        pooled_imitation=means.share(100 * of("imitated"), of("imitable"), most=100.0),
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
    explained["one move"] = _pressed_elsewhere(table, MOVE, units).fits
    best.append(_best_habit(explained))
    explained |= _fits_by_rules(table, units, OF_OWN_MOVES)
    return [*best, _best_habit(explained)]


def _following(means: Means, rule: str) -> Estimate:
    """Return how often a player followed a simple rule, in percent."""
    able, followed, _, _ = _sums_of_rule(means.group, rule)
    return means.share(100 * followed, able, most=100.0)


def _best_habit(explained: Mapping[str, Floats]) -> tuple[str, Floats]:
    rule = max(explained, key=lambda name: total(explained[name]))
    return rule, explained[rule]


def expected_presses(table: SeatSums) -> dict[str, ExpectedPresses]:
    """Return the expected presses of labels and of positions."""
    units = _exchanged_units(table)
    return {kind: _pressed_elsewhere(table, kind, units) for kind in (LABEL, POSITION)}


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
    most: float = 0.0  # presses of the favourite key of each set, over all rows
    names: list[str] = []  # the favourite keys


def _pressed_elsewhere(table: SeatSums, kind: str, units: Sequence[int]) -> ExpectedPresses:
    """Return, for each row, the number of key presses, and the numbers to be expected if the player
    pressed keys as often as it does in the other `units` (instances or episodes)."""
    presses = _presses_of(table, kind, units)
    offered_elsewhere, hits = _counts_elsewhere(presses)
    is_elsewhere = offered_elsewhere > 0.5
    rates = np.where(is_elsewhere, hits / np.maximum(offered_elsewhere, 1.0), 1 / presses.size)
    totals = np.bincount(presses.key, presses.pressed, minlength=len(presses.names))
    favourites: dict[str, int] = {}
    for key in sorted(range(len(presses.names)), key=presses.names.__getitem__):
        menu = presses.names[key].partition(" of ")[2]
        if menu not in favourites or totals[key] > totals[favourites[menu]]:
            favourites[menu] = key
    return ExpectedPresses(
        presses=_sums_by_row(presses, presses.pressed * is_elsewhere),
        fits=_sums_by_row(presses, presses.best * rates),
        most=float(sum(totals[key] for key in favourites.values())),
        names=sorted(presses.names[key] for key in favourites.values()),
    )


def _sums_by_row(presses: KeyPresses, column: Floats) -> Floats:
    sums: Floats = np.bincount(presses.row, column, minlength=presses.rows).astype(np.float64)
    return sums


def _counts_elsewhere(presses: KeyPresses) -> tuple[Floats, Floats]:
    """Return, for each entry, how often its key was offered and pressed in the other units."""
    unit, key = presses.unit, presses.key
    cell = unit * (int(key.max(initial=0)) + 1) + key
    is_alone = len(np.unique(unit)) == 1  # a single unit is compared with itself
    offered, pressed = (
        np.bincount(key, column)[key] - (0 if is_alone else np.bincount(cell, column)[cell])
        for column in (presses.offered, presses.pressed)
    )
    return offered, pressed


def _bias(means: Means, kind: str) -> Estimate:
    """Return how often moves of different instances use the same key, rescaled so that chance is 0
    and always using the same key is 1."""
    table = means.group
    return same_key_estimate(_presses_of(table, kind, _exchanged_units(table)), means.cluster_codes)


def _presses_of(table: SeatSums, kind: str, units: Sequence[int]) -> KeyPresses:
    codes, menus = table.encode_json("keys")
    return key_presses(menus, units, kind, codes)


class KeyPresses(msgspec.Struct, frozen=True):
    """The presses of a player, one entry for each row and key of a menu."""

    row: Codes
    unit: Codes  # instance or episode of the row
    key: Codes
    size: Floats  # of the menu
    offered: Floats
    pressed: Floats
    best: Floats  # best replies
    names: list[str]  # of the keys
    rows: int


def same_key_estimate(presses: KeyPresses, clusters: Codes) -> Estimate:
    """Return how often moves of different units use the same key: 0 as often as a blind player, 1
    always. `clusters` has the cluster of each row."""
    row, key = presses.row, presses.key
    offered_elsewhere, hits = _counts_elsewhere(presses)
    is_elsewhere = offered_elsewhere > 0.5
    is_scored = is_elsewhere & (np.bincount(row, presses.pressed * is_elsewhere)[row] > 0)
    key, offered, pressed = key[is_scored], presses.offered[is_scored], presses.pressed[is_scored]
    size = presses.size[is_scored]
    total_pressed, blind = float(pressed.sum()), float((offered / size**2).sum())
    scale = total_pressed - blind
    if scale <= 0:
        return without_interval(None, 0, "t", "no key is offered twice")
    agreed = float((pressed * hits[is_scored] / offered_elsewhere[is_scored]).sum())
    codes, columns = np.unique(clusters, return_inverse=True)[1][row[is_scored]], key
    vectors = np.zeros((int(codes.max()) + 1, int(columns.max()) + 1))
    weights = (pressed - offered / size) / np.sqrt(np.bincount(key, offered)[key])
    np.add.at(vectors, (codes, columns), weights)
    value, bounds = (agreed - blind) / scale, (-blind / scale, 1.0)
    return squared_length_by_rule(value, vectors, scale, bounds, len(np.unique(row[is_scored])))


def key_presses(
    menus: Sequence[Mapping[str, Sequence[float]]],
    units: Sequence[int],
    kind: str,
    codes: Codes | None = None,
) -> KeyPresses:
    """Return the presses of keys of one kind.

    Args:
        menus: By key, the size of the menu, how often the key was offered and pressed, and its best
            replies.
        units: The instance or episode of each row.
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
    lengths = np.bincount(menu, minlength=len(menus))  # number of entries of each menu
    starts = np.cumsum(lengths) - lengths
    row = np.repeat(np.arange(len(codes)), lengths[codes])
    firsts = np.cumsum(lengths[codes]) - lengths[codes]  # number of the first entry of each row
    entry = starts[codes][row] + np.arange(len(row)) - firsts[row]
    size, offered, pressed, best = (
        np.array(column, dtype=np.float64)[entry] for column in columns[2:]
    )
    unit = np.asarray(units, dtype=np.int64)[row]
    names = list(numbers)
    return KeyPresses(row, unit, key[entry], size, offered, pressed, best, names, len(codes))


def _describe_habit(table: SeatSums, by_kind: Mapping[str, ExpectedPresses]) -> str:
    """Return a description of what the player (almost) always does; "" if nothing stands out."""
    presses = total(table.of("presses"))
    clauses, keys = [], []
    for kind, of in by_kind.items():
        repeated = total(of.presses)  # keys that occur once cannot show a habit
        if presses > 1 and repeated >= ALWAYS * presses and of.most >= ALWAYS * presses:
            sets = len(of.names)
            description = of.names[0] if sets == 1 else f"one {kind.strip()} of each of {sets} sets"
            keys.append(f"{description} in {100 * of.most / presses:.0f} %")
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
    table: SeatSums, units: Sequence[int], keys: Mapping[str, ExpectedPresses]
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


def _fits_by_rules(
    table: SeatSums, units: Sequence[int], rules: Sequence[str]
) -> dict[str, Floats]:
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


def _fits_by_following(
    units: Sequence[int], name: str, sums: tuple[Floats, ...]
) -> dict[str, Floats]:
    """Return, for a habit and each row, the expected number of moves that fit the player's
    predictions if the player follows the habit as often as it does in the other `units` (instances
    or episodes); nothing if it can never be followed."""
    able, followed, fits, other_fits = sums
    if not able.any():
        return {}
    rate = _elsewhere(followed, units) / np.maximum(_elsewhere(able, units), 1e-12)
    return {name: rate * fits + (1 - rate) * other_fits}


def _exchanged_units(table: SeatSums) -> Sequence[int]:
    """Return the unit of each row. A player's moves in one unit are compared with its moves in all
    other units.

    Units are instances, or episodes if there is only one instance. A single episode is compared
    with itself.
    """
    instances = table.rows["instance"].to_physical().to_numpy()
    codes, count = encode_labels(instances, len(table), "instances")
    return codes.tolist() if count > 1 else range(len(table))


def _elsewhere(column: Floats, units: Sequence[int]) -> Floats:
    """Return, for each row, the sum of a column over all rows of other `units` (instances or
    episodes), or over all rows if there is only one unit."""
    codes = np.asarray(units, dtype=np.int64)
    sums: Floats = np.bincount(codes, weights=column).astype(np.float64)
    return float(column.sum()) - sums[codes] if len(sums) > 1 else sums[codes]
