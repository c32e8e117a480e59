"""Tables of andreozzi2020: figures of the full record, beside those of imported decisions."""

from __future__ import annotations

from sally.papers.andreozzi2020.figures import figures
from sally.papers.belief_records import belief_engine

ENGINE = belief_engine("andreozzi2020", figures)
