"""Surface features for attacks, which test whether shallow learners find the answers: where the
item was and when, but not what the waiting user saw.

One question is taken from every game, so that questions are independent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from sally.core.rules.card import Attack, CardQuestion
from sally.games.pick_the_right_stuff.frozen import CollectionName, frozen_games, generate_games
from sally.games.pick_the_right_stuff.locker import (
    Instance,
    Rehearsal,
    View,
    occupied_in,
    own_looks,
    questions,
)
from sally.games.pick_the_right_stuff.rules_of_thumb import last_seen, start, true
from sally.games.pick_the_right_stuff.tracker import last_sight

USERS = 5
PLAIN = (
    "number of the box",
    "claim to be where the item was stored",
    "claim to be where the item is",
    "claim to be where anybody looked last",
    "number of states with the item in it",
    "time since the item was in it",
    "number of states so far",
    "number of items left",
)
COUNT = "number of looks of the asker"
LOOKS = (COUNT, "resets since the asker last looked")
STEPS = (
    "way on from the box the asker saw last",
    "resets since the asker last looked",
    "resets modulo 2",
    "resets modulo the boxes",
    "number of rehearsals of the asker",
    "sum of the rehearsed gaps",
)
BALANCED: tuple[CollectionName, ...] = (
    "balanced_zero",
    "balanced_finite",
    "balanced_2_zero",
    "balanced_2_finite",
)
COUNTS = "superseded by balanced_2: how often a user looked depends on what it believes"
TRACKS = "what the asker has seen is what the game asks for"
Games = Callable[[int, int], Sequence[Instance]]
Seen = Callable[[View, int], tuple[float, ...]]


def plain(view: View, box: int) -> tuple[float, ...]:
    """Return features of a box: when the user's item was in it, whether the item was stored there,
    is there now, or was last seen there by anyone, and how far the game has come.

    When and how often the waiting user looked into the locker is not among the features.
    """
    places = [state.index(view.asked) for state in view.states]
    since = next((n for n, place in enumerate(reversed(places)) if place == box), len(places))
    claims = (float(box in rule(view)) for rule in (start, true, last_seen))
    items_left = len(occupied_in(view.states[-1]))
    return (box, *claims, places.count(box), since, len(places), items_left)


def with_count(view: View, box: int) -> tuple[float, ...]:
    """Return the features of `plain`, plus how often the waiting user looked."""
    return (*plain(view, box), len(own_looks(view)))


def with_looks(view: View, box: int) -> tuple[float, ...]:
    """Return the features of `plain`, plus how often and how long ago the waiting user looked."""
    return (*with_count(view, box), last_sight(view)[1])


def with_steps(view: View, box: int) -> tuple[float, ...]:
    """Return the features of a box in the infinite mode, in which users extrapolate by private
    rules where their items are. The features are those of `plain`, the distance from the box that
    the user saw last, and numbers of resets. The answers that users gave in rehearsals are not
    used."""
    last, gap = last_sight(view)
    resets_shown = [
        e.resets for e in view.story if isinstance(e, Rehearsal) and e.user == view.asked
    ]
    distance = (box - last) % view.users
    return (
        *plain(view, box),
        distance,
        gap,
        gap % 2,
        gap % view.users,
        len(resets_shown),
        sum(resets_shown),
    )


def pose_questions(
    games: Iterable[Instance], features: Seen, every_box: bool
) -> list[CardQuestion]:
    """Return one question of each game, cycling through question numbers."""
    card_questions = []
    for n, game in enumerate(games):
        asked_questions = questions(game)
        view, believed = asked_questions[n % len(asked_questions)]
        boxes = tuple(range(view.users)) if every_box else occupied_in(view.states[-1])
        card_questions.append(
            CardQuestion(tuple(features(view, b) for b in boxes), boxes.index(believed))
        )
    return card_questions


def attacks() -> Iterable[Attack]:
    """Yield attacks on every generator of games: tests of whether shallow learners find the answers
    from surface features.

    For the balanced generators, some attacks also use how often, or how long ago, the waiting user
    looked into the locker.
    """
    leaks = "the authors' generator leans to the stored and the present box; see the card"
    yield _attack("published, zero", "published_zero", PLAIN, plain, known=leaks)
    yield _attack("published, finite", "published_finite", PLAIN, plain, known=leaks)
    for collection in BALANCED:
        name = (
            collection.replace("_", " ").replace(" zero", ", zero").replace(" finite", ", finite")
        )
        known_leak = COUNTS if collection in ("balanced_zero", "balanced_finite") else ""
        yield _attack(name, collection, PLAIN, plain)
        for users in (3, USERS):
            boxes = "" if users == USERS else f", {users} boxes"
            counted = f"{name}, with the number of the asker's looks{boxes}"
            yield _attack(
                counted, collection, (*PLAIN, COUNT), with_count, known=known_leak, users=users
            )
        yield _attack(
            f"{name}, with the asker's looks",
            collection,
            (*PLAIN, *LOOKS),
            with_looks,
            reasoning=TRACKS,
        )
    for users in (3, USERS):
        name = "infinite" if users == USERS else f"infinite, {users} boxes"
        yield _attack(name, "infinite_2", (*PLAIN, *STEPS), with_steps, users=users)


_games = lru_cache(maxsize=4)(generate_games)  # attacked with and without the asker's looks


def _attack(
    name: str,
    collection: CollectionName,
    words: tuple[str, ...],
    features: Seen,
    reasoning: str = "",
    known: str = "",
    users: int = USERS,
) -> Attack:
    # in the others a user may believe in an empty box
    every_box = not collection.startswith("balanced")

    def fresh(n_games: int, seed: int) -> Sequence[CardQuestion]:
        return pose_questions(_games(collection, users, n_games, seed), features, every_box)

    def frozen() -> Sequence[CardQuestion]:
        return pose_questions(frozen_games(collection, users), features, every_box)

    return Attack(name, words, fresh, frozen, reasoning=reasoning, known=known)
