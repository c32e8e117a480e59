"""Ways to play Hanabi in tests without a match."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from sally.core.rules.chance import Stream
from sally.games.hanabi.rules import Hanabi
from sally.games.hanabi.state import Policy, State, shuffle_cards

VARIANTS: dict[str, dict[str, Any]] = {
    "hanabi": {},
    "mini": {"colours": 3, "ranks": 3, "hand": 3, "hints": 5},
    "small": {"colours": 2, "hand": 2, "hints": 3, "lives": 1},
    "very_small": {"colours": 1, "hand": 2, "hints": 3, "lives": 1},
}


def deck_of(game: Hanabi, *first: str) -> tuple[int, ...]:
    """A deck that begins with these cards (`r1` is the lowest of colour 0); the rest is sorted."""
    cards = [card_of(game, name) for name in first]
    other_cards = list(game.cards)
    for card in cards:
        other_cards.remove(card)
    return (*cards, *other_cards)


def card_of(game: Hanabi, name: str) -> int:
    return "rygwb".index(name[0]) * game.ranks + int(name[1]) - 1


def played(game: Hanabi, state: State, *actions: int) -> State:
    """The state after these actions, by whoever is to move."""
    for action in actions:
        (seat,) = game.to_move(state)
        assert action in game.options(state, seat)
        state = game.step(state, {seat: action})
    return state


def random_states(game: Hanabi, deal: int) -> Iterator[State]:
    """The states of a game of random legal moves."""
    draws = Stream("random states", deal)
    state = game.dealt(shuffle_cards(game.cards, deal))
    yield state
    while not game.is_over(state):
        (seat,) = game.to_move(state)
        state = game.step(state, {seat: draws.pick(game.options(state, seat))})
        yield state


def bot_states(game: Hanabi, make: Callable[[Hanabi], Policy], deal: int) -> Iterator[State]:
    """The states of a game that a bot plays with itself."""
    draws = Stream("bot states", deal)
    policy = make(game)
    state = game.dealt(shuffle_cards(game.cards, deal))
    yield state
    while not game.is_over(state):
        (seat,) = game.to_move(state)
        action = draws.draw(policy(game.observe(state, seat)))
        assert action in game.options(state, seat)
        state = game.step(state, {seat: action})
        yield state


def final_score(game: Hanabi, make: Callable[[Hanabi], Policy], deal: int) -> int:
    """What a bot scores with itself, the piles counted whatever happened."""
    *_, end = bot_states(game, make, deal)
    return sum(end.piles)
