"""Folders as they are published: fuel tables, name spaces, circles; and a ruleset in the record."""

from __future__ import annotations

import json
import shutil
from fractions import Fraction
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sally import store
from sally.core.errors import BadInput
from sally.core.log.events import Instance, PlayerSpec, Setup, episode_id
from sally.core.registry import packs, registry
from sally.core.registry.study import Cell, Study
from sally.games.tradecraft.parameters import ruleset_of
from sally.games.tradecraft.ruleset_checks import check, circles
from sally.games.tradecraft.ruleset_formats import data_pack, load
from sally.games.tradecraft.rulesets import BadRuleset, dump, parse, shipped_ruleset
from sally.output.files.bundle import pack
from sally.runner.check import check as replayed
from sally.runner.local import orders, play
from sally.runner.run import play_missing
from sally.runner.seating import resolve_setup
from sally.store.bundles import open_store

Content = dict[str, Any]


def folder(
    actual_folder: Path, recipes: dict[str, Content], fuel: Any = None, **tags: list[str]
) -> Path:
    """A folder of recipes in the game's own JSON."""
    (actual_folder / "recipes").mkdir(parents=True, exist_ok=True)
    (actual_folder / "tags" / "items").mkdir(parents=True, exist_ok=True)
    for name, content in recipes.items():
        (actual_folder / "recipes" / f"{name}.json").write_text(json.dumps(content), "utf-8")
    for tag, values in tags.items():
        (actual_folder / "tags/items" / f"{tag}.json").write_text(
            json.dumps({"values": values}), "utf-8"
        )
    if fuel is not None:
        (actual_folder / "fuel.json").write_text(json.dumps(fuel), "utf-8")
    return actual_folder


def shapeless(output: str, *inputs: str, space: str = "minecraft", count: int = 1) -> Content:
    return {
        "type": f"{space}:crafting_shapeless",
        "ingredients": [{"item": f"{space}:{current_input}"} for current_input in inputs],
        "result": {"item": f"{space}:{output}", "count": count},
    }


SMELT = {
    "type": "minecraft:smelting",
    "ingredient": {"item": "minecraft:raw_iron"},
    "result": "minecraft:iron_ingot",
}


@pytest.mark.parametrize(
    "fuel",
    [
        {"minecraft:coal": 1, "#minecraft:planks": "16/3"},
        [{"item": "minecraft:coal", "amount": 1}, {"tag": "minecraft:planks", "amount": "16/3"}],
        {"values": [{"item": "coal", "count": 1}, {"tag": "planks", "n": 16, "d": 3}]},
        {"items": {"coal": {"n": 1, "d": 1}}, "tags": {"minecraft:planks": {"n": 16, "d": 3}}},
    ],
)
def test_fuel_table_by_item_and_by_tag_is_read(tmp_path: Path, fuel: Any) -> None:
    rules = load(folder(tmp_path, {"ingot": SMELT}, fuel, planks=["minecraft:oak_planks"]))
    assert rules.fuel == {"coal": 1, "oak_planks": Fraction(16, 3)}


@pytest.mark.parametrize("fuel", ["coal", [3], {"coal": "hot"}, {"coal": -1}])
def test_unreadable_fuel_table_is_refused_with_its_file(tmp_path: Path, fuel: Any) -> None:
    with pytest.raises(BadRuleset, match=r"fuel\.json"):
        load(folder(tmp_path, {"ingot": SMELT}, fuel))


def test_crimson_and_warped_wood_is_not_fuel_but_stairs_and_chests_are(tmp_path: Path) -> None:
    wood = ("oak_planks", "crimson_planks", "warped_planks")
    recipes = {"chest": shapeless("chest", *wood), "stairs": shapeless("oak_stairs", "oak_planks")}
    path = folder(tmp_path, recipes, planks=[f"minecraft:{w}" for w in wood])
    folder(path, {}, wooden_stairs=["minecraft:oak_stairs"])
    assert set(load(path).fuel) == {"oak_planks", "oak_stairs", "chest"}


