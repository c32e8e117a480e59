"""The database; every job is a transaction that is on disk before its result is returned.

One thread owns the only connection. Jobs that arrive while it is busy are committed together, so
that two hundred people need a few dozen flushes per second instead of two hundred.
"""

from __future__ import annotations

import asyncio
import fcntl
import queue
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cache
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar

from sally.core.errors import BadInput, install_command

T = TypeVar("T")
P = ParamSpec("P")
AT_ONCE = 200  # most jobs in one commit
BUSY_SECONDS = 2.0  # how long to wait for a database locked by another process
TRIES = 2  # attempts at a job whose connection was lost

VERSION = 1  # of the tables below; incremented when they change


def read_schema(package: str, file: str) -> tuple[str, ...]:
    """Return the statements of an SQL file; SQLite and PostgreSQL read the same SQL."""
    text = (files(package) / file).read_text("utf-8")
    return tuple(filter(None, map(str.strip, text.split(";"))))


# Text, integers and times only.
SCHEMA = read_schema("sally.web", "database.sql")


class StorageFull(Exception):
    """The disk is full; nothing was written."""


class StorageLost(Exception):
    """The database cannot be reached or written; whether the job was written is unknown."""


class StorageBusy(StorageLost):
    """Another process has locked the database; nothing was written."""


class DuplicateRow(Exception):
    """A row with the same unique key exists already."""


# --- transactions -------------------------------------------------------------------------------


Row = tuple[Any, ...]
MOST_ROWS = 100  # in one statement, since SQLite limits the number of values


@cache
def psycopg_sql(sql: str) -> str:
    """Return the statement with psycopg's placeholders instead of question marks."""
    return sql.replace("%", "%%").replace("?", "%s")


class Transaction:
    """The statements that a job may execute within its transaction."""

    def __init__(self, cursor: Any, dialect: Callable[[str], str] = str) -> None:
        self._cursor, self._dialect = cursor, dialect

    def add(self, sql: str, *values: Any) -> None:
        """Insert rows; an error may be raised as late as the commit."""
        self.execute(sql, *values)

    def execute(self, sql: str, *values: Any) -> int:
        """Execute a statement and return the number of rows changed."""
        self._cursor.execute(self._dialect(sql), values)
        return int(self._cursor.rowcount)

    def all(self, sql: str, *values: Any) -> list[Row]:
        """Return all rows of a query."""
        self._cursor.execute(self._dialect(sql), values)
        return [tuple(row) for row in self._cursor.fetchall()]

    def first(self, sql: str, *values: Any) -> Row | None:
        """Return the first row of a query, or None."""
        return next(iter(self.all(sql, *values)), None)


class Pipelined(Transaction):
    """A PostgreSQL transaction in pipeline mode, which saves a network round trip per insert."""

    def __init__(self, connection: Any, pipeline: Any) -> None:
        super().__init__(connection.cursor(), psycopg_sql)
        self._connection, self._pipeline = connection, pipeline

    def add(self, sql: str, *values: Any) -> None:
        """Insert rows without waiting for the response."""
        self._connection.execute(psycopg_sql(sql), values)

    def execute(self, sql: str, *values: Any) -> int:
        """Execute a statement, wait for all earlier ones, and return the number of rows changed."""
        self._cursor.execute(psycopg_sql(sql), values)
        self._pipeline.sync()
        return int(self._cursor.rowcount)


Job = Callable[[Transaction], T]


class Rows:
    """A job that only inserts rows; several such jobs can become one statement."""

    def __init__(self, into: str, marks: str, rows: Sequence[Row]) -> None:
        self.into, self.marks, self.rows = into, marks, rows

    def __call__(self, tx: Transaction) -> None:
        """Insert the rows within a larger transaction."""
        for sql, values in self.statements():
            tx.add(sql, *values)

    def statements(self) -> Iterator[tuple[str, list[Any]]]:
        """Yield statements of at most `MOST_ROWS` rows each."""
        for first in range(0, len(self.rows), MOST_ROWS):
            batch = self.rows[first : first + MOST_ROWS]
            yield (
                f"INSERT INTO {self.into} VALUES " + ", ".join([self.marks] * len(batch)),
                list(chain.from_iterable(batch)),
            )


def one_statement(jobs: Sequence[Job[Any]]) -> tuple[str, list[Any]] | None:
    """Return one statement that is equivalent to all jobs; None if no such statement exists."""
    if not all(isinstance(job, Rows) for job in jobs):
        return None
    inserts = [job for job in jobs if isinstance(job, Rows)]
    if len({job.into for job in inserts}) != 1:
        return None
    rows = [row for job in inserts for row in job.rows]
    if not 0 < len(rows) <= MOST_ROWS:
        return None
    return next(Rows(inserts[0].into, inserts[0].marks, rows).statements())


# --- engines ------------------------------------------------------------------------------------


