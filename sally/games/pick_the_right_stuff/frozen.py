"""The sets of games shipped with the package; a set is never edited."""

from importlib.resources import files
from pathlib import Path
from random import Random
from typing import Literal, get_args

import click
import msgspec

from sally.games.pick_the_right_stuff.generate_balanced import balanced_games
from sally.games.pick_the_right_stuff.generate_published import ObservingMode, published_games
from sally.games.pick_the_right_stuff.infinite import infinite_games
from sally.games.pick_the_right_stuff.locker import Instance, View
from sally.games.pick_the_right_stuff.rules_of_thumb import RULES_OF_THUMB, any_box, random
from sally.games.pick_the_right_stuff.tracker import where_user_saw_it_last

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
GAMES = 60
CANDIDATES = 1000
EVEN_CANDIDATES = 240  # an even generator needs fewer candidates
SEED = 2024


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


def make(collection: CollectionName, users: int, seed: int = SEED) -> FrozenSet:
    """Generate a set of games; the seed of a stored set reproduces the games of that set."""
    return FrozenSet(collection, users, seed, _select_games(collection, users, seed))


def sets_as_json(sets: tuple[FrozenSet, ...]) -> bytes:
    """Return the sets encoded as JSON, one game per line for readable diffs."""
    lines = [
        b",\n".join(msgspec.json.encode(game) for game in frozen_set.games) for frozen_set in sets
    ]
    heads = [
        msgspec.json.encode({"collection": s.collection, "users": s.users, "seed": s.seed})[:-1]
        for s in sets
    ]
    blocks = [
        head + b',"games":[\n' + body + b"\n]}" for head, body in zip(heads, lines, strict=True)
    ]
    return b"[" + b",\n".join(blocks) + b"]\n"


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


def _select_games(collection: CollectionName, users: int, seed: int) -> tuple[Instance, ...]:
    """Return the games of a new set: the first ones that the published generator yields, or those
    of many candidates on which rules of thumb score closest to a guess."""
    from sally.games.pick_the_right_stuff.selection import (
        most_even,  # slow to import; only a new set needs it
    )

    if collection.startswith("published"):
        return generate_games(collection, users, GAMES, seed)
    n_candidates = EVEN_CANDIDATES if collection == "infinite_2" else CANDIDATES
    games = generate_games(collection, users, n_candidates, seed)
    rules, guess = list(RULES_OF_THUMB.values()), random
    if collection == "infinite_2":
        rules, guess = [*rules, _frozen_belief], any_box
    counts = collection.startswith("balanced_2")
    return most_even(games, GAMES, rules, guess, Random(seed), counts=counts)


def _frozen_belief(view: View) -> tuple[int, ...]:
    return (where_user_saw_it_last(view),)


@click.command()
@click.argument("collection", type=click.Choice(COLLECTIONS))
@click.argument("target", type=click.Path(path_type=Path, dir_okay=False))
def main(collection: CollectionName, target: Path) -> None:
    """Generate a collection and write it to a file."""
    target.write_bytes(sets_as_json(tuple(make(collection, users) for users in SIZES)))


if __name__ == "__main__":
    main()
