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

from sally.core.errors import BadInput
from sally.web.database import (
    Database,
    DuplicateRow,
    Rows,
    StorageFull,
    StorageLost,
    Transaction,
    one_statement,
)
from tests.web.postgres import empty_database

SCHEMA = ("CREATE TABLE IF NOT EXISTS notes (n INTEGER PRIMARY KEY, said TEXT NOT NULL)",)
PUT = "INSERT INTO notes (n, said) VALUES (?, ?)"
ALL = "SELECT n, said FROM notes ORDER BY n"


@pytest.fixture(scope="module")
def postgres() -> Iterator[str]:
    with empty_database() as address:
        yield address


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    kind = request.param
    address = (
        str(tmp_path / "database") if kind == "sqlite" else request.getfixturevalue("postgres")
    )
    opened = Database(address, SCHEMA)
    opened.open()
    asyncio.run(opened.run(lambda tx: tx.execute("DELETE FROM notes")))
    yield opened
    opened.close()


def note(n: int, reply: str = "x") -> Callable[[Transaction], int]:
    return lambda tx: tx.execute(PUT, n, reply)


async def several(database: Database, *jobs: Any) -> list[Any]:
    return list(await asyncio.gather(*map(database.run, jobs), return_exceptions=True))


def test_written_rows_are_there_after_reopening(tmp_path: Path) -> None:
    for n in range(3):
        database = Database(str(tmp_path / "database"), SCHEMA)
        database.open()
        rows = asyncio.run(database.run(lambda tx: tx.all(ALL)))
        assert rows == [(i, "x") for i in range(n)]
        asyncio.run(database.run(note(n)))
        database.close()


