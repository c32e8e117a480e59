"""Processor time of a model call by client: bare aiohttp, bare httpx, openai, Inspect, Sally.

    python benchmarks/wire.py [CALLS]

A server in a process of its own answers at once. Every client makes the same calls with 20, 200
and 1,000 in flight; the rounds of the clients alternate, and the median of a client's rounds
counts. Times are processor time of the client's process. The last table compares pages of 10 and
of 100 rounds by the byte.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from math import isnan
from statistics import median as middle

from sally.core.prompt.model import Settings, User
from sally.runner.config import Config, ModelEntry
from sally.runner.servers import server_model

IN_FLIGHT = (20, 200, 1000)
ROUNDS = 3
LINE = "Round 17: you chose J and the other player chose F; you earned 0 and they earned 10.\n"
ANSWER = {
    "id": "x",
    "object": "chat.completion",
    "created": 1,
    "model": "local-7",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "Option: J"},
            "finish_reason": "stop",
        }
    ],
    "usage": {"prompt_tokens": 50, "completion_tokens": 5, "total_tokens": 55},
}
Call = Callable[[str], Awaitable[object]]


# --- the server ---------------------------------------------------------------------------------


class Instant(asyncio.Protocol):
    """Answers every request on a connection with the same reply."""

    def __init__(self) -> None:
        body = json.dumps(ANSWER).encode()
        head = ("HTTP/1.1 200 OK", "Content-Type: application/json", f"Content-Length: {len(body)}")
        self._reply = "\r\n".join([*head, "", ""]).encode() + body
        self._read = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._out = transport

    def data_received(self, data: bytes) -> None:
        self._read += data
        while (end := self._read.find(b"\r\n\r\n")) >= 0:
            head = bytes(self._read[:end]).lower()
            position = head.find(b"content-length:")
            length = int(head[position + 15 :].split(b"\r\n")[0]) if position >= 0 else 0
            if len(self._read) < end + 4 + length:
                return
            del self._read[: end + 4 + length]
            self._out.write(self._reply)  # type: ignore[attr-defined]


def serve(port: multiprocessing.Queue[int]) -> None:
    """Run the server until the process is stopped."""

    async def forever() -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(Instant, "127.0.0.1", 0, backlog=2048)
        port.put(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(forever())


# --- the clients --------------------------------------------------------------------------------


def body(page: str) -> dict[str, object]:
    return {
        "model": "local",
        "messages": [{"role": "user", "content": page}],
        "temperature": 0.7,
        "max_tokens": 24,
        "seed": 7,
    }


async def bare_aiohttp(stack: AsyncExitStack, address: str, at_once: int) -> Call:
    import aiohttp

    connector = aiohttp.TCPConnector(limit=at_once)
    session = await stack.enter_async_context(aiohttp.ClientSession(connector=connector))

    async def call(page: str) -> object:
        async with session.post(f"{address}/chat/completions", json=body(page)) as response:
            return await response.json()

    return call


async def bare_httpx(stack: AsyncExitStack, address: str, at_once: int) -> Call:
    import httpx

    limits = httpx.Limits(max_connections=at_once, max_keepalive_connections=at_once)
    client = await stack.enter_async_context(httpx.AsyncClient(limits=limits, timeout=600))

    async def call(page: str) -> object:
        return (await client.post(f"{address}/chat/completions", json=body(page))).json()

    return call


async def openai_client(stack: AsyncExitStack, address: str, at_once: int) -> Call:
    import openai

    client = await stack.enter_async_context(
        openai.AsyncOpenAI(base_url=address, api_key="none", max_retries=0, timeout=600)
    )

    async def call(page: str) -> object:
        return await client.chat.completions.create(**body(page))  # type: ignore[call-overload]

    return call


async def inspect_generate(stack: AsyncExitStack, address: str, at_once: int) -> Call:
    from inspect_ai.model import ChatMessageUser, GenerateConfig, get_model

    config = GenerateConfig(temperature=0.7, max_tokens=24, seed=7, max_connections=at_once)
    model = get_model(
        "openai-api/lab/local",
        base_url=address,
        api_key="none",
        config=config,
        memoize=False,
    )

    async def call(page: str) -> object:
        return await model.generate([ChatMessageUser(content=page)])

    return call


async def sally_server(stack: AsyncExitStack, address: str, at_once: int) -> Call:
    from sally.models.chat_server import close_connections

    stack.push_async_callback(close_connections)
    entry = ModelEntry("server/local", address, at_once=at_once)
    model = server_model("server/local", Config({"local": entry}))
    settings = Settings(temperature=0.7, max_tokens=24, seed=7)

    async def call(page: str) -> object:
        return await model.complete([User(page)], settings)

    return call


CLIENTS = {
    "bare aiohttp": bare_aiohttp,
    "Sally": sally_server,
    "bare httpx": bare_httpx,
    "openai": openai_client,
    "Inspect": inspect_generate,
}


async def time_calls(name: str, address: str, at_once: int, calls: int, page: str) -> float:
    """Return the milliseconds of processor time of a call."""
    async with AsyncExitStack() as stack:
        call = await CLIENTS[name](stack, address, at_once)
        await call(page)  # imports and the first connection are not counted
        remaining = iter(range(calls))

        async def work() -> None:
            for _ in remaining:
                await call(page)

        begun = time.process_time()
        await asyncio.gather(*(work() for _ in range(at_once)))
        return (time.process_time() - begun) / calls * 1000


def measure(name: str, address: str, at_once: int, calls: int, page: str) -> float:
    """Return the milliseconds of a call, or NaN if the client gave up."""
    try:
        return asyncio.run(time_calls(name, address, at_once, calls, page))
    except Exception as why:  # a client that times out is a finding, not a fault of the benchmark
        print(f"{name} with {at_once} in flight: {type(why).__name__}", file=sys.stderr)
        return float("nan")


def median(times: list[float]) -> float:
    """Return the median of the rounds that ended."""
    ended = [took for took in times if not isnan(took)]
    return middle(ended) if ended else float("nan")


def main(calls: int) -> None:
    port: multiprocessing.Queue[int] = multiprocessing.Queue()
    server = multiprocessing.Process(target=serve, args=(port,), daemon=True)
    server.start()
    address = f"http://127.0.0.1:{port.get()}/v1"
    page = LINE * 10
    costs_by_client: dict[tuple[str, int], list[float]] = {}
    for _ in range(ROUNDS):
        for at_once in IN_FLIGHT:
            for name in CLIENTS:
                cost = measure(name, address, at_once, max(calls, 2 * at_once), page)
                costs_by_client.setdefault((name, at_once), []).append(cost)
    print(f"{'ms of processor a call':24}" + "".join(f"{n:>8,}" for n in IN_FLIGHT) + "  in flight")
    for name in CLIENTS:
        row = "".join(f"{median(costs_by_client[name, n]):8.2f}" for n in IN_FLIGHT)
        print(f"{name:24}{row}")
    ours, inspect_cost = (median(costs_by_client[name, 200]) for name in ("Sally", "Inspect"))
    print(f"Inspect / Sally with 200 in flight: {inspect_cost / ours:.1f}")
    bytes_of = {rounds: len(json.dumps(body(LINE * rounds))) for rounds in (10, 100)}
    costs: dict[int, list[float]] = {10: [], 100: []}
    for _ in range(ROUNDS):
        for rounds in costs:
            costs[rounds].append(measure("Sally", address, 200, calls, LINE * rounds))
    for rounds, took in costs.items():
        nanoseconds = median(took) * 1e6 / bytes_of[rounds]
        print(f"page of {rounds} rounds: {median(took):.2f} ms a call, {nanoseconds:.0f} ns a byte")
    server.terminate()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
