"""Measures of decisions with stated beliefs: best replies, habits, others' beliefs, contests.

Every function takes columns with one row per decision. Actions are columns of matrices: the value
of an action that is not on the row's menu is NaN. Intervals are over clusters of rows.

- *acts*: the share of moves that are best replies to the player's own stated belief.
- A *habit* is a rule of choice that ignores the belief of the row. Its moves are scored against the
  stated beliefs like the player's own: the best single action (`constant`), the mode of the
  player's other rows (`usual`), the player's previous move (`last_move`).
- *swap person* scores a move against the beliefs of the other players in the cell, *swap period*
  against the player's own beliefs in other rows.
- A *contest* is a row in which no best reply is the move that the player expects of most others.
  Its null is the moves of the other players in the cell, scored against this row's sets.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from sally.stats.cluster_interval import mean_by_rule, ratio_by_rule
from sally.stats.columns import Floats, encode_labels
from sally.stats.intervals import Estimate, without_interval

Bools = NDArray[np.bool_]
Codes = NDArray[np.intp]
TIE = 1e-7  # payoffs, and stated shares, that differ by less are equal
NO_ROWS = "no rows"


class BeliefColumns(msgspec.Struct, frozen=True):
    """Decisions as columns."""

    person: Codes  # whose habits and other periods count
    cluster: Codes  # of intervals
    cell: Codes  # rows of one cell share condition, period and type of partner
    game: Codes  # rows of one game share menu and payoff function
    period: Floats  # NaN if a decision has none
    move: Codes
    stated_worth: (
        Floats  # (row, action): expected payoff by the stated belief; all NaN if undefined
    )
    expected: Floats  # (row, action): stated share of others who take it; all NaN if not asked
    true_worth: Floats  # (row, action): payoff by what the others did; all NaN if not known
    on_menu: Bools  # (row, action)

    def __len__(self) -> int:
        return len(self.move)

    def select(self, rows: ArrayLike) -> BeliefColumns:
        """Return the selected rows."""
        chosen = np.asarray(rows)
        return BeliefColumns(
            self.person[chosen],
            self.cluster[chosen],
            self.cell[chosen],
            self.game[chosen],
            self.period[chosen],
            self.move[chosen],
            self.stated_worth[chosen],
            self.expected[chosen],
            self.true_worth[chosen],
            self.on_menu[chosen],
        )

    def at_move(self, values: Floats | Bools) -> Floats:
        """Return, by row, the value of the action taken."""
        column: Floats = values[np.arange(len(self)), self.move].astype(np.float64)
        return column


def columns(
    *,
    person: Sequence[Hashable],
    cluster: Sequence[Hashable],
    cell: Sequence[Hashable],
    game: Sequence[Hashable],
    period: Sequence[float | None],
    move: Sequence[int],
    payoffs: Sequence[Sequence[float]],
    expected: Sequence[Sequence[float]],
    true_worth: Sequence[Sequence[float]],
    on_menu: Sequence[Sequence[bool]],
) -> BeliefColumns:
    """Return decisions as columns; NaN stands for values that are not known."""
    rows = len(move)

    def matrix(values: Sequence[Sequence[float]]) -> Floats:
        return np.array(values, dtype=np.float64).reshape(rows, -1)

    return BeliefColumns(
        encode_labels(person, rows, "person")[0],
        encode_labels(cluster, rows, "cluster")[0],
        encode_labels(cell, rows, "cell")[0],
        encode_labels(game, rows, "game")[0],
        np.array([np.nan if number is None else number for number in period], np.float64),
        np.array(move, dtype=np.intp),
        matrix(payoffs),
        matrix(expected),
        matrix(true_worth),
        np.array(on_menu, dtype=np.bool_).reshape(rows, -1),
    )


# --- sets of actions ------------------------------------------------------------------------------


def largest(values: Floats) -> Bools:
    """Return, by row, the actions with the largest value; none in a row without values.

    >>> largest(np.array([[1.0, 2.0, 2.0], [np.nan, np.nan, np.nan]])).tolist()
    [[False, True, True], [False, False, False]]
    """
    finite_values = np.where(np.isnan(values), -np.inf, values)
    row_maxima = finite_values.max(axis=1, initial=-np.inf, keepdims=True)
    return np.asarray((finite_values >= row_maxima - TIE) & np.isfinite(finite_values))


def keep_judged(table: BeliefColumns) -> BeliefColumns:
    """Return the rows whose best reply is defined; rows in which all actions tie are left out."""
    best = largest(table.stated_worth)
    return table.select(best.any(axis=1) & ((best != table.on_menu).any(axis=1)))


# --- acting, and what it is compared with ---------------------------------------------------------


def acts(table: BeliefColumns) -> Floats:
    """Return, by row, 1 if the move is a best reply to the stated belief, else 0."""
    return table.at_move(largest(table.stated_worth))


def chance(table: BeliefColumns) -> Floats:
    """Return, by row, the chance that a random action of the menu is a best reply."""
    return np.asarray(largest(table.stated_worth).sum(axis=1) / table.on_menu.sum(axis=1))


def acting(table: BeliefColumns) -> Estimate:
    """Return acts on a scale from 0 (a random action) to 1 (always a best reply)."""
    if not len(table):
        return without_interval(None, 0, "t", NO_ROWS)
    odds = chance(table)
    return ratio_by_rule(acts(table) - odds, 1 - odds, table.cluster)


def constant(table: BeliefColumns, by_cell: bool = False) -> Floats:
    """Return, by row, whether the best single action of its game is a best reply.

    Args:
        table: The decisions.
        by_cell: Whether the action may differ from cell to cell of the same game.
    """
    best, groups = largest(table.stated_worth), table.cell if by_cell else table.game
    sums = _sums_by(groups, best.astype(np.float64))
    return np.asarray(best[np.arange(len(table)), sums.argmax(axis=1)[groups]], np.float64)


def constant_of_others(table: BeliefColumns) -> Floats:
    """Return, by row, whether the best single action of its game by the beliefs of the *other*
    players is a best reply; NaN if the game has no other player.

    Unlike `constant`, it is not fitted to the beliefs that it is scored against.
    """
    best = largest(table.stated_worth).astype(np.float64)
    others, counts = _others_in(table.game, table.person, best)
    hits = best[np.arange(len(table)), others.argmax(axis=1)]
    return np.where(counts > 0, hits, np.nan)


def always(table: BeliefColumns) -> Floats:
    """Return the share of rows in which each action is a best reply."""
    return np.asarray(largest(table.stated_worth).mean(axis=0), np.float64)


def usual(table: BeliefColumns) -> Floats:
    """Return, by row, whether the mode of the player's other moves is a best reply.

    Only moves that are on the row's menu count. Tied modes count by their mean, and a row without
    such other moves is NaN.
    """
    return np.asarray((usual_moves(table) * largest(table.stated_worth)).sum(axis=1))


def usual_moves(table: BeliefColumns) -> Floats:
    """Return, by row and action, the share of the action among the modes of the player's other
    moves; NaN in a row without other moves on the menu."""
    own_moves = _one_hot(table)
    others = (_sums_by(table.person, own_moves)[table.person] - own_moves) * table.on_menu
    modes = (others == others.max(axis=1, keepdims=True)) & (others > 0)
    return _divide(modes.astype(np.float64), modes.sum(axis=1, keepdims=True))


def last_move(table: BeliefColumns) -> Floats:
    """Return, by row, whether the player's previous move is a best reply; NaN in the first
    period."""
    best = largest(table.stated_worth)
    order = np.lexsort((table.period, table.person))
    previous_moves = np.full(len(table), -1, dtype=np.intp)
    is_same = table.person[order][1:] == table.person[order][:-1]
    is_next = table.period[order][1:] == table.period[order][:-1] + 1
    previous_moves[order[1:]] = np.where(is_same & is_next, table.move[order[:-1]], -1)
    hits = best[np.arange(len(table)), np.maximum(previous_moves, 0)].astype(np.float64)
    return np.where(previous_moves < 0, np.nan, hits)


def swap_person(table: BeliefColumns) -> Floats:
    """Return, by row, the share of the other players' beliefs in the cell to which the move is a
    best reply; NaN if the cell has no other player."""
    best = largest(table.stated_worth).astype(np.float64)
    in_cell, counts = _others_in(table.cell, table.person, best)
    return _divide(table.at_move(in_cell), counts)


def swap_period(table: BeliefColumns) -> Floats:
    """Return, by row, the share of the player's own beliefs in other rows to which the move is a
    best reply; NaN if there is no other row."""
    best = largest(table.stated_worth).astype(np.float64)
    others = _sums_by(table.person, best)[table.person] - best
    counts = np.bincount(table.person)[table.person] - 1
    return _divide(table.at_move(others), counts)


class Contest(msgspec.Struct, frozen=True):
    """Rows in which no best reply is the move that the player expects of most others."""

    rows: int
    best: Estimate  # share of moves that are best replies
    best_null: Estimate  # the same for the moves of the other players in the cell
    best_gain: Estimate  # the difference
    expected: Estimate  # share of moves that the player expects of most others
    expected_null: Estimate
    expected_gain: Estimate
    usual: Estimate  # share of moves that are the mode of the player's other moves


def find_contests(table: BeliefColumns) -> Bools:
    """Return which rows are contests; rows without a belief about others' choice from the same menu
    are not."""
    best, modes = largest(table.stated_worth), largest(table.expected)
    return np.asarray(modes.any(axis=1) & best.any(axis=1) & ~(best & modes).any(axis=1))


def contest(table: BeliefColumns, rows: ArrayLike | None = None) -> Contest:
    """Return what players do in contests, with the nulls.

    Args:
        table: The decisions; also those that are not contests, because the null is the moves of all
            other players in the cell.
        rows: Which rows to count among the contests, for example those with high stakes.
    """
    is_counted = find_contests(table)
    if rows is not None:
        is_counted &= np.asarray(rows, dtype=np.bool_)
    in_cell, counts = _others_in(table.cell, table.person, _one_hot(table))
    habit = table.at_move(usual_moves(table))[is_counted]
    inside = table.select(is_counted)
    others = _divide(in_cell[is_counted], counts[is_counted][:, None])

    def compare(actions: Bools) -> tuple[Estimate, Estimate, Estimate]:
        is_taken, null = inside.at_move(actions), (others * actions).sum(axis=1)
        shares = share(is_taken, inside.cluster), share(null, inside.cluster)
        return *shares, difference(is_taken, null, inside.cluster)

    best, expected = compare(largest(inside.stated_worth)), compare(largest(inside.expected))
    return Contest(len(inside), *best, *expected, share(habit, inside.cluster))


# --- payoffs --------------------------------------------------------------------------------------


def stakes(table: BeliefColumns, moves: Floats | None = None) -> Estimate:
    """Return the payoff expected by the stated belief, from 0 (a random action) to 1 (the best).

    Args:
        table: The decisions.
        moves: The values of other moves than the player's, by row.
    """
    return _scale_payoffs(
        table, table.stated_worth, table.at_move(table.stated_worth) if moves is None else moves
    )


def doing(table: BeliefColumns) -> Estimate:
    """Return the payoff by what the others did, from 0 (a random action) to 1 (the best)."""
    known_rows = table.select(~np.isnan(table.at_move(table.true_worth)))
    return _scale_payoffs(
        known_rows, known_rows.true_worth, known_rows.at_move(known_rows.true_worth)
    )


def doing_if_best_replied(table: BeliefColumns) -> Estimate:
    """Return the doing of a player who always best-replies to the stated beliefs; ties count by
    their mean."""
    known_rows = table.select(~np.isnan(table.at_move(table.true_worth)))
    best = largest(known_rows.stated_worth)
    values = np.where(best, known_rows.true_worth, 0.0).sum(axis=1) / best.sum(axis=1)
    return _scale_payoffs(known_rows, known_rows.true_worth, values)


def _scale_payoffs(table: BeliefColumns, payoffs: Floats, values: Floats) -> Estimate:
    if not len(table):
        return without_interval(None, 0, "t", NO_ROWS)
    random, best = np.nanmean(payoffs, axis=1), np.nanmax(payoffs, axis=1)
    return ratio_by_rule(values - random, best - random, table.cluster)


def spread(table: BeliefColumns) -> Floats:
    """Return, by row, the difference between the best and the worst expected payoff."""
    return np.asarray(np.nanmax(table.stated_worth, axis=1) - np.nanmin(table.stated_worth, axis=1))


def loss(table: BeliefColumns) -> Floats:
    """Return, by row, the expected payoff that the move gave up."""
    return np.asarray(np.nanmax(table.stated_worth, axis=1) - table.at_move(table.stated_worth))


# --- forecasts ------------------------------------------------------------------------------------


def brier(odds: Floats, truth: Floats) -> Floats:
    """Return, by row, the Brier score of stated odds, summed over options.

    Args:
        odds: (row, option); NaN where a row has fewer options.
        truth: (row, option): the shares with which each option came true; one option with 1 if a
            single outcome was observed.

    >>> brier(np.array([[0.5, 0.5]]), np.array([[1.0, 0.0]])).tolist()
    [0.5]
    """
    # the mean over outcomes drawn from the shares
    return np.asarray(np.nansum(odds**2 - 2 * odds * truth + truth, axis=1))


class Calibration(msgspec.Struct, frozen=True):
    """How often options came true, by the stated probability."""

    slope: float | None  # of outcomes on stated probabilities; 1 if well calibrated
    never: float | None  # share of options with stated probability 0 that came true
    never_count: int
    certain: float | None  # of options with stated probability 1
    certain_count: int


def calibration(odds: ArrayLike, outcomes: ArrayLike) -> Calibration:
    """Return the calibration of stated probabilities of single options."""
    stated, came_true = np.asarray(odds, np.float64), np.asarray(outcomes, np.float64)
    away = stated - stated.mean() if stated.size else stated
    squares = float((away**2).sum())
    never, certain = stated <= TIE, stated >= 1 - TIE
    return Calibration(
        float((away * came_true).sum()) / squares if squares else None,
        float(came_true[never].mean()) if never.any() else None,
        int(never.sum()),
        float(came_true[certain].mean()) if certain.any() else None,
        int(certain.sum()),
    )


# --- projection -----------------------------------------------------------------------------------


class Projection(msgspec.Struct, frozen=True):
    """Correlations of what players expect of others with their own move and with the others'."""

    own: float
    others: float
    own_partial: float  # with the others' move held constant
    others_partial: float  # with the own move held constant


