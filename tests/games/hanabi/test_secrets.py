"""One test per secret: what differs in X looks the same to Y, in view, page, question and board."""

from __future__ import annotations

import msgspec
import pytest

from sally.core.display.board import board_of
from sally.core.match.seat_context import SeatContext
from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.games.hanabi.rules import Hanabi
from sally.games.hanabi.state import State
from tests.games.hanabi.sitting import VARIANTS, random_states


def render_page(game: Hanabi, state: State, seat: Seat) -> tuple[object, ...]:
    """All that reaches a seat: its view, its page, every question, and the board."""
    spec = registry.game("hanabi")
    context, view = SeatContext(spec, game, seat, 1), game.observe(state, seat)
    me = game.seats.index(seat)
    options = game.legal(state, me)
    page = str(context.opening(view, "agent_first"))
    asks = [q for probe in spec.probes for q in probe.asks(game, view, seat)]
    replies = [context.words.aside(q, view) + context.words.aside_format(q) for q in asks]
    now = (context.words.now(view), context.words.drawn(view), context.words.format(view, options))
    return view, options, page, replies, now, msgspec.json.encode(board_of(context, view))


def with_deck(state: State, deck: tuple[int, ...]) -> State:
    hands = tuple(tuple(deck[id] for id in own) for own in state.ids)
    return msgspec.structs.replace(state, deck=deck, hands=hands)


@pytest.mark.parametrize("players", [2, 4])
def test_own_hand_is_hidden_from_its_seat(players: int) -> None:
    game = Hanabi(players=players)
    for deal in range(3):
        for state in list(random_states(game, deal))[:-1]:
            for me, seat in enumerate(game.seats):
                deck = list(state.deck)  # my cards trade places with those at the end of the deck
                for n, id in enumerate(state.ids[me]):
                    deck[id], deck[-1 - n] = deck[-1 - n], deck[id]
                other_state = with_deck(state, tuple(deck))
                if state.drawn + len(state.ids[me]) > len(deck) or other_state == state:
                    continue
                assert render_page(game, state, seat) == render_page(game, other_state, seat)


@pytest.mark.parametrize("variant", sorted(VARIANTS))
def test_deck_order_is_hidden_from_all_seats(variant: str) -> None:
    game = Hanabi(**VARIANTS[variant])
    for deal in range(3):
        for state in list(random_states(game, deal))[:-1]:
            other_deck = state.deck[state.drawn :]
            other_state = with_deck(state, (*state.deck[: state.drawn], *reversed(other_deck)))
            for seat in game.seats:
                assert render_page(game, state, seat) == render_page(game, other_state, seat)


def test_hands_of_other_seats_are_visible() -> None:
    """The tests above can fail: what is public or in sight does show."""
    game = Hanabi()
    state = next(random_states(game, 1))
    swapped = with_deck(state, (*state.deck[5:10], *state.deck[:5], *state.deck[10:]))
    assert render_page(game, state, game.seats[0]) != render_page(game, swapped, game.seats[0])


def test_deal_number_is_hidden_from_all_seats() -> None:
    game = Hanabi()
    for seat in game.seats:
        first, second = (game.step(game.start(), {game.helpers[0]: n}) for n in (1, 2))
        assert game.observe(first, seat) == game.observe(second, seat)
