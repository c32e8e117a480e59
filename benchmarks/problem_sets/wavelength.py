"""Generator of problem sequences in which neither the next target nor the side of each pole can be
predicted."""

from __future__ import annotations

from sally.core.rules.chance import Stream
from sally.games.association.frozen import Frozen
from sally.games.wavelength.instances import Problem
from sally.games.wavelength.spectra import spectra

SEED = 2026
ROWS, ROUNDS = 100, 10


def make(seed: int = SEED, rows: int = ROWS, rounds: int = ROUNDS) -> Frozen[Problem]:
    """Return problem sequences, one problem per round; the n-th targets of all sequences are spread
    evenly over the dial.

    Which pole is on the left is drawn at random. Nothing is balanced within a sequence, so that the
    last target cannot be derived from the earlier ones.
    """
    targets = [_targets(seed, number, rows) for number in range(rounds)]
    problem_rows = []
    for row in range(rows):
        chosen = Stream(seed, "spectra", row).shuffled(spectra())[:rounds]
        turned = [Stream(seed, "turned", row, number)() < 0.5 for number in range(rounds)]
        poles = [
            (poles.right, poles.left) if turn else (poles.left, poles.right)
            for poles, turn in zip(chosen, turned, strict=True)
        ]
        problem_rows.append(tuple(Problem(*poles[n], targets[n][row]) for n in range(rounds)))
    return Frozen("balanced", 1, seed, tuple(problem_rows))


def _targets(seed: int, number: int, rows: int) -> list[int]:
    """Return one target per problem sequence; the targets are spread evenly over the dial, in
    random order."""
    draws = Stream(seed, "targets", number)
    spread = [int((row + draws()) * 101 / rows) for row in range(rows)]
    return draws.shuffled([min(target, 100) for target in spread])
