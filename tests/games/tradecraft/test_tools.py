"""What players may look up, in plain JSON values."""

import json
from random import Random

import pytest

from sally.games.tradecraft.amounts import read_amount
from sally.games.tradecraft.crafting import CraftSuccess, craft
from sally.games.tradecraft.hands import Hand, read_goods
from sally.games.tradecraft.replies import amount_meant
from sally.games.tradecraft.rulesets import shipped_ruleset
from sally.games.tradecraft.speech import item_meant
from sally.games.tradecraft.tools import item_info, possible_recipes, runnable

CORE = shipped_ruleset("minecraft_core")


def test_item_info_lists_makers_users_tags_and_fuel() -> None:
    info = item_info(CORE, "oak_planks")
    assert [item["recipe"] for item in info["made_by"]] == ["any 1 oak log -> 4 oak planks"]
    used = {item["recipe"] for item in info["used_in"]}
    assert {"any 2 planks -> 4 sticks", "1 oak plank -> 1 oak button"} <= used
    assert info["tags"] == ["planks"]
    assert info["items_per_fuel_unit"] == "5 1/3"
    assert json.loads(json.dumps(info)) == info


def test_item_info_of_a_starting_good_has_no_maker() -> None:
    assert item_info(CORE, "cobblestone")["made_by"] == []
    assert item_info(CORE, "cobblestone")["items_per_fuel_unit"] is None


def test_unknown_item_suggests_the_nearest_name() -> None:
    assert item_info(CORE, "troch")["problem"].endswith("did you mean torch?")
    assert "problem" in item_info(CORE, "x" * 10_000)


def test_possible_recipes_use_the_right_fuel_rate() -> None:
    """One coal smelts eight; the public server's tool had the rate upside down."""
    result = {
        record["recipe"]: record
        for record in possible_recipes(CORE, Hand({"raw_iron": 9, "coal": 1}))
    }
    assert result["1 raw iron -> 1 iron ingot"]["most_times"] == 8
    assert result["1 raw iron -> 1 iron ingot"]["inputs"] == {"coal": "1/8", "raw iron": "1"}
    assert "1 raw iron block -> 9 raw iron" not in result


def test_possible_recipes_can_be_crafted_most_times() -> None:
    hand = Hand(
        {"oak_log": 3, "birch_planks": 3, "coal": 1, "cobblestone": 9, "stick": 2, "iron_ingot": 9}
    )
    records = possible_recipes(CORE, hand)
    assert len(records) > 30
    for record in records:
        inputs = {
            item_meant(i, CORE.item_set): amount_meant(n) for i, n in record["inputs"].items()
        }
        output = item_meant(record["output"], CORE.item_set)
        done = craft(CORE, hand, read_goods(inputs), output, read_amount(record["amount"]))
        assert isinstance(done, CraftSuccess), record
        assert record["most_times"] >= 1
    assert json.loads(json.dumps(records)) == records
    by_text = {(record["recipe"], record["kind"]): record["most_times"] for record in records}
    assert by_text["any 2 planks -> 4 sticks", "shaped"] == 1
    assert by_text["any 1 log -> 1 charcoal", "smelting"] == 3
    assert by_text["any 8 stone crafting materials -> 1 furnace", "shaped"] == 1


@pytest.mark.parametrize("seed", range(3))
def test_runnable_recipes_are_those_with_something_for_every_slot(seed: int) -> None:
    rng = Random(seed)
    hand = Hand(dict.fromkeys(rng.sample(CORE.items, 12), 1))
    slow = [
        number
        for number, recipe in enumerate(CORE.recipes)
        if all(any(item in hand for item in slot.goods) for slot in recipe.slots)
    ]
    assert runnable(CORE, hand) == slow


def test_empty_hand_has_no_possible_recipes() -> None:
    assert possible_recipes(CORE, Hand()) == []
