"""Rulesets: our file format, other people's formats, and what a check finds wrong."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from benchmarks.problem_sets.tradecraft import depth
from sally.games.tradecraft.crafting import CraftSuccess, craft
from sally.games.tradecraft.hands import Hand
from sally.games.tradecraft.invented_rulesets import invent_ruleset
from sally.games.tradecraft.ruleset_checks import check
from sally.games.tradecraft.ruleset_formats import load
from sally.games.tradecraft.rulesets import BadRuleset, dump, parse, resolved_tags, shipped_ruleset

KNOWN_TARGETS = ["shears", "torch", "bucket", "stone_shovel", "lever", "chain", "detector_rail"]
KNOWN_TARGETS += ["target", "dropper", "observer", "powered_rail", "shield", "comparator"]
KNOWN_TARGETS += ["lantern"]


def test_shipped_rulesets_are_large_and_sound() -> None:
    for name in ("minecraft_core", "alchemy"):
        rules = shipped_ruleset(name)
        assert len(rules.recipes) >= 150
        assert check(rules) == []


def test_alchemy_recipes_combine_two_items_into_one() -> None:
    for recipe in shipped_ruleset("alchemy").recipes:
        assert sum(slot.amount for slot in recipe.slots) == 2
        assert recipe.amount == 1
        assert not recipe.fuel


@pytest.mark.parametrize("target", KNOWN_TARGETS)
def test_every_known_target_can_be_made_from_starting_goods(target: str) -> None:
    rules = shipped_ruleset("minecraft_core")
    assert target in rules.makers
    assert depth(rules)[target] >= 1


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("2 iron_ingot -> shears", "shaped"),
        ("coal|charcoal + stick -> 4 torch", "shaped"),
        ("3 iron_ingot -> bucket", "shaped"),
        ("#stone_tool_materials + 2 stick -> stone_shovel", "shaped"),
        ("cobblestone + stick -> lever", "shaped"),
        ("iron_ingot + 2 iron_nugget -> chain", "shaped"),
        ("6 iron_ingot + stone_pressure_plate + redstone -> 6 detector_rail", "shaped"),
        ("4 redstone + hay_block -> target", "shaped"),
        ("7 cobblestone + redstone -> dropper", "shaped"),
        ("6 cobblestone + 2 redstone + quartz -> observer", "shaped"),
        ("6 gold_ingot + stick + redstone -> 6 powered_rail", "shaped"),
        ("6 #planks + iron_ingot -> shield", "shaped"),
        ("3 redstone_torch + quartz + 3 stone -> comparator", "shaped"),
        ("8 iron_nugget + torch -> lantern", "shaped"),
        ("raw_iron -> iron_ingot", "smelting"),
    ],
)
def test_recipe_facts(line: str, kind: str) -> None:
    assert (line, kind) in {(r.text(), r.kind) for r in shipped_ruleset("minecraft_core").recipes}


@pytest.mark.parametrize(
    "rules", [shipped_ruleset("minecraft_core"), shipped_ruleset("alchemy"), invent_ruleset(3)]
)
def test_dumped_ruleset_round_trips(rules: object) -> None:
    repeated_ruleset = parse(dump(rules))  # type: ignore[arg-type]
    assert repeated_ruleset.fingerprint == rules.fingerprint  # type: ignore[attr-defined]
    assert sorted(repeated_ruleset.recipes, key=str) == sorted(rules.recipes, key=str)  # type: ignore[attr-defined]


def test_tags_may_be_nested_and_cyclic() -> None:
    rules = parse('name="t"\n[tags]\na=["x","#b"]\nb=["y","#a"]\n[recipes]\nk=["#a -> z"]')
    assert rules.tags["a"] == ("x", "y")


class Opened(dict[str, list[str]]):
    """Tags that count how often one is opened."""

    times = 0

    def get(self, tag: str, default: object = None) -> object:  # type: ignore[override]
        self.times += 1
        return super().get(tag, default)


def test_tag_resolution_does_not_revisit_shared_paths() -> None:
    inner = {f"{side}{n}": [f"#a{n + 1}", f"#b{n + 1}"] for n in range(40) for side in "ab"}
    tags = Opened({**inner, "a40": ["oak"], "b40": ["elm"]})
    assert resolved_tags(tags)["a0"] == ("oak", "elm")
    assert tags.times <= len(tags) ** 2  # 2 ** 40 paths


@pytest.mark.parametrize("line", ["a", "a +", "a + b", "a + b =", "+", "a = b"])
def test_line_of_many_blanks_is_refused_quickly(tmp_path: Path, line: str) -> None:
    file = tmp_path / "pairs.txt"
    file.write_text(line.replace(" ", " " * 50_000) + " " * 50_000)  # cubic readers never end
    with pytest.raises(BadRuleset, match="line 1: write 'a"):
        load(file)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("name = ", "end of document"),
        ('name = "x"', "recipes"),
        ('name = "x"\nfoo = 1\n[recipes]', "foo"),
        ('name = "x"\n[recipes]\nk = ["a b"]', "cannot read 'a b'"),
        ('name = "x"\n[recipes]\nk = ["a -> "]', "cannot read"),
        ('name = "x"\n[recipes]\nk = ["a + -> b"]', "cannot read"),
        ('name = "x"\n[recipes]\nk = ["0 a -> b"]', "amount of zero"),
        ('name = "x"\n[recipes]\nk = ["a -> 0 b"]', "amount of zero"),
        ('name = "x"\n[recipes]\nk = ["a -> #b"]', "cannot read"),
        ('name = "x"\n[recipes]\nk = ["a| -> b"]', "does not name an item"),
        ('name = "x"\n[fuel]\na = "1/0"\n[recipes]\nk = []', "divides by zero"),
        ('name = "x"\n[fuel]\na = -1\n[recipes]\nk = []', "negative"),
    ],
)
def test_broken_file_is_refused_with_reason_and_place(text: str, says: str) -> None:
    with pytest.raises(BadRuleset) as refused:
        parse(text, source="mine.toml")
    assert "mine.toml" in str(refused.value)
    assert says in str(refused.value)


def _problems(recipes: str, more: str = "") -> list[str]:
    return check(parse(f'name = "x"\n{more}\n[recipes]\nk = [{recipes}]'))


def test_check_finds_cycles_that_create_goods() -> None:
    problems = _problems('"c -> a", "a -> 2 b", "b -> a"')
    assert any("Goods from nothing" in p and "a -> 2 b; b -> a" in p for p in problems)
    assert _problems('"c -> a", "a -> b", "b -> a"') == []
    assert _problems('"c -> a", "a -> 9 b", "9 b -> a"') == []
    assert any("Goods from nothing" in p for p in _problems('"c -> a", "a -> 9 b", "8 b -> a"'))


def test_check_finds_cycles_through_tags_and_fuel() -> None:
    tagged = '[tags]\nt = ["a", "b"]'
    assert any("nothing" in p for p in _problems('"x -> a", "#t -> 2 a"', tagged))
    fire = '[fuel]\nw = 1\n[cost]\nk = "1/2"'
    # the only fuel is the result itself: the fire can never be lit
    assert [p.split()[0] for p in _problems('"m -> w"', fire)] == ["w"]
    assert any("nothing" in p for p in _problems('"w -> 3 w"', fire))
    # w -> 2 w costs one unit of heat on top, which is another w: nothing is gained
    assert not any("nothing" in p for p in _problems('"v -> w", "w -> 2 w"', fire))


def test_check_finds_unreachable_items_and_empty_tags() -> None:
    problems = _problems(
        '"a -> b", "f -> g", "g -> f", "#none -> h", "k + h -> i"', "[tags]\nnone=[]"
    )
    assert "Tag #none has no members." in problems
    assert "#none -> h: nothing can fill the slot #none." in problems
    lost_parts = [p.split()[0] for p in problems if "cannot be reached" in p]
    assert lost_parts == ["h", "i"]  # f and g are made of each other, which is no harm
    given_problems = _problems('"a -> b", "q -> r"', 'given = ["a"]')
    assert [p.split()[0] for p in given_problems if "cannot be reached" in p] == ["q", "r"]
    assert any("written 2 times" in p for p in _problems('"a -> b", "a -> b"'))


def test_two_to_one_recipes_are_read_from_lines_or_json(tmp_path: Path) -> None:
    lines = tmp_path / "pond.txt"
    lines.write_text("# ours\nstill water + reed bed = pond\nfrog + frog -> chorus\n")
    rules = load(lines)
    assert [r.text() for r in rules.recipes] == [
        "still_water + reed_bed -> pond",
        "2 frog -> chorus",
    ]
    table = tmp_path / "pond.json"
    pairs = {"pond": [["still water", "reed bed"]], "chorus": [["frog", "frog"]]}
    table.write_text(json.dumps(pairs))
    assert load(table).fingerprint == rules.fingerprint
    (tmp_path / "bad.txt").write_text("a + b + c = d\n")
    with pytest.raises(BadRuleset, match=r"bad.txt, line 1"):
        load(tmp_path / "bad.txt")
    (tmp_path / "bad.json").write_text('{"a": [["b"]]}')
    with pytest.raises(BadRuleset, match=r"'a' must map to pairs"):
        load(tmp_path / "bad.json")
    with pytest.raises(BadRuleset, match=r"There is no ruleset"):
        load(tmp_path / "absent.toml")


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    """A small data pack written by us in the game's own JSON."""
    recipes, tags = tmp_path / "pack" / "recipes", tmp_path / "pack" / "tags" / "items"
    recipes.mkdir(parents=True)
    tags.mkdir(parents=True)

    def write(name: str, content: object) -> None:
        (recipes / f"{name}.json").write_text(json.dumps(content))

    key = {"#": {"tag": "minecraft:planks"}, "S": {"item": "minecraft:stick"}}
    write(
        "paddle",
        {
            "type": "minecraft:crafting_shaped",
            "pattern": ["#", "#", "S"],
            "key": key,
            "result": {"item": "minecraft:paddle", "count": 2},
        },
    )
    write(
        "glow",
        {
            "type": "minecraft:crafting_shapeless",
            "ingredients": [
                [{"item": "minecraft:coal"}, {"item": "minecraft:charcoal"}],
                {"item": "minecraft:stick"},
            ],
            "result": {"id": "minecraft:glow"},
        },
    )
    write(
        "ingot",
        {
            "type": "minecraft:smelting",
            "ingredient": {"item": "minecraft:raw_iron"},
            "result": "minecraft:iron_ingot",
        },
    )
    write(
        "cut",
        {
            "type": "minecraft:stonecutting",
            "ingredient": {"item": "minecraft:stone"},
            "result": "minecraft:stone_slab",
            "count": 2,
        },
    )
    write("dye", {"type": "minecraft:crafting_special_armordye"})
    (tags / "planks.json").write_text(
        json.dumps({"values": ["minecraft:oak_planks", "#minecraft:pale", {"id": "x:odd_planks"}]})
    )
    (tags / "pale.json").write_text(json.dumps({"values": ["minecraft:birch_planks"]}))
    return tmp_path / "pack"


