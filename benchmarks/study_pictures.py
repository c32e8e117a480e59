"""Screenshots of every page of a study, on a desktop and a phone, with contact sheets.

`python -m benchmarks.study_pictures people.toml OUT` goes through the study in a browser, once in
each size, and writes `sheet_desktop.png` and `sheet_phone.png` beside the single pictures. It needs
playwright and a chromium.
"""

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
from functools import partial
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import msgspec

from sally.core.errors import BadInput
from sally.web.rehearsal import Browser, ScriptedParticipant, value_for
from sally.web.study.definition import HumanStudy

SCREENS = {"desktop": (1200, 900, 3), "phone": (390, 844, 6)}  # width, height, pictures per row
MOST_PAGES = 60
MOST_PARTNERS = 12  # most partners tried, one after another
TABLE = "a[href*='/table#']"
TRIES = 3  # attempts at a screenshot
STUCK = 3  # most repetitions of one page
ANSWER = """(answers) => { for (const [name, value] of Object.entries(answers)) {
  for (const field of document.querySelectorAll(`[name="${name}"], [data-name="${name}"]`)) {
    if (field.type === "radio") field.checked = field.value === value;
    else field.value = value;
    field.dispatchEvent(new Event("input", { bubbles: true })); } } }"""


def draw(file: Path, study: HumanStudy, folder: Path) -> list[Path]:
    """Take screenshots of all pages of the study; return their paths and those of the contact
    sheets."""
    folder.mkdir(parents=True, exist_ok=True)
    paths: list[Path] = []
    with served(file) as address, browser() as chromium:
        for n, (name, (width, height, columns)) in enumerate(SCREENS.items()):
            context = chromium.new_context(
                viewport={"width": width, "height": height},
                reduced_motion="reduce",
                has_touch=name == "phone",
            )
            participant = BrowserParticipant(context.new_page(), address, study, f"picture{n}")
            pictures: list[Path] = []
            with company(chromium, participant) as partner:
                walk(
                    participant, partner, partial(_shoot, participant.page, folder, name, pictures)
                )
            paths += [*pictures, sheet(context, pictures, folder / f"sheet_{name}.png", columns)]
            context.close()
    return paths


BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser")


