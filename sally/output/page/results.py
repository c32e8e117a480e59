"""Tables and plots of means on the page, linked to the lists of their episodes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from math import copysign, isnan, nan

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sally.analysis.score import Group
from sally.core.registry import registry
from sally.core.rules.metric import Metric
from sally.frames import Row
from sally.frames.clusters import FIELDS
from sally.frames.frame import Frame
from sally.output.figures.svg import Bar, estimate, interval_plot, number
from sally.output.html import Html, anchor, join, tag
from sally.output.page.columns import ARROWS, scroll_frame, sortable
from sally.output.page.page_data import PageData
from sally.stats.intervals import Estimate

Floats = NDArray[np.float64]
NO_VALUE = Estimate(None, None, None, 0, "no value")
LISTED, LEAST = 20_000, 50  # listed episodes per page, and at least per group
PAYOFF = Metric("payoff", "total payoff of the seat", lambda played, seat: None, label="payoff")
OPEN = 16  # rows up to which a plot is shown unfolded
AT_ONCE = 8  # metrics that are read from the tables together
KEYS = ("cell", "player", "others")
VARIANTS, EPISODES = 12, 5  # more variants with fewer episodes each are one group


@dataclass
class PageGroup:
    """Seats with the same cell, player and other players."""

    place: str  # anchor on the page
    cell: str
    player: str
    others: str
    group: Group
    listed: pl.DataFrame  # the first episodes, with every metric
    estimates: dict[str, Estimate] = field(default_factory=dict)  # of the metrics with a value

    @property
    def results(self) -> int:
        """The number of episodes with a result."""
        return self.group.counts["results"]

    @property
    def missing(self) -> int:
        """The number of episodes without a result."""
        return self.group.counts["missing"]

    def measure(self, metric: str, values: Floats) -> None:
        """Add the mean of a metric, unless no episode has a value, and the listed values."""
        if np.isnan(values[self.group.at]).all():
            return
        self.estimates[metric] = self.group.mean(metric, values)
        column = pl.Series(metric, values[self.listed["at"].to_numpy()])
        self.listed = self.listed.with_columns(column)

    def estimate(self, metric: str) -> Estimate:
        """Return the mean of a metric over the episodes in which it has a value; a void episode
        has no payoff."""
        return self.estimates.get(metric, NO_VALUE)


@dataclass
class SeatResults:
    """Results of one seat of one game: its groups, and the metrics with a value in any of them."""

    game: str
    seat: str
    groups: list[PageGroup]

    @property
    def title(self) -> str:
        return f"{self.game}, {self.seat}"

    @cached_property
    def fitting(self) -> dict[str, Metric]:
        """The metrics of the game, and the payoff."""
        spec = registry.game(self.game)
        return {**registry.metrics(spec.family or spec.name), PAYOFF.name: PAYOFF}

    @cached_property
    def metrics(self) -> list[Metric]:
        """Metrics with a value in some group, headline metrics first."""
        valued = {name for group in self.groups for name in group.estimates}
        measured = [metric for name, metric in self.fitting.items() if name in valued]
        return sorted(measured, key=lambda m: not is_headline(m))

    @cached_property
    def keys(self) -> list[str]:
        """The keys that differ between groups; the player is always included."""
        varies = {key: len({getattr(g, key) for g in self.groups}) > 1 for key in KEYS}
        return [key for key in KEYS if varies[key] or key == "player"]


def is_headline(metric: Metric) -> bool:
    return metric.headline or metric is PAYOFF


def sheets_of(data: PageData) -> list[SeatResults]:
    """Return the results of every game and seat, in the order of the store."""
    frame = data.seats
    rows = pool_variants(
        frame.seats(
            "game", "seat", *KEYS, "name", "studied",
            "why", "setup", "number", "turns", "forfeited", *FIELDS,
        )
    ).with_row_index("at")  # fmt: skip
    parts = rows.partition_by("game", "seat", *KEYS, as_dict=True, maintain_order=True)
    limit = max(LISTED // max(1, len(parts)), LEAST)
    sheets: dict[tuple[str, str], SeatResults] = {}
    for place, ((game, seat, *key), part) in enumerate(parts.items(), 1):
        sheet = sheets.setdefault((game, seat), SeatResults(game, seat, []))
        cell, player, others = key
        listed = _add_episode_columns(frame, part[:limit])
        sheet.groups.append(PageGroup(f"g{place}", cell, player, others, Group(part), listed))
    _measure(frame, list(sheets.values()))
    return list(sheets.values())


def pool_variants(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with one name for partners that vary from episode to episode, as in pairs of
    positions: a group of one episode has no interval, and hundreds of them have no reader."""

    def pool_column(key: str, name: pl.Expr, within: Sequence[str]) -> pl.Expr:
        variants = pl.col(key).n_unique().over(within)
        are_many = (variants > VARIANTS) & (pl.len().over(within) < EPISODES * variants)
        text = pl.format("{}, {} variants", name, variants)
        return pl.when(are_many).then(text).otherwise(pl.col(key).cast(pl.String)).alias(key)

    within = ("game", "seat", "cell")
    partners = pool_column("player", pl.col("name"), (*within, "name"))
    rows = rows.with_columns(
        pl.when(pl.col("studied")).then(pl.col("player").cast(pl.String)).otherwise(partners)
        .alias("player")
    )  # fmt: skip
    return rows.with_columns(pool_column("others", pl.lit("other players"), (*within, "player")))


