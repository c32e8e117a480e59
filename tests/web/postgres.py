"""One PostgreSQL server for all tests of a process, and in it an empty database for each."""

from __future__ import annotations

import atexit
import itertools
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache

import pytest

from benchmarks.local_postgres import local_postgres, programs

_numbers = itertools.count()


@cache
def _server() -> str:
    """Its address; it ends with this process, and no test cuts its power."""
    running = ExitStack()
    atexit.register(running.close)
    return running.enter_context(local_postgres(durable=False))


@contextmanager
def empty_database() -> Iterator[str]:
    """The address of a database of one's own, or a skip that is hard to overlook."""
    if programs() is None:
        pytest.skip("!!! no PostgreSQL on this machine: its tests are skipped")
    import psycopg

    name = f"empty{next(_numbers)}"
    with psycopg.connect(_server(), autocommit=True) as server:
        server.execute(f"CREATE DATABASE {name}")  # type: ignore[arg-type, unused-ignore]
    yield _server().replace("/postgres?", f"/{name}?")