@contextmanager
def browser() -> Iterator[Any]:
    """Launch a headless browser and yield it."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise BadInput(
            "playwright is not installed; install it with `pip install playwright`."
        ) from None
    with sync_playwright() as playwright:
        installed = next(filter(None, map(shutil.which, BROWSERS)), None)
        chromium = playwright.chromium.launch(executable_path=installed, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@contextmanager
def served(file: Path | None, *options: str) -> Iterator[str]:
    """Run `sally serve` on a free port in a temporary folder, with the study in `file` if given and
    further options, and yield its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as data:
        command = (sys.executable, "-m", "sally", "serve", "--port", str(port), "--data", data)
        process = subprocess.Popen(
            (*command, *(() if file is None else ("--study", str(file))), *options),
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
    raise BadInput(
        "The server for the screenshots did not start; `sally serve --study` shows the reason."
    )


@dataclass
class BrowserParticipant:
    """A scripted participant in a real browser."""

    page: Any
    address: str
    study: HumanStudy
    name: str
    last: str = ""  # the last step answered
    n_repeats: int = 0  # consecutive times it was answered

    def __post_init__(self) -> None:
        unused = Browser(None)  # type: ignore[arg-type]
        self.actor = ScriptedParticipant(self.study, unused, random.Random(1), 0.0, self.name)

    def come(self) -> None:
        """Open the study's link, which shows the current page."""
        self.page.goto(f"{self.address}{self.study.link(self.name)}")

    @property
    def waits(self) -> bool:
        return bool(self.page.locator("[data-waiting]").count())

    @property
    def seat(self) -> str:
        """The seat token in this page's link to a game, or an empty string."""
        links = self.page.locator(TABLE)
        return str(links.get_attribute("href")).split("#")[1].split("&")[0] if links.count() else ""

    def onward(self) -> bool:
        """Consent to or answer the current page; return whether there was something to answer."""
        if self.page.locator("input[name=agree]").count():
            self.page.check("input[name=agree]")
            self.submit("button.primary")
            return True
        if not self.page.locator("input[name=step]").count():
            return False
        step = self.page.locator("input[name=step]").get_attribute("value")
        self.last, self.n_repeats = step, self.n_repeats + 1 if step == self.last else 1
        if self.n_repeats > STUCK:  # the answer is refused again and again
            raise BadInput(f"The scripted participant cannot get past the page {step!r}.")
        self.actor.browser.text = self.page.content()  # it answers the items on the page
        self.page.evaluate(ANSWER, self.actor.answers(step))
        self.submit("form.step button.primary")
        return True

    def submit(self, button: str) -> None:
        """Press the button of a form and wait for the next page."""
        with self.page.expect_navigation():
            self.page.click(button)


Partner = Callable[[], BrowserParticipant | None]  # called when the participant waits


@contextmanager
def company(chromium: Any, participant: BrowserParticipant) -> Iterator[Partner]:
    """Yield a function that adds a partner for a waiting participant; it adds several if the first
    ones are assigned to another condition."""
    contexts: list[Any] = []
    partners: list[BrowserParticipant] = []

    def partner() -> BrowserParticipant | None:
        while not partners and len(contexts) < MOST_PARTNERS:
            contexts.append(chromium.new_context(reduced_motion="reduce"))
            name = f"{participant.name}partner{len(contexts)}"
            candidate = BrowserParticipant(
                contexts[-1].new_page(), participant.address, participant.study, name
            )
            candidate.come()
            while candidate.onward():
                pass
            participant.come()
            if not participant.waits:
                partners.append(candidate)
        for candidate in partners:
            candidate.come()
            participant.come()
        return partners[0] if partners else None

    yield partner
    for context in contexts:
        context.close()


def walk(participant: BrowserParticipant, partner: Partner, shot: Callable[[], None]) -> None:
    """Walk through the study and call `shot` at each page."""
    participant.come()
    other_participant: BrowserParticipant | None = None
    for _ in range(MOST_PAGES):
        shot()
        if participant.waits:
            other_participant = partner()
            if other_participant is None or participant.waits:
                raise BadInput(
                    "No partner could be assigned to the condition of the scripted participant."
                )
        elif participant.seat:
            _play(participant, other_participant, shot)
        elif (
            other_participant is not None and participant.page.locator("[data-ready]").count()
        ):  # the end of a chat
            other_participant.come()
            while other_participant.onward():
                pass
            participant.come()
        elif not participant.onward():
            break


def _shoot(page: Any, folder: Path, name: str, pictures: list[Path]) -> None:
    """Take the next screenshot; on a busy machine several attempts may be needed."""
    from playwright.sync_api import Error

    path = folder / f"{name}_{len(pictures) + 1:02d}.png"
    page.wait_for_load_state()
    for _ in range(TRIES):
        try:
            page.screenshot(path=str(path))
            pictures.append(path)
            return
        except Error as why:
            message = str(why).split("\n")[0]
            page.wait_for_timeout(500)
    raise BadInput(f"The browser could not take a screenshot of {page.url}: {message}.")


def _play(
    participant: BrowserParticipant,
    other_participant: BrowserParticipant | None,
    shot: Callable[[], None],
) -> None:
    """Play a game; take screenshots of its rules, first question and end."""
    if other_participant is not None:
        other_participant.come()
    ways = {
        participant.seat: participant,
        **(
            {}
            if other_participant is None or not other_participant.seat
            else {other_participant.seat: other_participant}
        ),
    }
    own_token, page = participant.seat, participant.page
    page.click(TABLE)
    page.locator("#rules-read").wait_for()
    shot()
    page.click("#rules-read")
    page.locator("#asks .ask, #asides .probe, .status.waiting").first.wait_for()
    shot()
    for n in range(10_000):
        screens = {token: seat_api(f"{participant.address}/api/seat", token) for token in ways}
        asks_by_token = {
            token: screen["asks"][0] for token, screen in screens.items() if screen["asks"]
        }
        if screens[own_token]["over"] or not asks_by_token:
            break
        for token, ask in asks_by_token.items():
            value = value_for(ask, ways[token].actor.draw)
            sent = {"ask": ask["id"], "value": value, "key": f"picture-{n}"}
            seat_api(f"{participant.address}/api/seat/answer", token, sent)
        time.sleep(0.06)  # a seat may send twenty requests per second
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
    except OSError as why:  # after an illegal move the caller tries another
        if getattr(why, "code", 0) == 422:
            return {}
        raise


def sheet(context: Any, pictures: Sequence[Path], out: Path, columns: int) -> Path:
    """Combine screenshots into one contact sheet with captions."""
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


if __name__ == "__main__":
    from sally.web.study.definition import read_human_study

    study_file, out_folder = map(Path, sys.argv[1:3])
    for picture in draw(study_file, read_human_study(study_file, ""), out_folder):
        print(picture)
