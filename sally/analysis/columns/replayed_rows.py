"""Columns of the index, built from the lines of a store by replaying each episode once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from sally import store
from sally.analysis.columns.rows import played
from sally.core.errors import BadInput
from sally.core.log.events import Episode
from sally.core.rules.metric import Played
from sally.store.index import Columns, Line


class ColumnBuilder(Protocol):
    """Builder of index columns that takes the lines of a store one by one."""

    def add(self, found: Episode | str, whole: Played | None) -> None: ...

    def columns(self) -> Columns: ...


def replayed_columns(
    lines: Sequence[Line], builders: Sequence[ColumnBuilder], playable: bool = False
) -> Columns:
    """Return the columns of all builders; every line is read, checked and replayed once.

    Args:
        lines: Lines of a store.
        builders: Each is given every line.
        playable: Whether to treat an episode that cannot be replayed here as a bad line.

    Raises:
        BadInput: If an episode cannot be replayed, unless `playable`.
    """
    for _, _, line in lines:
        found = store.sound_line(line)
        try:
            whole = played(found) if isinstance(found, Episode) else None
        except BadInput as why:
            if not playable:
                raise
            found, whole = str(why), None
        for builder in builders:
            builder.add(found, whole)
    return {name: data for builder in builders for name, data in builder.columns().items()}
