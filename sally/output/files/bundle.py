"""Bundles: a store's episodes, studies and words packs in one file, with hashes, for sharing.

A bundle is a zip file with fixed dates and a fixed order, so the same records give the same bytes
(with the same zlib). `bundle.json` lists every file with its SHA-256; the comment at the very end
is the SHA-256 of everything before it, so that any changed byte is detected. The hashes show that
nothing was changed since packing, but not who packed the file, so publish the hash that `sally
pack` prints.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, BinaryIO

import msgspec

from sally import store
from sally.analysis.episodes.snapshot import Snapshot
from sally.core.errors import BadInput
from sally.core.version import VERSION
from sally.output.files.new_file import new_file
from sally.output.files.privacy import private_part
from sally.output.files.provenance import Provenance

FORMAT = 1
MANIFEST, EPISODES = "bundle.json", "episodes.jsonl"
NAMES = re.compile(
    r"study\.json|episodes\.jsonl|studies/[0-9a-f]{1,64}\.json|packs/[0-9a-f]{1,64}\.toml"
    r"|settings/[0-9a-f]{1,64}\.json"
)
SEAL = 71  # length of the zip comment: `sha256:` and 64 digits
BEGINNING = (1980, 1, 1, 0, 0, 0)  # the earliest date of the zip format
BLOCK = 1 << 20
MOST_RATIO, SMALL = 200, 16 << 20  # maximum compression ratio, for sizes above SMALL


class File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Hash and size of one file of a bundle."""

    sha256: str
    bytes: int


class Bundle(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The manifest of a bundle."""

    bundle: int  # format version
    sally: str  # version of Sally that packed it
    study: str
    episodes: int
    games: dict[str, list[int]]  # game -> rules versions
    packs: list[str]  # references of words packs
    left_out: dict[str, int]  # reason -> lines of the store left out
    files: dict[str, File]


class PackResult(msgspec.Struct, frozen=True):
    """The result of packing or unpacking a bundle."""

    bundle: Bundle
    sha256: str  # of the whole file
    bytes: int


# --- packing --------------------------------------------------------------------------------------


def pack(where: store.Where, out: Path, anyway: bool = False, small: bool = False) -> PackResult:
    """Pack a store into one file.

    Raises:
        BadInput: The store is empty, the file cannot be written or, unless `anyway`, something
            looks like a key or a local path.
    """
    method = zipfile.ZIP_LZMA if small else zipfile.ZIP_DEFLATED
    with TemporaryFile() as copy:
        held = Snapshot(where, copy)
        if not len(held):
            raise BadInput(f"The store {where} contains no episode to pack.")
        texts = _texts(where, held)
        if not anyway:
            _refuse_private(held, texts)
        bundle = _described(held, texts)
        with new_file(out, "bundle") as unfinished, unfinished.open("w+b") as file:
            _write(file, bundle, texts, held, method)
            if looks_like_a_bomb(bundle, file.tell()):
                file.truncate(file.seek(0))
                _write(file, bundle, texts, held, zipfile.ZIP_STORED)
            whole = _sealed(file)
        return PackResult(bundle, whole, out.stat().st_size)


def _texts(where: store.Where, held: Snapshot) -> dict[str, bytes]:
    """Return the manifest, studies, words packs and settings of a store."""
    at = store.place(where)
    known = held.manifest or store.Manifest("unnamed", "")
    found = {store.MANIFEST: msgspec.json.format(msgspec.json.encode(known), indent=2) + b"\n"}
    for folder in ("packs", "settings", "studies"):
        for name in at.names(folder):
            if NAMES.fullmatch(path := f"{folder}/{name}"):
                found[path] = at.read(path)
    return found


def _refuse_private(held: Snapshot, texts: dict[str, bytes]) -> None:
    lines = zip(held.spots, held.lines(held.spots), strict=True)
    episodes = ((f"episode {id}", line) for id, line in lines)
    for name, data in (*texts.items(), *episodes):
        if why := private_part(data):
            raise BadInput(
                f"In {name}, {why}; rerun with an alias from sally.toml or a relative path, or "
                "pack the store with the option `anyway`."
            )


def _described(held: Snapshot, texts: dict[str, bytes]) -> Bundle:
    seen, lines, size = Provenance(), sha256(), 0
    for line in held.lines(sorted(held.spots)):
        lines.update(line)
        size += len(line)
    for episode in held:
        seen.add(episode)
    files = {path: File(sha256(data).hexdigest(), len(data)) for path, data in texts.items()}
    files[EPISODES] = File(lines.hexdigest(), size)
    return Bundle(
        FORMAT,
        VERSION,
        held.manifest.study if held.manifest else "unnamed",
        len(held),
        {game: sorted(versions) for game, versions in sorted(seen.games.items())},
        sorted(seen.packs),
        {
            "cut and run again": held.replaced,
            "doubled": held.doubled,
            "unreadable": len(held.bad),
        },
        dict(sorted(files.items())),
    )


def looks_like_a_bomb(bundle: Bundle, size: int) -> bool:
    """Return whether a bundle's compression ratio is suspiciously high (a zip bomb)."""
    total = sum(file.bytes for file in bundle.files.values())
    return total > SMALL and total > MOST_RATIO * size


def _write(
    file: BinaryIO, bundle: Bundle, texts: dict[str, bytes], held: Snapshot, method: int
) -> None:
    told = msgspec.json.format(msgspec.json.encode(bundle), indent=2) + b"\n"
    with zipfile.ZipFile(file, "w") as zipped:
        _add(zipped, MANIFEST, [told], method)
        for path in bundle.files:
            lines = held.lines(sorted(held.spots)) if path == EPISODES else [texts[path]]
            _add(zipped, path, lines, method)
        zipped.comment = seal_of("0" * 64)


def _add(zipped: zipfile.ZipFile, path: str, pieces: Iterable[bytes], method: int) -> None:
    info = zipfile.ZipInfo(path, BEGINNING)
    info.compress_type, info.create_system = method, 3  # Unix
    info.external_attr = 0o644 << 16
    with zipped.open(info, "w", force_zip64=path == EPISODES) as entry:
        for piece in pieces:
            entry.write(piece)


def _sealed(file: BinaryIO) -> str:
    """Write the hash of the file into its comment; return the hash of the whole file."""
    end = file.seek(0, 2) - SEAL
    whole = hash_of(file, end)
    seal = seal_of(whole.hexdigest())
    file.seek(end)
    file.write(seal)
    whole.update(seal)
    return str(whole.hexdigest())


def seal_of(digest: str) -> bytes:
    """Return the comment at the end of a bundle."""
    return f"sha256:{digest}".encode()


def hash_of(file: BinaryIO, size: int) -> Any:
    """Return the SHA-256 object of the first `size` bytes of a file."""
    found = sha256()
    file.seek(0)
    while size > 0 and (block := file.read(min(BLOCK, size))):
        found.update(block)
        size -= len(block)
    return found
