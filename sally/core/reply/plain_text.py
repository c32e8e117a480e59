"""The text of a reply without thoughts and markup, and its labelled lines and JSON objects."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any

from sally.core.errors import TooLong, Unreadable

MOST_READ = 50_000  # characters; a longer reply is refused unread
MOST_BRACES = 500  # a reply with more is no answer, and every try at one costs its length

_TAGS = "think|thinking|thought|reasoning|scratchpad"
_THOUGHTS = re.compile(rf"(?is)<({_TAGS})>.*?(?:</\1>|\Z)")
_OPEN_BEFORE = re.compile(rf"(?is)\A.*</(?:{_TAGS})>")  # the prompt opened the tag
_TAGGED = re.compile(r"<([A-Za-z]\w{0,20})>([^<>]*)</\1>")
_LATEX = re.compile(r"\\(?:[A-Za-z]+|[()\[\]])")
_MARKUP = str.maketrans("’‘", "''", '*_`"“”„«»[]{}<>\\\u200b\u200c\u200d\u2060\ufeff\xad')
_QUOTES = re.compile(r"(?<!\w)'|'(?!\w)")
_BLANKS = re.compile(r"(?:\t| [ \t])[ \t]*")


def without_thoughts(reply: str) -> str:
    """Return the reply without thoughts in tags (`<think>`), closed or not; raise TooLong if it is
    too long."""
    reply = _THOUGHTS.sub(" ", reply)
    if "</" in reply:
        reply = _OPEN_BEFORE.sub(" ", reply)
    if len(reply) > MOST_READ:
        raise TooLong(f"The answer has more than {MOST_READ} characters; give a short one.")
    return reply


class _Narrow(dict[int, str]):
    """Translation table from Unicode width and font variants to plain characters."""

    def __missing__(self, code: int) -> str:
        sign = chr(code)
        kind = unicodedata.decomposition(sign)
        if kind.startswith(("<wide>", "<narrow>", "<font>")):
            sign = unicodedata.normalize("NFKC", sign)
        if len(self) < 4096:
            self[code] = sign
        return sign


_NARROW = _Narrow({0x2212: "-"})


def plain(text: str) -> str:
    """Return the text in lower case, without thoughts and markup, and with full-width characters
    replaced by ordinary ones; line breaks are kept."""
    text = _TAGGED.sub(r"\2", without_thoughts(text))
    if "\\" in text:
        text = _LATEX.sub(" ", text)
    if not text.isascii():
        text = text.translate(_NARROW)
    text = text.translate(_MARKUP)
    if "'" in text:
        text = _QUOTES.sub("", text)
    return _BLANKS.sub(" ", text).strip().casefold()


# --- labelled lines ---------------------------------------------------------------------------


def after_label(reply: str, label: str) -> str | None:
    """Return the text after the last `label:` at the start of a line, or None if there is none."""
    marked = re.compile(rf"(?i)[\s>#*_`-]*{re.escape(label)}[*_` ]*[:：][*_` ]*(.*)")
    hits = map(marked.fullmatch, without_thoughts(reply).split("\n"))
    return next(reversed([hit[1] for hit in hits if hit]), None)


def sections(reply: str, labels: Sequence[str]) -> dict[str, str]:
    """Return the text after each label, up to the next label; texts may span several lines."""
    starts = "|".join(re.escape(label) for label in labels)
    marked = re.compile(rf"(?i)[\s>#*_`\d.-]*({starts})[*_` ]*[:：][*_` ]*(.*)")
    by_fold = {label.casefold(): label for label in labels}
    lines_by_label: dict[str, list[str]] = {}
    now: list[str] = []
    for line in without_thoughts(reply).split("\n"):
        if hit := marked.fullmatch(line):
            now = lines_by_label[by_fold[hit.group(1).casefold()]] = [hit.group(2)]
        else:
            now.append(line)
    return {label: "\n".join(lines).strip() for label, lines in lines_by_label.items()}


# --- JSON -------------------------------------------------------------------------------------


def json_objects(reply: str) -> Iterator[tuple[dict[str, Any], int, int]]:
    """Return the outermost JSON objects of a text, each with its beginning and end.

    Raises:
        Unreadable: an object gives a field twice.
    """
    start, decoder = reply.find("{"), json.JSONDecoder(object_pairs_hook=_refuse_repeated_fields)
    for _ in range(MOST_BRACES):
        if start < 0:
            return
        try:
            json_object, end = decoder.raw_decode(reply, start)
            yield json_object, start, end
        except Unreadable:
            raise
        except ValueError:
            end = start + 1
        except RecursionError:
            return  # nested deeper than any answer
        start = reply.find("{", end)


def _refuse_repeated_fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise Unreadable("Give each field of the JSON object once.")
    return fields
