"""Layout of figures: panels, names beside points, and output to a file.

Matplotlib is imported when a figure is made. Colours are those of Okabe and Ito (2008), which
colour-blind readers can distinguish; every point is also labelled with its name.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from sally.core.errors import BadInput, join_names, needs_extra
from sally.output.figures.short_names import shorten
from sally.output.files.new_file import new_file

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
NAMES_FROM = 1.04  # where names begin, in widths of a plot
AT_EDGE = 0.05  # inches that stay free to the right of the longest name
HEIGHT, LINE = 2.6, 0.15  # inches: the least height of a plot, and a line of text
LONGEST, WRAP = 30, 76  # letters of a name, and of a line below a panel
LETTERS = 15.5  # of a caption in an inch


class Panel(msgspec.Struct, frozen=True):
    """One plot with its title, drawing function, number of labels and notes."""

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
        return 0.4 + self.plot + 0.58 + LINE * len(self.below)


# --- making and writing ---------------------------------------------------------------------------


def blank_figure(size: tuple[float, float], layout: str | None = "constrained") -> Figure:
    """Return an empty figure of `size` inches.

    Raises:
        BadInput: If Matplotlib is not installed.
    """
    return _figure_class()(figsize=size, layout=layout)  # type: ignore[arg-type]


@cache
def _figure_class() -> type[Figure]:
    """Return a class of figures that a notebook shows also if pyplot was never imported."""
    with needs_extra("figures"):
        from matplotlib.figure import Figure

    class ShownFigure(Figure):
        """A figure with an image for notebooks."""

        def _repr_png_(self) -> bytes:
            return _render(self, "png")

    return ShownFigure


def figure_of(panels: Sequence[Panel], columns: int, title: str, caption: str) -> Figure:
    """Return a figure with a grid of panels, a title and a caption."""
    columns = max(1, min(columns, len(panels)))
    rows = [panels[n : n + columns] for n in range(0, len(panels), columns)]
    width = columns * WIDTH
    caption_lines = textwrap.wrap(caption, int((width - LEFT) * LETTERS))
    head = textwrap.wrap(title, int((width - LEFT) * LETTERS / 1.6))
    above = 0.1 + 0.22 * len(head)
    tall = above + sum(max(p.height for p in row) for row in rows) + LINE * (len(caption_lines) + 1)
    figure = blank_figure((width, tall), layout=None)
    figure.text(
        LEFT / width, 1 - 0.06 / tall, "\n".join(head), size=SIZE + 3, weight="bold", color=INK,
        va="top",
    )  # fmt: skip
    top = tall - above
    for row in rows:
        for n, panel in enumerate(row):
            _place(figure, panel, n * WIDTH, top)
        top -= max(p.height for p in row)
    figure.text(
        LEFT / width,
        LINE / 2 / tall,
        "\n".join(caption_lines),
        size=SIZE - 0.5,
        color=INK,
        va="bottom",
    )
    return figure


def _place(figure: Figure, panel: Panel, offset: float, top: float) -> None:
    width, tall = figure.get_size_inches()
    low = top - 0.4 - panel.plot
    axes = figure.add_axes(
        ((offset + LEFT) / width, low / tall, PLOT / width, panel.plot / tall), facecolor="none"
    )
    for side, spine in axes.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(GREY)
    axes.tick_params(colors=INK, labelsize=SIZE - 0.5, color=GREY)
    panel.draw(axes, panel.plot)
    axes.set_title(panel.title, loc="left", size=SIZE + 1, weight="bold", color=INK, pad=13)
    for label in (axes.xaxis.label, axes.yaxis.label):
        label.set(size=SIZE, color=INK)
    for n, line in enumerate(panel.below):
        baseline = low - 0.58 - LINE * n
        figure.text(
            (offset + LEFT) / width,
            baseline / tall,
            line,
            size=SIZE - 1,
            color=INK,
            va="top",
            wrap=False,
        )


def write(figure: Figure, path: Path) -> None:
    """Write a figure as SVG, PDF or PNG, by the suffix of the file.

    Raises:
        BadInput: The suffix is unknown, or the file cannot be written.
    """
    ending = check(path)
    data = svg(figure).encode() if ending == ".svg" else _render(figure, ending[1:])
    with new_file(path, "figure") as unfinished:
        unfinished.write_bytes(data)


def check(path: Path) -> str:
    """Return the suffix of a figure's file.

    Raises:
        BadInput: Figures cannot be written in that format.
    """
    ending = path.suffix.lower()
    if ending not in FORMATS:
        raise BadInput(f"A figure is written as {join_names(FORMATS, 'or')}, not as {path.name!r}.")
    return ending


def svg(figure: Figure) -> str:
    """Return the figure as inline SVG, with text kept as text and lines in the page's text
    colour."""
    text = _render(figure, "svg").decode()
    return text[text.index("<svg") :].replace(INK, "currentColor")


def _render(figure: Figure, form: str) -> bytes:
    """Render a figure reproducibly, without dates and random ids."""
    from matplotlib import rc_context

    out = BytesIO()
    dated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}[form]
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "sally"}):
        page = {} if form == "svg" else {"facecolor": "white"}
        figure.savefig(out, format=form, dpi=150, transparent=form == "svg", metadata=dated, **page)
    return out.getvalue()


# --- names beside a plot --------------------------------------------------------------------------


def short(name: str, longest: int = LONGEST) -> str:
    """Shorten a name to fit beside a plot."""
    return shorten(name, longest)


def spread(targets: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Return positions that are as near as possible to the wanted positions and at least `gap`
    apart."""
    if gap * (len(targets) - 1) > high - low:  # too many: spread evenly
        gap = (high - low) / (len(targets) - 1)
    order = sorted(range(len(targets)), key=lambda i: targets[i])
    blocks: list[Block] = []  # touching neighbours move together
    for i in order:
        blocks.append(_inside(Block(targets[i], 1), gap, low, high))
        while len(blocks) > 1 and _touch(blocks[-2], blocks[-1], gap):
            upper, lower = blocks.pop(), blocks.pop()
            n = lower.size + upper.size
            middle = (lower.middle * lower.size + upper.middle * upper.size) / n
            blocks.append(_inside(Block(middle, n), gap, low, high))
    sorted_places = [b.middle + gap * (k - (b.size - 1) / 2) for b in blocks for k in range(b.size)]
    positions = [0.0] * len(targets)
    for place, i in zip(sorted_places, order, strict=True):
        positions[i] = place
    return positions


