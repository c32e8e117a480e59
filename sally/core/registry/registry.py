"""The registry: games, players, strategies, metrics, studies, models and papers by name.

The package folders are the registry: each file or folder is one entry and gives the entry its name.
Games and papers are packages with parts: `partners.py` of a game defines its `PARTNERS`, `card.py`
its `CARD`, and so on (see `PARTS`); a game in one file defines them all there. A folder that is not
an entry itself is a prefix for the entries in it (`games/toma/po` is `toma_po`). Installed packages
add entries through entry points (`sally.games`, `sally.papers`, ...), and a user's file or folder
through `add_file`. A part is imported when it is used.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import cache, wraps
from importlib import import_module, metadata
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Any, TypeVar, cast

from sally.core.errors import BadInput, NotReady, install_command, unknown
from sally.core.match.partner import Partner
from sally.core.match.player import PlayerKind
from sally.core.prompt.model import Model
from sally.core.registry import manifest
from sally.core.registry.objects import OWN, bound_object
from sally.core.registry.paper import Importer, Paper
from sally.core.rules.card import Card
from sally.core.rules.game import GameSpec
from sally.core.rules.metric import Metric

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
PROVIDERS: Mapping[str, str] = {  # how a vendor's models begin -> its name in Inspect
    "gpt-": "openai",
    "chatgpt": "openai",
    "o1": "openai",
    "o3": "openai",
    "o4": "openai",
    "claude": "anthropic",
    "gemini": "google",
    "mistral": "mistral",
    "grok": "grok",
    "deepseek": "deepseek",
}
PROGRAMS: Mapping[str, str] = {"textarena": "sally.adapters.textarena"}
"""Programs whose games are named `PROGRAM:NAME`, and the modules that define these games."""
PARTS: Mapping[str, str] = {
    "partners": "PARTNERS",
    "players": "PLAYERS",
    "metrics": "METRICS",
    "card": "CARD",
    "board": "BOARD",
    "reveal": "REVEAL",  # the end with everything open
    "example": "EXAMPLE",  # the picture beside the rules
    "problems": "PROBLEMS",  # frozen problems that a visitor may choose from
    "losses": "LOSSES",
    "costs": "COSTS",  # what each decision gave up
    "intended": "INTENDED",  # what forfeited and cut-off decisions count
    "acting": "ACTING",  # which moves fit the mover's prediction
    "training": "TRAINING",  # training split, held-out problems, values of moves
    "depths": "DEPTHS",  # what reasoners of each depth answer
    "stated_beliefs": "BELIEFS",  # decisions with the beliefs stated before them
    "pairs": "PAIRS",  # recipes of certified pairs
    "ideal": "IDEAL",  # an episode against a partner of a declared pool, for the ideal observer
    "study": "STUDIES",
    "tables": "ENGINE",
    "audit": "ITEM_AUDIT",  # function that audits a file of items
    "importer": "IMPORTER",
    "importers": "IMPORTERS",  # of a game: records of it in the formats of other programs
    "round_table": "ROUND_TABLE",  # function that writes episodes as a table of rounds
    "atlas": "ATLAS",
    "commands": "COMMANDS",
}
"""Constant that each part of a game or a paper defines."""
TOGETHER: Mapping[str, str] = {
    **dict.fromkeys(
        ("losses", "costs", "intended", "acting", "training", "depths", "stated_beliefs"),
        "decisions",
    ),
    "reveal": "board",
    "example": "board",
}
"""Modules in which the constants of several parts may be together: how a game judges a decision,
and how it is drawn."""
_added: dict[str, dict[str, Any]] = {folder: {} for folder in CONSTANTS}
_files: list[Path] = []  # users' files, in order of addition
_objects: dict[tuple[str, str], Any] = {}  # (folder, name) -> what `add_object` was given
_from_files: set[tuple[str, str]] = set()  # entries that users' files define: folder, name
_results: dict[tuple[Any, ...], Any] = {}  # of cached functions; cleared by `add`
F = TypeVar("F", bound=Callable[..., Any])


def cache_by_name(find: F) -> F:
    """Cache the results of a function whose arguments are names, until the registry changes."""

    @wraps(find)
    def find_cached(*names: str) -> Any:
        key = (find, names)
        if key not in _results:
            _results[key] = find(*names)
        return _results[key]

    return cast(F, find_cached)


@cache_by_name
def entries(folder: str) -> Mapping[str, Any]:
    """Return all entries of one kind by name, including those in parts of games and papers."""
    return {
        **_shipped_entries(folder),
        **_from_parts(folder),
        **_installed_entries(folder),
        **_added[folder],
    }


@cache_by_name
def games() -> Mapping[str, GameSpec]:
    """Return every game by every public name."""
    specs: dict[str, GameSpec] = {}
    for spec in entries("games").values():
        specs |= spec.by_name
    return specs


@cache_by_name
def game(name: str) -> GameSpec:
    """Return the game with a public name.

    Raises:
        BadInput: If there is no such game; the message suggests the nearest names.
    """
    program, separator, _ = name.partition(":")
    if separator and program in PROGRAMS:
        return cast(GameSpec, _of_program(program).game_spec(name))
    shipped_spec = _shipped_game(name)
    specs = shipped_spec.by_name if shipped_spec else games()
    if name not in specs:
        message = str(unknown("game", name, specs))
        raise BadInput(f"{message} Load a game of your own with `sally --use FILE ...`.")
    spec: GameSpec = specs[name]
    return spec


def study_of_program(name: str, opponent: Any = None) -> Any | None:
    """Return the study of a game of another program, `PROGRAM:NAME`; None for any other name."""
    program, separator, _ = name.partition(":")
    if not separator or program not in PROGRAMS:
        return None
    return _of_program(program).study_of(name, opponent)


def _of_program(program: str) -> Any:
    """Return the module that defines the games of another program: `game_spec`, `study_of`."""
    return import_module(PROGRAMS[program])


def family(name: str) -> GameSpec:
    """Return the game that holds the partners, metrics, card and board of `name`."""
    if (shipped_spec := _shipped_game(name)) is not None:
        return shipped_spec
    spec = game(name)
    family_spec: GameSpec = entries("games").get(spec.family or spec.name, spec)
    return family_spec


def study(name: str) -> Any:
    """Return a study by name; a shipped study is imported without the others.

    Raises:
        BadInput: If there is no such study.
    """
    others = {**_installed_entries("studies"), **_added["studies"]}
    shipped = None if name in others else _load_shipped("studies", name)
    for candidate in shipped if isinstance(shipped, tuple) else (shipped,):
        if candidate is not None and candidate.name == name:
            return candidate
    return pick("study", name, entries("studies"))


def paper(name: str) -> Paper:
    """Return a paper by name; a shipped paper is imported without the others.

    Raises:
        BadInput: If there is no such paper.
    """
    others = {**_installed_entries("papers"), **_added["papers"]}
    shipped_paper = None if name in others else _load_shipped("papers", name)
    paper_: Paper = shipped_paper or pick("paper", name, entries("papers"))
    return paper_


def _shipped_game(name: str) -> GameSpec | None:
    """Return the shipped game with this name, or None if an added game replaces it."""
    added = {**_installed_entries("games"), **_added["games"]}
    spec = _load_shipped("games", name)
    if spec is None or spec.name in added or any(name in spec.by_name for spec in added.values()):
        return None
    return cast(GameSpec, spec)


def _load_shipped(kind: str, name: str) -> Any | None:
    """Return a shipped entry found through the manifest, without importing the others."""
    place = manifest.load()[kind].get(name)
    if place is None:
        return None
    module, _, constant = place.partition(":")
    return getattr(import_module(module), constant)


@cache_by_name
def part(name: str, part: str) -> Any | None:
    """Return a part of a game, such as its `board`, or None if there is no such part."""
    spec = family(name)
    return _load_part(spec, spec.game.__module__, "GAME", part)


def packages() -> Mapping[str, str]:
    """Return the package name of each game that is a package and not a single file."""
    package_names: dict[str, str] = {}
    for name, spec in entries("games").items():
        package = sys.modules.get(import_module(spec.game.__module__).__package__ or "")
        if package is not None and getattr(package, "GAME", None) is spec:
            package_names[name] = package.__name__
    return package_names


def paper_part(name: str, part: str) -> Any | None:
    """Return a part of a paper, such as its `tables`, or None if there is no such part."""
    owner = paper(name)
    return _load_part(owner, owner.home, "PAPER", part)


def _load_part(owner: Any, home: str, constant: str, part: str) -> Any | None:
    """Return the constant that defines a part, from the owner's module or from the part's own
    module in the owner's package.

    The owner is a game or a paper. The part's own module is used only if the whole package belongs
    to the owner.
    """
    module = import_module(home)
    if hasattr(module, PARTS[part]):
        return getattr(module, PARTS[part])
    package = module if hasattr(module, "__path__") else sys.modules.get(module.__package__ or "")
    if package is None or getattr(package, constant, None) is not owner:
        return None
    for name in filter(None, (part, TOGETHER.get(part))):
        place = f"{package.__name__}.{name}"
        if find_spec(place) and hasattr(beside := import_module(place), PARTS[part]):
            return getattr(beside, PARTS[part])
    return None


def importers() -> Mapping[str, Importer]:
    """Return the importers of papers and games, by name."""
    every_importer = [paper_part(name, "importer") for name in entries("papers")]
    for name in entries("games"):
        every_importer += part(name, "importers") or ()
    return {importer.name: importer for importer in every_importer if importer is not None}


def importer(name: str) -> Importer:
    """Return an importer by its own name or by the name of its paper."""
    for shipped in _load_shipped("importers", name) or ():
        if shipped.name == name:
            return cast(Importer, shipped)
    of_paper: Importer | None = paper_part(name, "importer") if name in entries("papers") else None
    importer_: Importer = of_paper or pick("importer", name, importers())
    return importer_


def with_commands() -> tuple[str, ...]:
    """Return the papers with commands of their own, without importing them."""
    papers = entries("papers").items()
    return tuple(sorted(name for name, paper in papers if find_spec(f"{paper.home}.commands")))


def commands(name: str) -> Any | None:
    """Return the commands of a paper."""
    return paper_part(name, "commands")


@cache_by_name
def partners(family: str) -> Mapping[str, Partner]:
    """Return the scripted partners of a family of games."""
    game_partners: Mapping[str, Partner] = part(family, "partners") or {}
    prefix = f"{family}."
    added = {**_installed_entries("partners"), **_added["partners"]}
    installed = {n.removeprefix(prefix): p for n, p in added.items() if n.startswith(prefix)}
    return {**game_partners, **added.get(family, {}), **installed}


@cache_by_name
def players(family: str) -> Mapping[str, PlayerKind]:
    """Return the kinds of players of a family of games: the general ones and those of the
    family."""
    kinds_by_name: dict[str, PlayerKind] = {}
    for kinds in entries("players").values():
        kinds_by_name |= kinds
    return {**kinds_by_name, **(part(family, "players") or {})}


@cache_by_name
def metrics(family: str) -> Mapping[str, Metric]:
    """Return the metrics of a family of games: the general ones and those of the family."""
    general = {**_shipped_entries("metrics"), **_installed_entries("metrics"), **_added["metrics"]}
    fitting = {name: m for name, m in general.items() if not m.games or family in m.games}
    return {**fitting, **{m.name: m for m in part(family, "metrics") or ()}}


def card(family: str) -> Card | None:
    """Return the card of a family of games, or None."""
    card_: Card | None = part(family, "card")
    return card_


def model(name: str) -> Model:
    """Return a model by name: the part before the first colon or slash names its kind.

    A name with a slash and an unknown kind (`openai/gpt-4o`) is passed to Inspect.

    Raises:
        BadInput: If the kind is unknown, or Inspect is needed and not installed.
    """
    if (own_model := bound_object(name)) is not None:
        return cast(Model, own_model)
    maker = name.partition(":")[0].partition("/")[0]
    if maker == OWN:
        raise BadInput(
            f"The model {name!r} was an object that was passed to an earlier call; pass it again."
        )
    if (added := _added["models"].get(maker)) is not None:
        try:
            return _make_model(added, name)
        except BadInput:
            raise
        except Exception as error:  # a user's code may raise anything
            raise BadInput(
                f"The model {name!r} cannot be made: {type(error).__name__}: {error}."
            ) from error
    if (make := _shipped_entries("models").get(maker)) is not None:
        return _make_model(make, name)
    installed = _installed_models()
    entry = installed.get(maker) or (installed.get("inspect") if "/" in name else None)
    if entry is None:
        raise unknown_model(name)
    try:
        return _make_model(entry.load(), name)
    except ImportError as error:
        raise NotReady(
            f"The model {name!r} is reached through Inspect, which is not installed "
            f"({error.name}); "
            f"`{install_command('inspect')}` installs it."
        ) from None


def is_model_name(name: str) -> bool:
    """Return whether a name begins with a known kind of model, or is a provider's as in Inspect."""
    maker = name.partition(":")[0].partition("/")[0]
    return "/" in name or maker == OWN or maker in _model_kinds()


