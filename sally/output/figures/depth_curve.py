"""The curve of accuracy over the depth of the reasoners that solve a block of problems, with
one panel for each game and seat."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sally.analysis.profile.depth_curve import DepthPoint
from sally.core.errors import BadInput
from sally.output.figures.panels import (
    COLOURS,
    GREY,
    MARKERS,
    Named,
    Panel,
    figure_of,
    name_beside,
    short,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLE = "Accuracy by reasoner depth"
CAPTION = (
    "Share of decisions that were right, by the depth of reasoning that the block asks for: a "
    "reasoner of that depth answers all of it, shallower ones are at chance (dashed). Thin lines: "
    "95% intervals over problems."
)


def depth_figure(points: Sequence[DepthPoint], columns: int = 2) -> Figure:
    """Draw each player's accuracy at each depth of the reasoners that solve a block of
    problems.

    Raises:
        BadInput: If there is no point, or Matplotlib is not installed.
    """
    keys = list(dict.fromkeys((point.game, point.seat) for point in points))
    if not keys:
        raise BadInput("There is nothing to draw: no episode belongs to a set with depths.")
    panels = [_panel([p for p in points if (p.game, p.seat) == key]) for key in keys]
    return figure_of(panels, columns, TITLE, CAPTION)


def _panel(points: Sequence[DepthPoint]) -> Panel:
    players = list(dict.fromkeys(point.player for point in points))
    chances = {point.depth: point.chance for point in points}

    def draw(axes: Axes, height: float) -> None:
        axes.set_ylim(-0.03, 1.03)
        axes.set_xticks(sorted(chances))
        axes.set_xlabel("reasoner depth")
        axes.set_ylabel("right")
        axes.plot(sorted(chances), [chances[d] for d in sorted(chances)], "--", color=GREY)
        name_beside(axes, [_curve(axes, n, player) for n, player in enumerate(players)], height)

    def _curve(axes: Axes, n: int, player: str) -> Named:
        colour, marker = COLOURS[n % len(COLOURS)], MARKERS[n // len(COLOURS) % len(MARKERS)]
        player_points = [point for point in points if point.player == player]
        xs, ys = [p.depth for p in player_points], [p.right.value or 0.0 for p in player_points]
        axes.plot(xs, ys, marker=marker, color=colour, linewidth=1, markersize=4)
        for x, point in zip(xs, player_points, strict=True):
            if point.right.interval:
                axes.plot([x, x], point.right.interval, color=colour, linewidth=0.8)
        return xs[-1], ys[-1], short(player), colour

    return Panel(f"{points[0].game}, {points[0].seat}", draw, len(players))
