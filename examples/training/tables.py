"""The tables of the results page, from stores before and after training.

    python tables.py rps-untrained.sally.zip rps-doing-*.zip rps-knowing-*.zip

Runs `sally compare --transfer --json` and `sally profile --json --by cell` and prints what they
say as Markdown: the matrix, every training seed, the profile with training and held-out partners,
and the Brier skill. Nothing is computed here.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

ORDER = (
    *("training partners", "training machines", "held-out machines"),
    *("held-out machines, new wording", "held-out partners", "other games", "other family"),
    "literal",
)
PROFILE = {
    "foreseen, %": ("accuracy", 0),
    "knowing": ("skill", 2),
    "doing": ("doing", 2),
    "regret a round": ("regret", 2),
    "inference": ("inference", 2),
    "translation": ("translation", 2),
    "best reply to own prediction, %": ("consistency", 0),
}

Row = Mapping[str, Any]


def run_command(*command: str) -> list[Row]:
    """What a command of Sally's says as JSON."""
    process = subprocess.run(
        [sys.executable, "-m", "sally", *command, "--json"], capture_output=True, check=True
    )
    rows: list[Row] = json.loads(process.stdout)
    return rows


def ends_of(estimate: Row) -> tuple[float, float] | None:
    """The ends of an interval; None where there is none."""
    low, high = estimate.get("interval") or (estimate.get("low"), estimate.get("high"))
    return None if low is None or high is None else (low, high)


def line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def head_lines(*names: str) -> Iterator[str]:
    yield line(*names)
    yield f"|{'---|' * len(names)}"


def format_estimate(estimate: Row | None, places: int = 2, sign: str = "") -> str:
    """A value with its interval."""
    if not estimate or estimate["value"] is None:
        return "-"
    number = f"{sign}.{places}f"
    text = f"{estimate['value']:{number}}"
    if ends := ends_of(estimate):
        text += f" [{', '.join(f'{end:.{places}f}' for end in ends)}]"
    return text


def columns(cells: Sequence[Row]) -> list[str]:
    """What was tested, from nearest to farthest."""
    return [name for name in ORDER if name in {cell["tested_on"] for cell in cells}]


def matrix(cells: Sequence[Row], of: str) -> Iterator[str]:
    """One of the two matrices: where each row stands, and what training changed."""
    yield from head_lines(of, *columns(cells))
    cell_at = {(c["trained_on"], c["tested_on"]): c for c in cells}
    for row in dict.fromkeys(c["trained_on"] for c in cells):
        entries = []
        for column in columns(cells):
            cell = cell_at[row, column]
            if cell[of]["value"] is None:
                entries.append("-")
                continue
            value, change = f"{cell[of]['value']:.2f}", cell[f"{of}_change"]
            ends = ends_of(change)
            sure = ends is not None and ends[0] * ends[1] > 0
            changed = "" if change["value"] is None else format_estimate(change, sign="+")
            entries.append(", ".join(filter(None, (value, f"**{changed}**" if sure else changed))))
        yield line(row, *entries)


def seeds(cells: Sequence[Row]) -> Iterator[str]:
    """Every training, one by one."""
    trained = [c for c in cells if c["by_seed"]]
    names = sorted({seed for c in trained for seed in c["by_seed"]})
    yield from head_lines(
        "trained for", "measure", "tested on", *(f"seed {n}" for n in names), "mean"
    )
    for row in dict.fromkeys(c["trained_on"] for c in trained):
        for measure_index, measure in enumerate(("doing", "knowing")):
            for column in columns(cells):
                (cell,) = (c for c in trained if (c["trained_on"], c["tested_on"]) == (row, column))
                values = [cell["by_seed"][n][measure_index] for n in names]
                if None in values:
                    continue
                figures = (f"{value:.2f}" for value in (*values, fmean(values)))
                yield line(row.partition(", ")[2], measure, column, *figures)


def name_training(player: str) -> str:
    """`SmolLM2-135M-Instruct-rps-move-3 lm ...` as `doing, seed 3`."""
    _, learn, seed = (f"--{player.split()[0]}").rsplit("-", 2)
    goal = {"move": "doing", "probe": "knowing"}.get(learn)
    return f"{goal}, seed {seed}" if goal else "untrained"


def profile(rows: Sequence[Row], partners: str) -> Iterator[str]:
    """The profile of every training with some partners."""
    yield from head_lines(partners, *PROFILE)
    for row in rows:
        if row["cell"] == partners:
            entries = (format_estimate(row.get(key), places) for key, places in PROFILE.values())
            yield line(name_training(str(row["player"])), *entries)


def brier(cells: Sequence[Row]) -> Iterator[str]:
    """Predictions by their odds."""
    yield from head_lines("Brier skill", *columns(cells))
    for row in dict.fromkeys(c["trained_on"] for c in cells):
        row_cells = {c["tested_on"]: c for c in cells if c["trained_on"] == row}
        yield line(row, *(format_estimate(row_cells[column]["brier"]) for column in columns(cells)))


def main() -> None:
    cells = run_command("compare", "--transfer", *sys.argv[1:])
    profiled = run_command("profile", *sys.argv[1:], "--by", "cell")
    tables = (matrix(cells, "doing"), matrix(cells, "knowing"), seeds(cells))
    partners = [name for name in columns(cells) if "partners" in name or "machines" in name]
    for table in (*tables, *(profile(profiled, p) for p in partners), brier(cells)):
        print("\n".join(table), end="\n\n")


if __name__ == "__main__":
    main()
