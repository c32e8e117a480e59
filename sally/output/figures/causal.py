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


def dose_figure(results: Sequence[Causal], columns: int = 2) -> Figure:
    """Draw the response by dose in the layer with the steepest slope.

    Each game and player has one panel.

    Raises:
        BadInput: If there is no result, or Matplotlib is not installed.
    """
    if not any(result.steered for result in results):
        raise BadInput("There is nothing to draw: no decision was steered.")
    return figure_of(
        [_panel(result) for result in results if result.steered], columns, TITLE, CAPTION
    )


def _panel(result: Causal) -> Panel:
    probe_results = [steered for steered in result.steered if steered.kind == "probe"]
    layer = max(probe_results, key=lambda steered: abs(steered.slope.value or 0.0)).layer

    def draw(axes: Axes, height: float) -> None:
        axes.axhline(0, color=GREY, linewidth=0.6)
        axes.set_xlabel("dose")
        axes.set_ylabel("shift of log-odds")
        names: list[Named] = []
        for steered in result.steered:
            if steered.layer != layer:
                continue
            colour, style = STYLE[steered.kind]
            doses = [0.0, *(dose.dose for dose in steered.doses)]
            shifts = [0.0, *(dose.shift.value or 0.0 for dose in steered.doses)]
            bands = [(0.0, 0.0)]
            for dose in steered.doses:
                low, high = dose.shift.interval or [dose.shift.value or 0.0] * 2
                bands.append((low, high))
            axes.plot(doses, shifts, style, color=colour, linewidth=1)
            axes.fill_between(
                doses, [b[0] for b in bands], [b[1] for b in bands], color=colour, alpha=0.15
            )
            names.append((doses[-1], shifts[-1], steered.kind, colour))
        name_beside(axes, names, height)

    return Panel(f"{result.model}: {result.game}, layer {layer}, page of the {result.at}", draw, 6)
