"""The width of a game's widest menu, found by exploring the game."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from sally.core.log.seat import NATURE
from sally.core.rules.chance import Stream
from sally.core.rules.menu import is_finite

MOST_STATES = 5000  # explored exhaustively; a larger game is sampled
SAMPLES, MOST_STEPS = 64, 10_000  # random games, and the most steps of each

OVER = object()  # a sentinel, not a state of any game


def widest_menu_of(game: Any) -> int | None:
    """Return the largest number of options a seat can have; None if an option may be a form, which
    stands for many actions.

    The number is exact for a game with few states; for a larger game, it is the width of the widest
    menu in many random games.
    """
    widest = 0
    for state in _states(game):
        for seat in game.to_move(state):
            if seat in game.seats:
                options = game.options(state, seat)
                if not is_finite(options):
                    return None
                widest = max(widest, len(options))
    return widest


def _states(game: Any) -> Iterator[Any]:
    """Yield every reachable state, or the states of random games if there are too many."""
    visited: set[Any] = set()
    ways, looked = [iter([game.start()])], 0
    while ways:
        state = next(ways[-1], OVER)
        if state is OVER:
            ways.pop()
            continue
        looked += 1
        if looked > MOST_STATES:
            yield from _sample_states(game)
            return
        if state not in visited:
            visited.add(state)
            yield state
            if all(is_finite(menu) for menu in _menus(game, state).values()):
                ways.append(_next_states(game, state))


def _menus(game: Any, state: Any) -> dict[Any, Any]:
    """Return the options of each mover; for nature, those with a positive probability."""
    menus = {}
    for seat in game.to_move(state):
        if seat == NATURE:
            menus[seat] = tuple(action for action, p in game.odds(state).items() if p > 0)
        else:
            menus[seat] = game.options(state, seat)
    return menus


def _next_states(game: Any, state: Any) -> Iterator[Any]:
    menus = _menus(game, state)
    if menus:
        for actions in product(*menus.values()):
            yield game.step(state, dict(zip(menus, actions, strict=True)))


def _sample_states(game: Any) -> Iterator[Any]:
    for number in range(SAMPLES):
        draws, state = Stream("widest menu", number), game.start()
        for _ in range(MOST_STEPS):
            yield state
            menus = _menus(game, state)
            if not menus or not all(is_finite(menu) for menu in menus.values()):
                break
            state = game.step(state, {seat: draws.pick(menu) for seat, menu in menus.items()})
