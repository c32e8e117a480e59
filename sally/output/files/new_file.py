"""Files that appear under their name only once they are complete."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from stat import S_IMODE, S_ISREG

from sally.core.errors import not_written


@contextmanager
def new_file(path: Path, kind: str) -> Iterator[Path]:
    """Yield the path of a temporary file, which is renamed to `path` at the end of the block.

    Symbolic links are followed, and a file that is replaced keeps its mode. A device or a pipe
    cannot be replaced: its own path is yielded.

    Args:
        path: The file to write; missing folders are made.
        kind: What the file is, such as "page", for the error message.

    Raises:
        BadInput: If the file cannot be written (StoreFailed if the disk is full).
    """
    try:
        try:
            mode = path.stat().st_mode
        except FileNotFoundError:
            mode = None
        if mode is not None and not S_ISREG(mode):
            yield path
            return
        target = Path(os.path.realpath(path))
        target.parent.mkdir(parents=True, exist_ok=True)
        unfinished = target.parent / f".{secrets.token_hex(4)}.part"
        try:
            if mode is not None:
                unfinished.touch(0o600)  # the file to replace may be private
            yield unfinished
            if mode is not None:
                unfinished.chmod(S_IMODE(mode))
            unfinished.replace(target)
        finally:
            unfinished.unlink(missing_ok=True)
    except OSError as error:
        raise not_written(f"The {kind} cannot be written to {path}", error) from None
