"""The folder is the registry: one file or folder, one entry, named after it.

A game and a paper are folders with rooms: `partners.py` beside a game defines its `PARTNERS`,
`card.py` its `CARD`, and so on (see `ROOMS`); a game in one file defines them all there. A folder
without an entry of its own lends its name to what is in it (`games/toma/po` is `toma_po`).
Installed packages add entries through entry points (`sally.games`, `sally.papers`, ...), and a
user's file or folder through `add_file`. A room is opened when it is used, not before.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache, wraps
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Any, TypeVar, cast

from sally.core.errors import BadInput, unknown
from sally.core.match.player import PlayerKind
from sally.core.prompt.model import Model
from sally.core.registry import single_entry as alone
from sally.core.registry.paper import Importer, Paper
from sally.core.rules.card import Card
from sally.core.rules.game import GameSpec
from sally.core.rules.metric import Metric
from sally.core.rules.partner import Partner

CONSTANTS: Mapping[str, str] = {
    "games": "GAME",
    "partners": "PARTNERS",
    "players": "PLAYERS",
    "strategies": "STRATEGY",
    "metrics": "METRICS",
    "studies": "STUDY",
    "models": "MODEL",
    "papers": "PAPER",
}
ROOMS: Mapping[str, str] = {
    "partners": "PARTNERS",
    "players": "PLAYERS",
    "metrics": "METRICS",
    "card": "CARD",
    "board": "BOARD",
    "problems": "PROBLEMS",  # frozen problems that a visitor may choose from
    "losses": "LOSSES",
    "costs": "COSTS",  # what each decision gave up
    "intended": "INTENDED",  # what forfeited and cut-off decisions count
    "acting": "ACTING",  # which moves fit what their maker had predicted
    "training": "TRAINING",  # what is learnt from, what is held out, what moves are worth
    "study": "STUDIES",
    "tables": "ENGINE",
    "importer": "IMPORTER",
    "commands": "COMMANDS",
}
"""By room of a game or a paper, the constant that its module defines."""
DECISION_ROOMS = frozenset({"losses", "costs", "intended", "acting", "training"})
"""Rooms whose constants may lie together in `decisions.py`: what a game says of one decision."""
_added: dict[str, dict[str, Any]] = {folder: {} for folder in CONSTANTS}
_files: list[Path] = []  # users' files, in the order they were added
_known: dict[tuple[Any, ...], Any] = {}  # what was put together, while nothing is added
F = TypeVar("F", bound=Callable[..., Any])


def once(find: F) -> F:
    """Find something once for each state of what was added: shelves are asked for all the time."""

    @wraps(find)
    def found(*names: str) -> Any:
        key: tuple[Any, ...] = (find, names)
        for folder, some in _added.items():
            if some:
                key += (folder, *some, *map(id, some.values()))
        if (kept := _known.get(key)) is None:
            # the entries are kept beside it, so that no other can get their ids
            kept = find(*names), [list(some.values()) for some in _added.values()]
            _known[key] = kept
        return kept[0]

    return cast(F, found)


@once
def entries(folder: str) -> Mapping[str, Any]:
    """Everything of one kind, by name; the kinds that lie in rooms too, from every room."""
    return {**_own(folder), **_from_rooms(folder), **_installed(folder), **_added[folder]}


@once
def games() -> Mapping[str, GameSpec[Any, Any, Any]]:
    """Every game by every public name."""
    found: dict[str, GameSpec[Any, Any, Any]] = {}
    for spec in entries("games").values():
        found |= alone.by_names(spec)
    return found


def game(name: str) -> GameSpec[Any, Any, Any]:
    """A game by a public name."""
    own = _alone(name)
    found: GameSpec[Any, Any, Any] = pick("game", name, alone.by_names(own) if own else games())
    return found


def family(name: str) -> GameSpec[Any, Any, Any]:
    """The game under whose name partners, metrics, card and board of `name` lie."""
    if (own := _alone(name)) is not None:
        return own
    spec = game(name)
    whole: GameSpec[Any, Any, Any] = entries("games").get(spec.family or spec.name, spec)
    return whole


def study(name: str) -> Any:
    """A study by name; where its name says in which file of ours it lies, no other is opened."""
    others = {**_installed("studies"), **_added["studies"]}
    found = None if name in others else alone.study(name)
    return found or pick("study", name, entries("studies"))


def paper(name: str) -> Paper:
    """A paper by name; a paper of ours is opened without the others."""
    others = {**_installed("papers"), **_added["papers"]}
    own = None if name in others else alone.paper(name)
    found: Paper = own or pick("paper", name, entries("papers"))
    return found


def _alone(name: str) -> GameSpec[Any, Any, Any] | None:
    """Our game of this name without the others; None where somebody has added one of that name."""
    added = {**_installed("games"), **_added["games"]}
    own = alone.game(name)
    if own is None or own.name in added:
        return None
    return None if any(name in alone.by_names(spec) for spec in added.values()) else own


@once
def room(name: str, room: str) -> Any | None:
    """What a game has in one of its rooms; None where it has no such room."""
    spec = family(name)
    return _opened(spec, spec.game.__module__, "GAME", room)


def packages() -> Mapping[str, str]:
    """By game, the package that is its own, where further files of the game may lie."""
    found: dict[str, str] = {}
    for name, spec in entries("games").items():
        package = sys.modules.get(import_module(spec.game.__module__).__package__ or "")
        if package is not None and getattr(package, "GAME", None) is spec:
            found[name] = package.__name__
    return found


def paper_room(name: str, room: str) -> Any | None:
    """What a paper has in one of its rooms; None where it has no such room."""
    found = paper(name)
    return _opened(found, found.home, "PAPER", room)


def _opened(owner: Any, home: str, constant: str, room: str) -> Any | None:
    """The room's constant, looked for once an owner."""
    key = (id(owner), home, room)
    if key not in _rooms:
        _rooms[key] = owner, _looked_for(owner, home, constant, room)  # the owner keeps its id
    return _rooms[key][1]


