"""Every MindGames matrix, found by looking at all of them (moore2025, appendix A.2)."""

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
    Cell,
    Puzzle,
    relettered,
)

Signs = NDArray[np.int8]
Flags = NDArray[np.bool_]

LEVELS = np.array([-1, 0, 1], dtype=np.int8)


class Solutions(msgspec.Struct, frozen=True):
    """Matrices as parallel arrays; rows of every matrix are goal, trap, initial."""

    utilities: Signs  # (n, 3, attributes)
    target_values: Signs  # (n, attributes)
    hidden: Flags  # (n, 3, attributes)
    winning: Flags  # (n, 3, attributes)

    def __len__(self) -> int:
        return len(self.utilities)


def _subsets(cells: int, sizes: Iterable[int]) -> Flags:
    """All subsets of `cells` numbered cells with the given sizes, as rows of flags."""
    rows = [c for size in sizes for c in itertools.combinations(range(cells), size)]
    flags = np.zeros((len(rows), cells), dtype=np.bool_)
    for i, row in enumerate(rows):
        flags[i, list(row)] = True
    return flags


def _grid(columns: int) -> Signs:
    """All rows of `columns` levels."""
    return np.array(list(itertools.product(LEVELS, repeat=columns)), dtype=np.int8)


def _unique_best(values: Signs, row: int) -> Flags:
    """Where proposal `row` has strictly the largest value (last axis = proposals)."""
    rest = [p for p in range(PROPOSALS) if p != row]
    best: Flags = values[..., row] > values[..., rest].max(axis=-1)
    return best


