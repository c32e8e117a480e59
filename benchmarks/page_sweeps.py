"""Every page that participants, visitors and experimenters see, checked in a real browser.

`python -m benchmarks.page_sweeps OUT` goes through all games (each seat that a person may take: the
rules, the first question, a refused answer where there is one, after two moves, the end), the
lobby, four studies with people (every page of a participant and the refusals of each), the
experimenter's pages with the explorer, a report and a board. Each page is looked at

- at 390, 768, 1280 and 1920 pixels: it must not scroll sideways, nor a table of the experimenter
  from 1280 pixels on;
- on touch screens (390 and 768 pixels), with everything unfolded: every control must be at least
  44 pixels high and wide, but for links in sentences and in drawings;
- at 390 and 1280 pixels, light and dark, with everything unfolded: axe-core must find nothing;
- for complaints of its scripts.

It prints a line for each page and writes `OUT/findings.json`; `--parts` and `--games` choose some.
It needs playwright, a chromium, and axe-core from npm.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from benchmarks.contact_sheets import open_table, play, tables
from benchmarks.study_pictures import BrowserParticipant, browser, company, seat_api, served, walk
from sally.core.registry import registry
from sally.web.rehearsal import value_for
from sally.web.study.definition import read_human_study
from tests.web.axe import script
from tests.web.browser import PHONE, TOO_SMALL, UNFOLD, Person
from tests.web.play.test_browser_access import violations

DEVICES: Mapping[str, dict[str, Any]] = {
    "phone": PHONE,
    "tablet": {"viewport": {"width": 768, "height": 1024}, "has_touch": True, "is_mobile": True},
    "desktop": {"viewport": {"width": 1280, "height": 900}},
    "wide": {"viewport": {"width": 1920, "height": 1080}},
}
AXE_DEVICES = ("phone", "desktop")
SECRET = "a secret of the page sweeps"
CUT_OFF = """() => [...document.querySelectorAll('.scroll')]
  .filter(e => e.scrollWidth > e.clientWidth).map(e => e.getAttribute('aria-label'))"""
TEMPLATES = Path(__file__).parent.parent / "sally/web/study"
BUNDLES = Path(__file__).parent.parent / "docs/results/bundles"
OF_EACH_KIND = 2  # pages of the experimenter that differ in a value, such as an episode's name


@dataclass
class Sweep:
    """What was found, page by page."""

    chromium: Any
    axe: Path
    out: Path
    games: Sequence[str]
    pages: Counter[str] = field(default_factory=Counter)
    checks: Counter[str] = field(default_factory=Counter)
    findings: list[dict[str, str]] = field(default_factory=list)

    @contextmanager
    def person(self, address: str) -> Iterator[Person]:
        """Somebody with a browser profile of their own."""
        context = self.chromium.new_context(reduced_motion="reduce", **DEVICES["wide"])
        context.add_init_script(path=str(self.axe))
        context.set_default_timeout(120_000)  # a shared machine may be slow
        yield Person(context.new_page(), address)
        context.close()

    def look(self, person: Person, part: str, name: str, ready: str = "") -> None:
        """Check the page as it stands; with `ready`, load it again on each device and wait until
        that is visible."""
        from playwright.sync_api import TimeoutError

        page, found = person.page, list[str]()
        for device, settings in DEVICES.items():
            with suppress(TimeoutError):  # on a phone a page that is too wide has another size
                person.move_to(settings)
            if ready:
                page.reload()
                page.locator(ready).first.wait_for()
            page.wait_for_timeout(150)  # until it has its new size
            width, is_touched = settings["viewport"]["width"], "has_touch" in settings
            found += self._too_wide(page, device, width)
            if part == "experimenter" and not is_touched:
                self.checks["tables of the experimenter"] += 1
                found += [f"{device}: the table {t} is cut off" for t in page.evaluate(CUT_OFF)]
            for _ in range(2):  # what is folded within a fold
                page.evaluate(UNFOLD)
            found += self._too_wide(page, f"{device}, unfolded", width)
            if is_touched:
                self.checks["sizes of controls"] += 1
                found += [f"{device}: too small: {e}" for e in page.evaluate(TOO_SMALL)]
            for scheme in ("light", "dark") if device in AXE_DEVICES else ():
                page.emulate_media(color_scheme=scheme)
                self.checks["axe-core"] += 1
                found += [f"{device}, {scheme}: axe: {v}" for v in violations(page)]
        expected = "status of 4"  # refusals of forms and links
        found += [f"script: {c}" for c in person.complaints if expected not in c]
        person.complaints.clear()
        self.pages[part] += 1
        self.findings += [{"part": part, "page": name, "finding": each} for each in found]
        print(f"{part} · {name}: {found or 'ok'}", flush=True)
        counts = {"pages": self.pages, "checks": self.checks, "findings": self.findings}
        (self.out / "findings.json").write_text(json.dumps(counts, indent=2) + "\n")

    def _too_wide(self, page: Any, device: str, width: int) -> list[str]:
        self.checks["width"] += 1
        wider = page.evaluate("document.documentElement.scrollWidth") - width
        return [f"{device}: {wider} px too wide"] if wider > 0 else []


def sweep_games(sweep: Sweep) -> None:
    with served(None) as address, sweep.person(address) as person:
        for game, seat in tables(sweep.games, "all"):
            token = open_table(address, game, seat)
            person.page.goto("about:blank")
            person.sit(token, read_rules=False)
            name = f"{game}, {seat}"
            sweep.look(person, "games", f"{name}: rules", "#rules-read")
            person.page.click("#rules-read")
            states = "#asks .ask:visible, #asides .probe:visible, #end .result:visible"
            sweep.look(person, "games", f"{name}: first question", states)
            if refused := refuse(address, token):
                sweep.look(person, "games", f"{name}: refused at first", ".refused:visible")
            play(address, token, 2)
            sweep.look(person, "games", f"{name}: after two moves", states)
            if not refused and refuse(address, token):
                sweep.look(person, "games", f"{name}: refused later", ".refused:visible")
            if not play(address, token, 10**6, seed=2)["over"]:
                print(f"games · {name}: the random player did not reach the end", flush=True)
                continue
            sweep.look(person, "games", f"{name}: end", "#end .result")


def refuse(address: str, token: str) -> bool:
    """Send a text that is refused: a word of the board, or one that is too long; return whether
    there is one."""
    screen = seat_api(f"{address}/api/seat", token)
    words = dict.fromkeys(re.findall(r'"([A-Za-z]{4,12})"(?!:)', json.dumps(screen["board"])))
    for ask in screen["asks"][:1]:
        for form, word in product(ask["forms"], [*words, ""]):
            fields = [each for each in form["fields"] if each["type"] == "text"]
            texts = {each["name"]: word or "x" * (each["limit"] + 1) for each in fields}
            one_form = {**ask, "options": [], "forms": [form]}
            value = value_for(one_form, random.Random(1)) | texts
            time.sleep(0.06)  # a seat may ask twenty times a second
            body = {"ask": ask["id"], "value": value}
            if texts and seat_api(f"{address}/api/seat/check", token, body)["problem"]:
                seat_api(f"{address}/api/seat/answer", token, {**body, "key": "refused"})
                return any(a["refused"] for a in seat_api(f"{address}/api/seat", token)["asks"])
    return False


def sweep_lobby(sweep: Sweep) -> None:
    with served(None) as address, sweep.person(address) as person:
        person.page.goto(address)
        sweep.look(person, "lobby", "all games", ".tile")
        for game in sweep.games:
            person.page.goto(address)
            person.page.locator(".tile").first.wait_for()
            tile = person.page.locator(f".tile[data-game={game}]")
            if not tile.count():  # a variant, chosen within the tile of its family
                continue
            tile.click()
            person.page.locator("button", has_text="Play").first.wait_for()
            sweep.look(person, "lobby", game)


def sweep_study(sweep: Sweep) -> None:
    with tempfile.TemporaryDirectory() as folder, studies(Path(folder)) as (address, files):
        for file, people in ((files["full"], 2), (files["two_games"], 1), (files["together"], 1)):
            for n in range(people):
                with sweep.person(address) as person:
                    walk_study(sweep, person, file, f"walker{n}")
        sweep_refusals(sweep, address, files["full"])
        with sweep.person(address) as late, sweep.person(address) as experimenter:
            participant(late, files["brief"], "late").come()
            late.page.wait_for_timeout(5000)
            log_in(experimenter)  # whose page marks who has lapsed
            experimenter.page.goto(f"{address}/experimenter/study?study=brief")
            late.page.goto(f"{address}/study/brief")
            sweep.look(late, "study", "lapsed")


@contextmanager
def studies(folder: Path) -> Iterator[tuple[str, dict[str, Path]]]:
    """A server with four studies and the explorer; the address and the files by name."""
    full, example = ((TEMPLATES / f"{n}_study.toml").read_text() for n in ("full", "example"))
    pairs = 'people = ["agent", "partner"]\nchat_seconds = 300\n'
    texts = {
        "full": full,
        "two_games": f"practice = true\n{example}",
        "together": re.sub(r"people = .*\nothers = .*\n", pairs, example),
        "brief": example.replace("idle_minutes = 30", "idle_minutes = 0.02"),
    }
    files = {name: folder / f"{name}.toml" for name in texts}
    for name, file in files.items():
        file.write_text(texts[name].replace('name = "two_games"', f'name = "{name}"'))
    for bundle in BUNDLES.glob("quickstart_model*.zip"):
        zipfile.ZipFile(bundle).extractall(folder / "stores" / bundle.name.split(".sally")[0])
    more = [option for file in [*files.values()][1:] for option in ("--study", str(file))]
    os.environ["SALLY_EXPERIMENTER_SECRET"] = SECRET
    try:
        with served(files["full"], *more, "--store", str(folder / "stores")) as address:
            yield address, files
    finally:
        del os.environ["SALLY_EXPERIMENTER_SECRET"]


def participant(person: Person, file: Path, name: str) -> BrowserParticipant:
    return BrowserParticipant(person.page, person.address, read_human_study(file, ""), name)


def walk_study(sweep: Sweep, person: Person, file: Path, name: str) -> None:
    """Look at every page from the consent form to the end."""
    way = participant(person, file, name)
    seen: set[str] = set()

    def look() -> None:
        step = person.page.locator("input[name=step]")
        kind = step.first.get_attribute("value") if step.count() else ""
        heading = person.page.locator("h1").first.inner_text()
        title = f"{file.stem}: {heading} {kind}".strip()
        if title not in seen or "/table" in person.page.url:
            seen.add(title)
            sweep.look(person, "study", title)

    with company(sweep.chromium, way) as partner:
        walk(way, partner, look)


def sweep_refusals(sweep: Sweep, address: str, file: Path) -> None:
    """Look at refused forms, and at the pages of those who decline, fail, withdraw or come back."""
    with sweep.person(address) as person:
        for name, path in {"link without an id": "", "unknown study": "/nothing"}.items():
            person.page.goto(f"{address}/study/full{path}")
            sweep.look(person, "study", name, "h1")
        declining = participant(person, file, "declining")
        declining.come()
        declining.submit("form.step button.primary")
        sweep.look(person, "study", "consent without a tick")
        declining.submit("button[value=no]")
        sweep.look(person, "study", "declined")
    with sweep.person(address) as person:
        failing = participant(person, file, "failing")
        failing.come()
        while not person.page.locator("[name=q-0]").count():
            failing.onward()
        failing.submit("form.step button.primary")
        sweep.look(person, "study", "check without answers")
        for n in range(failing.study.check.tries if failing.study.check else 0):
            for group in person.page.locator("fieldset").all():
                group.locator("label").first.click()
            failing.submit("form.step button.primary")
            sweep.look(person, "study", f"check failed {n + 1} times")
    with sweep.person(address) as person:
        leaving = participant(person, file, "leaving")
        leaving.come()
        while not person.page.locator("[name^=item-]").count():
            leaving.onward()
        leaving.submit("form.step button.primary")
        sweep.look(person, "study", "survey without answers")
        with sweep.person(address) as other:
            other.page.goto(f"{address}{leaving.study.link('leaving')}")
            sweep.look(other, "study", "link in another browser")
            log_in(other)
            other.page.goto(f"{address}/experimenter/study?study=full&find=leaving")
            sweep.look(other, "study", "participant found by the experimenter")
            link = other.page.locator("code", has_text="/resume?").inner_text()
            other.page.goto(link)
            sweep.look(other, "study", "link to continue", "h1")
        person.page.goto(f"{address}/study/full/withdraw")
        sweep.look(person, "study", "withdraw", "h1")
        leaving.submit("button.danger")
        sweep.look(person, "study", "withdrawn")
        leaving.come()
        sweep.look(person, "study", "link after withdrawal")


def log_in(person: Person) -> None:
    person.page.goto(f"{person.address}/experimenter")
    person.page.fill("#secret", SECRET)
    person.page.keyboard.press("Enter")
    person.page.get_by_role("heading", name="Overview").wait_for()


def sweep_experimenter(sweep: Sweep) -> None:
    """Look at the pages that can be reached by links; of each kind, such as episodes, a few."""
    with (
        tempfile.TemporaryDirectory() as folder,
        studies(Path(folder)) as (address, files),
        sweep.person(address) as person,
    ):
        person.page.goto(f"{address}/experimenter")
        sweep.look(person, "experimenter", "login", "#secret")
        person.page.fill("#secret", "wrong")
        with person.page.expect_navigation():
            person.page.keyboard.press("Enter")
        sweep.look(person, "experimenter", "wrong secret")
        for name in ("done", "in_a_game", "at_first_page"):
            with sweep.person(address) as other:
                way = participant(other, files["full"], name)
                way.come()
                while name == "in_a_game" and not way.seat:
                    way.onward()
                if name == "done":
                    walk(way, lambda: None, lambda: None)
        log_in(person)
        find = f"{address}/experimenter/study?study=full&find="
        crawl(sweep, person, [person.page.url, f"{find}in_a_game", f"{find}nobody"])


def crawl(sweep: Sweep, person: Person, waiting: list[str]) -> None:
    """Look at the pages behind links; of pages that differ in a value only, at a few."""
    seen: Counter[Any] = Counter()
    while waiting:
        path = waiting.pop(0).removeprefix(person.address).partition("#")[0]
        kind = page_kind(path)
        is_file = re.search(r"\.(csv|json|jsonl|zip)", path)
        if is_file or seen[path] or seen[kind] >= OF_EACH_KIND:
            continue
        seen.update([path, kind])
        person.page.goto(f"{person.address}{path}")
        links = person.page.eval_on_selector_all("a[href]", "links => links.map(a => a.href)")
        waiting += [link for link in links if link.startswith(f"{person.address}/experimenter")]
        sweep.look(person, "experimenter", path, "h1")


def page_kind(path: str) -> tuple[Any, ...]:
    """What a page shows: its path without an episode's name, and the values that matter."""
    page, _, query = path.partition("?")
    values = dict(parse_qsl(query))
    turn = values.get("turn", "")
    perspective = values.get("eyes"), "number" if turn.isdigit() else turn
    given = [name for name in ("find", "play_on") if name in values]
    return re.sub(r"(?<=episodes)/.+", "/", page), perspective, *given