def _add_episode_columns(frame: Frame, rows: pl.DataFrame) -> pl.DataFrame:
    numbers = rows["number"].to_numpy()
    episodes = frame.episodes["episode"].gather(numbers)
    return rows.with_columns(episodes, frame.column("end").gather(numbers))


def _measure(frame: Frame, sheets: Sequence[SeatResults]) -> None:
    """Compute the means of all metrics; `AT_ONCE` metrics of all episodes are in memory at a
    time."""
    metrics = list(dict.fromkeys(name for sheet in sheets for name in sheet.fitting))
    frame.prepare(metrics)
    for start in range(0, len(metrics), AT_ONCE):
        for column in frame.seats(*metrics[start : start + AT_ONCE]):
            if column.null_count() == len(column):
                continue
            values = column.cast(pl.Float64).to_numpy()
            for sheet in sheets:
                for group in sheet.groups if column.name in sheet.fitting else ():
                    group.measure(column.name, values)


# --- tables of means ------------------------------------------------------------------------------


def sheet_table(sheet: SeatResults, metrics: Sequence[Metric], caption: str) -> Html:
    """Return a table with one row per group and one column per metric, linked to the episodes."""
    beside = [_head(key, "broad") for key in sheet.keys if key != "player"]
    groups = sheet.groups
    missing = any(group.missing for group in groups)
    counts = [_head(name, "number") for name in ("n", *(["missing"] if missing else []))]
    heads = [_head("player"), *beside, *map(_metric_head, metrics), *counts]
    lines = [_group_line(sheet, group, metrics, missing) for group in groups]
    return sortable(caption, heads, lines)


def _head(name: str, kind: str = "") -> Html:
    return tag("th", name, scope="col", class_=kind or None)


def _metric_head(metric: Metric) -> Html:
    arrow = ARROWS[metric.better]
    shows_unit = metric.unit and metric.unit not in metric.label
    unit = tag("small", f" {metric.unit}") if shows_unit else None
    name = tag("abbr", metric.label or metric.name, title=metric.about)
    return tag("th", name, arrow, unit, scope="col", class_="number")


def _group_line(
    sheet: SeatResults, group: PageGroup, metrics: Sequence[Metric], missing: bool
) -> Html:
    beside = [getattr(group, key) for key in sheet.keys if key != "player"]
    subtitle = tag("small", tag("bdi", ", ".join(beside)), class_="narrow") if beside else None
    names = [
        tag("th", tag("bdi", group.player), subtitle, scope="row"),
        *(tag("td", tag("bdi", text), class_="broad") for text in beside),
    ]
    columns = {metric.name: n for n, metric in enumerate(sheet.metrics)}
    cells = [_mean_cell(group, metric, columns[metric.name]) for metric in metrics]
    count = tag("td", tag("a", group.results, href=f"#{group.place}"), class_="number",
                data_v=group.results)  # fmt: skip
    missing_count = group.missing
    without = (
        tag("td", number(missing_count), class_="number", data_v=missing_count) if missing else None
    )
    return tag("tr", names, cells, count, without)


def _mean_cell(group: PageGroup, metric: Metric, column: int) -> Html:
    mean = group.estimate(metric.name)
    if mean.value is None:
        return tag("td", "–", class_="number quiet")
    few = f" n {mean.n}" if mean.n != group.results else ""
    place = f"#{group.place}-{column}"
    interval = _interval(mean)
    link = tag("a", _value(mean.value), href=place, title="the episodes behind this mean")
    return tag(
        "td",
        link,
        tag("small", f"{interval}{few}") if interval or few else None,
        class_="number",
        data_v=mean.value,
    )


def _value(value: float) -> str:
    return estimate(value, None)


def _interval(mean: Estimate) -> str:
    if mean.interval is None or mean.value is None:
        return ""
    return estimate(mean.value, mean.interval).partition(" ")[2]


# --- plots ----------------------------------------------------------------------------------------


def sheet_plots(sheet: SeatResults) -> Html | None:
    """Return interval plots of the headline metrics, or None if there are none."""
    chosen = [m for m in sheet.metrics if is_headline(m)]
    plots = [plot for metric in chosen if (plot := _metric_plot(sheet, metric)) is not None]
    if not plots:
        return None
    is_long = len(sheet.groups) > OPEN
    head = tag("summary", f"Plots of means with 95% intervals ({len(plots)})")
    return tag("details", head, tag("div", plots, class_="plots"), open=not is_long)


