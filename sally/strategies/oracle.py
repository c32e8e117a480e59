"""One question and one answer for a player that is told the moves of the others."""

from __future__ import annotations

from dataclasses import replace

from sally.strategies import qa

STRATEGY = replace(  # every page shows what its player has been told
    qa.STRATEGY,
    name="oracle",
    about="states the moves of the others, then asks for one answer",
    source="Riemer et al. 2025; ground-truth injection in Kang et al. 2026",
    needs=frozenset({"told"}),
)
