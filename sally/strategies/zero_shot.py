"""The strategy `qa` (one question, one answer) under the name that the paper kang2026 uses."""

from __future__ import annotations

from dataclasses import replace

from sally.strategies import qa

STRATEGY = replace(
    qa.STRATEGY,
    name="zero_shot",
    about="asks one question and reads one answer; same as qa, under the name used by kang2026",
)
