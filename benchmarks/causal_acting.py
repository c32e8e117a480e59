"""Write the table and the picture of the page on stated forecasts from the shipped bundles.

    python -m benchmarks.causal_acting

reads docs/results/bundles/causal_acting-*.sally.zip, fills the generated parts of
docs/results/causal_acting.md and of its appendix, and draws docs/pictures/causal_acting.svg.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import sally
from benchmarks.result_pages import (
    BLUE,
    DARK,
    GREY,
    MODELS,
    ORANGE,
    PICTURES,
    RESULTS,
    Axis,
    draw_dot,
    draw_picture,
    draw_text,
    draw_value,
    format_cell,
    write_tables,
)
from sally.analysis.pairs.told import IRRELEVANT, TOLD, TWIN, ToldDifference, ToldSlope
from sally.stats.intervals import Estimate
from sally.studies.causal_acting import CONTROL, RELIABILITIES

PAGE = "causal_acting"
ARMS = {
    TOLD: "said of this partner",
    IRRELEVANT: "said of another game",
    TWIN: "a mechanism as partner",
}
# the conditions of the study, as the columns of the table
CONDITIONS = (*((TOLD, reliability) for reliability in RELIABILITIES), (IRRELEVANT, CONTROL),
              (TWIN, CONTROL))  # fmt: skip
MEASURES = {"forecast": "predictions", "slope": "moves"}
# what else is known of the moves, as the columns of the appendix
DETAILS = ("same_label", "other_label", "repeats", "if_true", "if_false")


class PlayerSlopes:
    """The slopes of one model under one strategy."""

    def __init__(self) -> None:
        self.slopes: dict[tuple[str, float], ToldSlope] = {}
        self.by_reliability: ToldDifference | None = None  # highest less lowest reliability

    @property
    def is_readable(self) -> bool:
        """Whether enough answers could be read for one slope."""
        return any(slope.slope or slope.forecast for slope in self.slopes.values())


def results_by_player() -> dict[str, PlayerSlopes]:
    """Return the slopes of each model whose bundle is shipped, by model and strategy."""
    players: dict[str, PlayerSlopes] = {}
    for model, name in MODELS.items():
        file = RESULTS / f"bundles/{PAGE}-{model}.sally.zip"
        if not file.exists():
            continue
        result = sally.told(file).result
        for slope in result.slopes:
            player = players.setdefault(_player_name(name, slope.player), PlayerSlopes())
            player.slopes[slope.arm, slope.reliability] = slope
        for difference in result.differences:
            if difference.base_arm == TOLD:
                players[_player_name(name, difference.player)].by_reliability = difference
    return players


def _player_name(model: str, label: str) -> str:
    """Return a model with its strategy, the second word of the player's label."""
    return f"{model}, {label.split()[1]}"


def table_of_players(players: Mapping[str, PlayerSlopes]) -> Iterator[str]:
    """Yield the lines of the table: predictions and moves by condition."""
    heads = [f"right in {round(10 * reliability)} of 10" for reliability in RELIABILITIES]
    heads += [ARMS[IRRELEVANT], ARMS[TWIN], "8 of 10 less 2 of 10"]
    yield f"| player | positions | slope of | {' | '.join(heads)} |"
    yield "|---" * (len(heads) + 3) + "|"
    for name, player in players.items():
        counts = {slope.positions for slope in player.slopes.values()}
        for measure, words in MEASURES.items():
            estimates = [getattr(player.slopes.get(key), measure, None) for key in CONDITIONS]
            estimates.append(getattr(player.by_reliability, measure, None))
            cells = " | ".join(map(format_cell, estimates))
            yield f"| {name} | {min(counts)} | {words} | {cells} |"


def table_of_moves(players: Mapping[str, PlayerSlopes]) -> Iterator[str]:
    """Yield the lines of the appendix: moves by label and by truth of the statement."""
    heads = [detail.replace("_", " ") for detail in DETAILS]
    heads += ["moves not read", "predictions not read"]
    yield f"| player | condition | right in | {' | '.join(heads)} |"
    yield "|---" * (len(heads) + 3) + "|"
    for name, player in players.items():
        for key in CONDITIONS:
            if (slope := player.slopes.get(key)) is None:
                continue
            cells = [format_cell(getattr(slope, detail)) for detail in DETAILS]
            cells += [
                f"{slope.unreadable_moves} of {slope.moves}",
                f"{slope.unreadable_forecasts} of {slope.forecasts}",
            ]
            right = f"{round(10 * slope.reliability)} of 10"
            yield f"| {name} | {ARMS[slope.arm]} | {right} | {' | '.join(cells)} |"


def draw_interval(axis: Axis, estimate: Estimate, y: float, colour: str) -> str:
    """Return the line of an interval, or nothing."""
    if estimate.interval is None:
        return ""
    low, high = (axis.x(end) for end in estimate.interval)
    return (
        f'<line x1="{low:.1f}" x2="{high:.1f}" y1="{y}" y2="{y}" stroke="{colour}" '
        'stroke-opacity=".6"/>'
    )


def draw_slopes(players: Mapping[str, PlayerSlopes]) -> str:
    """Return the picture: for each player and condition the slopes of predictions and moves."""
    axis, top, row = Axis(-1.0, 1.0, (-1, -0.5, 0, 0.5, 1)), 84, 27
    parts = [
        draw_text(12, 24, "Do they follow what they are told?", size=17),
        draw_dot(18, 46, BLUE, "predictions", True),
        draw_text(28, 51, "predictions"),
        draw_dot(138, 46, ORANGE, "own moves", False),
        draw_text(148, 51, "own moves"),
        draw_text(12, 70, "Lines: 95% intervals. Bar: the slope that earns most.", GREY, 12),
    ]
    y = float(top)
    for name, player in players.items():
        if not player.is_readable:
            continue
        parts.append(draw_text(12, y + 14, name))
        y += 24
        for key in CONDITIONS:
            if (slope := player.slopes.get(key)) is None:
                continue
            words = {TOLD: "right in ", IRRELEVANT: "another game, ", TWIN: "mechanism, "}
            label = f"{words[slope.arm]}{round(10 * slope.reliability)} of 10"
            parts.append(draw_text(12, y + 12, label, GREY, 11))
            if slope.ideal is not None:
                x = axis.x(slope.ideal)
                parts.append(
                    f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{y}" y2="{y + 18}" '
                    f'stroke="{DARK}" stroke-width="2"/>'
                )
            marks = ((slope.forecast, BLUE, "predictions"), (slope.slope, ORANGE, "moves"))
            for lane, (estimate, colour, measure) in enumerate(marks):
                if estimate is None or estimate.value is None:
                    continue
                mark_y = y + 4 + 10 * lane
                hint = f"{name}, {label}: {measure} {estimate.value:.2f}"
                parts += [
                    draw_interval(axis, estimate, mark_y, colour),
                    draw_value(axis, estimate.value, mark_y, colour, hint, lane == 0),
                ]
            y += row
        y += 8
    parts[6:6] = axis.draw(top - 4, y)
    parts.append(draw_text(12, y + 36, "0: ignores the statement; 1: always follows it.", GREY, 12))
    return draw_picture(round(y + 48), "Predictions and moves after stated forecasts", parts)


def main() -> None:
    players = results_by_player()
    write_tables(PAGE, {"players": list(table_of_players(players))})
    write_tables(f"appendix/{PAGE}", {"moves": list(table_of_moves(players))})
    (PICTURES / f"{PAGE}.svg").write_text(draw_slopes(players), encoding="utf-8")


if __name__ == "__main__":
    main()