class Engine(Protocol):
    """Interface of a database system."""

    def connect(self) -> None: ...
    def transaction(self) -> AbstractContextManager[Transaction]: ...
    def execute_one(self, sql: str, values: Sequence[Any]) -> None: ...
    def rollback(self) -> None: ...
    def close(self) -> None: ...
    def read(self, error: Exception) -> Exception: ...


class Sqlite:
    """A SQLite file that one server uses; with `shared`, it can be opened while that server is
    running."""

    _db: sqlite3.Connection

    def __init__(self, path: Path, read_only: bool = False, shared: bool = False) -> None:
        self.path, self.read_only, self.shared = path, read_only, shared
        self._lock: Any = None

    def connect(self) -> None:
        try:
            if self.read_only:
                address = f"{self.path.resolve().as_uri()}?mode=ro"
                self._db = sqlite3.connect(address, uri=True, isolation_level=None,
                                           check_same_thread=False)  # fmt: skip
                return
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if not self.shared:
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
            self._db.execute("PRAGMA secure_delete=ON")  # overwrite deleted data
        except (OSError, sqlite3.Error) as error:
            raise BadInput(f"The database {self.path} cannot be opened: {error}.") from None

    def _hold(self) -> None:
        """Lock the file, because two servers would have different matches in memory."""
        if self._lock is None:
            self._lock = self.path.with_name(f"{self.path.name}.lock").open("w")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise BadInput(f"Another server already uses the database {self.path}.") from None

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """Open a transaction that is on disk when the block ends without an exception."""
        self._db.execute("BEGIN" if self.read_only else "BEGIN IMMEDIATE")
        yield Transaction(self._db.cursor())
        self._db.execute("COMMIT")

    def execute_one(self, sql: str, values: Sequence[Any]) -> None:
        """Execute one statement as its own transaction."""
        self._db.execute(sql, values)

    def rollback(self) -> None:
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")

    def close(self) -> None:
        self._db.close()
        if self._lock is not None:
            self._lock.close()

    def read(self, error: Exception) -> Exception:
        """Translate an exception of the driver into one of this module."""
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
    """A PostgreSQL database; with `shared`, it can be opened while another server uses it."""

    def __init__(self, address: str, read_only: bool = False, shared: bool = False) -> None:
        self.address, self.read_only, self.shared = address, read_only, shared

    def connect(self) -> None:
        try:
            import psycopg
        except ImportError:
            raise BadInput(
                f"psycopg is not installed; install it with `{install_command('postgres')}`."
            ) from None
        self._errors = psycopg
        try:
            self._db = psycopg.connect(self.address, autocommit=True, connect_timeout=10)
            self._db.execute("SET synchronous_commit TO on")  # regardless of the server's default
            self._db.execute("SET statement_timeout TO '15s'")  # fail instead of hanging
            if self.read_only:
                self._db.execute("SET default_transaction_read_only TO on")
            if self.read_only or self.shared:
                return
            lock_row = self._db.execute("SELECT pg_try_advisory_lock(7255)").fetchone()
        except psycopg.Error as error:
            message = str(error).strip().split("\n")[0]
            raise BadInput(f"The PostgreSQL database cannot be opened: {message}") from None
        if not lock_row or not lock_row[0]:
            self._db.close()
            raise BadInput("Another server already uses this PostgreSQL database.")

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """Open a transaction that is on disk when the block ends without an exception."""
        with self._db.pipeline() as pipeline:
            self._db.execute("BEGIN")
            yield Pipelined(self._db, pipeline)
            self._db.execute("COMMIT")

    def execute_one(self, sql: str, values: Sequence[Any]) -> None:
        """Execute one statement as its own transaction."""
        self._db.execute(psycopg_sql(sql), values)

    def rollback(self) -> None:
        if not self._db.closed and not self._db.broken:
            self._db.execute("ROLLBACK")

    def close(self) -> None:
        self._db.close()

    def read(self, error: Exception) -> Exception:
        """Translate an exception of the driver into one of this module."""
        if isinstance(error, self._errors.errors.DiskFull):
            return StorageFull(str(error))
        if isinstance(error, self._errors.IntegrityError):
            return DuplicateRow(str(error))
        if isinstance(error, self._errors.OperationalError | self._errors.InterfaceError):
            return StorageLost(str(error))
        return error


Result = tuple[Any, Exception | None]  # of a job


class _Pending(Generic[T]):
    """A queued job and the future of its result."""

    def __init__(self, job: Job[T], loop: asyncio.AbstractEventLoop) -> None:
        self.job, self.loop = job, loop
        self.future: asyncio.Future[T] = loop.create_future()

    def tell(self, value: Any, error: Exception | None) -> None:
        """Set the result; must be called in the future's own loop."""
        if self.future.cancelled():
            return
        if error is None:
            self.future.set_result(value)
        else:
            self.future.set_exception(error)


