"""The page of two players on certified pairs: the differences in one picture and one table."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from pathlib import Path

from sally.analysis.pairs.comparison import PairComparison, QuestionDifference
from sally.output.figures.short_names import shorten, split_common
from sally.output.html import Html, tag
from sally.output.page.columns import Value, table
from sally.output.page.document import made, write_document
from sally.output.page.pair_figure import FigureRow, draw_knowing_and_doing
from sally.output.tables.console import p_cell
from sally.stats.intervals import Estimate

LEGEND = (
    "J: 0 for every player that ignores the fact in which the positions of a pair differ, 1 for a "
    "perfect one. Difference: the second player minus the first, over the pairs that both "
    "answered; brackets: 95% intervals over pairs; p: sign flips over pairs, adjusted over games "
    "and questions by Holm's method."
)
MOST_NAME = 15  # characters of a player's name below the axis


def write_pair_comparison(comparison: PairComparison, out: Path) -> None:
    """Write the page of a comparison.

    Raises:
        BadInput: If the file cannot be written.
    """
    title = f"{comparison.second} compared with {comparison.first}"
    header = (tag("h1", tag("bdi", title)), made())
    write_document(out, title, header, _parts(comparison))


def _parts(comparison: PairComparison) -> Iterator[Html]:
    yield tag("ul", [tag("li", sentence) for sentence in comparison.sentences])
    yield picture(comparison)
    yield games_table(comparison)
    yield tag("p", LEGEND, class_="quiet")


def picture(comparison: PairComparison) -> Html:
    """Return the differences in knowing and doing by game, and their means, on one axis."""
    rows: list[FigureRow] = [
        (game.game, _estimate(game.knowing), _estimate(game.doing)) for game in comparison.games
    ]
    rows.append(("mean", comparison.knowing, comparison.doing))
    _, names = split_common((comparison.first, comparison.second))
    first, second = (shorten(name, MOST_NAME) for name in names)
    reach = _reach(estimate for _, *estimates in rows for estimate in estimates)
    labels = ((-reach, f"{-reach:g}"), (0.0, "0"), (reach, f"{reach:g}"))
    directions = ((-reach, f"{first} better"), (reach, f"{second} better"))
    title = "Difference in knowing and doing by game"
    return draw_knowing_and_doing(title, rows, labels, directions)


def _reach(estimates: Iterable[Estimate | None]) -> float:
    """Return the end of an axis, 1 or the next half, that holds all intervals."""
    ends = [abs(end) for e in estimates if e and e.interval for end in e.interval]
    return max(1.0, math.ceil(2 * max(ends, default=0.0)) / 2)


def _estimate(difference: QuestionDifference | None) -> Estimate | None:
    return None if difference is None else difference.difference


def games_table(comparison: PairComparison) -> Html:
    """Return the table of both players and their differences, with one row per game."""
    top = ["game", "pairs"]
    for question in ("knowing", "doing"):
        top += [f"{question} {comparison.first}", comparison.second, "difference", "p"]
    rows = [
        [game.game, game.pairs, *_values(game.knowing), *_values(game.doing)]
        for game in comparison.games
    ]
    return table(top, rows)


def _values(difference: QuestionDifference | None) -> list[Value]:
    if difference is None:
        return [None] * 4
    p = p_cell(difference.p) or None
    return [difference.first, difference.second, difference.difference, p]
