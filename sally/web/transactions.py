"""What a job of the database works with: rows in, rows out, within its transaction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Row = tuple[Any, ...]


def _marked(sql: str) -> str:
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
        super().__init__(connection.cursor(), _marked)
        self._connection, self._pipeline = connection, pipeline

    def add(self, sql: str, *given: Any) -> None:
        """Send rows, and go on without waiting."""
        self._connection.execute(_marked(sql), given)

    def put(self, sql: str, *given: Any) -> int:
        """Change rows; says how many, once all that was sent before is done as well."""
        self._cursor.execute(_marked(sql), given)
        self._pipeline.sync()
        return int(self._cursor.rowcount)
