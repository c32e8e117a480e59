"""Figures of papers, drawn with our data as tables and as plots.

Papers print figures as images, so published values appear only if the paper or its authors state
them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import linear_regression
from typing import TYPE_CHECKING, Literal

import msgspec

from sally.core.errors import BadInput
from sally.output.figures.panels import (
    COLOURS,
    MARKERS,
    Panel,
    figure_of,
    name_beside,
    short,
    write,
)
from sally.output.value_text import figure
from sally.stats.intervals import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INTERVALS = "Bars and bands: 95% intervals unless stated otherwise."


class Point(msgspec.Struct, frozen=True):
    """A value at a position on the x axis, with its interval and n."""

    x: float | str
    y: float | None
    interval: tuple[float, float] | None
    n: int
    x_interval: tuple[float, float] | None = None


class Series(msgspec.Struct, frozen=True):
    """Points of one curve in a panel."""

    panel: str
    label: str
    points: tuple[Point, ...]


class Picture(msgspec.Struct, frozen=True):
    """One figure of a paper."""

    name: str
    title: str
    x: str
    y: str
    kind: Literal["lines", "dots", "map", "scatter"]
    series: tuple[Series, ...] = ()
    note: str = ""
    places: int = 3
    limits: tuple[float, float] | None = None  # of the y axis
    shown: tuple[float, ...] = ()  # x positions shown in a table; empty: all
    missing: str | None = None  # why there is no data from episodes
    study: str = ""  # study that plays the missing episodes; empty: the paper's own

    @property
    def panels(self) -> list[str]:
        return list(dict.fromkeys(series.panel for series in self.series))


def point(x: float | str, estimate: Estimate) -> Point:
    """Return an estimate as a point."""
    ends = None if estimate.low is None or estimate.high is None else (estimate.low, estimate.high)
    return Point(x, estimate.value, ends, estimate.n)


def as_rows(picture: Picture, panel: str) -> tuple[list[dict[str, str]], list[str]]:
    """Return a panel as a table: one row per x and one column per series, or transposed."""
    panel_series = [series for series in picture.series if series.panel == panel]
    if picture.kind == "map":
        return _map_rows(picture, panel_series)
    if picture.kind == "scatter":
        return _scatter_rows(picture, panel_series)
    places = list(dict.fromkeys(p.x for series in panel_series for p in series.points))
    places = [x for x in places if not picture.shown or x in picture.shown]
    rows = []
    for x in places:
        row = {picture.x: x if isinstance(x, str) else f"{x:g}"}
        for series in panel_series:
            data_point = next((p for p in series.points if p.x == x), None)
            row[series.label] = _point_text(data_point, picture.places)
        rows.append(row)
    columns = [picture.x, *(series.label for series in panel_series)]
    return (rows, columns) if len(rows) + 3 >= len(panel_series) else _transpose(rows, columns)


def _transpose(
    rows: Sequence[dict[str, str]], columns: Sequence[str]
) -> tuple[list[dict[str, str]], list[str]]:
    """Transpose a table."""
    corner = columns[0]
    turned = [
        {"series": label} | {row[corner]: row[label] for row in rows} for label in columns[1:]
    ]
    return turned, ["series", *(row[corner] for row in rows)]


def _map_rows(
    picture: Picture, series_list: Sequence[Series]
) -> tuple[list[dict[str, str]], list[str]]:
    columns = ["series", "order", picture.x, picture.y, "n"]
    rows = [
        {
            "series": series.label,
            "order": str(order),
            picture.x: figure(float(p.x), p.x_interval, picture.places),
            picture.y: _point_text(p, picture.places),
            "n": str(p.n),
        }
        for series in series_list
        for order, p in enumerate(series.points)
    ]
    return rows, columns


def _scatter_rows(
    picture: Picture, series_list: Sequence[Series]
) -> tuple[list[dict[str, str]], list[str]]:
    """Return one row per scatter plot: number of points, means and slope."""
    rows = []
    for series in series_list:
        xs, ys = _cloud(series)
        slope = _slope(xs, ys)
        rows.append(
            {
                "series": series.label,
                "n": str(len(xs)),
                f"mean {picture.x}": figure(sum(xs) / len(xs), None, picture.places),
                f"mean {picture.y}": figure(sum(ys) / len(ys), None, picture.places),
                "slope": "-" if slope is None else figure(slope, None, picture.places),
            }
        )
    return rows, ["series", "n", f"mean {picture.x}", f"mean {picture.y}", "slope"]


def _cloud(series: Series) -> tuple[list[float], list[float]]:
    points = [(float(p.x), p.y) for p in series.points if p.y is not None]
    return [x for x, _ in points], [y for _, y in points]


def _slope(xs: Sequence[float], ys: Sequence[float]) -> float | None:
    """Return the least-squares slope, or None if all x are equal."""
    return None if len(set(xs)) < 2 else float(linear_regression(xs, ys).slope)


def _point_text(data_point: Point | None, places: int) -> str:
    if data_point is None or data_point.y is None:
        return "-"
    return figure(data_point.y, data_point.interval, places)


# --- drawing ------------------------------------------------------------------------------------

Named = tuple[float, float, str, str]  # x, y, name, colour


def draw(picture: Picture, path: Path) -> None:
    """Write a figure to a file; the suffix of the file selects the format.

    Raises:
        BadInput: The figure has no data, or the file cannot be written.
    """
    if not picture.series:
        raise BadInput(f"There is nothing to draw in {picture.name}: no episode belongs to it.")
    panels = [_panel(picture, panel) for panel in picture.panels]
    spread = any(p.interval for series in picture.series for p in series.points)
    caption = f"{picture.note} {INTERVALS if spread else ''}".strip()
    write(figure_of(panels, 2, picture.title, caption), path)


def _panel(picture: Picture, panel: str) -> Panel:
    panel_series = [series for series in picture.series if series.panel == panel]
    draw_series = {"lines": _lines, "dots": _dots, "map": _map, "scatter": _scatter}[picture.kind]

    def onto(axes: Axes, height: float) -> None:
        axes.set_xlabel(picture.x)
        axes.set_ylabel(picture.y)
        ends = draw_series(axes, panel_series)
        if picture.limits is not None:
            low, high = picture.limits
            axes.set_ylim(low - (high - low) / 50, high + (high - low) / 50)
        name_beside(axes, ends, height)

    names = sum(len(s.points) for s in panel_series) if picture.kind == "map" else len(panel_series)
    return Panel(panel, onto, names)


def _style(number: int) -> tuple[str, str]:
    return COLOURS[number % len(COLOURS)], MARKERS[number // len(COLOURS) % len(MARKERS)]


def _lines(axes: Axes, series_list: Sequence[Series]) -> list[Named]:
    ends: list[Named] = []
    for number, series in enumerate(series_list):
        points = [(float(p.x), p.y, p.interval) for p in series.points if p.y is not None]
        if not points:
            continue
        colour, marker = _style(number)
        xs, ys = [x for x, _, _ in points], [y for _, y, _ in points]
        few = len(points) < 15
        axes.plot(xs, ys, marker=marker if few else None, color=colour, markersize=4)
        bounds = [ends or (y, y) for _, y, ends in points]
        axes.fill_between(
            xs, [b[0] for b in bounds], [b[1] for b in bounds], color=colour, alpha=0.15, lw=0
        )
        ends.append((xs[-1], ys[-1], short(series.label), colour))
    return ends


def _dots(axes: Axes, series_list: Sequence[Series]) -> list[Named]:
    places = list(dict.fromkeys(str(p.x) for series in series_list for p in series.points))
    ends: list[Named] = []
    for number, series in enumerate(series_list):
        colour, marker = _style(number)
        away = (number - (len(series_list) - 1) / 2) * min(0.14, 0.7 / len(series_list))
        last: Named | None = None
        for p in series.points:
            if p.y is None:
                continue
            x = places.index(str(p.x)) + away
            axes.plot([x], [p.y], marker, color=colour, markersize=5)
            if p.interval:
                axes.plot([x, x], list(p.interval), color=colour, lw=1)
            last = (x, p.y, short(series.label), colour)
        if last is not None:
            ends.append(last)
    axes.set_xticks(range(len(places)), places)
    axes.set_xlim(-0.5, len(places) - 0.5)
    return ends


def _map(axes: Axes, series_list: Sequence[Series]) -> list[Named]:
    ends: list[Named] = []
    for number, series in enumerate(series_list):
        colour, marker = _style(number)
        points = [(float(p.x), p.y, p) for p in series.points if p.y is not None]
        axes.plot([x for x, _, _ in points], [y for _, y, _ in points], color=colour, lw=0.8)
        for order, (x, y, p) in enumerate(points):
            axes.plot([x], [y], marker, color=colour, markersize=3 + 1.5 * order)
            if p.x_interval:
                axes.plot(list(p.x_interval), [y, y], color=colour, lw=0.8)
            if p.interval:
                axes.plot([x, x], list(p.interval), color=colour, lw=0.8)
            ends.append((x, y, short(f"{series.label}, order {order}"), colour))
    return ends


def _scatter(axes: Axes, series_list: Sequence[Series]) -> list[Named]:
    """Draw every point, semi-transparent, and a regression line per series."""
    ends: list[Named] = []
    for number, series in enumerate(series_list):
        colour, marker = _style(number)
        xs, ys = _cloud(series)
        axes.plot(xs, ys, marker, color=colour, markersize=4, alpha=0.4, markeredgewidth=0)
        middle, slope = (sum(xs) / len(xs), sum(ys) / len(ys)), _slope(xs, ys)
        if slope is None:
            ends.append((*middle, short(series.label), colour))
            continue
        line = [middle[1] + slope * (x - middle[0]) for x in (min(xs), max(xs))]
        axes.plot([min(xs), max(xs)], line, color=colour, lw=1.2)
        ends.append((max(xs), line[1], short(series.label), colour))
    return ends
