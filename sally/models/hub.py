"""Download of a file from a Hugging Face repository. An interrupted download continues from the
bytes already on disk."""

from __future__ import annotations

import http.client
import os
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeAlias

import msgspec

from sally.models.weights import Unavailable

Tell: TypeAlias = Callable[[int], None]
"""Receives the number of bytes downloaded so far."""

ENDPOINT: Final = "https://huggingface.co"
CONNECT_SECONDS: Final = 20
TRIES: Final = 5  # consecutive tries without new bytes
CHUNK: Final = 1 << 20


class HubFile(msgspec.Struct, frozen=True):
    """A file of a repository, at one commit."""

    repository: str
    commit: str
    name: str

    @property
    def address(self) -> str:
        """The URL of the file; HF_ENDPOINT names another hub, as for Hugging Face's own tools."""
        base = os.environ.get("HF_ENDPOINT") or ENDPOINT
        path = urllib.parse.quote(f"{self.repository}/resolve/{self.commit}/{self.name}")
        return f"{base.rstrip('/')}/{path}"


def download(file: HubFile, partial: Path, size: int, tell: Tell, wait: float = 1.0) -> None:
    """Download the file to `partial`, resuming from the bytes already there."""
    if os.environ.get("HF_HUB_OFFLINE", "0") not in ("", "0"):
        raise Unavailable("HF_HUB_OFFLINE is set, so the hub is not contacted")
    failed = 0
    while (have := _size(partial)) != size:
        if have > size:
            partial.unlink()
            continue
        error: Exception = OSError("it sent nothing")
        try:
            _download_rest(file.address, partial, have, tell)
        except (OSError, http.client.HTTPException) as caught:
            error = caught
        if _size(partial) > have:
            failed = 0
            continue
        failed += 1
        if failed >= TRIES or _final(error, begun=have > 0):
            raise Unavailable(_describe_failure(error)) from error
        time.sleep(wait * failed)


def _size(partial: Path) -> int:
    return partial.stat().st_size if partial.exists() else 0


def _download_rest(address: str, partial: Path, have: int, tell: Tell) -> None:
    request = urllib.request.Request(address)
    if have:
        request.add_header("Range", f"bytes={have}-")
    with urllib.request.urlopen(request, timeout=CONNECT_SECONDS) as answer:
        # 206 sends the rest; a server without range support sends everything again.
        starts_anew = answer.status != 206
        with partial.open("wb" if starts_anew else "ab") as target:
            done = 0 if starts_anew else have
            while block := answer.read(CHUNK):
                target.write(block)
                done += len(block)
                tell(done)


def _final(error: Exception, begun: bool) -> bool:
    """Return whether retrying is useless: the hub refuses the file or cannot be found."""
    if isinstance(error, urllib.error.HTTPError):
        return error.code in (401, 403, 404, 410)
    return isinstance(error, urllib.error.URLError) and not begun


def _describe_failure(error: Exception) -> str:
    if isinstance(error, urllib.error.HTTPError):
        return f"the hub answered {error.code}"
    reason = getattr(error, "reason", error)
    return f"the hub cannot be reached: {reason}"
