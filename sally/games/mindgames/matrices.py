"""All standard puzzle matrices, enumerated (moore2025, appendix A.2)."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from functools import lru_cache

import msgspec
import numpy as np
from numpy.typing import NDArray

from sally.games.mindgames.puzzles import (
    GOAL,
    INITIAL,
    MOST_HIDDEN,
    PROPOSALS,
    TRAP,
)

Signs = NDArray[np.int8]
Flags = NDArray[np.bool_]

LEVELS = np.array([-1, 0, 1], dtype=np.int8)


class Solutions(msgspec.Struct, frozen=True):
    """Puzzle matrices as parallel arrays; the three rows of every matrix are the goal, the trap and
    the initial proposal."""

    utilities: Signs  # (n, 3, attributes)
    target_values: Signs  # (n, attributes)
    hidden: Flags  # (n, 3, attributes)
    winning: Flags  # (n, 3, attributes)

    def __len__(self) -> int:
        return len(self.utilities)


def _subsets(cells: int, sizes: Iterable[int]) -> Flags:
    """Return all subsets, of the given sizes, of a set of `cells` cells, as rows of flags."""
    rows = [c for size in sizes for c in itertools.combinations(range(cells), size)]
    flags = np.zeros((len(rows), cells), dtype=np.bool_)
    for i, row in enumerate(rows):
        flags[i, list(row)] = True
    return flags


def grid(columns: int) -> Signs:
    """Return all possible rows of `columns` entries, each -1, 0 or 1."""
    return np.array(list(itertools.product(LEVELS, repeat=columns)), dtype=np.int8)


def _unique_best(values: Signs, row: int) -> Flags:
    """Return the mask of cases in which proposal `row` is strictly best (last axis = proposals)."""
    other_rows = [p for p in range(PROPOSALS) if p != row]
    best: Flags = values[..., row] > values[..., other_rows].max(axis=-1)
    return best


def _proposal_values(gains: Signs, is_known: Flags) -> Signs:
    """Return the value of each proposal if only `is_known` cells count; the cells of a table are
    flattened to one axis."""
    counted = gains * is_known
    by_row = counted.reshape(*counted.shape[:-1], PROPOSALS, counted.shape[-1] // PROPOSALS)
    values: Signs = by_row.sum(axis=-1, dtype=np.int8)
    return values


def _winnable(attributes: int, max_hidden: int) -> tuple[Signs, Flags, Flags]:
    """Return all combinations of gains, hidden cells and winning set that satisfy the conditions on
    the target; the gains are the target's values times the utilities, v_T * U.

    The target's choices depend on v_T and U only through their product, so 3**9 tables of products
    represent all 3**12 pairs.
    """
    cells = PROPOSALS * attributes
    gains = grid(cells)
    gains = gains[_unique_best(_proposal_values(gains, np.ones(cells, dtype=np.bool_)), TRAP)]
    combinations_found: list[tuple[Signs, Signs, Signs]] = []
    for hidden in _subsets(cells, range(max_hidden + 1)):
        starts = gains[_unique_best(_proposal_values(gains, ~hidden), INITIAL)]
        for disclosed in _subsets(int(hidden.sum()), range(int(hidden.sum()) + 1)):
            winning = np.zeros(cells, dtype=np.bool_)
            winning[np.flatnonzero(hidden)[disclosed]] = True
            won = starts[_unique_best(_proposal_values(starts, ~hidden | winning), GOAL)]
            if len(won):
                shape = (len(won), cells)
                combinations_found.append(
                    (won, np.broadcast_to(hidden, shape), np.broadcast_to(winning, shape))
                )
    if not combinations_found:
        return gains[:0], np.zeros((0, cells), np.bool_), np.zeros((0, cells), np.bool_)
    joined = [np.concatenate(part) for part in zip(*combinations_found, strict=True)]
    return joined[0], joined[1].astype(np.bool_), joined[2].astype(np.bool_)


def values_by_persuader(utilities: Signs) -> Flags:
    """Return, for each matrix and each vector of persuader values, whether the goal is the
    persuader's unique best proposal."""
    all_values = grid(utilities.shape[-1])
    values = np.einsum("npa,va->nvp", utilities, all_values, dtype=np.int8)
    return _unique_best(values.astype(np.int8), GOAL)


@lru_cache(maxsize=2)
def all_matrices(attributes: int = 3, max_hidden: int = MOST_HIDDEN) -> Solutions:
    """Return every distinct combination of utilities, target values and hidden cells, with its
    winning set."""
    gains, hidden, winning = _winnable(attributes, max_hidden)
    parts: list[tuple[Signs, Signs, Flags, Flags]] = []
    shape = (PROPOSALS, attributes)
    for liked in grid(attributes):
        deaf = liked == 0  # the target is indifferent: its gain is 0 for any utility
        tables = gains.reshape(len(gains), *shape)
        fits = ~tables[:, :, deaf].any(axis=(1, 2))
        free = grid(PROPOSALS * int(deaf.sum()))
        table = np.repeat(tables[fits] * liked, len(free), axis=0)
        table[:, :, deaf] = np.tile(
            free.reshape(len(free), PROPOSALS, int(deaf.sum())), (int(fits.sum()), 1, 1)
        )
        parts.append(
            (
                table,
                np.broadcast_to(liked, (len(table), attributes)),
                np.repeat(hidden[fits], len(free), axis=0).reshape(len(table), *shape),
                np.repeat(winning[fits], len(free), axis=0).reshape(len(table), *shape),
            )
        )
    utilities, target, hid, win = (np.concatenate(part) for part in zip(*parts, strict=True))
    ours = values_by_persuader(utilities.astype(np.int8)).any(axis=1)
    return Solutions(
        utilities=utilities[ours].astype(np.int8),
        target_values=target[ours].astype(np.int8),
        hidden=hid[ours].astype(np.bool_),
        winning=win[ours].astype(np.bool_),
    )


def count_with_persuader(solutions: Solutions) -> int:
    """Return the number of puzzles: every solution counts once for each vector of persuader values
    under which the goal is the persuader's unique best proposal."""
    return int(values_by_persuader(solutions.utilities).sum())


def symmetry_classes(solutions: Solutions) -> NDArray[np.int64]:
    """Return the number of each matrix's symmetry class.

    Matrices are in the same class if they differ only in the order of attributes, or in attributes
    renamed to their opposites (utilities and the target's coefficient change sign together).
    """
    attributes = solutions.target_values.shape[-1]
    faces = np.concatenate([solutions.utilities, solutions.target_values[:, None]], axis=1)
    lowest = np.full(len(faces), np.iinfo(np.int64).max, dtype=np.int64)
    for order in itertools.permutations(range(attributes)):
        for signs in itertools.product((1, -1), repeat=attributes):
            turned = faces[:, :, list(order)] * np.array(signs, dtype=np.int8)
            code = _code(turned, solutions.hidden[:, :, list(order)])
            lowest = np.minimum(lowest, code)
    _, classes = np.unique(lowest, return_inverse=True)
    return classes.astype(np.int64)


def _code(faces: Signs, hidden: Flags) -> NDArray[np.int64]:
    """Return a number that identifies each matrix uniquely."""
    trits = (faces.reshape(len(faces), -1).astype(np.int64) + 1) @ (
        3 ** np.arange(faces[0].size, dtype=np.int64)
    )
    bits = hidden.reshape(len(hidden), -1) @ (2 ** np.arange(hidden[0].size, dtype=np.int64))
    code: NDArray[np.int64] = trits * 2 ** hidden[0].size + bits
    return code


# --- balanced draws -------------------------------------------------------------------------------
