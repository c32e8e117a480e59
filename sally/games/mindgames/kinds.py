"""The other kinds of puzzle, each with a guarantee checked over all 16 subsets of hidden cells."""

from collections.abc import Iterator
from typing import Literal

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from sally.games.mindgames.matrices import sample
from sally.games.mindgames.puzzles import MOST_HIDDEN, PROPOSALS, Kind, Puzzle, relettered
from sally.games.mindgames.target import ranking, values, winning_sets

SUBSETS = 2**MOST_HIDDEN
BATCH = 20_000
MEANINGS: dict[Kind, str] = {
    "standard": "exactly one subset of the hidden cells wins: neither none nor all of them",
    "never_win": "no subset of the hidden cells makes the goal the target's unique best",
    "always_win": "after every subset of the hidden cells the goal is the target's unique best",
    "can_win": "the goal is not the first choice, and at least one subset makes it unique best",
}


def holds(puzzle: Puzzle) -> bool:
    """Does the puzzle keep the promise of its kind, over every subset of its hidden cells?"""
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
    """Goal, trap and initial are what the persuader, full and first knowledge pick uniquely."""
    liked = tuple(
        sum(v * u for v, u in zip(puzzle.persuader_values, row, strict=True))
        for row in puzzle.utilities
    )
    picks = (liked, values(puzzle, puzzle.cells), values(puzzle, puzzle.visible))
    return len(puzzle.hidden) == MOST_HIDDEN and all(
        ranking(worth)[0] == (row,)
        for worth, row in zip(picks, (puzzle.goal, puzzle.trap, puzzle.initial), strict=True)
    )


def _draw(kind: Kind, rng: np.random.Generator) -> Puzzle | None:
    """A uniform table with four hidden cells, or None if a pick is tied."""
    table = tuple(tuple(int(u) for u in row) for row in rng.integers(-1, 2, (PROPOSALS, 3)))
    hidden = np.sort(rng.choice(PROPOSALS * 3, MOST_HIDDEN, replace=False))
    draft = Puzzle(
        utilities=table,
        hidden=tuple((int(c) // 3, int(c) % 3) for c in hidden),
        target_values=tuple(int(v) for v in rng.integers(-1, 2, 3)),
        persuader_values=tuple(int(v) for v in rng.integers(-1, 2, 3)),
        goal=0,
        trap=0,
        initial=0,
        winning=(),
        kind=kind,
    )
    liked = tuple(
        sum(v * u for v, u in zip(draft.persuader_values, row, strict=True)) for row in table
    )
    tops = [
        ranking(worth)[0]
        for worth in (liked, values(draft, draft.cells), values(draft, draft.visible))
    ]
    if any(len(top) > 1 for top in tops):
        return None
    return _with_roles(draft, tops[0][0], tops[1][0], tops[2][0])


def _with_roles(draft: Puzzle, goal: int, trap: int, initial: int) -> Puzzle:
    """The draft with its picks, and the smallest winning set where there is one."""
    named = replace(draft, goal=goal, trap=trap, initial=initial)
    sets = winning_sets(named)
    return replace(named, winning=sets[0]) if draft.kind == "can_win" and sets else named


def sample_kind(
    kind: Kind, n: int, seed: int, *, permute_letters: bool = True
) -> tuple[Puzzle, ...]:
    """`n` puzzles of a kind; those other than standard are uniform over all tables that qualify."""
    if kind == "standard":
        return sample(n, seed, permute_letters=permute_letters)
    rng = np.random.default_rng(seed)
    found: list[Puzzle] = []
    while len(found) < n:
        puzzle = _draw(kind, rng)
        if puzzle is None or not holds(puzzle):
            continue
        first = (puzzle.goal, *(p for p in range(PROPOSALS) if p != puzzle.goal))
        found.append(
            puzzle
            if permute_letters
            else relettered(puzzle, tuple(first.index(p) for p in range(PROPOSALS)))
        )
    return tuple(found)


# --- balanced draws -------------------------------------------------------------------------------


def sample_balanced(kind: Literal["never_win", "can_win"], n: int, seed: int) -> tuple[Puzzle, ...]:
    """`n` puzzles of a kind in which telling everything is by turns right and wrong.

    Uniform draws are lopsided: telling everything wins nineteen of twenty can_win puzzles, and
    changes nothing in as many never_win puzzles. Here it loses every other can_win puzzle, and in
    every other never_win puzzle it moves the target away from its first choice.
    """
    drawn = _drawn(kind, np.random.default_rng(seed))
    found: list[Puzzle] = []
    while len(found) < n:
        puzzle = next(drawn)
        if _usual(puzzle) == (len(found) % 2 == 0) and holds(puzzle):
            found.append(puzzle)
    return tuple(found)


def _usual(puzzle: Puzzle) -> bool:
    """Does telling everything win (can_win), or leave the first choice as it is (never_win)?"""
    return puzzle.trap == (puzzle.goal if puzzle.kind == "can_win" else puzzle.initial)


def _drawn(kind: Kind, rng: np.random.Generator) -> Iterator[Puzzle]:
    """Uniform tables with four hidden cells and unique picks that some or no subset wins."""
    at = np.arange(BATCH)
    while True:
        utilities = rng.integers(-1, 2, (BATCH, PROPOSALS, 3))
        cells = np.sort(rng.random((BATCH, 9)).argsort(axis=1)[:, :MOST_HIDDEN], axis=1)
        target, persuader = (rng.integers(-1, 2, (BATCH, 3)) for _ in range(2))
        worth = utilities * target[:, None, :]
        told = np.take_along_axis(worth.reshape(BATCH, 9), cells, axis=1)
        full = worth.sum(axis=2)
        first = full.copy()
        for k in range(MOST_HIDDEN):
            first[at, cells[:, k] // 3] -= told[:, k]
        liked = (utilities * persuader[:, None, :]).sum(axis=2)
        goal, trap, initial = (each.argmax(axis=1) for each in (liked, full, first))
        wins = np.zeros(BATCH, dtype=np.int64)
        for subset in range(SUBSETS):
            seen = first.copy()
            for k in range(MOST_HIDDEN):
                if subset >> k & 1:
                    seen[at, cells[:, k] // 3] += told[:, k]
            wins += _single_best(seen) & (seen.argmax(axis=1) == goal)
        fits = wins == 0 if kind == "never_win" else (wins > 0) & (goal != initial)
        for i in np.flatnonzero(
            fits & _single_best(liked) & _single_best(full) & _single_best(first)
        ):
            draft = Puzzle(
                utilities=tuple(tuple(int(u) for u in row) for row in utilities[i]),
                hidden=tuple((int(c) // 3, int(c) % 3) for c in cells[i]),
                target_values=tuple(int(v) for v in target[i]),
                persuader_values=tuple(int(v) for v in persuader[i]),
                goal=0,
                trap=0,
                initial=0,
                winning=(),
                kind=kind,
            )
            yield _with_roles(draft, int(goal[i]), int(trap[i]), int(initial[i]))


def _single_best(worth: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Of each row: is its largest value there once?"""
    best = worth == worth.max(axis=1, keepdims=True)
    return np.asarray(best.sum(axis=1) == 1)
