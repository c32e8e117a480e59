"""What a model writes, and what is read: meant beyond doubt is read, the rest is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sally.core.errors import Unreadable
from sally.core.rules.probe import Question
from sally.games.tradecraft.actions import PASS, Craft, Propose
from sally.games.tradecraft.replies import amount_meant
from sally.games.tradecraft.speech import item_meant
from sally.games.tradecraft.words import TEXTS, TradeWords
from tests.games.tradecraft.table import P1, P2, match_of, play

ASKED = Question("v0", "values", ("coal", "oak_planks", "raw_iron"))


def read(reply: str, *before: tuple[str, Any]) -> Any:
    """What p1 is taken to do."""
    match = play(match_of(), *before)
    options = match.game.options(match.state, P1)
    view = match.game.observe(match.state, P1)
    return match.context(P1).words.read(reply, view, options)


def crafted(**fields: Any) -> Craft:
    output = {"kind": "craft", "inputs": {"coal": 1}, "output": "torch", "amount": 1, **fields}
    output = {key: value for key, value in output.items() if value is not ...}
    result = read(json.dumps(output), ("p1", PASS))
    assert isinstance(result, Craft)
    return result


@pytest.mark.parametrize("amount", [4, "4", 4.0, "4.0", " 4 "])
def test_amount_may_be_a_number_or_a_text(amount: Any) -> None:
    assert crafted(amount=amount).amount == 4


@pytest.mark.parametrize("amount", [1.5, "some", "1/2", True, None, 0])
def test_non_integer_amount_is_refused(amount: Any) -> None:
    with pytest.raises(Unreadable, match=r"amount|int|whole"):
        crafted(amount=amount)


def test_output_with_its_amount_inside_is_read() -> None:
    craft = crafted(output={"minecraft:torch": "4"}, amount=...)
    assert (craft.output, craft.amount) == ("torch", 4)
    with pytest.raises(Unreadable):
        crafted(output={"torch": 4, "lever": 1})


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (0.667, "2/3"),
        ("0.67", "2/3"),
        ("0.66", "2/3"),
        (0.3333333333333333, "1/3"),
        ("0.333", "1/3"),
        ("5.333", "16/3"),
        ("0.125", "0.125"),
        ("0.12", "1/8"),
        ("0.1", "0.1"),
        ("0.10", "0.10"),
        ("0.25", "0.25"),
        ("2.50", "2.50"),
        ("2.0", "2"),
        ("0.21", "0.21"),
        ("2/3", "2/3"),
        ("a few", "a few"),
    ],
)
def test_rounded_decimal_is_read_as_its_ratio(written: Any, meant: str) -> None:
    assert amount_meant(written) == meant


@pytest.mark.parametrize("name", ["minecraft:oak_planks", "Oak Planks", "oak-planks", "OAK_PLANKS"])
def test_item_is_read_with_or_without_namespace(name: str) -> None:
    assert item_meant(name, frozenset({"oak_planks"})) == "oak_planks"
    assert item_meant("gold", frozenset({"oak_planks"})) == "gold"


@pytest.mark.parametrize("to", ["P2", "p2", "player 2", "Player2", "2"])
def test_partner_name_is_read_in_common_spellings(to: str) -> None:
    fields = {"kind": "propose", "to": to, "offer": {"minecraft:coal": "1"}, "request": {}}
    assert read(json.dumps(fields)) == Propose("p2", (("coal", "1"),), ())


def test_unknown_partner_is_refused_by_name() -> None:
    with pytest.raises(Unreadable, match="'P7' is not one of p2"):
        read(json.dumps({"kind": "propose", "to": "P7"}))


def report(reply: str) -> Any:
    match = match_of()
    assert isinstance(match.context(P2).words, TradeWords)
    return match.context(P2).words.read_report(reply, ASKED).value


def test_value_report_may_be_json() -> None:
    full_fields = {"coal": 3.0, "oak_planks": 0.0, "raw_iron": 10.0}
    assert report('{"coal": 3, "oak_planks": "0", "raw_iron": 10.0}') == full_fields
    assert (
        report('Sure: {"v0": {"minecraft:coal": 3, "Oak Planks": 0, "raw_iron": "10/10"}}')
        == full_fields
    )
    assert report("coal: 3\noak_planks: 0\nraw_iron: 10") == full_fields


def test_valid_part_of_a_report_is_kept() -> None:
    assert report('{"coal": 3, "gold": 4}') == {"coal": 3.0}


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ('{"coal": 11}', "coal, 11, is not from 0 to 10"),
        ('{"coal": "high"}', "coal is not a number"),
        ('{"coal": 3} or {"coal": 5}', "coal has two values"),
        ('{"gold": 3}', "<item>: <number>"),
        ('{"coal": true}', "coal is not a number"),
    ],
)
def test_unclear_report_is_refused_with_the_reason(reply: str, why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        report(reply)


def test_rules_mention_tools_only_without_the_book() -> None:
    match = match_of(book=False)
    rules = match.context(P1).words.rules(P1)
    assert TEXTS["rules.look_up"] in rules and "item_info" in rules
    assert TEXTS["rules.look_up"] not in match_of().context(P1).words.rules(P1)
