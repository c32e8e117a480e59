"""Writer of the stored sets of instances: `python -m sally.games.tradecraft.freezing FOLDER`.

A set is never edited: a new draw that supersedes it gets a new seed and a new file name.
"""

import sys
from pathlib import Path
from typing import Any

import msgspec

from sally.games.tradecraft.instances import (
    Instance,
    InstanceSet,
    generate_set,
    instance,
    instance_set,
    named_ruleset,
)

SEED = 2026
RULESETS: dict[str, dict[str, Any]] = {
    "minecraft_core": {},
    "alchemy": {},
    "invented": {"seed": 2026, "depth": 5, "width": 8, "branching": 2, "contention": 0.3},
}
SIZES = {2: 40, 3: 12}
FIRST = {"minecraft_core": "minecraft_core_1"}  # the edition under which a first set was drawn
AGAIN = ("minecraft_core_2p", "minecraft_core_3p", "minecraft_core_known_2p")
"""Sets whose ruleset was corrected since: the same hands, certified again as `..._2`."""

# The targets of the known public instances, with hands of our own.
KNOWN: tuple[tuple[list[dict[str, int]], list[str]], ...] = (
    (
        [
            {"iron_ingot": 1, "coal": 2, "birch_planks": 1, "sand": 2},
            {"raw_iron": 3, "oak_planks": 2, "cobblestone": 2},
        ],
        ["shears", "torch"],
    ),
    (
        [
            {"raw_iron": 3, "cobblestone": 2, "sand": 1},
            {"oak_log": 3, "string": 2, "flint": 1},
        ],
        ["bucket", "stone_shovel"],
    ),
    (
        [
            {"stick": 2, "iron_nugget": 3, "gravel": 2, "coal": 1},
            {"cobblestone": 3, "iron_ore": 2, "copper_ingot": 1},
        ],
        ["lever", "chain"],
    ),
    (
        [
            {"iron_ingot": 4, "cobblestone": 3, "coal": 1, "wheat": 5},
            {"raw_iron": 3, "redstone": 6, "wheat": 4, "oak_planks": 2},
        ],
        ["detector_rail", "target"],
    ),
    (
        [
            {"cobblestone": 8, "stick": 2, "wheat": 2},
            {"redstone": 3, "quartz": 2, "cobblestone": 3},
        ],
        ["dropper", "observer"],
    ),
    (
        [
            {"gold_ingot": 4, "raw_gold": 2, "oak_log": 3, "apple": 1},
            {"redstone": 2, "coal": 1, "iron_ingot": 1, "birch_planks": 3},
        ],
        ["powered_rail", "shield"],
    ),
    (
        [
            {"redstone": 3, "quartz": 1, "cobblestone": 4, "iron_ore": 1},
            {"coal": 2, "spruce_planks": 4, "iron_nugget": 3, "glowstone_dust": 2},
        ],
        ["comparator", "lantern"],
    ),
)


def known_instances() -> tuple[Instance, ...]:
    """Return the hand-written instances, each with its certificate: what the players need to reach
    their targets."""
    rules = named_ruleset(FIRST["minecraft_core"])
    return tuple(
        instance(rules, f"minecraft_core-known-{n:02d}", hands, [{t: 1} for t in targets])
        for n, (hands, targets) in enumerate(KNOWN, 1)
    )


def write(folder: Path) -> None:
    """Certify every set of instances and write it into a folder that does not contain any of these
    files yet."""
    for name, settings in RULESETS.items():
        rules = named_ruleset(FIRST.get(name, name), settings)
        for players, number in SIZES.items():
            made = generate_set(rules, players, number, SEED)
            _save(
                folder / f"{name}_{players}p.json",
                InstanceSet(name, settings, rules.fingerprint, players, SEED, made),
            )
    rules = named_ruleset(FIRST["minecraft_core"])
    known = InstanceSet("minecraft_core", {}, rules.fingerprint, 2, None, known_instances())
    _save(folder / "minecraft_core_known_2p.json", known)


def certified_again(name: str) -> InstanceSet:
    """Certify the instances of a stored set again, under the current ruleset; raise if an instance
    would be rejected."""
    first = instance_set(name)
    rules = named_ruleset("minecraft_core")
    made = tuple(
        instance(
            rules,
            each.id.replace("p-", "p_2-").replace("known-", "known_2-"),
            each.hands,
            each.targets,
            each.max_turns,
        )
        for each in first.instances
    )
    return InstanceSet("minecraft_core", {}, rules.fingerprint, first.players, first.seed, made)


def _save(path: Path, content: InstanceSet) -> None:
    """Write one line per instance, so that sets can be read and compared."""
    empty = msgspec.json.encode(msgspec.structs.replace(content, instances=()))
    lines = b",\n".join(msgspec.json.encode(each) for each in content.instances)
    with path.open("xb") as file:  # x: refuse to write over a frozen set
        file.write(empty.removesuffix(b"[]}") + b"[\n" + lines + b"\n]}\n")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
    for name in AGAIN:
        _save(Path(sys.argv[1]) / f"{name}_2.json", certified_again(name))