def unknown_model(name: str, aliases: Iterable[str] = ()) -> BadInput:
    """Return the error for an unknown model, with the name that was probably meant.

    >>> print(unknown_model("gpt-4o"))
    There is no model named 'gpt-4o'; did you mean openai/gpt-4o?
    """
    family = next((start for start in PROVIDERS if name.lower().startswith(start)), None)
    if family is not None and name not in aliases:
        meant = f"{PROVIDERS[family]}/{name}"
        return BadInput(f"There is no model named {name!r}; did you mean {meant}?")
    return unknown("model", name, (*aliases, *_model_kinds()))


def _model_kinds() -> tuple[str, ...]:
    return (*_shipped_entries("models"), *_added["models"], *_installed_models())


@cache
def _installed_models() -> Mapping[str, metadata.EntryPoint]:
    return {entry.name: entry for entry in entry_points(group="sally.models")}


@cache
def _make_model(make: Callable[[str], Model], name: str) -> Model:
    return make(name)  # once per process: weights are large


def pick(kind: str, name: str, entries_by_name: Mapping[str, Any]) -> Any:
    """Return the entry with this name, or raise BadInput with the nearest names."""
    if name not in entries_by_name:
        raise unknown(kind, name, entries_by_name)
    return entries_by_name[name]


def add(folder: str, name: str, entry: Any) -> None:
    """Register an entry for this process; an entry of the same name is replaced."""
    if folder not in CONSTANTS:
        raise unknown("kind of entry", folder, CONSTANTS)
    _added[folder][name] = entry
    _from_files.discard((folder, name))
    _results.clear()