def projection(expected: ArrayLike, own_moves: ArrayLike, others: ArrayLike) -> Projection:
    """Return how stated expectations go with the player's own move and with the others' moves."""
    table = np.corrcoef(
        [np.asarray(column, np.float64) for column in (expected, own_moves, others)]
    )
    with_own, with_others, between = table[0, 1], table[0, 2], table[1, 2]

    def partial(first: float, second: float) -> float:
        return float((first - second * between) / np.sqrt((1 - second**2) * (1 - between**2)))

    return Projection(
        float(with_own),
        float(with_others),
        partial(with_own, with_others),
        partial(with_others, with_own),
    )


class PairingNull(msgspec.Struct, frozen=True):
    """A correlation within groups, and the same if the players had met other players."""

    r: float
    null: float
    low: float
    high: float
    p: float


def pairing_null(
    expected: ArrayLike,
    own_moves: ArrayLike,
    others: ArrayLike,
    groups: Sequence[Hashable],
    size: int = 2,
    draws: int = 2000,
    seed: int = 0,
) -> PairingNull:
    """Return the correlation of expectations with the others' moves, means of groups removed, and
    its distribution if players are paired anew within groups.

    Args:
        expected: What each player expects of the others.
        own_moves: Each player's own move.
        others: The move, or mean move, of the players that it met.
        groups: Within which players could have met, such as session and period.
        size: Number of players that meet; 2 for pairs.
        draws: Number of random pairings.
        seed: Seed of the pairings.
    """
    belief, move = np.asarray(expected, np.float64), np.asarray(own_moves, np.float64)
    codes, _ = encode_labels(groups, len(belief), "groups")
    centred = _without_means(belief, codes)
    observed = _correlation(centred, _without_means(np.asarray(others, np.float64), codes))
    rng, rows = np.random.default_rng(seed), np.arange(len(belief))
    null_correlations = np.empty(draws)
    for number in range(draws):
        order = rows[np.lexsort((rng.random(len(rows)), codes))]
        null_correlations[number] = _correlation(
            centred, _without_means(_mean_of_met(move, codes, order, size), codes)
        )
    middle = float(null_correlations.mean())
    low, high = np.quantile(null_correlations, [0.025, 0.975])
    p = float((np.abs(null_correlations - middle) >= abs(observed - middle)).mean())
    return PairingNull(observed, middle, float(low), float(high), p)


