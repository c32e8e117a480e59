"""Importers of published records given changed files: what is refused, and what gets in.

Every file is a small synthetic record with one random change. A change that is taken in must leave
the episodes as they were (it was in a part that is not used). Other episodes are a hole, unless the
changed file is itself a valid record: whole people or games are missing, or a free number or name
has another possible value.

    python -m benchmarks.mutated_records [FILES] [--stores FOLDER]

With `--stores`, the folder holds one store per record (`sally import NAME CHECKOUT --out
FOLDER/NAME`), and as many of its lines get one random change each: a line must be refused or hold
the same episode.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from benchmarks.hostile import importers
from benchmarks.hostile.mutations import mutate
from sally.core.errors import BadInput
from sally.core.log.events import Episode, Moved, Reported
from sally.core.registry import registry
from sally.games.elicitation.importers import beliefs
from sally.store import lines_of
from sally.store.lines import sound_line
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


def contents_of(episodes: Sequence[Episode]) -> list[Any]:
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


def changed_lines(store_folder: Path, count: int) -> str:
    """Return how many changed lines of a store are refused, hold the same or another episode."""
    files = sorted(store_folder.glob("*.jsonl"))
    lines = sum(1 for file in files for _ in lines_of(file))
    chosen = set(random.Random(store_folder.name).sample(range(lines), min(count, lines)))
    refused = n_same = n_other = 0
    for number, (_, line) in enumerate(chain.from_iterable(map(lines_of, files))):
        if number in chosen:
            outcome = sound_line(mutate(line, random.Random(number)))
            if isinstance(outcome, str):
                refused += 1
            elif outcome == sound_line(line):
                n_same += 1
            else:
                n_other += 1
    return f"{store_folder.name} | {refused} | {n_same} | {n_other}"


def main() -> None:
    """Print the counts of each record."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", nargs="?", type=int, default=200)
    parser.add_argument("--stores", type=Path)
    options = parser.parse_args()
    files = options.files
    print("record | refused | same episodes | other episodes")
    if options.stores:
        for store_folder in sorted(
            folder for folder in options.stores.iterdir() if folder.is_dir()
        ):
            print(changed_lines(store_folder, files), flush=True)
        return
    with tempfile.TemporaryDirectory() as folder:
        sources = importers.sources(Path(folder))
        for name, write in WRITERS.items():
            sources[name] = (registry.importer(name).import_from, write(Path(folder) / name))
        rows = Path(folder) / "beliefs"
        rows.mkdir()
        write_files(rows, ROWS)
        sources["beliefs"] = (lambda path: beliefs.import_beliefs(path / "beliefs.jsonl"), rows)
        for name in RECORDS:
            read, source_folder = sources[name]
            good = contents_of(read(source_folder).episodes)
            inside = sorted(p for p in source_folder.rglob("*") if p.is_file())
            refused = n_same = n_other = 0
            for seed in range(files):
                draw = random.Random(seed)
                file = draw.choice(inside)
                original = file.read_bytes()
                file.write_bytes(mutate(original, draw))
                try:
                    contents = contents_of(read(source_folder).episodes)
                    n_same, n_other = (
                        (n_same + 1, n_other) if contents == good else (n_same, n_other + 1)
                    )
                except BadInput:
                    refused += 1
                finally:
                    file.write_bytes(original)
            print(f"{name} | {refused} | {n_same} | {n_other}", flush=True)


if __name__ == "__main__":
    main()
