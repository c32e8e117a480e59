"""All worlds consistent with an eavesdropper's information: B's cell, the treasure's cell, and
which object has which landmark name."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import numpy.typing as npt

from sally.core.rules.chance import Stream
from sally.games.toma.sw.rules import (
    CELLS,
    STEPS,
    TARGETS,
    CellOf,
    Guess,
    Radio,
    View,
    cell_after,
    ways,
)

Fits = npt.NDArray[np.bool_]  # by naming, B's cell, the treasure's cell
Naming = dict[str, CellOf]  # heard names with the objects they refer to

ROWS, COLS = (np.array(axis) for axis in zip(*CELLS, strict=True))
APART: Fits = ~np.eye(len(CELLS), dtype=bool)
REACH = np.array(
    [[a == b or any(cell_after(a, w) == b for w in ways(a)) for a in CELLS] for b in CELLS]
)


def namings(view: View) -> list[Naming]:
    """Return all possible assignments of the landmark names heard so far to the objects on the
    map."""
    names = sorted({c.landmark for radio in view.radio for c in radio.reading.landmarks})
    assignments = permutations(view.objects, len(names))
    return [dict(zip(names, cells, strict=True)) for cells in assignments]


def worlds(view: View, wins_on_sight: bool) -> Fits:
    """Return the worlds in which all messages heard are true and every guess was wrong.

    Statements about B count only if B makes them. If no world remains, some statement was false,
    and only C's own guesses and observations count.
    """
    fits = _fitting_worlds(view, wins_on_sight, believing=True)
    return fits if fits.any() else _fitting_worlds(view, wins_on_sight, believing=False)


def _fitting_worlds(view: View, wins_on_sight: bool, believing: bool) -> Fits:
    possible_namings = namings(view)
    guessed = {guess.turn: guess.guess for guess in view.guesses}
    fits = np.broadcast_to(APART, (len(possible_namings), len(CELLS), len(CELLS))).copy()
    for number, radio in enumerate(view.radio, 1):
        if radio.speaker != "B" and radio.kind != "noise":  # B did not speak, so it may have moved
            fits = (REACH.astype(np.int64) @ fits) > 0
        if wins_on_sight:  # the game goes on, so B is not on the treasure
            fits &= APART
        if believing:
            fits &= np.array([_true_in(radio, naming) for naming in possible_namings])
        if (guess := guessed.get(number)) is not None:
            fits &= ~_worlds_with(guess.target, (guess.row, guess.col))
    return fits


def _true_in(radio: Radio, naming: Naming) -> Fits:
    """Return the positions of B and of the treasure for which every claim of a message is true,
    given which object has which name."""
    holds = np.ones((len(CELLS), len(CELLS)), dtype=bool)
    for claim in radio.reading.cells:
        if _counts(claim.about, radio):
            holds &= _worlds_with(claim.about, (claim.row, claim.col))
    for landmark_claim in radio.reading.landmarks:
        if _counts(landmark_claim.about, radio):
            row, col = naming[landmark_claim.landmark]
            holds &= _worlds_with(
                landmark_claim.about, (row + landmark_claim.rows, col + landmark_claim.cols)
            )
    for direction in radio.reading.directions:
        holds &= _way_holds(direction, radio)
    return holds


def _counts(about: str, radio: Radio) -> bool:
    """Return whether a claim is credible; A does not see B, so A's claims about B are not."""
    return about == "TREASURE" or radio.speaker == "B"


def _worlds_with(target: str, cell: CellOf) -> Fits:
    """Return the worlds with B, or the treasure, on this cell."""
    is_cell = np.array([candidate == cell for candidate in CELLS])
    mask = is_cell[:, None] if target == "B" else is_cell[None, :]
    return np.broadcast_to(mask, (len(CELLS), len(CELLS)))


def _way_holds(direction: str, radio: Radio) -> Fits:
    """Return the worlds in which a claimed direction is true.

    If A makes the claim, it means that the treasure lies in that direction from B; if B makes it,
    it means that B can move in that direction.
    """
    rows, cols = STEPS[direction]
    if radio.speaker == "B":
        free = np.array([direction in ways(cell) for cell in CELLS])
        return np.broadcast_to(free[:, None], (len(CELLS), len(CELLS)))
    ahead: Fits = (ROWS - ROWS[:, None]) * rows + (COLS - COLS[:, None]) * cols > 0
    return ahead


def best_guess(view: View, wins_on_sight: bool, draws: Stream) -> Guess:
    """Return the guess (B or the treasure, and a cell) that is right in most worlds; ties are
    broken at random."""
    fits = worlds(view, wins_on_sight)
    votes = np.array([fits.sum(axis=(0, 2)), fits.sum(axis=(0, 1))])  # B, treasure
    target, cell = draws.pick([(int(t), int(c)) for t, c in np.argwhere(votes == votes.max())])
    return Guess(TARGETS[target], *CELLS[cell])
