"""The way of a participant as pictures: every page, on a desk and on a phone, on one sheet."""

from __future__ import annotations

import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import msgspec

from sally.core.errors import BadInput
from sally.web.study.definition import HumanStudy
from sally.web.study.rehearsal import Actor, Browser, value_for

SCREENS = {"desktop": (1200, 900, 3), "phone": (390, 844, 6)}  # width, height, pictures in a row
MOST_PAGES = 60
MOST_PARTNERS = 12  # who are asked to come, one after the other
TABLE = "a[href*='/table#']"
TRIES = 3  # at a picture
STUCK = 3  # times that one page may come in a row
ANSWER = """(answers) => { for (const [name, value] of Object.entries(answers)) {
  for (const field of document.querySelectorAll(`[name="${name}"], [data-name="${name}"]`)) {
    if (field.type === "radio") field.checked = field.value === value;
    else field.value = value;
    field.dispatchEvent(new Event("input", { bubbles: true })); } } }"""


def draw(file: Path, study: HumanStudy, folder: Path) -> list[Path]:
    """Pictures of every page of the study, and last the sheets with all of them."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn: list[Path] = []
    with served(file) as address, browser() as chromium:
        for n, (name, (width, height, columns)) in enumerate(SCREENS.items()):
            context = chromium.new_context(
                viewport={"width": width, "height": height},
                reduced_motion="reduce",
                has_touch=name == "phone",
            )
            way = Way(context.new_page(), address, study, f"picture{n}")
            with company(chromium, way) as partner:
                pictures = _walk(way, partner, folder, name)
            drawn += [*pictures, sheet(context, pictures, folder / f"sheet_{name}.png", columns)]
            context.close()
    return drawn


@contextmanager
def browser() -> Iterator[Any]:
    """A browser without a window."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise BadInput("playwright is not installed; `pip install playwright` brings it.") from None
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        yield found
        found.close()


@contextmanager
def served(file: Path | None) -> Iterator[str]:
    """`sally serve`, with a study if one is given, on a free port and in a throw-away folder."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as data:
        command = (sys.executable, "-m", "sally", "serve", "--port", str(port), "--data", data)
        process = subprocess.Popen(
            (*command, *(() if file is None else ("--study", str(file)))),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            _await(process, port)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait()


def _await(process: subprocess.Popen[bytes], port: int) -> None:
    while process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except OSError:
            time.sleep(0.1)
    raise BadInput("The server for the pictures did not start; `sally serve --study` says why.")


@dataclass
class Way:
    """A scripted participant's way through a study, page by page."""

    page: Any
    address: str
    study: HumanStudy
    name: str
    last: str = ""  # step that was answered
    seen: int = 0  # times that it came in a row

    def __post_init__(self) -> None:
        self.actor = Actor(self.study, Browser(None), random.Random(1), 0.0, self.name)  # type: ignore[arg-type]

    def come(self) -> None:
        """Follow the study's link; later, look where one is."""
        platform = self.study.platform
        asked = {platform.participant: self.name} if platform.participant else {}
        query = "&".join(f"{k}={v}" for k, v in {**platform.require, **asked}.items())
        self.page.goto(f"{self.address}/study/{self.study.name}?{query}")

    @property
    def waits(self) -> bool:
        return bool(self.page.locator("[data-waiting]").count())

    @property
    def seat(self) -> str:
        """The token of the seat to which this page leads, if it leads to one."""
        links = self.page.locator(TABLE)
        return str(links.get_attribute("href")).split("#")[1].split("&")[0] if links.count() else ""

    def onward(self) -> bool:
        """Agree, or answer a page of the study; says whether it was one of these."""
        if self.page.locator("input[name=agree]").count():
            self.page.check("input[name=agree]")
            self.page.click("button.primary")
            return True
        if not self.page.locator("input[name=step]").count():
            return False
        step = self.page.locator("input[name=step]").get_attribute("value")
        self.last, self.seen = step, self.seen + 1 if step == self.last else 1
        if self.seen > STUCK:  # it comes again and again, so we cannot answer it
            raise BadInput(f"The walk for the pictures does not get past the page {step!r}.")
        self.page.evaluate(ANSWER, self.actor.answers(step))
        self.page.click("form.step button.primary")
        return True


Partner = Callable[[], Way | None]  # comes when somebody waits, and stays


