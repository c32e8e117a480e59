"""The disk is full at the n-th write of a run, for every n; then there is room, and it goes on.

    python -m benchmarks.hostile.disks

What was stored before must be whole, what is missing is played, and the store must hold in the end
what an undisturbed run has.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sally.core.errors import BadInput, RunFailed
from sally.core.log.events import to_line
from sally.core.registry.study import Cell, Study, grid, instance, player_spec
from sally.runner.local import orders
from sally.runner.run import run_study
from sally.store.places import Folder

FULL = OSError(28, "No space left on device")


def study(episodes: int = 12) -> Study:
    """A few short games."""
    players = grid(agent=player_spec("random"), partner=player_spec("tit_for_tat"))
    return Study("full", "", (Cell("c", (instance("ipd", rounds=4),), players, repeats=episodes),))


@contextmanager
def room_for(writes: int, half: bool = False) -> Iterator[list[int]]:
    """A disk that takes so many writes, of the next perhaps half, and then none."""
    writes_made, write, sync, aside = [0], os.write, os.fsync, Folder._temporary

    def count() -> bool:
        writes_made[0] += 1
        return writes_made[0] > writes

    def limited_write(fd: int, data: Any) -> int:
        if not count():
            return write(fd, data)
        if half and writes_made[0] == writes + 1:
            return write(fd, data[: len(data) // 2])
        raise FULL

    def limited_sync(fd: int) -> None:
        if count():
            raise FULL
        sync(fd)

    def put_aside(self: Folder, name: str, data: bytes, lasting: bool = True) -> Path:
        if count():
            raise FULL
        return aside(self, name, data, lasting)

    os.write, os.fsync, Folder._temporary = limited_write, limited_sync, put_aside  # type: ignore[assignment]
    try:
        yield writes_made
    finally:
        os.write, os.fsync, Folder._temporary = write, sync, aside  # type: ignore[method-assign]


def campaign(most: int = 10**6) -> dict[str, Any]:
    """Every write of a small run, whole and half."""
    planned, outcomes = study(), Counter[str]()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with room_for(10**9) as writes_made:
            clean = {to_line(e) for e in run_study(planned, folder / "clean").episodes.values()}
        size = len(orders(planned))
        for n in range(min(writes_made[0], most)):
            for half in (False, True):
                out = folder / f"{n}-{half}"
                outcomes["full disks"] += 1
                try:
                    with room_for(n, half):
                        run_study(planned, out)
                    outcomes["the run did not need that write"] += 1
                except (BadInput, RunFailed):
                    outcomes["said in a sentence"] += 1
                except Exception as why:
                    outcomes[f"trace: {type(why).__name__}: {why}"] += 1
                resumed = run_study(planned, out)
                outcomes["lost"] += size - len(resumed.finished_ids)
                outcomes["doubled"] += resumed.doubled
                outcomes["torn"] += len(resumed.bad)
                outcomes["differing"] += {to_line(e) for e in resumed.episodes.values()} != clean
    return {"writes of a run": writes_made[0], **outcomes}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--most", type=int, default=10**6, help="Only the first writes.")
    print(campaign(parser.parse_args().most))
