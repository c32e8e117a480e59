"""One question, one answer, under the name used in the paper kang2026."""

from __future__ import annotations

from dataclasses import replace

from sally.strategies import qa

STRATEGY = replace(qa.STRATEGY, name="zero_shot", about="the same as qa, under kang2026's name")
