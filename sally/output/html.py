"""HTML elements of a page; all text is escaped in this module.

Any `str` is escaped; only this module can make `Html`. Scripts, styles, event handlers and links
outside the page and its folder cannot be written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from html import escape
from typing import Final

_ATTRIBUTES = (
    "id class href dir title lang role open scope colspan tabindex type name checked for value "
    "viewBox width height x y x1 x2 y1 y2 cx cy r rx d transform points text-anchor "
    "data-v data-n aria-label aria-hidden aria-labelledby"
)
_TAGS = (
    "a b bdi button code dd details div dl dt em figcaption figure footer h1 h2 h3 h4 h5 header "
    "input label li main nav ol p pre section small span strong summary table tbody td th thead "
    "time tr ul svg g line circle rect path text title tspan polyline caption sup abbr"
)
ATTRIBUTES: Final = frozenset(_ATTRIBUTES.split())
TAGS: Final = frozenset(_TAGS.split())
VOID: Final = frozenset({"input"})
# Invisible characters, and characters that change how the surrounding text is displayed.
UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
PLACE = re.compile(r"#[A-Za-z][\w-]*|[A-Za-z0-9][\w.-]*\.html(#[A-Za-z][\w-]*)?")


class Html:
    """Trusted markup, made by this module only."""

    __slots__ = ("markup",)

    def __init__(self, markup: str, _made_here: object = None) -> None:
        if _made_here is not _KEY:
            raise TypeError("Use `tag` and `joined` to make markup; pass plain text as a str.")
        self.markup = markup

    def __str__(self) -> str:
        return self.markup


_KEY = object()
Inside = str | int | Html | None


def text(value: str) -> Html:
    """Return a text as escaped HTML; invisible characters are shown as their code points."""
    value = value.replace("\r\n", "\n")  # normalise line ends
    if not UNSEEN.search(value):
        return Html(escape(value), _KEY)
    parts, start = [], 0
    for match in UNSEEN.finditer(value):
        parts.append(escape(value[start : match.start()]))
        parts.append(f'<span class="unseen">U+{ord(match.group()):04X}</span>')
        start = match.end()
    return Html("".join([*parts, escape(value[start:])]), _KEY)


def tag(
    name: str, /, *inside: Inside | Iterable[Inside], **attributes: str | int | float | bool | None
) -> Html:
    """Return an element; `class_` stands for `class` and `data_v` for `data-v`, and attributes that
    are None or False are omitted.

    Raises:
        ValueError: The element, an attribute or the target of a link is not allowed.
    """
    if name not in TAGS:
        raise ValueError(f"<{name}> is not an allowed element.")
    head = [name]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        spelled = _attribute_name(key)
        if spelled not in ATTRIBUTES:
            raise ValueError(f"{spelled} is not an allowed attribute.")
        if spelled == "href" and not PLACE.fullmatch(str(value)):
            raise ValueError(
                f"Links must stay on the page (#place) or in its folder (NAME.html), not {value!r}."
            )
        head.append(spelled if value is True else f'{spelled}="{_attribute_value(value)}"')
    start = f"<{' '.join(head)}>"
    if name in VOID:
        return Html(start, _KEY)
    return Html(f"{start}{join(*inside)}</{name}>", _KEY)


def join(*inside: Inside | Iterable[Inside]) -> Html:
    """Concatenate elements and texts."""
    return Html("".join(_pieces(inside)), _KEY)


def _pieces(inside: Iterable[Inside | Iterable[Inside]]) -> Iterable[str]:
    for piece in inside:
        if piece is None:
            continue
        if isinstance(piece, Html):
            yield piece.markup
        elif isinstance(piece, str):
            yield text(piece).markup
        elif isinstance(piece, int):
            yield str(piece)
        else:
            yield from _pieces(piece)


@lru_cache(maxsize=256)
def _attribute_name(key: str) -> str:
    return key.rstrip("_").replace("_", "-")


def _attribute_value(value: str | int | float) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return _escape_value(str(value))


@lru_cache(maxsize=1024)  # mostly class names
def _escape_value(value: str) -> str:
    return escape(UNSEEN.sub("\ufffd", value))


def anchor(prefix: str, name: str) -> str:
    """Return an anchor name of letters, digits and dashes only."""
    return prefix + re.sub(r"[^\w-]", "-", name, flags=re.ASCII)
