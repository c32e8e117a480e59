"""Import records of games that were played elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from sally import store
from sally.adapters.inspect import import_logs
from sally.api.results import Episodes
from sally.core.errors import BadInput, unknown
from sally.core.log.events import Episode
from sally.core.match.playback import as_stored
from sally.core.registry import registry
from sally.core.registry.paper import Importer, ImportOption, ImportResult
from sally.store import Manifest, Writer, claim

INSPECT = Importer(
    "inspect", "Inspect logs of Sally's tasks, a file or a folder", import_logs.imported
)


class ImportedEpisodes(Episodes):
    """Imported episodes; `counts` says what was read, `lines` what was irregular."""

    def __init__(self, result: ImportResult) -> None:
        super().__init__(result.episodes)
        self.counts, self.lines, self.details = result.counts, result.lines, result.details


def importer_named(name: str) -> Importer:
    """Return an importer by its name, or by the name of its paper.

    Raises:
        BadInput: If there is no such importer; the message suggests the nearest names.
    """
    return INSPECT if name == INSPECT.name else registry.importer(name)


def import_record(
    importer: str, path: str | Path, out: str | Path | None = None, **options: Any
) -> ImportedEpisodes:
    """Import recorded games as episodes.

    Args:
        importer: Name of an importer, as listed by `list_importers`, or `inspect`.
        path: The file or folder of the record.
        out: The store to which new episodes are added; None keeps nothing on disk. An importer of
            a battery writes its items to this file.
        **options: Options of the importer, as listed by `sally import NAME --help`.

    Returns:
        The imported episodes, with `counts` and `lines` about them.

    Raises:
        BadInput: If the importer or an option is unknown, the record cannot be read, or the store
            holds a different record of the same game.
    """
    reader = importer_named(importer)
    by_name = {option.name: option for option in reader.options}
    for name in options:
        if name not in by_name:
            raise unknown(f"option of {importer}", name, by_name)
    arguments = {name: _default(option) for name, option in by_name.items()} | options
    if not reader.writes_file:
        imported = ImportedEpisodes(reader.imported(Path(path), **arguments))
        if out is not None:
            imported.counts = imported.counts | add_episodes(imported, Path(out), importer)
        return imported
    if out is None:
        raise BadInput(f"{importer} writes a file; name it, as in out='items.json'.")
    return ImportedEpisodes(reader.imported(Path(path), out=Path(out), **arguments))


def _default(option: ImportOption) -> Any:
    """Return the value of an option that is not given."""
    if option.choices:
        return option.choices[0]
    return {bool: False, str: ""}.get(option.kind)


def add_episodes(episodes: Iterable[Episode], out: Path, importer: str) -> dict[str, int]:
    """Add imported episodes to a store; return the numbers of those stored and already there.

    Raises:
        BadInput: If an episode cannot be stored, or the store holds a different record of it; then
            none is stored.
    """
    imported = list(episodes)
    for episode in imported:
        store.check_storable(episode)
    claim(out, Manifest(f"import {importer}", asks="published games"))
    stored = store.load(out).episodes
    new = [episode for episode in imported if not _is_stored(episode, stored, out)]
    with Writer(out) as writer:
        for episode in new:
            writer.add(episode)
    return {"stored": len(new), "already there": len(imported) - len(new)}


def _is_stored(episode: Episode, stored: Mapping[str, Episode], out: Path) -> bool:
    """Return whether an episode is stored; raises BadInput if a different one has its id."""
    twin = stored.get(episode.id)
    if twin is not None and as_stored(twin.events) != as_stored(episode.events):
        raise BadInput(
            f"{out} already holds a different record of {episode.setup.instance.id} by the same "
            "players; import this one into another store, or with another source."
        )
    return twin is not None
