"""Options and helpers shared by several commands."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from sally.core.errors import BadInput
from sally.core.terminal_text import echo
from sally.store import is_address

if TYPE_CHECKING:
    from sally.frames.frame import Frame, Source

F = TypeVar("F", bound=Callable[..., Any])


class StoreType(click.ParamType):  # type: ignore[type-arg]  # generic in newer click only
    """Location of a store: a path, or an address such as s3://bucket/study."""

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
        help="Set a parameter of the game, or of a player as SEAT.KEY=VALUE.",
    )(command)


NAMED_LINES = 5  # unreadable lines listed one by one; beyond that only their number is printed


@contextmanager
def open_frame(source: Source) -> Iterator[Frame]:
    """Yield the frame of stores or bundles, with a progress bar while tables are built."""
    from sally.frames.frame import as_frame  # takes a quarter of a second
    from sally.output.tables.console import progress

    with progress() as bar:
        task = bar.add_task("measure", total=None, note="")
        yield as_frame(source, watch=lambda n, of: bar.update(task, completed=n, total=of))


def say_bad(lines: Iterable[object]) -> None:
    """List a store's unreadable lines on standard error; its quarantine has a copy of each."""
    all_lines = list(lines)
    for line in all_lines[:NAMED_LINES]:
        echo(f"unreadable, kept in quarantine: {line}", err=True)
    if len(all_lines) > NAMED_LINES:
        echo(f"unreadable, kept in quarantine: {len(all_lines):,} lines in all", err=True)


def parse_settings(settings: Sequence[str]) -> dict[str, Any]:
    """Parse `key=value` pairs; a value that is not valid JSON is taken as text.

    Raises:
        BadInput: A pair has no key or no `=`.
    """
    values: dict[str, Any] = {}
    for setting in settings:
        key, equals, text = setting.partition("=")
        if not equals or not key:
            raise BadInput(f"--set takes KEY=VALUE, such as rounds=10, not {setting!r}.")
        try:
            values[key] = json.loads(text)
        except ValueError:
            values[key] = text
    return values
