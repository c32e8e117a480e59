"""Importers of published records given changed files: what is refused, and what gets in.

Every file is a small synthetic record with one random change. A change that is taken in must leave
the episodes as they were (it was in a part that is not used); any other episode is a hole.

    python -m benchmarks.mutated_records [FILES]
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.hostile import importers
from benchmarks.hostile.mutations import mutated
from sally.core.errors import BadInput
from sally.core.log.events import Episode, Moved

RECORDS = ("eger2017", "zhu2024", "hcss2025", "gamabench", "alsobay2025")


def played(episodes: Sequence[Episode]) -> list[Any]:
    """Return the problems, cells and moves of episodes, which an import must not change."""
    return sorted(
        (
            str(e.setup.instance.params),
            e.cell,
            str([event.action for event in e.events if isinstance(event, Moved)]),
        )
        for e in episodes
    )


def main() -> None:
    """Print the counts of each record."""
    files = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    print("record | refused | same episodes | other episodes")
    with tempfile.TemporaryDirectory() as folder:
        known = importers.sources(Path(folder))
        for name in RECORDS:
            read, at = known[name]
            good = played(read(at).episodes)
            inside = sorted(p for p in at.rglob("*") if p.is_file())
            refused = same = other = 0
            for seed in range(files):
                draw = random.Random(seed)
                file = draw.choice(inside)
                before = file.read_bytes()
                file.write_bytes(mutated(before, draw))
                try:
                    found = played(read(at).episodes)
                    same, other = (same + 1, other) if found == good else (same, other + 1)
                except BadInput:
                    refused += 1
                finally:
                    file.write_bytes(before)
            print(f"{name} | {refused} | {same} | {other}", flush=True)


if __name__ == "__main__":
    main()