def add_object(folder: str, name: str, entry: Any, source: Any) -> None:
    """Register an entry made from an object of this process, which workers cannot use.

    Args:
        folder: Kind of the entry.
        name: Name of the entry.
        entry: The entry.
        source: The object from which the entry was made; its code counts for `fingerprint`.

    Raises:
        BadInput: If a shipped or installed entry has this name.
    """
    if name in _shipped_names(folder):
        raise BadInput(
            f"Sally or an installed package already has {name!r} among its {folder}; give yours "
            "another name."
        )
    add(folder, name, entry)
    _objects[folder, name] = source


def _shipped_names(folder: str) -> Set[str]:
    """Return the names of one kind that cannot be given to an object."""
    if folder == "games":
        return {name for spec in _entries_of_sally(folder).values() for name in spec.by_name}
    if folder == "players":
        general = {name for kinds in _entries_of_sally(folder).values() for name in kinds}
        return general.union(*map(set, _from_parts("partners").values()))
    return _entries_of_sally(folder).keys()


def _entries_of_sally(folder: str) -> Mapping[str, Any]:
    return {**_shipped_entries(folder), **_from_parts(folder), **_installed_entries(folder)}


def added_objects() -> Mapping[tuple[str, str], Any]:
    """Return the objects registered in this process, by the kind and name of their entries."""
    return _objects


