"""Importers of published records given changed files: what is refused, and what gets in.

Every file is a small synthetic record with one random change. A change that is taken in must leave
the episodes as they were (it was in a part that is not used). Other episodes are a hole, unless the
changed file is itself a valid record: whole people or games are missing, or a free number or name
has another possible value.

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
from sally.core.log.events import Episode, Moved, Reported
from sally.core.registry import registry
from sally.games.elicitation.importers import beliefs
from tests.games.elicitation.test_import_beliefs import ROWS, write_files
from tests.papers.belief_files import WRITERS

RECORDS = (
    "eger2017",
    "zhu2024",
    "hcss2025",
    "gamabench",
    "alsobay2025",
    *sorted(WRITERS),
    "beliefs",
)


def played(episodes: Sequence[Episode]) -> list[Any]:
    """Return the problems, cells, moves and reports of episodes, which an import must not
    change."""
    return sorted(
        (
            str(e.setup.instance.params),
            e.cell,
            str([event.action for event in e.events if isinstance(event, Moved)]),
            str([event.value for event in e.events if isinstance(event, Reported)]),
        )
        for e in episodes
    )


def main() -> None:
    """Print the counts of each record."""
    files = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    print("record | refused | same episodes | other episodes")
    with tempfile.TemporaryDirectory() as folder:
        known = importers.sources(Path(folder))
        for name, write in WRITERS.items():
            known[name] = (registry.importer(name).imported, write(Path(folder) / name))
        rows = Path(folder) / "beliefs"
        rows.mkdir()
        write_files(rows, ROWS)
        known["beliefs"] = (lambda path: beliefs.imported(path / "beliefs.jsonl"), rows)
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
