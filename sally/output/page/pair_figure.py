"""Knowing and doing by game on one axis, for the pages of certified pairs."""

from __future__ import annotations

from collections.abc import Sequence

from sally.output.html import Html, join, tag
from sally.output.page.axis import Axis, key
from sally.stats.intervals import Estimate

ROW_HEIGHT, TOP, LINE = 24, 12, 17

FigureRow = tuple[str, Estimate | None, Estimate | None]
"""The name of a row, and its estimates of knowing and doing."""


def draw_knowing_and_doing(
    title: str,
    rows: Sequence[FigureRow],
    labels: Sequence[tuple[float, str]],
    directions: Sequence[tuple[float, str]] = (),
) -> Html:
    """Return the figure of some rows on an axis from the first label to the last, with a grid line
    every .5. `directions` are texts in a line below the labels, at the ends of the axis."""
    lowest, highest = labels[0][0], labels[-1][0]
    axis = Axis(left_edge=160, width=500, margin=16, low=lowest, high=highest)
    bottom = TOP + ROW_HEIGHT * len(rows) + 26
    height = bottom + (LINE if directions else 0)
    steps = [lowest + 0.5 * n for n in range(round((highest - lowest) / 0.5) + 1)]
    shapes = [*axis.grid(steps, TOP - 6, bottom - 24), *axis.labels(labels, bottom - 8)]
    shapes += axis.labels(directions, bottom - 8 + LINE)
    for index, (name, knowing, doing) in enumerate(rows):
        y = TOP + ROW_HEIGHT * index + ROW_HEIGHT / 2
        shapes.append(
            tag("text", name, x=axis.left_edge - 12, y=y + 4, text_anchor="end", class_="name")
        )
        shapes += axis.estimate(f"{name}, knowing", knowing, y - 5, "dot")
        shapes += axis.estimate(f"{name}, doing", doing, y + 5, "ring")
    box = f"0 0 {axis.width} {height}"
    drawing = tag("svg", tag("title", title), shapes, viewBox=box, role="img")
    keys = [join(key("dot"), " knowing (predictions)"), join(key("ring"), " doing (moves)")]
    wide = tag("div", tag("div", drawing, class_="panel wide"), class_="panels")
    return tag("figure", wide, tag("figcaption", [tag("span", label) for label in keys],
                                    class_="marks"))  # fmt: skip