def add_file(path: Path) -> list[str]:
    """Register the entries that a user's file or folder defines; return them as `kind/name`.

    Raises:
        BadInput: If the file is missing, fails when it is run, or defines nothing to register.
    """
    module = _load_module(path)
    added_names = [f"{folder}/{name}" for folder, name in _register_entries(module, path.stem)]
    if not added_names:
        constants = ", ".join(CONSTANTS.values())
        raise BadInput(f"{path} defines nothing to register; it should define one of {constants}.")
    if path.resolve() not in _files:
        _files.append(path.resolve())
    return added_names


def _load_module(path: Path) -> ModuleType:
    """Import a user's file, or a folder as a package."""
    start = path / "__init__.py" if path.is_dir() else path
    if not start.is_file():
        raise BadInput(f"There is no file {start}.")
    inside = [str(path)] if path.is_dir() else None
    name = f"sally_user_{path.stem}"
    spec = spec_from_file_location(name, start, submodule_search_locations=inside)
    if spec is None or spec.loader is None:
        raise BadInput(f"{path} is not a Python file.")
    module = module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look up their module by name
    try:
        spec.loader.exec_module(module)
    except SystemExit as error:
        del sys.modules[name]
        raise BadInput(
            f"{path} exits when it is run (code {error.code}); it should only define things."
        ) from None
    except Exception as error:
        del sys.modules[name]
        raise BadInput(f"{path} fails when it is run: {type(error).__name__}: {error}.") from error
    return module


