"""Tables of mori2024: figures of the full record, beside those of imported decisions."""

from __future__ import annotations

from sally.papers.belief_records import belief_engine
from sally.papers.mori2024.figures import figures

ATTRIBUTES = "the importer reads no attributes of people"
CANNOT = {
    "mandatory, inequity aversion: acts": ATTRIBUTES,
    "mandatory, inequity aversion: contest, best reply": ATTRIBUTES,
}

ENGINE = belief_engine("mori2024", figures, CANNOT)
