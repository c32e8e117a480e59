"""Bundles: a store's episodes, studies and words packs in one file, with hashes, for sharing.

A bundle is a zip file with fixed dates and a fixed order, so the same records give the same bytes
(with the same zlib). `bundle.json` lists every file with its SHA-256; the comment at the very end
is the SHA-256 of everything before it, so that any changed byte is detected. The hashes show that
nothing was changed since packing, but not who packed the file, so publish the hash that `sally
pack` prints.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO

import msgspec

from sally import store
from sally.analysis.episodes.snapshot import Snapshot
from sally.core.errors import BadInput
from sally.core.version import VERSION
from sally.output.files.new_file import new_file
from sally.output.files.privacy import private_part
from sally.store.bundles import (
    EPISODES,
    FORMAT,
    MANIFEST,
    NAMES,
    SEAL,
    Bundle,
    File,
    PackResult,
    hash_of,
    looks_like_a_bomb,
    seal_of,
)

BEGINNING = (1980, 1, 1, 0, 0, 0)  # the earliest date of the zip format


# --- packing --------------------------------------------------------------------------------------


def pack(source: store.Where, out: Path, anyway: bool = False, small: bool = False) -> PackResult:
    """Pack a store into one file.

    Raises:
        BadInput: The store is empty, the file cannot be written or, unless `anyway`, something
            looks like a key or a local path.
    """
    method = zipfile.ZIP_LZMA if small else zipfile.ZIP_DEFLATED
    with TemporaryFile() as copy:
        snapshot = Snapshot(source, copy)
        if not len(snapshot):
            raise BadInput(f"The store {source} contains no episode to pack.")
        texts = _texts(source, snapshot)
        if not anyway:
            _refuse_private(snapshot, texts)
        bundle = _describe(snapshot, texts)
        with new_file(out, "bundle") as unfinished, unfinished.open("w+b") as file:
            _write(file, bundle, texts, snapshot, method)
            if looks_like_a_bomb(bundle, file.tell()):
                file.truncate(file.seek(0))
                _write(file, bundle, texts, snapshot, zipfile.ZIP_STORED)
            digest = _seal(file)
        return PackResult(bundle, digest, out.stat().st_size)


def _texts(source: store.Where, snapshot: Snapshot) -> dict[str, bytes]:
    """Return the manifest, studies, words packs and settings of a store."""
    place = store.place(source)
    manifest = snapshot.manifest or store.Manifest("unnamed", "")
    texts = {store.MANIFEST: msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n"}
    for folder in ("packs", "settings", "studies"):
        for name in place.names(folder):
            if NAMES.fullmatch(path := f"{folder}/{name}"):
                texts[path] = place.read(path)
    return texts


def _refuse_private(snapshot: Snapshot, texts: dict[str, bytes]) -> None:
    lines = zip(snapshot.spots, snapshot.lines(snapshot.spots), strict=True)
    episodes = ((f"episode {id}", line) for id, line in lines)
    for name, data in (*texts.items(), *episodes):
        if reason := private_part(data):
            raise BadInput(
                f"In {name}, {reason}; rerun with an alias from sally.toml or a relative path, or "
                "pack the store with the option `anyway`."
            )


def _describe(snapshot: Snapshot, texts: dict[str, bytes]) -> Bundle:
    lines, size = sha256(), 0
    games: dict[str, set[int]] = {}
    packs: set[str] = set()
    for line in snapshot.lines(sorted(snapshot.spots)):
        lines.update(line)
        size += len(line)
    for episode in snapshot:
        setup = episode.setup
        games.setdefault(setup.instance.game, set()).add(setup.version)
        pack_names = (spec.params.get("pack") for spec in setup.lineup.values())
        packs |= {pack for pack in pack_names if isinstance(pack, str) and pack}
    files = {path: File(sha256(data).hexdigest(), len(data)) for path, data in texts.items()}
    files[EPISODES] = File(lines.hexdigest(), size)
    return Bundle(
        FORMAT,
        VERSION,
        snapshot.manifest.study if snapshot.manifest else "unnamed",
        len(snapshot),
        {game: sorted(versions) for game, versions in sorted(games.items())},
        sorted(packs),
        {
            "cut and run again": snapshot.replaced,
            "doubled": snapshot.doubled,
            "unreadable": len(snapshot.bad),
        },
        dict(sorted(files.items())),
    )


def _write(
    file: BinaryIO, bundle: Bundle, texts: dict[str, bytes], snapshot: Snapshot, method: int
) -> None:
    manifest_text = msgspec.json.format(msgspec.json.encode(bundle), indent=2) + b"\n"
    with zipfile.ZipFile(file, "w") as zipped:
        _add(zipped, MANIFEST, [manifest_text], method)
        for path in bundle.files:
            lines = snapshot.lines(sorted(snapshot.spots)) if path == EPISODES else [texts[path]]
            _add(zipped, path, lines, method)
        zipped.comment = seal_of("0" * 64)


def _add(zipped: zipfile.ZipFile, path: str, pieces: Iterable[bytes], method: int) -> None:
    info = zipfile.ZipInfo(path, BEGINNING)
    info.compress_type, info.create_system = method, 3  # Unix
    info.external_attr = 0o644 << 16
    with zipped.open(info, "w", force_zip64=path == EPISODES) as entry:
        for piece in pieces:
            entry.write(piece)


def _seal(file: BinaryIO) -> str:
    """Write the hash of the file into its comment; return the hash of the whole file."""
    end = file.seek(0, 2) - SEAL
    digest = hash_of(file, end)
    seal = seal_of(digest.hexdigest())
    file.seek(end)
    file.write(seal)
    digest.update(seal)
    return str(digest.hexdigest())
