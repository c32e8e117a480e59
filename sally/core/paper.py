"""A paper on the shelf: a folder with its study, published figures, tables and importer."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Paper:
    """One published system; its rooms lie beside the module that defines it."""

    name: str
    about: str
    home: str  # the package of the paper: `__name__` in its `__init__.py`
