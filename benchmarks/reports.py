"""What a report takes: 500 and 2,000 episodes of 100 rounds, scored, profiled, paged and exported.

Each command runs in a process of its own, as a user runs it; time and peak memory are its own.
What is compared is the growth from the small store to the large one: linear work takes four times
the time, and bounded memory does not take four times the memory.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from sally import store
from sally.core.registry.study import Cell, Study, grid, instance, player_spec
from sally.runner.local import play
from sally.runner.seating import resolve_setup

ROUNDS, SIZES = 100, (500, 2000)
PLAYERS = ("random", "constant", "tabular", "copy_last", "majority")
PARTNERS = (player_spec("tit_for_tat"), player_spec("single_action", action=1))
COMMANDS = {
    "score": ("score", "{store}", "--json"),
    "profile": ("profile", "{store}", "--json"),
    "compare": ("compare", "{store}", "random", "tabular", "--json"),
    "report": ("report", "{store}", "--out", "{folder}/page.html"),
    "export": ("export", "{store}", "--out", "{folder}/rows.csv"),
}
CHILD = """
import contextlib, io, json, resource, sys
from sally.cli import main
with contextlib.redirect_stdout(io.StringIO()):
    try:
        main()
    except SystemExit as stop:
        assert not stop.code, stop.code
used = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps([used.ru_utime + used.ru_stime, used.ru_maxrss / 1024]))  # kilobytes on Linux
"""


def make_store(episodes: int, folder: Path) -> Path:
    """A store of so many episodes: five players, two partners, probed in every round."""
    lineups = grid(agent=tuple(map(player_spec, PLAYERS)), partner=PARTNERS)
    cell = Cell(
        "rps",
        (instance("rps", f"rps-{ROUNDS}", rounds=ROUNDS),),
        lineups,
        arms={"agent": ("their_odds",)},
        repeats=episodes // len(lineups),
    )
    store_folder = folder / str(episodes)
    store_folder.mkdir()
    with store.Writer(store_folder) as writer:
        for name, setup in Study("bench", "bench", (cell,)).trials():
            writer.add(play(resolve_setup(setup), name))
    return store_folder


class Took(NamedTuple):
    """Seconds by the clock, seconds of the processor, and megabytes at the peak."""

    clock: float
    work: float
    memory: float


def time_command(command: tuple[str, ...]) -> Took:
    """What one command took."""
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", CHILD, *command], capture_output=True, text=True, check=False
    )
    seconds = time.perf_counter() - start
    if done.returncode:
        raise SystemExit(f"sally {' '.join(command)}: {done.stderr[-400:]}")
    return Took(seconds, *json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        stores = {size: make_store(size, folder) for size in SIZES}
        costs: dict[str, list[Took]] = {}
        for command_name, command in COMMANDS.items():
            for store_folder in stores.values():
                arguments = tuple(
                    part.format(store=store_folder, folder=folder) for part in command
                )
                costs.setdefault(command_name, []).append(time_command(arguments))
        idle = time_command(("--version",))
    small, large = SIZES
    print(f"{ROUNDS} rounds an episode, {small} and {large} episodes; seconds of the processor and")
    print(f"by the clock; an empty command takes {idle.work:.1f} s and {idle.memory:.0f} MB")
    print(
        f"{'':9s} {'work':>6s} {'work':>6s} {'clock':>6s} {'MB':>5s} {'MB':>5s}  growth (work, MB)"
    )
    for command_name, (small_cost, large_cost) in costs.items():
        work = (large_cost.work - idle.work) / (small_cost.work - idle.work)
        room = (large_cost.memory - idle.memory) / max(small_cost.memory - idle.memory, 1)
        print(
            f"{command_name:9s} {small_cost.work:6.1f} {large_cost.work:6.1f} "
            f"{large_cost.clock:6.1f} {small_cost.memory:5.0f} "
            f"{large_cost.memory:5.0f}  {work:.1f} x, {room:.1f} x"
        )
    page_costs = [costs[command_name][1] for command_name in ("score", "profile", "report")]
    print(
        f"scored, profiled and reported, {large} episodes: "
        f"{sum(t.work for t in page_costs):.0f} s of "
        f"work, {sum(t.clock for t in page_costs):.0f} s by the clock (asked for: a minute, idle)"
    )


if __name__ == "__main__":
    main()
