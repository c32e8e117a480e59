"""The ruleset of a TradeCraft game, by name, by content hash or by path."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import msgspec

from sally.core.errors import BadInput
from sally.core.registry import packs
from sally.core.rules.words import Pack
from sally.games.tradecraft.instances import named_ruleset
from sally.games.tradecraft.ruleset_formats import load
from sally.games.tradecraft.rulesets import SHIPPED, BadRuleset, Ruleset, dump, parse

_KEPT = "ruleset"  # the key under which a store keeps the text of a ruleset


@lru_cache(maxsize=16)
def ruleset_of(name: str, settings: bytes = b"{}") -> Ruleset:
    """Return a ruleset by name, by content hash, or from the file or folder at a path."""
    if packs.is_reference(name):
        return parse(packs.find(name).texts[_KEPT], source=name)
    if name == "invented" or name in SHIPPED:
        return named_ruleset(name, msgspec.json.decode(settings))
    return load(name)


def portable(params: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the parameters with a custom ruleset named by its content hash, and store that
    ruleset."""
    name = params.get("ruleset", "")
    if not name or name == "invented" or name in SHIPPED or packs.is_reference(name):
        return params
    try:
        rules = ruleset_of(str(name))
    except (BadRuleset, ValueError) as problem:
        raise BadInput(f"ruleset: {problem}") from None
    rules_pack = Pack(rules.name.replace("@", "_"), "tradecraft", {_KEPT: dump(rules)})
    return {**params, "ruleset": packs.remember(rules_pack)}
