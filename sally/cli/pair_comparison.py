"""`sally compare A B`: two evaluations on certified pairs, on one screen and one page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from sally.analysis.pairs.comparison import GameDifference, PairComparison, QuestionDifference
from sally.cli.common import STORE
from sally.core.errors import BadInput, join_names
from sally.core.terminal_text import echo
from sally.frames.frame import Frame
from sally.output.page.pair_comparison import write_pair_comparison
from sally.output.tables.console import estimate_cell, print_json, print_table, print_text
from sally.stats.intervals import Estimate
from sally.store import Where, is_address

PAGE = "comparison.html"
SUITES = ("sally_2", "sally_1")


def evaluation_place(name: str) -> Where:
    """Return the store of an evaluation: a folder, a bundle, an address, or the name or alias of
    the model, whose store `sally evaluate` wrote to `out/`.

    Raises:
        BadInput: If there is none.
    """
    if is_address(name) or Path(name).exists():
        return STORE.convert(name, None, None)
    from sally.api.board import file_name  # loads the runner

    places = [Path("out") / f"{suite}-{file_name(name)}" for suite in SUITES]
    for place in places:
        if place.is_dir():
            return place
    raise BadInput(
        f"There is no evaluation {name!r}: neither a folder or bundle of that name nor "
        f"{join_names(list(map(str, places)), 'or')}."
    )


def holds_pairs(frame: Frame) -> bool:
    """Return whether the episodes of a frame are positions of certified pairs."""
    return any(bool(setup.instance.position) for setup in frame.setups())


def compare_pair_evaluations(first: Frame, second: Frame, as_json: bool) -> None:
    """Compare two evaluations on pairs; print the result and write its page."""
    from sally.api.pair_evaluation import compare_on_pairs  # loads the runner

    comparison = compare_on_pairs(first, second)
    if as_json:
        print_json(msgspec.to_builtins(comparison))
        return
    print_comparison(comparison)
    write_pair_comparison(comparison, Path(PAGE))
    echo(f"Page: {PAGE}")


def print_comparison(comparison: PairComparison) -> None:
    """Print the verdict and a line per game."""
    print_text(*comparison.sentences)
    rows = [_row(game) for game in comparison.games]
    rows.append({HEADS[0][2]: _cell(comparison.knowing), HEADS[1][2]: _cell(comparison.doing)})
    rows[-1]["game"] = "mean"
    names = ["game", *HEADS[0], *HEADS[1]]
    print_table([{name: row.get(name, "") for name in names} for row in rows], names)
    counts = [game.pairs for game in comparison.games]
    low, high = min(counts), max(counts)
    print_text(
        f"A: {comparison.first}; B: {comparison.second}. J of predictions (knew) and of moves "
        f"(did), and B minus A with 95% intervals, over the {sum(counts):,} pairs that both "
        f"answered ({low if low == high else f'{low} to {high}'} a game); *: p below .05 by sign "
        "flips over pairs, adjusted over games and questions by Holm's method."
    )


HEADS = (("A knew", "B", "B - A"), ("A did", "B ", "B - A "))  # of predictions, of moves


def _row(game: GameDifference) -> dict[str, Any]:
    row: dict[str, Any] = {"game": game.game}
    for heads, difference in zip(HEADS, (game.knowing, game.doing), strict=True):
        row |= dict(zip(heads, _scores(difference), strict=True))
    return row


def _scores(difference: QuestionDifference | None) -> tuple[str, str, str]:
    if difference is None:
        return "-", "-", "-"
    star = "*" if difference.is_decided else ""
    change = _cell(difference.difference) + star
    return f"{difference.first:.2f}", f"{difference.second:.2f}", change


def _cell(estimate: Estimate | None) -> str:
    return "-" if estimate is None else estimate_cell(estimate.value, estimate.interval, 2)
