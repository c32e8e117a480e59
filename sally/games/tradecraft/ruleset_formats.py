"""Rulesets from other people's formats: a vanilla data-pack folder and a two-to-one list."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

from sally.games.tradecraft.amounts import Amount
from sally.games.tradecraft.rulesets import (
    SHIPPED,
    BadRuleset,
    Recipe,
    Ruleset,
    Slot,
    members,
    parse,
    resolved_tags,
)

# The block game keeps fuel in its program, not in its data packs, so the table is ours:
# items per fuel unit, one unit being what a piece of coal gives (the protocol's figures).
VANILLA_FUEL: dict[Amount, tuple[str, ...]] = {
    1: ("coal", "charcoal"),
    Fraction(16, 3): ("#planks", "#logs"),
    16: ("stick", "#wool", "#wooden_buttons", "bowl"),
    Fraction(32, 3): ("#wooden_slabs",),
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
_PAIR = re.compile(r"\s*([^+=>#|,]+?)\s*\+\s*([^+=>#|,]+?)\s*(?:=|->)\s*([^+=>#|,]+?)\s*")


def data_pack(folder: Path) -> Ruleset:
    """The rules in a data-pack folder in the block game's own JSON (1.20 or 1.21 layout)."""
    raw_tags = {
        _tag_name(file, root): [_bare(_tag_value(value, file)) for value in _values(file)]
        for root in _folders(folder, "tags")
        for file in sorted(root.rglob("*.json"))
        if not (root / "items").is_dir() or (root / "items") in file.parents
        if not (root / "item").is_dir() or (root / "item") in file.parents
    }
    tags = resolved_tags(raw_tags)
    recipes: list[Recipe] = []
    notes: list[str] = []
    files = [file for name in ("recipes", "recipe") for file in _json_files(folder, name)]
    if not files:
        raise BadRuleset(f"{folder} holds no recipes/*.json; give the folder of a data pack.")
    for file in files:
        recipe = _recipe(_read(file), tags, file)
        if isinstance(recipe, Recipe):
            recipes.append(recipe)
        else:
            notes.append(f"{file.name}: left out, {recipe}")
    return Ruleset(folder.name, tuple(recipes), tags, _fuel(recipes, tags), notes=tuple(notes))


def two_to_one(text: str, name: str, where: str) -> Ruleset:
    """The rules in a list of lines "a + b = c", or in JSON {"c": [["a", "b"], ...]}."""
    pairs = _json_pairs(text, where) if text.lstrip().startswith("{") else _pairs(text, where)
    recipes = []
    for first, second, made in pairs:
        slots = tuple(Slot(n, item, (item,)) for item, n in Counter((first, second)).items())
        recipes.append(Recipe("combine", slots, made, 1))
    if not recipes:
        raise BadRuleset(f"{where}: no combination found; write lines such as 'a + b = c'.")
    return Ruleset(name, tuple(recipes), {}, {})


def _pairs(text: str, where: str) -> Iterator[tuple[str, str, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            found = _PAIR.fullmatch(line)
            if found is None:
                raise BadRuleset(f"{where}, line {number}: write it like 'a + b = c', not {line!r}")
            yield _snake(found[1]), _snake(found[2]), _snake(found[3])


def _json_pairs(text: str, where: str) -> Iterator[tuple[str, str, str]]:
    try:
        table = json.loads(text)
    except json.JSONDecodeError as problem:
        raise BadRuleset(f"{where}: not JSON: {problem}") from None
    for made, pairs in table.items():
        for pair in pairs if isinstance(pairs, list) else [pairs]:
            if not (isinstance(pair, list) and len(pair) == 2 and all(map(_is_word, pair))):
                raise BadRuleset(f'{where}: {made!r} must map to pairs such as [["a", "b"]].')
            yield _snake(pair[0]), _snake(pair[1]), _snake(made)


def _is_word(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _snake(words: str) -> str:
    return "_".join(words.split())


def _read(file: Path) -> dict[str, Any]:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as problem:
        raise BadRuleset(f"{file.name}: not JSON: {problem}") from None
    if not isinstance(content, dict):
        raise BadRuleset(f"{file.name}: a JSON object was expected.")
    return content


def _folders(folder: Path, name: str) -> list[Path]:
    inside = [path for path in folder.rglob(name) if path.is_dir()]
    return sorted(inside)


def _json_files(folder: Path, name: str) -> list[Path]:
    return [file for root in _folders(folder, name) for file in sorted(root.rglob("*.json"))]


def _bare(name: str) -> str:
    """The name without the game's own namespace; other namespaces stay."""
    mark, name = ("#", name[1:]) if name.startswith("#") else ("", name)
    return mark + name.removeprefix("minecraft:").replace(":", ".")


def _tag_name(file: Path, root: Path) -> str:
    parts = file.relative_to(root).with_suffix("").parts
    return "/".join(parts[1:] if parts[0] in ("items", "item") else parts)


def _values(file: Path) -> list[Any]:
    values = _read(file).get("values")
    if not isinstance(values, list):
        raise BadRuleset(f'{file.name}: a tag is {{"values": [...]}}.')
    return values


def _tag_value(value: Any, file: Path) -> str:
    name = value.get("id") if isinstance(value, dict) else value
    if not isinstance(name, str):
        raise BadRuleset(f"{file.name}: a tag value is a name or an object with an id.")
    return name


def _recipe(raw: dict[str, Any], tags: dict[str, tuple[str, ...]], file: Path) -> Recipe | str:
    """The recipe in a file, or the reason why it is none that amounts alone can express."""
    kind = _KINDS.get(str(raw.get("type", "")).removeprefix("minecraft:"))
    if kind is None:
        return f"type {raw.get('type')} is no fixed list of ingredients"
    try:
        output, amount = _result(raw)
        wanted = Counter(_ingredient(each) for each in _ingredients(raw, kind))
    except (KeyError, TypeError, AttributeError) as problem:
        raise BadRuleset(f"{file.name}: not a {kind} recipe ({problem!r}).") from None
    slots = tuple(Slot(n, name, members(name, tags, file.name)) for name, n in wanted.items())
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
        return "|".join(_ingredient(each) for each in raw)
    if isinstance(raw, str):
        return _bare(raw)
    return "#" + _bare(raw["tag"]) if "tag" in raw else _bare(raw["item"])


def _fuel(recipes: list[Recipe], tags: dict[str, tuple[str, ...]]) -> dict[str, Amount]:
    """The vanilla fuel table for the items that this pack knows."""
    known = {item for recipe in recipes for slot in recipe.slots for item in slot.goods}
    known |= {recipe.output for recipe in recipes}
    return {
        item: rate
        for rate, names in VANILLA_FUEL.items()
        for name in names
        for item in members(name, tags)
        if item in known
    }


def load(path: str | Path) -> Ruleset:
    """A ruleset from disk: our TOML file, a vanilla data-pack folder or a two-to-one list."""
    path = Path(path)
    if path.is_dir():
        return data_pack(path)
    if not path.is_file():
        raise BadRuleset(
            f"There is no ruleset at {path}; give a .toml, .txt, .json or a folder, or name one "
            f"that is shipped: {', '.join(SHIPPED)}."
        )
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise BadRuleset(f"{path.name} is not a text file in UTF-8.") from None
    if path.suffix == ".toml":
        return parse(text, where=path.name)
    if path.suffix in (".txt", ".json"):
        return two_to_one(text, name=path.stem, where=path.name)
    raise BadRuleset(f"{path.name}: a ruleset file ends in .toml, .txt or .json.")
