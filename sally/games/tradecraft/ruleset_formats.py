"""Rulesets in other formats: a vanilla data pack with its fuel.json, or a list of recipes with two
inputs."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from sally.games.tradecraft.amounts import Amount, BadAmount, plain, read_amount
from sally.games.tradecraft.rulesets import (
    SHIPPED,
    BadRuleset,
    Recipe,
    Ruleset,
    Slot,
    dump,
    members,
    parse,
    resolved_tags,
)

_RATES = ("amount", "count", "rate", "value", "number")  # how an entry may call its amount
_NAMES = ("item", "id", "name", "value")  # `value` if it is a name, beside another amount
_ROUNDED = 1000  # a published 5.333333333 is 16/3
_SHAPES = (
    'write {"minecraft:coal": 1, "#minecraft:planks": "16/3"} or a list of '
    '{"item" or "tag": name, "amount": pieces for one fuel unit}'
)


def fuel_file(folder: Path, tags: Mapping[str, tuple[str, ...]]) -> dict[str, Amount] | None:
    """Return how many pieces of each item make one fuel unit; None if there is no fuel.json.

    An entry for an item overrides an entry for a tag that contains the item.
    """
    files = sorted(folder.rglob("fuel.json"), key=lambda file: "tags" in file.parts)
    if not files or ("tags" in files[0].parts and not _has_amounts(files[0])):
        return None
    table: dict[str, Amount] = {}
    entries = _entries(_json(files[0]))
    for name, amount in sorted(entries, key=lambda entry: not entry[0].startswith("#")):
        table.update(dict.fromkeys(members(name, tags, "fuel.json"), _rate(name, amount)))
    return table


def _has_amounts(file: Path) -> bool:
    """Return whether a tag file lists fuels with amounts, as the published Minecraft folder
    does."""
    return any(isinstance(value, dict) and "count" in value for value in _values(file))


def _entries(raw: Any, tag: bool = False) -> Iterator[tuple[str, Any]]:
    """Yield every (name, amount) of a fuel file in any of the usual formats."""
    if isinstance(raw, list):
        for entry in raw:
            yield _entry(entry)
        return
    if not isinstance(raw, dict):
        raise BadRuleset(f"fuel.json: {_SHAPES}.")
    for name, amount in raw.items():
        if name in ("values", "fuel", "fuels") and isinstance(amount, dict | list):
            yield from _entries(amount)
        elif name in ("item", "items", "tag", "tags") and isinstance(amount, dict | list):
            yield from _entries(amount, tag=name.startswith("tag"))
        else:
            yield _bare(name, tag), amount


def _entry(entry: Any) -> tuple[str, Any]:
    """Return one entry of a list as (name, amount); a name without an amount counts as one fuel
    unit."""
    if isinstance(entry, str):
        return _bare(entry), 1
    if isinstance(entry, dict):
        rates = (entry[key] for key in _RATES if key in entry and not isinstance(entry[key], str))
        written = (entry[key] for key in _RATES if key != "value" and key in entry)
        amount = next(rates, next(written, entry.get("n") and entry))
        if isinstance(entry.get("tag"), str):
            return _bare(entry["tag"], True), amount
        for key in _NAMES:
            if isinstance(entry.get(key), str):
                return _bare(entry[key]), amount
    if isinstance(entry, list) and len(entry) == 2 and isinstance(entry[0], str):
        return _bare(entry[0], False), entry[1]
    raise BadRuleset(f"fuel.json: {json.dumps(entry)[:60]} is not an entry; {_SHAPES}.")


def _rate(name: str, amount: Any) -> Amount:
    if isinstance(amount, dict):
        inner = next((amount[key] for key in _RATES if key in amount), None)
        if inner is None and {"n", "d"} <= amount.keys():
            return plain(Fraction(int(amount["n"]), int(amount["d"])))
        amount = inner
    try:
        if isinstance(amount, float) and math.isfinite(amount):
            amount = Fraction(repr(amount)).limit_denominator(_ROUNDED)
        return read_amount(amount)
    except BadAmount as error:
        raise BadRuleset(f"fuel.json, {name}: {error}") from None


# The block game keeps fuel in its program, not in its data packs, so the table is ours:
# items per fuel unit, one unit being what a piece of coal gives (the protocol's figures, and for
# other wooden things 1600 ticks over the ticks that one of them burns).
VANILLA_FUEL: dict[Amount, tuple[str, ...]] = {
    1: ("coal", "charcoal"),
    Fraction(16, 3): (
        *("#planks", "#logs", "#wooden_stairs", "#wooden_trapdoors", "#wooden_pressure_plates"),
        *("#wooden_fences", "#fence_gates", "chest", "trapped_chest", "barrel", "crafting_table"),
        *("bookshelf", "chiseled_bookshelf", "lectern", "jukebox", "note_block", "loom", "ladder"),
        *("cartography_table", "fletching_table", "smithing_table", "composter", "bow", "crossbow"),
        *("daylight_detector", "fishing_rod", "bamboo_mosaic", "bamboo_mosaic_stairs"),
    ),
    16: ("stick", "#wool", "#wooden_buttons", "bowl", "#saplings"),
    Fraction(32, 3): ("#wooden_slabs", "bamboo_mosaic_slab"),
    8: (
        *("wooden_sword", "wooden_pickaxe", "wooden_axe", "wooden_shovel", "wooden_hoe"),
        *("#signs", "#wooden_doors"),
    ),
    Fraction(4, 3): ("#boats",),
    Fraction(2, 3): ("blaze_rod",),
    Fraction(2, 5): ("dried_kelp_block",),
    Fraction(1, 10): ("coal_block",),
    32: ("bamboo", "scaffolding"),
}
NEVER_BURNS = ("crimson_", "warped_", "stripped_crimson_", "stripped_warped_")
VANILLA_COST = {"smelting": Fraction(1, 8), "blasting": Fraction(1, 8), "smoking": Fraction(1, 8)}

_KINDS = {
    "crafting_shaped": "shaped",
    "crafting_shapeless": "shapeless",
    "smelting": "smelting",
    "blasting": "blasting",
    "smoking": "smoking",
    "campfire_cooking": "campfire",
    "stonecutting": "stonecutting",
    "smithing": "smithing",
    "smithing_transform": "smithing",
}
_NOT_BY_AMOUNTS = "is no fixed list of ingredients"
_PAIR = re.compile(r"([^+=>#|,]+)\+([^+=>#|,]+?)(?:=|->)([^+=>#|,]+)")


def data_pack(folder: Path) -> Ruleset:
    """Return the rules in a data-pack folder in the vanilla JSON format (1.20 or 1.21 layout)."""
    raw_tags = {
        _tag_name(file, root): [_bare(_tag_value(value, file)) for value in _values(file)]
        for root in _folders(folder, "tags")
        for file in sorted(root.rglob("*.json"))
        if not (root / "items").is_dir() or (root / "items") in file.parents
        if not (root / "item").is_dir() or (root / "item") in file.parents
    }
    tags = resolved_tags(
        {tag: [_own_tag(name, raw_tags) for name in names] for tag, names in raw_tags.items()}
    )
    recipes: list[Recipe] = []
    notes: list[str] = []
    files = [file for name in ("recipes", "recipe") for file in _json_files(folder, name)]
    if not files:
        raise BadRuleset(f"{folder} has no recipes/*.json; give the folder of a data pack.")
    for file in files:
        recipe = _recipe(_read(file), tags, file)
        if isinstance(recipe, Recipe):
            recipes.append(recipe)
        else:
            notes.append(f"{file.name}: left out, {recipe}")
    if not recipes:
        none = f"none of its {len(files)} recipe files can be used"
        raise BadRuleset(f"{folder}: {none}; {notes[0]}.")
    fuel = fuel_file(folder, tags)
    table = _fuel(recipes, tags) if fuel is None else fuel
    ruleset = Ruleset(folder.name, tuple(recipes), tags, table)
    return replace(in_one_name_space(ruleset), notes=tuple(notes))


def in_one_name_space(rules: Ruleset) -> Ruleset:
    """Return the ruleset with its namespace removed if all items share it."""
    spaces = {item.partition(".")[0] if "." in item else "" for item in rules.items}
    if len(spaces) != 1 or spaces == {""}:
        return rules
    prefix = f"{spaces.pop()}."
    text = dump(rules)
    for sign_before in ('"', " ", "|"):  # where a name can begin in our format
        text = text.replace(f"{sign_before}{prefix}", sign_before)
    return parse(text, rules.name)


def two_to_one(text: str, name: str, source: str) -> Ruleset:
    """Return the rules in a list of lines "a + b = c", or in JSON {"c": [["a", "b"], ...]}."""
    pairs = _json_pairs(text, source) if text.lstrip().startswith("{") else _pairs(text, source)
    recipes = []
    for first, second, product in pairs:
        slots = tuple(Slot(n, item, (item,)) for item, n in Counter((first, second)).items())
        recipes.append(Recipe("combine", slots, product, 1))
    if not recipes:
        raise BadRuleset(f"{source}: no combinations were found; write lines such as 'a + b = c'.")
    return Ruleset(name, tuple(recipes), {}, {})


def _pairs(text: str, source: str) -> Iterator[tuple[str, str, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            combination = _PAIR.fullmatch(line)
            words = [word.strip() for word in combination.groups()] if combination else []
            if len(words) != 3 or not all(words):
                raise BadRuleset(f"{source}, line {number}: write 'a + b = c', not {line!r}")
            yield _snake(words[0]), _snake(words[1]), _snake(words[2])


def _json_pairs(text: str, source: str) -> Iterator[tuple[str, str, str]]:
    try:
        table = json.loads(text)
    except json.JSONDecodeError as problem:
        raise BadRuleset(f"{source}: not JSON: {problem}") from None
    for product, pairs in table.items():
        for pair in pairs if isinstance(pairs, list) else [pairs]:
            if not (isinstance(pair, list) and len(pair) == 2 and all(map(_is_word, pair))):
                raise BadRuleset(f'{source}: {product!r} must map to pairs such as [["a", "b"]].')
            yield _snake(pair[0]), _snake(pair[1]), _snake(product)


def _is_word(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _snake(words: str) -> str:
    return "_".join(words.split())


def _json(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as problem:
        raise BadRuleset(f"{file.name}: not JSON: {problem}") from None


def _read(file: Path) -> dict[str, Any]:
    content = _json(file)
    if not isinstance(content, dict):
        raise BadRuleset(f"{file.name}: a JSON object was expected.")
    return content


def _folders(folder: Path, name: str) -> list[Path]:
    return sorted(path for path in folder.rglob(name) if path.is_dir())


def _json_files(folder: Path, name: str) -> list[Path]:
    return [file for root in _folders(folder, name) for file in sorted(root.rglob("*.json"))]


def _bare(name: str, tag: bool = False) -> str:
    """Return the name without the Minecraft namespace; other namespaces are kept."""
    mark = "#" if tag or name.startswith("#") else ""
    return mark + name.removeprefix("#").removeprefix("minecraft:").replace(":", ".")


def _own_tag(name: str, tags: Collection[str]) -> str:
    """Return a tag's name, without its namespace if `tags` contains only the short name."""
    bare = name.removeprefix("#")
    inner = bare.partition(".")[2]
    return f"#{inner}" if name != bare and bare not in tags and inner in tags else name


