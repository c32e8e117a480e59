"""The sets of puzzles shipped with the package; a set is never edited."""

from functools import cache
from importlib.resources import files
from typing import Literal, get_args

import msgspec

from sally.core.errors import BadInput
from sally.games.mindgames.puzzles import Puzzle

Collection = Literal[
    "standard",
    "variants",
    "always_win",
    "balanced_never_win",
    "balanced_can_win",
]
COLLECTIONS: tuple[Collection, ...] = get_args(Collection)


class Frozen(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One stored set of puzzles: its name, its version, its seed, and its puzzles by number."""

    set: Collection
    version: int
    seed: int
    puzzles: tuple[Puzzle, ...]


@cache
def frozen(collection: Collection) -> Frozen:
    """Return one of the sets of puzzles shipped with the package."""
    source = files(__package__).joinpath("instances", f"{collection}.json")
    return msgspec.json.decode(source.read_bytes(), type=Frozen)


def puzzle(collection: Collection, number: int) -> Puzzle:
    """Return one puzzle of a stored set."""
    puzzles = frozen(collection).puzzles
    if not 0 <= number < len(puzzles):
        raise BadInput(f"The set {collection!r} has puzzles 0 to {len(puzzles) - 1}, not {number}.")
    return puzzles[number]
