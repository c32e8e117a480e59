"""The clock jumps an hour, both ways, while runs share a store and while people play.

python -m benchmarks.hostile.clocks --studies 50 --tables 50 --seed 18
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sally import store
from sally.core.log.events import to_line
from sally.core.registry.study import Cell, Study, grid, instance, player_spec
from sally.runner.local import orders
from sally.runner.run import run_study

HOUR = 3600.0
RUNS = 2  # at work on one store at the same time


@contextmanager
def jumping(draw: random.Random, chance: float = 0.2) -> Iterator[Counter[str]]:
    """A wall clock that is now and then an hour ahead, now and then an hour behind."""
    real, ahead, jumps = time.time, [0.0], Counter[str]()

    def now() -> float:
        if draw.random() < chance:
            ahead[0] = draw.choice((-HOUR, 0.0, HOUR))
            jumps["jumps"] += 1
        return real() + ahead[0]

    time.time = now
    try:
        yield jumps
    finally:
        time.time = real


def study(seed: int) -> Study:
    """A second of play or so."""
    players = grid(
        agent=(player_spec("random"), player_spec("tabular")), partner=player_spec("tit_for_tat")
    )
    cell = Cell("ipd", (instance("ipd", rounds=10),), players, repeats=40)
    return Study("clocks", "", (cell,), seed=seed)


def runs(studies: int, draw: random.Random) -> Counter[str]:
    """Studies that two processes run at once under clocks that jump."""
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for n in range(studies):
            planned, out = study(n), Path(folder) / str(n)
            seeds = [draw.randrange(2**32) for _ in range(RUNS)]
            pids = [_fork_run(planned, out, seed) for seed in seeds]
            codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids]
            stored = store.load(out)
            clean = run_study(planned, Path(folder) / f"{n}-clean")
            counts["studies"] += 1
            counts["runs that failed"] += sum(code != 0 for code in codes)
            counts["lost"] += len(orders(planned)) - len(stored.finished_ids)
            counts["doubled"] += stored.doubled
            counts["differing"] += _lines(stored) != _lines(clean)
    return counts


def _lines(contents: store.Contents) -> set[bytes]:
    return {to_line(e) for e in contents.episodes.values()}


def _fork_run(planned: Study, out: Path, seed: int) -> int:
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            with jumping(random.Random(seed)):
                run_study(planned, out)
            code = 0
        finally:
            os._exit(code)
    return pid


def tables(games: int, draw: random.Random) -> Counter[str]:
    """People at tables whose server's clock jumps between any two moves."""
    from tests.web.guests import play, sit, web_server

    counts: Counter[str] = Counter()
    with (
        tempfile.TemporaryDirectory() as folder,
        web_server(Path(folder)) as web,
        jumping(draw, 1.0) as jumps,  # the server looks at its clock seldom
    ):
        for n in range(games):
            guest, others = sit(web, ("ipd", "rps")[n % 2], params={"rounds": 4})
            screens = play([guest, *others.values()])
            counts["tables"] += 1
            counts["tables that did not end"] += not all(screen.get("over") for screen in screens)
    return counts + jumps


def campaign(studies: int, games: int, seed: int) -> dict[str, Any]:
    """Both, seeded."""
    draw = random.Random(seed)
    return {"runs": dict(runs(studies, draw)), "tables": dict(tables(games, draw))}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--studies", type=int, default=50)
    parser.add_argument("--tables", type=int, default=50)
    parser.add_argument("--seed", type=int, default=18)
    options = parser.parse_args()
    print(campaign(options.studies, options.tables, options.seed))
