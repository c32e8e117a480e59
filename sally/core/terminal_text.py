"""Text for a terminal: control characters in untrusted text are shown, not executed."""

from __future__ import annotations

import re

import click

# Control characters except tab and newline, and marks of the writing direction.
_STEERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def harmless(text: str) -> str:
    """Return the text with control characters replaced by visible ones, such as ␛."""
    return _STEERS.sub(_visible_sign, text)


def _visible_sign(hit: re.Match[str]) -> str:
    code = ord(hit.group())
    return chr(0x2400 + code) if code < 0x20 else f"<U+{code:04X}>"


def echo(message: object = "", err: bool = False, bold: bool = False, colour: str = "") -> None:
    """Print a line with its control characters made visible, in bold or in a colour if asked."""
    text = harmless(str(message))
    if bold or colour:
        text = click.style(text, fg=colour or None, bold=bold or None)
    click.echo(text, err=err)
