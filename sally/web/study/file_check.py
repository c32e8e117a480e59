"""Faults of a study file: misspelt keys, unknown kinds, and the line of a fault."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Any

import msgspec
from msgspec import inspect

from sally.core.errors import BadInput, explain_schema_fault, join_names

FilePath = tuple[str | int, ...]  # keys and indices from the top of the file
KEY_PARTS = re.compile(r""""([^"]*)"|'([^']*)'|([A-Za-z0-9_-]+)""")
HEADER = re.compile(r"\s*(\[\[?)([^\[\]]+)\]")
ASSIGNMENT = re.compile(r"""\s*((?:"[^"]*"|'[^']*'|[A-Za-z0-9_.\s-])+?)\s*=(.*)""", re.S)
PATH_PARTS = re.compile(r"\.([A-Za-z0-9_]+)|\[([0-9]+)\]")
CONDITION = re.compile(r"^(?:bonus of )?condition '[^']*'(?: by_partner\.\w+)?: ")
FIRST_WORD = re.compile(r"`?(\w+)")
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
QUOTED = re.compile(r"'([^']+)'")


class FileFault(BadInput):
    """A fault of a study file, with the path of the table in which it is."""

    def __init__(self, message: str, path: FilePath = ()) -> None:
        super().__init__(message)
        self.path = path


class KeyFaults(BadInput):
    """All unknown keys and kinds of a study file, each with its line."""


class Statement(msgspec.Struct, frozen=True):
    """A table header or a key of a TOML text."""

    line: int  # from 1
    path: FilePath
    value: str  # source text; empty for a header


# --- lines --------------------------------------------------------------------------------------


def statements(text: str) -> Iterator[Statement]:
    """Yield the table headers and keys of a TOML text in order."""
    table: FilePath = ()
    table_counts: dict[FilePath, int] = {}  # tables so far of each array of tables
    lines = text.splitlines()
    number = 0
    while number < len(lines):
        line, first = lines[number], number + 1
        number += 1
        if header := HEADER.match(line):
            table = _resolve_header(header, table_counts)
            yield Statement(first, table, "")
        elif (assignment := ASSIGNMENT.match(line)) and not line.lstrip().startswith("#"):
            value = assignment[2]
            while _is_open(value) and number < len(lines):
                value += "\n" + lines[number]
                number += 1
            yield Statement(first, (*table, *_key_parts(assignment[1])), value)


def _resolve_header(header: re.Match[str], table_counts: dict[FilePath, int]) -> FilePath:
    """Return the path of a header; within an array of tables, its latest table is meant."""
    *parents, last = _key_parts(header[2])
    path: FilePath = ()
    for name in parents:
        path = (*path, name)
        if path in table_counts:
            path = (*path, table_counts[path] - 1)
    path = (*path, last)
    if header[1] == "[[":
        table_counts[path] = table_counts.get(path, 0) + 1
        path = (*path, table_counts[path] - 1)
    return path


def _key_parts(key: str) -> list[str]:
    return [next(part for part in parts if part) for parts in KEY_PARTS.findall(key)]


