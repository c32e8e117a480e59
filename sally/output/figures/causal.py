"""Dose-response figure: how the options' log-odds change when the residual stream is shifted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sally.core.errors import BadInput
from sally.output.figures.panels import COLOURS, GREY, Named, Panel, figure_of, name_beside
from sally.represent.causal import KINDS, Causal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLE = "Dose and response"
CAPTION = (
    "Shift of the log-odds of the options that go with a class when its direction is added to the "
    "residual stream at the last token of held-out pages; a dose of 1 has the length of the "
    "typical distance from the mean of the layer. Controls have the same length. Of each "
    "page the layer is shown in which the probe's slope is steepest. Band: 95% interval over "
    "instances."
)
STYLE = dict(zip(KINDS, ((COLOURS[0], "-"), (COLOURS[1], "--"), (GREY, ":")), strict=True))


def dose_figure(found: Sequence[Causal], columns: int = 2) -> Figure:
    """Draw the response by dose in the layer with the steepest slope.

    Each game and player has one panel.

    Raises:
        BadInput: If there is no result, or Matplotlib is not installed.
    """
    if not any(one.steered for one in found):
        raise BadInput("There is nothing to draw: no decision was steered.")
    return figure_of([_panel(one) for one in found if one.steered], columns, TITLE, CAPTION)


def _panel(one: Causal) -> Panel:
    own = [each for each in one.steered if each.kind == "probe"]
    layer = max(own, key=lambda each: abs(each.slope.value or 0.0)).layer

    def draw(axes: Axes, height: float) -> None:
        axes.axhline(0, color=GREY, linewidth=0.6)
        axes.set_xlabel("dose")
        axes.set_ylabel("shift of log-odds")
        names: list[Named] = []
        for each in one.steered:
            if each.layer != layer:
                continue
            colour, style = STYLE[each.kind]
            doses = [0.0, *(dose.dose for dose in each.doses)]
            shifts = [0.0, *(dose.shift.value or 0.0 for dose in each.doses)]
            bands = [(0.0, 0.0)]
            for dose in each.doses:
                low, high = dose.shift.interval or [dose.shift.value or 0.0] * 2
                bands.append((low, high))
            axes.plot(doses, shifts, style, color=colour, linewidth=1)
            axes.fill_between(
                doses, [b[0] for b in bands], [b[1] for b in bands], color=colour, alpha=0.15
            )
            names.append((doses[-1], shifts[-1], each.kind, colour))
        name_beside(axes, names, height)

    return Panel(f"{one.model}: {one.game}, layer {layer}, page of the {one.at}", draw, 6)
