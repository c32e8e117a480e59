"""The way of a participant as pictures: every page, on a desk and on a phone, on one sheet."""

from __future__ import annotations

import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import msgspec

from sally.core.errors import BadInput
from sally.web.study.definition import HumanStudy
from sally.web.study.rehearsal import Actor, Browser, value_for

SCREENS = {"desktop": (1200, 900, 3), "phone": (390, 844, 6)}  # width, height, pictures in a row
MOST_PAGES = 60
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
                viewport={"width": width, "height": height}, reduced_motion="reduce"
            )
            page = context.new_page()
            pictures = _walk(page, address, study, folder, f"{name}", n)
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


def _walk(
    page: Any, address: str, study: HumanStudy, folder: Path, name: str, number: int
) -> list[Path]:
    """One participant's way, a picture of each page."""
    actor = Actor(study, Browser(None), random.Random(1), 0.0, f"picture{number}")  # type: ignore[arg-type]
    asked = {study.platform.participant: actor.name} if study.platform.participant else {}
    query = "&".join(f"{k}={v}" for k, v in {**study.platform.require, **asked}.items())
    page.goto(f"{address}/study/{study.name}?{query}")
    pictures: list[Path] = []

    def shot() -> None:
        path = folder / f"{name}_{len(pictures) + 1:02d}.png"
        page.screenshot(path=str(path))
        pictures.append(path)

    last, seen = "", 0  # a page that comes again and again is one that we cannot answer
    for _ in range(MOST_PAGES):
        shot()
        if page.locator("a[href*='/table#']").count():
            _play(page, address, actor, shot)
        elif page.locator("input[name=agree]").count():
            page.check("input[name=agree]")
            page.click("button.primary")
        elif page.locator("input[name=step]").count():
            step = page.locator("input[name=step]").get_attribute("value")
            last, seen = step, seen + 1 if step == last else 1
            if seen > STUCK:
                raise BadInput(f"The walk for the pictures does not get past the page {step!r}.")
            page.evaluate(ANSWER, actor.answers(step))
            page.click("form.step button.primary")
        else:
            break
    return pictures


def _play(page: Any, address: str, actor: Actor, shot: Any) -> None:
    """A game: its rules, its first question and its end are drawn."""
    page.click("a[href*='/table#']")
    page.locator("#rules-read").wait_for()
    shot()
    page.click("#rules-read")
    page.locator("#asks .ask, #asides .probe").first.wait_for()
    shot()
    token = page.evaluate("location.hash.slice(1).split('&')[0]")
    for n in range(10_000):
        seen = seat_api(f"{address}/api/seat", token)
        if seen["over"] or not seen["asks"]:
            break
        ask = seen["asks"][0]
        sent = {"ask": ask["id"], "value": value_for(ask, actor.draw), "key": f"picture-{n}"}
        seat_api(f"{address}/api/seat/answer", token, sent)
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
