"""Generator of sequences of problems, with targets that are near in meaning to few, some or many
other words; the words nearest to a target are banned."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from sally.core.rules.chance import Stream
from sally.games.association.frozen import Frozen
from sally.games.association.lexicon import cards, overlaps, place
from sally.games.association.matrices import sense
from sally.games.association.minds import Mind, hubness, rank_vocabulary
from sally.games.taboo.instances import Problem
from sally.games.taboo.solver import best_hint

SEED = 2026
ROWS, ROUNDS, BANNED, LEVELS = 100, 10, 5, 5


def problem_of(target: str) -> Problem:
    """Return a target with its five nearest words banned, in addition to the words that are
    illegal as hints because they resemble it."""
    nearest_words = rank_vocabulary(sense()[place(target)])
    allowed_words = [word for word in nearest_words if not overlaps(word, target)]
    return Problem(target, tuple(allowed_words[:BANNED]))


def levels() -> list[list[str]]:
    """Return the cards in five groups of equal size by hubness (how many words they are near to).

    A card is included only if a guesser who associates by plain meaning can guess it after one
    hint, so that the best first hint is known exactly.
    """
    nearness = hubness()[[place(word) for word in cards()]]
    order = [cards()[int(n)] for n in np.argsort(nearness, kind="stable")]
    solvable = [word for word in order if best_hint(Mind(), problem_of(word))[1]]
    cut = [len(solvable) * n // LEVELS for n in range(LEVELS + 1)]
    return [solvable[start:end] for start, end in pairwise(cut)]


def make(seed: int = SEED, rows: int = ROWS, rounds: int = ROUNDS) -> Frozen[Problem]:
    """Return sequences of problems, each with equally many targets from every group of `levels`, in
    random order."""
    groups, problem_rows = levels(), []
    for row in range(rows):
        draws = Stream(seed, "taboo", row)
        chosen = [w for group in groups for w in draws.shuffled(group)[: rounds // LEVELS]]
        problem_rows.append(tuple(problem_of(word) for word in draws.shuffled(chosen)))
    return Frozen("balanced", 1, seed, tuple(problem_rows))
