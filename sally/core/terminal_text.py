"""What a terminal is shown: signs that would steer it stand there to be read, and do nothing."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO, cast

# Controls but for tab and newline, and what turns the direction of writing around.
_STEERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def harmless(text: str) -> str:
    """The text with signs that steer a terminal shown, such as ␛, instead of obeyed."""
    return _STEERS.sub(_shown, text)


def _shown(hit: re.Match[str]) -> str:
    code = ord(hit.group())
    return chr(0x2400 + code) if code < 0x20 else f"<U+{code:04X}>"


class Screen:
    """A stream of text to which only harmless text is written; in all else the stream itself."""

    def __init__(self, behind: TextIO) -> None:
        self.behind = behind

    def write(self, text: str) -> int:
        """Write a text, harmless."""
        self.behind.write(harmless(text))
        return len(text)

    def writelines(self, lines: Any) -> None:
        """Write some texts, harmless."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.behind, name)


def steered(stream: TextIO) -> TextIO:
    """The stream behind a screen, for what draws with signs of its own: bars, colours."""
    return stream.behind if isinstance(stream, Screen) else stream


@contextmanager
def nothing_steers() -> Iterator[None]:
    """Whatever is printed meanwhile, by whom it may be, is harmless."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (
        cast(TextIO, each if isinstance(each, Screen) else Screen(each)) for each in before
    )
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
