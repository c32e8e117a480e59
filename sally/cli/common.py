"""What all commands share: the group, options, users' files."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from sally.core import shelf
from sally.core.errors import BadInput, unknown
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


class Commands(click.Group):
    """A group that suggests the nearest command, and finds those that papers and games bring."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*super().list_commands(ctx), *shelf.with_commands()]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        found: click.Command | None = super().get_command(ctx, name)
        return found or (shelf.commands(name) if name in shelf.with_commands() else None)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        known = self.list_commands(ctx)
        if args and args[0] not in known and not args[0].startswith("-"):
            raise unknown("command", args[0], known)
        return super().resolve_command(ctx, args)


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
        shelf.add_file(Path(file))


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
