"""Cache rows: the tokens in each row, and the row that a prompt should use."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Final, NamedTuple

import numpy as np

from sally.models.in_process import Tokens, shared_length

BLOCK: Final = 32  # tokens; prefixes are looked up in steps of this length
TAIL: Final = 128  # tokens at the end of a page that change each time and may be evicted


@dataclass
class Row:
    """One row of the cache: its evaluated tokens, and the number of prompt tokens among them."""

    tokens: Tokens = field(default_factory=lambda: np.empty(0, np.int64))
    page: int = 0
    used: int = 0
    busy: bool = False


class PromptRow(NamedTuple):
    """The place of a prompt: its row, the tokens already in that row, and the row to copy from."""

    row: int
    reuse: int
    copy_from: int | None


class Rows:
    """The rows of a cache, found by the prefixes they hold."""

    def __init__(self, count: int) -> None:
        self.rows = [Row() for _ in range(count)]
        self._index: dict[bytes, int] = {}
        self._calls = 0

    def take(self, tokens: Tokens) -> PromptRow | None:
        """Return a row for the prompt and mark it as busy; None if all rows are busy."""
        idle = [i for i, row in enumerate(self.rows) if not row.busy]
        if not idle:
            return None
        self._calls += 1
        closest_row, shared = self._longest(tokens)
        shared = min(shared, len(tokens) - 1)  # the last token is evaluated, for its logits
        if shared <= 0:
            place = PromptRow(self._oldest(idle), 0, None)
        elif not self.rows[closest_row].busy and self.rows[closest_row].page - shared <= TAIL:
            place = PromptRow(closest_row, shared, None)
        else:
            candidates = [i for i in idle if i != closest_row] or idle
            place = PromptRow(self._oldest(candidates), shared, closest_row)
        if place.row == place.copy_from:
            place = PromptRow(place.row, shared, None)
        self.rows[place.row] = Row(tokens[: place.reuse], place.reuse, self._calls, True)
        return place

    def hold(self, row: int, tokens: Tokens, page: int) -> None:
        """Record that a cache row holds these evaluated tokens; the first `page` tokens are the
        prompt."""
        cache_row = self.rows[row]
        cache_row.tokens, cache_row.page = tokens, page
        for key in _beginnings(tokens[:page]):
            self._index[key] = row
        if len(self._index) > 256 * len(self.rows) + 65536:
            self._reindex()

    def free(self, row: int, forget: bool = False) -> None:
        """Release the cache row; `forget` discards its content, for use if the content is
        unknown."""
        used = self.rows[row].used
        self.rows[row] = Row(used=used) if forget else self.rows[row]
        self.rows[row].busy = False

    def _oldest(self, among: list[int]) -> int:
        return min(among, key=lambda i: self.rows[i].used)

    def _longest(self, tokens: Tokens) -> tuple[int, int]:
        """Return the row that shares the longest prefix, and the length of that prefix."""
        best = (0, 0)
        keys = list(_beginnings(tokens))
        for blocks in range(len(keys), 0, -1):
            if best[1] >= blocks * BLOCK:
                break
            if (row := self._index.get(keys[blocks - 1])) is not None:
                # The row may have been reused; its present content decides.
                best = max(
                    best, (row, shared_length(self.rows[row].tokens, tokens)), key=lambda b: b[1]
                )
        return best

    def _reindex(self) -> None:
        self._index = {
            key: i for i, row in enumerate(self.rows) for key in _beginnings(row.tokens[: row.page])
        }


def _beginnings(tokens: Tokens) -> Iterator[bytes]:
    """Yield a key for each prefix that consists of whole blocks, shortest first."""
    digest = blake2b(digest_size=12)
    for end in range(BLOCK, len(tokens) + 1, BLOCK):
        digest.update(tokens[end - BLOCK : end].tobytes())
        yield digest.digest()
