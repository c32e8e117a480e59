"""SVG plots for the report page, in its colours; every point links to its episodes.

Figures for papers use Matplotlib. These plots do not, because the page's security policy forbids
inline styles, and because pages must be available without Matplotlib. Scales, labels and
explanations are those of both (`knowing_doing`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import msgspec

from sally.output.figures.knowing_doing import (
    CAME_TRUE,
    KNOWING,
    ODDS,
    RANDOM,
    clip_doing,
    doing_label,
    doing_limits,
    lowest_knowing,
)
from sally.output.figures.short_names import shorten, split_common
from sally.output.html import Html, join, tag

WIDTH = 380  # of every plot, in pixels; fits a phone
LEFT, RIGHT, ROW = 142, 16, 30  # interval plot: width of names, margin, row height
MINDLESS = "mindless"
HEIGHT, EDGE, NAMES = 300, 46, 128  # profile: height, axis, width of names
QUARTERS = (0, 25, 50, 75, 100)  # percent, at the grid lines of a calibration plot


class Bar(msgspec.Struct, frozen=True):
    """One row of an interval plot."""

    name: str
    about: str  # a second, smaller line
    value: float
    interval: Sequence[float] | None
    n: int | None  # number of episodes, if known
    href: str | None


class Dot(msgspec.Struct, frozen=True):
    """One player of a profile plot."""

    name: str
    knowing: float
    doing: float
    knowing_interval: Sequence[float] | None
    doing_interval: Sequence[float] | None
    href: str | None


# --- scales ---------------------------------------------------------------------------------------


def ticks(low: float, high: float, limit: int = 5) -> list[float]:
    """Return at most `limit` round numbers between `low` and `high`."""
    if not high > low:
        return [low]
    rough = (high - low) / max(1, limit - 1)
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * k for k in (1, 2, 2.5, 5, 10) if unit * k >= rough * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    return [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]


def span(values: Sequence[float]) -> tuple[float, float]:
    """Return a non-empty range that contains all values, with a margin."""
    low, high = min(values), max(values)
    air = 0.06 * (high - low) or 0.5 * abs(high) or 0.5
    return low - air, high + air


class Scale(msgspec.Struct, frozen=True):
    """A linear map from values to pixels."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return self.start + min(1.0, max(0.0, share)) * (self.end - self.start)


# --- intervals ------------------------------------------------------------------------------------


def interval_plot(title: str, axis: str, bars: Sequence[Bar]) -> Html:
    """Return a plot of means with intervals, one row each, on one axis."""
    edges = [v for bar in bars for v in (bar.value, *(bar.interval or ()))]
    low, high = span(edges)
    x_scale = Scale(low, high, LEFT + 8, WIDTH - RIGHT)  # keeps names clear of the leftmost dot
    bottom = ROW * len(bars) + 6
    marks = ticks(low, high)
    grid = [
        join(
            tag("line", x1=x_scale(t), x2=x_scale(t), y1=4, y2=bottom, class_=_grid(t)),
            tag("text", number(t), x=x_scale(t), y=bottom + 14, class_="tick"),
        )
        for t in marks
    ]
    lines = [_bar(bar, x_scale, 4 + ROW * (n + 0.5)) for n, bar in enumerate(bars)]
    label = tag("text", axis, x=(LEFT + WIDTH - RIGHT) / 2, y=bottom + 30, class_="axis")
    size = f"0 0 {WIDTH} {bottom + 38}"
    return tag(
        "svg",
        tag("title", title),
        grid,
        lines,
        label,
        viewBox=size,
        role="group",
        aria_label=title,
        class_="intervals",
    )


def _grid(value: float) -> str:
    return "zero" if abs(value) < 1e-12 else "grid"


