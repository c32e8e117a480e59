"""Reproduction of a paper's tables: published values, each compared with ours.

A value of ours is either computed by the paper's engine (learners, exact values) or measured on
stored episodes that meet the row's conditions. Otherwise it is None; `missing` then gives the
reason, and `run` the command that would supply the value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from sally.analysis.compare import published_figures as reference
from sally.analysis.compare.agreement import Verdict, agreement, half_a_digit, target
from sally.analysis.compare.published_figures import Condition, Figure
from sally.analysis.episodes.paper_store import (
    Conditions,
    Known,
    Matching,
    PaperEpisodes,
    TableFigure,
    TableMatcher,
    Uneven,
    short,
)
from sally.core.errors import BadInput, unknown
from sally.core.grouping import group_by
from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.core.rules.metric import Played
from sally.frames.frame import Source, as_frame
from sally.output.figures.paper_figures import Picture
from sally.output.tables.layout import Layout, OwnValue, Row
from sally.stats.intervals import Estimate

__all__ = [
    "Conditions", "Effort", "Engine", "Known", "OwnValue", "Reproduction", "Row", "comparison_row",
    "engine_of", "line_verdicts", "reproduce",
]  # fmt: skip

NOT_RUN = "not run"
MOST_REPEATS = 10_000_000


class Effort(msgspec.Struct, frozen=True):
    """Size of simulations: episodes per cell, and the seed."""

    repeats: int = 2000
    seed: int = 1

    def __post_init__(self) -> None:
        if not 2 <= self.repeats <= MOST_REPEATS:
            raise BadInput(
                f"repeats must be at least 2 for an interval, and at most {MOST_REPEATS:,}."
            )


@dataclass(frozen=True)
class Engine:
    """The functions and data with which the values of one paper are reproduced."""

    computes: Callable[[Conditions, str, Effort], Estimate | None] | None
    """(row, metric, effort) -> a value that needs no episodes; None if every value needs some."""
    metrics: Mapping[str, str]  # published -> registered metric
    seat: Seat  # seat that is measured
    facts: Callable[
        [Played], Conditions | None
    ]  # conditions of an episode; None: not of this paper
    tabulates: Callable[[Conditions, str, Known, str | None], Estimate | None] | None = None
    """(row, metric, episodes, model) -> a value that is not a mean of one metric."""
    exact: Mapping[str, str] = field(default_factory=dict)  # published metric -> our own measure
    computes_exact: Callable[[Conditions, str, Effort], Estimate | None] | None = None
    completes: Callable[[Conditions], Conditions] = lambda row: row
    cannot: Callable[[Conditions, str], str | None] = lambda row, metric: None
    model_condition: str = "model"  # condition that names the model
    pools: frozenset[str] = frozenset()  # conditions that may vary within a cell
    uneven: Uneven | None = None  # why a mean is unbalanced
    layouts: Mapping[str, Layout] = field(default_factory=dict)  # by table; default: plain layout
    figures: Mapping[str, Callable[[Known, Effort], Picture]] = field(default_factory=dict)
    beside: Mapping[str, Sequence[tuple[Conditions, str]]] = field(default_factory=dict)
    """Rows that we compute and the paper does not have, by table."""
    of_setup: bool = False  # facts depend on the setup only
    study: str = ""  # study that plays the missing cells, if not named like the paper
    slow: bool = False  # `computes` plays for minutes: the command line only does so if asked
    brings: Callable[[str, Conditions], str | None] = lambda table, row: None
    """(table or figure, row) -> the command that imports the games of people, without the store."""

    @property
    def matching(self) -> Matching:
        settings = (self.facts, self.completes, self.seat, self.model_condition, self.pools)
        return Matching(*settings, self.uneven)


def reproduce(
    paper: str,
    table: str | None = None,
    episodes: Source | None = None,
    model: str | None = None,
    effort: Effort | None = None,
) -> list[Row]:
    """Return every published value of a table, or of all tables, with our value for comparison.

    Args:
        paper: Name of the paper, optionally with a table ("riemer2025:tabular").
        table: Name of a table.
        episodes: Store with played episodes.
        model: Model whose episodes are compared with every published model; by default models must
            have the published names, and other models get separate rows.
        effort: Size of simulations.

    Raises:
        BadInput: The paper, table or model is unknown, or no episode belongs to the paper.
    """
    paper, _, table_name = paper.partition(":")
    engine = engine_of(paper)
    return Reproduction(paper, engine, episodes, model, effort or Effort()).rows(
        table or table_name
    )


def engine_of(paper: str) -> Engine:
    """Return the engine of a paper: `ENGINE` in the `tables.py` of its folder.

    Raises:
        BadInput: The paper has no engine.
    """
    engine: Engine | None = registry.paper_part(paper, "tables")
    if engine is None:
        raise BadInput(f"{paper} has no tables to reproduce yet.")
    return engine


class Reproduction:
    """A paper and the episodes that are compared with it."""

    def __init__(
        self,
        paper: str,
        engine: Engine,
        episodes: Source | None = None,
        model: str | None = None,
        effort: Effort | None = None,
        quick: bool = False,
    ) -> None:
        """Read the published values of a paper. With `quick`, our own values are not computed if
        that takes minutes."""
        self.paper, self.engine, self.effort = paper, engine, effort or Effort()
        self.quick = quick and engine.slow
        self.published = reference.load(paper)
        self._model = model
        frame = as_frame(() if episodes is None else episodes)
        is_place = isinstance(episodes, str | Path)
        self._folder = episodes if is_place else next(iter(frame.stores), None)
        paper_episodes = PaperEpisodes(frame, engine.facts, engine.seat, engine.of_setup)
        paper_episodes.prepare((*engine.metrics.values(), *engine.exact.values()))
        self._stored = TableMatcher(engine.matching, paper_episodes, model)
        if paper_episodes.many and not self._stored.known:
            raise BadInput(
                f"None of the {paper_episodes.many} episodes in {self._folder} belongs to a table "
                f"or figure "
                f"of {paper}; `sally run {engine.study or paper} --model MODEL --out DIR` "
                "plays such episodes. Problems with changed parameters do not count as those of "
                "the paper."
            )
        if (
            model is not None
            and self._stored.known
            and not any(model in (name, short(name)) for name in self._stored.models)
        ):
            raise unknown(f"model in {self._folder}", model, self._stored.models)

    def rows(self, table: str = "") -> list[Row]:
        """Return the rows of one table, or of all."""
        if table and table not in self.published.tables:
            raise unknown(f"table of {self.paper}", table, self.names)
        names = [table] if table else list(self.published.tables)
        return [row for name in names for row in self._table(name)]

    def pictures(self, name: str = "") -> list[Picture]:
        """Return one figure of the paper with our data, or all figures."""
        if name and name not in self.engine.figures:
            raise unknown(f"figure of {self.paper}", name, self.names)
        names = [name] if name else list(self.engine.figures)
        return [self.engine.figures[n](self._stored.known, self.effort) for n in names]

    @property
    def names(self) -> list[str]:
        """Names of the tables and figures."""
        return [*self.published.tables, *self.engine.figures]

    def other_models(self, rows: Sequence[Row]) -> list[str]:
        """Return the models of the store if none of them is the model of one of these rows."""
        model_key, models = self.engine.model_condition, self._stored.models
        of_rows = {str(row.row.get(model_key, "")) for row in rows}
        is_other = self._model is None and not any({m, short(m)} & of_rows for m in models)
        return models if is_other else []

    def command(self, row: Conditions, study: str = "") -> str:
        """Return the command that plays the episodes of a table row."""
        if self.quick:
            return f"sally reproduce {self.paper} --repeats {self.effort.repeats}"
        model = self._model or _model_option(str(row.get(self.engine.model_condition, "MODEL")))
        study_name = study or self.engine.study or self.paper
        return f"sally run {study_name} --model {model} --out {self._folder or 'DIR'}"

    def brought(self, name: str, row: Conditions) -> str | None:
        """Return the command that imports the games of a row, or None if a study plays them."""
        command = self.engine.brings(name, row)
        return command and f"{command} --out {self._folder or 'DIR'}"

    def _table(self, name: str) -> Iterator[Row]:
        published_table = reference.table(self.published, name)
        cells = group_by(published_table.rows, lambda figure: _cell_of(figure.row, figure.metric))
        for figures in cells.values():
            yield self._row(name, figures)
        for row, metric in (
            *self.engine.beside.get(name, ()),
            *self._of_other_models(published_table.rows),
        ):
            ours = self.of(row, metric)
            if ours.ours is not None:
                blank_row = Row(name, dict(row), metric, None, None, None, None, None)
                yield self._fill_row(blank_row, ours)

    def _range(self, metric: str) -> float | None:
        """Return the range of a metric, or None if it is unbounded."""
        ours = registry.entries("metrics").get(self.engine.metrics.get(metric, metric))
        return None if ours is None or ours.bounds is None else ours.bounds[1] - ours.bounds[0]

    def _row(self, table: str, figures: Sequence[Figure]) -> Row:
        first = figures[0]
        measured = self.of(first.row, first.metric)
        column = [f.value for f in self.published.tables[table].rows if f.metric == first.metric]
        span, digit = self._range(first.metric), half_a_digit(column)
        row = comparison_row(table, figures, measured.ours, span, digit)
        if measured.ours is not None and measured.ours.value is not None:
            return self._fill_row(row, measured)
        never = self.engine.cannot(first.row, first.metric)
        if never is not None:
            return msgspec.structs.replace(row, missing=never)
        losses = {"censored": measured.censored, "forfeited": measured.forfeited}
        reason = measured.note or NOT_RUN
        command = self.brought(table, first.row) or self.command(first.row)
        return msgspec.structs.replace(row, missing=reason, run=command, **losses)

    def of(self, row: Conditions, metric: str) -> TableFigure:
        """Return our value, by the paper's definition: computed without episodes, tabulated from
        stored episodes, or averaged over them."""
        engine = self.engine
        if engine.cannot(row, metric) is not None:
            return TableFigure()
        if engine.computes is not None and not self.quick:
            ours = engine.computes(row, metric, self.effort)
            if ours is not None:
                return TableFigure(ours, computed=True)
        if engine.tabulates is not None and self._stored.known:
            ours = engine.tabulates(row, metric, self._stored.known, self._model)
            if ours is not None:
                return TableFigure(ours)
        if metric in engine.metrics and self._stored.known:
            return self._stored.measure_row(row, engine.metrics[metric])
        return TableFigure()

    def _fill_row(self, row: Row, measured: TableFigure) -> Row:
        """Return the row with our value filled in, and with its method and n."""
        ours = measured.ours
        assert ours is not None  # checked by the callers
        interval = None if ours.low is None or ours.high is None else (ours.low, ours.high)
        return msgspec.structs.replace(
            row,
            ours=ours.value,
            ours_interval=interval,
            n=ours.n,
            computed=measured.computed,
            censored=measured.censored,
            forfeited=measured.forfeited,
            note=measured.note,
            method=ours.method,
            exact=self._exact(row.row, row.metric),
        )

    def _exact(self, row: Conditions, metric: str) -> OwnValue | None:
        name = self.engine.exact.get(metric)
        if name is None:
            return None
        computed = self.engine.computes_exact
        estimate = computed(row, metric, self.effort) if computed else None
        if estimate is None and self._stored.known:
            estimate = self._stored.measure_row(row, name).ours
        if estimate is None or estimate.value is None:
            return None
        ends = (
            None if estimate.low is None or estimate.high is None else (estimate.low, estimate.high)
        )
        return OwnValue(name, estimate.value, ends)

    def _of_other_models(self, figures: Sequence[Figure]) -> Iterator[tuple[Conditions, str]]:
        """Yield the table's rows for models of the store that are not in the table."""
        model_key = self.engine.model_condition
        table_models = {str(f.row[model_key]) for f in figures if model_key in f.row}
        if self._model is not None or not table_models:
            return
        yielded: set[Cell] = set()
        for model in self._stored.models:
            if {model, short(model)} & table_models:
                continue
            for figure in figures:
                if model_key not in figure.row or figure.row[model_key] == "all":
                    continue
                row = {**figure.row, model_key: model}
                cell = _cell_of(self.engine.completes(row), figure.metric)
                if cell not in yielded:
                    yielded.add(cell)
                    yield row, figure.metric


