"""The cards that a clue suggests to a mind, the exact best clue, and the sets of team cards that
are consistent with a clue."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from itertools import combinations

import numpy as np
import numpy.typing as npt

from sally.games.association.lexicon import Rows, open_rows, open_words, place
from sally.games.association.matrices import Ties
from sally.games.association.minds import Mind, clue_strengths, ties
from sally.games.codenames.rules import Clue

Mask = npt.NDArray[np.bool_]


def ranked_cards(mind: Mind, clue: str, covered: tuple[str, ...]) -> tuple[str, ...]:
    """Return the covered cards, most strongly suggested first; ties are in board order."""
    strengths = clue_strengths(mind, clue)[[place(word) for word in covered]]
    return tuple(covered[int(n)] for n in np.argsort(-strengths, kind="stable"))


# --- the giver ------------------------------------------------------------------------------------


@lru_cache(maxsize=512)
def _strengths(mind: Mind, covered: tuple[str, ...]) -> Ties:
    """Return how strongly each legal clue suggests each covered card."""
    cards = np.array([place(word) for word in covered])
    return np.asfortranarray(ties(mind)[np.ix_(open_rows(covered), cards)])  # read by column


@lru_cache(maxsize=4096)
def best_clue(
    mind: Mind, covered: tuple[str, ...], own_words: tuple[str, ...], limit: int = 99
) -> Clue:
    """Return the legal clue for which the most cards of the team rank above all other cards, with
    their number.

    Ties are broken by the margin between the last of these cards and the next card, then
    alphabetically. If no clue suggests a card of the team most strongly, the number given with the
    clue is 1.
    """
    is_own = np.array([word in own_words for word in covered])
    chosen, run = _choose_clue(_strengths(mind, covered), is_own, min(limit, len(own_words)))
    return Clue(open_words(covered)[chosen], max(run, 1))


def _choose_clue(strengths: Ties, is_own: Mask, limit: int) -> tuple[int, int]:
    """Return the index of the clue that a giver chooses, and how many of the team's cards rank
    above all other cards for this clue."""
    runs = np.minimum(_runs(strengths, is_own), limit)
    longest = int(runs.max())
    rows = np.flatnonzero(runs == longest)
    last = max(longest - 1, 0)
    ranked = -np.sort(-strengths[rows], axis=1)
    next_strength = ranked[:, longest] if longest < strengths.shape[1] else ranked[:, last] - 9
    margin = ranked[:, last] - next_strength
    return int(rows[np.argmax(np.round(margin, 4))]), longest


def _runs(strengths: Ties, is_own: Mask) -> Rows:
    """Return, for each clue, how many of the team's cards rank above all other cards.

    Equally strong cards are ranked in board order.
    """
    if is_own.all():
        return np.full(len(strengths), strengths.shape[1])
    others = np.flatnonzero(~is_own)
    first = others[np.argmax(strengths[:, others], axis=1)]  # the first other card, in board order
    bound = strengths[np.arange(len(strengths)), first]
    runs = np.zeros(len(strengths), np.int64)
    for card in np.flatnonzero(is_own):
        strength = strengths[:, card]
        runs += (strength > bound) | ((strength == bound) & (card < first))
    return runs


def clue_value(
    mind: Mind,
    clue: Clue,
    colours: Mapping[str, str],
    covered: tuple[str, ...],
    found_count: int,
) -> float:
    """Return the value of a clue in its turn: the team's cards found minus the cost of a wrong
    card.

    A rival's card costs 1, because it brings the rival closer to winning; the assassin costs all of
    the team's cards found so far.
    """
    value = 0.0
    for word in ranked_cards(mind, clue.word, covered)[: clue.number]:
        if colours[word] != "own":
            return value - {"other": 1.0, "assassin": found_count + value}.get(colours[word], 0.0)
        value += 1
    return value


def best_worth(mind: Mind, colours: Mapping[str, str], covered: tuple[str, ...]) -> float:
    """Return the exact highest value, within the turn, of any clue from the vocabulary for this
    mind."""
    is_own = np.array([colours[word] == "own" for word in covered])
    return float(_runs(_strengths(mind, covered), is_own).max())


# --- the guesser ----------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def own_sets(
    mind: Mind, covered: tuple[str, ...], n_own: int, clue: str, number: int, limit: int
) -> tuple[frozenset[str], ...]:
    """Return the possible sets of the team's own cards: those for which a giver with this mind
    would have given this clue.

    Before the clue, all sets of `n_own` covered cards are equally likely, so the returned sets are
    the exact posterior. The enumeration is feasible for small boards only (792 sets of 5 cards out
    of 12).
    """
    strengths = _strengths(mind, covered)
    words = open_words(covered)
    sets_found = []
    for chosen in combinations(range(len(covered)), n_own):
        is_own = np.zeros(len(covered), np.bool_)
        is_own[list(chosen)] = True
        row, run = _choose_clue(strengths, is_own, min(limit, n_own))
        if words[row] == clue and max(run, 1) == number:
            sets_found.append(frozenset(covered[n] for n in chosen))
    return tuple(sets_found)


def shares(sets: tuple[frozenset[str], ...], covered: tuple[str, ...]) -> dict[str, float]:
    """Return, for each card, the share of equally likely sets that contain it."""
    return {
        word: sum(word in possible_set for possible_set in sets) / len(sets) for word in covered
    }
