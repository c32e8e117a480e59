"""Continuous batching: calls of many episodes share forward passes and join or leave one by one."""

from __future__ import annotations

import atexit
import threading
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Any, Final

import numpy as np

from sally.core.prompt.model import ModelFailure, Settings
from sally.models.hf.guide import Allowed
from sally.models.hf.jobs import Job, Tree
from sally.models.hf.net import Net, PassTokens, too_long
from sally.models.hf.rows import Rows
from sally.models.in_process import Tokens

# Defaults for unset settings: plain sampling.
TEMPERATURE: Final = 1.0
# Decoding steps between two batches of prompts: a batch costs about as much for one prompt as for
# many, so a few are collected.
STEPS: Final = 8
# Maximum number of positions of a batch at which logits are read; each holds the whole vocabulary.
READ: Final = 2048
# Vocabularies sorted at once, for jobs that draw from the likeliest tokens only.
SORTED: Final = 64


class Engine:
    """A thread that evaluates calls, as many concurrently as the cache has rows."""

    def __init__(self, net: Net, ends: Collection[int], budget: int) -> None:
        self._net, self._ends, self._budget = net, frozenset(ends), budget
        self._rows = Rows(net.rows)
        self._room = net.length - 1
        self._waiting: deque[Job] = deque()
        self._filling: list[Job] = []
        self._saying: list[Job] = []
        self._steps = STEPS
        self._wake, self._open = threading.Condition(), True
        self.passes = 0  # forward passes so far
        self._thread = threading.Thread(target=self._run, name="hf", daemon=True)
        self._thread.start()
        atexit.register(self.close)  # a pass that is running when Python ends aborts the process

    # ------------------------------------------------------------ asking

    def say(
        self,
        tokens: Tokens,
        settings: Settings,
        limit: int,
        stopped: Callable[[Sequence[int]], bool],
        allowed: Allowed | None = None,
    ) -> Future[Any]:
        """Continue a prompt.

        The future holds the generated tokens, whether the model itself ended the reply, and the
        numbers of cached and evaluated tokens.
        """
        job = Job(tokens, Future(), settings, limit, stopped=stopped, allowed=allowed)
        return self._ask(job)

    def score(self, stem: Tokens, tree: Tree) -> Future[Any]:
        """Score a tree of candidates that continue one stem.

        The future holds the log-probability of each candidate, and the numbers of cached and
        evaluated tokens.
        """
        return self._ask(Job(stem, Future(), tree=tree))

    def _ask(self, job: Job) -> Future[Any]:
        if job.tree is None:
            job.limit = min(job.limit, self._room - len(job.tokens))
        if (job.limit < 1 and job.tree is None) or job.longest > self._room:
            raise too_long(max(job.longest, len(job.tokens) + 1), self._room)
        with self._wake:
            if not self._open:
                raise ModelFailure("server", "The model was closed.")
            self._waiting.append(job)
            self._wake.notify()
        return job.future

    def close(self) -> None:
        """Stop the engine; calls in progress fail."""
        atexit.unregister(self.close)
        with self._wake:
            self._open = False
            self._wake.notify()
        self._thread.join()

    # ------------------------------------------------------------ the loop

    def _run(self) -> None:
        while self._admit_jobs():
            jobs = self._filling + self._saying
            try:
                if self._filling and (not self._saying or self._due()):
                    self._steps = 0
                    self._fill()
                elif self._saying:
                    self._steps += 1
                    self._step()
            except Exception as error:  # callers must get the exception while other jobs continue
                for job in jobs:
                    self._drop(job)
                    job.fail(_failure(error))
        for job in (*self._waiting, *self._filling, *self._saying):
            job.fail(ModelFailure("server", "The model was closed."))

    def _due(self) -> bool:
        waiting = sum(job.tokens_left for job in self._filling)
        return self._steps >= STEPS or waiting >= self._budget

    def _admit_jobs(self) -> bool:
        """Assign cache rows to waiting jobs, or sleep until a job arrives; return False once the
        engine is closed."""
        with self._wake:
            while self._open and not (self._waiting or self._filling or self._saying):
                self._wake.wait()
            while self._waiting:
                job = self._waiting[0]
                if not job.future.cancelled():
                    place = self._rows.take(job.tokens)
                    if place is None:
                        break
                    job.row, job.prompt_position, job.cached = place.row, place.reuse, place.reuse
                    if place.copy_from is not None:
                        self._net.cache.copy(place.copy_from, place.row, place.reuse)
                    self._filling.append(job)
                self._waiting.popleft()
            return self._open

    # ------------------------------------------------------------ prompts

    def _fill(self) -> None:
        parts = self._batch()
        logits = self._net.fill(parts)
        self.passes += 1
        for part in parts:
            job = part.job
            job.prompt_position = min(job.prompt_position + part.count, len(job.tokens))
            self._rows.hold(job.row, job.tokens[: job.prompt_position], job.prompt_position)
        complete_jobs = [(i, part.job) for i, part in enumerate(parts) if part.is_whole]
        gone = {id(job) for _, job in complete_jobs}
        self._filling = [job for job in self._filling if id(job) not in gone]
        self._saying += [job for _, job in complete_jobs if job.tree is None]
        if scored := [(i, job) for i, job in complete_jobs if job.tree is not None]:
            self._score_trees(logits, scored)
        if speakers := [(i, job) for i, job in complete_jobs if job.tree is None]:
            picked = self._net.torch.tensor([i for i, _ in speakers], device=self._net.device)
            self._draw_tokens([job for _, job in speakers], logits[picked, -1])

    def _batch(self) -> list[PassTokens]:
        """Return the next tokens of the oldest job and of others of similar length, within the
        budget.

        Long prompts are split. Rows of one pass are padded to the longest, so very different
        lengths are not combined.
        """
        first = self._filling[0]
        similar_jobs = sorted(
            self._filling[1:], key=lambda job: abs(job.tokens_left - first.tokens_left)
        )
        parts = [self._part(first)]
        widest, keeps = parts[0].count, 1 + parts[0].nodes
        for job in similar_jobs:
            part = self._part(job)
            wide, keep = max(widest, part.count), max(keeps, 1 + part.nodes)
            if wide > 64 and wide > 4 * min(widest, part.count):
                continue
            n_parts = len(parts) + 1
            if n_parts * wide > self._budget or n_parts * keep > READ:
                break
            parts.append(part)
            widest, keeps = wide, keep
        return parts

    def _part(self, job: Job) -> PassTokens:
        tokens_left = len(job.tokens) - job.prompt_position
        if job.tokens_left <= self._budget or tokens_left <= 1:
            return PassTokens(job, job.tokens_left, True)
        return PassTokens(job, min(self._budget, tokens_left - 1), False)

    def _score_trees(self, logits: Any, jobs: Sequence[tuple[int, Job]]) -> None:
        """Read the log-probabilities that each tree needs, all in one operation."""
        torch, device = self._net.torch, self._net.device
        rows, columns, wanted_tokens = list[int](), list[int](), list[tuple[int, int]]()
        starts: dict[int, int] = {}
        for i, job in jobs:
            assert job.tree is not None
            starts[i] = len(rows)
            nodes = len(job.tree.tokens)
            for place, tokens in enumerate(job.tree.asked):
                wanted_tokens += [(len(rows), token) for token in tokens]
                rows.append(i)
                columns.append(place - nodes - 1)
        with torch.inference_mode():
            read = logits[torch.tensor(rows, device=device), torch.tensor(columns, device=device)]
            normal = torch.log_softmax(read.float(), -1)
            token_index = torch.tensor(wanted_tokens, device=device)
            values = normal[token_index[:, 0], token_index[:, 1]].tolist()
        log_odds = dict(zip(wanted_tokens, values, strict=True))
        for i, job in jobs:
            assert job.tree is not None
            sums = job.tree.sums(partial(_read, log_odds, starts[i]))
            evaluated = len(job.tokens) - job.cached + len(job.tree.tokens)
            self._rows.free(job.row)
            job.done((sums, job.cached, evaluated))

    # ------------------------------------------------------------ speech

    def _step(self) -> None:
        for job in [job for job in self._saying if job.future.cancelled()]:
            self._drop(job)
        if self._saying:
            jobs = list(self._saying)
            logits = self._net.step(jobs)
            self.passes += 1
            self._draw_tokens(jobs, logits)

    def _draw_tokens(self, jobs: Sequence[Job], logits: Any) -> None:
        """Draw each job's next token and remove the jobs that are finished."""
        picked = draw_tokens(self._net.torch, logits, jobs)
        for i, (job, token) in enumerate(zip(jobs, picked, strict=True)):
            if job.allowed is not None:
                instead = job.allowed([*job.reply_tokens, token])
                if instead == ():
                    self._drop(job)
                    job.fail(ModelFailure("unsupported", "No token continues the schema."))
                    continue
                if instead is not None:
                    token = among(self._net.torch, logits[i : i + 1], job, instead)
            job.reply_tokens.append(token)
            ended = token in self._ends
            if ended or job.stopped(job.reply_tokens) or len(job.reply_tokens) >= job.limit:
                self._saying.remove(job)
                # The last token was generated but not evaluated.
                row_tokens = np.concatenate([job.tokens, np.array(job.reply_tokens[:-1], np.int64)])
                self._rows.hold(job.row, row_tokens, len(job.tokens))
                self._rows.free(job.row)
                reply_tokens = job.reply_tokens[:-1] if ended else job.reply_tokens
                job.done((reply_tokens, ended, job.cached, len(job.tokens) - job.cached))

    def _drop(self, job: Job) -> None:
        """Remove a job early; the content of its row is then unknown."""
        self._rows.free(job.row, forget=True)
        for among in (self._filling, self._saying):
            if job in among:
                among.remove(job)


