"""Estimates with their intervals as dots beside names: one panel per measure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from sally.core.errors import BadInput
from sally.output.figures.panels import COLOURS, GREY, Panel, figure_of, short
from sally.stats.intervals import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMNS = 2  # panels side by side


class EstimateDot(msgspec.Struct, frozen=True):
    """A named estimate of one measure."""

    measure: str
    name: str
    estimate: Estimate


def estimates_figure(dots: Sequence[EstimateDot], title: str = "") -> Figure:
    """Draw estimates with their intervals, one panel per measure.

    Raises:
        BadInput: If there is nothing to draw, or Matplotlib is not installed.
    """
    numbers = [dot for dot in dots if dot.estimate.value is not None]
    if not numbers:
        raise BadInput("There is no number to draw.")
    by_measure: dict[str, list[EstimateDot]] = {}
    for dot in numbers:
        by_measure.setdefault(dot.measure, []).append(dot)
    panels = [_panel(measure, group) for measure, group in by_measure.items()]
    return figure_of(panels, COLUMNS, title, "Lines: 95% intervals, where one could be computed.")


def _panel(measure: str, dots: Sequence[EstimateDot]) -> Panel:
    def draw(axes: Axes, height: float) -> None:
        for place, dot in enumerate(reversed(dots)):
            estimate = dot.estimate
            assert estimate.value is not None  # others are left out above
            if estimate.interval is not None:
                axes.plot(estimate.interval, [place, place], color=COLOURS[0], linewidth=1)
            axes.plot([estimate.value], [place], "o", color=COLOURS[0], markersize=4)
        axes.set_ylim(-0.5, len(dots) - 0.5)
        axes.set_yticks(range(len(dots)), [short(dot.name) for dot in reversed(dots)])
        axes.yaxis.tick_right()
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x", color=GREY, alpha=0.25, linewidth=0.5)
        axes.set_xlabel(measure)

    return Panel(measure, draw, len(dots))
