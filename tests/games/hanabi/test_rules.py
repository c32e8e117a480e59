"""Hanabi by the rules."""

from __future__ import annotations

import pytest

from sally.core.errors import BadInput
from sally.core.rules.game import NATURE
from sally.games.hanabi.rules import SEATS, Hanabi
from sally.games.hanabi.state import Discarded, Hinted, Passed, Played, shuffle_cards
from tests.games.hanabi.sitting import VARIANTS, deck_of, played, random_states

ANN, BOB = SEATS[:2]
HANDS = ("r1", "r1", "r2", "y5", "g5", "y1", "y2", "r3", "r4", "b1")  # ann's five, then bob's
GAME = Hanabi(score="kept")
DEALT = GAME.dealt(deck_of(GAME, *HANDS, "w1", "w2", "w3"))
PLAY = GAME.play


def discard(slot: int) -> int:
    return slot


def red() -> int:
    return GAME.hint(1, 0)


def rank(number: int) -> int:
    return GAME.hint(1, GAME.colours + number - 1)


def test_deck_sizes_of_all_variants() -> None:
    sizes = {name: len(Hanabi(**params).cards) for name, params in VARIANTS.items()}
    assert sizes == {"hanabi": 50, "mini": 18, "small": 20, "very_small": 10}


def test_hands_are_five_for_two_or_three_and_four_for_more() -> None:
    assert [Hanabi(players=n).hand_size for n in (2, 3, 4, 5)] == [5, 5, 4, 4]


def test_playable_card_goes_onto_its_pile_and_hand_closes_up() -> None:
    state_after = played(GAME, DEALT, PLAY(0))
    assert state_after.piles == (1, 0, 0, 0, 0)
    assert state_after.ids[0] == (1, 2, 3, 4, 10)
    assert state_after.past.last == Played(0, 0, 0, DEALT.hands[0][0], True, 10)
    assert (state_after.lives, state_after.tokens) == (3, 8)


def test_unplayable_card_costs_a_life_and_is_discarded() -> None:
    state_after = played(GAME, DEALT, PLAY(2))
    assert (state_after.lives, sum(state_after.piles), sum(state_after.gone)) == (2, 0, 1)
    assert state_after.gone[DEALT.hands[0][2]] == 1


def test_discard_needs_a_spent_token_and_hint_needs_a_token() -> None:
    assert not any(discard(slot) in GAME.options(DEALT, ANN) for slot in range(5))
    few = Hanabi(hints=1)
    state = played(few, few.dealt(DEALT.deck), few.hint(1, 1))
    assert max(few.options(state, BOB)) < 2 * few.hand_size
    assert discard(0) in few.options(state, BOB)


def test_hint_must_touch_a_card() -> None:
    bob_lacks_green = GAME.hint(1, 2)
    assert bob_lacks_green not in GAME.options(DEALT, ANN)
    assert red() in GAME.options(DEALT, ANN)


def test_hint_marks_matching_cards_and_excludes_the_value_on_others() -> None:
    state_after = played(GAME, DEALT, red())
    assert state_after.past.last == Hinted(0, 1, 0, (2, 3))
    assert state_after.tokens == 7
    colours = [mark & 0b11111 for mark in state_after.marks[1]]
    assert colours == [0b11110, 0b11110, 0b00001, 0b00001, 0b11110]
    assert state_after.marks[0] == DEALT.marks[0]


def test_discard_restores_a_token() -> None:
    state_after = played(GAME, DEALT, red(), discard(4))
    assert state_after.tokens == 8
    assert state_after.past.last == Discarded(1, 4, 9, DEALT.hands[1][4], 10)


def test_completed_pile_restores_a_token_up_to_the_maximum() -> None:
    game = Hanabi(colours=1, ranks=2, hand=1, hints=2)
    deck = deck_of(game, "r1", "r2")
    spent = played(game, game.dealt(deck), game.play(0), game.play(0))
    assert spent.tokens == 2
    state = played(game, game.dealt(deck), game.hint(1, 0), game.hint(1, 0), game.play(0))
    assert (state.tokens, played(game, state, game.play(0)).tokens) == (0, 1)


def test_game_ends_with_the_third_life_and_the_two_conventions_differ() -> None:
    lost_state = played(GAME, DEALT, PLAY(0), PLAY(2), PLAY(0), PLAY(2))
    assert (lost_state.lives, sum(lost_state.piles)) == (0, 1)
    assert GAME.to_move(lost_state) == ()
    assert GAME.payoffs(lost_state) == {ANN: 1.0, BOB: 1.0}
    assert Hanabi(score="zero").payoffs(lost_state) == {ANN: 0.0, BOB: 0.0}


def test_each_seat_has_one_more_turn_after_the_last_draw() -> None:
    game = Hanabi(colours=1, ranks=5, hand=4, hints=8, lives=3)
    state = played(game, game.dealt(deck_of(game, "r1", "r2", "r1", "r1")), game.play(0))
    assert state.drawn == 9
    state = played(game, state, game.play(0))
    assert state.drawn == 10
    for left in (2, 1):
        assert state.last == left
        (seat,) = game.to_move(state)
        state = game.step(state, {seat: game.hint(1, game.colours + _rank_ahead(game, state))})
    assert game.to_move(state) == ()