_rooms: dict[tuple[int, str, str], tuple[Any, Any | None]] = {}


def _looked_for(owner: Any, home: str, constant: str, room: str) -> Any | None:
    """The room's constant in the owner's own module, or in the module beside it.

    A module beside it counts only if the package as a whole is the owner's.
    """
    module = import_module(home)
    if hasattr(module, ROOMS[room]):
        return getattr(module, ROOMS[room])
    package = module if hasattr(module, "__path__") else sys.modules.get(module.__package__ or "")
    if package is None or getattr(package, constant, None) is not owner:
        return None
    for name in (room, "decisions") if room in DECISION_ROOMS else (room,):
        place = f"{package.__name__}.{name}"
        if find_spec(place) and hasattr(beside := import_module(place), ROOMS[room]):
            return getattr(beside, ROOMS[room])
    return None


def importers() -> Mapping[str, Importer]:
    """Who reads games that were recorded elsewhere, by name."""
    found = [paper_room(name, "importer") for name in entries("papers")]
    return {importer.name: importer for importer in found if importer is not None}


def importer(name: str) -> Importer:
    """An importer by its own name or by its paper's."""
    own: Importer | None = paper_room(name, "importer") if name in entries("papers") else None
    found: Importer = own or pick("importer", name, importers())
    return found


def with_commands() -> tuple[str, ...]:
    """The papers and games that bring commands of their own, by name; none of them is loaded."""
    owners = [*((n, p.home) for n, p in entries("papers").items())]
    owners += [(n, package) for n, package in packages().items()]
    return tuple(sorted(name for name, home in owners if find_spec(f"{home}.commands")))


def commands(name: str) -> Any | None:
    """The commands of a paper or a game."""
    return (paper_room if name in entries("papers") else room)(name, "commands")


@once
def partners(family: str) -> Mapping[str, Partner]:
    """The scripted minds that play a family of games."""
    own: Mapping[str, Partner] = room(family, "partners") or {}
    prefix = f"{family}."
    added = {**_installed("partners"), **_added["partners"]}
    more = {n.removeprefix(prefix): p for n, p in added.items() if n.startswith(prefix)}
    return {**own, **added.get(family, {}), **more}


@once
def players(family: str) -> Mapping[str, PlayerKind]:
    """The kinds of player that fit a family of games: those for any game, and its own."""
    found: dict[str, PlayerKind] = {}
    for kinds in entries("players").values():
        found |= kinds
    return {**found, **(room(family, "players") or {})}


