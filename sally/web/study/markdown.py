"""Texts of a study in Markdown: links, emphasis, lists and pictures, never HTML.

The dialect is CommonMark, rendered by markdown-it-py with HTML switched off: tags in a text are
shown as text, and links with `javascript:` and the like stay plain text. Pictures are files in the
folder of the study file, because a picture on another server would reveal to that server who takes
part.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

PICTURE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*\.(?:png|jpe?g|gif|webp)")


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False, "breaks": True})


def _tokens(among: Sequence[Token]) -> Iterator[Token]:
    for token in among:
        yield token
        yield from _tokens(token.children or ())


@lru_cache(1000)
def render_markdown(text: str, study: str) -> Markup:
    """Return a text as HTML; pictures get URLs under the study's address."""
    parser, env = _parser(), dict[str, Any]()
    tokens = parser.parse(text.strip(), env)
    for token in _tokens(tokens):
        if token.type == "image":
            token.attrSet("src", f"/study/{study}/files/{token.attrGet('src')}")
        elif token.type == "link_open":
            token.attrSet("target", "_blank")
            token.attrSet("rel", "noopener noreferrer")
        elif token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + 1)}"  # the page itself has the h1
    return Markup(parser.renderer.render(tokens, parser.options, env))


def pictures(text: str) -> list[str]:
    """Return the addresses of all pictures in a text."""
    images = (t for t in _tokens(_parser().parse(text)) if t.type == "image")
    return [str(token.attrGet("src")) for token in images]
