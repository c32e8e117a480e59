"""Lines of a store laid open, one after another, for whoever makes columns of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from sally import store
from sally.analysis.columns.rows import played
from sally.core.errors import BadInput
from sally.core.log.events import Episode
from sally.core.rules.metric import Played
from sally.store.index import Columns, Line


class Part(Protocol):
    """Makes columns of lines that are given to it one by one."""

    def add(self, found: Episode | str, whole: Played | None) -> None: ...

    def columns(self) -> Columns: ...


def laid_open(lines: Sequence[Line], parts: Sequence[Part], playable: bool = False) -> Columns:
    """The columns of all parts; every line is read, checked and replayed once, and not kept.

    Where only the `playable` are wanted, an episode that cannot be replayed here is as good as
    none; else it is refused.
    """
    for _, _, line in lines:
        found = store.sound_line(line)
        try:
            whole = played(found) if isinstance(found, Episode) else None
        except BadInput as why:
            if not playable:
                raise
            found, whole = str(why), None
        for part in parts:
            part.add(found, whole)
    return {name: data for part in parts for name, data in part.columns().items()}
