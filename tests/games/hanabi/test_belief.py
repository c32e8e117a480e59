"""What a seat can know of its own hand, against going through every deal."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import permutations

import pytest

from sally.core.rules.chance import Stream
from sally.games.hanabi.belief import (
    Hidden,
    count_own_hand,
    counted_by,
    hidden,
    likelihoods,
    past_views,
    playable_chance,
    read,
    unseen,
)
from sally.games.hanabi.bots import BOTS
from sally.games.hanabi.bots.simple import simple
from sally.games.hanabi.rules import SEATS, Hanabi
from tests.games.hanabi.sitting import VARIANTS, bot_states, deck_of, played, random_states

SMALL = Hanabi(**VARIANTS["small"])
MINI = Hanabi(**VARIANTS["mini"])


def brute_force(hand: Hidden) -> dict[tuple[int, ...], int]:
    """Every way to draw single cards into the slots, one by one."""
    cards = [card for card, n in enumerate(hand.left) for _ in range(n)]
    ways: Counter[tuple[int, ...]] = Counter()
    for order in permutations(cards, len(hand.marks)):
        if all(hand.game.allows(m, c) for m, c in zip(hand.marks, order, strict=True)):
            ways[order] += 1
    return dict(ways)


@pytest.mark.parametrize("name", ["mini", "small", "very_small"])
def test_posterior_equals_enumeration_of_every_hand(name: str) -> None:
    game = Hanabi(**VARIANTS[name])
    for deal in range(12):
        for state in list(random_states(game, deal))[2::3]:
            for seat in game.seats:
                own_hidden = hidden(game, game.observe(state, seat))
                ways = brute_force(own_hidden)
                assert dict(own_hidden.hands()) == ways
                assert own_hidden.total == sum(ways.values())
                for slot in range(len(own_hidden.marks)):
                    for card in range(game.highest):
                        weight = sum(w for hand, w in ways.items() if hand[slot] == card)
                        assert own_hidden.posterior.weights[slot][card] == weight
                        assert (card in own_hidden.cards(slot)) == (weight > 0)


def test_slots_are_not_independent() -> None:
    """Slot 0 is a or b, slot 1 is a, and there is one of each: slot 0 must be b."""
    game = Hanabi(colours=1, ranks=2, hand=2, copies=(2, 2))
    left = (1, 1)
    own_hidden = Hidden(game, (0b111, 0b011), left)
    known_posterior = own_hidden.posterior
    assert own_hidden.cards(0) == {1} and own_hidden.cards(1) == {0}
    assert known_posterior.chance(0, 1) == 1
    assert known_posterior.chance(1, 0) == 1


@pytest.mark.parametrize("players", [2, 5])
def test_odds_of_a_slot_sum_to_one_and_the_true_card_is_possible(players: int) -> None:
    game = Hanabi(players=players)
    for deal in range(5):
        for state in random_states(game, deal):
            for number, seat in enumerate(game.seats):
                known_posterior = count_own_hand(game, game.observe(state, seat))
                assert known_posterior == counted_by(game, state, number)
                own_hidden = hidden(game, game.observe(state, seat))
                for slot, card in enumerate(state.hands[number]):
                    possible = {
                        n for n, weight in enumerate(known_posterior.weights[slot]) if weight
                    }
                    assert own_hidden.cards(slot) == possible
                    assert sum(known_posterior.weights[slot]) == known_posterior.total
                    assert known_posterior.weights[slot][card] > 0


def test_seat_counts_the_cards_it_sees() -> None:
    game = Hanabi(colours=1, hand=2, hints=3, lives=1)
    state = game.dealt(deck_of(game, "r5", "r1", "r1", "r1"))
    assert unseen(game, state, 0) == (1, 2, 2, 2, 1)
    # bob tells ann: slot 1 is a one
    told_state = played(game, state, game.hint(1, 1), game.hint(1, 1))
    known_posterior = count_own_hand(game, game.observe(told_state, SEATS[0]))
    assert known_posterior.chance(1, 0) == 1
    assert known_posterior.chance(0, 0) == 0
    assert known_posterior.chance(0, 4) == Fraction(1, 7)
    assert playable_chance(game, game.observe(told_state, SEATS[0]), known_posterior, 1) == 1


def test_sampled_hands_match_the_posterior() -> None:
    for deal in (1, 2, 3):
        state = list(random_states(MINI, deal))[3]
        own_hidden = hidden(MINI, MINI.observe(state, MINI.seats[state.mover]))
        draws = Stream("hands", deal)
        counts = Counter(own_hidden.draw(draws) for _ in range(4_000))
        ways = dict(own_hidden.hands())
        assert set(counts) <= set(ways)
        for slot in range(len(own_hidden.marks)):
            for card in range(MINI.highest):
                share = sum(n for hand, n in counts.items() if hand[slot] == card) / 4_000
                assert abs(share - own_hidden.posterior.chance(slot, card)) < 0.04


# --- reading the other's moves ------------------------------------------------------------------


def test_past_views_with_true_hand_equal_views_of_the_other_seat() -> None:
    for deal in range(5):
        states = list(random_states(SMALL, deal))[:-1]
        state = states[-1]
        for me, seat in enumerate(SMALL.seats):
            view = SMALL.observe(state, seat)
            triples = list(past_views(SMALL, view, state.hands[me]))
            their_states = [s for s in states[:-1] if s.mover != me]
            assert [v for _, v, _ in triples] == [
                SMALL.observe(s, SMALL.seats[s.mover]) for s in their_states
            ]


def test_moves_of_declared_partner_sharpen_the_posterior() -> None:
    """SimpleBot hints only at playable cards, so whoever knows that knows what was meant."""
    sharper = 0
    for deal in range(6):
        for state in list(bot_states(MINI, simple, deal))[1:-1]:
            me = state.mover
            view = MINI.observe(state, MINI.seats[me])
            by_counting = count_own_hand(MINI, view)
            by_reading = read(MINI, view, {1 - me: simple(MINI)})
            assert by_reading is not None
            assert by_reading.exact
            for slot, card in enumerate(state.hands[me]):
                assert sum(by_reading.odds[slot]) == pytest.approx(1)
                assert by_reading.odds[slot][card] > 0
                possible = [c for c, p in enumerate(by_reading.odds[slot]) if p > 0]
                assert all(by_counting.weights[slot][c] for c in possible)
                sharper += by_reading.odds[slot][card] > by_counting.chance(slot, card)
    assert sharper > 20


def test_true_hand_explains_a_deterministic_partner_with_certainty() -> None:
    for state in list(bot_states(MINI, simple, 3))[1:-1]:
        me = state.mover
        view = MINI.observe(state, MINI.seats[me])
        assert likelihoods(MINI, view, [state.hands[me]], {1 - me: simple(MINI)}) == [1.0]


@pytest.mark.parametrize("name", ["smart", "info"])
def test_likelihood_of_a_partners_move_depends_on_the_hand_it_saw(name: str) -> None:
    """With three players, what a hint says to one hangs on the cards of the third."""
    game, told_apart = Hanabi(players=3), 0
    for deal in range(8):
        state = list(bot_states(game, BOTS[name], deal))[3]
        view = game.observe(state, SEATS[0])
        draws = Stream("hands", deal)
        hands = [hidden(game, view).draw(draws) for _ in range(12)]
        actual_likelihoods = likelihoods(game, view, hands, {2: BOTS[name](game)})
        for hand, chance in zip(hands, actual_likelihoods, strict=True):
            ((_, seen, action),) = (m for m in past_views(game, view, hand) if m[0] == 2)
            assert chance == BOTS[name](game)(seen).get(action, 0.0)
        told_apart += len(set(actual_likelihoods)) > 1
    assert told_apart


def test_posterior_is_none_if_no_hand_explains_the_moves() -> None:
    """A SimpleBot with a playable card told to it never discards."""
    game = Hanabi(colours=1, hand=2, hints=3, lives=1)
    state = game.dealt(deck_of(game, "r5", "r4", "r1", "r3"))
    state = played(game, state, game.hint(1, 1), 1)
    assert read(game, game.observe(state, SEATS[0]), {1: simple(game)}) is None


def test_posterior_without_declared_policy_equals_counting() -> None:
    state = list(random_states(MINI, 4))[3]
    view = MINI.observe(state, MINI.seats[state.mover])
    known_posterior, nothing = count_own_hand(MINI, view), read(MINI, view, {})
    assert nothing is not None
    for slot in range(view.slots):
        assert nothing.odds[slot] == pytest.approx(known_posterior.odds(slot))


def test_many_hands_are_sampled_and_few_effective_draws_are_refused() -> None:
    game = Hanabi()
    states = list(bot_states(game, simple, 1))
    view = game.observe(states[6], game.seats[states[6].mover])
    card_probabilities = read(game, view, {})
    assert card_probabilities is not None
    assert not card_probabilities.exact
    assert card_probabilities.effective == pytest.approx(2_000)
    known_posterior = count_own_hand(game, view)
    assert all(
        abs(p - known_posterior.chance(slot, card)) < 0.05
        for slot, odds in enumerate(card_probabilities.odds)
        for card, p in enumerate(odds)
    )
