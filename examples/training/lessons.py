"""Episodes to learn from without asking the model: half of the moves best, half random.

Whatever the moves, the exact worth of every option and the other's next move are known, so a policy
can be taught by the log-odds of the right answers. Episodes are played and tokenised by worker
processes, which leaves the accelerator to learning.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from scoring import Page, Tokens
from transformers import AutoTokenizer

from sally.adapters.trainers.text import TextEnv
from sally.core.rules.chance import Stream
from sally.parts.training import Task

PROBE = "their_move"
CERTAIN = -50.0  # log-odds of the options that are not taken


class LessonRequest(NamedTuple):
    """An episode to be played: a task, its wording and its seed; probed or not."""

    game: str
    task: Task
    wording: str
    seed: int
    probed: bool


class Lesson(NamedTuple):
    """The decisions of an episode: each page, its right answers and, of moves, the worths."""

    pages: list[Page]
    right: list[list[int]]
    worths: list[list[float]]


class Teacher:
    """Worker processes that play episodes one step ahead of the learner."""

    def __init__(self, folder: Path, workers: int) -> None:
        spawn = get_context("spawn")  # a fork cannot use an accelerator that its parent uses
        self._pool = ProcessPoolExecutor(workers, spawn, initializer=_start, initargs=(folder,))
        self._ahead: list[Future[Lesson]] = []

    def lessons(
        self, current: Sequence[LessonRequest], upcoming: Sequence[LessonRequest]
    ) -> list[Lesson]:
        """Return the lessons of a step, and begin those of the next."""
        playing = self._ahead or [self._pool.submit(lesson, request) for request in current]
        self._ahead = [self._pool.submit(lesson, request) for request in upcoming]
        return [future.result() for future in playing]

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)


_tokens: Tokens | None = None  # of a worker process


def _start(folder: Path) -> None:
    global _tokens
    _tokens = Tokens(AutoTokenizer.from_pretrained(folder, local_files_only=True))


def lesson(request: LessonRequest, tokens: Tokens | None = None) -> Lesson:
    """Play an episode, and return its decisions with their right answers."""
    page_tokens = tokens or _tokens
    assert page_tokens is not None
    probes = [PROBE] if request.probed else []
    env = TextEnv(request.game, strategy="lm", probes=probes, pack=request.wording, sample=True)
    env.begin(request.task, request.seed)
    draws, asks = Stream("lesson", request.seed), list[tuple[str, Sequence[str]]]()
    while (ask := env.asked) is not None:
        asks.append((str(ask.messages), ask.candidates))
        best = list(_best(env.worths[:-1])) if env.worths else []
        places = best if best and draws.below(2) else range(len(ask.candidates))
        choice = draws.pick(list(places))
        env.step([0.0 if n == choice else CERTAIN for n in range(len(ask.candidates))])
    rows = env.rows(("move", PROBE))
    moves = [[] if row.worths is None else row.worths[:-1] for row in rows]
    right = [
        list(_best(worths)) if row.kind == "move" else [int(row.truth)]
        for row, worths in zip(rows, moves, strict=True)
    ]
    return Lesson(page_tokens.pages(asks), right, moves)


def _best(worths: Sequence[float]) -> Iterator[int]:
    """Yield the places of the best options."""
    return (n for n, worth in enumerate(worths) if worth > max(worths) - 1e-9)
