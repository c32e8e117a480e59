"""How a study's figures move under reply rules 4 and 5 and under "first option named".

    python benchmarks/reader_sensitivity.py PATH ...      # stores or bundles

`sally reread PATH` prints the same table without version 4, which is kept in `reader_v4` for this.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.reader_v4 import reading as version_4
from sally import store
from sally.core.errors import BadInput
from sally.core.prompt import words
from sally.core.reply import reading as version_5
from sally.output.files.bundle_reader import opened
from sally.runner.reread import RULES, RereadReply, installed, readings, sensitivity


@contextmanager
def _reading_by_4() -> Iterator[None]:
    with (
        patch.object(words, "read_choice", version_4.read_choice),
        patch.object(words, "read_number", version_4.read_number),
        patch.object(version_5, "read_numbered", version_4.read_numbered),
    ):
        yield


def rule_4(prompt: Any, turn: Any, said: Any) -> Any:
    """Read a reply by version 4."""
    cache = prompt._desk._read  # of short replies, whatever rule read them
    cache.clear()
    try:
        with _reading_by_4():
            return installed(prompt, turn, said)
    finally:
        cache.clear()


def main() -> None:
    found = list[RereadReply]()
    for path in sys.argv[1:]:
        with opened(Path(path)) as (place, _):
            for episode in store.load(place).episodes.values():
                try:
                    found += readings(episode, {"rule 4": rule_4, **RULES})
                except (BadInput, LookupError) as why:
                    print(f"not read again: {episode.id}: {why}")
    for row in sensitivity(found):
        figure = "" if row["figure"] is None else f"{row['figure']:.1%}"
        print(
            f"{row['game']:<22}{row['asked']:<24}{row['rule']:<20}{row['replies']:>7}"
            f"{row['read']:>8.1%}{figure:>8}{row['differ']:>7}"
        )


if __name__ == "__main__":
    main()
