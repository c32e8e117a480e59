"""Tables of fischbacher2010: figures of the full record, beside those of imported decisions."""

from __future__ import annotations

from sally.papers.belief_records import belief_engine
from sally.papers.fischbacher2010.figures import figures

ENGINE = belief_engine("fischbacher2010", figures)
