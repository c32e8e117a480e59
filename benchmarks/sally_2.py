"""Make and check the suite Sally-2.

    python benchmarks/sally_2.py freeze [GAME ...]

draws the pairs of the suite, checks the certificate of each, and writes them to
`sally/studies/records/sally_2`. A released suite is never frozen again.
"""

from __future__ import annotations

import argparse
import gzip
import time
from itertools import islice
from pathlib import Path

import msgspec

from sally.analysis.pairs.certificate import certify
from sally.studies import sally_2

FOLDER = Path(__file__).parent.parent / "sally" / "studies" / "records" / sally_2.NAME


def freeze(games: list[str]) -> None:
    """Write the pairs of these games; a pair whose certificate does not hold stops the script."""
    FOLDER.mkdir(exist_ok=True)
    for game in games:
        row = sally_2.row_named(game)
        start = time.process_time()
        pairs = list(islice(sally_2.drawn_pairs(row, sally_2.PAIR_SEED), row.count("L")))
        for pair in pairs:
            problems = certify(pair).problems
            if problems:
                raise SystemExit(f"{pair.id}: {'; '.join(problems)}")
        packed = gzip.compress(msgspec.json.encode(pairs), mtime=0)
        (FOLDER / f"{game}.json.gz").write_bytes(packed)
        seconds = time.process_time() - start
        print(f"{game}: {len(pairs)} pairs, {len(packed):,} bytes, {seconds:.0f} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=["freeze"])
    parser.add_argument("games", nargs="*")
    arguments = parser.parse_args()
    freeze(arguments.games or list(sally_2.GAMES))


if __name__ == "__main__":
    main()
