"""Two hundred episodes at once through Inspect, against a bare loop of its `generate`.

A server of fixed latency in a process of its own answers both. The bare loop shows Inspect the
same pages in the same order, one sample an episode, and does nothing else: no game, no reading,
no record. Beside the time stands the processor time of a call, which other work on the machine
changes less: ours less bare is what Sally adds to it. That difference is small beside what either
varies by, so our part is measured by itself, too: a clock of this thread's processor time runs
whenever our code does, and stands still while Inspect's `generate` is at work. Also printed: the
time over the critical path (an episode's calls, one after another), and the most memory that this
process held.

    python benchmarks/inspect_loop.py --many 20000     memory over very many short episodes
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from multiprocessing import Process, Queue, set_start_method
from pathlib import Path
from statistics import median
from types import coroutine
from typing import Any, NamedTuple

from inspect_ai import Task
from inspect_ai import eval as inspect_eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessage, GenerateConfig
from inspect_ai.model import Model as Provider
from inspect_ai.scorer import Scorer, Target, mean, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver

from sally import store
from sally.adapters.inspect import run, scorers, tasks
from sally.adapters.inspect.model import chat
from sally.adapters.inspect.reach import provider_of
from sally.adapters.inspect.run import play_orders
from sally.core.prompt.model import Message, Settings
from sally.core.registry import registry
from sally.core.registry.study import Cell, Study, instance, player_spec
from sally.models.stub import Scripted
from sally.runner.budget import Meter
from sally.runner.config import Config, Limits, ModelEntry, use_config
from sally.runner.local import manifest, orders, play
from sally.runner.models import with_model

MODEL = "openai-api/bench/fixed"
SAID = "Option: J"
ANSWER = json.dumps(
    {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": "fixed",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": SAID},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 300, "completion_tokens": 4, "total_tokens": 304},
    }
).encode()


# --- a server of fixed latency ------------------------------------------------------------------


def serve(latency: float, ports: Queue[int]) -> None:
    """Answer every call after the same time, until the process is ended."""
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(ANSWER)}"
    response = f"{head}\r\n\r\n".encode() + ANSWER

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while request := await reader.readuntil(b"\r\n\r\n"):
                headers = (line.partition(b":") for line in request.lower().split(b"\r\n"))
                length = next(int(value) for name, _, value in headers if name == b"content-length")
                await reader.readexactly(length)
                await asyncio.sleep(latency)
                writer.write(response)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def main() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=1000)
        ports.put(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(main())


@contextmanager
def serving(latency: float) -> Iterator[str]:
    """The address of the server."""
    ports: Queue[int] = Queue()
    process = Process(target=serve, args=(latency, ports), daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{ports.get(timeout=60)}/v1"
    finally:
        process.terminate()


# --- the two loops ------------------------------------------------------------------------------


def study(episodes: int, rounds: int) -> Study:
    lineup = {"agent": player_spec("language"), "partner": player_spec("tit_for_tat")}
    cell = Cell("ipd", (instance("ipd", rounds=rounds),), (lineup,), repeats=episodes)
    return Study("bench", "", (cell,))


def ours(planned: Study, config: Config) -> None:
    """The study as `sally run` plays it."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        store.claim(out, manifest(planned))
        play_orders("bench", orders(planned), out, Meter(config=config), display="none")
        stored = store.load(out)
        assert len(stored.finished_ids) == len(orders(planned)), "an episode is missing"


def pages(planned: Study) -> list[list[Sequence[Message]]]:
    """What each episode shows its model."""
    prompts: list[Sequence[Message]] = []

    def script(messages: Sequence[Message], settings: Settings) -> str:
        prompts.append(messages)
        return SAID

    registry.add("models", "seen", lambda name: Scripted(script))
    episodes = []
    for _, _, setup in orders(with_model(study_of(planned), "seen")):
        prompts.clear()
        play(setup)
        episodes.append(list(prompts))
    return episodes


def study_of(planned: Study) -> Study:
    """The same study with its seat open again."""
    cell = planned.cells[0]
    return study(cell.repeats, cell.instances[0].params["rounds"])


