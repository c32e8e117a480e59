"""What many commands share: options, users' files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from sally.core.errors import BadInput
from sally.core.registry import registry
from sally.store import is_address

F = TypeVar("F", bound=Callable[..., Any])


class StoreType(click.ParamType):  # type: ignore[type-arg]  # generic in newer click only
    """Where a store is: a path, or an address such as s3://bucket/study."""

    name = "store"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Path | str:
        return value if isinstance(value, Path) or is_address(value) else Path(value)


STORE = StoreType()


def set_option(command: F) -> F:
    return click.option(
        "--set",
        "settings",
        multiple=True,
        metavar="KEY=VALUE",
        help="A parameter of the game, or of a player as SEAT.KEY=VALUE.",
    )(command)


def use_files(files: Sequence[str]) -> None:
    """Put users' files on the shelf."""
    for file in files:
        registry.add_file(Path(file))


NAMED_LINES = 5  # lines without an episode that are named; more are counted


def say_bad(lines: Iterable[str]) -> None:
    """Say on standard error which lines hold no episode; they stay, and a copy is kept aside."""
    every = list(lines)
    for line in every[:NAMED_LINES]:
        click.echo(f"unreadable, kept in quarantine: {line}", err=True)
    if len(every) > NAMED_LINES:
        click.echo(f"unreadable, kept in quarantine: {len(every):,} lines in all", err=True)


def parsed(settings: Sequence[str]) -> dict[str, Any]:
    """`key=value` pairs, values read as JSON where they are JSON and as text otherwise."""
    found: dict[str, Any] = {}
    for setting in settings:
        key, equals, text = setting.partition("=")
        if not equals or not key:
            raise BadInput(f"--set takes KEY=VALUE, such as rounds=10, not {setting!r}.")
        try:
            found[key] = json.loads(text)
        except ValueError:
            found[key] = text
    return found