def test_many_jobs_share_a_commit(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    commits: list[int] = []
    begun = database.engine.transaction
    monkeypatch.setattr(database.engine, "transaction", lambda: commits.append(1) or begun())
    outcomes = asyncio.run(several(database, *(note(n) for n in range(100))))
    assert outcomes == [1] * 100 and len(commits) < 50
    assert len(asyncio.run(database.run(lambda tx: tx.all(ALL)))) == 100


def test_duplicate_rows_are_reported_even_in_a_batch(database: Database) -> None:
    asyncio.run(database.run(note(1)))
    added = [lambda tx, n=n: tx.add(PUT, n, "y") for n in (1, 2)]
    failed, done = asyncio.run(several(database, *added))
    assert isinstance(failed, DuplicateRow) and done is None
    assert asyncio.run(database.run(lambda tx: tx.all(ALL))) == [(1, "x"), (2, "y")]


def test_failing_job_does_not_affect_others_in_the_commit(database: Database) -> None:
    def half(tx: Transaction) -> None:
        tx.execute(PUT, 50, "half")
        raise LookupError("on purpose")

    first, failed, doubled, last = asyncio.run(several(database, note(1), half, note(1), note(2)))
    assert (first, last) == (1, 1)
    assert isinstance(failed, LookupError) and "UNIQUE" in str(doubled).upper()
    assert asyncio.run(database.run(lambda tx: tx.all(ALL))) == [(1, "x"), (2, "x")]


def rows(*numbers: int) -> Rows:
    return Rows("notes (n, said)", "(?, ?)", [(n, "x") for n in numbers])


def test_inserts_of_many_jobs_are_merged_into_one_statement() -> None:
    sql, given = one_statement([rows(1, 2), rows(3)]) or ("", [])
    assert sql == "INSERT INTO notes (n, said) VALUES (?, ?), (?, ?), (?, ?)"
    assert given == [1, "x", 2, "x", 3, "x"]
    assert one_statement([rows(1), note(2)]) is None
    assert one_statement([rows(*range(101))]) is None  # SQLite does not take as many


def test_duplicate_row_does_not_affect_other_jobs(database: Database) -> None:
    told = asyncio.run(
        several(database, rows(1), rows(2), rows(2, 4), rows(3), rows(*range(9, 150)))
    )
    assert [type(outcome).__name__ for outcome in told] == [
        "NoneType", "NoneType", "DuplicateRow", "NoneType", "NoneType",
    ]  # fmt: skip
    result = asyncio.run(database.run(lambda tx: tx.all(ALL)))
    assert [n for n, _ in result] == [1, 2, 3, *range(9, 150)]


def test_text_of_every_kind_is_read_back(database: Database) -> None:
    text = "ü 漢 \U0001f600 ' \" % ; -- \\ \n {}"
    asyncio.run(database.run(note(1, text)))
    assert asyncio.run(database.run(lambda tx: tx.first(ALL))) == (1, text)
    assert asyncio.run(database.run(lambda tx: tx.first(f"{ALL} LIMIT 0"))) is None


def test_full_disk_is_reported_without_partial_writes(tmp_path: Path) -> None:
    database = Database(str(tmp_path / "database"), SCHEMA)
    database.open()
    asyncio.run(database.run(note(1)))
    pages = asyncio.run(database.run(lambda tx: tx.first("PRAGMA page_count")))
    asyncio.run(database.run(lambda tx: tx.first(f"PRAGMA max_page_count={pages[0]}")))
    with pytest.raises(StorageFull):
        asyncio.run(database.run(note(2, "x" * 100_000)))
    asyncio.run(database.run(lambda tx: tx.first("PRAGMA max_page_count=100000")))
    asyncio.run(database.run(note(3)))
    assert [n for n, _ in asyncio.run(database.run(lambda tx: tx.all(ALL)))] == [1, 3]
    database.close()


def test_full_disk_of_postgresql_is_reported_the_same_way(postgres: str) -> None:
    import psycopg

    def full(tx: Transaction) -> None:
        tx.execute(PUT, 7, "half")
        raise psycopg.errors.DiskFull("could not extend file: No space left on device")

    database = Database(postgres, SCHEMA)
    database.open()
    with pytest.raises(StorageFull, match="No space left"):
        asyncio.run(database.run(full))
    said = asyncio.run(database.run(lambda tx: tx.all("SELECT n FROM notes WHERE said = 'half'")))
    assert said == []
    database.close()


def test_lost_connection_is_reopened(postgres: str) -> None:
    database = Database(postgres, SCHEMA)
    database.open()
    asyncio.run(database.run(lambda tx: tx.execute("DELETE FROM notes")))
    (pid,) = asyncio.run(database.run(lambda tx: tx.first("SELECT pg_backend_pid()")))
    import psycopg

    with psycopg.connect(postgres, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s)", (pid,))
    asyncio.run(database.run(note(1)))
    assert asyncio.run(database.run(lambda tx: tx.all(ALL))) == [(1, "x")]
    database.close()


def test_lost_database_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    database = Database(str(tmp_path / "database"), SCHEMA)
    database.open()

    def gone() -> None:
        error = sqlite3.OperationalError("disk I/O error")
        error.sqlite_errorcode = sqlite3.SQLITE_IOERR
        raise error

    monkeypatch.setattr(database.engine, "transaction", gone)
    with pytest.raises(StorageLost, match="I/O"):
        asyncio.run(database.run(note(1)))
    database.close()


def test_two_servers_cannot_share_a_database(tmp_path: Path, database: Database) -> None:
    address = getattr(database.engine, "address", None) or str(database.engine.path)  # type: ignore[union-attr]
    with pytest.raises(BadInput, match="Another server already uses"):
        Database(address, SCHEMA).open()


def test_database_of_another_version_is_refused(tmp_path: Path) -> None:
    database = Database(str(tmp_path / "database"), SCHEMA)
    database.open()
    asyncio.run(database.run(lambda tx: tx.execute("UPDATE sally_schema SET version = 99")))
    database.close()
    with pytest.raises(BadInput, match="has schema version 99"):
        Database(str(tmp_path / "database"), SCHEMA).open()


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("mysql://x", "not mysql"),
        ("/proc/nowhere/database", "cannot be opened"),
        ("postgresql:///no?host=/nowhere", "PostgreSQL database cannot be opened"),
    ],
)
def test_invalid_address_is_refused_with_one_message(address: str, why: str) -> None:
    with pytest.raises(BadInput, match=why) as error:
        Database(address, SCHEMA).open()
    assert "\n" not in str(error.value)


def test_acknowledged_rows_survive_a_kill(tmp_path: Path) -> None:
    """A process that writes as fast as it can and says what is on disk, and is killed."""
    program = f"""
import asyncio
from sally.web.database import Database
database = Database({str(tmp_path / "database")!r}, {SCHEMA!r})
database.open()
async def main():
    n = 0
    while True:
        jobs = [lambda h, i=n + k: h.execute({PUT!r}, i, "x") for k in range(5)]
        await asyncio.gather(*map(database.run, jobs))
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
        output = max([int(line), *map(int, process.stdout.read().split())])
    database = Database(str(tmp_path / "database"), SCHEMA)
    database.open()
    rows = asyncio.run(database.run(lambda tx: tx.all(ALL)))
    database.close()
    assert [n for n, _ in rows][:output] == list(range(output))
