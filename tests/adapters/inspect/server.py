"""A chat server on this machine that fails as it is told, then answers as it should."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any

RAMBLE = "Well, on the one hand this, on the other hand that. " * 20

Fault = Callable[["Handler"], None]


@dataclass
class Server:
    """What the server is to do to the next calls, and what it has seen."""

    faults: list[Fault] = field(default_factory=list)
    always: Fault | None = None
    text: str = "Option: J"
    latency: float = 0.0
    calls: int = 0
    keys: set[str] = field(default_factory=set)
    times: list[float] = field(default_factory=list)
    address: str = ""
    lock: Lock = field(default_factory=Lock)


class Handler(BaseHTTPRequestHandler):
    """One call."""

    protocol_version = "HTTP/1.1"
    server: Any

    def do_POST(self) -> None:
        script: Server = self.server.script
        self.asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with script.lock:
            script.calls += 1
            script.times.append(time.monotonic())
            script.keys.add(self.headers.get("Authorization", ""))
            fault = script.faults.pop(0) if script.faults else script.always
        if script.latency:
            time.sleep(script.latency)
        if fault is None:
            self.say(script.text)
        else:
            fault(self)

    def say(
        self, text: str | None, finish: str = "stop", refusal: str | None = None, **options: Any
    ) -> None:
        """A proper reply."""
        message = {"role": "assistant", "content": text, "refusal": refusal}
        choice = {"index": 0, "message": message, "finish_reason": finish, **options}
        usage = {"prompt_tokens": 50, "completion_tokens": 5, "total_tokens": 55}
        body = {"id": "x", "object": "chat.completion", "created": 1, "model": "local-7"}
        self.send(200, json.dumps({**body, "choices": [choice], "usage": usage}).encode())

    def send(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        header_fields = {"Content-Type": "application/json", "Content-Length": str(len(body))}
        for name, value in {**header_fields, **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        return


class Quiet(ThreadingHTTPServer):
    """Clients that give up are part of the test."""

    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, request: Any, client_address: Any) -> None:
        return


@contextmanager
def serving(
    faults: Sequence[Fault] = (), always: Fault | None = None, latency: float = 0.0
) -> Iterator[Server]:
    """A server on a free loopback port, gone afterwards."""
    script = Server(list(faults), always, latency=latency)
    http = Quiet(("127.0.0.1", 0), Handler)
    http.script = script  # type: ignore[attr-defined]
    script.address = f"http://127.0.0.1:{http.server_address[1]}/v1"
    Thread(target=http.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield script
    finally:
        http.shutdown()
        http.server_close()


# --- faults -------------------------------------------------------------------------------------


def status(code: int, **headers: str) -> Fault:
    """An error whose body repeats the key, as some servers do."""

    def fault(call: Handler) -> None:
        key = call.headers.get("Authorization", "")
        body = {"error": {"message": f"no: {key}", "type": "x", "code": None, "param": key}}
        values = {name.replace("_", "-"): value for name, value in headers.items()}
        call.send(code, json.dumps(body).encode(), values)

    return fault


def hanging(seconds: float = 20) -> Fault:
    def fault(call: Handler) -> None:
        time.sleep(seconds)  # longer than a call may take
        call.close_connection = True

    return fault


def dropped(call: Handler) -> None:
    call.close_connection = True
    call.connection.close()


def truncated(call: Handler) -> None:
    call.send(200, b'{"id": "x", "choices": [{"index": 0, "mess')


def no_choices(call: Handler) -> None:
    call.send(200, b'{"id":"x","object":"chat.completion","created":1,"model":"m","choices":[]}')


def not_utf8(call: Handler) -> None:
    body = (
        b'{"id":"x","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,'
        b'"message":{"role":"assistant","content":"Option: \xff\xfe J"},"finish_reason":"stop"}]}'
    )
    call.send(200, body)


def replying(text: str | None, finish: str = "stop", **options: Any) -> Fault:
    return lambda call: call.say(text, finish, **options)


# --- the modes of a colleague's endpoint ----------------------------------------------------------


def choose_option(page: str, place: float) -> str:
    """Return an answer under the label that the page's last line names.

    `place`, from 0 to 1, chooses one of the options that the page names.
    """
    last_line = page.rstrip().splitlines()[-1]
    if forms := re.findall(r'\{"kind": "\w+"\}', last_line):  # JSON objects without a gap to fill
        return str(forms[-1])
    if items := re.search(r"for each of (.+), each number from (\d+) to (\d+)", last_line):
        number = int(items[2]) + int(place * (int(items[3]) - int(items[2])))
        return "\n".join(f"{item}: {number}" for item in re.split(r", | and ", items[1]))
    label = re.search(r"(\w+): [<\[]", last_line)
    span = re.search(r"whole number from (\d+) to (\d+)", last_line)
    match = re.search(r"where <\w+> is (.+)\.$", last_line) or re.search(r": <(.+)>$", last_line)
    if span:
        options = [str(number) for number in range(int(span[1]), int(span[2]) + 1)]
    elif "[option number]" in last_line:
        options = re.findall(r"^(\d+)\. ", page, re.MULTILINE)
    else:
        options = re.split(r", | or ", match[1]) if match else ["1"]
    option = options[int(place * len(options))]
    return f"{label[1]}: {option}" if label else option


def plain(call: Handler) -> None:
    """Answer with one of the options on the page, the same one for the same page."""
    page = str(call.asked["messages"][-1]["content"])
    call.say(choose_option(page, sum(map(ord, page)) % 97 / 97))


def refusing(status_code: int, message: str, **fields: Any) -> Fault:
    """An error in the format of OpenAI's API."""
    body = json.dumps({"error": {"message": message, **fields}}).encode()
    return lambda call: call.send(status_code, body)


def quota(calls: int) -> Fault:
    """Plain answers to so many calls, then a used-up quota."""
    spent = refusing(429, "You exceeded your current quota.", code="insufficient_quota")

    def fault(call: Handler) -> None:
        (spent if call.server.script.calls > calls else plain)(call)

    return fault


def calling_tool(call: Handler) -> None:
    """A call of a tool that does not exist, and no text."""
    function = {"name": "search", "arguments": '{"query": "what to answer"}'}
    calls = [{"id": "call_1", "type": "function", "function": function}]
    message = {"role": "assistant", "content": None, "tool_calls": calls}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    usage = {"prompt_tokens": 50, "completion_tokens": 5, "total_tokens": 55}
    body = {"id": "x", "object": "chat.completion", "created": 1, "model": "local-7"}
    call.send(200, json.dumps({**body, "choices": [choice], "usage": usage}).encode())


MODES: dict[str, Fault] = {
    "plain": plain,
    "401": refusing(401, "Incorrect API key provided.", code="invalid_api_key"),
    "404": refusing(404, "The model `faulty` does not exist.", code="model_not_found"),
    "429": refusing(429, "Rate limit reached for requests."),
    "quota": quota(400),
    "500": refusing(500, "The server had an error while processing your request."),
    "empty": replying(""),
    "null": replying(None),
    "tool call": calling_tool,
    "cut-off thought": replying("<think>Let me see. First, the other player", "length"),
    "optionless": replying(RAMBLE),
}
