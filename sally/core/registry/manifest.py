"""The manifest: where each shipped game, study, paper and importer of a game is defined.

It allows one entry to be imported without the others. `python -m sally.core.registry.manifest`
regenerates it; a test compares it with the folders.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import msgspec

FILE = Path(__file__).with_name("manifest.json")
Manifest = dict[str, dict[str, str]]  # kind -> name -> "module:constant"


@cache
def load() -> Mapping[str, Mapping[str, str]]:
    """Return the shipped manifest."""
    return msgspec.json.decode(FILE.read_bytes(), type=Manifest)


def build() -> Manifest:
    """Build the manifest by importing every module of the shipped games, studies and papers."""
    from importlib import import_module  # not needed to read the manifest
    from pkgutil import walk_packages

    entries: Manifest = {"games": {}, "studies": {}, "papers": {}, "importers": {}}
    for kind in ("games", "studies", "papers"):
        package = import_module(f"sally.{kind}")
        for module in walk_packages(package.__path__, f"sally.{kind}."):
            place = import_module(module.name)
            if kind == "games" and module.ispkg and hasattr(place, "GAME"):
                for name in place.GAME.by_name:
                    entries["games"][name] = f"{module.name}:GAME"
            elif kind == "games" and hasattr(place, "IMPORTERS"):
                for importer in place.IMPORTERS:
                    entries["importers"][importer.name] = f"{module.name}:IMPORTERS"
            elif kind == "studies" and hasattr(place, "STUDY"):
                entries["studies"][place.STUDY.name] = f"{module.name}:STUDY"
            elif kind == "papers" and module.ispkg and hasattr(place, "PAPER"):
                entries["papers"][place.PAPER.name] = f"{module.name}:PAPER"
            elif kind == "papers" and hasattr(place, "STUDIES"):
                for study in place.STUDIES:
                    entries["studies"][study.name] = f"{module.name}:STUDIES"
    return {kind: dict(sorted(names.items())) for kind, names in entries.items()}


if __name__ == "__main__":
    FILE.write_bytes(msgspec.json.format(msgspec.json.encode(build()), indent=1) + b"\n")
