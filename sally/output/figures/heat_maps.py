"""Tables drawn as heat maps: cross-play, transfer of training, and correlations between
measures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sally.analysis.compare.crossplay import Pairings, sides
from sally.analysis.compare.transfer import TransferCell, grid
from sally.analysis.design.reliability import Key, Matrix
from sally.core.errors import BadInput
from sally.output.figures.knowing_doing import KNOWING, doing_label
from sally.output.figures.panels import blank_figure
from sally.stats.intervals import Estimate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INCHES = 0.075  # width of a letter beside a heat map
BOX = {"facecolor": "white", "alpha": 0.75, "edgecolor": "none", "pad": 1.2}
TRANSFER_PANELS = {
    "knowing": ("knowing_change", KNOWING),
    "doing": ("doing_change", doing_label("optimum")),
}


def crossplay_figure(table: Pairings, title: str = "") -> Figure:
    """Draw a cross-play table: the first seat's mean score as colour, both scores as text.

    Raises:
        BadInput: If the table is empty or Matplotlib is not installed.
    """
    rows, columns = sides(table)
    if not rows:
        raise BadInput("There is nothing to draw: no episode has a result.")
    size = (2.2 + INCHES * max(map(len, rows)) + 0.95 * len(columns), 1.6 + 0.32 * len(rows))
    figure = blank_figure(size)
    axes = figure.subplots()
    scores = [
        [
            table[first_player, second_player].first
            if (first_player, second_player) in table
            else float("nan")
            for second_player in columns
        ]
        for first_player in rows
    ]
    lowest = min(pairing.first for pairing in table.values())
    image = axes.imshow(scores, cmap="viridis", aspect="auto", vmin=min(lowest, 0.0))
    axes.set_facecolor("#eeeeee")  # pairings without episodes
    _label(axes, rows, columns, turned=30)
    axes.set_xlabel("second seat")
    axes.set_ylabel("first seat")
    axes.set_title(title or "mean score, first / second seat; best on top and to the left", size=10)
    for (first_player, second_player), pairing in table.items():
        text = f"{pairing.first:.2f} / {pairing.second:.2f}"
        _write(axes, rows.index(first_player), columns.index(second_player), text, bbox=BOX)
    figure.colorbar(image, ax=axes, label="first seat's mean score")
    return figure


def correlation_figure(matrix: Matrix) -> Figure:
    """Draw a multitrait-multimethod matrix: correlations below the diagonal, reliabilities on it.

    Raises:
        BadInput: If there are fewer than two measures or Matplotlib is not installed.
    """
    names, n = [measure_name(key) for key in matrix.measures], len(matrix.measures)
    if n < 2:
        raise BadInput("A matrix needs at least two measures; these stores have fewer.")
    place = {key: index for index, key in enumerate(matrix.measures)}
    values = [[float("nan")] * n for _ in range(n)]
    for pair in matrix.pairs:
        value = pair.correlation.value
        values[place[pair.second]][place[pair.first]] = float("nan") if value is None else value
    figure = blank_figure((2.6 + INCHES * max(map(len, names)) + 0.62 * n, 2.2 + 0.42 * n))
    axes = figure.subplots()
    image = axes.imshow(values, cmap="RdBu_r", vmin=-1, vmax=1, aspect="auto")
    for row in range(n):
        reliability = matrix.reliabilities[row]
        has_reliability = reliability is not None and reliability == reliability
        _write(axes, row, row, f"({reliability:.2f})" if has_reliability else "(–)", size=8)
        for column in range(row):
            correlation = values[row][column]
            ink = "white" if abs(correlation) > 0.6 else "black"
            _write(
                axes,
                row,
                column,
                f"{correlation:.2f}" if correlation == correlation else "–",
                size=8,
                color=ink,
            )
    _label(axes, names, names, turned=35)
    axes.set_title(
        f"correlations over {matrix.players} players; reliability in brackets", fontsize=10
    )
    figure.colorbar(image, ax=axes, label="correlation")
    return figure


def transfer_figure(cells: Sequence[TransferCell]) -> Figure:
    """Draw a transfer matrix: each player's score and, as colour, the change due to training.

    Raises:
        BadInput: If Matplotlib is not installed.
    """
    rows, columns, _ = grid(cells, "doing")
    size = (2.0 + 0.07 * max(map(len, rows)) + 2.9 * len(columns), 1.7 + 0.62 * len(rows))
    figure = blank_figure(size)
    changes = {of: grid(cells, change)[2] for of, (change, _) in TRANSFER_PANELS.items()}
    values = [
        estimate.value for of in changes.values() for line in of for estimate in line if estimate
    ]
    limit = max([0.1, *(abs(value) for value in values if value is not None)])
    panels: Any = figure.subplots(1, 2, sharey=True)
    panels[0].set_ylabel("trained on")
    for axes, (of, (_, title)) in zip(panels, TRANSFER_PANELS.items(), strict=True):
        shade = [[_value(estimate) for estimate in line] for line in changes[of]]
        image = axes.imshow(shade, cmap="RdBu", vmin=-limit, vmax=limit, aspect="auto")
        _label(axes, rows, columns, turned=20)
        axes.set_xlabel("tested on")
        axes.set_title(title, size=9)
        for n, line in enumerate(grid(cells, of)[2]):
            for k, value in enumerate(line):
                texts = (_text(value), _text(changes[of][n][k], signed=True))
                _write(axes, n, k, "\n".join(filter(None, texts)), bbox=BOX)
    figure.colorbar(image, ax=panels, label="change by training")
    return figure


def measure_name(key: Key) -> str:
    """Return a measure's name: its trait, game and method."""
    game, trait, method = key
    return f"{trait}, {game}: {method}"


def _label(axes: Any, rows: Sequence[str], columns: Sequence[str], turned: int) -> None:
    axes.set_xticks(range(len(columns)), columns, rotation=turned, ha="right", fontsize=8)
    axes.set_yticks(range(len(rows)), rows, fontsize=8)


def _write(axes: Any, row: int, column: int, text: str, size: int = 7, **style: Any) -> None:
    axes.text(column, row, text, ha="center", va="center", fontsize=size, **style)


def _value(estimate: Estimate | None) -> float:
    return 0.0 if estimate is None or estimate.value is None else estimate.value


def _text(estimate: Estimate | None, signed: bool = False) -> str:
    if estimate is None or estimate.value is None:
        return "" if signed else "-"
    value = round(estimate.value, 2) + 0.0  # avoids -0.00
    text = f"{value:+.2f}" if signed else f"{value:.2f}"
    if estimate.interval is None:
        return text
    low, high = estimate.interval
    return f"{text} [{low:.2f}, {high:.2f}]"