def _is_open(value: str) -> bool:
    """Return whether a value continues on the next line: an open bracket or long string."""
    depth, position = 0, 0
    while position < len(value):
        remainder = value[position:]
        if remainder.startswith(('"""', "'''")):
            end = value.find(remainder[:3], position + 3)
            if end < 0:
                return True
            position = end + 3
        elif remainder[0] in "\"'":
            string = re.match(r'"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'', remainder)
            position += string.end() if string else 1
        elif remainder[0] == "#":
            position += len(remainder.partition("\n")[0])
        else:
            depth += (remainder[0] in "[{") - (remainder[0] in "]}")
            position += 1
    return depth > 0


def line_of(text: str, path: FilePath) -> int | None:
    """Return the line of a key or table, or of the nearest table around it; None without one."""
    nearest: Statement | None = None
    for statement in statements(text):
        is_around = path[: len(statement.path)] == statement.path
        if is_around and (nearest is None or len(statement.path) > len(nearest.path)):
            nearest = statement
    if nearest is None:
        return None
    line = nearest.line
    for key in path[len(nearest.path) :]:  # in an inline table
        if isinstance(key, str) and (match := re.search(rf"\b{re.escape(key)}\b", nearest.value)):
            line = nearest.line + nearest.value[: match.start()].count("\n")
    return line


def line_of_fault(text: str, message: str, path: FilePath = ()) -> int | None:
    """Return the line of a value that a message quotes, within the table at `path` first."""
    parts = list(statements(text))
    within = [part for part in parts if part.path[: len(path)] == path]
    message = CONDITION.sub("", message)
    for name in QUOTED.findall(message):
        quoted = re.compile(rf"""["']{re.escape(name)}["']|\b{re.escape(name)}\s*=""")
        for part in (*within, *parts):
            if part.path[-1] == name:
                return part.line
            if match := quoted.search(part.value):
                return part.line + part.value[: match.start()].count("\n")
    if not path and (key := FIRST_WORD.match(message)):
        return next((part.line for part in parts if part.path == (key[1],)), None)
    return line_of(text, path) if path else None


def path_in(message: str) -> FilePath:
    """Return the path at the end of msgspec's message, up to the first key that it leaves out."""
    _, _, address = message.partition(" - at `$")
    parts = PATH_PARTS.findall(address.partition("[...]")[0])
    return tuple(int(index) if index else name for name, index in parts)


# --- keys ---------------------------------------------------------------------------------------


def refuse_unknown_keys(raw: Any, study_type: type, text: str) -> None:
    """Raise BadInput for all keys and kinds of a study file that do not exist, with their lines."""
    if not isinstance(raw, dict):
        return
    schema = inspect.type_info(study_type)
    assert isinstance(schema, inspect.StructType)
    top_keys = {field.encode_name for field in schema.fields}
    study_keys = {key: value for key, value in raw.items() if key != "sessions"}
    faults = list(_faults(study_keys, schema, (), top_keys))
    sessions = raw.get("sessions")
    for number, session in enumerate(sessions if isinstance(sessions, list) else ()):
        faults += _faults(session, schema, ("sessions", number), top_keys)
    if faults:
        sentences = [f"line {line_of(text, fault.path)}: {fault}" for fault in faults]
        first, *others = sentences
        raise KeyFaults(" ".join([first, *(s[0].upper() + s[1:] for s in others)]))


def _faults(
    value: Any, kind: inspect.Type, path: FilePath, top_keys: set[str]
) -> Iterator[FileFault]:
    """Yield the unknown keys and kinds within a value."""
    if isinstance(kind, inspect.UnionType):
        yield from _faults_in_union(value, kind, path, top_keys)
    elif isinstance(kind, inspect.StructType) and isinstance(value, dict):
        fields = {field.encode_name: field for field in kind.fields}
        for key, part in value.items():
            if key in fields:
                yield from _faults(part, fields[key].type, (*path, key), top_keys)
            elif key != kind.tag_field:
                yield _unknown_key(key, [*fields], (*path, key), top_keys)
    elif isinstance(kind, inspect.VarTupleType | inspect.ListType) and isinstance(value, list):
        for number, part in enumerate(value):
            yield from _faults(part, kind.item_type, (*path, number), top_keys)
    elif isinstance(kind, inspect.DictType) and isinstance(value, dict):
        names = kind.key_type.values if isinstance(kind.key_type, inspect.LiteralType) else ()
        for key, part in value.items():
            if names and key not in names:
                yield _unknown_key(key, list(map(str, names)), (*path, key), top_keys)
            else:
                yield from _faults(part, kind.value_type, (*path, key), top_keys)
    elif isinstance(kind, inspect.LiteralType) and value not in kind.values:
        options = [f'"{option}"' for option in kind.values]
        yield FileFault(f"{_format_path(path)} must be {join_names(options, 'or')}.", path)
    elif isinstance(value, str) and (control := CONTROL.search(value)):
        yield FileFault(
            f"{_format_path(path)} contains the control character {control[0]!r}.", path
        )


def _format_path(path: FilePath) -> str:
    """Return a path as in `survey[0].name`."""
    return "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in path).lstrip(".")


def _faults_in_union(
    value: Any, kind: inspect.UnionType, path: FilePath, top_keys: set[str]
) -> Iterator[FileFault]:
    tables = [part for part in kind.types if isinstance(part, inspect.StructType)]
    tagged = {table.tag: table for table in tables if table.tag is not None}
    if not tagged or not isinstance(value, dict):
        for part in kind.types:
            yield from _faults(value, part, path, top_keys)
        return
    tag_field = next(iter(tagged.values())).tag_field
    tag, kinds = value.get(tag_field), [str(name) for name in tagged]
    if isinstance(tag, str) and tag in tagged:
        yield from _faults(value, tagged[tag], path, top_keys)
    elif tag_field not in value:
        yield FileFault(f"the key `{tag_field}` is missing; it is {join_names(kinds, 'or')}.", path)
    else:
        place = (*path, str(tag_field))
        yield FileFault(
            f"there is no {tag_field} {tag!r}{_suggest(str(tag), kinds)}; "
            f"it is {join_names(kinds, 'or')}.",
            place,
        )


def _unknown_key(key: str, names: Sequence[str], path: FilePath, top_keys: set[str]) -> FileFault:
    if suggestion := _suggest(key, names):
        return FileFault(f"unknown key `{key}`{suggestion}?", path)
    if len(path) > 1 and key in top_keys:
        return FileFault(
            f"unknown key `{key}`; it belongs to the top of the file, before the first [table].",
            path,
        )
    return FileFault(f"unknown key `{key}`; the keys here are {join_names(sorted(names))}.", path)


def _suggest(name: str, names: Sequence[str]) -> str:
    """Return ", did you mean ..." with the nearest name, or an empty string."""
    close = get_close_matches(name, names, n=1, cutoff=0.6)
    return f", did you mean `{close[0]}`" if close else ""


def locate_error(text: str, error: Exception, session: FilePath = ()) -> str:
    """Return an error's message with its line in front, where the line is known.

    `session` is the path of the session whose keys replace those of the study.
    """
    if isinstance(error, KeyFaults):
        return str(error)
    is_schema_fault = isinstance(error, msgspec.ValidationError)
    path = path_in(str(error)) if is_schema_fault else getattr(error, "path", ())
    message = f"{explain_schema_fault(str(error))}." if is_schema_fault else str(error)
    if session and any(s.path == (*session, *path[:1]) for s in statements(text)):
        path = (*session, *path)
    if is_schema_fault and path and (key := FIRST_WORD.match(str(error))):
        path = (*path, key[1])  # "most must be ..."
    line = line_of(text, path) if is_schema_fault else None
    line = line or line_of_fault(text, message, path)
    return f"line {line}: {message}" if line else message
