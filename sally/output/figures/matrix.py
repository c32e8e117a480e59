"""The multitrait-multimethod matrix as a picture."""

from __future__ import annotations

from pathlib import Path

from sally.analysis.design.reliability import Key, Matrix
from sally.core.errors import BadInput
from sally.output.figures.panels import check, write


def draw_matrix(found: Matrix, path: Path) -> None:
    """Correlations below the diagonal by colour and in figures; on it, reliabilities."""
    check(path)
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise BadInput(
            "A picture needs matplotlib; `pip install 'sally-lab[figures]'` brings it."
        ) from None
    names, n = [said(key) for key in found.measures], len(found.measures)
    if n < 2:
        raise BadInput("A matrix needs at least two measures; these stores have fewer.")
    grid = [[float("nan")] * n for _ in range(n)]
    place = {key: at for at, key in enumerate(found.measures)}
    for pair in found.pairs:
        value = pair.correlation.value
        grid[place[pair.second]][place[pair.first]] = float("nan") if value is None else value
    size = (2.6 + 0.075 * max(map(len, names)) + 0.62 * n, 2.2 + 0.42 * n)
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots()
    image = axes.imshow(grid, cmap="RdBu_r", vmin=-1, vmax=1, aspect="auto")
    for row in range(n):
        for column in range(row + 1):
            here = found.reliabilities[row] if row == column else grid[row][column]
            known = here is not None and here == here
            shown = f"{here:.2f}" if known else "–"
            written = f"({shown})" if row == column else shown
            dark = row != column and known and abs(float(here or 0)) > 0.6
            ink = "white" if dark else "black"
            axes.text(column, row, written, ha="center", va="center", color=ink, fontsize=8)
    axes.set_xticks(range(n), names, rotation=35, ha="right", fontsize=8)
    axes.set_yticks(range(n), names, fontsize=8)
    axes.set_title(
        f"correlations over {found.players} players; reliability in brackets", fontsize=10
    )
    figure.colorbar(image, ax=axes, label="correlation")
    write(figure, path)


def said(key: Key) -> str:
    """A measure by its name."""
    game, trait, method = key
    return f"{trait}, {game}: {method}"
