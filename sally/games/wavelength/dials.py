"""The dial of a scripted player, which gives every word a position between two poles, and the exact
best clue for a guesser with this dial."""

from __future__ import annotations

from functools import lru_cache

import msgspec
import numpy as np
import numpy.typing as npt

from sally.core.errors import BadInput
from sally.core.rules.chance import Stream
from sally.games.association.lexicon import Rows, place, places, plain
from sally.games.association.matrices import Ties, sense
from sally.games.association.minds import Mind, heard
from sally.games.wavelength.rules import DIAL, Wavelength, legal
from sally.games.wavelength.spectra import spectrum

Floats = npt.NDArray[np.float64]


@lru_cache(maxsize=256)
def places_on(left: str, right: str) -> Floats:
    """Return the position of every word: its rank between the poles, scaled to 0 to 100.

    Ranks make every target reachable: some word is within 1/30 of a point of each target.
    """
    order = np.argsort(_leanings(left, right), kind="stable")
    found = np.empty(len(order))
    found[order] = np.arange(len(order)) * 100 / (len(order) - 1)
    return found


def place_by(ties: Ties, left: str, right: str) -> float:
    """Return the position of a word between two poles, from 0 to 100, given its association
    strengths with the vocabulary."""
    mine = _lean_right(ties[None, :], left, right)[0]
    below = float((_leanings(left, right) < mine).mean())
    return 100 * below


@lru_cache(maxsize=256)
def _leanings(left: str, right: str) -> Floats:
    """Return how much closer every word is to the right pole than to the left."""
    return _lean_right(sense(), left, right)


def _lean_right(ties: Ties, left: str, right: str) -> Floats:
    poles = spectrum(left, right)
    there, here = (
        ties[:, [place(word) for word in near]].mean(axis=1)
        for near in (poles.near_right, poles.near_left)
    )
    nearer: Floats = np.round(there - here, 4).astype(float)
    return nearer


class Dial(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A declared dial: a mapping of words to positions on a spectrum.

    Positions are stretched around 50 by `stretch`, then shifted by `shift` and, on each spectrum,
    by a number from -`lean` to `lean` that is drawn with the seed `who`.
    """

    shift: float = 0.0
    stretch: float = 1.0
    lean: float = 0.0
    who: int = 0

    def __post_init__(self) -> None:
        if not (-100 <= self.shift <= 100 and -5 <= self.stretch <= 5 and 0 <= self.lean <= 50):
            raise BadInput(
                "a dial needs a shift from -100 to 100, a stretch from -5 to 5 "
                "and a lean from 0 to 50"
            )


PLAIN = Dial()


@lru_cache(maxsize=1024)
def reading(dial: Dial, left: str, right: str) -> Floats:
    """Return the position of every vocabulary word on this dial, before rounding."""
    return _transformed(dial, places_on(left, right), left, right)


def set_for(dial: Dial, said: str, left: str, right: str) -> int:
    """Return the position that a guesser with this dial sets for a clue, which need not be in the
    vocabulary."""
    clue = plain(said)
    if clue in places():
        return int(np.rint(reading(dial, left, right)[place(clue)]))
    at = place_by(heard(Mind(), clue), left, right)
    return int(np.rint(_transformed(dial, np.array([at]), left, right)[0]))


def _transformed(dial: Dial, at: Floats, left: str, right: str) -> Floats:
    moved: Floats = 50 + dial.stretch * (at - 50) + dial.shift + lean_on(dial, left, right)
    return np.clip(moved, 0, 100)


def lean_on(dial: Dial, left: str, right: str) -> float:
    """Return this dial's individual shift on one spectrum; swapping the poles flips its sign."""
    first, second = sorted((left, right))
    drawn = (2 * Stream("lean", dial.who, first, second)() - 1) * dial.lean
    return drawn if left == first else -drawn


# --- the psychic's best clue ----------------------------------------------------------------------


@lru_cache(maxsize=1024)
def legal_rows(left: str, right: str) -> Rows:
    """Return the vocabulary indices of the legal clues of a spectrum."""
    return np.array([place(word) for word in legal(left, right)])


@lru_cache(maxsize=4096)
def best_clue(dial: Dial, left: str, right: str, target: int) -> str:
    """Return the word that this dial places nearest to the target; ties go to the first
    alphabetically."""
    rows = legal_rows(left, right)
    away = np.abs(reading(dial, left, right)[rows] - target)
    return legal(left, right)[int(np.argmin(np.round(away, 6)))]


def best_points(game: Wavelength, dial: Dial, left: str, right: str, target: int) -> int:
    """Return the exact maximum points that any vocabulary word earns with this guesser."""
    clue = best_clue(dial, left, right, target)
    return game.points(target, set_for(dial, clue, left, right))


# --- the guesser's best dial ----------------------------------------------------------------------


@lru_cache(maxsize=1024)
def clues_by_target(dial: Dial, left: str, right: str) -> tuple[str, ...]:
    """Return the clue of a psychic with this dial for each target from 0 to 100."""
    return tuple(best_clue(dial, left, right, target) for target in DIAL)


def targets_behind(dial: Dial, left: str, right: str, clue: str) -> tuple[int, ...]:
    """Return the targets for which a psychic with this dial says this clue."""
    return tuple(
        t for t, word in enumerate(clues_by_target(dial, left, right)) if word == plain(clue)
    )


def expected_points(game: Wavelength, targets: tuple[int, ...]) -> Floats:
    """Return the mean points of each dial position over these equally likely targets."""
    worth = np.array([[game.points(t, at) for at in DIAL] for t in targets], dtype=float)
    mean: Floats = worth.mean(axis=0)
    return mean
