"""The suite Sally-1 in size M: about 15,000 calls."""

from __future__ import annotations

from sally.studies.sally_1 import suite

STUDY = suite("M")
