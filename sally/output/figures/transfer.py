"""A picture of a transfer matrix: knowing and doing side by side, training's change by colour."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sally.analysis.compare.transfer import Cell, grid
from sally.core.errors import BadInput
from sally.stats import Estimate

PANELS = (("knowing", "knowing_change"), ("doing", "doing_change"))
TITLES = {
    "knowing": "knowing: 0 even guess, 1 all foreseen",
    "doing": "doing: 0 random player, 1 optimum",
}


def draw(cells: Sequence[Cell], path: Path) -> None:
    """Each cell says where the player stands and, below, what training changed."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise BadInput(
            "A picture needs matplotlib; `pip install 'sally-lab[figures]'` brings it."
        ) from None
    rows, columns, _ = grid(cells, "doing")
    size = (2.0 + 0.07 * max(map(len, rows)) + 2.9 * len(columns), 1.7 + 0.62 * len(rows))
    figure = Figure(figsize=size, layout="constrained")
    changes = [c for of in PANELS for line in grid(cells, of[1])[2] for c in line if c is not None]
    most = max([0.1, *(abs(c.value) for c in changes if c.value is not None)])
    panels: Any = figure.subplots(1, 2, sharey=True)
    panels[0].set_ylabel("trained on")
    for axes, (of, change) in zip(panels, PANELS, strict=True):
        image = _panel(axes, cells, of, change, most)
    figure.colorbar(image, ax=panels, label="change by training")
    figure.savefig(path, dpi=150)


def _panel(axes: Any, cells: Sequence[Cell], of: str, change: str, most: float) -> Any:
    rows, columns, values = grid(cells, of)
    changes = grid(cells, change)[2]
    shade = [[_value(each, 0.0) for each in line] for line in changes]
    image = axes.imshow(shade, cmap="RdBu", vmin=-most, vmax=most, aspect="auto")
    axes.set_xticks(range(len(columns)), columns, rotation=20, ha="right", fontsize=8)
    axes.set_yticks(range(len(rows)), rows, fontsize=8)
    axes.set_xlabel("tested on")
    axes.set_title(TITLES[of], size=9)
    box = {"facecolor": "white", "alpha": 0.75, "edgecolor": "none", "pad": 1.5}
    for n, line in enumerate(values):
        for k, value in enumerate(line):
            said = "\n".join(filter(None, (_said(value), _said(changes[n][k], sign=True))))
            axes.text(k, n, said, ha="center", va="center", fontsize=7, bbox=box)
    return image


def _value(found: Estimate | None, instead: float) -> float:
    return instead if found is None or found.value is None else found.value


def _said(found: Estimate | None, sign: bool = False) -> str:
    if found is None or found.value is None:
        return "" if sign else "-"
    value = round(found.value, 2) + 0.0  # never minus zero
    shown = f"{value:+.2f}" if sign else f"{value:.2f}"
    if found.interval is None:
        return shown
    low, high = found.interval
    return f"{shown} [{low:.2f}, {high:.2f}]"
