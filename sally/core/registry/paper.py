"""A paper on the shelf: a folder with its study, published figures, tables and importer."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sally.core.errors import BadInput
from sally.core.log.events import Episode

LOG = logging.getLogger("sally.importers")


@dataclass(frozen=True)
class Paper:
    """One published system; its rooms lie beside the module that defines it."""

    name: str
    about: str
    home: str  # the package of the paper: `__name__` in its `__init__.py`


@dataclass(frozen=True)
class Imported:
    """What came of an import: episodes, and what a reader should know about them."""

    episodes: tuple[Episode, ...]
    counts: dict[str, int]
    lines: tuple[str, ...] = ()  # what was odd or differs, the important first
    details: dict[str, Any] = field(default_factory=dict)  # the same for `--json`


@dataclass(frozen=True)
class Importer:
    """Reads games that were recorded elsewhere; a paper's room `importer` defines `IMPORTER`."""

    name: str  # as in `sally import NAME PATH`
    about: str
    read: Callable[[Path], Imported]

    def imported(self, path: Path) -> Imported:
        """All that can be read at a path; where nothing can, one sentence says so."""
        try:
            return self.read(path)
        except BadInput:
            raise
        except Exception as why:  # files of anybody's, read by anybody's importer
            LOG.error("the importer %s broke down over %s", self.name, path, exc_info=why)
            raise BadInput(
                f"{path} is not as the importer {self.name} knows it: {type(why).__name__}: {why}."
            ) from None