def _tag_name(file: Path, root: Path) -> str:
    parts = file.relative_to(root).with_suffix("").parts
    return "/".join(parts[1:] if parts[0] in ("items", "item") else parts)


def _values(file: Path) -> list[Any]:
    values = _read(file).get("values")
    if not isinstance(values, list):
        raise BadRuleset(f'{file.name}: a tag is {{"values": [...]}}.')
    return values


def _tag_value(value: Any, file: Path) -> str:
    name = value.get("id", value.get("value")) if isinstance(value, dict) else value
    if not isinstance(name, str):
        raise BadRuleset(
            f'{file.name}: {json.dumps(value)[:60]} is not a tag value; write "minecraft:coal", '
            '{"id": "minecraft:coal"} or, in a fuel tag, {"value": "minecraft:coal", "count": 1}.'
        )
    return name


def _recipe(raw: dict[str, Any], tags: dict[str, tuple[str, ...]], file: Path) -> Recipe | str:
    """Return the recipe in a file, or the reason why it cannot be expressed as amounts of goods."""
    kind = _KINDS.get(str(raw.get("type", "")).rpartition(":")[2])
    if kind is None and isinstance(raw.get("ingredients"), list) and "result" in raw:
        kind = "shapeless"  # a custom type, but still a list of ingredients
    if kind is None:
        return f"type {raw.get('type')} {_NOT_BY_AMOUNTS}"
    try:
        output, amount = _result(raw)
        ingredients = [_ingredient(raw_ingredient) for raw_ingredient in _ingredients(raw, kind)]
        counts = Counter(
            "|".join(_own_tag(n, tags) for n in ingredient.split("|")) for ingredient in ingredients
        )
    except (KeyError, TypeError, AttributeError) as problem:
        raise BadRuleset(f"{file.name}: not a {kind} recipe ({problem!r}).") from None
    slots = tuple(Slot(n, name, members(name, tags, file.name)) for name, n in counts.items())
    return Recipe(kind, slots, output, amount, VANILLA_COST.get(kind, 0) * amount)


