"""The folder is the registry: one file, one entry, named after the file.

A package folder counts as a file; a folder without an entry of its own lends its name to its
modules (`games/toma/po.py` is `toma_po`). Installed packages add entries through entry points
(`sally.games`, `sally.partners`, ...), and a user's file through `add_file`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

from sally.core.errors import BadInput, unknown
from sally.core.game import GameSpec
from sally.core.metric import Metric
from sally.core.model import Model
from sally.core.partner import Partner

CONSTANTS: Mapping[str, str] = {
    "games": "GAME",
    "partners": "PARTNERS",
    "players": "PLAYERS",
    "strategies": "STRATEGY",
    "metrics": "METRIC",
    "studies": "STUDY",
    "models": "MODEL",
    "cards": "CARD",
}
_added: dict[str, dict[str, Any]] = {folder: {} for folder in CONSTANTS}
_files: list[Path] = []  # users' files, in the order they were added


def shelf(folder: str) -> Mapping[str, Any]:
    """Everything of one kind, by name."""
    return {**_own(folder), **_installed(folder), **_added[folder]}


def games() -> Mapping[str, GameSpec[Any, Any, Any]]:
    """Every game by every public name."""
    return _by_public_name(tuple(shelf("games").values()))


@cache
def _by_public_name(
    specs: tuple[GameSpec[Any, Any, Any], ...],
) -> Mapping[str, GameSpec[Any, Any, Any]]:
    found: dict[str, GameSpec[Any, Any, Any]] = {}
    for spec in specs:
        found |= spec.under_its_names()
    return found


def game(name: str) -> GameSpec[Any, Any, Any]:
    found: GameSpec[Any, Any, Any] = pick("game", name, games())
    return found


def partners(family: str) -> Mapping[str, Partner]:
    """The scripted minds that play a family of games."""
    own: Mapping[str, Partner] = shelf("partners").get(family, {})
    prefix = f"{family}."
    more = {n.removeprefix(prefix): p for n, p in shelf("partners").items() if n.startswith(prefix)}
    return {**own, **more}


def metrics(family: str) -> Mapping[str, Metric]:
    """The metrics that fit a family of games."""
    every: Mapping[str, Metric] = shelf("metrics")
    return {name: m for name, m in every.items() if not m.games or family in m.games}


def model(name: str) -> Model:
    """A model by name: the part before the first colon or slash names who brings it.

    A name with a slash that nobody here brings (`openai/gpt-4o`) is left to Inspect.
    """
    maker = name.partition(":")[0].partition("/")[0]
    own = {**_own("models"), **_added["models"]}
    if maker in own:
        return _made(own[maker], name)
    installed = _installed_models()
    found = installed.get(maker) or (installed.get("inspect") if "/" in name else None)
    if found is None:
        raise unknown("model", name, (*own, *installed))
    try:
        return _made(found.load(), name)
    except ImportError as why:
        raise BadInput(
            f"The model {name!r} is reached through Inspect, which is not installed ({why.name}); "
            "`pip install 'sally[inspect]'` brings it."
        ) from None


@cache
def _installed_models() -> Mapping[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group="sally.models")}


@cache
def _made(make: Callable[[str], Model], name: str) -> Model:
    return make(name)  # once a process: weights are heavy


def pick(what: str, name: str, known: Mapping[str, Any]) -> Any:
    """The entry of that name, or an error that suggests the nearest."""
    if name not in known:
        raise unknown(what, name, known)
    return known[name]


def add(folder: str, name: str, entry: Any) -> None:
    """Put one more entry on the shelf for this process."""
    if folder not in CONSTANTS:
        raise unknown("shelf", folder, CONSTANTS)
    _added[folder][name] = entry


def add_file(path: Path) -> list[str]:
    """Put whatever a user's file defines on the shelf; says what it found."""
    if not path.is_file():
        raise BadInput(f"There is no file {path}.")
    spec = spec_from_file_location(f"sally_user_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise BadInput(f"{path} is not a Python file.")
    module = module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up by its name
    try:
        spec.loader.exec_module(module)
    except Exception as why:
        del sys.modules[spec.name]
        raise BadInput(f"{path} does not run: {type(why).__name__}: {why}.") from why
    found = []
    for folder, constant in CONSTANTS.items():
        if hasattr(module, constant):
            entry = getattr(module, constant)
            name = getattr(entry, "name", path.stem)
            if folder == "partners":  # they join those of their family
                family = getattr(module, "FOR", name)
                for each, partner in entry.items():
                    add(folder, f"{family}.{each}", partner)
            else:
                add(folder, name, entry)
            found.append(f"{folder}/{name}")
    if not found:
        wanted = ", ".join(CONSTANTS.values())
        raise BadInput(f"{path} puts nothing on the shelf; it should define one of {wanted}.")
    if path.resolve() not in _files:
        _files.append(path.resolve())
    return found


def added_files() -> tuple[Path, ...]:
    """The users' files of this process, so that another can add them too."""
    return tuple(_files)


@cache
def _own(folder: str) -> Mapping[str, Any]:
    return dict(_entries(import_module(f"sally.{_room(folder)}"), CONSTANTS[folder], ""))


def _room(folder: str) -> str:
    return "audit.cards" if folder == "cards" else folder


def _entries(package: ModuleType, constant: str, prefix: str) -> Iterator[tuple[str, Any]]:
    for found in iter_modules(package.__path__):
        module = import_module(f"{package.__name__}.{found.name}")
        if hasattr(module, constant):
            yield prefix + found.name, getattr(module, constant)
        elif found.ispkg:
            yield from _entries(module, constant, f"{prefix}{found.name}_")


@cache
def _installed(folder: str) -> Mapping[str, Any]:
    found: dict[str, Any] = {}
    if folder == "models":
        return found  # loaded when one is asked for: some take seconds to import
    for entry in entry_points(group=f"sally.{folder}"):
        try:
            found[entry.name] = entry.load()
        except Exception as why:
            raise BadInput(
                f"The installed entry {entry.value} (sally.{folder}) does not load: {why}."
            ) from why
    return found
