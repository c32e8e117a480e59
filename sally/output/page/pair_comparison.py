"""The page of two players on certified pairs: the differences in one picture and one table."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from sally.analysis.pairs.comparison import PairComparison, QuestionDifference
from sally.output.files.new_file import new_file
from sally.output.html import Html, tag
from sally.output.page.evaluation import table
from sally.output.page.pair_figure import FigureRow, draw_knowing_and_doing
from sally.output.page.write import foot, head
from sally.output.tables.console import estimate_cell, p_cell
from sally.stats.intervals import Estimate

LEGEND = (
    "J: 0 for every player that ignores the fact in which the positions of a pair differ, 1 for a "
    "perfect one. Difference: the second player minus the first, over the pairs that both "
    "answered; brackets: 95% intervals over pairs; p: sign flips over pairs, adjusted over games "
    "and questions by Holm's method."
)


MOST_NAME = 16  # characters of a player's name below the axis


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
    rows: list[FigureRow] = [
        (game.game, _estimate(game.knowing), _estimate(game.doing)) for game in comparison.games
    ]
    rows.append(("mean", comparison.knowing, comparison.doing))
    first, second = (
        name if len(name) <= MOST_NAME else f"{name[: MOST_NAME - 1]}…"
        for name in (comparison.first, comparison.second)
    )
    labels = ((-1.0, f"-1: {first}"), (0.0, "0"), (1.0, f"1: {second}"))
    return draw_knowing_and_doing("Difference in knowing and doing by game", rows, -1.0, labels)


def _estimate(difference: QuestionDifference | None) -> Estimate | None:
    return None if difference is None else difference.difference


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