def _mean_of_met(move: Floats, codes: Codes, order: Codes, size: int) -> Floats:
    """Return the mean move of the others if consecutive players of an order meet, `size` at a time;
    the players of the last, incomplete meeting of a group meet among themselves."""
    sorted_codes = codes[order]
    starts = np.flatnonzero(np.r_[True, sorted_codes[1:] != sorted_codes[:-1]])
    place = np.arange(len(order)) - np.repeat(starts, np.diff(np.r_[starts, len(order)]))
    meeting = np.cumsum((place % size == 0).astype(np.intp)) - 1
    sums = np.bincount(meeting, move[order])
    counts = np.bincount(meeting)
    result = np.empty(len(order))
    alone = np.maximum(counts[meeting] - 1, 1)
    result[order] = (sums[meeting] - move[order]) / alone
    return result


def _without_means(values: Floats, codes: Codes) -> Floats:
    means = np.bincount(codes, values) / np.bincount(codes)
    return np.asarray(values - means[codes])


def _correlation(first: Floats, second: Floats) -> float:
    return float(np.corrcoef(first, second)[0, 1])


# --- sums and shares ------------------------------------------------------------------------------


def share(values: Floats, clusters: Codes) -> Estimate:
    """Return the mean of values from 0 to 1, with its interval over clusters; NaN is left out."""
    has_value = ~np.isnan(values)
    if not has_value.any():
        return without_interval(None, 0, "t", NO_ROWS)
    estimate = mean_by_rule(values[has_value], clusters[has_value])
    low, high = estimate.low, estimate.high
    if low is None or high is None or (0 < low < high < 1):
        return estimate
    return mean_by_rule(values[has_value], clusters[has_value], (0.0, 1.0))


