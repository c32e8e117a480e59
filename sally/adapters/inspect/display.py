"""A display for evals that nobody watches: Inspect lays out its tables even where none is shown."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from inspect_ai._display.core import active
from inspect_ai._display.core.display import TaskScreen, TaskSpec
from inspect_ai._display.rich.display import RichDisplay


class Unseen(RichDisplay):
    """Inspect's own, without the table that is drawn anew each second and at the end."""

    @asynccontextmanager
    async def task_screen(self, tasks: list[TaskSpec], parallel: bool) -> AsyncIterator[TaskScreen]:
        """A screen on which nothing is drawn."""
        yield TaskScreen()

    def _update_display(self) -> None:
        return


@contextmanager
def unseen(display: str) -> Iterator[None]:
    """Where the display is `none`, spend nothing on it."""
    before = active._active_display
    if display == "none":
        active._active_display = Unseen()
    try:
        yield
    finally:
        active._active_display = before
