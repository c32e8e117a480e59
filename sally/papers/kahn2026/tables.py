"""Tables of kahn2026: figures of the full record, beside those of imported decisions."""

from __future__ import annotations

from sally.papers.belief_records import belief_engine
from sally.papers.kahn2026.figures import figures

ENGINE = belief_engine("kahn2026", figures)
