"""Published figures as data: each with its conditions, its metric and its source."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Literal

import msgspec

from sally.core.errors import BadInput
from sally.core.registry import registry
from sally.core.registry.paper import Paper

Condition = str | int
"""A value of a row key: a name such as "rps", or a number such as a memory size."""


class Spread(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A printed ± value and what it measures."""

    kind: Literal["sd", "ci95", "se"]
    value: float


class Figure(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One published number with its conditions, its metric and its source.

    `interval` is a 95% interval; a printed standard deviation is kept in `spread` only, since it
    describes how folds or runs differ, not the error of the mean. `flag` says why a figure is
    suspect. `n` is the number of episodes behind the figure, or the middle of a printed range; it
    gives a figure without an interval its error.
    """

    row: dict[str, Condition]
    metric: str
    value: float
    source: str
    interval: tuple[float, float] | None = None
    spread: Spread | None = None
    flag: str | None = None
    n: int | None = None

    def __post_init__(self) -> None:
        """Check that the figure has a source and lies in its interval."""
        if not self.source:
            raise ValueError(f"The figure {self.metric} at {self.row} has no source; name a table.")
        if self.interval and not self.interval[0] <= self.value <= self.interval[1]:
            raise ValueError(
                f"The figure {self.metric} at {self.row} is {self.value}, "
                f"outside its interval {list(self.interval)}; write [low, high] with "
                "low <= value <= high."
            )


class PublishedTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One published table; its columns are the conditions (row keys) and the metrics of its
    figures."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[Figure, ...]
    note: str | None = None

    def __post_init__(self) -> None:
        """Check that every row key and metric of a figure is a column."""
        for figure in self.rows:
            unknown = {*figure.row, figure.metric} - {*self.columns}
            if unknown:
                raise ValueError(
                    f"The table '{self.title}' has no column {sorted(unknown)}; "
                    f"its columns are {', '.join(self.columns)}."
                )


class Citation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The paper that the figures come from."""

    title: str
    authors: tuple[str, ...]
    year: int
    venue: str
    unchecked: str = ""  # details that could not be verified in the source


class Reference(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All published figures of one paper, by table."""

    paper: str
    citation: Citation
    tables: dict[str, PublishedTable]


def papers() -> tuple[str, ...]:
    """Return the registered papers with published figures, in alphabetical order."""
    return tuple(sorted(name for name, paper in registry.entries("papers").items() if _file(paper)))


def load(paper: str) -> Reference:
    """Return the published figures of a paper, for example `load("riemer2025")`."""
    entry: Paper = registry.paper(paper)
    return read(entry)


def read(paper: Paper) -> Reference:
    """Read the published figures in a paper's own folder.

    Raises:
        BadInput: If there are none, or the file is invalid.
    """
    file = _file(paper)
    if file is None:
        raise BadInput(f"The paper {paper.name} has no published figures (published.json).")
    try:
        return msgspec.json.decode(file.read_bytes(), type=Reference)
    except msgspec.MsgspecError as error:
        raise BadInput(f"published.json of {paper.name} cannot be read: {error}.") from None


def table(reference: Reference, name: str) -> PublishedTable:
    """Return the table called `name`, for example "4" or "tabular"."""
    if name not in reference.tables:
        raise ValueError(
            f"{reference.paper} has no table '{name}'; it has {', '.join(reference.tables)}."
        )
    return reference.tables[name]


def figures_at(of: PublishedTable, row: Mapping[str, Condition], metric: str) -> tuple[Figure, ...]:
    """Return the figures printed for exactly these conditions; a paper may print several."""
    return tuple(f for f in of.rows if f.metric == metric and f.row == dict(row))


def select_figures(
    of: PublishedTable, metric: str | None = None, **conditions: Condition
) -> tuple[Figure, ...]:
    """Return the figures of a table that meet all these conditions."""
    unknown = {*conditions, *([metric] if metric else [])} - {*of.columns}
    if unknown:
        raise ValueError(
            f"The table '{of.title}' has no column {sorted(unknown)}; "
            f"its columns are {', '.join(of.columns)}."
        )
    return tuple(
        f for f in of.rows if metric in (None, f.metric) and conditions.items() <= f.row.items()
    )


def the(of: PublishedTable, metric: str | None = None, **conditions: Condition) -> Figure:
    """Return the only figure of a table that meets all these conditions."""
    figures = select_figures(of, metric, **conditions)
    if len(figures) != 1:
        raise ValueError(
            f"'{of.title}' has {len(figures)} figures with metric {metric} at {conditions}, not "
            f"one; "
            "give the row keys that identify one figure."
        )
    return figures[0]


def _file(paper: Paper) -> Traversable | None:
    file = files(paper.home) / "published.json"
    return file if file.is_file() else None
