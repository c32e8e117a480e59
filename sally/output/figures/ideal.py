"""Figure of each player's regret, divided into its parts, with the Bayes-adaptive player's regret
for comparison."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sally.analysis.profile.ideal_scale import IdealRow
from sally.core.errors import BadInput
from sally.output.figures.panels import COLOURS, GREY, Panel, figure_of, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLE = "Regret beside an ideal mind"
CAPTION = (
    "Regret per round against the best play with the known partner, divided into its parts. "
    "Dashed: the price of finding out, which even the Bayes-adaptive player pays. Beside each "
    "name: knowing with a uniform guess at 0 and the ideal observer at 1."
)
PARTS = {"price": "price", "pool inference": "pool_inference", "pool translation":
         "pool_translation", "pool luck": "pool_luck"}  # fmt: skip


def ideal_figure(rows: Sequence[IdealRow], columns: int = 2) -> Figure:
    """Draw the parts of each player's regret, one panel for each game and seat.

    Raises:
        BadInput: If there is no row, or Matplotlib is not installed.
    """
    rows = [row for row in rows if row.pool_regret.value is not None]
    keys = list(dict.fromkeys((row.game, row.seat) for row in rows))
    if not keys:
        raise BadInput(
            "There is nothing to draw: no episode has a partner from a declared pool and a "
            "computed value of Bayes-adaptive play."
        )
    panels = [_panel([row for row in rows if (row.game, row.seat) == key]) for key in keys]
    return figure_of(panels, columns, TITLE, CAPTION)


def _panel(rows: Sequence[IdealRow]) -> Panel:
    def draw(axes: Axes, height: float) -> None:
        for n, row in enumerate(rows):
            _bar(axes, n, row)
        price = rows[0].price.value
        if price is not None:
            axes.axvline(price, linestyle="--", color=GREY, linewidth=0.8)
        axes.axvline(0, color=GREY, linewidth=0.8)
        axes.set_yticks(range(len(rows)), [_name(row) for row in rows])
        axes.yaxis.tick_right()
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_xlabel("regret per round")
        handles = [axes.barh([0], [0], color=COLOURS[n]) for n in range(len(PARTS))]
        axes.legend(handles, list(PARTS), fontsize="small", frameon=False)

    return Panel(f"{rows[0].game}, {rows[0].seat}", draw, len(rows))


def _bar(axes: Axes, place: int, row: IdealRow) -> None:
    """Draw the parts of a player's regret as one stacked bar: losses to the right of zero, gains to
    the left."""
    ends = {True: 0.0, False: 0.0}
    for colour, field in zip(COLOURS, PARTS.values(), strict=False):
        value: float | None = getattr(row, field).value
        if value:
            axes.barh(place, value, left=ends[value > 0], color=colour, height=0.6)
            ends[value > 0] += value
    if row.pool_inference.value is None and row.by_moves.value:  # nothing was asked
        start = row.price.value or 0.0
        axes.barh(place, row.by_moves.value, left=start, color=GREY, height=0.6)


def _name(row: IdealRow) -> str:
    knowing = row.knowing_of_ideal.value
    return short(row.player) if knowing is None else f"{short(row.player)} ({knowing:.2f})"
