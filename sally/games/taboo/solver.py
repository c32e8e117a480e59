"""The guesses that hints evoke in a mind, and the exact best next hint for that mind."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from sally.games.association.english import vocabulary
from sally.games.association.lexicon import cards, open_rows, place, places, plain
from sally.games.association.matrices import Ties
from sally.games.association.minds import HELD, Mind
from sally.games.association.nouns import brought, columns, noun_ties
from sally.games.taboo.instances import Problem
from sally.games.taboo.rules import Tries, hidden


def strengths(mind: Mind, tries: Tries, hint: str | None = None) -> Ties:
    """Return how strongly all hints of a round together suggest each noun; nouns already named
    are excluded."""
    total: Ties = np.zeros(len(cards()), np.float32)
    for said in (*(each for each, _ in tries), hint):
        if said is not None:
            total = total + brought(mind, said)
    out = [columns()[plain(named)] for _, named in tries if named and plain(named) in columns()]
    total[out] = -np.inf
    return total


def guess(mind: Mind, tries: Tries, hint: str) -> str:
    """Return the noun that the hints suggest most strongly; ties go to the first in the
    alphabet."""
    return cards()[int(np.argmax(strengths(mind, tries, hint)))]


@lru_cache(maxsize=4096)
def best_hint(mind: Mind, problem: Problem, tries: Tries = ()) -> tuple[str, bool]:
    """Return the best next hint for this mind, and whether the mind then names the target.

    Every legal word of the vocabulary is tried, and the widest margin wins. If no hint makes the
    mind name the target, the hint that ranks the target highest is returned.
    """
    margin, found = margins(mind, problem.target, tries)
    free = np.zeros(len(vocabulary()), np.bool_)
    free[open_rows(hidden(problem))] = True
    free[[place(plain(hint)) for hint, _ in tries if hint and plain(hint) in places()]] = False
    order = np.lexsort((-margin, ~found, ~free))
    best = int(order[0])
    return vocabulary()[best], bool(found[best])


def margins(mind: Mind, target: str, tries: Tries) -> tuple[Ties, npt.NDArray[np.bool_]]:
    """Return, for each possible next hint, the target's margin over all other nouns, and whether
    the target is guessed."""
    goal = columns()[target]
    if not tries:
        return _first_margins(mind, goal)
    after = noun_ties(mind) + strengths(mind, tries)
    named = after.argmax(axis=1) == goal
    own = after[:, goal].copy()
    after[:, goal] = -np.inf
    lead: Ties = np.where(np.isfinite(own), own - after.max(axis=1), -np.inf).astype(np.float32)
    return lead, named


def _first_margins(mind: Mind, goal: int) -> tuple[Ties, npt.NDArray[np.bool_]]:
    """Return the result of `margins` for first hints, computed from the two nouns that each hint
    suggests most strongly."""
    first, strongest, second = _two_strongest(mind)
    own, named = noun_ties(mind)[:, goal], first == goal
    rival = np.where(named, second, strongest)
    lead: Ties = np.where(np.isfinite(own), own - rival, -np.inf).astype(np.float32)
    return lead, named


@lru_cache(maxsize=HELD)
def _two_strongest(mind: Mind) -> tuple[npt.NDArray[np.int64], Ties, Ties]:
    """Return, for each word, the noun that it suggests most strongly, and the strengths of its two
    strongest nouns."""
    near = noun_ties(mind).copy()
    rows = np.arange(len(near))
    first = near.argmax(axis=1)
    strongest = near[rows, first]
    near[rows, first] = -np.inf
    return first, strongest, near.max(axis=1)


@lru_cache(maxsize=4096)
def worth(mind: Mind, problem: Problem, tries: Tries, hint: str | None, hints: int) -> int:
    """Return the points of a round if this hint comes next and is followed by greedy best hints:
    each later hint is the best one given the earlier ones.

    If the hint or its best successor finds the word, the result is the most that can follow the
    hint. A smaller result is only the best one found: another hint in between might need fewer.
    """
    while len(tries) < hints:
        named = None if hint is None else guess(mind, tries, hint)
        if named == problem.target:
            return hints - len(tries)
        tries = (*tries, (hint, named))
        hint = best_hint(mind, problem, tries)[0]
    return 0