def _register_entries(module: ModuleType, stem: str) -> Iterator[tuple[str, str]]:
    """Register the entries that a module defines, and yield the folder and name of each.

    If the module defines a game, its partners, metrics and other parts of a game are not registered
    as separate entries, because they belong to that game.
    """
    has_game = hasattr(module, CONSTANTS["games"])
    for folder, constant in CONSTANTS.items():
        if not hasattr(module, constant) or (has_game and folder in PARTS):
            continue
        entry = getattr(module, constant)
        _refuse_other_kinds(folder, constant, entry, stem)
        for name, item in _named_entries(folder, getattr(module, "FOR", ""), stem, entry):
            add(folder, name, item)
            _from_files.add((folder, name))
        yield folder, getattr(entry, "name", stem)


def _refuse_other_kinds(folder: str, constant: str, entry: Any, stem: str) -> None:
    """Raise BadInput if a constant in a user's file has the wrong type for the registry."""
    kind_wanted, inside = _kinds()[folder]
    items: Sequence[Any] = ()
    if inside is not None and isinstance(entry, kind_wanted):
        items = list(entry.values() if isinstance(entry, Mapping) else entry)
    if not isinstance(entry, kind_wanted) or not all(isinstance(item, inside) for item in items):
        items_text = "" if inside is None else f" of {inside.__name__}"
        kind = {Mapping: "a mapping", Sequence: "a sequence", Callable: "a function"}.get(
            kind_wanted, f"a {kind_wanted.__name__}"
        )
        raise BadInput(
            f"{constant} in {stem}.py must be {kind}{items_text}, not {_shorten(entry)}."
        )


