"""Writer of the drawn sets of instances: `python -m sally.games.tradecraft.freezing FOLDER`.

A set is never edited: a new draw that supersedes it gets a new seed and a new file name. The hands
of the sets `minecraft_core_known_2p` were written by us; the sets whose names end in `_2` hold the
hands of an earlier set, certified again under a corrected ruleset.
"""

import sys
from pathlib import Path
from typing import Any

import msgspec

from sally.games.tradecraft.instances import InstanceSet, generate_set, named_ruleset

SEED = 2026
RULESETS: dict[str, dict[str, Any]] = {
    "minecraft_core": {},
    "alchemy": {},
    "invented": {"seed": 2026, "depth": 5, "width": 8, "branching": 2, "contention": 0.3},
}
SIZES = {2: 40, 3: 12}
FIRST = {"minecraft_core": "minecraft_core_1"}  # the edition under which a first set was drawn


def write(folder: Path) -> None:
    """Draw and certify every set and write it into a folder that contains none of these files
    yet."""
    for name, settings in RULESETS.items():
        rules = named_ruleset(FIRST.get(name, name), settings)
        for players, number in SIZES.items():
            made = generate_set(rules, players, number, SEED)
            _save(
                folder / f"{name}_{players}p.json",
                InstanceSet(name, settings, rules.fingerprint, players, SEED, made),
            )


def _save(path: Path, content: InstanceSet) -> None:
    """Write one line per instance, so that sets can be read and compared."""
    empty = msgspec.json.encode(msgspec.structs.replace(content, instances=()))
    lines = b",\n".join(msgspec.json.encode(each) for each in content.instances)
    with path.open("xb") as file:  # x: refuse to write over a frozen set
        file.write(empty.removesuffix(b"[]}") + b"[\n" + lines + b"\n]}\n")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
