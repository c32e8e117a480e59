"""Parameters of a TradeCraft game: its ruleset (by name, hash or path) and its hands, which are
checked."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Protocol

import msgspec

from sally.core.errors import BadInput
from sally.core.prompt import packs
from sally.core.prompt.words import Pack
from sally.games.tradecraft.actions import SEATS
from sally.games.tradecraft.amounts import MOST
from sally.games.tradecraft.instances import named_ruleset
from sally.games.tradecraft.ruleset_formats import load
from sally.games.tradecraft.rulesets import SHIPPED, BadRuleset, Ruleset, dump, parse

Lots = tuple[dict[str, int], ...]

_KEPT = "ruleset"  # the key under which a store keeps the text of a ruleset


class Parameters(Protocol):
    """Those parameters of a game that this module checks."""

    @property
    def hands(self) -> Lots: ...
    @property
    def targets(self) -> Lots: ...
    @property
    def max_turns(self) -> int: ...
    @property
    def most_crafts(self) -> int: ...
    @property
    def most_refused(self) -> int | None: ...
    @property
    def first(self) -> int: ...
    @property
    def rules(self) -> Ruleset: ...


@lru_cache(maxsize=16)
def ruleset_of(name: str, settings: bytes = b"{}") -> Ruleset:
    """Return a ruleset by name, by content hash, or from the file or folder at a path."""
    if packs.is_reference(name):
        return parse(packs.find(name).texts[_KEPT], where=name)
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
    kept = Pack(rules.name.replace("@", "_"), "tradecraft", {_KEPT: dump(rules)})
    return {**params, "ruleset": packs.remember(kept)}


def rules_of(game: Parameters) -> Ruleset:
    try:
        return game.rules
    except (BadRuleset, TypeError, ValueError) as problem:
        raise BadInput(f"ruleset: {problem}") from None


def check_parameters(game: Parameters) -> None:
    """Raise BadInput if the parameters are not valid."""
    if not 2 <= len(game.hands) <= len(SEATS):
        raise BadInput(f"tradecraft has 2 to {len(SEATS)} players, not {len(game.hands)} hands.")
    if len(game.targets) != len(game.hands):
        raise BadInput(
            f"{len(game.hands)} hands and {len(game.targets)} targets were given; "
            "every player needs one of each."
        )
    if game.max_turns < 1 or game.most_crafts < 1:
        raise BadInput("max_turns and most_crafts must be at least 1.")
    if not 0 <= game.first < len(game.hands):
        raise BadInput(f"first must be from 0 to {len(game.hands) - 1}, not {game.first}.")
    if game.most_refused is not None and game.most_refused < 0:
        raise BadInput(f"most_refused must be at least 0, not {game.most_refused}.")
    rules = rules_of(game)
    for name, lots in (("hands", game.hands), ("targets", game.targets)):
        for seat, lot in zip(SEATS, lots, strict=False):
            for item, amount in lot.items():
                if (why := rules.unknown(item)) is not None:
                    raise BadInput(f"{name} of {seat}: {why}")
                if not 1 <= amount <= MOST:
                    raise BadInput(f"{name} of {seat}: {amount} {item} is not from 1 to {MOST}.")
    for seat, target in zip(SEATS, game.targets, strict=False):
        if not target:
            raise BadInput(f"targets of {seat}: a target must name at least one item.")