def test_data_pack_folder_is_read_in_the_games_own_format(pack: Path) -> None:
    rules = load(pack)
    assert {r.text(): r.kind for r in rules.recipes} == {
        "2 #planks + stick -> 2 paddle": "shaped",
        "coal|charcoal + stick -> glow": "shapeless",
        "raw_iron -> iron_ingot": "smelting",
        "stone -> 2 stone_slab": "stonecutting",
    }
    assert rules.tags["planks"] == ("oak_planks", "birch_planks", "x.odd_planks")
    assert rules.fuel["oak_planks"] == Fraction(16, 3)
    assert rules.fuel["stick"] == 16
    assert rules.notes == (
        "dye.json: left out, type minecraft:crafting_special_armordye is no fixed list of "
        "ingredients",
    )
    hand = Hand({"raw_iron": 1, "birch_planks": 1})
    inputs = {"raw_iron": 1, "birch_planks": Fraction(2, 3)}
    assert isinstance(craft(rules, hand, inputs, "iron_ingot", 1), CraftSuccess)


def test_broken_data_pack_names_the_file(pack: Path) -> None:
    (pack / "recipes" / "broken.json").write_text("{")
    with pytest.raises(BadRuleset, match=r"broken.json: not JSON"):
        load(pack)
    (pack / "recipes" / "broken.json").write_text('{"type": "smelting"}')
    with pytest.raises(BadRuleset, match=r"broken.json: not a smelting recipe"):
        load(pack)
    with pytest.raises(BadRuleset, match=r"has no recipes"):
        load(pack / "tags")


