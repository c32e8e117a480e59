"""The manifest of a store, which belongs to one study, and the studies of its runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from sally.core.errors import BadInput, not_written
from sally.core.log.events import SCHEMA
from sally.core.registry.study import Study
from sally.store.places import Folder, Place, Where, place

T = TypeVar("T")
MANIFEST = "study.json"
PEOPLE = "people_study.json"


class Manifest(msgspec.Struct, frozen=True):
    """The name of a store's study, and the hash of everything that the study requires."""

    study: str
    asks: str
    schema: int = SCHEMA


def require(where: Where, study: str) -> None:
    """Check that this location can hold the store of this study, without writing anything.

    Raises:
        BadInput: The location holds the store of another study, or other files.
    """
    at = place(where)
    try:
        if MANIFEST not in _inside(at):
            refuse_others(at)
            return
    except OSError as why:
        raise not_written(f"The store {at} cannot be created", why) from None
    theirs = read_manifest(at)
    if theirs.study != study:
        raise BadInput(f"The folder {at} belongs to study {theirs.study!r}; choose another folder.")


def claim(where: Where, manifest: Manifest, asked: Study | None = None) -> None:
    """Create the manifest of a study and store the study.

    Raises:
        BadInput: The location holds the store of another study, or other files.
    """
    at = place(where)
    require(at, manifest.study)
    try:
        if MANIFEST not in _inside(at):
            data = msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n"
            at.create(MANIFEST, data)  # another process may be first; `require` checks its study
    except OSError as why:
        raise not_written(f"The store {at} cannot be created", why) from None
    require(at, manifest.study)
    if asked is not None:
        data = msgspec.json.encode(asked, order="sorted") + b"\n"
        name = f"{manifest.asks}.json"
        _create_once(at, "studies", name, data, "study")
        try:
            if at.read(f"studies/{name}") != data:  # other factors or tags, which no hash covers
                at.put(f"studies/{name}", data)
        except OSError as why:
            raise not_written("The study could not be stored", why) from None


def _create_once(at: Place, folder: str, name: str, data: bytes, what: str) -> None:
    """Store a file unless it exists; `what` names its content in messages."""
    try:
        if name not in at.names(folder):
            at.create(f"{folder}/{name}", data)
    except OSError as why:
        raise not_written(f"The {what} could not be stored", why) from None


def _decoded(at: Place, name: str, kind: type[T], what: str) -> T:
    """Return the content of a file; raises BadInput if it is missing or not a valid `what`."""
    try:
        return msgspec.json.decode(at.read(name), type=kind)
    except (OSError, msgspec.DecodeError) as why:
        raise BadInput(f"{at}/{name} is not a valid {what}: {why}.") from None


def studies(where: Where) -> dict[str, Study]:
    """Return the studies of a store's runs by hash.

    Raises:
        BadInput: A file is not a valid study.
    """
    at = place(where)
    return {
        name.removesuffix(".json"): _decoded(at, f"studies/{name}", Study, "study")
        for name in at.names("studies")
    }


def keep_settings(where: Where, asks: str, settings: Mapping[str, Any]) -> None:
    """Store the model settings of a run and where each came from, by the hash of its study."""
    data = msgspec.json.encode(settings) + b"\n"
    _create_once(place(where), "settings", f"{asks}.json", data, "model settings")


def refuse_others(at: Place) -> None:
    """Raise BadInput if a folder without a manifest holds files."""
    if _inside(at):
        if MANIFEST in _inside(at):  # another process created it meanwhile
            return
        raise BadInput(f"The folder {at} holds other files; choose another folder.")


def _inside(at: Place) -> list[str]:
    """Return all file names at the location of a store, including hidden files except a manifest
    that is being written."""
    if isinstance(at, Folder):
        if not at.path.exists():
            return []
        found = [entry.name for entry in at.path.iterdir()]
        return [name for name in found if not name.startswith(f".{MANIFEST}")]
    return at.names()


def manifest_of(where: Where) -> Manifest | None:
    """Return the manifest of a store, or None if there is none."""
    at = place(where)
    return read_manifest(at) if MANIFEST in at.names() else None


def read_manifest(where: Where) -> Manifest:
    """Return the manifest of a store.

    Raises:
        BadInput: The manifest is missing or not valid.
    """
    return _decoded(place(where), MANIFEST, Manifest, "manifest")


# --- studies with people --------------------------------------------------------------------------


class PeoplePlan(msgspec.Struct, frozen=True):
    """Name and planned size of a study with people."""

    study: str
    title: str
    asks: str  # hash of the study file
    participants: int
    planned: dict[str, int]  # number of games by condition
    games: tuple[str, ...]


def keep_people_plan(where: Where, plan: PeoplePlan) -> None:
    """Store the plan, replacing an earlier one."""
    data = msgspec.json.format(msgspec.json.encode(plan, order="sorted"), indent=2)
    place(where).put(PEOPLE, data + b"\n")


def people_plan(where: Where) -> PeoplePlan | None:
    """Return the plan in a store, or None if there is none.

    Raises:
        BadInput: The file of the plan is not valid.
    """
    at = place(where)
    return _decoded(at, PEOPLE, PeoplePlan, "plan") if PEOPLE in at.names() else None
