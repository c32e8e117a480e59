"""The database: whole jobs or none, together but each for itself, on SQLite and PostgreSQL."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.local_postgres import local_postgres, programs
from sally.core.errors import BadInput
from sally.web.book import Book, Hand, StorageFull, StorageLost

SCHEMA = ("CREATE TABLE IF NOT EXISTS notes (n INTEGER PRIMARY KEY, said TEXT NOT NULL)",)
PUT = "INSERT INTO notes (n, said) VALUES (?, ?)"
ALL = "SELECT n, said FROM notes ORDER BY n"


@pytest.fixture(scope="module")
def postgres() -> Iterator[str]:
    if programs() is None:
        pytest.skip("!!! no PostgreSQL on this machine: its tests are skipped")
    with local_postgres() as address:
        yield address


@pytest.fixture(params=["sqlite", "postgresql"])
def book(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Book]:
    kind = request.param
    address = str(tmp_path / "book") if kind == "sqlite" else request.getfixturevalue("postgres")
    opened = Book(address, SCHEMA)
    opened.open()
    asyncio.run(opened.run(lambda hand: hand.put("DELETE FROM notes")))
    yield opened
    opened.close()


def note(n: int, said: str = "x") -> Callable[[Hand], int]:
    return lambda hand: hand.put(PUT, n, said)


async def several(book: Book, *jobs: Any) -> list[Any]:
    return list(await asyncio.gather(*map(book.run, jobs), return_exceptions=True))


def test_what_was_put_is_there_for_the_next_one_who_opens(tmp_path: Path) -> None:
    for n in range(3):
        book = Book(str(tmp_path / "book"), SCHEMA)
        book.open()
        rows = asyncio.run(book.run(lambda hand: hand.all(ALL)))
        assert rows == [(i, "x") for i in range(n)]
        asyncio.run(book.run(note(n)))
        book.close()


def test_many_jobs_share_a_commit(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    commits: list[int] = []
    commit = book.engine.commit
    monkeypatch.setattr(book.engine, "commit", lambda: (commits.append(1), commit()))
    outcomes = asyncio.run(several(book, *(note(n) for n in range(100))))
    assert outcomes == [1] * 100 and len(commits) < 50
    assert len(asyncio.run(book.run(lambda hand: hand.all(ALL)))) == 100


def test_a_job_that_fails_drags_no_other_with_it(book: Book) -> None:
    def half(hand: Hand) -> None:
        hand.put(PUT, 50, "half")
        raise LookupError("on purpose")

    first, failed, doubled, last = asyncio.run(several(book, note(1), half, note(1), note(2)))
    assert (first, last) == (1, 1)
    assert isinstance(failed, LookupError) and "UNIQUE" in str(doubled).upper()
    assert asyncio.run(book.run(lambda hand: hand.all(ALL))) == [(1, "x"), (2, "x")]


def test_text_of_every_kind_survives(book: Book) -> None:
    said = "ü 漢 \U0001f600 ' \" % ; -- \\ \n {}"
    asyncio.run(book.run(note(1, said)))
    assert asyncio.run(book.run(lambda hand: hand.one(ALL))) == (1, said)
    assert asyncio.run(book.run(lambda hand: hand.one(f"{ALL} LIMIT 0"))) is None


def test_a_full_disk_is_said_and_nothing_is_half_written(tmp_path: Path) -> None:
    book = Book(str(tmp_path / "book"), SCHEMA)
    book.open()
    asyncio.run(book.run(note(1)))
    pages = asyncio.run(book.run(lambda hand: hand.one("PRAGMA page_count")))
    asyncio.run(book.run(lambda hand: hand.one(f"PRAGMA max_page_count={pages[0]}")))
    with pytest.raises(StorageFull):
        asyncio.run(book.run(note(2, "x" * 100_000)))
    asyncio.run(book.run(lambda hand: hand.one("PRAGMA max_page_count=100000")))
    asyncio.run(book.run(note(3)))
    assert [n for n, _ in asyncio.run(book.run(lambda hand: hand.all(ALL)))] == [1, 3]
    book.close()


def test_a_full_disk_of_postgresql_is_the_same_to_us(postgres: str) -> None:
    import psycopg

    def full(hand: Hand) -> None:
        hand.put(PUT, 7, "half")
        raise psycopg.errors.DiskFull("could not extend file: No space left on device")

    book = Book(postgres, SCHEMA)
    book.open()
    with pytest.raises(StorageFull, match="No space left"):
        asyncio.run(book.run(full))
    said = asyncio.run(book.run(lambda hand: hand.all("SELECT n FROM notes WHERE said = 'half'")))
    assert said == []
    book.close()


def test_a_lost_connection_is_made_again(postgres: str) -> None:
    book = Book(postgres, SCHEMA)
    book.open()
    asyncio.run(book.run(lambda hand: hand.put("DELETE FROM notes")))
    (pid,) = asyncio.run(book.run(lambda hand: hand.one("SELECT pg_backend_pid()")))
    import psycopg

    with psycopg.connect(postgres, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s)", (pid,))
    asyncio.run(book.run(note(1)))
    assert asyncio.run(book.run(lambda hand: hand.all(ALL))) == [(1, "x")]
    book.close()


def test_a_database_that_is_gone_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    book = Book(str(tmp_path / "book"), SCHEMA)
    book.open()

    def gone() -> None:
        error = sqlite3.OperationalError("disk I/O error")
        error.sqlite_errorcode = sqlite3.SQLITE_IOERR
        raise error

    monkeypatch.setattr(book.engine, "begin", gone)
    with pytest.raises(StorageLost, match="I/O"):
        asyncio.run(book.run(note(1)))
    book.close()


def test_two_servers_cannot_share_a_book(tmp_path: Path, book: Book) -> None:
    address = getattr(book.engine, "address", None) or str(book.engine.path)  # type: ignore[union-attr]
    with pytest.raises(BadInput, match="Another server already uses"):
        Book(address, SCHEMA).open()


def test_a_book_of_another_version_is_refused(tmp_path: Path) -> None:
    book = Book(str(tmp_path / "book"), SCHEMA)
    book.open()
    asyncio.run(book.run(lambda hand: hand.put("UPDATE sally_book SET version = 99")))
    book.close()
    with pytest.raises(BadInput, match="is of version 99"):
        Book(str(tmp_path / "book"), SCHEMA).open()


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("mysql://x", "not mysql"),
        ("/proc/nowhere/book", "cannot be opened"),
        ("postgresql:///no?host=/nowhere", "PostgreSQL database cannot be opened"),
    ],
)
def test_an_address_that_leads_nowhere_is_one_sentence(address: str, why: str) -> None:
    with pytest.raises(BadInput, match=why) as said:
        Book(address, SCHEMA).open()
    assert "\n" not in str(said.value)


def test_what_was_acknowledged_survives_a_kill(tmp_path: Path) -> None:
    """A process that writes as fast as it can and says what is on disk, and is killed."""
    program = f"""
import asyncio
from sally.web.book import Book
book = Book({str(tmp_path / "book")!r}, {SCHEMA!r})
book.open()
async def main():
    n = 0
    while True:
        jobs = [lambda h, i=n + k: h.put({PUT!r}, i, "x") for k in range(5)]
        await asyncio.gather(*map(book.run, jobs))
        n += 5
        print(n, flush=True)
asyncio.run(main())
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if int(line) >= 100:
                process.kill()
                break
        said = max([int(line), *map(int, process.stdout.read().split())])
    book = Book(str(tmp_path / "book"), SCHEMA)
    book.open()
    rows = asyncio.run(book.run(lambda hand: hand.all(ALL)))
    book.close()
    assert [n for n, _ in rows][:said] == list(range(said))
