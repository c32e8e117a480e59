"""Import records of games that were played elsewhere."""

from __future__ import annotations

from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec

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
    "inspect", "Inspect logs of Sally's tasks, a file or a folder", import_logs.import_episodes
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
    return ImportedEpisodes(read_record(importer, path, out, **options))


def read_record(
    importer: str, path: str | Path, out: str | Path | None = None, **options: Any
) -> ImportResult:
    """Import recorded games as `import_record` does, with one episode in memory at a time."""
    reader = importer_named(importer)
    by_name = {option.name: option for option in reader.options}
    for name in options:
        if name not in by_name:
            raise unknown(f"option of {importer}", name, by_name)
    arguments = {name: _default(option) for name, option in by_name.items()} | options
    if not reader.writes_file:
        result = reader.import_from(Path(path), **arguments)
        return result if out is None else add_episodes(result, Path(out), importer)
    if out is None:
        raise BadInput(f"{importer} writes a file; name it, as in out='items.json'.")
    return reader.import_from(Path(path), out=Path(out), **arguments)


def _default(option: ImportOption) -> Any:
    """Return the value of an option that is not given."""
    if option.choices:
        return option.choices[0]
    return {bool: False, str: ""}.get(option.kind)


def add_episodes(result: ImportResult, out: Path, importer: str) -> ImportResult:
    """Add imported episodes to a store; return the result with the numbers of those stored and
    already there. A game that is on record twice is stored once and named. Without episodes, no
    store is created.

    Raises:
        BadInput: If an episode cannot be stored, or the store holds a different record of it; then
            none is stored.
    """
    is_empty = True
    for episode in result.episodes:
        store.check_storable(episode)
        is_empty = False
    if is_empty:
        return replace(result, counts=result.counts | {"stored": 0, "already there": 0})
    claim(out, Manifest(f"import {importer}", asks="published games"))
    stored = {line.id: _digest(line) for line in store.read(out) if isinstance(line, Episode)}
    firsts, copies = dict[str, bytes](), list[str]()  # firsts: digest of the first record by id
    for episode in result.episodes:
        digest = _digest(episode)
        first = firsts.setdefault(episode.id, digest)
        if first is not digest:
            alike = "again" if first == digest else "again, with other moves"
            copies.append(f"not stored: {episode.setup.instance.id} is on record {alike}")
        elif stored.get(episode.id, digest) != digest:
            raise BadInput(
                f"{out} already holds a different record of {episode.setup.instance.id} by the "
                "same players; import this one into another store, or with another source."
            )
    new = firsts.keys() - stored.keys()
    counts = result.counts | {"stored": len(new), "already there": len(firsts) - len(new)}
    with Writer(out) as writer:
        for episode in result.episodes:
            if episode.id in new:
                new.remove(episode.id)
                writer.add(episode)
    return replace(
        result,
        counts=counts,
        lines=(*copies, *result.lines),
        details=result.details | ({"copies": copies} if copies else {}),
    )


def _digest(episode: Episode) -> bytes:
    """Return a hash of the events as they are stored."""
    events = msgspec.json.encode(as_stored(episode.events))
    return blake2b(events, digest_size=16).digest()
