"""Rows of reliabilities, correlations and variance components, for the console and for pages."""

from __future__ import annotations

from collections.abc import Sequence

from sally.analysis.design.reliability import DOING, Matrix, Reliability
from sally.analysis.design.variance import FACTORS, Sources
from sally.frames import Row
from sally.output.tables.console import cell, estimate_cell
from sally.stats.components import REST

CORRELATIONS = (
    "A trait is supported if its measures correlate more across games than different traits do "
    "within a game."
)
COMPONENTS = (
    "shares of the variance of one episode's score, generalised 95% intervals, which are wide for "
    "factors with few levels; setup: settings of a player other than its wording; chance: "
    "differences between repeats of an instance; rest: residual. A factor with one level is not "
    "shown; a factor that is confounded with another one is marked `as` the other factor."
)


def reliability_rows(reliabilities: Sequence[Reliability], target: float) -> list[Row]:
    """Return one row per measure."""
    return [
        {
            "game": row.game,
            "measure": "does" if row.trait == DOING else f"knows {row.method}",
            "players": row.players,
            "problems": row.problems,
            "split half": estimate_cell(row.consistency.value, row.consistency.interval, 2),
            "retest": estimate_cell(row.retest.value, row.retest.interval, 2),
            "error": cell(row.error),
            f"for {target:g}": "-" if row.episodes is None else f"{row.episodes:,}",
        }
        for row in reliabilities
    ]


def describe_reliability(target: float) -> str:
    """Return what the columns of reliabilities mean."""
    return (
        "split half: how reliably a player's mean over these instances distinguishes the players "
        "of these stores (mean over all split halves, interval from the F distribution); retest: "
        "correlation of even and odd repeats of the same instances; error: standard error of "
        f"measurement of such a mean; for {target:g}: episodes per player needed for a reliability "
        f"of {target:g}."
    )


def correlation_rows(matrix: Matrix) -> list[Row]:
    """Return the mean correlations within and between traits and games; none for one measure."""
    if len(matrix.measures) < 2:
        return []
    return [
        {"measures": kind, "pairs": e.n, "mean correlation": estimate_cell(e.value, e.interval, 2)}
        for kind, e in matrix.means.items()
        if e.n
    ]


def variance_rows(sources: Sequence[Sources]) -> list[Row]:
    """Return one row per game and measure, with the share of each factor."""
    factors = [f for f in (*FACTORS, REST) if any(f in source.shares.shares for source in sources)]
    rows: list[Row] = []
    for source in sources:
        row: Row = {"game": source.game, "measure": source.measure}
        for name in factors:
            share = source.shares.shares.get(name)
            row[name] = None if share is None else estimate_cell(share.value, share.interval, 2)
            if name in source.shares.same:
                row[name] = f"as {source.shares.same[name]}"
        rows.append({**row, "n": source.shares.n})
    return rows


def wording_losses(sources: Sequence[Sources]) -> list[str]:
    """Return a sentence on each measure that was also taken in new wordings."""
    sentences = []
    for source in sources:
        if source.best_known is not None:
            drop = estimate_cell(source.fresh.value, source.fresh.interval)
            sentences.append(
                f"{source.game}, {source.measure}: {source.best_known:.3g} in the game's own "
                f"words, {source.in_fresh:.3g} in new wordings; loss {drop} over "
                f"{source.fresh.n} pairs."
            )
    return sentences
