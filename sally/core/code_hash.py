"""Hashes of functions and objects, which change with their code and their settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from functools import partial
from hashlib import blake2b
from types import CodeType, FunctionType, MethodType
from typing import Any

import msgspec

PLAIN = (type(None), bool, int, float, complex, str, bytes)


def code_hash(value: Any) -> int:
    """Return a number of 32 bits that changes with the code and the settings of a value.

    The code of a function includes its constants, default values and closure; an object adds its
    attributes. A value of another kind, such as a network connection, counts by its type only, and
    functions that the code calls by a global name are not followed.

    >>> code_hash(lambda turn: 0) == code_hash(lambda turn: 1)
    False
    """
    digest = blake2b(digest_size=4)
    for part in _parts(value, set()):
        digest.update(part.encode("utf-8", "surrogatepass") + b"\0")
    return int.from_bytes(digest.digest())


def _parts(value: Any, visited: set[int]) -> Iterator[str]:
    """Yield texts that identify a value; a value that contains itself is not entered again."""
    if isinstance(value, PLAIN):
        yield repr(value)
        return
    yield f"{type(value).__module__}.{type(value).__qualname__}"
    if id(value) in visited:
        return
    visited.add(id(value))
    for child in _children(value):
        yield from _parts(child, visited)


def _children(value: Any) -> list[Any]:
    if isinstance(value, FunctionType):
        cells = [cell.cell_contents for cell in value.__closure__ or () if _is_filled(cell)]
        return [value.__code__, value.__defaults__, value.__kwdefaults__, *cells]
    if isinstance(value, CodeType):
        return [value.co_code.hex(), value.co_names, value.co_varnames, value.co_consts]
    if isinstance(value, MethodType):
        return [value.__func__, value.__self__]
    if isinstance(value, partial):
        return [value.func, value.args, value.keywords]
    if isinstance(value, property):
        return [value.fget]
    if isinstance(value, staticmethod | classmethod):
        return [value.__func__]
    if isinstance(value, Mapping):
        return [part for pair in value.items() for part in pair]
    if isinstance(value, Set):
        return sorted(map(repr, value))
    if isinstance(value, list | tuple):
        return list(value)
    if isinstance(value, type):
        return [] if value.__module__ == "builtins" else _class_parts(value)
    return [type(value), *_settings(value)]


def _class_parts(kind: type) -> list[Any]:
    """Return the methods and constants that a class and its bases define."""
    classes = [base for base in kind.__mro__ if base.__module__ not in ("builtins", "typing")]
    return [
        part
        for base in classes
        for name, value in vars(base).items()
        if isinstance(value, (*PLAIN, FunctionType, property, staticmethod, classmethod))
        and name not in ("__module__", "__doc__", "__firstlineno__")
        for part in (name, value)
    ]


def _settings(value: Any) -> list[Any]:
    """Return the fields of a struct, or the attributes of an object."""
    if isinstance(value, msgspec.Struct):
        return list(msgspec.structs.astuple(value))
    return [part for pair in getattr(value, "__dict__", {}).items() for part in pair]


def _is_filled(cell: Any) -> bool:
    try:
        return bool(cell.cell_contents) or True
    except ValueError:  # a variable that has no value yet
        return False
