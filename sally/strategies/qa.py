"""One question, one answer."""

from __future__ import annotations

from sally.core.prompt.strategy import Run, Strategy
from sally.core.prompt.strategy import answered as answered


def _make() -> tuple[Run, Run]:
    return answered, answered


STRATEGY = Strategy(
    name="qa",
    about="asks one question and reads one answer",
    source="Riemer et al. 2025; zero-shot in Kang et al. 2026",
    make=_make,
    calls="1",
    schema=True,
)
