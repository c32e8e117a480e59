"""Figure of probe accuracy by layer, compared with surface features of the prompt and with the
player's own reports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sally.core.errors import BadInput
from sally.output.figures.panels import COLOURS, GREY, Named, Panel, figure_of, name_beside
from sally.represent.results import RepresentationResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLE = "Represented by layer"
CAPTION = (
    "Share of held-out decisions in which a linear probe of the residual stream finds the label; "
    "partner and instance are unseen where several are there. Band: 95% interval over instances. "
    "Levels beside it: learners on surface features of the same pages, the player's own forecasts, "
    "and the commonest class."
)


def layers_figure(results: Sequence[RepresentationResult], columns: int = 2) -> Figure:
    """Draw the accuracy of probes by layer, one panel for each game and player.

    Raises:
        BadInput: If there is no result, or Matplotlib is not installed.
    """
    if not results:
        raise BadInput("There is nothing to draw: no probe was fitted.")
    return figure_of([_panel(result) for result in results], columns, TITLE, CAPTION)


def _panel(result: RepresentationResult) -> Panel:
    def draw(axes: Axes, height: float) -> None:
        layers = [score.layer for score in result.layers]
        last = layers[-1]
        axes.set_ylim(-0.03, 1.03)
        axes.set_xlabel("layer (0: embeddings)")
        axes.set_ylabel("right")
        names: list[Named] = []

        def curve(values: list[float], name: str, colour: str, style: str = "-") -> None:
            axes.plot(layers, values, style, color=colour, linewidth=1)
            names.append((last, values[-1], name, colour))

        def level(value: float | None, name: str, colour: str) -> None:
            if value is not None:
                axes.axhline(value, linestyle=":", color=colour, linewidth=0.9)
                names.append((last, value, name, colour))

        right = [score.accuracy.value or 0.0 for score in result.layers]
        bands = [
            score.accuracy.interval or [v, v] for score, v in zip(result.layers, right, strict=True)
        ]
        axes.fill_between(
            layers, [b[0] for b in bands], [b[1] for b in bands], color=COLOURS[0], alpha=0.18
        )
        curve(right, "probe", COLOURS[0])
        curve([score.control for score in result.layers], "control task", COLOURS[3], "--")
        blank = [score.untrained for score in result.layers if score.untrained is not None]
        if len(blank) == len(layers):
            curve(blank, "untrained", COLOURS[4], "--")
        level(result.surface.value, "surface", COLOURS[1])
        level(None if result.said is None else result.said.value, "said", COLOURS[2])
        level(result.majority.value, "commonest", GREY)
        name_beside(axes, names, height)

    return Panel(
        f"{result.model}: {result.game}, {result.player}, as {result.kind} at the {result.at}",
        draw,
        7,
    )
