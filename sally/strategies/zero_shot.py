"""kang2026's name for one question and one answer."""

from __future__ import annotations

from dataclasses import replace

from sally.strategies import qa

STRATEGY = replace(qa.STRATEGY, name="zero_shot", about="the same as qa, under kang2026's name")
