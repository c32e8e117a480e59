"""Tables of names that a paper or a record uses, kept as data beside its code."""

from __future__ import annotations

from importlib.resources import files

import msgspec


def name_tables(package: str) -> dict[str, dict[str, str]]:
    """Return the tables in `names.json` of a paper's package, by name of the table."""
    text = files(package).joinpath("names.json").read_bytes()
    return msgspec.json.decode(text, type=dict[str, dict[str, str]])
