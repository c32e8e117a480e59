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

from sally import store
from sally.core.study import Cell, Study, grid, instance, sitter
from sally.runner.local import play
from sally.runner.seating import resolved

ROUNDS, SIZES = 100, (500, 2000)
PLAYERS = ("random", "constant", "tabular", "copy_last", "majority")
PARTNERS = (sitter("tit_for_tat"), sitter("single_action", action=1))
COMMANDS = {
    "score": ("score", "{store}", "--json"),
    "profile": ("profile", "{store}", "--json"),
    "compare": ("compare", "{store}", "random", "tabular", "--json"),
    "report": ("report", "{store}", "--out", "{folder}/page.html"),
    "export": ("export", "{store}", "--to", "{folder}/rows.csv"),
}
CHILD = """
import contextlib, io, json, resource, sys
from sally.cli import main
with contextlib.redirect_stdout(io.StringIO()):
    try:
        main()
    except SystemExit as stop:
        assert not stop.code, stop.code
print(json.dumps(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss))
"""


def made(episodes: int, folder: Path) -> Path:
    """A store of so many episodes: five players, two partners, probed in every round."""
    lineups = grid(agent=tuple(map(sitter, PLAYERS)), partner=PARTNERS)
    cell = Cell(
        "rps",
        (instance("rps", f"rps-{ROUNDS}", rounds=ROUNDS),),
        lineups,
        arms={"agent": ("their_odds",)},
        repeats=episodes // len(lineups),
    )
    where = folder / str(episodes)
    where.mkdir()
    with store.Writer(where) as writer:
        for name, setup in Study("bench", "bench", (cell,)).trials():
            writer.add(play(resolved(setup), name))
    return where


def timed(command: tuple[str, ...]) -> tuple[float, float]:
    """Seconds and peak megabytes of one command."""
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", CHILD, *command], capture_output=True, text=True, check=False
    )
    seconds = time.perf_counter() - start
    if done.returncode:
        raise SystemExit(f"sally {' '.join(command)}: {done.stderr[-400:]}")
    return seconds, json.loads(done.stdout.splitlines()[-1]) / 1024  # kilobytes on Linux


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        stores = {size: made(size, folder) for size in SIZES}
        found: dict[str, list[tuple[float, float]]] = {}
        for what, command in COMMANDS.items():
            for where in stores.values():
                given = tuple(part.format(store=where, folder=folder) for part in command)
                found.setdefault(what, []).append(timed(given))
        idle = timed(("--version",))
    print(f"{ROUNDS} rounds an episode; an empty command: {idle[0]:.1f} s, {idle[1]:.0f} MB")
    print(
        f"{'':10s} {'s, 500':>8s} {'s, 2000':>8s} {'MB, 500':>8s} {'MB, 2000':>9s}  growth (s, MB)"
    )
    for what, ((small, light), (large, heavy)) in found.items():
        grew = (large - idle[0]) / (small - idle[0]), (heavy - idle[1]) / max(light - idle[1], 1)
        print(
            f"{what:10s} {small:8.1f} {large:8.1f} {light:8.0f} {heavy:9.0f}"
            f"  {grew[0]:.1f} x, {grew[1]:.1f} x"
        )
    whole = sum(found[what][1][0] for what in ("score", "profile", "report"))
    print(f"scored, profiled and reported, 2000 episodes: {whole:.0f} s (asked for: a minute)")


if __name__ == "__main__":
    main()