def draw_tokens(torch: Any, logits: Any, jobs: Sequence[Job]) -> list[int]:
    """Return the next token of each job: the likeliest at temperature 0, else one drawn at random.

    Each job has its own random stream, and one number from it selects the token by its place in
    the cumulative probabilities, so the draw does not depend on which other calls share the pass.
    """
    with torch.inference_mode():
        picked: list[int] = logits.argmax(-1).tolist()
        warm = [i for i, job in enumerate(jobs) if _heat(job) > 0]
        plain = [i for i in warm if jobs[i].settings.top_k is None and _top(jobs[i]) >= 1]
        for i, token in zip(plain, _inverse(torch, logits, jobs, plain), strict=True):
            picked[i] = token
        cut = [i for i in warm if jobs[i].settings.top_k is not None or _top(jobs[i]) < 1]
        for i, token in zip(cut, _cut(torch, logits, jobs, cut), strict=True):
            picked[i] = token
    return picked


def among(torch: Any, logits: Any, job: Job, tokens: Sequence[int]) -> int:
    """Return the next token of a job, drawn from the given tokens only."""
    with torch.inference_mode():
        allowed = torch.tensor(list(tokens), device=logits.device)
        masked = torch.full_like(logits, -torch.inf)
        masked[:, allowed] = logits[:, allowed]
    return draw_tokens(torch, masked, [job])[0]


