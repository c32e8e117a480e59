"""Write the tables and the picture of the page on stated forecasts from the shipped bundles.

    python -m benchmarks.causal_acting

reads docs/results/bundles/causal_acting-*.sally.zip, fills the generated parts of
docs/results/causal_acting.md and of its appendix, and draws docs/pictures/causal_acting.svg.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

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
from sally.analysis.pairs.told import IRRELEVANT, TOLD, TWIN, ToldSlope
from sally.api.told import ToldRows
from sally.stats.intervals import Estimate

PAGE = "causal_acting"
ARMS = {
    TOLD: "said of this partner",
    IRRELEVANT: "said of another game",
    TWIN: "a mechanism as partner",
}


def results_by_model() -> dict[str, ToldRows]:
    """Return the slopes of each model whose bundle is shipped."""
    files = {name: RESULTS / f"bundles/{PAGE}-{model}.sally.zip" for model, name in MODELS.items()}
    return {name: sally.told(file) for name, file in files.items() if file.exists()}


def describe_condition(slope: ToldSlope) -> str:
    """Return what the page says of the informant, and about whom."""
    return f"{ARMS[slope.arm]}, right in {round(10 * slope.reliability)} of 10"


def table_of_slopes(rows: ToldRows) -> Iterator[str]:
    """Yield the lines of the table of one model by condition."""
    yield (
        "| the statement is | positions | ideal slope | slope of predictions | slope of moves "
        "| label repeated | unreadable moves, predictions |"
    )
    yield "|---|---|---|---|---|---|---|"
    for slope in rows.result.slopes:
        ideal = "-" if slope.ideal is None else f"{slope.ideal:.0f}"
        yield (
            f"| {describe_condition(slope)} | {slope.positions} | {ideal} | "
            f"{format_cell(slope.forecast)} | {format_cell(slope.slope)} | "
            f"{format_cell(slope.repeats)} | {slope.unreadable_moves} of {slope.moves}, "
            f"{slope.unreadable_forecasts} of {slope.forecasts} |"
        )


def table_of_differences(results: Mapping[str, ToldRows]) -> Iterator[str]:
    """Yield the lines of the table of differences between conditions."""
    yield "| model | statement | less | predictions | moves |"
    yield "|---|---|---|---|---|"
    for model, rows in results.items():
        for difference in rows.differences:
            yield (
                f"| {model} | {ARMS[difference.arm]}, {difference.reliability:g} | "
                f"{ARMS[difference.base_arm]}, {difference.base_reliability:g} | "
                f"{format_cell(difference.forecast)} | {format_cell(difference.slope)} |"
            )


def table_of_models(results: Mapping[str, ToldRows]) -> Iterator[str]:
    """Yield the lines of the short table: predictions and moves by stated reliability."""
    reliabilities = sorted(
        {
            slope.reliability
            for rows in results.values()
            for slope in rows.result.slopes
            if slope.arm == TOLD
        }
    )
    heads = [f"right in {round(10 * reliability)} of 10" for reliability in reliabilities]
    yield f"| model | | {' | '.join(heads)} | {ARMS[IRRELEVANT]} | {ARMS[TWIN]} |"
    yield "|---" * (len(heads) + 4) + "|"
    for model, rows in results.items():
        conditions = {(slope.arm, slope.reliability): slope for slope in rows.result.slopes}
        told = [conditions.get((TOLD, reliability)) for reliability in reliabilities]
        controls = [
            next((slope for (arm, _), slope in conditions.items() if arm == wanted), None)
            for wanted in (IRRELEVANT, TWIN)
        ]
        for measure, words in (("forecast", "predictions"), ("slope", "moves")):
            cells = [
                format_cell(None if slope is None else getattr(slope, measure))
                for slope in (*told, *controls)
            ]
            yield f"| {model} | {words} | {' | '.join(cells)} |"


def draw_interval(axis: Axis, estimate: Estimate, y: float, colour: str) -> str:
    """Return the line of an interval, or nothing."""
    if estimate.interval is None:
        return ""
    low, high = (axis.x(end) for end in estimate.interval)
    return (
        f'<line x1="{low:.1f}" x2="{high:.1f}" y1="{y}" y2="{y}" stroke="{colour}" '
        'stroke-opacity=".6"/>'
    )


def draw_slopes(results: Mapping[str, ToldRows]) -> str:
    """Return the picture: for each model and condition the slopes of predictions and moves."""
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
    for model, rows in results.items():
        parts.append(draw_text(12, y + 14, model))
        y += 24
        for slope in rows.result.slopes:
            words = {TOLD: "", IRRELEVANT: "another game, ", TWIN: "mechanism, "}[slope.arm]
            label = f"{words}right in {round(10 * slope.reliability)} of 10"
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
                hint = f"{model}, {label}: {measure} {estimate.value:.2f}"
                parts += [
                    draw_interval(axis, estimate, mark_y, colour),
                    draw_value(axis, estimate.value, mark_y, colour, hint, lane == 0),
                ]
            y += row
        y += 8
    parts[6:6] = axis.draw(top - 4, y)
    parts.append(draw_text(12, y + 36, "0: ignores the statement; 1: always follows it.", GREY, 12))
    return draw_picture(round(y + 48), "Predictions and moves after stated forecasts", parts)


def write_page(results: Mapping[str, ToldRows]) -> None:
    """Write the generated parts of the page and of its appendix, and the picture."""
    write_tables(PAGE, {"models": list(table_of_models(results))})
    details: dict[str, Sequence[str]] = {
        name: list(table_of_slopes(rows)) for name, rows in results.items()
    }
    details["differences"] = list(table_of_differences(results))
    write_tables(f"appendix/{PAGE}", details)
    (PICTURES / f"{PAGE}.svg").write_text(draw_slopes(results), encoding="utf-8")


if __name__ == "__main__":
    write_page(results_by_model())
