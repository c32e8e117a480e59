"""A paper: a folder with a study, published figures, tables and an importer."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sally.core.errors import BadInput
from sally.core.log.events import Episode

LOG = logging.getLogger("sally.importers")


@dataclass(frozen=True)
class Paper:
    """One published system; its parts are modules in the same folder."""

    name: str
    about: str
    home: str  # the package of the paper: `__name__` in its `__init__.py`
    prompts: bool = False  # it asked language models; our prompts are in our own words


@dataclass(frozen=True)
class ImportResult:
    """The result of an import: episodes, and notes for the reader."""

    episodes: Sequence[Episode]  # read again from disk at each access if there are many
    counts: dict[str, int]
    lines: tuple[str, ...] = ()  # irregularities and differences, the important ones first
    details: dict[str, Any] = field(default_factory=dict)  # the same for `--json`


@dataclass(frozen=True)
class ImportOption:
    """An option of one importer, passed to `read` under its name."""

    name: str  # as a keyword argument; `skip_bad` is `--skip-bad` on the command line
    about: str
    kind: type[bool] | type[int] | type[str] | type[Path] = bool  # bool: a flag; int: from 1
    choices: tuple[str, ...] = ()  # of a text; the first is the default


@dataclass(frozen=True)
class Importer:
    """Reader of games recorded elsewhere.

    A paper's module `importer` defines `IMPORTER`, a game's module `importers` a tuple `IMPORTERS`.
    """

    name: str  # as in `sally import NAME PATH`
    about: str
    read: Callable[..., ImportResult]  # of a path, and the options by name
    options: tuple[ImportOption, ...] = ()
    schema: Callable[[], dict[str, Any]] | None = None  # the JSON schema of its format
    writes_file: bool = False  # `read` takes `out`, a file that it writes instead of episodes

    def import_from(self, path: Path, **options: Any) -> ImportResult:
        """Return the episodes at a path, with notes; raises BadInput if the importer cannot read
        the path."""
        try:
            return self.read(path, **options)
        except BadInput:
            raise
        except Exception as error:  # third-party files, read by third-party importers
            LOG.error("the importer %s failed on %s", self.name, path, exc_info=error)
            raise BadInput(
                f"{path} is not in the format of the importer {self.name}: {type(error).__name__}: "
                f"{error}."
            ) from None