def _heat(job: Job) -> float:
    return TEMPERATURE if job.settings.temperature is None else job.settings.temperature


def _top(job: Job) -> float:
    return 1.0 if job.settings.top_p is None else job.settings.top_p


def _inverse(torch: Any, logits: Any, jobs: Sequence[Job], job_indices: Sequence[int]) -> list[int]:
    if not job_indices:
        return []
    device = logits.device
    heat = torch.tensor([_heat(jobs[i]) for i in job_indices], device=device)
    draws = torch.tensor([jobs[i].draw() for i in job_indices], dtype=torch.float64, device=device)
    scaled_logits = logits[torch.tensor(list(job_indices), device=device)].float() / heat[:, None]
    cumulated = torch.softmax(scaled_logits, -1).double().cumsum(-1)
    drawn_tokens = torch.searchsorted(cumulated, draws[:, None] * cumulated[:, -1:], right=True)
    return [int(token) for token in drawn_tokens[:, 0].clamp(max=logits.shape[-1] - 1).tolist()]


def _cut(torch: Any, logits: Any, jobs: Sequence[Job], job_indices: Sequence[int]) -> list[int]:
    """Return the next token of some jobs, drawn from the likeliest: top_k, then enough for top_p.

    Jobs are processed a few at a time, so that sorting whole vocabularies takes little memory.
    """
    drawn_tokens: list[int] = []
    for start in range(0, len(job_indices), SORTED):
        part_jobs = [jobs[i] for i in job_indices[start : start + SORTED]]
        new = partial(torch.tensor, dtype=torch.float64, device=logits.device)
        rows = torch.tensor(list(job_indices[start : start + SORTED]), device=logits.device)
        heat = torch.tensor([_heat(job) for job in part_jobs], device=logits.device)
        ordered, tokens = torch.sort(
            logits[rows].float() / heat[:, None], descending=True, stable=True
        )
        places = torch.arange(ordered.shape[1], device=logits.device)
        top_k_limits = [job.settings.top_k or ordered.shape[1] for job in part_jobs]
        beyond = places[None, :] >= new(top_k_limits)[:, None]
        share = torch.softmax(ordered.masked_fill(beyond, -torch.inf), -1).double()
        share_before = share.cumsum(-1) - share
        share = torch.where(
            share_before < new([_top(job) for job in part_jobs])[:, None], share, 0.0
        )
        cumulated = share.cumsum(-1)
        draws = new([job.draw() for job in part_jobs])[:, None] * cumulated[:, -1:]
        drawn_places = torch.searchsorted(cumulated, draws, right=True).clamp(
            max=ordered.shape[1] - 1
        )
        drawn_tokens += tokens.gather(1, drawn_places)[:, 0].tolist()
    return drawn_tokens


def _read(log_odds: Mapping[tuple[int, int], float], base: int, place: int, token: int) -> float:
    return log_odds[base + place, token]


def _failure(error: Exception) -> ModelFailure:
    name = type(error).__name__
    if name == "OutOfMemoryError":  # torch adds a paragraph of figures and advice
        return ModelFailure(
            "server", "The accelerator ran out of memory; run fewer calls concurrently."
        )
    first = (str(error).strip().splitlines() or ["no reason given"])[0].rstrip(".")
    return ModelFailure("server", f"The forward pass failed: {name}: {first}.")
