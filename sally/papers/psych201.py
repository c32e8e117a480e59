"""Reader of experiments in Psych-201 (github.com/marcelbinz/Psych-201): one line of JSON per
person."""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib
from pathlib import Path

from sally.core.errors import BadInput
from sally.parts.importers import Oddity, existing, read_fetched_file

LICENCE = "Apache 2.0 (Psych-201)"
NAMES = ("prompts.jsonl.zip", "prompts.jsonl", "prompts.jsonl.gz")


def experiment_file(path: Path, folder: str) -> tuple[Path, list[Oddity]]:
    """Return the file of an experiment, and a note if a checkout holds other experiments.

    Args:
        path: The file itself, the experiment's folder, or a checkout.
        folder: The experiment's folder in the repository.
    """
    if existing(path).is_file():
        return path, []
    inside = [f for n in NAMES for f in sorted(path.rglob(n)) if f.parent.name == folder]
    inside += [path / n for n in NAMES if path.name == folder and (path / n).is_file()]
    if not inside:
        raise BadInput(f"There is no {folder}/prompts.jsonl.zip (or .jsonl, .jsonl.gz) in {path}.")
    others = {f.parent.name for f in path.rglob("prompts.jsonl*")} - {folder}
    reason = f"{len(others)} folders of other experiments"
    return inside[0], [Oddity(str(path), "left alone", reason)] if others else []


def people_lines(file: Path) -> tuple[bytes, list[bytes]]:
    """Return the bytes of a `.zip`, `.jsonl` or `.jsonl.gz` file, and its unpacked lines.

    Raises:
        BadInput: The file is a Git LFS pointer, or truncated.
    """
    data = read_fetched_file(file)
    try:
        if zipfile.is_zipfile(io.BytesIO(data)):
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                inside = [n for n in archive.namelist() if not n.startswith("__MACOSX")]
                (name,) = [n for n in inside if n.endswith(".jsonl")]
                text = archive.read(name)
        else:
            text = gzip.decompress(data) if file.name.endswith(".gz") else data
    except (OSError, EOFError, ValueError, zlib.error, zipfile.BadZipFile) as error:
        raise BadInput(f"{file} cannot be unpacked ({error}); it may be truncated.") from None
    if text and not text.endswith(b"\n") and not text.rstrip().endswith(b"}"):
        line = text.count(b"\n") + 1
        raise BadInput(f"{file.name} ends within line {line}; it may be truncated.")
    return data, [line for line in text.splitlines() if line.strip()]
