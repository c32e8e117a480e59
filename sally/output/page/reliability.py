"""The parts of a report on how reliably its scores tell players apart, and what they vary with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sally.analysis.design.reliability import matrix, reliability, scores_of
from sally.analysis.design.variance import variance
from sally.frames import Row
from sally.frames.frame import Frame
from sally.output.html import Html, join, tag
from sally.output.page.columns import table
from sally.output.tables.reliability import (
    COMPONENTS,
    CORRELATIONS,
    correlation_rows,
    describe_reliability,
    reliability_rows,
    variance_rows,
    wording_losses,
)

TARGET = 0.8  # the reliability for which the episodes needed are shown


def reliability_section(frame: Frame) -> Html | None:
    """Return the reliabilities and variance components, folded; None if fewer than two players can
    be compared."""
    return join(parts) if (parts := list(_parts(frame))) else None


def _parts(frame: Frame) -> Iterator[Html]:
    scores = scores_of(frame)
    reliabilities = [row for row in reliability(scores, TARGET) if row.players > 1]
    if not reliabilities:
        return
    correlations = matrix(scores)
    inside = [_table(reliability_rows(reliabilities, TARGET)), _note(describe_reliability(TARGET))]
    if rows := correlation_rows(correlations):
        inside += [tag("p", f"Correlations over {correlations.players} players:"), _table(rows)]
        inside.append(_note(CORRELATIONS))
    yield tag("details", tag("summary", "How reliably the scores tell players apart"), inside)
    sources = variance(frame)
    if rows := variance_rows(sources):
        notes = [_note(COMPONENTS), *map(_note, wording_losses(sources))]
        yield tag("details", tag("summary", "What the scores vary with"), _table(rows), notes)


def _table(rows: Sequence[Row]) -> Html:
    return table(list(rows[0]), [list(row.values()) for row in rows])


def _note(sentence: str) -> Html:
    return tag("p", sentence, class_="quiet")
