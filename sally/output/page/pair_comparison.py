"""The page of two players on certified pairs: the differences in one picture and one table."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from sally.analysis.pairs.comparison import PairComparison, QuestionDifference
from sally.output.files.new_file import new_file
from sally.output.html import Html, join, tag
from sally.output.page.evaluation import outside_mark, table
from sally.output.page.write import foot, head
from sally.output.tables.console import estimate_cell, p_cell
from sally.stats.intervals import Estimate

LEFT, WIDTH, ROW_HEIGHT, TOP = 170, 720, 30, 12
LOWEST, HIGHEST = -1.0, 1.0
LEGEND = (
    "J: 0 for every player that ignores the fact in which the positions of a pair differ, 1 for a "
    "perfect one. Difference: the second player minus the first, over the pairs that both "
    "answered; brackets: 95% intervals over pairs; p: sign flips over pairs, adjusted over games "
    "and questions by Holm's method."
)


def write_pair_comparison(
    comparison: PairComparison, out: Path, timestamp: datetime | None = None
) -> None:
    """Write the page of a comparison.

    Raises:
        BadInput: If the file cannot be written.
    """
    text = "\n".join(map(str, page_parts(comparison, timestamp or datetime.now(UTC))))
    with new_file(out, "page") as unfinished:
        unfinished.write_text(text, "utf-8")


def page_parts(comparison: PairComparison, timestamp: datetime) -> Iterator[Html | str]:
    """Yield the parts of the page in order."""
    title = f"{comparison.second} compared with {comparison.first}"
    yield head(title)
    yield tag("header", tag("h1", tag("bdi", title)),
              tag("p", f"Made {timestamp:%Y-%m-%d}.", class_="quiet"))  # fmt: skip
    yield "<main>"
    yield tag("ul", [tag("li", sentence) for sentence in comparison.sentences])
    yield picture(comparison)
    yield games_table(comparison)
    yield tag("p", LEGEND, class_="quiet")
    yield "</main>"
    yield tag("footer", tag("p", "Made by Sally. The page makes no network requests."))
    yield foot()


def picture(comparison: PairComparison) -> Html:
    """Return the differences in knowing and doing by game, and their means, on one axis."""
    rows: list[tuple[str, Estimate | None, Estimate | None]] = [
        (game.game, _estimate(game.knowing), _estimate(game.doing)) for game in comparison.games
    ]
    rows.append(("mean", comparison.knowing, comparison.doing))
    height = TOP + ROW_HEIGHT * len(rows) + 26
    labels = ((-1.0, f"-1: {comparison.first}"), (0.0, "0: alike"), (1.0, "1"))
    shapes = [
        tag("line", x1=_x(value), x2=_x(value), y1=TOP - 6, y2=height - 24, class_="grid")
        for value in (-1.0, -0.5, 0.0, 0.5, 1.0)
    ]
    shapes += [
        tag("text", label, x=_x(value), y=height - 8, class_="axis",
            text_anchor={-1.0: "start", 0.0: "middle", 1.0: "end"}[value])
        for value, label in labels
    ]  # fmt: skip
    for index, (name, knowing, doing) in enumerate(rows):
        y = TOP + ROW_HEIGHT * index + ROW_HEIGHT / 2
        shapes.append(tag("text", name, x=LEFT - 12, y=y + 4, text_anchor="end", class_="name"))
        shapes += _mark(f"{name}, knowing", knowing, y - 5, "dot")
        shapes += _mark(f"{name}, doing", doing, y + 5, "ring")
    drawing = tag("svg", tag("title", "Difference in knowing and doing by game"), shapes,
                viewBox=f"0 0 {WIDTH} {height}", role="img")  # fmt: skip
    keys = [join(_key("dot"), " knowing (predictions)"), join(_key("ring"), " doing (moves)")]
    wide = tag("div", tag("div", drawing, class_="panel wide"), class_="panels")
    return tag("figure", wide, tag("figcaption", [tag("span", key) for key in keys],
                                    class_="marks"))  # fmt: skip


def _key(kind: str) -> Html:
    return tag("svg", tag("circle", cx=8, cy=8, r=4, class_=kind), width=16, height=16,
               aria_hidden="true")  # fmt: skip


def _estimate(difference: QuestionDifference | None) -> Estimate | None:
    return None if difference is None else difference.difference


def _x(value: float) -> float:
    inside = min(max(value, LOWEST), HIGHEST)
    return LEFT + (inside - LOWEST) / (HIGHEST - LOWEST) * (WIDTH - LEFT - 16)


def _mark(name: str, estimate: Estimate | None, y: float, kind: str) -> Iterator[Html]:
    if estimate is None or estimate.value is None:
        return
    if estimate.low is not None and estimate.high is not None:
        yield tag(
            "line", x1=_x(estimate.low), x2=_x(estimate.high), y1=y, y2=y, class_=f"interval {kind}"
        )
    text = estimate_cell(estimate.value, estimate.interval, 2)
    yield tag("circle", tag("title", f"{name}: {text}"), cx=_x(estimate.value), cy=y, r=4,
              class_=kind)  # fmt: skip
    if (mark := outside_mark(_x(estimate.value), y, estimate.value, LOWEST, HIGHEST)) is not None:
        yield mark


def games_table(comparison: PairComparison) -> Html:
    """Return the table of both players and their differences, with one row per game."""
    top = ["game", "pairs"]
    for question in ("knowing", "doing"):
        top += [f"{question} {comparison.first}", comparison.second, "difference", "p"]
    rows = []
    for game in comparison.games:
        cells = [cell for difference in (game.knowing, game.doing) for cell in _cells(difference)]
        rows.append(tag("tr", tag("th", game.game, scope="row"), tag("td", game.pairs), cells))
    return table(top, rows)


def _cells(difference: QuestionDifference | None) -> list[Html]:
    if difference is None:
        return [tag("td", "-")] * 4
    estimate = difference.difference
    return [
        tag("td", f"{difference.first:.2f}"),
        tag("td", f"{difference.second:.2f}"),
        tag("td", estimate_cell(estimate.value, estimate.interval, 2), data_v=estimate.value),
        tag("td", p_cell(difference.p) or "-"),
    ]