def test_invented_rulesets_follow_their_seed_and_shape() -> None:
    assert invent_ruleset(5).fingerprint == invent_ruleset(5).fingerprint
    assert invent_ruleset(5).fingerprint != invent_ruleset(6).fingerprint
    for seed in range(6):
        rules = invent_ruleset(seed, depth=6, width=6, branching=3)
        assert check(rules) == []
        depths = depth(rules)
        assert max(depths.values()) <= 6
        assert all(len(recipe.slots) <= 3 for recipe in rules.recipes)
        assert not set(rules.items) & set(shipped_ruleset("minecraft_core").items)


def test_contention_makes_recipes_share_scarce_goods() -> None:
    def busiest(contention: float) -> float:
        shares = []
        for seed in range(10):
            rules = invent_ruleset(seed, contention=contention, width=12)
            uses = sorted((len(rules.users.get(i, ())) for i in rules.given), reverse=True)
            shares.append(sum(uses[:3]) / sum(uses))
        return sum(shares) / len(shares)

    assert busiest(0.9) > busiest(0.0) + 0.15


@pytest.mark.parametrize(
    "shape", [{"depth": 0}, {"width": 3}, {"branching": 5}, {"families": 9}, {"fired": 1.5}]
)
def test_impossible_shape_is_refused(shape: dict[str, int]) -> None:
    with pytest.raises(BadRuleset):
        invent_ruleset(1, **shape)  # type: ignore[arg-type]


def test_unknown_shipped_ruleset_is_refused_with_a_list_of_names() -> None:
    with pytest.raises(BadRuleset, match=r"minecraft_core, alchemy"):
        shipped_ruleset("minecraft")
