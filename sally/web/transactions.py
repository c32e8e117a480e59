"""What a job of the database works with: rows in, rows out, within its transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import chain
from typing import Any, TypeVar

Row = tuple[Any, ...]
MOST_ROWS = 100  # in one statement; SQLite takes so many values at most


@cache
def marked(sql: str) -> str:
    """A statement with psycopg's marks in the place of question marks."""
    return sql.replace("%", "%%").replace("?", "%s")


class Transaction:
    """What a job works with: rows in, rows out, within its transaction."""

    def __init__(self, cursor: Any, in_its_words: Callable[[str], str] = str) -> None:
        self._cursor, self._in_its_words = cursor, in_its_words

    def add(self, sql: str, *given: Any) -> None:
        """Add rows; what is wrong with them may be said as late as at the commit."""
        self.put(sql, *given)

    def put(self, sql: str, *given: Any) -> int:
        """Change rows; says how many."""
        self._cursor.execute(self._in_its_words(sql), given)
        return int(self._cursor.rowcount)

    def all(self, sql: str, *given: Any) -> list[Row]:
        """Every row that is found."""
        self._cursor.execute(self._in_its_words(sql), given)
        return [tuple(row) for row in self._cursor.fetchall()]

    def one(self, sql: str, *given: Any) -> Row | None:
        """The first row, if there is one."""
        return next(iter(self.all(sql, *given)), None)


class Pipelined(Transaction):
    """A transaction whose statements are sent together, since each answer takes a while to come."""

    def __init__(self, connection: Any, pipeline: Any) -> None:
        super().__init__(connection.cursor(), marked)
        self._connection, self._pipeline = connection, pipeline

    def add(self, sql: str, *given: Any) -> None:
        """Send rows, and go on without waiting."""
        self._connection.execute(marked(sql), given)

    def put(self, sql: str, *given: Any) -> int:
        """Change rows; says how many, once all that was sent before is done as well."""
        self._cursor.execute(marked(sql), given)
        self._pipeline.sync()
        return int(self._cursor.rowcount)


T = TypeVar("T")
Job = Callable[[Transaction], T]


class Rows:
    """A job that does nothing but add rows to a table; many of them are one statement."""

    def __init__(self, into: str, marks: str, rows: Sequence[Row]) -> None:
        self.into, self.marks, self.rows = into, marks, rows

    def __call__(self, tx: Transaction) -> None:
        """Add the rows within a transaction that does something else as well."""
        for sql, given in self.statements():
            tx.add(sql, *given)

    def statements(self) -> Iterator[tuple[str, list[Any]]]:
        """Each with as many rows as it may have."""
        for at in range(0, len(self.rows), MOST_ROWS):
            some = self.rows[at : at + MOST_ROWS]
            yield (
                f"INSERT INTO {self.into} VALUES " + ", ".join([self.marks] * len(some)),
                list(chain.from_iterable(some)),
            )


def one_statement(jobs: Sequence[Job[Any]]) -> tuple[str, list[Any]] | None:
    """The statement that does all of these jobs, if one does."""
    if not all(isinstance(job, Rows) for job in jobs):
        return None
    found = [job for job in jobs if isinstance(job, Rows)]
    if len({job.into for job in found}) != 1:
        return None
    rows = [row for job in found for row in job.rows]
    if not 0 < len(rows) <= MOST_ROWS:
        return None
    return next(Rows(found[0].into, found[0].marks, rows).statements())
