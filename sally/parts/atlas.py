"""Dots of the atlas figure; each is the score of one player in one game by one measure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import msgspec

from sally.core.rules.metric import Played

AtlasKind = Literal["people", "model", "learner", "bot", "rule"]
KINDS: tuple[AtlasKind, ...] = ("people", "model", "learner", "bot", "rule")
FEW_IDS = 5


class AtlasColumn(msgspec.Struct, frozen=True):
    """A column of the atlas figure: one game in one setting, scored by one measure. Scores in
    different columns are not comparable."""

    game: str
    setting: str
    measure: str  # what the axis shows
    zero: str  # what 0 is
    one: str  # what 1 is


class AtlasDot(msgspec.Struct, frozen=True):
    """One dot of the atlas figure: the score of one player in one column."""

    column: AtlasColumn
    who: str
    kind: AtlasKind
    year: int | None  # in which a model appeared, by its name or its record
    value: float
    low: float | None
    high: float | None
    n: int  # decisions, or what `unit` says
    unit: str
    clusters: int
    source: str
    episodes: tuple[str, ...] = ()  # ids, at most FEW_IDS
    knowing: float | None = None
    note: str = ""
    store: str = ""  # where the episodes are
    family: str = ""  # of a model: its provider, by which a crowded panel groups models


class AtlasSource(msgspec.Struct, frozen=True):
    """A paper's rule for turning its imported episodes into dots of the atlas figure; the paper's
    module `atlas` defines it as `ATLAS`."""

    prefix: str | tuple[str, ...]  # of the ids of its instances
    dots: Callable[[Sequence[Played]], list[AtlasDot]]
