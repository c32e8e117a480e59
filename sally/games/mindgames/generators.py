"""Generators of puzzles: all standard matrices are enumerated (moore2025, appendix A.2), other
kinds are drawn.

Each kind has a guarantee that is checked over all 16 subsets of hidden cells.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from sally.games.mindgames.puzzles import (
    GOAL,
    INITIAL,
    MOST_HIDDEN,
    PROPOSALS,
    TRAP,
    Cell,
    Kind,
    Puzzle,
    reletter,
)
from sally.games.mindgames.target import ranking, values, winning_sets

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


def _grid(columns: int) -> Signs:
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
    gains = _grid(cells)
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


def _values_by_persuader(utilities: Signs) -> Flags:
    """Return, for each matrix and each vector of persuader values, whether the goal is the
    persuader's unique best proposal."""
    grid = _grid(utilities.shape[-1])
    values = np.einsum("npa,va->nvp", utilities, grid, dtype=np.int8)
    return _unique_best(values.astype(np.int8), GOAL)


@lru_cache(maxsize=2)
def all_matrices(attributes: int = 3, max_hidden: int = MOST_HIDDEN) -> Solutions:
    """Return every distinct combination of utilities, target values and hidden cells, with its
    winning set."""
    gains, hidden, winning = _winnable(attributes, max_hidden)
    parts: list[tuple[Signs, Signs, Flags, Flags]] = []
    shape = (PROPOSALS, attributes)
    for liked in _grid(attributes):
        deaf = liked == 0  # the target is indifferent: its gain is 0 for any utility
        tables = gains.reshape(len(gains), *shape)
        fits = ~tables[:, :, deaf].any(axis=(1, 2))
        free = _grid(PROPOSALS * int(deaf.sum()))
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
    ours = _values_by_persuader(utilities.astype(np.int8)).any(axis=1)
    return Solutions(
        utilities=utilities[ours].astype(np.int8),
        target_values=target[ours].astype(np.int8),
        hidden=hid[ours].astype(np.bool_),
        winning=win[ours].astype(np.bool_),
    )


def count_with_persuader(solutions: Solutions) -> int:
    """Return the number of puzzles: every solution counts once for each vector of persuader values
    under which the goal is the persuader's unique best proposal."""
    return int(_values_by_persuader(solutions.utilities).sum())


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


def _pairs(flags: Flags) -> tuple[Cell, ...]:
    return tuple((int(p), int(a)) for p, a in np.argwhere(flags))


def _ints(row: NDArray[Any]) -> tuple[int, ...]:
    return tuple(int(x) for x in row)


def puzzle_at(solutions: Solutions, index: int, persuader_values: tuple[int, ...]) -> Puzzle:
    """Return matrix number `index` as a puzzle with goal A, trap B and initial proposal C."""
    return Puzzle(
        utilities=tuple(map(_ints, solutions.utilities[index])),
        hidden=_pairs(solutions.hidden[index]),
        target_values=_ints(solutions.target_values[index]),
        persuader_values=persuader_values,
        goal=GOAL,
        trap=TRAP,
        initial=INITIAL,
        winning=_pairs(solutions.winning[index]),
    )


