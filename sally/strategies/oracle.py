"""One question and one answer for a player that is told the moves of the others."""

from __future__ import annotations

from sally.core.prompt.strategy import Run, Strategy
from sally.strategies import qa


def _make() -> tuple[Run, Run]:
    return qa.answered, qa.answered  # every page shows what its player has been told


STRATEGY = Strategy(
    name="oracle",
    about="states the moves of the others, then asks for one answer",
    source="Riemer et al. 2025; ground-truth injection in Kang et al. 2026",
    make=_make,
    calls="1",
    needs=frozenset({"told"}),
    schema=True,
)
