"""Draw the curves of some trainings: regret a round, and belief where predictions were trained.

python curves.py curves.svg out/rps-*/curve.jsonl
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

SHOWN = {  # what is drawn, how it is called, and whether it is turned round
    "regret": ("regret a round", -1.0),
    "expected": ("expected regret a round, lessons", 1.0),
    "foreseeing": ("log loss of predictions, lessons", 1.0),
    "practice": ("regret a round, practice machines", 1.0),
    "belief": ("belief (1 - Brier / 2)", 1.0),
    "entropy": ("entropy of the answers (nats)", 1.0),
}
DASHES = {"move": "-", "probe": "--"}


def read(path: Path) -> list[dict[str, Any]]:
    """The steps of one training."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def draw(curves: dict[str, list[dict[str, Any]]], out: Path) -> None:
    """One panel a column, one line a training; dashed where predictions were trained."""
    columns_in_use = {name for steps in curves.values() for step in steps for name in step}
    drawn_columns = {column: how for column, how in SHOWN.items() if column in columns_in_use}
    figure = Figure(figsize=(3.5 * len(drawn_columns), 3.2), layout="constrained")
    panels = figure.subplots(1, len(drawn_columns), squeeze=False)[0]
    for axes, (column, (title, sign)) in zip(panels, drawn_columns.items(), strict=True):
        for n, (name, steps) in enumerate(curves.items()):
            of_column = [step for step in steps if column in step]
            dash = DASHES["probe" if "belief" in steps[0] else "move"]
            x, y = [s["step"] for s in of_column], [sign * s[column] for s in of_column]
            axes.plot(x, y, dash, color=f"C{n}", label=name, linewidth=1.3)
        axes.set_title(title, size=9)
        axes.set_xlabel("step", size=8)
        axes.tick_params(labelsize=8)
    figure.axes[0].legend(fontsize=6)
    figure.savefig(out, dpi=150)


def name_of(path: Path) -> str:
    """After the file, or after its folder if it is called as `train.py` calls it."""
    return (
        path.parent.name if path.name == "curve.jsonl" else path.name.removesuffix(".curve.jsonl")
    )


if __name__ == "__main__":
    out, *paths = map(Path, sys.argv[1:])
    draw({name_of(path): read(path) for path in paths}, out)