def _shorten(entry: Any) -> str:
    text = repr(entry)
    return text if len(text) <= 60 else f"{text[:60]}..."


@cache
def _kinds() -> Mapping[str, tuple[Any, Any]]:
    """Return the types that each registry constant and its items must have."""
    from sally.core.match.strategy import Strategy
    from sally.core.registry.study import Study

    return {
        "games": (GameSpec, None),
        "partners": (Mapping, Partner),
        "players": (Mapping, PlayerKind),
        "strategies": (Strategy, None),
        "metrics": (Sequence, Metric),
        "studies": (Study, None),
        "models": (Callable, None),
        "papers": (Paper, None),
    }


def _named_entries(folder: str, family: str, stem: str, entry: Any) -> Iterator[tuple[str, Any]]:
    if folder == "partners":  # added to the family named by `FOR`
        yield from ((f"{family or stem}.{name}", partner) for name, partner in entry.items())
    elif folder == "metrics":
        yield from ((metric.name, metric) for metric in entry)
    else:
        yield getattr(entry, "name", stem), entry


def added_files() -> tuple[Path, ...]:
    """Return the files that users added in this process, so that workers can add them too."""
    return tuple(_files)


def added_in_memory(folder: str = "") -> set[str]:
    """Return the names of entries of a kind, or of all kinds, whose code is not known: they come
    neither from a file nor from an object (`add_object`)."""
    return {
        name
        for kind, entries_of_kind in _added.items()
        for name in entries_of_kind
        if folder in ("", kind) and (kind, name) not in {*_from_files, *_objects}
    }


@cache
def _shipped_entries(folder: str) -> Mapping[str, Any]:
    if folder == "partners":
        return {}  # each game has its own
    entries_found = _entries(import_module(f"sally.{folder}"), CONSTANTS[folder], "")
    if folder == "metrics":
        return {metric.name: metric for _, metrics in entries_found for metric in metrics}
    return dict(entries_found)


def _from_parts(folder: str) -> Mapping[str, Any]:
    """Return the entries of one kind (partners, metrics or studies) that games and papers declare
    in modules of their own."""
    if folder == "partners":
        return {name: partners for name in entries("games") if (partners := part(name, "partners"))}
    if folder == "metrics":
        return {m.name: m for name in entries("games") for m in part(name, "metrics") or ()}
    if folder == "studies":
        return {s.name: s for name in entries("papers") for s in paper_part(name, "study") or ()}
    return {}


def _entries(package: ModuleType, constant: str, prefix: str) -> Iterator[tuple[str, Any]]:
    for module_info in iter_modules(package.__path__):
        if prefix and not module_info.ispkg:
            continue  # shared module of a family folder: its entries are packages
        module = import_module(f"{package.__name__}.{module_info.name}")
        if hasattr(module, constant):
            yield prefix + module_info.name, getattr(module, constant)
        elif module_info.ispkg:
            yield from _entries(module, constant, f"{prefix}{module_info.name}_")


@cache
def _entry_points() -> Any:  # its type differs between Python 3.11 and 3.12
    return metadata.entry_points()


def entry_points(group: str) -> Iterable[metadata.EntryPoint]:
    """Return the entry points of a group; installed packages are searched once per process."""
    selected: Iterable[metadata.EntryPoint] = _entry_points().select(group=group)
    return selected


@cache
def _installed_entries(folder: str) -> Mapping[str, Any]:
    entries_found: dict[str, Any] = {}
    if folder == "models":
        return entries_found  # loaded on use: some take seconds to import
    for entry in entry_points(group=f"sally.{folder}"):
        try:
            loaded = entry.load()
            entries_found |= (
                dict(_named_entries(folder, "", entry.name, loaded))
                if folder == "metrics"
                else {entry.name: loaded}
            )
        except Exception as error:
            raise BadInput(
                f"The installed entry {entry.value} (sally.{folder}) does not load: {error}."
            ) from error
    return entries_found
