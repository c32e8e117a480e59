"""The sets of games shipped with the package; a set is never edited."""

from importlib.resources import files
from typing import Literal, get_args

import msgspec

from sally.games.pick_the_right_stuff.generate_balanced import balanced_games
from sally.games.pick_the_right_stuff.generate_published import ObservingMode, published_games
from sally.games.pick_the_right_stuff.infinite import infinite_games
from sally.games.pick_the_right_stuff.locker import Instance

CollectionName = Literal[
    "published_zero",
    "published_finite",
    "balanced_zero",
    "balanced_finite",
    # the number of the asker's looks is drawn independently of its belief
    "balanced_2_zero",
    "balanced_2_finite",
    "infinite_2",
]
COLLECTIONS: tuple[CollectionName, ...] = get_args(CollectionName)
SIZES = (3, 5, 8)


class FrozenSet(msgspec.Struct, frozen=True):
    """A stored set of games of one kind with the same number of users, and the seed that generated
    it."""

    collection: CollectionName
    users: int
    seed: int
    games: tuple[Instance, ...]


def frozen_games(collection: CollectionName, users: int) -> tuple[Instance, ...]:
    """Return the sixty stored games of a collection that have this number of users."""
    games_by_users = {frozen_set.users: frozen_set.games for frozen_set in frozen_sets(collection)}
    if users not in games_by_users:
        raise ValueError(
            f"{collection} has sets for {sorted(games_by_users)} users, not for {users}."
        )
    return games_by_users[users]


def frozen_sets(collection: CollectionName) -> tuple[FrozenSet, ...]:
    """Return all stored sets of games in a collection."""
    if collection not in COLLECTIONS:
        raise ValueError(
            f"There is no collection {collection!r}; the collections are {COLLECTIONS}."
        )
    source = files(__package__) / "instances" / f"{collection}.json"
    return msgspec.json.decode(source.read_bytes(), type=tuple[FrozenSet, ...])


def generate_games(
    collection: CollectionName, users: int, count: int, seed: int
) -> tuple[Instance, ...]:
    """Generate games of the kind that a collection contains, from one random stream."""
    if collection == "infinite_2":
        return infinite_games(users, count, seed)
    mode: ObservingMode = "zero" if collection.endswith("zero") else "finite"
    if collection.startswith("published"):
        return published_games(mode, users, count, seed)
    return balanced_games(mode, users, count, seed, counted=collection.startswith("balanced_2"))
