"""Dots of the atlas figure; each is the score of one player in one game by one measure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, Protocol

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


class ValueInterval(Protocol):
    """A value and the ends of its interval, as in an estimate."""

    @property
    def value(self) -> float | None: ...
    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...


def estimate_dots(
    column: AtlasColumn,
    label: str,
    kind: AtlasKind,
    year: int | None,
    estimate: ValueInterval | None,
    n: int,
    unit: str,
    clusters: int,
    source: str,
    episodes: Sequence[str],
    knowing: float | None = None,
    note: str = "",
    family: str = "",
) -> list[AtlasDot]:
    """Return the dot of an estimate with the first ids of its episodes; no dot without a value."""
    if estimate is None or estimate.value is None:
        return []
    ends, ids = (estimate.low, estimate.high), tuple(episodes[:FEW_IDS])
    facts = (estimate.value, *ends, n, unit, clusters, source, ids, knowing, note)
    return [AtlasDot(column, label, kind, year, *facts, family=family)]


class AtlasSource(msgspec.Struct, frozen=True):
    """A paper's rule for turning its imported episodes into dots of the atlas figure; the paper's
    module `atlas` defines it as `ATLAS`."""

    prefix: str | tuple[str, ...]  # of the ids of its instances
    dots: Callable[[Sequence[Played]], list[AtlasDot]]
