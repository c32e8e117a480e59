"""The database: every job is a transaction, and it is on disk before anybody hears of it.

One thread owns the one connection. Jobs that arrive while it is busy are committed together,
so that two hundred people cost a few dozen flushes a second and not two hundred.
"""

from __future__ import annotations

import asyncio
import fcntl
import queue
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from sally.core.errors import BadInput
from sally.web.transactions import Job as Job  # known by these names to all who have jobs
from sally.web.transactions import Pipelined, marked, one_statement
from sally.web.transactions import Row as Row
from sally.web.transactions import Rows as Rows
from sally.web.transactions import Transaction as Transaction

T = TypeVar("T")
AT_ONCE = 200  # jobs in one commit
BUSY_SECONDS = 2.0  # for which a database that somebody else holds is waited for
TRIES = 2  # of a job whose connection was lost

VERSION = 1  # of the tables below; raised when they change

# Text, whole numbers and times only: this much SQL means the same to SQLite and PostgreSQL.
SCHEMA = (
    """CREATE TABLE IF NOT EXISTS matches (
        id TEXT PRIMARY KEY, setup TEXT NOT NULL, people TEXT NOT NULL, cell TEXT NOT NULL,
        owner TEXT NOT NULL, patience DOUBLE PRECISION NOT NULL, mirrored TEXT NOT NULL,
        made DOUBLE PRECISION NOT NULL,
        ended INTEGER NOT NULL DEFAULT 0, stored INTEGER NOT NULL DEFAULT 0)""",
    """CREATE TABLE IF NOT EXISTS seats (
        token TEXT PRIMARY KEY, match TEXT NOT NULL, seat TEXT NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS answers (
        match TEXT NOT NULL, n INTEGER NOT NULL, seat TEXT NOT NULL, entry TEXT NOT NULL,
        client_key TEXT, made DOUBLE PRECISION NOT NULL, PRIMARY KEY (match, n))""",
    "CREATE UNIQUE INDEX IF NOT EXISTS answers_once ON answers (match, seat, client_key)",
    """CREATE TABLE IF NOT EXISTS tickets (
        ticket TEXT PRIMARY KEY, game TEXT NOT NULL, match TEXT, seat TEXT,
        made DOUBLE PRECISION NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS matches_open ON matches (ended, stored)",
    "CREATE INDEX IF NOT EXISTS seats_match ON seats (match)",
)


class StorageFull(Exception):
    """The disk is full; nothing was written."""


class StorageLost(Exception):
    """The database cannot be reached or written; nothing is known to have been written."""


class StorageBusy(StorageLost):
    """Somebody else holds the database; nothing was written."""


class DuplicateRow(Exception):
    """A row is there already that may be there only once."""


class Engine(Protocol):
    """One kind of database."""

    def connect(self) -> None: ...
    def transaction(self) -> AbstractContextManager[Transaction]: ...
    def at_once(self, sql: str, given: Sequence[Any]) -> None: ...
    def rollback(self) -> None: ...
    def close(self) -> None: ...
    def read(self, error: Exception) -> Exception: ...


class Sqlite:
    """A file, for one server."""

    _db: sqlite3.Connection

    def __init__(self, path: Path, read_only: bool = False) -> None:
        self.path, self.read_only = path, read_only
        self._lock: Any = None

    def connect(self) -> None:
        try:
            if self.read_only:
                address = f"{self.path.resolve().as_uri()}?mode=ro"
                self._db = sqlite3.connect(address, uri=True, isolation_level=None,
                                           check_same_thread=False)  # fmt: skip
                return
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._hold()
            if hasattr(self, "_db"):
                self._db.close()
            self._db = sqlite3.connect(
                self.path, BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            self._db.execute("PRAGMA journal_mode=WAL")
            # FULL, not NORMAL: under NORMAL a write-ahead log loses its last commits when the
            # power fails, and a move that was acknowledged would be gone.
            self._db.execute("PRAGMA synchronous=FULL")
            self._db.execute("PRAGMA secure_delete=ON")  # what is deleted is overwritten
        except (OSError, sqlite3.Error) as why:
            raise BadInput(f"The database {self.path} cannot be opened: {why}.") from None

    def _hold(self) -> None:
        """One server a file: two would each keep matches of which the other knows nothing."""
        if self._lock is None:
            self._lock = self.path.with_name(f"{self.path.name}.lock").open("w")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise BadInput(f"Another server already uses the database {self.path}.") from None

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """One transaction; it is on disk when this ends, unless something is raised."""
        self._db.execute("BEGIN" if self.read_only else "BEGIN IMMEDIATE")
        yield Transaction(self._db.cursor())
        self._db.execute("COMMIT")

    def at_once(self, sql: str, given: Sequence[Any]) -> None:
        """One statement that is a transaction by itself."""
        self._db.execute(sql, given)

    def rollback(self) -> None:
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")

    def close(self) -> None:
        self._db.close()
        if self._lock is not None:
            self._lock.close()

    def read(self, error: Exception) -> Exception:
        """Our name for an error of the database's."""
        if not isinstance(error, sqlite3.DatabaseError):
            return error
        if isinstance(error, sqlite3.IntegrityError):
            return DuplicateRow(str(error))
        if isinstance(error, sqlite3.ProgrammingError):
            return error
        code = getattr(error, "sqlite_errorcode", 0)
        if code == sqlite3.SQLITE_FULL:
            return StorageFull(str(error))
        if code & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return StorageBusy(str(error))
        return StorageLost(str(error))


class Postgres:
    """A server by address."""

    def __init__(self, address: str, read_only: bool = False) -> None:
        self.address, self.read_only = address, read_only

    def connect(self) -> None:
        try:
            import psycopg
        except ImportError:
            raise BadInput(
                "psycopg is not installed; `pip install 'sally-lab[postgres]'` brings it."
            ) from None
        self._errors = psycopg
        try:
            self._db = psycopg.connect(self.address, autocommit=True, connect_timeout=10)
            self._db.execute("SET synchronous_commit TO on")  # whatever the server's default is
            self._db.execute("SET statement_timeout TO '15s'")  # then say so, rather than hang
            if self.read_only:
                self._db.execute("SET default_transaction_read_only TO on")
                return
            held = self._db.execute("SELECT pg_try_advisory_lock(7255)").fetchone()
        except psycopg.Error as why:
            said = str(why).strip().split("\n")[0]
            raise BadInput(f"The PostgreSQL database cannot be opened: {said}") from None
        if not held or not held[0]:
            self._db.close()
            raise BadInput("Another server already uses this PostgreSQL database.")

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """One transaction; it is on disk when this ends, unless something is raised."""
        with self._db.pipeline() as pipeline:
            self._db.execute("BEGIN")
            yield Pipelined(self._db, pipeline)
            self._db.execute("COMMIT")

    def at_once(self, sql: str, given: Sequence[Any]) -> None:
        """One statement that is a transaction by itself."""
        self._db.execute(marked(sql), given)

    def rollback(self) -> None:
        if not self._db.closed and not self._db.broken:
            self._db.execute("ROLLBACK")

    def close(self) -> None:
        self._db.close()

    def read(self, error: Exception) -> Exception:
        """Our name for an error of the database's."""
        if isinstance(error, self._errors.errors.DiskFull):
            return StorageFull(str(error))
        if isinstance(error, self._errors.IntegrityError):
            return DuplicateRow(str(error))
        if isinstance(error, self._errors.OperationalError | self._errors.InterfaceError):
            return StorageLost(str(error))
        return error


class _Pending(Generic[T]):
    """A job, and whoever waits for it."""

    def __init__(self, job: Job[T], loop: asyncio.AbstractEventLoop) -> None:
        self.job, self.loop = job, loop
        self.future: asyncio.Future[T] = loop.create_future()

    def done(self, value: Any, error: Exception | None) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self.loop.call_soon_threadsafe(self.tell, value, error)

    def tell(self, value: Any, error: Exception | None) -> None:
        """Let whoever waits have the outcome; to be called in their loop."""
        if self.future.cancelled():
            return
        if error is None:
            self.future.set_result(value)
        else:
            self.future.set_exception(error)


def _all_done(batch: Sequence[_Pending[Any]], outcomes: Sequence[Any]) -> None:
    """Tell everybody their outcome, and wake each loop once."""
    by_loop: dict[asyncio.AbstractEventLoop, list[tuple[_Pending[Any], Any]]] = {}
    for pending, outcome in zip(batch, outcomes, strict=True):
        by_loop.setdefault(pending.loop, []).append((pending, outcome))

    def tell(told: Sequence[tuple[_Pending[Any], Any]]) -> None:
        for pending, outcome in told:
            pending.tell(outcome, None)

    for loop, told in by_loop.items():
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(tell, told)


class Database:
    """What is known for good."""

    def __init__(
        self, address: str, schema: Sequence[str] = SCHEMA, read_only: bool = False
    ) -> None:
        self.engine, self.read_only = engine_for(address, read_only), read_only
        self._schema = tuple(schema)
        self._queue: queue.SimpleQueue[_Pending[Any] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def open(self) -> None:
        """Connect, and make what tables are missing; opening twice is opening once."""
        if self._thread is not None:
            return
        self.engine.connect()
        _, error = self._together([] if self.read_only else [self._make])
        if error is not None:
            self.engine.close()
            raise BadInput(f"The database cannot be prepared: {error}.")
        self._thread = threading.Thread(target=self._work, name="database", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Finish what was ordered, and let go."""
        if self._thread is not None:
            self._queue.put(None)
            self._thread.join()
            self.engine.close()
            self._thread = None

    async def run(self, job: Job[T]) -> T:
        """The outcome of a job, once it is on disk.

        A job may run twice, after a rollback, so it reads and writes rows and does nothing else.
        """
        pending = _Pending(job, asyncio.get_running_loop())
        self._queue.put(pending)
        return await pending.future

    # --- in the thread ------------------------------------------------------------------------

    def _make(self, tx: Transaction) -> None:
        tx.put("CREATE TABLE IF NOT EXISTS sally_schema (version INTEGER NOT NULL)")
        for statement in self._schema:
            tx.put(statement)
        found = tx.one("SELECT version FROM sally_schema")
        if found is None:
            tx.put("INSERT INTO sally_schema (version) VALUES (?)", VERSION)
        elif found[0] != VERSION:
            raise BadInput(
                f"The database is of version {found[0]}, and this Sally writes version {VERSION}; "
                "finish its matches with the Sally that made it, or begin another one"
            )

    def _work(self) -> None:
        while True:
            batch, last = self._next()
            if batch:
                self._fill(batch)
            if last:
                return

    def _next(self) -> tuple[list[_Pending[Any]], bool]:
        """All that waits, and whether it is the last."""
        batch: list[_Pending[Any]] = []
        pending = self._queue.get()
        while pending is not None:
            batch.append(pending)
            if len(batch) == AT_ONCE:
                return batch, False
            try:
                pending = self._queue.get_nowait()
            except queue.Empty:
                return batch, False
        return batch, True

    def _fill(self, batch: list[_Pending[Any]]) -> None:
        """Commit all together; if one fails, each for itself, so that none drags another."""
        outcomes, error = self._together([pending.job for pending in batch])
        if error is None:
            _all_done(batch, outcomes)
            return
        if isinstance(error, StorageBusy):  # each for itself would wait as long, one by one
            for pending in batch:
                pending.done(None, error)
            return
        for pending in batch:
            outcomes, error = self._alone(pending.job)
            pending.done(outcomes[0] if error is None else None, error)

    def _alone(self, job: Job[Any]) -> tuple[list[Any], Exception | None]:
        outcomes, error = self._together([job])
        for _ in range(TRIES - 1):
            if not isinstance(error, StorageLost):
                break
            with suppress(BadInput):
                self.engine.connect()
            outcomes, error = self._together([job])
        return outcomes, error

    def _together(self, jobs: Sequence[Job[Any]]) -> tuple[list[Any], Exception | None]:
        engine = self.engine
        try:
            if (only := one_statement(jobs)) is not None:
                engine.at_once(*only)
                return [None] * len(jobs), None
            with engine.transaction() as tx:
                outcomes = [job(tx) for job in jobs]
        except Exception as why:
            with suppress(Exception):  # what went wrong is told; a rollback adds nothing to it
                engine.rollback()
            return [], engine.read(why)
        return outcomes, None


def engine_for(address: str, read_only: bool = False) -> Sqlite | Postgres:
    """The kind of database that an address names: a file, or `postgresql://...`."""
    if address.startswith(("postgresql://", "postgres://")):
        return Postgres(address, read_only)
    scheme, found, _ = address.partition("://")
    if found:
        raise BadInput(f"A database is a file or postgresql://user@host/name, not {scheme}://...")
    return Sqlite(Path(address), read_only)
