"""Where somebody with a dial of his own puts a word, and the exact best clue for him."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from sally.core.errors import BadInput
from sally.core.rules.chance import Stream
from sally.games.association.lexicon import Rows, place, places, plain
from sally.games.association.minds import Mind, heard
from sally.games.wavelength.placing import place_by, places_on
from sally.games.wavelength.rules import DIAL, Wavelength, legal

Floats = npt.NDArray[np.float64]


class Dial(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A way to place words: everything moved by `shift`, drawn together or apart by `stretch`,
    and on each spectrum moved once more, at most by `lean`; `who` says how on which."""

    shift: float = 0.0
    stretch: float = 1.0
    lean: float = 0.0
    who: int = 0

    def __post_init__(self) -> None:
        if not (-100 <= self.shift <= 100 and -5 <= self.stretch <= 5 and 0 <= self.lean <= 50):
            raise BadInput("a dial has a shift within 100, a stretch within 5, a lean up to 50")


PLAIN = Dial()
DIAL_PARAMS: Mapping[str, Any] = {"shift": 0.0, "stretch": 1.0, "lean": 0.0, "who": 0}


def dial_of(params: Mapping[str, Any]) -> Dial:
    """The dial that a partner's parameters declare."""
    try:
        return msgspec.convert({n: params[n] for n in DIAL_PARAMS if n in params}, Dial)
    except msgspec.ValidationError as why:
        raise BadInput(f"A dial cannot be made of {dict(params)}: {why}.") from None


@lru_cache(maxsize=1024)
def reading(dial: Dial, left: str, right: str) -> Floats:
    """Where this dial puts every word of the vocabulary, before it is rounded."""
    return _turned(dial, places_on(left, right), left, right)


def set_for(dial: Dial, said: str, left: str, right: str) -> int:
    """Where this dial is set for a word, on the list or not."""
    clue = plain(said)
    if clue in places():
        return int(np.rint(reading(dial, left, right)[place(clue)]))
    at = place_by(heard(Mind(), clue), left, right)
    return int(np.rint(_turned(dial, np.array([at]), left, right)[0]))


def _turned(dial: Dial, at: Floats, left: str, right: str) -> Floats:
    moved: Floats = 50 + dial.stretch * (at - 50) + dial.shift + lean_on(dial, left, right)
    return np.clip(moved, 0, 100)


def lean_on(dial: Dial, left: str, right: str) -> float:
    """What this dial adds on one spectrum; turning the spectrum round turns the sign."""
    first, second = sorted((left, right))
    drawn = (2 * Stream("lean", dial.who, first, second)() - 1) * dial.lean
    return drawn if left == first else -drawn


# --- the psychic's best clue ----------------------------------------------------------------------


@lru_cache(maxsize=1024)
def legal_rows(left: str, right: str) -> Rows:
    """Where the clues of a spectrum stand in the vocabulary."""
    return np.array([place(word) for word in legal(left, right)])


@lru_cache(maxsize=4096)
def best_clue(dial: Dial, left: str, right: str, target: int) -> str:
    """The word that this dial puts nearest to the target; ties in alphabetical order."""
    rows = legal_rows(left, right)
    away = np.abs(reading(dial, left, right)[rows] - target)
    return legal(left, right)[int(np.argmin(np.round(away, 6)))]


def best_points(game: Wavelength, dial: Dial, left: str, right: str, target: int) -> int:
    """The most points that any word of the list earns with this guesser: exact, by trying all."""
    clue = best_clue(dial, left, right, target)
    return game.points(target, set_for(dial, clue, left, right))


# --- the guesser's best dial ----------------------------------------------------------------------


@lru_cache(maxsize=1024)
def said_for(dial: Dial, left: str, right: str) -> tuple[str, ...]:
    """What a psychic with this dial says for each target from 0 to 100."""
    return tuple(best_clue(dial, left, right, target) for target in DIAL)


def targets_behind(dial: Dial, left: str, right: str, clue: str) -> tuple[int, ...]:
    """The targets for which a psychic with this dial says this clue: the exact posterior."""
    return tuple(t for t, word in enumerate(said_for(dial, left, right)) if word == plain(clue))


def expected_points(game: Wavelength, targets: tuple[int, ...]) -> Floats:
    """By place of the dial, the mean points over equally likely targets."""
    worth = np.array([[game.points(t, at) for at in DIAL] for t in targets], dtype=float)
    mean: Floats = worth.mean(axis=0)
    return mean