class Block(msgspec.Struct, frozen=True):
    """A run of evenly spaced positions: its middle, and the number of positions."""

    middle: float
    size: int


def _inside(block: Block, gap: float, low: float, high: float) -> Block:
    half = gap * (block.size - 1) / 2
    return Block(min(max(block.middle, low + half), high - half), block.size)


def _touch(lower: Block, upper: Block, gap: float) -> bool:
    distance = upper.middle - lower.middle - gap * (lower.size + upper.size) / 2
    return distance < -1e-12


Named = tuple[float, float, str, str]  # x, y, name, colour


def fit_name(name: str, inches: float) -> str:
    """Shorten a name until it is at most so many inches wide beside a plot."""
    longest = len(name)
    while longest and name_width(name) > inches:
        longest -= 1
        name = shorten(name, longest)
    return name


def name_width(name: str) -> float:
    """Return the width in inches of a name beside a plot."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(size=SIZE - 0.5)
    width, _, _ = text_to_path.get_text_width_height_descent(name, font, ismath=False)
    return float(width) / 72  # points in an inch


def name_beside(axes: Axes, points: Sequence[Named], height: float) -> None:
    """Write names in a column beside the plot, each with a line to its point."""
    low, high = axes.get_ylim()
    inside = [(y - low) / (high - low) for _, y, _, _ in points]
    places = spread(inside, LINE / height, 0.02, 0.98)
    for (x, y, name, colour), place in zip(points, places, strict=True):
        axes.annotate(
            fit_name(name, NAMES - PLOT * (NAMES_FROM - 1) - AT_EDGE),
            xy=(x, y),
            xytext=(NAMES_FROM, place),
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
                "relpos": (0, 0.5),
                "shrinkA": 1,
                "shrinkB": 3,
            },
        )
