"""Probes of both Qwen models at the decisions of the registered study and of a certified ToMA set.

    python -m benchmarks.represented OUT --model qwen-0.5b [--decisions 700] [--bundle FILE]

Writes OUT/represented-MODEL.json after every group, so an interrupted run keeps what it has. The
groups, in this order, are those of docs/results/appendix/represented.md; within a group decisions
are drawn by a seeded hash.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from fnmatch import fnmatch
from pathlib import Path

from sally import store
from sally.models.hf.residual_stream import ResidualStream
from sally.represent.prompts import decisions
from sally.represent.results import RepresentationResult, write_results
from sally.represent.run import fit_groups, plain_name
from sally.store.bundles import open_store

# game, at, kind; in rps canonical actions differ only in their names, so they are not asked for
PLAN = (
    ("ipd", "probe", "action"),
    ("ipd", "move", "action"),
    ("rps", "probe", "change"),
    ("rps", "move", "change"),
    ("ibs", "probe", "action"),
    ("ibs", "move", "action"),
    ("toma_po", "probe", "action"),
    ("rps", "probe", "shown"),
    ("rps", "move", "shown"),
    ("ipd", "move", "change"),
    ("ibs", "move", "change"),
)
CELLS = ("primary: {game}, lm, *", "secondary: {game}, lm twin, *", "secondary: {game}, lm, depth*")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--model", required=True)
    parser.add_argument("--bundle", type=Path)
    parser.add_argument("--decisions", type=int, default=700)
    parser.add_argument("--scratch", type=Path, help="folder for activations [temporary]")
    parser.add_argument("--groups", type=int, default=len(PLAN), help="only the first so many")
    options = parser.parse_args()
    name = options.model.removeprefix("hf:")
    target = options.out / f"represented-{plain_name(name)}.json"
    begun = time.monotonic()

    def tell(message: str) -> None:
        print(f"{time.monotonic() - begun:6.0f} s  {name}: {message}", file=sys.stderr, flush=True)

    bundle = options.bundle or Path(f"docs/results/bundles/knowing_doing-{name}.sally.zip")
    with open_store(bundle) as (place, _):
        episodes = list(store.load(place).episodes.values())
        tell(f"{len(episodes)} episodes")
    networks: dict[bool, ResidualStream] = {}

    def load(untrained: bool) -> ResidualStream:
        if untrained not in networks:
            networks[untrained] = ResidualStream(f"hf:{name}", untrained=untrained)
            tell("untrained network loaded" if untrained else "network loaded")
        return networks[untrained]

    scratch = options.scratch or Path(tempfile.mkdtemp())
    results: list[RepresentationResult] = []
    for game, moment, kind in PLAN[: options.groups]:
        cells = [cell.format(game=game) for cell in CELLS]
        group_episodes = [e for e in episodes if any(fnmatch(e.cell, cell) for cell in cells)]
        group_decisions = list(decisions(group_episodes, "", moment))  # type: ignore[arg-type]
        tell(f"{game}, {moment}, {kind}: {len(group_decisions)} decisions rendered")
        results += fit_groups(
            group_decisions,
            load,
            scratch,
            model=name,
            kind=kind,  # type: ignore[arg-type]
            place=moment,  # type: ignore[arg-type]
            limit=options.decisions,
            tell=tell,
        )
        write_results(results, target)
        result = results[-1]
        tell(
            f"right {result.accuracy.value:.3f}; beyond rules {result.beyond.value:.3f}, "
            f"{result.beyond}"
        )


if __name__ == "__main__":
    main()