def bare(episode_pages: list[list[list[ChatMessage]]], config: Config) -> None:
    """Inspect alone, with the same calls."""

    @solver
    def loop() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            provider = provider_of(MODEL, config)
            for n, messages in enumerate(episode_pages[int(state.sample_id)]):
                await provider.generate(messages, config=GenerateConfig(max_retries=0, seed=n))
            return state

        return solve

    with tempfile.TemporaryDirectory() as folder:
        (log,) = inspect_eval(
            Task(
                dataset=[Sample(id=i, input="ipd") for i in range(len(episode_pages))],
                solver=loop(),
            ),
            model=None,
            log_dir=folder,
            log_realtime=False,
            display="none",
            max_samples=config.limits.episodes_at_once,
        )
        assert log.status == "success"


class Took(NamedTuple):
    """Seconds by the clock, and of this process's processor."""

    clock: float
    work: float


def time_job(job: Any, *arguments: Any) -> Took:
    clock, work = time.perf_counter(), time.process_time()
    job(*arguments)
    return Took(time.perf_counter() - clock, time.process_time() - work)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5, help="calls an episode there")
    parser.add_argument("--latency", type=float, default=0.3, help="seconds a call, there")
    parser.add_argument("--turns", type=int, default=3, help="how often each loop runs, there")
    parser.add_argument("--slow-rounds", type=int, default=40, help="calls an episode at 3 s each")
    parser.add_argument("--many", type=int, help="only memory, over so many episodes of 2 calls")
    parser.add_argument("--ours", action="store_true", help="only our part of a call, by itself")
    options = parser.parse_args()
    os.environ["BENCH_API_KEY"] = "no secret"
    if options.many:
        in_constant_memory(options.many)
        return
    print(f"{options.episodes} episodes at once")
    our_part(options.episodes, options.rounds, options.latency)
    if options.ours:
        return
    beside_bare(options.episodes, options.rounds, options.latency, options.turns)
    against_the_path(options.episodes, options.slow_rounds, 3.0)
    scale = 1 if sys.platform == "darwin" else 1024
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale / 2**20
    print(f"memory                   {memory:6.0f} MB  (under 1000)")


def beside_bare(episodes: int, rounds: int, latency: float, turns: int) -> None:
    """The same calls by us and by Inspect alone, in turns."""
    with serving(latency) as address:
        config = reach(address, episodes)
        planned = with_model(study(episodes, rounds), MODEL)
        episode_pages = [
            [[chat(m) for m in page] for page in episode] for episode in pages(planned)
        ]
        ours(with_model(study(2, 1), MODEL), config)  # imports and first connections
        bare([episode[:1] for episode in episode_pages[:2]], config)
        seconds: dict[str, list[Took]] = {"ours": [], "bare": []}
        for _ in range(turns):
            seconds["bare"].append(time_job(bare, episode_pages, config))
            seconds["ours"].append(time_job(ours, planned, config))
    own_seconds, bare_seconds = (
        median(t.clock for t in seconds[name]) for name in ("ours", "bare")
    )
    work = {name: median(t.work for t in took) for name, took in seconds.items()}
    calls = episodes * rounds
    print(
        f"{rounds} calls of {latency} s: ours {own_seconds:.2f} s, bare Inspect "
        f"{bare_seconds:.2f} s"
    )
    print(f"ours / bare Inspect      {own_seconds / bare_seconds:6.2f}  (at most 1.15)")
    milliseconds = {name: 1e3 * took / calls for name, took in work.items()}
    print(
        f"processor of a call      {milliseconds['ours']:6.2f} ms, bare Inspect "
        f"{milliseconds['bare']:.2f} ms"
    )
    print(
        f"of that, ours            {milliseconds['ours'] - milliseconds['bare']:6.2f} ms  (at "
        "most 1)"
    )


# --- our part by itself -------------------------------------------------------------------------


