"""Figures: the knowing-doing profile and calibration curves, to be read without a legend.

Matplotlib is loaded when a figure is made. Colours are those of Okabe and Ito (2008), which
colour-blind readers tell apart; every point carries its name besides.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from sally.core.errors import BadInput, listed
from sally.reports.profile import ProfileRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, GREY = "#1b1b1b", "#8a8a8a"  # ink becomes the page's own colour in an SVG
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F5F00")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<")
FORMATS = (".svg", ".pdf", ".png")
SIZE = 8  # points of ordinary text
LEFT, PLOT, NAMES = 0.75, 2.9, 1.95  # inches from left to right in a panel
WIDTH = LEFT + PLOT + NAMES
HEIGHT, LINE = 2.6, 0.15  # inches: the least height of a plot, and a line of text
LONGEST, WRAP = 30, 88  # letters of a name, and of a line below a panel
LOWEST, HIGHEST = -1.0, 1.5  # doing beyond these is drawn at the edge, with its value in words

TITLE = "What each player knew of the others, and what it did with it"
CAPTION = (
    "Across: predictions about others that were right. Up: reward on a scale from the best "
    "mindless player (0) to the optimum or the reference player (1), on the same problems with "
    "the same chance and company. Bars: 95% intervals, bootstrap over whole clusters of episodes. "
    "Right and low: knows and does not use it. Left and high: does well without knowing."
)


class Panel(msgspec.Struct, frozen=True):
    """One plot: its title, how it is drawn, how many names stand beside it, notes below it."""

    title: str
    draw: Callable[[Axes, float], None]  # given the height in inches
    names: int
    notes: tuple[str, ...] = ()

    @property
    def plot(self) -> float:
        return max(HEIGHT, LINE * (self.names + 1))

    @property
    def below(self) -> list[str]:
        return [line for note in self.notes for line in textwrap.wrap(note, WRAP)]

    @property
    def height(self) -> float:
        return 0.4 + self.plot + 0.5 + LINE * len(self.below)


# --- making and writing ---------------------------------------------------------------------------


def figure_of(panels: Sequence[Panel], columns: int, title: str, caption: str) -> Figure:
    """Panels side by side and below each other, with a title above and a caption below."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise BadInput(
            "matplotlib is not installed; `pip install sally[figures]` brings it."
        ) from None
    columns = max(1, min(columns, len(panels)))
    rows = [panels[n : n + columns] for n in range(0, len(panels), columns)]
    width = columns * WIDTH
    said = textwrap.wrap(caption, int(width * 17))
    tall = 0.45 + sum(max(p.height for p in row) for row in rows) + LINE * (len(said) + 1)
    figure = Figure(figsize=(width, tall))
    figure.text(LEFT / width, 1 - 0.2 / tall, title, size=SIZE + 3, weight="bold", color=INK)
    top = tall - 0.45
    for row in rows:
        for n, panel in enumerate(row):
            _place(figure, panel, n * WIDTH, top)
        top -= max(p.height for p in row)
    figure.text(
        LEFT / width, LINE / 2 / tall, "\n".join(said), size=SIZE - 0.5, color=INK, va="bottom"
    )
    return figure


def _place(figure: Figure, panel: Panel, left: float, top: float) -> None:
    width, tall = figure.get_size_inches()
    low = top - 0.4 - panel.plot
    axes = figure.add_axes(
        ((left + LEFT) / width, low / tall, PLOT / width, panel.plot / tall), facecolor="none"
    )
    for side, spine in axes.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(GREY)
    axes.tick_params(colors=INK, labelsize=SIZE - 0.5, color=GREY)
    panel.draw(axes, panel.plot)
    axes.set_title(panel.title, loc="left", size=SIZE + 1, weight="bold", color=INK)
    for label in (axes.xaxis.label, axes.yaxis.label):
        label.set(size=SIZE, color=INK)
    for n, line in enumerate(panel.below):
        at = low - 0.5 - LINE * n
        figure.text(
            (left + LEFT) / width, at / tall, line, size=SIZE - 1, color=INK, va="top", wrap=False
        )