def _worth(gains: Signs, known: Flags) -> Signs:
    """Value per proposal when only `known` cells count; both are flat over 3 x attributes."""
    counted = gains * known
    by_row = counted.reshape(*counted.shape[:-1], PROPOSALS, counted.shape[-1] // PROPOSALS)
    worth: Signs = by_row.sum(axis=-1, dtype=np.int8)
    return worth


def _winnable(attributes: int, max_hidden: int) -> tuple[Signs, Flags, Flags]:
    """All (gains, hidden, winning) that satisfy the target's conditions, gain = v_T * U.

    The target's choices depend on v_T and U through their product alone, so 3**9 tables of
    products stand for all 3**12 pairs.
    """
    cells = PROPOSALS * attributes
    gains = _grid(cells)
    gains = gains[_unique_best(_worth(gains, np.ones(cells, dtype=np.bool_)), TRAP)]
    found: list[tuple[Signs, Signs, Signs]] = []
    for hidden in _subsets(cells, range(max_hidden + 1)):
        starts = gains[_unique_best(_worth(gains, ~hidden), INITIAL)]
        for told in _subsets(int(hidden.sum()), range(int(hidden.sum()) + 1)):
            winning = np.zeros(cells, dtype=np.bool_)
            winning[np.flatnonzero(hidden)[told]] = True
            won = starts[_unique_best(_worth(starts, ~hidden | winning), GOAL)]
            if len(won):
                shape = (len(won), cells)
                found.append((won, np.broadcast_to(hidden, shape), np.broadcast_to(winning, shape)))
    if not found:
        return gains[:0], np.zeros((0, cells), np.bool_), np.zeros((0, cells), np.bool_)
    joined = [np.concatenate(part) for part in zip(*found, strict=True)]
    return joined[0], joined[1].astype(np.bool_), joined[2].astype(np.bool_)


def _values_by_persuader(utilities: Signs) -> Flags:
    """For each matrix and each row of persuader values: is the goal its unique best?"""
    grid = _grid(utilities.shape[-1])
    worth = np.einsum("npa,va->nvp", utilities, grid, dtype=np.int8)
    return _unique_best(worth.astype(np.int8), GOAL)


@lru_cache(maxsize=2)
def all_matrices(attributes: int = 3, max_hidden: int = MOST_HIDDEN) -> Solutions:
    """Every distinct (utilities, target values, hidden), with its winning set."""
    gains, hidden, winning = _winnable(attributes, max_hidden)
    parts: list[tuple[Signs, Signs, Flags, Flags]] = []
    shape = (PROPOSALS, attributes)
    for values in _grid(attributes):
        deaf = values == 0  # the target does not care: its gain is 0 whatever the utility
        tables = gains.reshape(len(gains), *shape)
        fits = ~tables[:, :, deaf].any(axis=(1, 2))
        free = _grid(PROPOSALS * int(deaf.sum()))
        table = np.repeat(tables[fits] * values, len(free), axis=0)
        table[:, :, deaf] = np.tile(
            free.reshape(len(free), PROPOSALS, int(deaf.sum())), (int(fits.sum()), 1, 1)
        )
        parts.append(
            (
                table,
                np.broadcast_to(values, (len(table), attributes)),
                np.repeat(hidden[fits], len(free), axis=0).reshape(len(table), *shape),
                np.repeat(winning[fits], len(free), axis=0).reshape(len(table), *shape),
            )
        )
    utilities, target, hid, win = (np.concatenate(part) for part in zip(*parts, strict=True))
    ours = _values_by_persuader(utilities.astype(np.int8)).any(axis=1)
    return Solutions(
        utilities=utilities[ours].astype(np.int8),
        target_values=target[ours].astype(np.int8),
        hidden=hid[ours].astype(np.bool_),
        winning=win[ours].astype(np.bool_),
    )


def count_with_persuader(solutions: Solutions) -> int:
    """How many solutions there are when persuader values and winning set are counted too."""
    return int(_values_by_persuader(solutions.utilities).sum())


def symmetry_classes(solutions: Solutions) -> NDArray[np.int64]:
    """The class number of each matrix: attributes may be swapped, and any attribute renamed to
    its opposite (its utilities and the target's coefficient change sign together)."""
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
    """One number per matrix, different for different matrices."""
    trits = (faces.reshape(len(faces), -1).astype(np.int64) + 1) @ (
        3 ** np.arange(faces[0].size, dtype=np.int64)
    )
    bits = hidden.reshape(len(hidden), -1) @ (2 ** np.arange(hidden[0].size, dtype=np.int64))
    code: NDArray[np.int64] = trits * 2 ** hidden[0].size + bits
    return code


def _pairs(flags: Flags) -> tuple[Cell, ...]:
    return tuple((int(p), int(a)) for p, a in np.argwhere(flags))


def _order(rng: np.random.Generator, permute: bool) -> tuple[int, ...]:
    order = rng.permutation(PROPOSALS) if permute else np.arange(PROPOSALS)
    return tuple(int(p) for p in order)


def puzzle_at(solutions: Solutions, index: int, persuader_values: tuple[int, ...]) -> Puzzle:
    """Matrix number `index` as a puzzle with goal A, trap B, initial C."""
    return Puzzle(
        utilities=tuple(tuple(int(u) for u in row) for row in solutions.utilities[index]),
        hidden=_pairs(solutions.hidden[index]),
        target_values=tuple(int(v) for v in solutions.target_values[index]),
        persuader_values=persuader_values,
        goal=GOAL,
        trap=TRAP,
        initial=INITIAL,
        winning=_pairs(solutions.winning[index]),
    )


def sample(
    n: int, seed: int, *, permute_letters: bool = True, solutions: Solutions | None = None
) -> tuple[Puzzle, ...]:
    """`n` standard puzzles: a class, then a matrix in it, then persuader values, all uniform.

    No class comes twice before every class has come once.
    """
    found = all_matrices() if solutions is None else solutions
    classes = symmetry_classes(found)
    rng = np.random.default_rng(seed)
    order = np.concatenate(
        [rng.permutation(classes.max() + 1) for _ in range(-(-n // int(classes.max() + 1)))]
        or [np.zeros(0, dtype=np.int64)]
    )
    grid = _grid(found.target_values.shape[-1])
    puzzles = []
    for drawn in order[:n]:
        index = int(rng.choice(np.flatnonzero(classes == drawn)))
        liked = np.flatnonzero(_values_by_persuader(found.utilities[index : index + 1])[0])
        values = tuple(int(v) for v in grid[int(rng.choice(liked))])
        plain = puzzle_at(found, index, values)
        puzzles.append(relettered(plain, _order(rng, permute_letters)))
    return tuple(puzzles)