def test_pack_in_custom_namespace_is_read_by_bare_names(tmp_path: Path) -> None:
    steam = shapeless("steam", "fire", "water", space="lalchemy2")
    mud = {
        "type": "lalchemy2:mixing",
        "ingredients": [{"tag": "lalchemy2:wet"}, {"item": "lalchemy2:earth"}],
        "result": "lalchemy2:mud",
    }
    rules = load(folder(tmp_path, {"steam": steam, "mud": mud}, wet=["lalchemy2:water"]))
    assert {recipe.text() for recipe in rules.recipes} == {
        "fire + water -> steam",
        "#wet + earth -> mud",
    }
    assert rules.tags["wet"] == ("water",)


def test_pack_without_usable_recipe_is_refused_with_one_message(tmp_path: Path) -> None:
    dye = {"type": "minecraft:crafting_special_armordye"}
    with pytest.raises(BadRuleset, match="none of its 1 recipe files can be used"):
        data_pack(folder(tmp_path, {"dye": dye}))


def test_cycles_of_goods_are_distinguished_from_unreachable_goods(tmp_path: Path) -> None:
    recipes = {
        "block": shapeless("raw_iron_block", *["raw_iron"] * 9),
        "back": shapeless("raw_iron", "raw_iron_block", count=9),
        "lost": shapeless("crown", "crown", "gold"),
        "gate": shapeless("gate", "raw_iron"),
    }
    rules = load(folder(tmp_path, recipes))
    assert circles(rules) == [
        "raw_iron and raw_iron_block are made only of each other; a starting hand must contain one."
    ]
    assert [line.split()[0] for line in check(rules)] == ["crown"]


def test_fuel_tag_with_amounts_is_a_fuel_table(tmp_path: Path) -> None:
    """The published Minecraft folder keeps its fuel as a tag, with rounded amounts."""
    fuel: list[Any] = [
        "#minecraft:coals",
        {"value": "minecraft:stick", "count": 16},
        {"value": "#minecraft:planks", "count": 5.333333333},
    ]
    rules = load(
        folder(
            tmp_path,
            {"smelt": SMELT},
            coals=["minecraft:coal"],
            planks=["minecraft:oak_planks"],
            fuel_tag=[],
        )
    )
    assert rules.fuel.keys() <= {"coal", "stick", "oak_planks"}  # without one: the vanilla table
    (tmp_path / "tags/items/fuel.json").write_text(json.dumps({"values": fuel}), "utf-8")
    assert load(tmp_path).fuel == {"coal": 1, "stick": 16, "oak_planks": Fraction(16, 3)}
    (tmp_path / "tags/items/fuel.json").write_text(json.dumps({"values": [{"count": 1}]}), "utf-8")
    with pytest.raises(BadRuleset, match=r'"count": 1.* is not a tag value'):
        load(tmp_path)


def test_elements_made_only_of_their_own_products_are_starting_goods(tmp_path: Path) -> None:
    recipes = {
        "mist": shapeless("mist", "air", "water"),
        "air": shapeless("air", "mist", "fire"),
        "water": shapeless("water", "mist", "fire"),
        "fire": shapeless("fire", "air", "fire"),
        "steam": shapeless("steam", "water", "fire"),
    }
    rules = load(folder(tmp_path, recipes))
    assert check(rules) == []
    (circle,) = circles(rules)
    assert circle.startswith("fire and mist are made only of goods that need them")


def test_hands_and_targets_may_have_a_namespace() -> None:
    params = {
        "hands": [{"minecraft:coal": 1}, {"minecraft:stick": 1}],
        "targets": [{"minecraft:torch": 1}, {"lever": 1}],
    }
    game = registry.game("tradecraft").build(params)
    assert game.hands == ({"coal": 1}, {"stick": 1})  # type: ignore[attr-defined]
    with pytest.raises(BadInput, match="'minecraft:cole' is no item"):
        registry.game("tradecraft").build(
            {**params, "hands": [{"minecraft:cole": 1}, {"stick": 1}]}
        )


