"""Mutated lines, stores and bundles: what was changed is detected, or it changes nothing.

python -m benchmarks.hostile.lines --lines 100000 --bundles 5000 --seed 18
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.hostile.mutations import mutated
from sally import store
from sally.core.errors import BadInput
from sally.core.log.events import Episode, to_line
from sally.core.registry.study import Cell, Study, grid, instance, player_spec
from sally.output.files.bundle import pack
from sally.runner.run import run_study
from sally.store.bundles import open_store
from sally.store.lines import append_checksum, why_wrong


def study() -> Study:
    """A few short games of several families, with bots that are asked."""
    repeated = Cell(
        "ipd",
        (instance("ipd", rounds=5),),
        grid(agent=player_spec("random"), partner=player_spec("tit_for_tat")),
        {"agent": ("their_move",)},
        repeats=3,
    )
    boxes = Cell("level_k", (instance("level_k"),), _everybody("level_k"), repeats=2)
    return Study("hostile", "for the campaign", (repeated, boxes))


def _everybody(game: str) -> tuple[dict[str, Any], ...]:
    from sally.core.registry import registry

    return ({str(seat): player_spec("random") for seat in registry.game(game).build().seats},)


def read(line: bytes) -> Episode | str:
    """What a store makes of a line, in any position of a file: whole lines only."""
    found = store.read_line(line)
    return found if isinstance(found, str) else why_wrong(line, found) or found


def flips(episodes: list[Episode], times: int, draw: random.Random) -> Counter[str]:
    """Lines with a sum, changed anyhow; and lines from before sums, one bit flipped."""
    found: Counter[str] = Counter()
    for _ in range(times):
        episode = draw.choice(episodes)
        for kind, line in (
            ("sealed", append_checksum(to_line(episode))),
            ("bare", to_line(episode)),
        ):
            changed = mutated(line.rstrip(b"\n"), draw).replace(b"\n", b" ") + b"\n"
            if changed == line:
                continue
            now = read(changed)
            if isinstance(now, str):
                found[f"{kind}: detected"] += 1
            elif now == episode:
                found[f"{kind}: harmless"] += 1
            else:
                found[f"{kind}: changed unseen"] += 1
                same = now.events[-1] == episode.events[-1] and now.setup == episode.setup
                found[f"{kind}: a result changed unseen"] += not same
    return found


def bundles(folder: Path, times: int, draw: random.Random) -> Counter[str]:
    """Bundles changed anyhow: refused in a sentence, or read as they were packed."""
    whole = folder / "whole.zip"
    pack(folder / "store", whole)
    good, path = whole.read_bytes(), folder / "changed.zip"
    found: Counter[str] = Counter()
    for _ in range(times):
        changed = mutated(good, draw)
        path.write_bytes(changed)
        try:
            with open_store(path) as (place, packed):
                there = store.load(place, quarantine=False)
                same = packed is not None and not there.bad
            found["harmless" if same and changed == good else "changed unseen"] += 1
        except BadInput:
            found["detected"] += 1
        except Exception as why:
            found[f"trace: {type(why).__name__}"] += 1
    return found


def campaign(lines: int, packed: int, seed: int) -> dict[str, Any]:
    """Both, seeded."""
    draw = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        episodes = list(run_study(study(), folder / "store").episodes.values())
        return {
            "lines": dict(flips(episodes, lines // 2, draw)),
            "bundles": dict(bundles(folder, packed, draw)),
        }


if __name__ == "__main__":
    given = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    given.add_argument("--lines", type=int, default=100_000)
    given.add_argument("--bundles", type=int, default=5_000)
    given.add_argument("--seed", type=int, default=18)
    options = given.parse_args()
    print(campaign(options.lines, options.bundles, options.seed))
