"""Menus: one description of what is legal, for prompt, parser, tool call and form."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sally.core.errors import IllegalMove
from sally.core.rules.chance import Stream
from sally.core.rules.menu import (
    Act,
    Amounts,
    Choice,
    Form,
    Many,
    Text,
    Whole,
    admit,
    amount_problem,
    example,
    fill_form,
    is_finite,
    menu_schema,
)


class Bid(Act, frozen=True):
    price: int
    note: str = ""


class Basket(Act, frozen=True):
    goods: tuple[tuple[str, str], ...]
    bids: tuple[Bid, ...] = ()


class Wait(Act, frozen=True):
    pass


BID = Form(Bid, (("price", Whole(1, 5)),))
NOTED = Form(Bid, (("price", Whole(1, 5)), ("note", Text(10, "[a-z ]+", ("hello",)))))
BASKET = Form(
    Basket,
    (("goods", Amounts((("wood", "2"), ("wool", "2/3")))), ("bids", Many(BID, 2))),
)
MENU: tuple[Any, ...] = (Wait(), NOTED, BASKET)


def test_admitted_action_is_returned_as_the_menu_option() -> None:
    assert admit((0, 1), True) is not True
    assert type(admit((0, 1), 1.0)) is int
    assert admit(MENU, Wait()) == Wait()


@pytest.mark.parametrize(
    ("action", "why"),
    [
        (Bid(0), "price: 0 is not a whole number from 1 to 5"),
        (Bid(True, "a"), "price: True"),
        (Bid(2, "LOUD"), "does not have the form"),
        (Bid(2, "a" * 11), "at most 10"),
        (Bid(2, " "), "empty"),
        (Basket((("gold", "1"),)), "'gold' is not one of wood or wool"),
        (Basket((("wood", "3"),)), "3 is not above 0 and at most 2 of wood"),
        (Basket((("wool", "3/4"),)), "at most 2/3"),
        (Basket((("wood", "0"),)), "not above 0"),
        (Basket((("wood", "1/0"),)), "divides by zero"),
        (Basket((("wood", "-1"),)), "not an amount"),
        (Basket((("wood", "1e9"),)), "not an amount"),
        (Basket((("wood", "1"), ("wood", "1"))), "named twice"),
        (Basket((("wood",),)), "not a list of (item, amount)"),  # type: ignore[arg-type]
        (Basket(((["wood"], "1"),)), "not a list of (item, amount)"),  # type: ignore[arg-type]
        (Basket((("wood", 1),)), "not an amount"),  # type: ignore[arg-type]
        (Basket((), (Bid(9),)), "bids: price: 9"),
        (Basket((), (Bid(1),) * 3), "3 entries are more than 2"),
        ("wait", "not among the options"),
    ],
)
def test_illegal_action_is_refused_with_its_reason(action: Any, why: str) -> None:
    with pytest.raises(IllegalMove) as refused:
        admit(MENU, action)
    assert why in str(refused.value)


def test_field_not_in_form_must_be_empty() -> None:
    assert admit((BID,), Bid(3)) == Bid(3)
    with pytest.raises(IllegalMove, match="a field is filled in"):
        admit((BID,), Bid(3, "psst"))


def test_lone_surrogate_is_refused() -> None:
    form = Form(Bid, (("price", Whole(1, 5)), ("note", Text(10))))
    with pytest.raises(IllegalMove, match="half a character"):
        admit((form,), Bid(1, "\ud800"))
    assert admit((form,), Bid(1, "👍"))


def test_misspelt_field_is_refused_and_not_read_as_empty() -> None:
    only_bid: tuple[Any, ...] = (BID,)
    with pytest.raises(IllegalMove, match="unknown field `prize`"):
        fill_form(only_bid, {"kind": "bid", "price": 2, "prize": 3})
    with pytest.raises(IllegalMove, match="kind must be"):
        fill_form(MENU, {"kind": "steal"})
    with pytest.raises(IllegalMove, match="price"):
        fill_form(MENU, {"kind": "bid"})


@given(st.integers(0, 10**6))
def test_examples_are_legal_and_survive_json(seed: int) -> None:
    action = example(MENU, Stream(seed))
    assert admit(MENU, action) == action
    plain = json.loads(json.dumps(msgspec.to_builtins(action)))
    assert fill_form(MENU, plain) == action


def test_every_option_is_drawn_as_often_as_any_other() -> None:
    draws = [example((0, 1, 2), Stream("even", n)) for n in range(3000)]
    assert all(900 < draws.count(option) < 1100 for option in (0, 1, 2))


@given(st.fractions(0, 5), st.sampled_from(["1", "2/3", "3"]))
def test_amounts_are_exact(amount: Any, most: str) -> None:
    from fractions import Fraction

    legal = 0 < amount <= Fraction(most)
    if len(str(amount.denominator)) <= 9:
        assert (amount_problem(str(amount), most) is None) == legal


def test_schema_matches_the_menu() -> None:
    schema = menu_schema(MENU)
    ready, noted, basket = schema["anyOf"]
    assert ready == {"enum": [{"kind": "wait"}]}
    assert noted["required"] == ["kind", "price", "note"]
    assert noted["properties"]["price"] == {"type": "integer", "minimum": 1, "maximum": 5}
    assert basket["properties"]["bids"]["items"] == BID.schema()
    assert menu_schema((0, 1)) == {"enum": [0, 1]}
    assert is_finite((0, Wait())) and not is_finite(MENU)


@pytest.mark.parametrize("value", [True, 1.0, None, [], "1"])
def test_choice_refuses_equal_looking_value_of_other_type(value: Any) -> None:
    assert Choice((1, 2)).problem(value) is not None
