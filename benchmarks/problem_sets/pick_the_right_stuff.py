"""Selection of a small set of games on which rules of thumb score at guess level.

A generator balances games only on average; a set of sixty games would still be biased by chance.
The selection is a local search: it replaces one game at a time by the candidate that lowers the
squared bias most, until no candidate lowers it. Biases are integers (shares times a common
multiple), so the result does not depend on the machine.
"""

from collections.abc import Sequence
from math import lcm
from pathlib import Path
from random import Random

import click
import msgspec
import numpy as np
import numpy.typing as npt

from sally.games.pick_the_right_stuff.frozen import (
    COLLECTIONS,
    SIZES,
    CollectionName,
    FrozenSet,
    generate_games,
)
from sally.games.pick_the_right_stuff.locker import (
    Instance,
    View,
    occupied_in,
    own_looks,
    questions,
)
from sally.games.pick_the_right_stuff.rules_of_thumb import (
    RULES_OF_THUMB,
    RuleOfThumb,
    any_box,
    last_seen,
    random,
    start,
    true,
)
from sally.games.pick_the_right_stuff.tracker import where_user_saw_it_last

GAMES = 60
CANDIDATES = 1000
EVEN_CANDIDATES = 240  # an even generator needs fewer candidates
SEED = 2024
STARTS = 6  # local searches from different random sets; the best result is kept
PATTERNS = 5  # the ways in which start, true and last-seen box can coincide


def most_even(
    games: Sequence[Instance],
    count: int,
    rules: Sequence[RuleOfThumb],
    guess: RuleOfThumb,
    chance: Random,
    *,
    counts: bool = False,
) -> tuple[Instance, ...]:
    """Select the games on which the rules of thumb score closest to a guess.

    A box that several shortcuts name at once should also be right only as often as a guess. With
    `counts`, the shortcuts are also balanced for each number of looks that the waiting user has
    had.
    """
    if len(games) < count:
        raise ValueError(f"{count} games cannot be chosen from {len(games)}.")
    table = np.array([leans(game, rules, guess) for game in games], dtype=np.int64)
    if counts:
        by_looks = np.array([leans_by_looks(game, guess) for game in games], dtype=np.int64)
        table = np.hstack([table, by_looks])
    selections = [_local_search(table, count, chance) for _ in range(STARTS)]
    best = min(selections, key=lambda chosen: _cost(table[chosen].sum(axis=0)))
    return tuple(games[i] for i in sorted(best))


def leans(game: Instance, rules: Sequence[RuleOfThumb], guess: RuleOfThumb) -> list[int]:
    """Return how much more often each rule is right than the random guess `guess`, as scaled
    integers: for each number of items left in the locker, and over the whole game.

    Naming the start box, the true box or the last-seen box is compared with the guess too,
    separately for every pattern in which these boxes coincide (see `coincidence`).
    """
    unit = lcm(*range(1, game.users + 1))
    width = len(rules) + 3 * PATTERNS
    rows = np.zeros((game.users, width), dtype=np.int64)
    for view, believed in questions(game):
        items_left = len(occupied_in(view.states[-1])) - 1
        fair = _share(guess(view), believed, unit)
        rows[items_left, : len(rules)] += [_share(r(view), believed, unit) - fair for r in rules]
        pattern, boxes = coincidence(view)
        for column, box in enumerate(boxes):
            cell = len(rules) + 3 * pattern + column
            rows[items_left, cell] += _share((box,), believed, unit) - fair
    # The sum over the whole game is what a score shows, so it is added to its parts.
    return [int(lean) for lean in np.vstack([rows, rows.sum(axis=0)]).ravel()]


def leans_by_looks(game: Instance, guess: RuleOfThumb) -> list[int]:
    """Return how much more often naming the start box, the true box or the last-seen box is right
    than the random guess `guess`, for each number of looks that the waiting user has had (1, 2, 3,
    4 or more), as scaled integers."""
    unit, n_rows = lcm(*range(1, game.users + 1)), 4
    rows = np.zeros((n_rows, 3), dtype=np.int64)
    for view, believed in questions(game):
        fair = _share(guess(view), believed, unit)
        for column, rule in enumerate((start, true, last_seen)):
            rows[min(len(own_looks(view)), n_rows) - 1, column] += (
                _share(rule(view), believed, unit) - fair
            )
    return [int(lean) for lean in rows.ravel()]


def coincidence(view: View) -> tuple[int, list[int]]:
    """Return the pattern (0 to 4) in which the start, true and last-seen boxes coincide, and the
    distinct boxes."""
    s, t, last = start(view)[0], true(view)[0], last_seen(view)[0]
    patterns = [s == t == last, s == t != last, s == last != t, t == last != s]
    return next((i for i, holds in enumerate(patterns) if holds), 4), [*dict.fromkeys((s, t, last))]


def _share(drawn_from: tuple[int, ...], believed: int, unit: int) -> int:
    return unit // len(drawn_from) if believed in drawn_from else 0


def _cost(total: npt.NDArray[np.int64]) -> int:
    return int((total * total).sum())


def _local_search(table: npt.NDArray[np.int64], count: int, chance: Random) -> list[int]:
    chosen = chance.sample(range(len(table)), count)
    total = table[chosen].sum(axis=0)
    improved = True
    while improved:
        improved = False
        for place in range(count):
            others = table + (total - table[chosen[place]])
            costs = (others * others).sum(axis=1)
            costs[chosen] = np.iinfo(np.int64).max
            best = int(costs.argmin())
            if costs[best] < _cost(total):
                total = others[best]
                chosen[place] = best
                improved = True
    return chosen


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


def _select_games(collection: CollectionName, users: int, seed: int) -> tuple[Instance, ...]:
    """Return the games of a new set: the first ones that the published generator yields, or those
    of many candidates on which rules of thumb score closest to a guess."""
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
