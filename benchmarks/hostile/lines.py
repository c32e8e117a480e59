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

from benchmarks.hostile.mutations import mutate
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
    episode = store.read_line(line)
    return episode if isinstance(episode, str) else why_wrong(line, episode) or episode


def flips(episodes: list[Episode], times: int, draw: random.Random) -> Counter[str]:
    """Lines with a sum, changed anyhow; and lines from before sums, one bit flipped."""
    counts: Counter[str] = Counter()
    for _ in range(times):
        episode = draw.choice(episodes)
        for kind, line in (
            ("sealed", append_checksum(to_line(episode))),
            ("bare", to_line(episode)),
        ):
            changed = mutate(line.rstrip(b"\n"), draw).replace(b"\n", b" ") + b"\n"
            if changed == line:
                continue
            now = read(changed)
            if isinstance(now, str):
                counts[f"{kind}: detected"] += 1
            elif now == episode:
                counts[f"{kind}: harmless"] += 1
            else:
                counts[f"{kind}: changed unseen"] += 1
                is_same_result = now.events[-1] == episode.events[-1] and now.setup == episode.setup
                counts[f"{kind}: a result changed unseen"] += not is_same_result
    return counts


def bundles(folder: Path, times: int, draw: random.Random) -> Counter[str]:
    """Bundles changed anyhow: refused in a sentence, or read as they were packed."""
    whole_bundle = folder / "whole.zip"
    pack(folder / "store", whole_bundle)
    good, path = whole_bundle.read_bytes(), folder / "changed.zip"
    counts: Counter[str] = Counter()
    for _ in range(times):
        changed = mutate(good, draw)
        path.write_bytes(changed)
        try:
            with open_store(path) as (place, packed):
                contents = store.load(place, quarantine=False)
                is_sound = packed is not None and not contents.bad
            counts["harmless" if is_sound and changed == good else "changed unseen"] += 1
        except BadInput:
            counts["detected"] += 1
        except Exception as why:
            counts[f"trace: {type(why).__name__}"] += 1
    return counts


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
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--lines", type=int, default=100_000)
    parser.add_argument("--bundles", type=int, default=5_000)
    parser.add_argument("--seed", type=int, default=18)
    options = parser.parse_args()
    print(campaign(options.lines, options.bundles, options.seed))