def _result(raw: dict[str, Any]) -> tuple[str, int]:
    result = raw["result"]
    if isinstance(result, str):
        return _bare(result), int(raw.get("count", 1))
    return _bare(result.get("item") or result["id"]), int(result.get("count", 1))


def _ingredients(raw: dict[str, Any], kind: str) -> list[Any]:
    if kind == "shaped":
        cells = [cell for row in raw["pattern"] for cell in row if cell != " "]
        return [raw["key"][cell] for cell in cells]
    if kind == "shapeless":
        return list(raw["ingredients"])
    if kind == "smithing":
        return [raw[part] for part in ("template", "base", "addition") if part in raw]
    return [raw["ingredient"]]


def _ingredient(raw: Any) -> str:
    if isinstance(raw, list):
        return "|".join(_ingredient(alternative) for alternative in raw)
    if isinstance(raw, str):
        return _bare(raw)
    return "#" + _bare(raw["tag"]) if "tag" in raw else _bare(raw["item"])


def _fuel(recipes: list[Recipe], tags: dict[str, tuple[str, ...]]) -> dict[str, Amount]:
    """Return the vanilla fuel table for the items that this pack contains."""
    pack_items = {item for recipe in recipes for slot in recipe.slots for item in slot.goods}
    pack_items |= {recipe.output for recipe in recipes}
    return {
        item: rate
        for rate, names in VANILLA_FUEL.items()
        for name in names
        for item in members(name, tags)
        if item in pack_items and not item.startswith(NEVER_BURNS)
    }


def load(path: str | Path) -> Ruleset:
    """Load a ruleset from a TOML file, from a folder with a vanilla Minecraft data pack, or from a
    list of recipes that turn two items into one."""
    path = Path(path)
    try:
        is_folder, is_file = path.is_dir(), path.is_file()
    except OSError as error:  # such as a name that is too long
        raise BadRuleset(
            f"{str(path)[:50]!r} is not the path of a ruleset: {error.strerror}."
        ) from None
    if is_folder:
        return data_pack(path)
    if not is_file:
        raise BadRuleset(
            f"There is no ruleset at {path}; give a .toml, .txt, .json or a folder, or a shipped "
            f"name: {', '.join(SHIPPED)}."
        )
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise BadRuleset(f"{path.name} is not a text file in UTF-8.") from None
    if path.suffix == ".toml":
        return parse(text, source=path.name)
    if path.suffix in (".txt", ".json"):
        return two_to_one(text, name=path.stem, source=path.name)
    raise BadRuleset(f"{path.name}: a ruleset file ends in .toml, .txt or .json.")
