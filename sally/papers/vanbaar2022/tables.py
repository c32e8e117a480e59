"""Tables of vanbaar2022: figures of the full record, beside those of imported decisions."""

from __future__ import annotations

from sally.papers.belief_records import belief_engine
from sally.papers.vanbaar2022.figures import figures

CANNOT = {"r of thresholds and earnings": "it is not known which earnings the authors took"}

ENGINE = belief_engine("vanbaar2022", figures, CANNOT)
