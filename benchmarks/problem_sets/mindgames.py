"""Puzzles of MindGames: standard ones from the enumeration of all matrices, other kinds drawn.

Each kind has a guarantee that is checked over all 16 subsets of hidden cells.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from sally.games.mindgames.frozen import Collection, Frozen
from sally.games.mindgames.matrices import (
    Flags,
    Solutions,
    all_matrices,
    grid,
    symmetry_classes,
    values_by_persuader,
)
from sally.games.mindgames.puzzles import (
    GOAL,
    INITIAL,
    MOST_HIDDEN,
    PROPOSALS,
    TRAP,
    Cell,
    Kind,
    Puzzle,
)
from sally.games.mindgames.target import choice, ranking, values

SIZES: dict[Collection, int] = {"standard": 40, "variants": 20}  # moore2025, Figure 4 and B.1
OTHERS = 20
SEED = 2025
SUBSETS = 2**MOST_HIDDEN
BATCH = 20_000


def reletter(puzzle: Puzzle, order: tuple[int, ...]) -> Puzzle:
    """Return the puzzle with the proposal in row p moved to row order[p]."""
    rows = tuple(puzzle.utilities[order.index(p)] for p in range(PROPOSALS))
    return msgspec.structs.replace(
        puzzle,
        utilities=rows,
        hidden=_dealt(order, puzzle.hidden),
        winning=_dealt(order, puzzle.winning),
        goal=order[puzzle.goal],
        trap=order[puzzle.trap],
        initial=order[puzzle.initial],
    )


def _dealt(order: tuple[int, ...], cells: Iterable[Cell]) -> tuple[Cell, ...]:
    """Return the cells after proposal p has been moved to row order[p]."""
    return tuple(sorted((order[p], a) for p, a in cells))


def wins(puzzle: Puzzle, revealed: Iterable[Cell]) -> bool:
    """Return whether the goal is strictly best once these cells are known too."""
    proposal_values = values(puzzle, puzzle.visible | frozenset(revealed))
    return choice(proposal_values, -1) == puzzle.goal


def winning_sets(puzzle: Puzzle) -> tuple[tuple[Cell, ...], ...]:
    """Return every subset of the hidden cells that makes the goal strictly best."""
    return tuple(
        cells
        for size in range(len(puzzle.hidden) + 1)
        for cells in itertools.combinations(puzzle.hidden, size)
        if wins(puzzle, cells)
    )


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
    all_values = grid(matrices.target_values.shape[-1])
    puzzles = []
    for drawn_class in order[:n]:
        index = int(rng.choice(np.flatnonzero(classes == drawn_class)))
        liked = np.flatnonzero(values_by_persuader(matrices.utilities[index : index + 1])[0])
        plain = puzzle_at(matrices, index, _ints(all_values[int(rng.choice(liked))]))
        puzzles.append(reletter(plain, _ints(rng.permutation(PROPOSALS))))
    return tuple(puzzles)


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


def make(collection: Collection) -> Frozen:
    """Generate a set of puzzles again; the result must equal the stored set.

    The two standard sets use every symmetry class at most once and share no class: the first 40
    classes drawn are `standard`, the next 20 are `variants`.
    """
    size = SIZES.get(collection, OTHERS)
    if collection in ("standard", "variants"):
        first = 0 if collection == "standard" else SIZES["standard"]
        puzzles = sample(SIZES["standard"] + SIZES["variants"], SEED)[first : first + size]
    else:  # the other sets are named by kind
        kind: Kind = collection.removeprefix("balanced_")  # type: ignore[assignment]
        puzzles = (sample_kind if kind == "always_win" else sample_balanced)(kind, size, SEED)
    if not all(map(holds, puzzles)):
        raise AssertionError(
            f"a puzzle of {collection} lacks the property that its kind guarantees"
        )
    return Frozen(collection, 1, SEED, puzzles)


def set_as_json(frozen_set: Frozen) -> str:
    """Return a set encoded as JSON, one puzzle per line for readable diffs."""
    head = {"set": frozen_set.set, "version": frozen_set.version, "seed": frozen_set.seed}
    lines = ",\n".join(msgspec.json.encode(puzzle).decode() for puzzle in frozen_set.puzzles)
    return f'{msgspec.json.encode(head).decode()[:-1]},"puzzles":[\n{lines}\n]}}\n'
