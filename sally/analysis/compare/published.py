"""Published figures as data: each with its conditions, its metric and where it is printed."""

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
    """One published number: the conditions it holds for, its metric, and where it is printed.

    `interval` is a 95% interval; a printed standard deviation stays in `spread` only, since it
    says how folds or runs differ and not where the mean lies. `flag` says why a figure is suspect.
    """

    row: dict[str, Condition]
    metric: str
    value: float
    source: str
    interval: tuple[float, float] | None = None
    spread: Spread | None = None
    flag: str | None = None

    def __post_init__(self) -> None:
        """Refuse a figure without a source, or outside its own interval."""
        if not self.source:
            raise ValueError(f"The figure {self.metric} at {self.row} has no source; name a table.")
        if self.interval and not self.interval[0] <= self.value <= self.interval[1]:
            raise ValueError(
                f"The figure {self.metric} at {self.row} is {self.value}, "
                f"outside its interval {list(self.interval)}; write [low, high] around the value."
            )


class Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One published table: its columns are the row keys and metrics its figures use."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[Figure, ...]
    note: str | None = None

    def __post_init__(self) -> None:
        """Refuse a figure that uses a row key or metric which is no column."""
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
    unchecked: str = ""  # what of this could not be read in the source itself, if anything


class Reference(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All published figures of one paper, table by table."""

    paper: str
    citation: Citation
    tables: dict[str, Table]


def papers() -> tuple[str, ...]:
    """The papers whose figures are on the shelf, in alphabetical order."""
    return tuple(sorted(name for name, paper in registry.entries("papers").items() if _file(paper)))


def load(paper: str) -> Reference:
    """The published figures of `paper`, for example `load("riemer2025")`."""
    found: Paper = registry.paper(paper)
    return read(found)


def read(paper: Paper) -> Reference:
    """The published figures in a paper's own folder."""
    file = _file(paper)
    if file is None:
        raise BadInput(f"The paper {paper.name} has no published figures (published.json).")
    try:
        return msgspec.json.decode(file.read_bytes(), type=Reference)
    except msgspec.MsgspecError as why:
        raise BadInput(f"published.json of {paper.name} cannot be read: {why}.") from None


def table(reference: Reference, name: str) -> Table:
    """The table called `name`, for example "4" or "tabular"."""
    if name not in reference.tables:
        raise ValueError(
            f"{reference.paper} has no table '{name}'; it has {', '.join(reference.tables)}."
        )
    return reference.tables[name]


def at(of: Table, row: Mapping[str, Condition], metric: str) -> tuple[Figure, ...]:
    """The figures printed for exactly these conditions: mostly one, two where a paper has two."""
    return tuple(f for f in of.rows if f.metric == metric and f.row == dict(row))


def where(of: Table, metric: str | None = None, **conditions: Condition) -> tuple[Figure, ...]:
    """The figures of a table that meet all these conditions, whatever their other row keys are."""
    unknown = {*conditions, *([metric] if metric else [])} - {*of.columns}
    if unknown:
        raise ValueError(
            f"The table '{of.title}' has no column {sorted(unknown)}; "
            f"its columns are {', '.join(of.columns)}."
        )
    return tuple(
        f for f in of.rows if metric in (None, f.metric) and conditions.items() <= f.row.items()
    )


def the(of: Table, metric: str | None = None, **conditions: Condition) -> Figure:
    """The only figure of a table that meets all these conditions."""
    found = where(of, metric, **conditions)
    if len(found) != 1:
        raise ValueError(
            f"Asked for the one figure of '{of.title}' with metric {metric} at {conditions}, "
            f"but there are {len(found)}; give the row keys that tell it apart."
        )
    return found[0]


def _file(paper: Paper) -> Traversable | None:
    file = files(paper.home) / "published.json"
    return file if file.is_file() else None