def sample(n: int, seed: int) -> tuple[Puzzle, ...]:
    """Draw `n` standard puzzles with their letters in random order.

    Symmetry classes are taken in random order, and every class is used once before any is used
    again. Within a class, the matrix and then the persuader's values are drawn uniformly.
    """
    matrices = all_matrices()
    classes = symmetry_classes(matrices)
    rng = np.random.default_rng(seed)
    passes = -(-n // int(classes.max() + 1))
    order = np.concatenate([rng.permutation(classes.max() + 1) for _ in range(passes)])
    grid = _grid(matrices.target_values.shape[-1])
    puzzles = []
    for drawn_class in order[:n]:
        index = int(rng.choice(np.flatnonzero(classes == drawn_class)))
        liked = np.flatnonzero(_values_by_persuader(matrices.utilities[index : index + 1])[0])
        plain = puzzle_at(matrices, index, _ints(grid[int(rng.choice(liked))]))
        puzzles.append(reletter(plain, _ints(rng.permutation(PROPOSALS))))
    return tuple(puzzles)


SUBSETS = 2**MOST_HIDDEN
BATCH = 20_000


def holds(puzzle: Puzzle) -> bool:
    """Return whether a puzzle has the property of its kind over all subsets of its hidden cells.

    standard: exactly one subset wins, and it is neither empty nor complete. never_win: no subset
    makes the goal the target's unique best. always_win: every subset makes it so. can_win: the goal
    is not the target's first choice, and at least one subset makes it the unique best.
    """
    if not _well_formed(puzzle):
        return False
    sets = winning_sets(puzzle)
    roles = len({puzzle.goal, puzzle.trap, puzzle.initial})
    match puzzle.kind:
        case "standard":
            return roles == 3 and sets == (puzzle.winning,)
        case "never_win":
            return sets == ()
        case "always_win":
            return roles == 1 and len(sets) == SUBSETS
        case "can_win":
            return puzzle.goal != puzzle.initial and len(sets) > 0


def _well_formed(puzzle: Puzzle) -> bool:
    """Return whether the puzzle has four hidden cells, and its goal, trap and initial proposal are
    the unique best ones for the persuader, the fully informed target and the initial target,
    respectively."""
    roles = (puzzle.goal, puzzle.trap, puzzle.initial)
    return len(puzzle.hidden) == MOST_HIDDEN and _tops(puzzle) == [(row,) for row in roles]


def _tops(puzzle: Puzzle) -> list[tuple[int, ...]]:
    """Return the best proposals for the persuader, for a fully informed target and for the initial
    target."""
    liked = tuple(
        sum(v * u for v, u in zip(puzzle.persuader_values, row, strict=True))
        for row in puzzle.utilities
    )
    picks = (liked, values(puzzle, puzzle.cells), values(puzzle, puzzle.visible))
    return [ranking(totals)[0] for totals in picks]


def _draft(
    kind: Kind,
    utilities: NDArray[Any],
    hidden: NDArray[Any],
    target: NDArray[Any],
    persuader: NDArray[Any],
) -> Puzzle:
    """Return a puzzle whose goal, trap and initial proposal are not yet set; hidden cells are
    given by cell number."""
    return Puzzle(
        utilities=tuple(map(_ints, utilities)),
        hidden=tuple(divmod(cell, 3) for cell in _ints(hidden)),
        target_values=_ints(target),
        persuader_values=_ints(persuader),
        goal=0,
        trap=0,
        initial=0,
        winning=(),
        kind=kind,
    )


def _draw(kind: Kind, rng: np.random.Generator) -> Puzzle | None:
    """Draw a uniformly distributed table with four hidden cells.

    Return None if the best proposal is not unique for the persuader, for a target that sees the
    hidden cells, or for a target that does not.
    """
    table = rng.integers(-1, 2, (PROPOSALS, 3))
    hidden = np.sort(rng.choice(PROPOSALS * 3, MOST_HIDDEN, replace=False))
    draft = _draft(kind, table, hidden, rng.integers(-1, 2, 3), rng.integers(-1, 2, 3))
    tops = _tops(draft)
    if any(len(top) > 1 for top in tops):
        return None
    return _with_roles(draft, tops[0][0], tops[1][0], tops[2][0])


def _with_roles(draft: Puzzle, goal: int, trap: int, initial: int) -> Puzzle:
    """Return the draft with goal, trap and initial proposal set and, for can_win, with a
    smallest winning set."""
    draft_with_roles = replace(draft, goal=goal, trap=trap, initial=initial)
    sets = winning_sets(draft_with_roles)
    return (
        replace(draft_with_roles, winning=sets[0])
        if draft.kind == "can_win" and sets
        else draft_with_roles
    )


def sample_kind(kind: Kind, n: int, seed: int) -> tuple[Puzzle, ...]:
    """Draw `n` puzzles of a kind other than standard, uniformly from the tables with the property
    that defines the kind."""
    rng = np.random.default_rng(seed)
    puzzles: list[Puzzle] = []
    while len(puzzles) < n:
        puzzle = _draw(kind, rng)
        if puzzle is not None and holds(puzzle):
            puzzles.append(puzzle)
    return tuple(puzzles)


# --- balanced draws -------------------------------------------------------------------------------


def sample_balanced(kind: Kind, n: int, seed: int) -> tuple[Puzzle, ...]:
    """Draw `n` puzzles of the kind never_win or can_win; telling everything is alternately right
    and wrong.

    Uniform draws are unbalanced: telling everything wins 19 of 20 can_win puzzles, and leaves the
    choice unchanged in as many never_win puzzles. Here telling everything loses every second
    can_win puzzle, and in every second never_win puzzle it changes the target's choice.
    """
    candidates = _draw_puzzles(kind, np.random.default_rng(seed))
    puzzles: list[Puzzle] = []
    while len(puzzles) < n:
        puzzle = next(candidates)
        if _usual(puzzle) == (len(puzzles) % 2 == 0) and holds(puzzle):
            puzzles.append(puzzle)
    return tuple(puzzles)


def _usual(puzzle: Puzzle) -> bool:
    """Return whether telling everything has its usual effect: in can_win puzzles it wins, and in
    never_win puzzles it leaves the target's first choice unchanged."""
    return puzzle.trap == (puzzle.goal if puzzle.kind == "can_win" else puzzle.initial)


def _draw_puzzles(kind: Kind, rng: np.random.Generator) -> Iterator[Puzzle]:
    """Yield random puzzles: tables with uniformly drawn entries, four hidden cells, no tie for the
    best proposal, and the property that defines the kind of puzzle."""
    batch_index = np.arange(BATCH)
    while True:
        utilities = rng.integers(-1, 2, (BATCH, PROPOSALS, 3))
        cells = np.sort(rng.random((BATCH, 9)).argsort(axis=1)[:, :MOST_HIDDEN], axis=1)
        target, persuader = (rng.integers(-1, 2, (BATCH, 3)) for _ in range(2))
        gains = utilities * target[:, None, :]
        hidden_gains = np.take_along_axis(gains.reshape(BATCH, 9), cells, axis=1)
        full = gains.sum(axis=2)
        first = full.copy()
        for k in range(MOST_HIDDEN):
            first[batch_index, cells[:, k] // 3] -= hidden_gains[:, k]
        liked = (utilities * persuader[:, None, :]).sum(axis=2)
        goal, trap, initial = (values.argmax(axis=1) for values in (liked, full, first))
        wins = np.zeros(BATCH, dtype=np.int64)
        for subset in range(SUBSETS):
            seen_values = first.copy()
            for k in range(MOST_HIDDEN):
                if subset >> k & 1:
                    seen_values[batch_index, cells[:, k] // 3] += hidden_gains[:, k]
            wins += _single_best(seen_values) & (seen_values.argmax(axis=1) == goal)
        fits = wins == 0 if kind == "never_win" else (wins > 0) & (goal != initial)
        for i in np.flatnonzero(
            fits & _single_best(liked) & _single_best(full) & _single_best(first)
        ):
            draft = _draft(kind, utilities[i], cells[i], target[i], persuader[i])
            yield _with_roles(draft, int(goal[i]), int(trap[i]), int(initial[i]))


def _single_best(values: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return, for each row, whether its largest value is unique."""
    best = values == values.max(axis=1, keepdims=True)
    return np.asarray(best.sum(axis=1) == 1)
