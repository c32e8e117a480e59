"""Files that appear under their name only once they are complete."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sally.core.errors import BadInput


@contextmanager
def new_file(path: Path, what: str) -> Iterator[Path]:
    """Yield the path of a temporary file, which is renamed to `path` at the end of the block.

    Args:
        path: The file to write; missing folders are made.
        what: What the file is, such as "page", for the error message.

    Raises:
        BadInput: If the file cannot be written.
    """
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            yield unfinished
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)
    except OSError as why:
        raise BadInput(f"The {what} cannot be written to {path}: {why.strerror}.") from None
