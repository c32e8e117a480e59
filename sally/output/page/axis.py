"""The horizontal axis of the figures of an evaluation, in hand-written SVG."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sally.output.figures.svg import Scale
from sally.output.html import Html, tag
from sally.output.tables.console import estimate_cell
from sally.stats.intervals import Estimate


@dataclass(frozen=True)
class Axis:
    """An axis from `low` to `high`, between `left_edge` and `margin` before `width`."""

    left_edge: float
    width: float
    margin: float
    low: float
    high: float

    def x(self, value: float) -> float:
        """Return the place of a value; values beyond an end are drawn at that end."""
        return Scale(self.low, self.high, self.left_edge, self.width - self.margin)(value)

    def grid(self, values: Iterable[float], top: float, bottom: float) -> Iterator[Html]:
        """Yield a vertical line at each value."""
        for value in values:
            x = self.x(value)
            yield tag("line", x1=x, x2=x, y1=top, y2=bottom, class_="grid")

    def labels(self, labels: Sequence[tuple[float, str]], y: float) -> Iterator[Html]:
        """Yield the text below each value; one at an end of the axis stays inside of it."""
        anchors = {self.low: " start", self.high: " end"}
        for value, label in labels:
            anchor = anchors.get(value, "")
            yield tag("text", label, x=self.x(value), y=y, class_=f"axis{anchor}")

    def estimate(
        self, name: str, estimate: Estimate | None, y: float, kind: str, radius: float = 4
    ) -> Iterator[Html]:
        """Yield the interval and the value of an estimate, with an arrow where one lies outside."""
        if estimate is None or estimate.value is None:
            return
        x = self.x(estimate.value)
        if estimate.low is not None and estimate.high is not None:
            yield tag("line", x1=self.x(estimate.low), x2=self.x(estimate.high), y1=y, y2=y,
                      class_=f"interval {kind}")  # fmt: skip
            if self.low <= estimate.value <= self.high:
                yield from self._arrow(y, estimate.low, -7)
                yield from self._arrow(y, estimate.high, -7)
        text = estimate_cell(estimate.value, estimate.interval, 2)
        yield tag("circle", tag("title", f"{name}: {text}"), cx=x, cy=y, r=radius, class_=kind)
        yield from self._arrow(y, estimate.value, 2)
        if not self.low <= estimate.value <= self.high:
            side = -1 if estimate.value < self.low else 1
            anchor = "start" if side < 0 else "end"
            yield tag("text", f"{estimate.value:.2f}", x=x - 8 * side, y=y - 6,
                      class_=f"axis {anchor}")  # fmt: skip

    def _arrow(self, y: float, value: float, start: float) -> Iterator[Html]:
        """Yield an arrow if a value, or an end of an interval, lies outside; it begins `start`
        beyond the edge of the axis."""
        if self.low <= value <= self.high:
            return
        side = -1 if value < self.low else 1
        back = self.x(value) + start * side
        tip = back + 7 * side
        points = f"{tip},{y} {back},{y - 5} {back},{y + 5} {tip},{y}"
        about = tag("title", f"outside the axis: {value:.2f}")
        yield tag("polyline", about, points=points, class_="outside")


def key(kind: str) -> Html:
    """Return the mark of a legend: a circle, or the line of a mindless player."""
    shape = tag("circle", cx=8, cy=8, r=4, class_=kind)
    if kind == "mindless":
        shape = tag("line", x1=8, x2=8, y1=1, y2=15, class_=kind)
    return tag("svg", shape, width=16, height=16, aria_hidden="true")
