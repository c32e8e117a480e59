"""Splits of a game's problems: the game's own if it declares one, else a split by seed."""

from __future__ import annotations

from contextlib import suppress
from functools import lru_cache

from sally.core.errors import BadInput, unknown
from sally.core.log.events import Instance, PlayerSpec
from sally.core.registry import registry
from sally.core.rules.chance import Stream, derived_seed
from sally.core.rules.game import NATURE, Game, GameSpec, Seat
from sally.parts.training import PARTS, Split, Task, Training, check_split
from sally.runner.seating import seat_player


def split_of(game: str, split: Split | None = None, seat: str = "") -> Split:
    """Return the split to train on, after checking it: the given split, the game's own, or a split
    by seed."""
    if split is None:
        return _game_split(game, seat)
    room: Training | None = registry.part(game, "training")
    for tasks in split.parts.values():
        for task in tasks:
            _check_seat(game, task.seat)
            if task.instance.game != game:
                raise BadInput(
                    f"The split {split.name} has a problem of {task.instance.game}, not of {game}."
                )
    check_split(split, room.alike if room else None)
    return split


@lru_cache(maxsize=64)
def _game_split(game: str, seat: str) -> Split:
    spec = registry.game(game)
    room: Training | None = registry.part(game, "training")
    declared = room.split(game) if room else None
    if declared is None:
        return by_chance(game, seat)
    if seat and seat not in {task.seat for tasks in declared.parts.values() for task in tasks}:
        _check_seat(game, seat)
        raise BadInput(
            f"The built-in split of {spec.name} trains a seat other than {seat!r}; give a split of "
            "your own."
        )
    check_split(declared, room.alike if room else None)
    return declared


def drawn_task(split: Split, part: str, seed: int) -> tuple[Task, int]:
    """Return a task of a part of the split, drawn by the seed, and the seed of its episode."""
    task = Stream(seed, split.name, part, "task").pick(split.part(part))
    return task, derived_seed(split.name, part, seed)


def by_chance(game: str, seat: str = "") -> Split:
    """Return a split of one problem into parts with disjoint sets of seeds.

    Only a game with chance moves can be split this way; otherwise all parts would be the same
    problem.
    """
    spec = registry.game(game)
    rules = spec.build()
    if NATURE not in rules.helpers:
        raise BadInput(f"{game} declares no split of its problems; give TextEnv one (`split=`).")
    learner = seat or str(rules.seats[0])
    _check_seat(game, learner)
    others = {str(s): usual_player(spec, rules, s) for s in rules.seats if s != learner}
    parts = {part: (Task(Instance(f"{game}_{part}", game, {}), learner, others),) for part in PARTS}
    return Split(game, "one problem; the parts differ only in their seeds", parts)


def usual_player(spec: GameSpec, rules: Game, seat: Seat) -> PlayerSpec:
    """Return the usual player of a seat, else the reference player, else the random player."""
    for name in filter(None, (spec.usual, spec.measured.reference)):
        with suppress(BadInput):
            seat_player(spec, rules, seat, PlayerSpec(name))
            return PlayerSpec(name)
    return PlayerSpec("random")


def _check_seat(game: str, seat: str) -> None:
    seats = registry.game(game).build().seats
    if seat not in seats:
        raise unknown(f"seat of {game}", seat, seats)
