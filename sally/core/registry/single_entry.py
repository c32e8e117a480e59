"""One entry of ours by its name, without its neighbours: opening a whole shelf takes longer."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sally.core.registry.paper import Paper
from sally.core.rules.game import GameSpec


@cache
def game(name: str) -> GameSpec[Any, Any, Any] | None:
    """Our game that has this public name, looked for in the texts of their specs."""
    home = Path(next(iter(import_module("sally.games").__path__)))
    for file in sorted(home.rglob("spec.py")):
        folder = file.parent.relative_to(home).parts
        if "_".join(folder) == name or f'"{name}"' in file.read_text("utf-8"):
            found: GameSpec[Any, Any, Any] | None = _defined(
                ".".join(("sally.games", *folder)), "GAME"
            )
            if found is not None and name in by_names(found):
                return found
    return None


def by_names(spec: GameSpec[Any, Any, Any]) -> Mapping[str, GameSpec[Any, Any, Any]]:
    """The game by each of its names, made once, so that whoever asks gets the same."""
    if id(spec) not in _named:
        _named[id(spec)] = spec, spec.under_its_names()  # the spec keeps its id
    return _named[id(spec)][1]


_named: dict[int, tuple[Any, Mapping[str, GameSpec[Any, Any, Any]]]] = {}


def study(name: str) -> Any | None:
    """Our study that lies under its own name, with the paper of that name or among the others."""
    for place, constant in ((f"papers.{name}.study", "STUDIES"), (f"studies.{name}", "STUDY")):
        found = _defined(f"sally.{place}", constant)
        for one in found if isinstance(found, tuple) else (found,):
            if one is not None and one.name == name:
                return one
    return None


def paper(name: str) -> Paper | None:
    """Our paper of this name."""
    found: Paper | None = _defined(f"sally.papers.{name}", "PAPER")
    return found


@cache
def _defined(place: str, constant: str) -> Any | None:
    """What a module of ours defines; None where there is no such module or no such name in it."""
    parts = place.split(".")
    if not all(part.isidentifier() for part in parts):
        return None
    for end in range(3, len(parts) + 1):  # a package that is not there cannot be looked into
        if find_spec(".".join(parts[:end])) is None:
            return None
    return getattr(import_module(place), constant, None)