def write(figure: Figure, path: Path) -> None:
    """The figure as SVG, PDF or PNG, by the ending of the file's name."""
    ending = path.suffix.lower()
    if ending not in FORMATS:
        raise BadInput(f"A figure is written as {listed(FORMATS, 'or')}, not as {path.name!r}.")
    data = svg(figure).encode() if ending == ".svg" else _rendered(figure, ending[1:])
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    except OSError as why:
        raise BadInput(f"The figure cannot be written to {path}: {why.strerror}.") from None


def svg(figure: Figure) -> str:
    """The figure as SVG to be put into a page: text is text, ink is the page's own colour."""
    text = _rendered(figure, "svg").decode()
    return text[text.index("<svg") :].replace(INK, "currentColor")


def _rendered(figure: Figure, form: str) -> bytes:
    """The same bytes for the same figure: no date, no random names."""
    from matplotlib import rc_context

    out = BytesIO()
    dated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}[form]
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "sally"}):
        page = {} if form == "svg" else {"facecolor": "white"}
        figure.savefig(out, format=form, dpi=150, transparent=form == "svg", metadata=dated, **page)
    return out.getvalue()


# --- names beside a plot --------------------------------------------------------------------------


def short(name: str, longest: int = LONGEST) -> str:
    """A name that fits: its middle gives way, since names differ at their ends."""
    if len(name) <= longest:
        return name
    head = (longest - 1) // 2
    return f"{name[:head]}…{name[len(name) - (longest - 1 - head) :]}"


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Places in ascending order, as near to those wanted as a gap between them allows."""
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    blocks: list[tuple[float, int]] = []  # (middle, how many): neighbours that touch move as one
    for i in order:
        blocks.append((wanted[i], 1))
        while len(blocks) > 1 and _touch(blocks[-2], blocks[-1], gap):
            (a, n), (b, m) = blocks[-2:]
            blocks[-2:] = [((a * n + b * m) / (n + m), n + m)]
    kept = [middle + gap * (k - (n - 1) / 2) for middle, n in blocks for k in range(n)]
    if kept:
        shift = max(0.0, low - kept[0]) - max(0.0, kept[-1] - high)
        kept = [place + shift for place in kept]
    if any(b - a < gap * 0.99 for a, b in pairwise(kept)) or (kept and kept[0] < low - gap):
        kept = [low + (high - low) * k / max(1, len(kept) - 1) for k in range(len(kept))]
    found = [0.0] * len(wanted)
    for place, i in zip(kept, order, strict=True):
        found[i] = place
    return found


def _touch(lower: tuple[float, int], upper: tuple[float, int], gap: float) -> bool:
    (a, n), (b, m) = lower, upper
    return b - gap * (m - 1) / 2 < a + gap * (n - 1) / 2 + gap


def name_beside(axes: Axes, points: Sequence[tuple[float, float, str, str]], height: float) -> None:
    """Names in a column beside the plot, each with a hairline to its point (x, y, name, colour)."""
    low, high = axes.get_ylim()
    inside = [(y - low) / (high - low) for _, y, _, _ in points]
    places = spread(inside, LINE / height, 0.02, 0.98)
    for (x, y, name, colour), place in zip(points, places, strict=True):
        axes.annotate(
            name,
            xy=(x, y),
            xytext=(1.04, place),
            textcoords="axes fraction",
            size=SIZE - 0.5,
            color=INK,
            va="center",
            ha="left",
            annotation_clip=False,
            parse_math=False,
            arrowprops={
                "arrowstyle": "-",
                "color": colour,
                "linewidth": 0.5,
                "alpha": 0.6,
                "shrinkA": 1,
                "shrinkB": 3,
            },
        )


# --- the profile ----------------------------------------------------------------------------------


def profile_figure(rows: Sequence[ProfileRow], columns: int = 2) -> Figure:
    """Knowing across, doing up, one panel a family."""
    families = list(dict.fromkeys(row.family for row in rows))
    if not families:
        raise BadInput("There is nothing to draw: no player has a profile.")
    panels = [_profile_panel([row for row in rows if row.family == f]) for f in families]
    return figure_of(panels, columns, TITLE, CAPTION)


def _profile_panel(rows: Sequence[ProfileRow]) -> Panel:
    games = list(dict.fromkeys(row.game for row in rows))
    drawn = [row for row in rows if row.doing.value is not None and row.accuracy.value is not None]
    family = rows[0].family
    title = family if games == [family] else f"{family}: {listed(games)}"

    def draw(axes: Axes, height: float) -> None:
        _frame(axes, rows, drawn)
        points = [_point(axes, row, rows) for row in drawn]
        points += _mark_points(axes, drawn)
        name_beside(axes, points, height)

    return Panel(title, draw, len(drawn) + 2, tuple(_undrawn(rows, drawn)))


def _frame(axes: Axes, rows: Sequence[ProfileRow], drawn: Sequence[ProfileRow]) -> None:
    axes.set_xlim(0, 100)
    axes.set_ylim(*_span(drawn))
    axes.set_xlabel("knowing: right predictions of others (%)")
    axes.set_ylabel("doing: 0 best mindless, 1 " + _top_name(rows))
    for y in (0, 1):
        axes.axhline(y, color=GREY, linewidth=0.8, linestyle="--", zorder=1)
    guesses = {round(row.guess, 1) for row in drawn if row.guess is not None}
    for x in sorted(guesses) if len(guesses) <= 3 else ():
        axes.axvline(x, color=GREY, linewidth=0.8, linestyle=":", zorder=1)
        axes.annotate(
            "guessing",
            (x, 0.01),
            xycoords=("data", "axes fraction"),
            xytext=(2, 1),
            textcoords="offset points",
            size=SIZE - 2,
            color=INK,
            rotation=90,
            va="bottom",
        )


def _span(drawn: Sequence[ProfileRow]) -> tuple[float, float]:
    ends = [e for row in drawn for e in (row.doing.value, row.doing.low, row.doing.high)]
    known = [min(max(e, LOWEST), HIGHEST) for e in ends if e is not None]
    return min([-0.15, *(e - 0.1 for e in known)]), max([1.15, *(e + 0.1 for e in known)])


def _top_name(rows: Sequence[ProfileRow]) -> str:
    tops = list(dict.fromkeys(row.reference.player for row in rows if row.reference))
    return tops[0] if len(tops) == 1 else "reference"


def _point(
    axes: Axes, row: ProfileRow, rows: Sequence[ProfileRow]
) -> tuple[float, float, str, str]:
    players = list(dict.fromkeys(r.player for r in rows))
    games = list(dict.fromkeys(r.game for r in rows))
    colour = COLOURS[players.index(row.player) % len(COLOURS)]
    x, value = row.accuracy.value or 0.0, row.doing.value or 0.0
    y = min(max(value, LOWEST), HIGHEST)
    beyond = y != value
    shape = ("v" if value < y else "^") if beyond else MARKERS[games.index(row.game) % len(MARKERS)]
    if row.accuracy.interval:
        axes.plot(row.accuracy.interval, [y, y], color=colour, linewidth=1, zorder=2)
    if row.doing.interval and not beyond:
        ends = [min(max(end, LOWEST), HIGHEST) for end in row.doing.interval]
        axes.plot([x, x], ends, color=colour, linewidth=1, zorder=2)
    axes.plot(
        [x], [y], shape, color=colour, markersize=5, zorder=3, clip_on=False,
        fillstyle="none" if beyond else "full",
    )  # fmt: skip
    return x, y, _name(row, rows, beyond), colour


def _name(row: ProfileRow, rows: Sequence[ProfileRow], beyond: bool) -> str:
    """The player, with what else it takes to know which point is meant."""
    more = [
        value
        for value, several in (
            (row.game, len({r.game for r in rows}) > 1),
            (row.seat, len({r.seat for r in rows}) > 1),
            (row.cell, len({r.cell for r in rows}) > 1),
            (f"{row.doing.value:.1f}", beyond),
        )
        if several
    ]
    tail = f" ({', '.join(more)})" if more else ""
    return short(row.player, max(12, LONGEST - len(tail))) + tail


def _mark_points(axes: Axes, drawn: Sequence[ProfileRow]) -> list[tuple[float, float, str, str]]:
    """The mindless player and the reference at their height, where their knowing is known."""
    found: dict[str, tuple[float, float, str, str]] = {}
    several = len({row.game for row in drawn}) > 1
    for row in drawn:
        for mark, y, shape in ((row.mindless, 0.0, "d"), (row.reference, 1.0, "*")):
            if mark is None:
                continue
            role = "best mindless" if y == 0 else mark.standing
            of = f", {row.game}" if several else ""
            name = short(f"{mark.player} ({role}{of})", LONGEST + 6)
            x = 100.0 if mark.accuracy is None else mark.accuracy
            if name not in found:
                if mark.accuracy is not None:
                    axes.plot([x], [y], shape, color=INK, markersize=6, fillstyle="none", zorder=4)
                found[name] = (x, y, name, GREY)
    return list(found.values())


def _undrawn(rows: Sequence[ProfileRow], drawn: Sequence[ProfileRow]) -> list[str]:
    """Who is not in the plot, by reason."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if row not in drawn:
            why = row.why.get("doing") or row.why.get("accuracy") or "no value"
            reasons.setdefault((row.game, why), []).append(short(row.player))
    return [f"Not drawn in {game}: {listed(who)} ({why})." for (game, why), who in reasons.items()]