def difference(first: Floats, second: Floats, clusters: Codes) -> Estimate:
    """Return the mean difference of two columns over the rows that have both, with its interval."""
    has_value = ~np.isnan(first) & ~np.isnan(second)
    if not has_value.any():
        return without_interval(None, 0, "t", NO_ROWS)
    return mean_by_rule(first[has_value] - second[has_value], clusters[has_value])


def _one_hot(table: BeliefColumns) -> Floats:
    chosen = np.zeros(table.stated_worth.shape)
    chosen[np.arange(len(table)), table.move] = 1.0
    return chosen


def _sums_by(groups: Codes, values: Floats) -> Floats:
    sums = np.zeros((int(groups.max(initial=-1)) + 1, values.shape[1]))
    np.add.at(sums, groups, values)
    return sums


def _others_in(groups: Codes, person: Codes, values: Floats) -> tuple[Floats, Codes]:
    """Return, by row, the sums of values over the rows of other players in its group, and their
    number."""
    _, inverse = np.unique(np.stack([groups, person]), axis=1, return_inverse=True)
    own_group = np.asarray(inverse, dtype=np.intp).reshape(-1)
    sums = _sums_by(groups, values)[groups] - _sums_by(own_group, values)[own_group]
    counts = np.bincount(groups)[groups] - np.bincount(own_group)[own_group]
    return sums, np.asarray(counts, dtype=np.intp)


def _divide(values: Floats, counts: ArrayLike) -> Floats:
    """Return values divided by counts; NaN where the count is 0."""
    divisors = np.broadcast_to(np.asarray(counts, np.float64), values.shape)
    return np.asarray(
        np.divide(values, divisors, out=np.full(values.shape, np.nan), where=divisors > 0)
    )
