"""The sets of puzzles shipped with the package; a set is never edited."""

from functools import cache
from importlib.resources import files
from typing import Literal, get_args

import msgspec

from sally.core.errors import BadInput
from sally.games.mindgames.puzzles import Kind, Puzzle

Collection = Literal[
    "standard",
    "variants",
    "always_win",
    "balanced_never_win",
    "balanced_can_win",
]
COLLECTIONS: tuple[Collection, ...] = get_args(Collection)
SIZES: dict[Collection, int] = {"standard": 40, "variants": 20}  # moore2025, Figure 4 and B.1
OTHERS = 20
SEED = 2025


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


def make(collection: Collection) -> Frozen:
    """Generate a set of puzzles again; the result must equal the stored set.

    The two standard sets use every symmetry class at most once and share no class: the first 40
    classes drawn are `standard`, the next 20 are `variants`.
    """
    from sally.games.mindgames.generators import (  # slow to import; only a new set needs it
        holds,
        sample,
        sample_balanced,
        sample_kind,
    )

    size = SIZES.get(collection, OTHERS)
    if collection in ("standard", "variants"):
        first = 0 if collection == "standard" else SIZES["standard"]
        puzzles = sample(SIZES["standard"] + SIZES["variants"], SEED)[first : first + size]
    else:  # the other sets are named by kind
        kind: Kind = collection.removeprefix("balanced_")  # type: ignore[assignment]
        puzzles = (sample_kind if kind == "always_win" else sample_balanced)(kind, size, SEED)
    if not all(map(holds, puzzles)):
        raise AssertionError(
            f"a puzzle of {collection} lacks the property that its kind guarantees"
        )
    return Frozen(collection, 1, SEED, puzzles)


def set_as_json(frozen_set: Frozen) -> str:
    """Return a set encoded as JSON, one puzzle per line for readable diffs."""
    head = {"set": frozen_set.set, "version": frozen_set.version, "seed": frozen_set.seed}
    lines = ",\n".join(msgspec.json.encode(puzzle).decode() for puzzle in frozen_set.puzzles)
    return f'{msgspec.json.encode(head).decode()[:-1]},"puzzles":[\n{lines}\n]}}\n'