def _deliver(batch: Sequence[_Pending[Any]], results: Sequence[Result]) -> None:
    """Deliver the value or error of each job, waking each event loop once."""
    by_loop: dict[asyncio.AbstractEventLoop, list[tuple[_Pending[Any], Result]]] = {}
    for pending, result in zip(batch, results, strict=True):
        by_loop.setdefault(pending.loop, []).append((pending, result))

    def tell(deliveries: Sequence[tuple[_Pending[Any], Result]]) -> None:
        for pending, result in deliveries:
            pending.tell(*result)

    for loop, deliveries in by_loop.items():
        with suppress(RuntimeError):  # the loop is closed, so nothing waits for the result
            loop.call_soon_threadsafe(tell, deliveries)


class Database:
    """A database whose jobs run in order in one thread."""

    def __init__(
        self,
        address: str,
        schema: Sequence[str] = SCHEMA,
        read_only: bool = False,
        shared: bool = False,
    ) -> None:
        self.engine, self.read_only = engine_for(address, read_only, shared), read_only
        self._schema = tuple(schema)
        self._queue: queue.SimpleQueue[_Pending[Any] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def open(self) -> None:
        """Connect and create missing tables; does nothing if already open."""
        if self._thread is not None:
            return
        self.engine.connect()
        _, error = self._commit([] if self.read_only else [self._make])
        if error is not None:
            self.engine.close()
            raise BadInput(f"The database cannot be prepared: {error}.")
        self._thread = threading.Thread(target=self._work, name="database", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Finish queued jobs and disconnect."""
        if self._thread is not None:
            self._queue.put(None)
            self._thread.join()
            self.engine.close()
            self._thread = None

    async def run(
        self, job: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Return the result of a job once it is on disk.

        The job is called with a transaction and the given arguments. It may run again after a
        rollback, so it must have no effects other than reading and writing rows.

        Raises:
            StorageFull, StorageBusy, StorageLost, DuplicateRow: The job could not be committed.
        """
        work: Job[T] = job if not args and not kwargs else lambda tx: job(tx, *args, **kwargs)
        pending = _Pending(work, asyncio.get_running_loop())
        self._queue.put(pending)
        return await pending.future

    # --- in the thread --------------------------------------------------------------------------

    def _make(self, tx: Transaction) -> None:
        tx.execute("CREATE TABLE IF NOT EXISTS sally_schema (version INTEGER NOT NULL)")
        for statement in self._schema:
            tx.execute(statement)
        version_row = tx.first("SELECT version FROM sally_schema")
        if version_row is None:
            tx.execute("INSERT INTO sally_schema (version) VALUES (?)", VERSION)
        elif version_row[0] != VERSION:
            raise BadInput(
                f"The database has schema version {version_row[0]}, but this Sally needs "
                f"{VERSION}; "
                "finish its matches with the version of Sally that created it, or use another "
                "database"
            )

    def _work(self) -> None:
        while True:
            batch, last = self._next()
            if batch:
                self._fill(batch)
            if last:
                return

    def _next(self) -> tuple[list[_Pending[Any]], bool]:
        """Return all waiting jobs, and whether to close the database once they are done."""
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
        """Commit all jobs together; if that fails, commit each one separately."""
        outcomes, error = self._commit([pending.job for pending in batch])
        if error is None:
            _deliver(batch, [(outcome, None) for outcome in outcomes])
        elif isinstance(error, StorageBusy):  # separate commits would each wait as long
            _deliver(batch, [(None, error)] * len(batch))
        else:
            for pending in batch:
                outcomes, error = self._commit_one(pending.job)
                _deliver([pending], [(outcomes[0] if error is None else None, error)])

    def _commit_one(self, job: Job[Any]) -> tuple[list[Any], Exception | None]:
        outcomes, error = self._commit([job])
        for _ in range(TRIES - 1):
            if not isinstance(error, StorageLost):
                break
            with suppress(BadInput):
                self.engine.connect()
            outcomes, error = self._commit([job])
        return outcomes, error

    def _commit(self, jobs: Sequence[Job[Any]]) -> tuple[list[Any], Exception | None]:
        engine = self.engine
        try:
            if (only := one_statement(jobs)) is not None:
                engine.execute_one(*only)
                return [None] * len(jobs), None
            with engine.transaction() as tx:
                outcomes = [job(tx) for job in jobs]
        except Exception as error:
            with suppress(Exception):  # the first error is reported
                engine.rollback()
            return [], engine.read(error)
        return outcomes, None


def engine_for(address: str, read_only: bool = False, shared: bool = False) -> Sqlite | Postgres:
    """Return the database engine for an address: a file, or `postgresql://...`."""
    if address.startswith(("postgresql://", "postgres://")):
        return Postgres(address, read_only, shared)
    scheme, separator, _ = address.partition("://")
    if separator:
        raise BadInput(
            f"The database must be a file or postgresql://user@host/name, not {scheme}://..."
        )
    return Sqlite(Path(address), read_only, shared)
