"""The progress of a run in words, and its display in a notebook."""

from __future__ import annotations

import sys
import time
from html import escape
from importlib import import_module
from typing import Any

from sally.runner.budget import money_text
from sally.runner.run import Progress, Watcher

UPDATE_SECONDS = 0.2  # between updates of a display in a notebook


def progress_note(now: Progress, currency: str) -> str:
    """Return a description of the resources that a run has used and the time left."""
    used = now.used
    parts = (
        [
            f"{used.calls:,} call{'' if used.calls == 1 else 's'}",
            f"{used.calls / max(now.seconds, 1):,.1f} a second",
            f"{used.tokens:,} tokens",
        ]
        if used.calls
        else []
    )
    if used.money and currency:
        parts.append(money_text(used.money, currency))
    if used.failed_calls:
        failed = f"{used.failed_calls:,} of the calls failed"
        parts.append(f"{failed} ({used.refusal.rstrip('.')})" if used.refusal else failed)
    if now.censored:
        parts.append(f"{now.censored} without a result")
    if now.done >= now.wanted:
        return ", ".join(parts)
    if now.seconds_left is not None:
        parts.append(f"about {clock(now.seconds_left)} left")
    elif used.calls:
        parts.append("time left: unknown yet")
    else:
        parts.append("no answer yet")
    return ", ".join(parts)


def clock(seconds: float) -> str:
    """Format a duration in seconds, minutes or hours."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def notebook_progress(study: str) -> Watcher | None:
    """Return a function that displays the progress of a run in a notebook; None elsewhere."""
    return NotebookProgress(study) if _is_notebook() else None


def _is_notebook() -> bool:
    """Return whether this process is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None


class NotebookProgress:
    """One line and a bar in the output of a cell, updated as episodes are stored."""

    def __init__(self, study: str) -> None:
        self._study, self._shown_at = study, 0.0
        self._display: Any = None

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        is_complete = progress.done >= progress.wanted
        if not is_complete and now - self._shown_at < UPDATE_SECONDS:
            return
        self._shown_at = now
        rendered = self._render(progress)
        if self._display is not None:
            self._display.update(rendered, raw=True)
            return
        notebook: Any = import_module("IPython.display")  # the process is a kernel, which has it
        self._display = notebook.display(rendered, raw=True, display_id=True)

    def _render(self, progress: Progress) -> dict[str, str]:
        note = progress_note(progress, "")
        text = f"{self._study}: {progress.done} of {progress.wanted} episodes"
        text = f"{text}, {note}" if note else text
        bar = f'<progress value="{progress.done}" max="{progress.wanted}"></progress>'
        return {"text/plain": text, "text/html": f"{bar} {escape(text)}"}