def _bar(bar: Bar, x_scale: Scale, y: float) -> Html:
    description = (
        f"{bar.name}{', ' + bar.about if bar.about else ''}: {estimate(bar.value, bar.interval)}"
    )
    whisker = None
    if bar.interval is not None:
        x1, x2 = x_scale(bar.interval[0]), x_scale(bar.interval[1])
        whisker = tag("line", x1=x1, x2=x2, y1=y, y2=y, class_="whisker")
    mark = tag("circle", cx=x_scale(bar.value), cy=y, r=4, class_="dot")
    return tag(
        "a" if bar.href else "g",
        tag("title", description if bar.n is None else f"{description} (n {bar.n})"),
        tag("rect", x=0, y=y - ROW / 2, width=WIDTH, height=ROW, class_="hit"),
        tag("text", shorten(bar.name, 20), x=0, y=y - 1 if bar.about else y + 4, class_="name"),
        tag("text", shorten(bar.about, 25), x=0, y=y + 11, class_="about") if bar.about else None,
        whisker,
        mark,
        href=bar.href,
    )


# --- the profile ----------------------------------------------------------------------------------


def _lattice(
    x_scale: Scale, y_scale: Scale, levels: Sequence[float], places: Sequence[float]
) -> Html:
    """Return grid lines with numbers at these x and y values."""
    right, bottom = WIDTH - NAMES, HEIGHT - EDGE
    return join(
        *(
            join(
                tag("line", x1=x_scale(t), x2=x_scale(t), y1=10, y2=bottom, class_="grid"),
                tag("text", number(t), x=x_scale(t), y=bottom + 14, class_="tick"),
            )
            for t in places
        ),
        *(
            join(
                tag("line", x1=EDGE, x2=right, y1=y_scale(t), y2=y_scale(t), class_="grid"),
                tag("text", number(t), x=EDGE - 6, y=y_scale(t) + 4, class_="tick up"),
            )
            for t in levels
        ),
    )


def profile_plot(
    title: str,
    dots: Sequence[Dot],
    mindless: tuple[float | None, float | None],
    ceiling: str,
) -> Html:
    """Return a plot of knowing (x) and doing (y), with the best mindless player marked."""
    ys = [v for d in dots for v in (d.doing, *(d.doing_interval or ()))]
    low, high = doing_limits([*ys, *(v for v in mindless[1:] if v is not None)])
    right, bottom = WIDTH - NAMES, HEIGHT - EDGE
    xs = [v for d in dots for v in (d.knowing, *(d.knowing_interval or ()))]
    x_scale = Scale(lowest_knowing(xs), 1.05, EDGE, right)
    y_scale = Scale(low, high, bottom, 10)
    frame = [
        _lattice(x_scale, y_scale, ticks(low, high, 6), ticks(x_scale.low, 1, 6)),
        tag("line", x1=EDGE, x2=right, y1=y_scale(0), y2=y_scale(0), class_="mark"),
        tag("text", RANDOM, x=EDGE + 4, y=y_scale(0) + 12, class_="marked"),
        tag("line", x1=EDGE, x2=right, y1=y_scale(1), y2=y_scale(1), class_="mark"),
        tag("text", shorten(ceiling, 34), x=EDGE + 4, y=y_scale(1) - 4, class_="marked"),
        _guess(x_scale, bottom),
        _mindless(mindless, x_scale, y_scale, dots),
        tag("text", KNOWING, x=(EDGE + right) / 2, y=HEIGHT - 14, class_="axis"),
        _upward(doing_label(), (10 + bottom) / 2),
    ]
    places = spread([y_scale(d.doing) for d in dots], 13, 14, bottom)
    _, labels = split_common([dot.name for dot in dots])
    dot_elements = [
        _dot(dot, label, x_scale, y_scale, right, y, n)
        for n, (dot, label, y) in enumerate(zip(dots, labels, places, strict=True))
    ]
    size = f"0 0 {WIDTH} {HEIGHT}"
    return tag(
        "svg",
        tag("title", title),
        frame,
        dot_elements,
        viewBox=size,
        role="group",
        aria_label=title,
        class_="profile",
    )


def _upward(label: str, middle: float) -> Html:
    """Return the label of the y axis, written upwards."""
    turned = f"translate(11 {middle:.0f}) rotate(-90)"
    return tag("text", label, x=0, y=0, transform=turned, class_="axis")


def _guess(x_scale: Scale, bottom: float) -> Html:
    x = x_scale(0)
    return join(
        tag("line", x1=x, x2=x, y1=10, y2=bottom, class_="mark"),
        tag("text", "uniform guess", x=x, y=8, class_="marked middle"),
    )