@contextmanager
def company(chromium: Any, way: Way) -> Iterator[Partner]:
    """Somebody to play with, who comes when asked for; who gets another condition goes again."""
    contexts: list[Any] = []
    found: list[Way] = []

    def partner() -> Way | None:
        while not found and len(contexts) < MOST_PARTNERS:
            contexts.append(chromium.new_context(reduced_motion="reduce"))
            name = f"{way.name}partner{len(contexts)}"
            other = Way(contexts[-1].new_page(), way.address, way.study, name)
            other.come()
            while other.onward():
                pass
            way.come()
            if not way.waits:
                found.append(other)
        for other in found:
            other.come()
            way.come()
        return found[0] if found else None

    yield partner
    for context in contexts:
        context.close()


def _walk(way: Way, partner: Partner, folder: Path, name: str) -> list[Path]:
    """One participant's way, a picture of each page."""
    way.come()
    pictures: list[Path] = []

    def shot() -> None:
        path = folder / f"{name}_{len(pictures) + 1:02d}.png"
        _taken(way.page, path)
        pictures.append(path)

    other: Way | None = None
    for _ in range(MOST_PAGES):
        shot()
        if way.waits:
            other = partner()
            if other is None or way.waits:
                raise BadInput("Nobody could be found who plays with the participant who is drawn.")
        elif way.seat:
            _play(way, other, shot)
        elif not way.onward():
            break
    return pictures


def _taken(page: Any, path: Path) -> None:
    """A picture of a page; a busy machine's browser cannot always take one at once."""
    from playwright.sync_api import Error

    page.wait_for_load_state()
    for _ in range(TRIES):
        try:
            page.screenshot(path=str(path))
            return
        except Error as why:
            said = str(why).split("\n")[0]
            page.wait_for_timeout(500)
    raise BadInput(f"The browser took no picture of {page.url}: {said}.")


def _play(way: Way, other: Way | None, shot: Callable[[], None]) -> None:
    """A game: its rules, its first question and its end are drawn."""
    if other is not None:
        other.come()
    ways = {way.seat: way, **({} if other is None or not other.seat else {other.seat: other})}
    mine, page = way.seat, way.page
    page.click(TABLE)
    page.locator("#rules-read").wait_for()
    shot()
    page.click("#rules-read")
    page.locator("#asks .ask, #asides .probe, .status.waiting").first.wait_for()
    shot()
    for n in range(10_000):
        screens = {token: seat_api(f"{way.address}/api/seat", token) for token in ways}
        asked = {token: screen["asks"][0] for token, screen in screens.items() if screen["asks"]}
        if screens[mine]["over"] or not asked:
            break
        for token, ask in asked.items():
            value = value_for(ask, ways[token].actor.draw)
            sent = {"ask": ask["id"], "value": value, "key": f"picture-{n}"}
            seat_api(f"{way.address}/api/seat/answer", token, sent)
        time.sleep(0.06)  # a seat may ask twenty times a second
    page.locator("#end .result").wait_for()
    shot()
    page.locator("#end a.button").click()
    page.wait_for_url("**/study/*")


def seat_api(address: str, token: str, sent: Any = None) -> Any:
    body = None if sent is None else msgspec.json.encode(sent)
    headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
    try:
        with urlopen(Request(address, body, headers), timeout=30) as reply:
            return msgspec.json.decode(reply.read())
    except OSError as why:  # a move that the game turns down is tried again with another
        if getattr(why, "code", 0) == 422:
            return {}
        raise


def sheet(context: Any, pictures: Sequence[Path], out: Path, columns: int) -> Path:
    """Pictures side by side as one picture, each under its name."""
    page = context.new_page()
    cells = "".join(
        f"<figure><img src='{p.resolve().as_uri()}'><figcaption>{p.stem}</figcaption></figure>"
        for p in pictures
    )
    style = (
        f"body{{margin:16px;display:grid;grid-template-columns:repeat({columns},1fr);gap:12px;"
        "font:14px sans-serif}figure{margin:0}img{width:100%;border:1px solid #999}"
    )
    file = out.with_suffix(".html")
    file.write_text(f"<!doctype html><meta charset=utf-8><style>{style}</style>{cells}")
    page.set_viewport_size({"width": 1500, "height": 900})
    page.goto(file.resolve().as_uri())
    page.screenshot(path=str(out), full_page=True)
    page.close()
    file.unlink()
    return out
