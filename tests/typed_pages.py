"""The files that the page on one's own game has its reader write, held to `mypy --strict`.

`make check` runs this after `mypy`, whose cache makes it a matter of seconds; without the cache it
takes most of a minute, too long for a test.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from tests.test_docs import ROOT, blocks, kept_as

PAGE = ROOT / "docs/how-to/your_own_game.md"


def written(page: Path, folder: Path) -> list[str]:
    """Write the page's files into a folder; where they are."""
    for kind, text in blocks(page):
        if kind == "python":
            kept_as(text, folder)
    return sorted(map(str, folder.glob("*.py")))


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        files = written(PAGE, Path(folder))
        if not files:
            sys.exit(f"{PAGE.name} names no file in the first line of a block of code.")
        mypy = (sys.executable, "-m", "mypy", "--strict", "--no-error-summary", *files)
        return subprocess.run(mypy, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
