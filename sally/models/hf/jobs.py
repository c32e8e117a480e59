"""Jobs of the engine: continue a prompt, or score a tree of continuations."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sally.core.prompt.model import Settings
from sally.models.hf.guide import Allowed
from sally.models.in_process import Tokens


@dataclass(frozen=True)
class Tree:
    """Continuations of one stem; shared prefixes appear once.

    Only tokens with a successor are evaluated: `tokens`, parents before children; parent -1 is the
    stem. `asked` holds, for the stem and then for each token, the next tokens whose log-probability
    is read.
    """

    tokens: Tokens
    parents: tuple[int, ...]
    asked: tuple[tuple[int, ...], ...]
    paths: tuple[tuple[tuple[int, int], ...], ...]  # per candidate: (index in asked, token)

    @property
    def depths(self) -> Tokens:
        """The depth of each token in the tree; a token directly after the stem has depth 0."""
        depths: list[int] = []
        for parent in self.parents:
            depths.append(0 if parent < 0 else depths[parent] + 1)
        return np.array(depths, np.int64)

    @property
    def ancestors(self) -> NDArray[np.bool_]:
        """For each token, its ancestors in the tree, including itself."""
        ancestors = np.eye(len(self.parents), dtype=np.bool_)
        for i, parent in enumerate(self.parents):
            if parent >= 0:
                ancestors[i] |= ancestors[parent]
        return ancestors

    def sums(self, read: Callable[[int, int], float]) -> tuple[float, ...]:
        """Return each candidate's log-probability, summed over its tokens."""
        return tuple(sum(read(place, token) for place, token in path) for path in self.paths)


def tree_of(tails: Sequence[Sequence[int]]) -> Tree:
    """Return the tree of continuations, each a list of tokens."""
    places: dict[tuple[int, ...], int] = {(): -1}
    tokens, parents = list[int](), list[int]()
    wanted_tokens: list[dict[int, None]] = [{}]
    paths = list[tuple[tuple[int, int], ...]]()
    for tail in tails:
        path = list[tuple[int, int]]()
        for i, token in enumerate(tail):
            start = tuple(tail[:i])
            if start not in places:
                places[start] = len(tokens)
                parents.append(places[start[:-1]])
                tokens.append(start[-1])
                wanted_tokens.append({})
            wanted_tokens[places[start] + 1][token] = None
            path.append((places[start] + 1, token))
        paths.append(tuple(path))
    return Tree(
        np.array(tokens, np.int64), tuple(parents), tuple(map(tuple, wanted_tokens)), tuple(paths)
    )


@dataclass(eq=False)
class Job:
    """One call in the engine."""

    tokens: Tokens
    future: Future[Any]
    settings: Settings = field(default_factory=Settings)
    limit: int = 0  # maximum number of tokens to generate
    tree: Tree | None = None
    stopped: Callable[[Sequence[int]], bool] = lambda tokens: False
    allowed: Allowed | None = None  # what may follow in a reply that is held to a schema
    row: int = -1
    prompt_position: int = 0  # tokens of the prompt evaluated so far
    cached: int = 0
    reply_tokens: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._draws = random.Random(self.settings.seed)  # without a seed, from the system

    @property
    def tokens_left(self) -> int:
        """The number of tokens still to be evaluated before there is a result."""
        return len(self.tokens) - self.prompt_position + (len(self.tree.tokens) if self.tree else 0)

    @property
    def longest(self) -> int:
        """The largest number of positions in a cache row that the job may need."""
        return len(self.tokens) + (len(self.tree.tokens) if self.tree else self.limit)

    def draw(self) -> float:
        """Return the next number of this call's own random stream, which no other call uses."""
        return self._draws.random()

    def done(self, result: Any) -> None:
        """Set the result, unless the caller has cancelled."""
        with suppress(InvalidStateError):  # the caller has gone
            self.future.set_result(result)

    def fail(self, error: BaseException) -> None:
        """Set the exception, unless the caller has cancelled."""
        with suppress(InvalidStateError):  # the caller has gone
            self.future.set_exception(error)
