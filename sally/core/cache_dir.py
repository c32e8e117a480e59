"""The folder for files that can be downloaded or computed again."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def cache_folder() -> Path:
    """Return the folder for files that can be downloaded or computed again.

    This is the folder named by the environment variable SALLY_CACHE, or else the user's cache
    folder.
    """
    if chosen := os.environ.get("SALLY_CACHE"):
        return Path(chosen).expanduser()
    if base := os.environ.get("XDG_CACHE_HOME"):
        return Path(base).expanduser() / "sally"
    if sys.platform == "win32" and (local := os.environ.get("LOCALAPPDATA")):
        return Path(local) / "sally" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "sally"
    return Path.home() / ".cache" / "sally"
