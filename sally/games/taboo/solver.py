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
    for hint_word in (*(earlier_hint for earlier_hint, _ in tries), hint):
        if hint_word is not None:
            total = total + brought(mind, hint_word)
    out = [
        columns()[plain(named_word)]
        for _, named_word in tries
        if named_word and plain(named_word) in columns()
    ]
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
    margin, is_named = margins(mind, problem.target, tries)
    free = np.zeros(len(vocabulary()), np.bool_)
    free[open_rows(hidden(problem))] = True
    free[[place(plain(hint)) for hint, _ in tries if hint and plain(hint) in places()]] = False
    order = np.lexsort((-margin, ~is_named, ~free))
    best = int(order[0])
    return vocabulary()[best], bool(is_named[best])


def margins(mind: Mind, target: str, tries: Tries) -> tuple[Ties, npt.NDArray[np.bool_]]:
    """Return, for each possible next hint, the target's margin over all other nouns, and whether
    the target is guessed."""
    goal = columns()[target]
    if not tries:
        return _first_margins(mind, goal)
    total_strengths = noun_ties(mind) + strengths(mind, tries)
    is_named = total_strengths.argmax(axis=1) == goal
    target_strengths = total_strengths[:, goal].copy()
    total_strengths[:, goal] = -np.inf
    lead: Ties = np.where(
        np.isfinite(target_strengths), target_strengths - total_strengths.max(axis=1), -np.inf
    ).astype(np.float32)
    return lead, is_named


def _first_margins(mind: Mind, goal: int) -> tuple[Ties, npt.NDArray[np.bool_]]:
    """Return the result of `margins` for first hints, computed from the two nouns that each hint
    suggests most strongly."""
    first, strongest, second = _two_strongest(mind)
    target_strengths, is_named = noun_ties(mind)[:, goal], first == goal
    rival = np.where(is_named, second, strongest)
    lead: Ties = np.where(np.isfinite(target_strengths), target_strengths - rival, -np.inf).astype(
        np.float32
    )
    return lead, is_named


@lru_cache(maxsize=HELD)
def _two_strongest(mind: Mind) -> tuple[npt.NDArray[np.int64], Ties, Ties]:
    """Return, for each word, the noun that it suggests most strongly, and the strengths of its two
    strongest nouns."""
    strengths_left = noun_ties(mind).copy()
    rows = np.arange(len(strengths_left))
    first = strengths_left.argmax(axis=1)
    strongest = strengths_left[rows, first]
    strengths_left[rows, first] = -np.inf
    return first, strongest, strengths_left.max(axis=1)


@lru_cache(maxsize=4096)
def points_with_hint(
    mind: Mind, problem: Problem, tries: Tries, hint: str | None, hints: int
) -> int:
    """Return the points of a round if this hint comes next and is followed by greedy best hints:
    each later hint is the best one given the earlier ones.

    If the hint or its best successor finds the word, the result is the most that can follow the
    hint. A smaller result is only the best one found: another hint in between might need fewer.
    """
    while len(tries) < hints:
        guessed_word = None if hint is None else guess(mind, tries, hint)
        if guessed_word == problem.target:
            return hints - len(tries)
        tries = (*tries, (hint, guessed_word))
        hint = best_hint(mind, problem, tries)[0]
    return 0