def _mindless(
    point: tuple[float | None, float | None], x_scale: Scale, y_scale: Scale, dots: Sequence[Dot]
) -> Html | None:
    """Return a diamond for the best mindless predictor and player."""
    knows, does = point
    if knows is None or does is None:
        return None
    x, y = x_scale(knows), y_scale(min(max(does, y_scale.low), y_scale.high))
    corners = [(x, y - 5), (x + 5, y), (x, y + 5), (x - 5, y), (x, y - 5)]
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in corners)
    occupied = [(x_scale(d.knowing), y_scale(d.doing)) for d in dots]
    start, base = _free_place(x, y, occupied, x_scale.end)
    return join(
        tag("polyline", points=points, class_="mark"),
        tag("text", MINDLESS, x=start, y=base, class_="marked"),
    )


def _free_place(
    x: float, y: float, occupied: Sequence[tuple[float, float]], right: float
) -> tuple[float, float]:
    """Return a position for the label of the mindless player's mark (a diamond) that avoids dots
    and names."""
    wide, high = 5.2 * len(MINDLESS), 10
    places = [(x + 8, y + 4), (x - 8 - wide, y + 4), (x - wide / 2, y - 9), (x - wide / 2, y + 16)]

    def hidden(place: tuple[float, float]) -> tuple[int, int]:
        start, base = place
        outside = start < EDGE or start + wide > right
        overlaps = [start - 6 < a < start + wide + 6 and base - high - 5 < b < base + 5
                 for a, b in occupied]  # fmt: skip
        return outside, sum(overlaps)

    return min(places, key=hidden)


def _arrow(x: float, y: float, tip: float, hue: str) -> Html:
    """Return an arrow for a dot beyond the edge of the plot."""
    corners = f"{x - 6:.1f},{y - tip:.1f} {x + 6:.1f},{y - tip:.1f} {x:.1f},{y + tip:.1f}"
    return tag("polyline", points=corners, class_=f"dot {hue}")


def _dot(
    dot: Dot, label: str, x_scale: Scale, y_scale: Scale, right: float, label_y: float, n: int
) -> Html:
    inside = clip_doing(dot.doing)
    x, y, hue = x_scale(dot.knowing), y_scale(inside), f"hue{n % 7}"
    whiskers: list[Html] = []
    if dot.knowing_interval is not None:
        x1, x2 = map(x_scale, dot.knowing_interval)
        whiskers.append(tag("line", x1=x1, x2=x2, y1=y, y2=y, class_=f"whisker {hue}"))
    if dot.doing_interval is not None:
        y1, y2 = map(y_scale, dot.doing_interval)
        whiskers.append(tag("line", x1=x, x2=x, y1=y1, y2=y2, class_=f"whisker {hue}"))
    beyond = inside != dot.doing  # drawn at the edge and labelled with its value
    name = f"{shorten(label, 13)} {number(dot.doing, 1)}" if beyond else shorten(label, 20)
    knew = estimate(dot.knowing, dot.knowing_interval)
    description = f"{dot.name}: knowing {knew}, doing {estimate(dot.doing, dot.doing_interval)}"
    return tag(
        "a" if dot.href else "g",
        tag("title", description),
        tag("polyline", points=f"{x:.1f},{y:.1f} {right + 4},{label_y:.1f}", class_="leader"),
        whiskers,
        _arrow(x, y, 6 if dot.doing < inside else -6, hue)
        if beyond
        else tag("circle", cx=x, cy=y, r=5, class_=f"dot {hue}"),
        tag("text", name, x=right + 8, y=label_y + 4, class_=f"name {hue}"),
        href=dot.href,
    )


