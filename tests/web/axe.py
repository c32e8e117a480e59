"""axe-core, for tests alone: from npm once, kept beside the other caches, or a clear skip."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

VERSION = "4.10.2"
CACHE = Path.home() / ".cache" / "sally-tests" / f"axe-core-{VERSION}"


def script() -> Path | None:
    """The script that checks a page; None where it is not here and cannot be had."""
    file = CACHE / "node_modules" / "axe-core" / "axe.min.js"
    if file.exists():
        return file
    if (npm := shutil.which("npm")) is None:
        return None
    CACHE.mkdir(parents=True, exist_ok=True)
    expected = (npm, "install", "--no-audit", "--no-fund", "--no-save", f"axe-core@{VERSION}")
    try:
        subprocess.run(expected, cwd=CACHE, capture_output=True, timeout=120, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return file if file.exists() else None
