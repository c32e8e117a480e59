"""Reader of bundles; every hash is checked before any content is used.

A bundle may come from an untrusted source, so its names and sizes are checked too.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from lzma import LZMAError
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO

import msgspec

from sally.core.errors import BadInput, join_names
from sally.store.places import Where

FORMAT = 1
MANIFEST, EPISODES = "bundle.json", "episodes.jsonl"
NAMES = re.compile(
    r"study\.json|episodes\.jsonl|studies/[0-9a-f]{1,64}\.json|packs/[0-9a-f]{1,64}\.toml"
    r"|settings/[0-9a-f]{1,64}\.json"
)
SEAL = 71  # length of the zip comment: `sha256:` and 64 digits
BLOCK = 1 << 20
MOST_RATIO, SMALL = 200, 16 << 20  # maximum compression ratio, for sizes above SMALL
LEAST_LINE = 100  # minimum bytes of an episode: its id, setup and end
MOST_LINE = 64 << 20  # maximum bytes of an episode, on average
MOST_TEXT = 64 << 20  # maximum bytes of a study, words pack, alias or settings file
MOST_MANIFEST = 16 << 20  # maximum bytes of bundle.json


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


def looks_like_a_bomb(bundle: Bundle, size: int) -> bool:
    """Return whether a bundle's compression ratio is suspiciously high (a zip bomb)."""
    total = sum(file.bytes for file in bundle.files.values())
    return total > SMALL and total > MOST_RATIO * size


def seal_of(digest: str) -> bytes:
    """Return the comment at the end of a bundle."""
    return f"sha256:{digest}".encode()


def hash_of(file: BinaryIO, size: int) -> Any:
    """Return the SHA-256 object of the first `size` bytes of a file."""
    digest = sha256()
    file.seek(0)
    while size > 0 and (block := file.read(min(BLOCK, size))):
        digest.update(block)
        size -= len(block)
    return digest


def is_bundle(path: Where) -> bool:
    """Return whether a path is a zip file, by suffix or first bytes."""
    if not isinstance(path, Path) or not path.is_file():
        return False
    if path.suffix == ".zip":
        return True
    with path.open("rb") as file:
        return file.read(2) == b"PK"


@contextmanager
def open_store(path: Where) -> Iterator[tuple[Where, PackResult | None]]:
    """Yield the location of a store; a bundle is first checked and unpacked to a temporary
    folder."""
    local = Path(path) if isinstance(path, str) and "://" not in path else path
    if not isinstance(local, Path) or not is_bundle(local):
        yield path, None
        return
    with TemporaryDirectory(prefix="sally-") as folder:
        packed = unpack(local, Path(folder))
        yield Path(folder), packed


def unpack(path: Path, folder: Path) -> PackResult:
    """Check a bundle and unpack it to a folder.

    Raises:
        BadInput: The bundle is damaged, changed or unsafe.
    """
    try:
        with path.open("rb") as file, zipfile.ZipFile(file) as zipped:
            size = file.seek(0, 2)
            entries = _entries(path, zipped)
            bundle = _manifest(path, zipped, entries)
            _refuse_others(path, entries, bundle)
            _refuse_bombs(path, entries, bundle, size)
            for name, expected in bundle.files.items():
                lines = bundle.episodes if name == EPISODES else None
                _unpack_file(path, zipped, name, expected, folder, lines)
            digest = hash_of(file, size - SEAL)
            file.seek(max(0, size - SEAL))
            seal = file.read()
            if not seal.startswith(b"sha256:"):
                raise BadInput(
                    f"The bundle {path} was repacked by another program: the hash at its end is "
                    "missing; ask for the original file made by `sally pack`."
                )
            if seal != seal_of(digest.hexdigest()):
                raise BadInput(
                    f"The bundle {path} was changed after packing: the files in it are intact, "
                    "but other bytes of the archive were altered."
                )
            digest.update(seal)
            return PackResult(bundle, digest.hexdigest(), size)
    except zipfile.BadZipFile as error:
        raise BadInput(f"The bundle {path} is damaged: {error}.") from None
    # zipfile raises NotImplementedError for unknown compression methods.
    except (OSError, NotImplementedError, EOFError) as error:
        raise BadInput(f"The bundle {path} cannot be read: {error}.") from None


