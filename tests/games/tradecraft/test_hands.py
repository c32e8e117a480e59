"""Hands never change in place, trades move goods, and the phase ends on whole amounts."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sally.games.tradecraft.amounts import BadAmount
from sally.games.tradecraft.hands import (
    Hand,
    exchange_goods,
    holds,
    lacking,
    read_goods,
    round_down,
    trade_hands,
    union,
)

amounts = st.integers(0, 90).map(lambda n: Fraction(n, 12))
hands = st.dictionaries(st.sampled_from("abcde"), amounts, max_size=5).map(Hand)


def test_trade_moves_goods_and_drops_zeros() -> None:
    own_hand, yours = Hand({"coal": 2, "stick": 1}), Hand({"raw_iron": 3})
    new_mine, new_yours = trade_hands(own_hand, yours, {"coal": 2}, {"raw_iron": 1})
    assert new_mine == Hand({"stick": 1, "raw_iron": 1})
    assert new_yours == Hand({"raw_iron": 2, "coal": 2})
    assert "coal" not in new_mine
    assert own_hand == Hand({"coal": 2, "stick": 1})


def test_gifts_demands_and_passes_are_trades_too() -> None:
    own_hand, yours = Hand({"coal": 2}), Hand({"stick": 1})
    assert trade_hands(own_hand, yours, {"coal": 1}, {}) == (
        Hand({"coal": 1}),
        Hand({"stick": 1, "coal": 1}),
    )
    assert trade_hands(own_hand, yours, {}, {"stick": 1}) == (Hand({"coal": 2, "stick": 1}), Hand())
    assert trade_hands(own_hand, yours, {}, {}) == (own_hand, yours)


def test_goods_not_held_cannot_be_given() -> None:
    hand = Hand({"coal": Fraction(1, 2)})
    assert lacking(hand, {"coal": 1}) == "1 coal would be needed, and the hand holds 1/2"
    assert lacking(hand, {"stick": 1}) == "1 stick would be needed, and the hand holds none"
    assert lacking(hand, {"coal": Fraction(1, 2)}) is None
    with pytest.raises(BadAmount):
        exchange_goods(hand, {"coal": 1}, {})
    with pytest.raises(BadAmount):
        exchange_goods(hand, {"coal": -1}, {})
    with pytest.raises(BadAmount):
        exchange_goods(hand, {"coal": 0}, {})
    with pytest.raises(BadAmount):
        exchange_goods(hand, {}, {"coal": -1})


def test_hand_refuses_a_negative_amount() -> None:
    with pytest.raises(BadAmount):
        Hand({"coal": -1})


def test_phase_end_floors_amounts_and_drops_zeros() -> None:
    hand = Hand({"coal": Fraction(7, 8), "oak_log": Fraction(22, 3), "stick": 4})
    assert dict(round_down(hand)) == {"oak_log": 7, "stick": 4}


def test_goods_named_twice_add_up_and_bad_amounts_name_the_item() -> None:
    assert read_goods([("oak_log", "1"), ("oak_log", "2/3")]) == {"oak_log": Fraction(5, 3)}
    with pytest.raises(BadAmount, match=r"coal: .*zero"):
        read_goods({"coal": "1/0"})


def test_equal_hands_have_equal_hashes_in_any_order() -> None:
    assert hash(Hand({"a": 1, "b": 2})) == hash(Hand({"b": 2, "a": Fraction(1)}))
    assert Hand({"a": 1}) != {"a": 1}


@given(hands, hands)
def test_trade_preserves_the_union_of_hands(mine: Hand, yours: Hand) -> None:
    offer = {item: Fraction(amount) / 2 for item, amount in mine.items()}
    request = dict(list(yours.items())[:2])
    trade_hands_after = trade_hands(mine, yours, offer, request)
    assert union(trade_hands_after) == union((mine, yours))
    assert all(amount > 0 for hand in trade_hands_after for amount in hand.values())


@given(hands)
def test_flooring_removes_less_than_one_of_each_item(hand: Hand) -> None:
    hand_after = round_down(hand)
    assert all(0 <= hand[item] - hand_after.get(item, 0) < 1 for item in hand)
    assert all(type(amount) is int and amount > 0 for amount in hand_after.values())
    assert round_down(hand_after) == hand_after
    assert holds(hand, hand_after)