class Clock:
    """The processor time of this thread in steps of coroutines, by whose they are."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self.calls = 0

    def now(self, name: str, job: Callable[[], Any]) -> Any:
        """What a plain function gives, with its time counted."""
        begin = time.thread_time()
        try:
            return job()
        finally:
            self.seconds[name] += time.thread_time() - begin

    @coroutine
    def later(self, name: str, waits: Any) -> Generator[Any, Any, Any]:
        """What a coroutine gives; each of its steps is counted, and no time between them."""
        steps = waits.__await__()
        step = partial(next, steps)
        while True:
            try:
                out = self.now(name, step)
            except StopIteration as done:
                return done.value
            try:
                sent = yield out
                step = partial(steps.send, sent)
            except BaseException as why:
                step = partial(steps.throw, why)


def our_part(episodes: int, rounds: int, latency: float) -> None:
    """What our own code takes of a call, with so many episodes at once."""
    clock, generate = Clock(), Provider.generate
    play, score, build = tasks.play_episode, scorers.all_metrics, tasks.task_of

    def timed_generate(self: Any, *args: Any, **kwargs: Any) -> Any:
        clock.calls += 1
        return clock.later("Inspect's generate", generate(self, *args, **kwargs))

    @solver
    def timed_play(out: str) -> Solver:
        inner = play(out)

        async def solve(state: TaskState, generate: Generate) -> TaskState:
            return await clock.later("episodes with their calls", inner(state, generate))

        return solve

    @scorer(metrics={"*": [mean()]})
    def timed_score(keys: Sequence[str]) -> Scorer:
        inner = score(keys)

        async def measure(state: TaskState, target: Target) -> Any:
            return await clock.later("scores", inner(state, target))

        return measure

    with serving(latency) as address, ExitStack() as back:
        config = reach(address, episodes)
        ours(with_model(study(2, 1), MODEL), config)  # imports and first connections
        for owner, name, new in (
            (Provider, "generate", timed_generate),
            (tasks, "play_episode", timed_play),
            (tasks, "all_metrics", timed_score),
            (run, "task_of", lambda *of: clock.now("samples", lambda: build(*of))),
        ):
            back.callback(setattr, owner, name, getattr(owner, name))
            setattr(owner, name, new)
        ours(with_model(study(episodes, rounds), MODEL), config)
    took = {name: 1e3 * seconds / clock.calls for name, seconds in clock.seconds.items()}
    took["episodes with their calls"] -= took.pop("Inspect's generate")
    assert clock.calls == episodes * rounds, "a call was not counted"
    parts = ", ".join(f"{name} {milliseconds:.2f}" for name, milliseconds in took.items())
    print(f"our own code, a call     {sum(took.values()):6.2f} ms  (at most 1; {parts})")


def against_the_path(episodes: int, rounds: int, latency: float) -> None:
    """Our time over that of one episode's calls, one after another."""
    with serving(latency) as address:
        config = reach(address, episodes)
        own_seconds, work = time_job(ours, with_model(study(episodes, rounds), MODEL), config)
    path = rounds * latency
    print(f"{rounds} calls of {latency} s: ours {own_seconds:.2f} s, critical path {path:.2f} s")
    print(f"ours / critical path     {own_seconds / path:6.2f}  (at most 1.15)")
    print(
        f"beyond the path          {own_seconds - path:6.1f} s, most of it the beginning and "
        "the end"
    )
    print(f"processor                {work:6.1f} s: more than the path, and the processor is what")
    print("                         the run waits for, not its calls")


def in_constant_memory(episodes: int) -> None:
    """What this process holds while it plays very many short episodes, 200 at once."""
    finished = threading.Event()

    def look(out: Path) -> None:
        while not finished.wait(20.0):
            status = Path("/proc/self/status").read_text().splitlines()
            kilobytes = next(int(s.split()[1]) for s in status if s.startswith("VmRSS"))
            files = [*out.glob("*.open"), *out.glob("*.jsonl")]
            stored = sum(path.read_bytes().count(b"\n") for path in files)
            print(f"  {stored:6d} episodes stored, {kilobytes / 1e3:5.0f} MB", flush=True)

    with serving(0.01) as address, tempfile.TemporaryDirectory() as folder:
        config, out = reach(address, 200), Path(folder) / "out"
        planned = with_model(study(episodes, 2), MODEL)
        store.claim(out, manifest(planned))
        threading.Thread(target=look, args=(out,), daemon=True).start()
        took = time_job(play_orders, "bench", orders(planned), out, Meter(config=config))
        finished.set()
        assert store.survey(out).episodes == episodes, "an episode is missing"
    print(
        f"{episodes} episodes of 2 calls, 200 at once: {took.clock:.0f} s, {took.work:.0f} of work"
    )


def reach(address: str, at_once: int) -> Config:
    """The config that reaches a server, in use from now on."""
    entry = ModelEntry(MODEL, address, "BENCH_API_KEY", at_once=at_once)
    config = Config({"fixed": entry}, limits=Limits(episodes_at_once=at_once))
    use_config(config)
    return config


if __name__ == "__main__":
    set_start_method("spawn")
    main()
