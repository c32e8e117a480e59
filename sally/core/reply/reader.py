"""Reading an answer from a reply: it is in the format that was asked for, or it is not read.

The rule (version 8) is stated for citation in docs/reference/replies.md, with its errors on real
replies.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any, Final, TypeVar

from sally.core.errors import Unreadable, join_names
from sally.core.reply.plain_text import json_objects, plain, without_thoughts

VERSION = 8  # stored with every language player; rises with any change in reading or asking again
LABELS = ("answer", "final answer")  # besides the label that was asked for
LONGEST = 500  # characters of a value, so that no pattern runs through a long reply

Match = Callable[[str], int | None]  # a value's option or number, or None
T = TypeVar("T")

_BREAK = re.compile(r"[(\[{;]|,(?!\d)|\.(?!\w)|(?<=\s)[-–—]+(?=\s)|—")  # ends a value
_CALL = re.compile(r"[\s`*]*+[A-Za-z]\w*+\((?:\s*+\w++\s*=)?([^()]*)\)[\s`*;.]*")
_BOX = r"\\boxed\s*+\{(?P<box>(?:[^{}\n]|\{[^{}\n]*+\})*+)\}"
_ARTICLE = re.compile(r"(?:an?|the) ")
_TAGGED = re.compile(r"(?P<tag>\w+)\s*[.):(]+\s*(?P<name>.+)")
_NUMBER = re.compile(r"[€£]?(-?\d{1,30})(?:\.0+)?")
_EDGES = " .,;:!'()$#"


# --- values -----------------------------------------------------------------------------------


def _bare(text: str) -> str:
    """Return a value in lower case, without markup, quotes and punctuation around it."""
    return " ".join(plain(text).split()).strip(_EDGES)


@lru_cache(maxsize=512)
def _of_menu(names: tuple[str, ...], label: str, tags: tuple[str, ...]) -> Match:
    """Return a function that compares a value with the names of a menu and with their tags, such as
    numbers or letters (`B`, `the tin` or `B. the tin`).

    An article or the menu's noun may precede a name: the label, `option`, or the word with which
    all names begin (`2` or `Box 2`).
    """
    bare = [_bare(name) for name in names]
    first = {name.partition(" ")[0] for name in bare}
    shared = first if len(first) == 1 and all(" " in name for name in bare) else set[str]()
    short = [name.partition(" ")[2] if shared else _ARTICLE.sub("", name, 1) for name in bare]
    places, ambiguous = dict[str, int](), set[str]()
    for forms in (bare, short):
        new = [(form, place) for place, form in enumerate(forms) if form not in places]
        for form, place in new:
            if places.setdefault(form, place) != place:
                ambiguous.add(form)
    places |= {_bare(tag): place for place, tag in enumerate(tags)}
    nouns = {"option", "a", "an", "the", *label.casefold().split(), *shared} - places.keys()

    def match(text: str) -> int | None:
        value = _bare(text)
        while value not in places:
            if tags and (tagged := _TAGGED.fullmatch(value)) and tagged["tag"] in places:
                place = places[tagged["tag"]]
                return place if places.get(tagged["name"]) == place else None
            noun, _, value = value.partition(" ")
            if noun.rstrip(":") not in nouns:
                return None
        return None if value in ambiguous else places[value]

    return match


@lru_cache(maxsize=256)
def _of_scale(low: int, high: int, label: str) -> Match:
    """Return a function that reads a value as a whole number in a range."""
    nouns = re.compile(rf"(?:(?:the|number|{re.escape(label.casefold())}):? )*+\$?")

    def match(text: str) -> int | None:
        hit = _NUMBER.fullmatch(nouns.sub("", _bare(text), 1))
        return int(hit[1]) if hit and low <= int(hit[1]) <= high else None

    return match


def _value(text: str, match: Match, label: str) -> int | None:
    """Return the option that the text after a label gives.

    What follows a bracket, dash, comma, semicolon or full stop is left out, unless it is another
    option.
    """
    line = text.strip().partition("\n")[0][:LONGEST]
    while hit := _labelled_lines(label).match(line):  # `Answer: Option: J`
        line = hit["value"] or hit["box"] or ""
    chosen, end = match(line), _BREAK.search(line, 1)
    if chosen is not None or end is None:
        return chosen
    chosen, line_end = match(line[: end.start()]), line[end.end() :].strip()
    others = {match(_BREAK.split(line_end, maxsplit=1)[0])}
    if end[0] == ",":
        others.add(match(line_end.partition(" ")[0]))
    return None if others - {None, chosen} else chosen


# --- the rule ---------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def _labelled_lines(label: str) -> re.Pattern[str]:
    """Return the pattern of a labelled line or a LaTeX box."""
    labels = "|".join(map(re.escape, sorted({label.casefold(), *LABELS}, key=len, reverse=True)))
    marks = r"[ \t>#*_`\"“'(\[\\$•-]*+(?:\d+[.)][ \t]++)?+[*_`]*+"  # of Markdown, lists and LaTeX
    lead = rf"{marks}(?:my |the )?+(?:final (?!answer))?+"
    return re.compile(rf"(?im)^{lead}(?:{labels})[ \t*_`]*+[:：=](?P<value>.*)|{_BOX}")


def _stated_values(text: str, label: str) -> list[str]:
    """Return the values that a text states after a label, in a LaTeX box or in the answer field of
    a JSON object, in order; an object with anything else in it gives an empty value."""
    values = list[tuple[int, str]]()
    for hit in _labelled_lines(label).finditer(text):
        value = hit["box"] if hit["value"] is None else hit["value"]
        if not value.strip(" \t*_`"):  # on the next line
            value = text[hit.end() : hit.end() + LONGEST]
        values.append((hit.start(), value))
    fields = {label.casefold(), *LABELS}
    for object_, start, _ in json_objects(text) if "{" in text else ():
        arguments = object_.get("arguments") if "name" in object_ else None  # of a tool call
        folded = {name.casefold().replace("_", " ") for name in object_}
        if isinstance(arguments, dict) or fields & folded:
            answer = arguments if isinstance(arguments, dict) else object_
            value, *others = answer.values() or [None]
            values.append((start, str(value) if type(value) in (str, int) and not others else ""))
    return [value for _, value in sorted(values, key=itemgetter(0))]


def _read(reply: str, match: Match, label: str) -> int | None:
    """Return the option or number that a reply gives, or None."""
    text = without_thoughts(reply).strip()
    last = text.rpartition("\n")[2][:LONGEST]
    if (call := _CALL.fullmatch(last)) and (chosen := match(call[1])) is not None:
        return chosen
    if stated := _stated_values(text, label):
        return _value(stated[-1], match, label)
    return match(text) if len(text) <= LONGEST else None


def restates_answer(reply: str, label: str) -> bool:
    """Return whether a reply states several different answers, of which only the last counts."""
    if "\n" not in reply:
        return False
    values = _stated_values(without_thoughts(reply), label)
    return len({_bare(value[:LONGEST]) for value in values}) > 1


def complete_part(reply: str, label: str) -> str:
    """Return the complete lines of a reply that was cut off at its length limit.

    The result is empty if none of them is labelled, or if the reply was cut off in a labelled one.
    """
    lines, _, last = without_thoughts(reply).rpartition("\n")
    pattern = _labelled_lines(label)
    return lines if pattern.search(lines) and not pattern.search(last) else ""


def read_choice(
    reply: str, names: Sequence[str], label: str, tags: Sequence[str] = (), teach: str = ""
) -> int:
    """Return the index of the one name that a reply gives.

    Args:
        reply: The reply.
        names: The names of the options.
        label: The label before the answer.
        tags: The number or letter that a prompt shows before each name.
        teach: The message of the exception, for the model; by default it lists the names.

    Raises:
        Unreadable: The reply is not in the format; the message says what is expected.

    >>> read_choice("They cooperated twice.\\nOption: F, as before", ["J", "F"], "Option")
    1
    >>> read_choice("B. the tin", ["the jar", "the tin"], "Option", tags="AB")
    1
    """
    chosen = _read(reply, _of_menu(tuple(names), label, tuple(tags)), label)
    if chosen is None:
        usual = f"Answer with `{label}:` and exactly one of {join_names(names, 'or')}."
        raise Unreadable(teach or usual)
    return chosen


def read_number(reply: str, low: int, high: int, label: str) -> int:
    """Return the one whole number from `low` to `high` that a reply gives.

    Raises:
        Unreadable: The reply is not in the format, or the number is out of range.
    """
    number = _read(reply, _of_scale(low, high, label), label)
    if number is None:
        raise Unreadable(
            f"Answer with `{label}:` and exactly one whole number from {low} to {high}."
        )
    return number


def read_each(
    reply: str, names_by_question: Sequence[Sequence[str]], label: str
) -> list[int | None]:
    """Return, for each question, the index of the name after `label 1:`, `label 2:` ..., or None.

    A single question needs no number, and numbers may be left out if every question has a line.
    """
    pattern = re.compile(rf"(?i)[\W\d_]*+{re.escape(label)}\W{{0,2}}(\d*)\W{{0,2}}[:=](.*)")
    lines = without_thoughts(reply).split("\n")
    stated = [hit.groups() for line in lines if (hit := pattern.fullmatch(line))]
    if len(stated) == len(names_by_question) and not any(number for number, _ in stated):
        stated = [(str(n), value) for n, (_, value) in enumerate(stated, 1)]
    answers: list[int | None] = []
    for n, names in enumerate(names_by_question, 1):
        numbers = ("", str(n)) if n == 1 else (str(n),)
        values = [
            value for number, value in stated if number in numbers or len(names_by_question) == 1
        ]
        match = _of_menu(tuple(names), label, ())
        answers.append(_value(values[-1], match, label) if values else None)
    return answers


# --- stored replies ---------------------------------------------------------------------------

CANNOT_CHECK: Final = object()
"""What `reads_to` returns for a reply that only the rule of an older version may have read."""


def reads_to(version: int, reply: str, read: Callable[[str], T]) -> T | Any | None:
    """Return what a stored reply says by the rule of `version`: a value, None or `CANNOT_CHECK`.

    The rules of older versions are not kept. If they read a reply that the installed rule reads,
    they read the same in it, except for LaTeX boxes (`python benchmarks/asked_again.py
    --installed` counts this on the shipped runs). Whether they read it at all is not known, so
    that a forfeit of an older version cannot be checked.

    Args:
        version: The version of the rule under which the reply was read.
        reply: The reply.
        read: Reads a reply by the installed rule; raises Unreadable if it cannot.
    """
    if version != VERSION and "\\boxed" in reply:
        return CANNOT_CHECK
    try:
        return read(reply)
    except Unreadable:
        return None if version == VERSION else CANNOT_CHECK
