"""Scripted rounds of bargaining without talk a minute, and what importing published logs costs.

`python benchmarks/bargaining.py [LOGS]`: with a folder of published PACT logs, the import is timed
too, its peak memory is measured, and both are extrapolated to the 9,089 games of the full record.
"""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path

import msgspec

from sally.core.log.events import Setup
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.registry import registry
from sally.core.registry.study import instance, player_spec
from sally.papers.pact.importer import IMPORTER
from sally.runner.seating import players_of, resolve_setup

GAMES, ROUNDS = 5_000, 20
AIM = 1_000_000 / 60  # rounds a second: a million a minute on one core
FULL_RECORD = 9_089  # games
PAIRS = (("responsive", "clock"), ("copy_last_capped", "splitter"))


def play(buyer: str, seller: str, games: int = GAMES) -> float:
    """Return scripted rounds a second of processor time, dealing and the full log included."""
    lineup = {"buyer": player_spec(buyer), "seller": player_spec(seller)}
    spec = registry.game("bargaining")
    setup = resolve_setup(Setup(instance("bargaining", talk="none", rounds=ROUNDS), 0, lineup))
    first = Match(spec, setup)
    players = players_of(first)
    began = time.process_time()
    for seed in range(games):
        match = Match(spec, msgspec.structs.replace(setup, seed=seed), like=first)
        Driver(match, players).run()
        match.episode()
    return games * ROUNDS / (time.process_time() - began)


def bring_in(path: Path) -> tuple[int, float, float]:
    """Return games imported, processor seconds, and the growth of peak memory in MB."""
    peak_before, began = _peak(), time.process_time()
    imported = IMPORTER.import_from(path)
    return len(imported.episodes), time.process_time() - began, _peak() - peak_before


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Print rounds a second and, with logs, what the import takes."""
    for pair in PAIRS:
        rate = play(*pair)
        print(f"{' against '.join(pair)}: {rate:,.0f} rounds a second, {rate / AIM:.1f} x the aim")
    if len(sys.argv) > 1:
        base = _peak()
        games, seconds, grown = bring_in(Path(sys.argv[1]))
        scale = FULL_RECORD / games
        print(
            f"import: {games} games in {seconds:.1f} s; {FULL_RECORD} games would take "
            f"{seconds * scale:.0f} s and {base + grown * scale:.0f} MB"
        )


if __name__ == "__main__":
    main()