def sweep_results(sweep: Sweep) -> None:
    """Look at a report and a board, made of evaluations that the documents ship."""
    evaluations = [str(BUNDLES / f"sally_2-qwen-{size}.sally.zip") for size in ("0.5b", "1.5b")]
    with tempfile.TemporaryDirectory() as folder, sweep.person("") as person:
        report, board = Path(folder) / "report.html", Path(folder) / "board"
        store = str(BUNDLES / "quickstart_model-0.5b.sally.zip")
        for options in ([store, "--out", report], ["--board", *evaluations, "--out", board]):
            command = (sys.executable, "-m", "sally", "report", *map(str, options))
            subprocess.run(command, check=True, capture_output=True)
        for file in [report, *sorted(board.glob("*.html"))]:
            person.page.goto(file.as_uri())
            sweep.look(person, "results", str(file.relative_to(folder)), "h1")


SWEEPS = {
    "games": sweep_games,
    "lobby": sweep_lobby,
    "study": sweep_study,
    "experimenter": sweep_experimenter,
    "results": sweep_results,
}


def main(out: Path, parts: Sequence[str], games: Sequence[str]) -> None:
    axe = script()
    if axe is None:
        raise SystemExit("axe-core cannot be fetched here: no npm, or no network.")
    out.mkdir(parents=True, exist_ok=True)
    with browser() as chromium:
        sweep = Sweep(chromium, axe, out, games)
        for part in parts:
            SWEEPS[part](sweep)
    print(f"{dict(sweep.pages)} pages, {dict(sweep.checks)} checks, {len(sweep.findings)} findings")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--parts", nargs="*", default=list(SWEEPS), choices=SWEEPS)
    parser.add_argument("--games", nargs="*", default=list(registry.games()))
    given = parser.parse_args()
    main(given.out, given.parts, given.games)
