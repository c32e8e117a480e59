"""One question, one answer."""

from __future__ import annotations

from sally.core.match.strategy import Strategy
from sally.core.match.strategy import answered as answered

STRATEGY = Strategy(
    name="qa",
    about="asks one question and reads one answer",
    source="Riemer et al. 2025; zero-shot in Kang et al. 2026",
    make=lambda: (answered, answered),
    calls="1",
    schema=True,
)
