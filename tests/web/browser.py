"""A real server and a real browser: what tests of the pages share."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import signal
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.fixtures.warm import SALLY, Forked, warm

# The shell without windows does the same with about half of the processor.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
ARGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--no-first-run",
    "--in-process-gpu",
    "--renderer-process-limit=1",  # of each profile: starting another costs more than a page
    "--js-flags=--no-opt --no-maglev",  # no page lives long enough to gain by such compilers
)
DESK = {"viewport": {"width": 1200, "height": 900}}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
# 44 pixels for every target, but for links within a sentence and in a drawing (the table below it
# has the same); a box is pressed by its label.
TOO_SMALL = """() => [...document.querySelectorAll('button, a, input, select, textarea, summary')]
  .filter(e => e.checkVisibility() && !e.matches('p a, svg a, [type=hidden]'))
  .map(e => [e, e.matches('[type=checkbox], [type=radio]') && e.labels[0] || e])
  .map(([e, target]) => [e.outerHTML.slice(0, 80), target.getBoundingClientRect()])
  .filter(([, box]) => box.height < 43.5 || box.width < 43.5)
  .map(([html, box]) => `${html} ${box.width}x${box.height}`)"""
UNFOLD = """() => document.querySelectorAll('details:not([open])').forEach(
  each => { each.open = each.checkVisibility(); })"""
# The page has its new size before its own listeners have heard of it; this one hears of it last.
RESIZED = """({width, height}) => { resized = false; addEventListener("resize", () => {
  resized = innerWidth === width && innerHeight === height; }); }"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Server:
    """`sally serve` in a process of its own, as a user starts it."""

    data: Path
    port: int = field(default_factory=free_port)
    process: Forked | None = None
    use: tuple[str, ...] = ()  # options before `serve`
    more: tuple[str, ...] = ()  # options behind it

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        where = ("--port", str(self.port), "--data", str(self.data))
        command = [sys.executable, "-m", "sally", *self.use, "serve", *where, *self.more]
        with (self.data.parent / "server.log").open("ab") as log:
            self.process = warm(*SALLY).start(command, output=log)
        for _ in range(3000):
            try:
                socket.create_connection(("127.0.0.1", self.port), 2).close()
                if httpx.get(f"{self.address}/healthy", timeout=2, verify=False).is_success:
                    return
            except (OSError, httpx.TransportError):
                time.sleep(0.02)
            if self.process.poll() is not None:
                break
        raise AssertionError((self.data.parent / "server.log").read_text())

    def kill(self) -> None:
        """As a crash or a power cut does it: without a word of warning."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def table(self, game: str, seat: str, **options: Any) -> dict[str, Any]:
        """A table opened over HTTP, for tests that are about something else than the lobby."""
        request_fields = {"game": game, "seat": seat, **options}
        # without `verify` it reads the certificates of the world each time
        reply = httpx.post(
            f"{self.address}/api/tables", json=request_fields, timeout=30, verify=False
        )
        assert reply.is_success, reply.text
        opened: dict[str, Any] = reply.json()
        return opened


@contextmanager
def server(folder: Path, use: tuple[str, ...] = (), more: tuple[str, ...] = ()) -> Iterator[Server]:
    """A running server, stopped in the end."""
    single_server = Server(folder / "data", use=use, more=more)
    single_server.start()
    try:
        yield single_server
    finally:
        if single_server.process is not None and single_server.process.poll() is None:
            single_server.kill()


@dataclass
class Person:
    """A person at a browser of their own; console errors fail the test."""

    page: Any
    address: str
    excused: str = ""  # a pattern of complaints that this test is about
    complaints: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.complaints.append(f"script: {error}"))

    def _console(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(f"{message.type}: {message.text}")

    def check(self) -> None:
        """Fail on every complaint that was not expected."""
        bad = [c for c in self.complaints if not (self.excused and re.search(self.excused, c))]
        assert not bad, bad

    def shot(self, name: str, at: Any = None) -> None:
        """Keep a picture of the page, if the environment says where pictures are kept."""
        if not (folder := os.environ.get("SALLY_SCREENSHOTS")):
            return
        from PIL import Image

        self.page.evaluate("scrollTo(0, 0)")
        if at is not None:
            at.evaluate("node => node.scrollIntoView()")
        self.page.mouse.move(0, 0)
        picture = Image.open(io.BytesIO(self.page.screenshot()))
        Path(folder).mkdir(parents=True, exist_ok=True)
        picture.quantize(64).save(Path(folder) / f"{name}.png", optimize=True)

    # --- what a person does -------------------------------------------------------------------

    def sit(self, token: str, read_rules: bool = True) -> None:
        """Come to a table by its link."""
        self.page.goto(f"{self.address}/table#{token}")
        if read_rules:
            self.page.get_by_role("button", name="I have read the rules").click()

    def move_to(self, device: dict[str, Any]) -> None:
        """Go on with the page as it is on another device: its size, and a mouse or a thumb."""
        size, phone = device["viewport"], device.get("is_mobile", False)
        # held: the device would go with it
        cdp_session = self.page.context.new_cdp_session(self.page)
        cdp_session.send("Emulation.setTouchEmulationEnabled", {"enabled": phone})
        self.page.evaluate(RESIZED, size)
        metrics = {**size, "deviceScaleFactor": 1, "mobile": phone}
        self.page.bring_to_front()  # a page behind another one may get no such event
        cdp_session.send("Emulation.setDeviceMetricsOverride", metrics)
        self.page.wait_for_function("() => resized", polling=100)

    def ask(self) -> Any:
        """The move that is wanted now."""
        return self.page.locator("#asks .ask")

    def pick(self, label: str) -> None:
        """Press a button of the menu or of the board, and wait until the answer is taken."""
        question_before = self.question_id()
        on_board = self.page.locator(f"#board [data-option={json.dumps(label)}]")
        if on_board.count():
            on_board.first.click()
        else:
            exactly = re.compile(rf"^\d?{re.escape(label)}$")
            self.ask().locator(".options button").filter(has_text=exactly).click()
        self.until_taken(question_before)

    def question_id(self) -> str:
        """The id of the current question's heading; headings are never reused."""
        locator = self.page.locator("#asks .ask .question")
        return str(locator.first.get_attribute("id")) if locator.count() else ""

    def until_taken(self, before: str) -> None:
        """Wait until another question, or none, has taken the place of one."""
        gone = (
            "id => !id || !document.getElementById(id) || !!document.querySelector('#end .result')"
        )
        self.page.wait_for_function(gone, arg=before)

    def status(self) -> str:
        return str(self.page.locator("#status").inner_text())

    def lines(self) -> list[str]:
        return [str(line) for line in self.page.locator("#lines li").all_inner_texts()]

    def result(self) -> str:
        """What the end screen says; waits for it."""
        return str(self.page.locator("#end .result").inner_text())


def missing() -> str | None:
    """Why no browser can be driven here, if so."""
    if CHROMIUM is None:
        return "there is no Chromium; `apt-get install chromium` installs it"
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        return "there is no playwright; `pip install -c constraints.txt playwright` installs it"
    return None


NEEDS_BROWSER = pytest.mark.skipif(
    missing() is not None, reason=f"BROWSER TESTS DO NOT RUN HERE: {missing()}"
)
