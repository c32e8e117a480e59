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


def require(store: Where, study: str) -> None:
    """Check that this location can hold the store of this study, without writing anything.

    Raises:
        BadInput: The location holds the store of another study, or other files.
    """
    location = place(store)
    try:
        if MANIFEST not in _inside(location):
            refuse_others(location)
            return
    except OSError as error:
        raise not_written(f"The store {location} cannot be created", error) from None
    manifest = read_manifest(location)
    if manifest.study != study:
        raise BadInput(
            f"The folder {location} belongs to study {manifest.study!r}; choose another folder."
        )


def claim(store: Where, manifest: Manifest, study: Study | None = None) -> None:
    """Create the manifest of a study and store the study.

    Raises:
        BadInput: The location holds the store of another study, or other files.
    """
    location = place(store)
    require(location, manifest.study)
    try:
        if MANIFEST not in _inside(location):
            data = msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n"
            # another process may be first; `require` checks its study
            location.create(MANIFEST, data)
    except OSError as error:
        raise not_written(f"The store {location} cannot be created", error) from None
    require(location, manifest.study)
    if study is not None:
        data = msgspec.json.encode(study, order="sorted") + b"\n"
        name = f"{manifest.asks}.json"
        _create_once(location, "studies", name, data, "study")
        try:
            # other factors or tags, which no hash covers
            if location.read(f"studies/{name}") != data:
                location.write(f"studies/{name}", data)
        except OSError as error:
            raise not_written("The study could not be stored", error) from None


def _create_once(location: Place, folder: str, name: str, data: bytes, content_name: str) -> None:
    """Store a file unless it exists; `content_name` is for messages."""
    try:
        if name not in location.names(folder):
            location.create(f"{folder}/{name}", data)
    except OSError as error:
        raise not_written(f"The {content_name} could not be stored", error) from None


def _decode_file(location: Place, name: str, kind: type[T], content_name: str) -> T:
    """Return the content of a file; raises BadInput if it is missing or not a valid
    `content_name`."""
    try:
        return msgspec.json.decode(location.read(name), type=kind)
    except (OSError, msgspec.DecodeError) as error:
        raise BadInput(f"{location}/{name} is not a valid {content_name}: {error}.") from None


def studies(store: Where) -> dict[str, Study]:
    """Return the studies of a store's runs by hash.

    Raises:
        BadInput: A file is not a valid study.
    """
    location = place(store)
    return {
        name.removesuffix(".json"): _decode_file(location, f"studies/{name}", Study, "study")
        for name in location.names("studies")
    }


def keep_settings(store: Where, asks: str, settings: Mapping[str, Any]) -> None:
    """Store the model settings of a run and where each came from, by the hash of its study."""
    data = msgspec.json.encode(settings) + b"\n"
    _create_once(place(store), "settings", f"{asks}.json", data, "model settings")


def refuse_others(location: Place) -> None:
    """Raise BadInput if a folder without a manifest holds files."""
    if _inside(location):
        if MANIFEST in _inside(location):  # another process created it meanwhile
            return
        raise BadInput(f"The folder {location} holds other files; choose another folder.")


def _inside(location: Place) -> list[str]:
    """Return all file names at the location of a store, including hidden files except a manifest
    that is being written."""
    if isinstance(location, Folder):
        try:
            names = [entry.name for entry in location.path.iterdir()]
        except FileNotFoundError:
            return []
        return [name for name in names if not name.startswith(f".{MANIFEST}")]
    return location.names()


def manifest_of(store: Where) -> Manifest | None:
    """Return the manifest of a store, or None if there is none."""
    location = place(store)
    return read_manifest(location) if MANIFEST in location.names() else None


def read_manifest(store: Where) -> Manifest:
    """Return the manifest of a store.

    Raises:
        BadInput: The manifest is missing or not valid.
    """
    return _decode_file(place(store), MANIFEST, Manifest, "manifest")


# --- studies with people --------------------------------------------------------------------------


class PeoplePlan(msgspec.Struct, frozen=True):
    """Name and planned size of a study with people."""

    study: str
    title: str
    asks: str  # hash of the study file
    participants: int
    planned: dict[str, int]  # number of games by condition
    games: tuple[str, ...]


def keep_people_plan(store: Where, plan: PeoplePlan) -> None:
    """Store the plan, replacing an earlier one."""
    data = msgspec.json.format(msgspec.json.encode(plan, order="sorted"), indent=2)
    place(store).write(PEOPLE, data + b"\n")


def people_plan(store: Where) -> PeoplePlan | None:
    """Return the plan in a store, or None if there is none.

    Raises:
        BadInput: The file of the plan is not valid.
    """
    location = place(store)
    return (
        _decode_file(location, PEOPLE, PeoplePlan, "plan") if PEOPLE in location.names() else None
    )