def comparison_row(
    table: str,
    figures: Sequence[Figure],
    ours: Estimate | None,
    span: float | None = None,
    digit: float | None = None,
) -> Row:
    """Return a row with a published value and ours."""
    published = target(list(figures))
    head = (table, published.row, published.metric, published.value, published.interval)
    if ours is None or ours.value is None:
        return Row(*head, None, None, None, published.spread, target=published.source)
    interval = None if ours.low is None or ours.high is None else (ours.low, ours.high)
    result = agreement(table, published, ours, span, digit)
    statistics = (result.p, result.p_equivalent, result.margin, result.needs, published.source)
    return Row(*head, ours.value, interval, result.verdict, published.spread, *statistics)


def line_verdicts(rows: Iterable[Row]) -> list[Verdict]:
    """Return one verdict for each line of the tables; a line contains the tested values of one
    condition.

    A line is different if any of its values is different, and equivalent only if all of them are
    equivalent. A player that agrees with the published model in a single value, such as a
    prediction at chance level, is therefore not equivalent to it.
    """
    lines: dict[tuple[object, ...], list[Verdict]] = {}
    for row in rows:
        if row.verdict is not None and row.published is not None:
            lines.setdefault((row.table, *sorted(row.row.items())), []).append(row.verdict)
    return [
        "different" if "different" in verdicts
        else "equivalent" if set(verdicts) == {"equivalent"}
        else "undecided"
        for verdicts in lines.values()
    ]  # fmt: skip


Cell = tuple[tuple[tuple[str, Condition], ...], str]


def _cell_of(row: Conditions, metric: str) -> Cell:
    return tuple(sorted(row.items())), metric


def _model_option(model: str) -> str:
    """Return a value of `--model` for a published model, with a placeholder for the provider."""
    return "MODEL" if model in ("MODEL", "all") else f"PROVIDER/{model}"
