"""Whose a store is: one study's, and nobody else's."""

from __future__ import annotations

import hashlib

import msgspec

from sally.core.errors import BadInput
from sally.core.log.events import SCHEMA, PlayerSpec
from sally.core.registry.study import Study
from sally.store.places import Folder, Place, Where, place

MANIFEST = "study.json"


class Manifest(msgspec.Struct, frozen=True):
    """What a store holds: the study's name and the hash of all that it asks for."""

    study: str
    asks: str
    schema: int = SCHEMA


def require(where: Where, study: str) -> None:
    """Refuse a place that cannot be this study's; nothing is written."""
    at = place(where)
    try:
        if MANIFEST not in _inside(at):
            refuse_others(at)
            return
    except OSError as why:
        raise BadInput(f"The store {at} cannot be made: {why.strerror}.") from None
    theirs = read_manifest(at)
    if theirs.study != study:
        raise BadInput(f"The folder {at} belongs to study {theirs.study!r}; choose another one.")


def claim(where: Where, manifest: Manifest, asked: Study | None = None) -> None:
    """Make the place this study's, or refuse if it is another's; keep what is asked for."""
    at = place(where)
    require(at, manifest.study)
    try:
        if MANIFEST not in _inside(at):
            data = msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n"
            at.create(MANIFEST, data)  # if another process was quicker: whose is it then?
    except OSError as why:
        raise BadInput(f"The store {at} cannot be made: {why.strerror}.") from None
    require(at, manifest.study)
    if asked is not None:
        _keep_study(at, manifest.asks, asked)


def _keep_study(at: Place, asks: str, study: Study) -> None:
    """Put a study into the store, once, under the hash of all that it asks for."""
    try:
        if f"{asks}.json" not in at.names("studies"):
            at.create(f"studies/{asks}.json", msgspec.json.encode(study, order="sorted") + b"\n")
    except OSError as why:
        raise BadInput(f"The study could not be stored: {why.strerror}.") from None


def studies(where: Where) -> dict[str, Study]:
    """What was asked for in the runs of a store, by hash; empty where none was kept."""
    at, found = place(where), dict[str, Study]()
    for name in at.names("studies"):
        try:
            found[name.removesuffix(".json")] = msgspec.json.decode(
                at.read(f"studies/{name}"), type=Study
            )
        except (OSError, msgspec.DecodeError) as why:
            raise BadInput(f"{at}/studies/{name} does not hold a study: {why}.") from None
    return found


class _Lineups(msgspec.Struct):
    """Of a cell, who sits where."""

    lineups: tuple[dict[str, PlayerSpec], ...]


class _Cells(msgspec.Struct):
    """Of a study, its cells: reading no more takes a fraction of the time."""

    cells: tuple[_Lineups, ...]


def models_asked(where: Where) -> set[str]:
    """The models that the studies of a store name; a file that holds no study names none."""
    at, found = place(where), set[str]()
    for name in at.names("studies"):
        try:
            asked = msgspec.json.decode(at.read(f"studies/{name}"), type=_Cells)
        except (OSError, msgspec.DecodeError):
            continue  # `studies` says so to whoever needs the study itself
        seats = [who for c in asked.cells for lineup in c.lineups for who in lineup.values()]
        found |= {str(who.params["model"]) for who in seats if "model" in who.params}
    return found


def keep_alias(where: Where, alias: str, model: str) -> None:
    """Put what a run calls a model into the store, once, so that its tables call it so anywhere."""
    at, data = place(where), msgspec.json.encode([alias, model])
    name = f"{hashlib.sha256(data).hexdigest()[:16]}.json"
    try:
        if name not in at.names("aliases"):
            at.create(f"aliases/{name}", data + b"\n")
    except OSError as why:
        raise BadInput(f"The alias {alias} could not be stored: {why.strerror}.") from None


def aliases(where: Where) -> dict[str, str]:
    """By model, what the runs of a store called it; of several names the first by the alphabet."""
    at, found = place(where), dict[str, str]()
    for name in at.names("aliases"):
        try:
            alias, model = msgspec.json.decode(at.read(f"aliases/{name}"), type=tuple[str, str])
        except (OSError, msgspec.DecodeError) as why:
            raise BadInput(f"{at}/aliases/{name} does not hold an alias: {why}.") from None
        found[model] = min(alias, found.get(model, alias))
    return found


def refuse_others(at: Place) -> None:
    """A folder with files in it is somebody's; a manifest in the making is another process's."""
    if _inside(at):
        if MANIFEST in _inside(at):  # it was made while we looked
            return
        raise BadInput(f"The folder {at} holds other files; choose another one.")


def _inside(at: Place) -> list[str]:
    """What stands in a place, hidden files of others included."""
    if isinstance(at, Folder):
        if not at.path.exists():
            return []
        found = [entry.name for entry in at.path.iterdir()]
        return [name for name in found if not name.startswith(f".{MANIFEST}")]
    return at.names()


def manifest_of(where: Where) -> Manifest | None:
    """What a store says that it holds; None for a folder of bare files."""
    at = place(where)
    return read_manifest(at) if MANIFEST in at.names() else None


def read_manifest(where: Where) -> Manifest:
    """The manifest of a store."""
    at = place(where)
    try:
        return msgspec.json.decode(at.read(MANIFEST), type=Manifest)
    except (OSError, msgspec.DecodeError) as why:
        raise BadInput(f"{at}/{MANIFEST} does not describe a store: {why}.") from None