def _entries(path: Path, zipped: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    entries: dict[str, zipfile.ZipInfo] = {}
    for info in zipped.infolist():
        name = info.orig_filename
        if (
            name.startswith(("/", "\\"))
            or ".." in name.replace("\\", "/").split("/")
            or ":" in name
        ):
            raise BadInput(
                f"The bundle {path} contains a file named {name!r}, a path outside the bundle; "
                "nothing was unpacked."
            )
        if name in entries:
            raise BadInput(f"The bundle {path} contains {name} twice; nothing was unpacked.")
        if info.flag_bits & 0x1:
            raise BadInput(
                f"In the bundle {path}, {name} is encrypted; files of a bundle must not be."
            )
        entries[name] = info
    return entries


def _manifest(path: Path, zipped: zipfile.ZipFile, entries: dict[str, zipfile.ZipInfo]) -> Bundle:
    if MANIFEST not in entries:
        raise BadInput(f"{path} is not a bundle of Sally: it has no {MANIFEST}.")
    data = b"".join(_read(path, zipped, MANIFEST, MOST_MANIFEST))
    try:
        bundle = msgspec.json.decode(data, type=Bundle)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"{MANIFEST} of the bundle {path} cannot be read: {error}.") from None
    if bundle.bundle != FORMAT:
        raise BadInput(
            f"The bundle {path} has format {bundle.bundle}; this Sally reads format {FORMAT}."
        )
    strange = [name for name in bundle.files if not NAMES.fullmatch(name)]
    if strange:
        raise BadInput(
            f"{MANIFEST} of {path} lists {strange[0]!r}, which cannot be part of a bundle."
        )
    if EPISODES not in bundle.files:
        raise BadInput(f"{MANIFEST} of {path} does not list {EPISODES}.")
    if not 0 <= bundle.episodes * LEAST_LINE <= bundle.files[EPISODES].bytes:
        raise BadInput(
            f"The bundle {path} claims to contain {bundle.episodes:,} episodes in "
            f"{bundle.files[EPISODES].bytes:,} bytes, which is impossible."
        )
    for name, file in bundle.files.items():
        byte_limit = MOST_LINE * max(bundle.episodes, 1) if name == EPISODES else MOST_TEXT
        if file.bytes > byte_limit:
            raise BadInput(
                f"In the bundle {path}, {name} has {file.bytes:,} bytes, more than the "
                f"{byte_limit:,} "
                "that it can need; nothing was unpacked."
            )
    return bundle


def _refuse_others(path: Path, entries: dict[str, zipfile.ZipInfo], bundle: Bundle) -> None:
    missing = [name for name in bundle.files if name not in entries]
    if missing:
        raise BadInput(f"The bundle {path} lacks {join_names(missing)}.")
    extra = [name for name in entries if name not in (MANIFEST, *bundle.files)]
    if extra:
        raise BadInput(
            f"The bundle {path} contains {join_names(extra)}, which {MANIFEST} does not list."
        )


def _refuse_bombs(
    path: Path, entries: dict[str, zipfile.ZipInfo], bundle: Bundle, size: int
) -> None:
    for name, expected in bundle.files.items():
        if entries[name].file_size != expected.bytes:
            raise BadInput(
                f"In the bundle {path}, {name} was changed after packing: it has "
                f"{entries[name].file_size} bytes, not {expected.bytes}."
            )
    if looks_like_a_bomb(bundle, size):
        total = sum(expected.bytes for expected in bundle.files.values())
        raise BadInput(
            f"The bundle {path} would unpack to {total:,} bytes from {size:,}; that is not a "
            "plausible log, and nothing was unpacked."
        )


def _unpack_file(
    path: Path,
    zipped: zipfile.ZipFile,
    name: str,
    expected: File,
    folder: Path,
    lines: int | None,
) -> None:
    """Unpack one file, but never more bytes or lines than `bundle.json` states."""
    digest, lines_left = sha256(), lines
    place = folder / name
    place.parent.mkdir(exist_ok=True)
    with place.open("wb") as out:
        for block in _read(path, zipped, name, expected.bytes):
            digest.update(block)
            out.write(block)
            if lines_left is not None and (lines_left := lines_left - block.count(b"\n")) < 0:
                raise BadInput(
                    f"The bundle {path} claims to contain {lines:,} episodes; {name} has more "
                    "lines than that."
                )
    if digest.hexdigest() != expected.sha256:
        raise BadInput(
            f"In the bundle {path}, {name} was changed after packing: its SHA-256 is "
            f"{digest.hexdigest()[:12]}..., not {expected.sha256[:12]}...."
        )
    if lines_left:
        raise BadInput(
            f"The bundle {path} claims to contain {lines:,} episodes; {name} has {lines_left:,} "
            "fewer lines."
        )


def _read(path: Path, zipped: zipfile.ZipFile, name: str, byte_limit: int) -> Iterator[bytes]:
    read = 0
    try:
        with zipped.open(name) as entry:
            while block := entry.read(BLOCK):
                read += len(block)
                if read > byte_limit:
                    raise BadInput(
                        f"In the bundle {path}, {name} has more than {byte_limit:,} bytes."
                    )
                yield block
    except (zipfile.BadZipFile, zlib.error, LZMAError, EOFError):
        raise BadInput(f"In the bundle {path}, {name} was changed after packing.") from None