def _metric_plot(sheet: SeatResults, metric: Metric) -> Html | None:
    column = sheet.metrics.index(metric)
    bars = []
    for group in sheet.groups:
        mean = group.estimate(metric.name)
        if mean.value is not None:
            about = [group.others if "others" in sheet.keys else "",
                     group.cell if "cell" in sheet.keys else ""]  # fmt: skip
            description = ", ".join(("with " + about[0] if about[0] else "", about[1])).strip(", ")
            href = f"#{group.place}-{column}"
            bars.append(Bar(group.player, description, mean.value, mean.interval, mean.n, href))
    if len({edge for bar in bars for edge in (bar.value, *(bar.interval or ()))}) < 2:
        return None  # a plot of one number adds nothing to the table
    bars.sort(key=lambda bar: (bar.value if metric.better == "lower" else -bar.value, bar.name))
    name = metric.label or metric.name
    better = {"higher": ", higher is better", "lower": ", lower is better"}.get(metric.better, "")
    title = f"{name} of {sheet.seat} in {sheet.game}"
    caption = tag("figcaption", tag("b", name), f" {metric.about}")
    return tag("figure", caption, interval_plot(title, f"{metric.unit or name}{better}", bars))


# --- episodes -------------------------------------------------------------------------------------


def episode_lists(sheet: SeatResults, transcribed: Collection[str]) -> Iterator[Html]:
    """Yield a list of the first episodes of each group, with every metric.

    Args:
        sheet: The results of one seat.
        transcribed: Ids of the episodes that have a transcript.
    """
    metrics = sheet.metrics
    for group in sheet.groups:
        total, listed = group.group.rows.height, group.listed.height
        company = f" with {group.others}" if group.others else ""
        cell = f"{group.cell}: " if "cell" in sheet.keys else ""
        head = f"{cell}{sheet.seat} = {group.player}{company}"
        lines = (
            _episode_line(row, metrics, transcribed) for row in group.listed.iter_rows(named=True)
        )
        table = tag(
            "table",
            tag("thead", _list_head(group, metrics)),
            tag("tbody", lines),
            class_="sortable",
        )
        count = tag("span", f"{total}", class_="badge")
        remark = f"The first {listed:,}; {total - listed:,} more are not listed."
        yield tag(
            "details",
            tag("summary", tag("bdi", head), " ", count),
            tag("p", remark) if total > listed else None,
            scroll_frame(table, head),
            id=group.place,
            class_="list",
        )


def _list_head(group: PageGroup, metrics: Sequence[Metric]) -> Html:
    plain = [_head("episode"), _head("instance"), _head("repeat", "number"),
             _head("turns", "number"), _head("forfeits", "number"), _head("end")]  # fmt: skip
    metric_heads = [
        tag("th", metric.label or metric.name, scope="col", class_="number",
            id=f"{group.place}-{n}")
        for n, metric in enumerate(metrics)
    ]  # fmt: skip
    return tag("tr", plain, metric_heads)


def _episode_line(row: Row, metrics: Sequence[Metric], transcribed: Collection[str]) -> Html:
    id, end = row["episode"], row["end"]
    name = tag("code", id[:8])
    link = tag("a", name, href=f"#{anchor('e-', id)}") if id in transcribed else name
    return tag(
        "tr",
        tag("td", link),
        tag("td", tag("bdi", row["instance"])),
        *(_number_cell(float(row[field])) for field in ("repeat", "turns", "forfeited")),
        tag("td", end if end == "over" else tag("span", end, class_="badge bad")),
        (_number_cell(row.get(metric.name, nan)) for metric in metrics),
    )


def _number_cell(value: float) -> Html:
    return _cell_of(value, copysign(1.0, value))


@lru_cache(maxsize=1 << 16)
def _cell_of(value: float, sign: float) -> Html:
    """Return a table cell, cached because many episodes share a number; `sign` keeps the cache
    entries of 0 and -0 apart."""
    if isnan(value):
        return tag("td", "–", class_="number quiet")
    return tag("td", number(value), class_="number", data_v=value)


def glossary(sheets: Sequence[SeatResults]) -> Html:
    """Return the definitions of all columns."""
    metrics: Mapping[str, Metric] = {m.name: m for sheet in sheets for m in sheet.metrics}
    entries = [
        join(
            tag("dt", m.label or m.name, tag("small", f" {m.name}") if m.label else None),
            tag("dd", _meaning(m)),
        )
        for m in metrics.values()
    ]
    return tag("details", tag("summary", "What the columns mean"), tag("dl", entries))


def _meaning(metric: Metric) -> str:
    unit = f"; in {metric.unit}" if metric.unit else ""
    better = f"; {metric.better} is better" if metric.better else ""
    published_note = (
        "; a paper's definition, shown beside our own measure" if metric.published else ""
    )
    return f"{metric.about}{unit}{better}{published_note}."