# --- a ruleset of one's own in the record ---------------------------------------------------------


MINE = 'name = "mine"\n[recipes]\nmix = ["a + b -> c", "c + d -> e"]\n'


def setup(path: Path) -> Setup:
    params = {
        "ruleset": str(path),
        "hands": [{"a": 2, "d": 1}, {"b": 2}],
        "targets": [{"e": 1}, {"c": 1}],
    }
    bots = {"p1": PlayerSpec("zero_order"), "p2": PlayerSpec("generous")}
    return Setup(Instance("own", "tradecraft", params), 1, bots)


def test_custom_ruleset_is_identified_by_its_content(tmp_path: Path) -> None:
    file, same_file, other_file = (tmp_path / f"{n}.toml" for n in "abc")
    file.write_text(MINE)
    same_file.write_text(MINE)
    other_file.write_text(MINE.replace("a + b", "2 a + b"))
    first, second, third = (resolve_setup(setup(path)) for path in (file, same_file, other_file))
    assert episode_id(first) == episode_id(second) != episode_id(third)
    assert first.instance.id != third.instance.id  # another problem, not a mismatch
    assert str(tmp_path) not in msgspec.json.encode(first).decode()


def test_stored_ruleset_is_found_without_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_file = tmp_path / "own.toml"
    own_file.write_text(MINE)
    asked_setup = setup(own_file)
    study = Study("own", "", (Cell("all", (asked_setup.instance,), (dict(asked_setup.lineup),)),))
    ((_, cell, ready),) = orders(study, None)
    (tmp_path / "store").mkdir()
    with store.Writer(tmp_path / "store") as writer:
        writer.add(play(ready, cell))
    own_file.unlink()
    assert len(list((tmp_path / "store" / "packs").iterdir())) == 1
    monkeypatch.setattr(packs, "_packs", {})  # another machine has read nothing yet
    ruleset_of.cache_clear()
    contents = store.load(tmp_path / "store")
    checked = replayed(contents.episodes.values())
    assert (checked.replayed, checked.mismatches) == (1, [])


def test_packed_store_contains_its_ruleset_and_no_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_file = tmp_path / "own.toml"
    own_file.write_text(MINE)
    asked_setup = setup(own_file)
    lineups = tuple(
        {"p1": PlayerSpec(player), "p2": PlayerSpec("random")} for player in ("random", "hoarder")
    )
    study = Study("own", "", (Cell("all", (asked_setup.instance,), lineups),))
    play_missing(study, tmp_path / "store")
    packed = pack(tmp_path / "store", tmp_path / "own.sally.zip")  # refuses any path of ours
    assert sum(name.startswith("packs/") for name in packed.bundle.files) == 1  # for both
    own_file.unlink()
    shutil.rmtree(tmp_path / "store")
    monkeypatch.setattr(packs, "_packs", {})  # another machine has read nothing yet
    ruleset_of.cache_clear()
    with open_store(tmp_path / "own.sally.zip") as (place, _):
        contents = store.load(place)
        checked = replayed(contents.episodes.values())
        (kept_file,) = (Path(str(place)) / "studies").iterdir()
        repeated_data = msgspec.json.decode(kept_file.read_bytes(), type=Study)
    assert (checked.replayed, checked.mismatches) == (2, [])
    assert {id for id, _, _ in orders(repeated_data, None)} == set(contents.episodes)


def test_shipped_rulesets_keep_their_names() -> None:
    params = {"ruleset": "minecraft_core"}
    portable = registry.game("tradecraft").portable
    assert portable is not None and portable(params) is params
    assert (
        parse(dump(shipped_ruleset("alchemy"))).fingerprint
        == shipped_ruleset("alchemy").fingerprint
    )
