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
from sally.games.association.minds import Mind, clue_strengths
from sally.games.wavelength.rules import DIAL, Wavelength, legal
from sally.games.wavelength.spectra import spectrum

Floats = npt.NDArray[np.float64]


@lru_cache(maxsize=256)
def places_on(left_pole: str, right_pole: str) -> Floats:
    """Return the position of every word: its rank between the poles, scaled to 0 to 100.

    Ranks make every target reachable: some word is within 1/30 of a point of each target.
    """
    order = np.argsort(_leanings(left_pole, right_pole), kind="stable")
    positions = np.empty(len(order))
    positions[order] = np.arange(len(order)) * 100 / (len(order) - 1)
    return positions


def place_by(ties: Ties, left_pole: str, right_pole: str) -> float:
    """Return the position of a word between two poles, from 0 to 100, given its association
    strengths with the vocabulary."""
    own_lean = _lean_right(ties[None, :], left_pole, right_pole)[0]
    below = float((_leanings(left_pole, right_pole) < own_lean).mean())
    return 100 * below


@lru_cache(maxsize=256)
def _leanings(left_pole: str, right_pole: str) -> Floats:
    """Return how much closer every word is to the right pole than to the left."""
    return _lean_right(sense(), left_pole, right_pole)


def _lean_right(ties: Ties, left_pole: str, right_pole: str) -> Floats:
    poles = spectrum(left_pole, right_pole)
    right_ties, left_ties = (
        ties[:, [place(word) for word in pole_words]].mean(axis=1)
        for pole_words in (poles.near_right, poles.near_left)
    )
    nearer: Floats = np.round(right_ties - left_ties, 4).astype(float)
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
def reading(dial: Dial, left_pole: str, right_pole: str) -> Floats:
    """Return the position of every vocabulary word on this dial, before rounding."""
    return _move_positions(dial, places_on(left_pole, right_pole), left_pole, right_pole)


def set_for(dial: Dial, clue_text: str, left_pole: str, right_pole: str) -> int:
    """Return the position that a guesser with this dial sets for a clue, which need not be in the
    vocabulary."""
    clue = plain(clue_text)
    if clue in places():
        return int(np.rint(reading(dial, left_pole, right_pole)[place(clue)]))
    position = place_by(clue_strengths(Mind(), clue), left_pole, right_pole)
    return int(np.rint(_move_positions(dial, np.array([position]), left_pole, right_pole)[0]))


def _move_positions(dial: Dial, positions: Floats, left_pole: str, right_pole: str) -> Floats:
    moved: Floats = (
        50 + dial.stretch * (positions - 50) + dial.shift + lean_on(dial, left_pole, right_pole)
    )
    return np.clip(moved, 0, 100)


def lean_on(dial: Dial, left_pole: str, right_pole: str) -> float:
    """Return this dial's individual shift on one spectrum; swapping the poles flips its sign."""
    first, second = sorted((left_pole, right_pole))
    lean = (2 * Stream("lean", dial.who, first, second)() - 1) * dial.lean
    return lean if left_pole == first else -lean


# --- the psychic's best clue ----------------------------------------------------------------------


@lru_cache(maxsize=1024)
def legal_rows(left_pole: str, right_pole: str) -> Rows:
    """Return the vocabulary indices of the legal clues of a spectrum."""
    return np.array([place(word) for word in legal(left_pole, right_pole)])


@lru_cache(maxsize=4096)
def best_clue(dial: Dial, left_pole: str, right_pole: str, target: int) -> str:
    """Return the word that this dial places nearest to the target; ties go to the first
    alphabetically."""
    rows = legal_rows(left_pole, right_pole)
    away = np.abs(reading(dial, left_pole, right_pole)[rows] - target)
    return legal(left_pole, right_pole)[int(np.argmin(np.round(away, 6)))]


def best_points(game: Wavelength, dial: Dial, left_pole: str, right_pole: str, target: int) -> int:
    """Return the exact maximum points that any vocabulary word earns with this guesser."""
    clue = best_clue(dial, left_pole, right_pole, target)
    return game.points(target, set_for(dial, clue, left_pole, right_pole))


# --- the guesser's best dial ----------------------------------------------------------------------


@lru_cache(maxsize=1024)
def clues_by_target(dial: Dial, left_pole: str, right_pole: str) -> tuple[str, ...]:
    """Return the clue of a psychic with this dial for each target from 0 to 100."""
    return tuple(best_clue(dial, left_pole, right_pole, target) for target in DIAL)


def targets_behind(dial: Dial, left_pole: str, right_pole: str, clue: str) -> tuple[int, ...]:
    """Return the targets for which a psychic with this dial says this clue."""
    return tuple(
        t
        for t, word in enumerate(clues_by_target(dial, left_pole, right_pole))
        if word == plain(clue)
    )


def expected_points(game: Wavelength, targets: tuple[int, ...]) -> Floats:
    """Return the mean points of each dial position over these equally likely targets."""
    points_by_target = np.array(
        [[game.points(t, position) for position in DIAL] for t in targets], dtype=float
    )
    mean: Floats = points_by_target.mean(axis=0)
    return mean
