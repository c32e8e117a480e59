"""The document of a page: head, header, parts and foot, written to one file part by part."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from datetime import UTC, datetime
from hashlib import sha256
from html import escape
from importlib.resources import files
from itertools import chain
from pathlib import Path

from sally.output.files.new_file import new_file
from sally.output.html import Html, tag

ABOUT = "Made by Sally. The page is self-contained: it makes no network requests."


def write_document(
    out: Path,
    title: str,
    header: Iterable[Html | None],
    parts: Iterable[Html | str],
    *,
    before: Iterable[Html] = (),
    about: str = ABOUT,
) -> None:
    """Write a page; its parts may be made one at a time.

    Args:
        out: The file.
        title: Title in the browser.
        header: What stands above the parts.
        parts: The parts.
        before: What stands above the header, such as links to the parts.
        about: The sentence at the end.

    Raises:
        BadInput: If the file cannot be written.
    """
    pieces = chain(
        (_head(title), *before, tag("header", header), "<main>"),
        parts,
        ("</main>", tag("footer", tag("p", about)), _foot()),
    )
    with (
        new_file(out, "page") as unfinished,
        unfinished.open("w", encoding="utf-8", newline="\n") as file,
    ):
        file.writelines(f"{piece}\n" for piece in pieces)


def tiles(facts: Iterable[tuple[str, str]]) -> Html:
    """Return the most important facts of a page: pairs of a name and a value."""
    cells = [tag("li", tag("b", value), tag("small", name)) for name, value in facts]
    return tag("ul", cells, class_="tiles")


def made(timestamp: datetime | None = None, cost: str = "") -> Html:
    """Return the day on which a page was made; now, if no time is given."""
    day = f"Made {timestamp or datetime.now(UTC):%Y-%m-%d}."
    return tag("p", f"{cost} {day}".strip(), class_="quiet")


def _head(title: str) -> str:
    """Return the head of the page; its security policy allows only the page's own style and
    script."""
    style, script = _asset("page.css"), _asset("page.js")
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n<link rel="icon" href="data:,">\n'
        f"<title>{escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>"
    )


def _foot() -> str:
    """Return the end of the page, with its script."""
    return f"<script>{_asset('page.js')}</script>\n</body>\n</html>"


def _asset(name: str) -> str:
    """Return the page's style sheet or script."""
    return (files(__package__) / name).read_text("utf-8")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}"
