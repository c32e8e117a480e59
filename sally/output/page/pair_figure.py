"""Knowing and doing by game on one axis, for the pages of certified pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sally.output.html import Html, join, tag
from sally.output.page.evaluation import outside_mark
from sally.output.tables.console import estimate_cell
from sally.stats.intervals import Estimate

LEFT, WIDTH, ROW_HEIGHT, TOP, HIGHEST = 160, 500, 24, 12, 1.0

FigureRow = tuple[str, Estimate | None, Estimate | None]
"""The name of a row, and its estimates of knowing and doing."""


def draw_knowing_and_doing(
    title: str, rows: Sequence[FigureRow], lowest: float, labels: Sequence[tuple[float, str]]
) -> Html:
    """Return the figure of some rows on an axis from `lowest` to 1, with a grid line every .5."""
    axis = Axis(lowest)
    height = TOP + ROW_HEIGHT * len(rows) + 26
    steps = [lowest + 0.5 * n for n in range(round((HIGHEST - lowest) / 0.5) + 1)]
    shapes = [
        tag("line", x1=axis.x(value), x2=axis.x(value), y1=TOP - 6, y2=height - 24, class_="grid")
        for value in steps
    ]
    shapes += [
        tag("text", label, x=axis.x(value), y=height - 8,
            class_=f"axis {({lowest: 'start', HIGHEST: 'end'}).get(value, '')}".strip())
        for value, label in labels
    ]  # fmt: skip
    for index, (name, knowing, doing) in enumerate(rows):
        y = TOP + ROW_HEIGHT * index + ROW_HEIGHT / 2
        shapes.append(tag("text", name, x=LEFT - 12, y=y + 4, text_anchor="end", class_="name"))
        shapes += axis.mark(f"{name}, knowing", knowing, y - 5, "dot")
        shapes += axis.mark(f"{name}, doing", doing, y + 5, "ring")
    drawing = tag("svg", tag("title", title), shapes, viewBox=f"0 0 {WIDTH} {height}", role="img")
    keys = [join(_key("dot"), " knowing (predictions)"), join(_key("ring"), " doing (moves)")]
    wide = tag("div", tag("div", drawing, class_="panel wide"), class_="panels")
    return tag("figure", wide, tag("figcaption", [tag("span", key) for key in keys],
                                    class_="marks"))  # fmt: skip


def _key(kind: str) -> Html:
    return tag("svg", tag("circle", cx=8, cy=8, r=4, class_=kind), width=16, height=16,
               aria_hidden="true")  # fmt: skip


class Axis:
    """The horizontal axis of the figure."""

    def __init__(self, lowest: float) -> None:
        self.lowest = lowest

    def x(self, value: float) -> float:
        """Return the place of a value; values beyond an end are drawn at that end."""
        inside = min(max(value, self.lowest), HIGHEST)
        return LEFT + (inside - self.lowest) / (HIGHEST - self.lowest) * (WIDTH - LEFT - 16)

    def mark(self, name: str, estimate: Estimate | None, y: float, kind: str) -> Iterator[Html]:
        """Yield the interval and the value of an estimate, with a mark if it lies outside."""
        if estimate is None or estimate.value is None:
            return
        x = self.x(estimate.value)
        if estimate.low is not None and estimate.high is not None:
            yield tag("line", x1=self.x(estimate.low), x2=self.x(estimate.high), y1=y, y2=y,
                      class_=f"interval {kind}")  # fmt: skip
        text = estimate_cell(estimate.value, estimate.interval, 2)
        yield tag("circle", tag("title", f"{name}: {text}"), cx=x, cy=y, r=4, class_=kind)
        if (arrow := outside_mark(x, y, estimate.value, self.lowest, HIGHEST)) is not None:
            yield arrow