# --- calibration ----------------------------------------------------------------------------------

CALIBRATION_TITLE = "Did what was thought likely happen as often as that?"
CALIBRATION_CAPTION = (
    "Across: the odds that a player gave to the choice it found likeliest, in ten bins. Up: how "
    "often that choice was true, with 95% intervals. On the line, odds mean what they say; below "
    "it, a player is too sure. Larger dots rest on more answers."
)


def calibration_figure(rows: Sequence[ProfileRow], columns: int = 2) -> Figure:
    """Stated odds across, how often they came true up, one panel a game."""
    games = list(dict.fromkeys(row.game for row in rows if row.calibration))
    if not games:
        raise BadInput("There is nothing to draw: no player stated odds.")
    panels = [_calibration_panel([r for r in rows if r.game == g and r.calibration]) for g in games]
    return figure_of(panels, columns, CALIBRATION_TITLE, CALIBRATION_CAPTION)


def _calibration_panel(rows: Sequence[ProfileRow]) -> Panel:
    def draw(axes: Axes, height: float) -> None:
        axes.set_xlim(0, 100)
        axes.set_ylim(0, 100)
        axes.plot([0, 100], [0, 100], "--", color=GREY, linewidth=0.8)
        axes.set_xlabel("stated odds of the likeliest choice (%)")
        axes.set_ylabel("came true (%)")
        most = max(point.n for row in rows for point in row.calibration)
        ends = [_curve(axes, n, row, rows, most) for n, row in enumerate(rows)]
        name_beside(axes, ends, height)

    return Panel(rows[0].game, draw, len(rows))


def _curve(
    axes: Axes, n: int, row: ProfileRow, rows: Sequence[ProfileRow], most: int
) -> tuple[float, float, str, str]:
    colour, marker = COLOURS[n % len(COLOURS)], MARKERS[n // len(COLOURS) % len(MARKERS)]
    points = [p for p in row.calibration if p.share.value is not None]
    xs, ys = [100 * p.forecast for p in points], [100 * (p.share.value or 0.0) for p in points]
    axes.plot(xs, ys, color=colour, linewidth=1, alpha=0.7)
    for x, y, point in zip(xs, ys, points, strict=True):
        size = 2.5 + 4 * (point.n / most) ** 0.5
        axes.plot([x], [y], marker, color=colour, markersize=size, clip_on=False)
        if point.share.interval:
            axes.plot([x, x], [100 * end for end in point.share.interval], color=colour, lw=0.8)
    error = sum(p.n * abs(x - y) for x, y, p in zip(xs, ys, points, strict=True))
    off = error / sum(p.n for p in points)
    tail = f" (off by {off:.0f})"
    return xs[-1], ys[-1], short(row.player, LONGEST - len(tail)) + tail, colour
