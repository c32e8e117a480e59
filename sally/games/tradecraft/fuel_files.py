"""A folder's own fuel table: `fuel.json`, by item and by tag."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from sally.games.tradecraft.amounts import Amount, BadAmount, plain, read_amount
from sally.games.tradecraft.rulesets import BadRuleset, members

_RATES = ("amount", "count", "rate", "value", "number")  # how an entry may call its amount
_NAMES = ("item", "id", "name")
_SHAPES = (
    'write {"minecraft:coal": 1, "#minecraft:planks": "16/3"} or a list of '
    '{"item" or "tag": name, "amount": pieces for one fuel unit}'
)


def fuel_file(folder: Path, tags: Mapping[str, tuple[str, ...]]) -> dict[str, Amount] | None:
    """The pieces of each item that make one fuel unit, or None where there is no fuel.json.

    An entry for an item wins over one for a tag that it is in.
    """
    files = [file for file in sorted(folder.rglob("fuel.json")) if "tags" not in file.parts]
    if not files:
        return None
    try:
        raw = json.loads(files[0].read_text("utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as why:
        raise BadRuleset(f"fuel.json: not JSON: {why}") from None
    table: dict[str, Amount] = {}
    for name, given in sorted(_entries(raw), key=lambda entry: not entry[0].startswith("#")):
        table.update(dict.fromkeys(members(name, tags, "fuel.json"), _rate(name, given)))
    return table


def _entries(raw: Any, tag: bool = False) -> Iterator[tuple[str, Any]]:
    """Every (name, amount), whichever of the usual shapes the file has."""
    if isinstance(raw, list):
        for entry in raw:
            yield _entry(entry)
        return
    if not isinstance(raw, dict):
        raise BadRuleset(f"fuel.json: {_SHAPES}.")
    for name, given in raw.items():
        if name in ("values", "fuel", "fuels") and isinstance(given, dict | list):
            yield from _entries(given)
        elif name in ("item", "items", "tag", "tags") and isinstance(given, dict | list):
            yield from _entries(given, tag=name.startswith("tag"))
        else:
            yield _bare(name, tag), given


def _entry(entry: Any) -> tuple[str, Any]:
    """One entry of a list."""
    if isinstance(entry, dict):
        given = next((entry[key] for key in _RATES if key in entry), entry.get("n") and entry)
        if isinstance(entry.get("tag"), str):
            return _bare(entry["tag"], True), given
        for key in _NAMES:
            if isinstance(entry.get(key), str):
                return _bare(entry[key], False), given
    if isinstance(entry, list) and len(entry) == 2 and isinstance(entry[0], str):
        return _bare(entry[0], False), entry[1]
    raise BadRuleset(f"fuel.json: {json.dumps(entry)[:60]} is no entry; {_SHAPES}.")


def _bare(name: str, tag: bool) -> str:
    mark = "#" if tag or name.startswith("#") else ""
    return mark + name.removeprefix("#").removeprefix("minecraft:").replace(":", ".")


def _rate(name: str, given: Any) -> Amount:
    if isinstance(given, dict):
        inner = next((given[key] for key in _RATES if key in given), None)
        if inner is None and {"n", "d"} <= given.keys():
            return plain(Fraction(int(given["n"]), int(given["d"])))
        given = inner
    try:
        return read_amount(given)
    except BadAmount as why:
        raise BadRuleset(f"fuel.json, {name}: {why}") from None
