"""Canaries: secrets that no output may contain, and a walk through every output."""

from __future__ import annotations

import base64
import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

LEAST = 12  # characters of any form of a secret that betray it


def forms(secret: str) -> tuple[str, ...]:
    """The secret as a server may repeat it: whole, in part, in base64, in a header, in hex."""
    return (
        secret,
        secret[3:16],
        base64.b64encode(secret.encode()).decode(),
        base64.b64encode(f"user:{secret}".encode()).decode(),
        secret.encode().hex(),
    )


def parts(secret: str) -> set[bytes]:
    """Every piece of the secret, plain or encoded, that would betray it."""
    whole = (secret, *forms(secret)[2:3], forms(secret)[4])
    return {form[i : i + LEAST].encode() for form in whole for i in range(len(form) - LEAST + 1)}


def contents(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Every file below a folder, and every file within its archives."""
    for file in folder.rglob("*"):
        if not file.is_file():
            continue
        data = file.read_bytes()
        yield str(file), data
        if zipfile.is_zipfile(io.BytesIO(data)):
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                for name in archive.namelist():
                    yield f"{file}: {name}", _member(archive, name)


def _member(archive: zipfile.ZipFile, name: str) -> bytes:
    try:
        return archive.read(name)
    except NotImplementedError:  # Inspect's logs may be compressed with zstandard
        from inspect_ai.log import read_eval_log

        return read_eval_log(str(archive.filename)).model_dump_json().encode()


def betrayals(outputs: list[tuple[str, bytes]], secret: str) -> list[str]:
    """The outputs that contain a piece of the secret."""
    pieces = parts(secret)
    return [name for name, data in outputs if any(piece in data for piece in pieces)]
