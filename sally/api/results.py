"""What the library gives back: lists with a short look, tables in notebooks, frames on demand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, overload

import msgspec
from numpy.typing import NDArray

from sally import store
from sally.analysis.columns import rows
from sally.analysis.columns.rows import Chosen, Row
from sally.analysis.columns.scores import Wanted
from sally.analysis.columns.seat_table import seats_in, table_columns
from sally.analysis.compare.compare import Comparison, conclusion
from sally.core.log.events import Episode
from sally.runner.plan import Plan
from sally.stats import Estimate

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

SHOWN = 20  # rows of a table in a notebook
WIDE = 12  # columns


class Rows(list[Row]):
    """Rows of a table: a plain list of mappings that can also be had as a frame."""

    what = "rows"

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column, in the order of appearance."""
        return tuple(dict.fromkeys(name for row in self for name in row))

    def pandas(self) -> pd.DataFrame:
        """The rows as a pandas frame."""
        return rows.to_pandas(self)

    def polars(self) -> pl.DataFrame:
        """The rows as a polars frame."""
        return rows.to_polars(self)

    def __repr__(self) -> str:
        names = self.columns
        more = ", ..." if len(names) > WIDE else ""
        return f"<{len(self)} {self.what}: {', '.join(names[:WIDE])}{more}>"

    def _repr_html_(self) -> str:
        return table_html(self, self.columns)


class Episodes(list[Episode]):
    """Episodes: a plain list that can also be had as rows and frames."""

    def rows(self, metrics: bool = True) -> Rows:
        """One row for each seat of each episode, with every metric that fits the game."""
        return Rows(rows.episode_rows(self, metrics))

    def decisions(self) -> Rows:
        """One row for each move, forfeit and report."""
        return Rows(rows.decision_rows(self))

    def pandas(self) -> pd.DataFrame:
        """The rows as a pandas frame."""
        return self.rows().pandas()

    def polars(self) -> pl.DataFrame:
        """The rows as a polars frame."""
        return self.rows().polars()

    def __repr__(self) -> str:
        games = ", ".join(dict.fromkeys(e.setup.instance.game for e in self))
        cut = sum(e.payoffs is None for e in self)
        lost = f", {cut} without a result" if cut else ""
        return f"<{len(self)} episodes{f' of {games}' if games else ''}{lost}>"

    def _repr_html_(self) -> str:
        shown = [*rows.episode_rows(self[:SHOWN], metrics=False)]
        names = ("episode", "cell", "game", "seat", "player", "turns", "payoff")
        return f"<p>{escape(repr(self))}</p>" + table_html(shown, names)


class StoredEpisodes(Sequence[Episode]):
    """The episodes of a store, each read when it is asked for; in memory are their ids alone."""

    def __init__(self, where: store.Where) -> None:
        self._where, self._there = where, store.Standing(where)

    @property
    def ids(self) -> Sequence[str]:
        """The ids, in the order of the store."""
        return tuple(self._there.ids)

    def __len__(self) -> int:
        return len(self._there)

    def __iter__(self) -> Iterator[Episode]:
        return map(self._there.episode, range(len(self)))

    @overload
    def __getitem__(self, at: int | str) -> Episode: ...
    @overload
    def __getitem__(self, at: slice) -> Episodes: ...
    def __getitem__(self, at: int | str | slice) -> Episode | Episodes:
        """One episode by its place or its id, or some as a list."""
        if isinstance(at, slice):
            return Episodes(map(self._there.episode, range(len(self))[at]))
        if isinstance(at, int):
            return self._there.episode(range(len(self))[at])
        number = self._there.place_of(at)
        if number is None:
            raise KeyError(at)
        return self._there.episode(number)

    def rows(self, metrics: Chosen = True) -> Iterator[Row]:
        """One row for each seat of each episode, one after another."""
        return rows.episode_rows(self, metrics)

    def decisions(self) -> Iterator[Row]:
        """One row for each move, forfeit and report, one after another."""
        return rows.decision_rows(self)

    def columns(self, *metrics: str) -> dict[str, NDArray[Any]]:
        """Who sat where, and these metrics, a column each, with an entry for each seat.

        They come from the index beside the lines; `pandas.DataFrame` and `polars.DataFrame` take
        them as they are.
        """
        return table_columns(seats_in(self._where, Wanted(metrics).named))

    def __repr__(self) -> str:
        return f"<{len(self)} episodes in {self._where}>"


class Comparisons(list[Comparison]):
    """Comparisons of two players, with the sentence they add up to."""

    def __init__(self, found: Iterable[Comparison], first: str, second: str) -> None:
        super().__init__(found)
        self.conclusion = conclusion(self, first, second)

    def rows(self) -> Rows:
        """One row for each comparison."""
        return Rows(flat(one) for one in self)

    def __repr__(self) -> str:
        return f"<{len(self)} comparisons: {self.conclusion}>"

    def _repr_html_(self) -> str:
        found = self.rows()
        return f"<p>{escape(self.conclusion)}</p>" + table_html(found, found.columns)


class Planned(Rows):
    """What a study would take: one row for each cell and strategy, and the whole plan."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(flat(part) for part in plan.parts)
        self.plan = plan

    def __repr__(self) -> str:
        bills = "; ".join(
            f"{bill.model}: {bill.count.calls:,.0f} calls, "
            + ("cost unknown" if bill.cost is None else f"cost {bill.cost:,.2f}")
            for bill in self.plan.bills
        )
        have = f"{self.plan.wanted} episodes wanted, {self.plan.there} there"
        return f"<{have}; {bills or 'no call of a model'}>"


def flat(value: Any) -> Row:
    """A struct as a row: an estimate becomes its value and its interval."""
    row: Row = {}
    for name in value.__struct_fields__:
        found = getattr(value, name)
        if isinstance(found, Estimate):
            row |= {name: found.value, f"{name}_interval": found.interval}
        elif isinstance(found, msgspec.Struct):
            row |= {f"{name}_{key}": each for key, each in flat(found).items()}
        else:
            row[name] = found
    return row


def table_html(found: Iterable[Mapping[str, Any]], names: Iterable[str]) -> str:
    """The first rows as a table of HTML; a notebook shows it."""
    every, shown = list(found), list(names)[:WIDE]
    head = "".join(f"<th>{escape(name)}</th>" for name in shown)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(_said(row.get(name)))}</td>" for name in shown) + "</tr>"
        for row in every[:SHOWN]
    )
    more = f"<p>{len(every) - SHOWN} more rows</p>" if len(every) > SHOWN else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _said(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3g}"
    return "" if value is None else str(value)