def spread(targets: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Return positions near the wanted positions, in the same order and at least `gap` apart."""
    order = sorted(range(len(targets)), key=lambda i: targets[i])
    gap = min(gap, (high - low) / max(1, len(targets) - 1))
    placed = [min(max(targets[i], low), high) for i in order]
    for lower, upper in pairwise(range(len(placed))):
        placed[upper] = max(placed[upper], placed[lower] + gap)
    if placed and placed[-1] > high:
        placed[-1] = high
        for lower, upper in reversed(list(pairwise(range(len(placed))))):
            placed[lower] = min(placed[lower], placed[upper] - gap)
    positions = dict(zip(order, placed, strict=True))
    return [positions[i] for i in range(len(targets))]


# --- calibration ----------------------------------------------------------------------------------


class Curve(msgspec.Struct, frozen=True):
    """Calibration of one player: (forecast, share, interval, n) per bin."""

    name: str
    points: Sequence[tuple[float, float, Sequence[float] | None, int]]
    href: str | None


def calibration_plot(title: str, curves: Sequence[Curve]) -> Html:
    """Return a plot of observed frequencies (y) against stated odds (x)."""
    right, bottom = WIDTH - NAMES, HEIGHT - EDGE
    x_scale, y_scale = Scale(0, 100, EDGE, right), Scale(0, 100, bottom, 10)
    frame = [
        _lattice(x_scale, y_scale, QUARTERS, QUARTERS),
        tag("line", x1=x_scale(0), x2=x_scale(100), y1=y_scale(0), y2=y_scale(100), class_="mark"),
        tag("text", ODDS, x=(EDGE + right) / 2, y=HEIGHT - 14, class_="axis"),
        _upward(CAME_TRUE, (10 + bottom) / 2),
    ]
    ends = spread([y_scale(100 * curve.points[-1][1]) for curve in curves], 13, 14, bottom)
    curve_elements = [
        _curve(curve, x_scale, y_scale, right, y, n)
        for n, (curve, y) in enumerate(zip(curves, ends, strict=True))
    ]
    return tag(
        "svg", tag("title", title), frame, curve_elements,
        viewBox=f"0 0 {WIDTH} {HEIGHT}", role="group", aria_label=title, class_="profile",
    )  # fmt: skip


def _curve(
    curve: Curve, x_scale: Scale, y_scale: Scale, right: float, label: float, n: int
) -> Html:
    hue = f"hue{n % 7}"
    places = [(x_scale(100 * odds), y_scale(100 * share)) for odds, share, _, _ in curve.points]
    marks: list[Html] = []
    for (x, y), (odds, share, interval, count) in zip(places, curve.points, strict=True):
        description = (
            f"{curve.name}: odds of {number(100 * odds, 0)} % came true in "
            f"{number(100 * share, 0)} %"
        )
        if interval is not None:
            y1, y2 = (y_scale(100 * edge) for edge in interval)
            marks.append(tag("line", x1=x, x2=x, y1=y1, y2=y2, class_=f"whisker {hue}"))
        dot = tag(
            "circle",
            tag("title", f"{description} of {count}"),
            cx=x,
            cy=y,
            r=4,
            class_=f"dot {hue}",
        )
        marks.append(dot)
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    return tag(
        "a" if curve.href else "g",
        tag("polyline", points=path, class_=f"curve {hue}"),
        tag(
            "polyline", points=f"{path.rpartition(' ')[2]} {right + 4},{label:.1f}", class_="leader"
        ),
        marks,
        tag("text", shorten(curve.name, 20), x=right + 8, y=label + 4, class_=f"name {hue}"),
        href=curve.href,
    )


# --- numbers and names ----------------------------------------------------------------------------


def number(value: float, places: int | None = None) -> str:
    """Format a number, with three significant digits if it is small, and a typographic minus
    sign."""
    if not math.isfinite(value):
        return "∞" if value > 0 else "−∞" if value < 0 else "–"
    if places is not None:
        numeral = f"{value:,.{places}f}"
    elif value == int(value) and abs(value) < 1e6:
        numeral = f"{int(value):,}"
    elif abs(value) >= 1000:
        numeral = f"{value:,.0f}"
    else:
        numeral = f"{value:.3g}"
    return numeral.replace("-", "\u2212") if not _is_zero(numeral) else numeral.lstrip("-")


def _is_zero(numeral: str) -> bool:
    return not any(sign in "123456789" for sign in numeral)


def estimate(value: float, interval: Sequence[float] | None) -> str:
    """Return a value with its interval as text, rounded to a suitable number of decimals."""
    places = 3 if abs(value) < 1 else 2 if abs(value) < 10 else 1
    if interval is None:
        return number(value, places)
    low, high = (number(edge, places) for edge in interval)
    return f"{number(value, places)} [{low}, {high}]"