@once
def metrics(family: str) -> Mapping[str, Metric]:
    """The metrics that fit a family of games: those for any game, and its own."""
    general = {**_own("metrics"), **_installed("metrics"), **_added["metrics"]}
    fitting = {name: m for name, m in general.items() if not m.games or family in m.games}
    return {**fitting, **{m.name: m for m in room(family, "metrics") or ()}}


def card(family: str) -> Card | None:
    """The mindless players of a family of games, if it has a card."""
    found: Card | None = room(family, "card")
    return found


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
            "`pip install 'sally-lab[inspect]'` brings it."
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
    """Put whatever a user's file or folder defines on the shelf; says what it found."""
    module = _loaded(path)
    found = [f"{folder}/{name}" for folder, name in _taken(module, path.stem)]
    if not found:
        wanted = ", ".join(CONSTANTS.values())
        raise BadInput(f"{path} puts nothing on the shelf; it should define one of {wanted}.")
    if path.resolve() not in _files:
        _files.append(path.resolve())
    return found


def _loaded(path: Path) -> ModuleType:
    """A user's module, or package where the path is a folder."""
    start = path / "__init__.py" if path.is_dir() else path
    if not start.is_file():
        raise BadInput(f"There is no file {start}.")
    inside = [str(path)] if path.is_dir() else None
    name = f"sally_user_{path.stem}"
    spec = spec_from_file_location(name, start, submodule_search_locations=inside)
    if spec is None or spec.loader is None:
        raise BadInput(f"{path} is not a Python file.")
    module = module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up by its name
    try:
        spec.loader.exec_module(module)
    except Exception as why:
        del sys.modules[name]
        raise BadInput(f"{path} does not run: {type(why).__name__}: {why}.") from why
    return module


def _taken(module: ModuleType, stem: str) -> Iterator[tuple[str, str]]:
    """Put each entry of a module on its shelf; rooms of a game that it defines stay the game's."""
    has_game = hasattr(module, CONSTANTS["games"])
    for folder, constant in CONSTANTS.items():
        if not hasattr(module, constant) or (has_game and folder in ROOMS):
            continue
        entry = getattr(module, constant)
        for name, one in _each(folder, getattr(module, "FOR", ""), stem, entry):
            add(folder, name, one)
        yield folder, getattr(entry, "name", stem)


def _each(folder: str, family: str, stem: str, entry: Any) -> Iterator[tuple[str, Any]]:
    if folder == "partners":  # they join those of the family that `FOR` names
        yield from ((f"{family or stem}.{name}", partner) for name, partner in entry.items())
    elif folder == "metrics":
        yield from ((metric.name, metric) for metric in entry)
    else:
        yield getattr(entry, "name", stem), entry


def added_files() -> tuple[Path, ...]:
    """The users' files of this process, so that another can add them too."""
    return tuple(_files)


@cache
def _own(folder: str) -> Mapping[str, Any]:
    if folder == "partners":
        return {}  # each game has its own
    found = _entries(import_module(f"sally.{folder}"), CONSTANTS[folder], "")
    if folder == "metrics":
        return {metric.name: metric for _, metrics in found for metric in metrics}
    return dict(found)


def _from_rooms(folder: str) -> Mapping[str, Any]:
    """What the rooms of games and papers add to a shelf."""
    if folder == "partners":
        return {name: partners for name in entries("games") if (partners := room(name, "partners"))}
    if folder == "metrics":
        return {m.name: m for name in entries("games") for m in room(name, "metrics") or ()}
    if folder == "studies":
        return {s.name: s for name in entries("papers") for s in paper_room(name, "study") or ()}
    return {}


def _entries(package: ModuleType, constant: str, prefix: str) -> Iterator[tuple[str, Any]]:
    for found in iter_modules(package.__path__):
        if prefix and not found.ispkg:
            continue  # a part of the folder that others share: an entry within it is a folder too
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
            loaded = entry.load()
            found |= (
                dict(_each(folder, "", entry.name, loaded))
                if folder == "metrics"
                else {entry.name: loaded}
            )
        except Exception as why:
            raise BadInput(
                f"The installed entry {entry.value} (sally.{folder}) does not load: {why}."
            ) from why
    return found
