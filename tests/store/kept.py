"""A small study, and episodes to keep."""

from __future__ import annotations

from pathlib import Path

from sally.core.log.events import Episode, to_line
from sally.core.registry.study import Cell, Study, grid, instance, player_spec
from tests.table import play_episode, table


def episodes(n: int, start: int = 0) -> list[Episode]:
    return [play_episode(table("cups", seed)) for seed in range(start, start + n)]


def study(name: str = "mine", repeats: int = 6) -> Study:
    players = grid(agent=player_spec("random"), partner=player_spec("tit_for_tat"))
    cell = Cell("only", (instance("ipd", rounds=4),), players, repeats=repeats)
    return Study(name, "for tests", (cell,))


def write(folder: Path, *lines: bytes, name: str = "1-a.jsonl") -> Path:
    path = folder / name
    path.write_bytes(b"".join(lines))
    return path


def names(folder: Path) -> set[str]:
    return {str(p.relative_to(folder)) for p in folder.rglob("*")}


GOOD = to_line(episodes(1)[0])