def _rank_ahead(game: Hanabi, state: object) -> int:
    hands, mover = state.hands, state.mover  # type: ignore[attr-defined]
    return int(hands[(mover + 1) % 2][0] % game.ranks)


def test_perfect_game_ends_at_once() -> None:
    game = Hanabi(colours=1, ranks=2, hand=1, hints=2)
    done = played(game, game.dealt(deck_of(game, "r1", "r2")), game.play(0), game.play(0))
    assert game.to_move(done) == ()
    assert game.payoffs(done) == {ANN: 2.0, BOB: 2.0}


def test_forfeited_turn_passes_and_three_in_a_row_end_without_a_result() -> None:
    state = DEALT
    for passed in range(3):
        assert GAME.censored(state) is None
        (seat,) = GAME.to_move(state)
        state = GAME.forfeit(state, {}, (seat,))
        assert state.past.last == Passed(passed % 2)
    assert (state.hands, state.tokens, state.mover) == (DEALT.hands, 8, 1)
    assert GAME.censored(state) == "3 turns in a row were forfeited"


def test_nature_names_a_deal_by_four_numbers() -> None:
    game = Hanabi()
    state = game.start()
    for digit in (12, 34, 56, 78):
        assert game.to_move(state) == (NATURE,)
        state = game.step(state, {NATURE: digit})
    assert state == Hanabi(deal=12345678).start()
    assert game.to_move(state) == (ANN,)


def test_deal_is_the_same_on_every_machine() -> None:
    cards = Hanabi(**VARIANTS["very_small"]).cards
    assert shuffle_cards(cards, 0) == FIRST_DEAL
    assert len({shuffle_cards(cards, deal) for deal in range(500)}) > 490


FIRST_DEAL = (0, 2, 3, 0, 4, 1, 3, 1, 0, 2)


def test_shuffles_place_every_card_uniformly() -> None:
    cards = tuple(range(5))
    counts = [[0] * 5 for _ in cards]
    for deal in range(5_000):
        for place, card in enumerate(shuffle_cards(cards, deal)):
            counts[place][card] += 1
    assert all(900 < n < 1_100 for row in counts for n in row)


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_no_card_is_lost_or_duplicated(players: int) -> None:
    game = Hanabi(players=players)
    for deal in range(20):
        for state in random_states(game, deal):
            on_piles = [c * 5 + r for c, h in enumerate(state.piles) for r in range(h)]
            gone = [card for card, n in enumerate(state.gone) for _ in range(n)]
            cards = [card for hand in state.hands for card in hand]
            other_deck = state.deck[state.drawn :]
            assert tuple(sorted((*on_piles, *gone, *cards, *other_deck))) == game.cards
            assert all(
                game.allows(m, c)
                for row, own_hand in zip(state.marks, state.hands, strict=True)
                for m, c in zip(row, own_hand, strict=True)
            )


def test_hints_are_encoded_as_distinct_numbers() -> None:
    game = Hanabi(players=4)
    for ahead in (1, 2, 3):
        for value in range(10):
            assert game.hint_of(game.hint(ahead, value)) == (ahead, value)
    assert len({game.hint(a, v) for a in (1, 2, 3) for v in range(10)}) == 30
    assert game.widest_menu() == 38


def test_action_can_be_recovered_from_its_event() -> None:
    game = Hanabi(players=3)
    for deal in range(10):
        state = game.dealt(shuffle_cards(game.cards, deal))
        for state_after in list(random_states(game, deal))[1:]:
            event = state_after.past.last
            assert event is not None
            action = game.action_of(event)
            assert action is not None
            state = game.step(state, {game.seats[state.mover]: action})
            assert state == state_after


@pytest.mark.parametrize(
    ("params", "why"),
    [
        ({"players": 6}, "players must be from 2 to 5, not 6"),
        ({"colours": 0}, "colours must be from 1 to 5, not 0"),
        ({"ranks": 1}, "ranks must be from 2 to 5, not 1"),
        ({"copies": (3, 2)}, "copies must be 5 numbers of at least 1, one for each rank"),
        ({"colours": 1, "hand": 6}, "2 hands of 6 need more than the 10 cards"),
        ({"deal": -1}, "deal must be from 0 to 99999999, not -1"),
        ({"deck": (0, 1)}, "deck must hold all 50 cards of the game, and no others"),
        ({"deal": 1, "deck": (0,)}, "deal and deck cannot both be given"),
    ],
)
def test_invalid_parameters_are_refused_with_one_message(
    params: dict[str, object], why: str
) -> None:
    with pytest.raises(BadInput) as refused:
        Hanabi(**params)  # type: ignore[arg-type]
    assert why in str(refused.value)


def test_parameter_allows_discard_with_all_tokens_without_gain() -> None:
    free = Hanabi(score="kept", discard_at_full=True)
    state = free.dealt(DEALT.deck)
    assert all(discard(slot) in free.options(state, ANN) for slot in range(5))
    state_after = played(free, state, discard(1))
    assert state_after.tokens == free.hints and sum(state_after.gone) == 1
    assert played(free, state_after, discard(0)).tokens == free.hints
