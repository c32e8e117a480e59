"""The published generator: the random sequence of scenes of the released engine (tang2024), seeded.

Reset scene: with probability 1/2 a reset happens; then follows, with probability 1/2 each, the
decision scene or the reset scene again. Decision scene: a remaining user, drawn uniformly, wants to
collect or to observe, with probability 1/2 each; an observation succeeds with probability 1/2, and
a failed one is not announced; then follows, with probability 1/2 each, the reset scene or the
decision scene again. A reset is a uniformly drawn cyclic permutation.
"""

from random import Random
from typing import Literal

from sally.games.pick_the_right_stuff.locker import (
    Collection,
    Instance,
    Locker,
    Move,
    Reset,
    Snapshot,
    Visit,
    apply_answer,
    apply_move,
    open_locker,
    remaining,
)

Placement = Literal["own_box", "shuffled"]  # the paper's listings, the released engine
ObservingMode = Literal["zero", "finite"]


def published_games(
    mode: ObservingMode, users: int, count: int, seed: int, placement: Placement = "shuffled"
) -> tuple[Instance, ...]:
    """Generate games in sequence from one random stream, as the released engine does."""
    chance = Random(seed)
    return tuple(
        published_game(f"published-{mode}-{users}-{number:03d}", mode, users, chance, placement)
        for number in range(count)
    )


def published_game(
    name: str, mode: ObservingMode, users: int, chance: Random, placement: Placement = "shuffled"
) -> Instance:
    """Generate one game by alternating random reset and decision scenes until the locker is
    empty."""
    boxes = list(range(users))
    if placement == "shuffled":
        chance.shuffle(boxes)
    blank = Instance(name=name, mode=mode, users=users, placement=tuple(boxes), script=())
    locker, script, resetting = open_locker(blank), list[Move](), True
    while remaining(locker):
        move = _reset_scene(users, chance) if resetting else _decision_scene(locker, chance)
        if move is not None:
            script.append(move)
            locker = apply_move(locker, move)
        if locker.asked is not None:
            locker = apply_answer(locker, None)
        resetting = _coin(chance)
    return Instance(name=name, mode=mode, users=users, placement=tuple(boxes), script=tuple(script))


def random_cycle(boxes: int, chance: Random) -> tuple[int, ...]:
    """Draw a cyclic permutation of all boxes uniformly."""
    around, draw = list(range(boxes)), chance.getrandbits
    for last in range(boxes - 1, 0, -1):  # as `chance.shuffle`, with half as many calls
        bits = (last + 1).bit_length()
        second = draw(bits)
        while second > last:
            second = draw(bits)
        around[last], around[second] = around[second], around[last]
    to, box = [0] * boxes, around[-1]
    for next_box in around:
        to[box] = next_box
        box = next_box
    return tuple(to)


def _reset_scene(users: int, chance: Random) -> Move | None:
    return Reset(random_cycle(users, chance)) if _coin(chance) else None


def _decision_scene(locker: Locker, chance: Random) -> Move | None:
    user = chance.choice(remaining(locker))
    if _coin(chance):
        return Collection(user)
    if not _coin(chance):
        return None
    if locker.mode == "zero":
        return Visit(user)
    now = len(locker.states) - 1
    return Snapshot(user, back=now - chance.randint(locker.seen[user], now) + 1)


def _coin(chance: Random) -> bool:
    return chance.random() < 0.5
