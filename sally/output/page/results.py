"""Tables and plots of means on the page, linked to the lists of their episodes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from math import copysign, isnan

import numpy as np
from numpy.typing import NDArray

from sally.analysis.columns.rows import Row
from sally.analysis.columns.seat_table import SeatTable, mean_of_rows
from sally.analysis.profile.bounds import PAID
from sally.core.registry import registry
from sally.core.rules.metric import Metric
from sally.output.figures.svg import Bar, estimate, interval_plot, number
from sally.output.page.html import Html, anchor, joined, tag
from sally.output.page.page_data import PageData
from sally.stats.intervals import Estimate

PAYOFF = Metric("payoff", "total payoff of the seat", lambda played, seat: None, label="payoff")
OPEN = 16  # rows up to which a plot is shown unfolded
KEYS = ("cell", "player", "others")


@dataclass
class Group:
    """Seats with the same cell, player and other players."""

    place: str  # anchor on the page
    cell: str
    player: str
    others: str
    held: PageData
    kinds: list[Row]  # kinds of seat in the seat table
    rows: NDArray[np.int64]  # row numbers in the seat table
    _means: dict[str, Estimate] = field(default_factory=dict)

    @cached_property
    def results(self) -> int:
        """The number of episodes with a result."""
        return int(self.held.seats.result[self.rows].sum())

    def estimate(self, metric: str) -> Estimate:
        """Return the mean of a metric over the episodes in which it has a value; a void episode
        has no payoff."""
        if metric not in self._means:
            seats = self.held.seats
            rows = self.rows[seats.result[self.rows]] if metric in PAID else self.rows
            rows = rows[~np.isnan(seats.values[metric][rows])]
            self._means[metric] = mean_of_rows(seats, self.kinds, rows, metric)
        return self._means[metric]


@dataclass
class SeatResults:
    """Results of one seat of one game: its groups, and the metrics with a value in any of them."""

    game: str
    seat: str
    groups: dict[tuple[str, ...], Group] = field(default_factory=dict)

    @property
    def title(self) -> str:
        return f"{self.game}, {self.seat}"

    @cached_property
    def metrics(self) -> list[Metric]:
        """Metrics with a value in some group, headline metrics first."""
        spec = registry.game(self.game)
        known = [*registry.metrics(spec.family or spec.name).values(), PAYOFF]
        valued = [m for m in known if any(_has(g, m.name) for g in self.groups.values())]
        return sorted(valued, key=lambda m: not is_headline(m))

    @cached_property
    def keys(self) -> list[str]:
        """The keys that differ between groups; the player is always included."""
        groups = list(self.groups.values())
        varies = {key: len({getattr(g, key) for g in groups}) > 1 for key in KEYS}
        return [key for key in KEYS if varies[key] or key == "player"]


def _has(group: Group, metric: str) -> bool:
    return not bool(np.isnan(group.held.seats.values[metric][group.rows]).all())


def is_headline(metric: Metric) -> bool:
    return metric.headline or metric is PAYOFF


def sheets_of(held: PageData) -> list[SeatResults]:
    """Return the results of every game and seat, in the order of the store."""
    seats, alike = held.seats, dict[tuple[str, str], dict[tuple[str, ...], list[Row]]]()
    first = _first(seats)
    for kind in sorted(seats.kinds, key=first):
        sheet = alike.setdefault((kind["game"], kind["seat"]), {})
        sheet.setdefault(tuple(str(kind[key]) for key in KEYS), []).append(kind)
    groups_of = [group for sheet in alike.values() for group in sheet.values()]
    firsts = sorted(groups_of, key=lambda kinds: first(kinds[0]))
    places = {kinds[0]["at"]: f"g{n}" for n, kinds in enumerate(firsts, 1)}
    order = np.argsort(seats.kind, kind="stable")
    codes = seats.kind[order]
    found = []
    for (game, seat), groups in alike.items():
        sheet_of = SeatResults(game, seat)
        for key, kinds in groups.items():
            ends = [np.searchsorted(codes, [kind["at"], kind["at"] + 1]) for kind in kinds]
            rows = np.sort(np.concatenate([order[low:high] for low, high in ends]))
            cell, player, others = (kinds[0][k] for k in KEYS)
            place = places[kinds[0]["at"]]
            sheet_of.groups[key] = Group(place, cell, player, others, held, kinds, rows)
        found.append(sheet_of)
    return found


def _first(seats: SeatTable) -> Callable[[Row], int]:
    """Return a function that maps a group of seat rows with equal settings to the index of its
    first row."""
    kinds, places = np.unique(seats.kind, return_index=True)
    known = dict(zip(kinds.tolist(), places.tolist(), strict=True))
    return lambda kind: known[kind["at"]]


# --- tables of means ------------------------------------------------------------------------------


def sheet_table(sheet: SeatResults, metrics: Sequence[Metric], caption: str) -> Html:
    """Return a table with one row per group and one column per metric, linked to the episodes."""
    beside = [_head(key, "broad") for key in sheet.keys if key != "player"]
    groups = sheet.groups.values()
    missing = any(group.results < len(group.rows) for group in groups)
    counts = [_head(name, "number") for name in ("n", *(["missing"] if missing else []))]
    heads = [_head("player"), *beside, *map(_metric_head, metrics), *counts]
    lines = [_group_line(sheet, group, metrics, missing) for group in groups]
    return sortable(caption, heads, lines)


def sortable(caption: str, heads: Iterable[Html], lines: Iterable[Html]) -> Html:
    """Return a table that a reader can sort by any column, in a frame that scrolls."""
    table = tag(
        "table",
        tag("caption", caption),
        tag("thead", tag("tr", heads)),
        tag("tbody", lines),
        class_="sortable",
    )
    return scrolled(table, caption)


def scrolled(table: Html, about: str) -> Html:
    """Wrap a wide table in a frame that can be scrolled, by keyboard too."""
    return tag("div", table, class_="scroll", tabindex=0, role="region", aria_label=about)


def _head(name: str, kind: str = "") -> Html:
    return tag("th", name, scope="col", class_=kind or None)


def _metric_head(metric: Metric) -> Html:
    arrow = {"higher": " ↑", "lower": " ↓"}.get(metric.better, "")
    named = metric.unit and metric.unit not in metric.label
    unit = tag("small", f" {metric.unit}") if named else None
    name = tag("abbr", metric.label or metric.name, title=metric.about)
    return tag("th", name, arrow, unit, scope="col", class_="number")


def _group_line(sheet: SeatResults, group: Group, metrics: Sequence[Metric], missing: bool) -> Html:
    beside = [getattr(group, key) for key in sheet.keys if key != "player"]
    under = tag("small", tag("bdi", ", ".join(beside)), class_="narrow") if beside else None
    names = [
        tag("th", tag("bdi", group.player), under, scope="row"),
        *(tag("td", tag("bdi", said), class_="broad") for said in beside),
    ]
    columns = {metric.name: n for n, metric in enumerate(sheet.metrics)}
    cells = [_mean_cell(group, metric, columns[metric.name]) for metric in metrics]
    count = tag("td", tag("a", group.results, href=f"#{group.place}"), class_="number",
                data_v=group.results)  # fmt: skip
    lost = len(group.rows) - group.results
    without = tag("td", number(lost), class_="number", data_v=lost) if missing else None
    return tag("tr", names, cells, count, without)


def _mean_cell(group: Group, metric: Metric, column: int) -> Html:
    found = group.estimate(metric.name)
    if found.value is None:
        return tag("td", "–", class_="number quiet")
    few = f" n {found.n}" if found.n != group.results else ""
    place = f"#{group.place}-{column}"
    interval = _interval(found)
    link = tag("a", _value(found.value), href=place, title="the episodes behind this mean")
    return tag(
        "td",
        link,
        tag("small", f"{interval}{few}") if interval or few else None,
        class_="number",
        data_v=found.value,
    )


def _value(value: float) -> str:
    return estimate(value, None)


def _interval(found: Estimate) -> str:
    if found.interval is None or found.value is None:
        return ""
    return estimate(found.value, found.interval).partition(" ")[2]


# --- plots ----------------------------------------------------------------------------------------


def sheet_plots(sheet: SeatResults) -> Html | None:
    """Return interval plots of the headline metrics, or None if there are none."""
    chosen = [m for m in sheet.metrics if is_headline(m)]
    plots = [plot for metric in chosen if (plot := _metric_plot(sheet, metric)) is not None]
    if not plots:
        return None
    many = len(sheet.groups) > OPEN
    head = tag("summary", f"Plots of means with 95% intervals ({len(plots)})")
    return tag("details", head, tag("div", plots, class_="plots"), open=not many)


def _metric_plot(sheet: SeatResults, metric: Metric) -> Html | None:
    column = sheet.metrics.index(metric)
    bars = []
    for group in sheet.groups.values():
        found = group.estimate(metric.name)
        if found.value is not None:
            about = [group.others if "others" in sheet.keys else "",
                     group.cell if "cell" in sheet.keys else ""]  # fmt: skip
            said = ", ".join(("with " + about[0] if about[0] else "", about[1])).strip(", ")
            href = f"#{group.place}-{column}"
            bars.append(Bar(group.player, said, found.value, found.interval, found.n, href))
    if len({edge for bar in bars for edge in (bar.value, *(bar.interval or ()))}) < 2:
        return None  # a plot of one number adds nothing to the table
    bars.sort(key=lambda bar: (bar.value if metric.better == "lower" else -bar.value, bar.name))
    name = metric.label or metric.name
    better = {"higher": ", higher is better", "lower": ", lower is better"}.get(metric.better, "")
    title = f"{name} of {sheet.seat} in {sheet.game}"
    caption = tag("figcaption", tag("b", name), f" {metric.about}")
    return tag("figure", caption, interval_plot(title, f"{metric.unit or name}{better}", bars))


# --- episodes -------------------------------------------------------------------------------------


def episode_lists(sheet: SeatResults, shown: Collection[int], most: int) -> Iterator[Html]:
    """Yield a list of episodes per group, with every metric.

    Args:
        sheet: The results of one seat.
        shown: Numbers of the episodes that have a transcript.
        most: Maximum number of episodes per group; the first ones are listed.
    """
    metrics = sheet.metrics
    for group in sheet.groups.values():
        listed, left = group.rows[:most].tolist(), len(group.rows) - most
        company = f" with {group.others}" if group.others else ""
        cell = f"{group.cell}: " if "cell" in sheet.keys else ""
        head = f"{cell}{sheet.seat} = {group.player}{company}"
        table = tag(
            "table",
            tag("thead", _list_head(group, metrics)),
            tag("tbody", (_episode_line(group.held, row, metrics, shown) for row in listed)),
            class_="sortable",
        )
        count = tag("span", f"{len(group.rows)}", class_="badge")
        yield tag(
            "details",
            tag("summary", tag("bdi", head), " ", count),
            tag("p", f"The first {most:,}; {left:,} more are not listed.") if left > 0 else None,
            scrolled(table, head),
            id=group.place,
            class_="list",
        )


def _list_head(group: Group, metrics: Sequence[Metric]) -> Html:
    plain = [_head("episode"), _head("instance"), _head("repeat", "number"),
             _head("turns", "number"), _head("forfeits", "number"), _head("end")]  # fmt: skip
    named = [
        tag("th", metric.label or metric.name, scope="col", class_="number",
            id=f"{group.place}-{n}")
        for n, metric in enumerate(metrics)
    ]  # fmt: skip
    return tag("tr", plain, named)


def _episode_line(
    held: PageData, row: int, metrics: Sequence[Metric], shown: Collection[int]
) -> Html:
    seats, number = held.seats, int(held.row_of[row])
    id, cut = held.id(number), held.ends[held.end[number]]
    name = tag("code", id[:8])
    link = tag("a", name, href=f"#{anchor('e-', id)}") if number in shown else name
    return tag(
        "tr",
        tag("td", link),
        tag("td", tag("bdi", seats.problems[seats.problem[row]][1])),
        _number_cell(float(seats.repeat[row])),
        _number_cell(float(seats.values["turns"][row])),
        _number_cell(float(seats.values["forfeited"][row])),
        tag("td", tag("span", cut, class_="badge bad") if cut else "over"),
        (_number_cell(float(seats.values[metric.name][row])) for metric in metrics),
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
    known: Mapping[str, Metric] = {m.name: m for sheet in sheets for m in sheet.metrics}
    entries = [
        joined(
            tag("dt", m.label or m.name, tag("small", f" {m.name}") if m.label else None),
            tag("dd", _meaning(m)),
        )
        for m in known.values()
    ]
    return tag("details", tag("summary", "What the columns mean"), tag("dl", entries))


def _meaning(metric: Metric) -> str:
    unit = f"; in {metric.unit}" if metric.unit else ""
    better = f"; {metric.better} is better" if metric.better else ""
    kept = "; a paper's definition, shown beside our own measure" if metric.published else ""
    return f"{metric.about}{unit}{better}{kept}."
