"""A paper's tables again, with our figures beside the published ones.

A figure is ours in one of two ways: the paper's engine computes it (learners, exact values),
or it is measured on stored episodes that meet the row's conditions. Where neither can be had,
ours is None, and so is whether it agrees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import msgspec

from sally import store
from sally.core import shelf
from sally.core.errors import BadInput, unknown
from sally.core.game import Seat
from sally.core.log import Episode
from sally.core.metric import Played
from sally.core.playback import replayed
from sally.stats.intervals import Estimate, mean_interval
from sally.studies import reference
from sally.studies.reference import Condition, Figure

TOTAL = "total"  # a row's condition that every episode meets: the table's own total
DUST = 1e-9  # figures computed in floating point are equal up to this
Conditions = Mapping[str, Condition]
Known = Sequence[tuple[Conditions, Played]]  # stored episodes with what they are


class Row(msgspec.Struct, frozen=True):
    """One published figure and ours; intervals are 95% `[low, high]`."""

    table: str
    row: dict[str, Condition]
    metric: str
    published: float
    published_interval: tuple[float, float] | None
    ours: float | None
    ours_interval: tuple[float, float] | None
    agrees: bool | None  # whether the intervals overlap


class Effort(msgspec.Struct, frozen=True):
    """How much to compute: episodes in each cell, from one seed."""

    repeats: int = 2000
    seed: int = 1

    def __post_init__(self) -> None:
        if self.repeats < 2:
            raise BadInput(f"repeats must be at least 2 for an interval, not {self.repeats}")


@dataclass(frozen=True)
class Engine:
    """How one paper's figures are had again."""

    computes: Callable[[Conditions, str, Effort], Estimate | None]  # None: needs episodes
    metrics: Mapping[str, str]  # published metric -> ours on the shelf
    seat: Seat  # whose figures they are
    facts: Callable[[Played], Conditions | None]  # what an episode is; None: not the paper's
    tabulates: Callable[[Conditions, str, Known, str | None], Estimate | None] | None = None
    """(row, metric, episodes, model): figures that are no mean of one metric over like episodes."""


def reproduce(
    paper: str,
    table: str | None = None,
    episodes: Path | None = None,
    model: str | None = None,
    effort: Effort | None = None,
) -> list[Row]:
    """Every figure of a table (of all tables, if none is named) with ours beside it.

    `paper` may name its table too ("riemer2025:tabular"). `episodes` is a store of played
    episodes; with `model`, those of that model stand for every published language model,
    else the models must have the same name.
    """
    paper, _, named = paper.partition(":")
    engine = engine_of(paper)
    published = reference.load(paper)
    wanted = table or named
    if wanted and wanted not in published.tables:
        raise unknown(f"table of {paper}", wanted, published.tables)
    names = [wanted] if wanted else list(published.tables)
    tables = {name: reference.table(published, name) for name in names}
    everywhere = _by_cell(f for found in published.tables.values() for f in found.rows)
    stored = _Stored(engine, _episodes(episodes), model)
    rows: list[Row] = []
    for name, found in tables.items():
        for cell, figures in _by_cell(found.rows).items():
            row, metric = figures[0].row, figures[0].metric
            ours = engine.computes(row, metric, effort or Effort())
            ours = ours or stored.measured(row, metric)
            rows.append(compared(name, figures, everywhere[cell], ours))
    return rows


def engine_of(paper: str) -> Engine:
    """The engine of a paper: `sally/reports/papers/PAPER.py` defines it."""
    if paper not in reference.papers():
        raise unknown("paper", paper, reference.papers())
    place = f"sally.reports.papers.{paper}"
    if find_spec(place) is None:
        raise BadInput(f"The figures of {paper} ship as data, but nothing reproduces them yet.")
    engine: Engine = import_module(place).ENGINE
    return engine


def compared(
    table: str, figures: Sequence[Figure], printed: Sequence[Figure], ours: Estimate | None
) -> Row:
    """A row: the table's own figure is shown, the nearest to ours if it has several.

    Ours may agree with any value `printed` for the cell, here or elsewhere in the paper.
    """
    first = figures[0]
    if ours is None or ours.value is None:
        return Row(table, first.row, first.metric, first.value, first.interval, None, None, None)
    value = ours.value
    interval = (value, value) if ours.low is None or ours.high is None else (ours.low, ours.high)
    shown = min(figures, key=lambda figure: abs(figure.value - value))
    return Row(
        table,
        shown.row,
        shown.metric,
        shown.value,
        shown.interval,
        value,
        None if ours.interval is None else interval,
        any(overlap(f.interval or (f.value, f.value), interval) for f in printed),
    )


def overlap(one: tuple[float, float], other: tuple[float, float]) -> bool:
    """Whether two intervals have a point in common, up to floating-point dust."""
    return one[0] <= other[1] + DUST and other[0] <= one[1] + DUST


Cell = tuple[tuple[tuple[str, Condition], ...], str]


def _by_cell(figures: Iterable[Figure]) -> dict[Cell, list[Figure]]:
    """Figures of the same row and metric together, in printed order."""
    cells: dict[Cell, list[Figure]] = {}
    for figure in figures:
        cell = (tuple(sorted(figure.row.items())), figure.metric)
        cells.setdefault(cell, []).append(figure)
    return cells


# --- stored episodes ----------------------------------------------------------------------------


def _episodes(folder: Path | None) -> list[Episode]:
    if folder is None:
        return []
    return list(store.load(folder, quarantine=False).episodes.values())


class _Stored:
    """Stored episodes by what they are, measured when a row asks for them."""

    def __init__(self, engine: Engine, episodes: Iterable[Episode], model: str | None) -> None:
        self._engine, self._model = engine, model
        self._known: list[tuple[Conditions, Played]] = []
        for episode in episodes:
            spec = shelf.game(episode.setup.instance.game)
            played = Played(spec, episode, replayed(spec, episode))
            if (facts := engine.facts(played)) is not None:
                self._known.append((facts, played))

    def measured(self, row: Conditions, metric: str) -> Estimate | None:
        """Our mean over the episodes that meet every condition of the row."""
        if self._engine.tabulates is not None and self._known:
            return self._engine.tabulates(row, metric, self._known, self._model)
        if metric not in self._engine.metrics:
            return None
        metrics = shelf.shelf("metrics")
        measure = shelf.pick("metric", self._engine.metrics[metric], metrics).measure
        found = [
            measure(played, self._engine.seat)
            for facts, played in self._known
            if self._meets(facts, row)
        ]
        values = [value for value in found if value is not None]
        return mean_interval(values) if values else None

    def _meets(self, facts: Conditions, row: Conditions) -> bool:
        asked = dict(row)
        if self._model is not None and "model" in asked:
            asked["model"] = self._model
        return all(value == TOTAL or facts.get(name) == value for name, value in asked.items())
