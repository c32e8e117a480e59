"""The characters of the stories: people or, for the mechanical version, units that record what they
scan.

Both versions have the same events, names, keys and options; only the sentences about minds differ.
Templates without an entry are the same for both casts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

from sally.core.errors import unknown
from sally.core.rules.words import read_tables

Cast = Literal["people", "units"]
CASTS: tuple[Cast, ...] = get_args(Cast)

UNITS: Mapping[str, str] = read_tables(__package__, "stories.toml")["units"]


def wording_for(template: str, cast: Cast) -> str:
    """Return the version of a story template for this cast."""
    return template if cast == "people" else UNITS.get(template, template)


def cast_name(name: str, cast: Cast) -> str:
    """Return the name by which the stories call a member of the cast."""
    return name if cast == "people" else f"Unit {name}"


def cast_of(name: str) -> Cast:
    """Return a cast by name; raise BadInput if the name is unknown."""
    for cast in CASTS:
        if name == cast:
            return cast
    raise unknown("cast", name, CASTS)
