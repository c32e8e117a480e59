"""Scripted participants of a study, who read pages, fill in forms and play."""

from __future__ import annotations

import html
import re
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from sally.web.app import Settings, make_app
from sally.web.study.definition import EXAMPLE, read_human_study
from tests.web.client import Client

SECRET = "a secret of the experimenter's"
TEXT = EXAMPLE.read_text()
RIGHT = ("At the same time", "1 cent")  # the answers to its check
STUDY = read_human_study(EXAMPLE)
HEADING = re.compile(r"<h1[^>]*>(.*?)</h1>", re.S)


@contextmanager
def study_server(folder: Path, text: str, database: str = ""):
    """A server with one study; its client has no session yet."""
    file = folder / "study.toml"
    file.write_text(text)
    settings = Settings(
        database=database or str(folder / "database.sqlite"),
        out=folder / "episodes",
        secret=SECRET,
        studies=(file,),
        a_second=10_000,
    )
    with Client(make_app(settings)) as client:
        yield client


class Participant:
    """A browser with its own cookies and current page."""

    def __init__(self, server: Client, name: str = "two_games") -> None:
        self.browser = Client(server.app, base_url=str(server.base_url))
        self.browser.portal = server.portal  # the same event loop as the server's
        self.address = f"/study/{name}"
        self.page: Any = None

    def get(self, path: str = "", **params: str) -> Participant:
        self.page = self.browser.get(f"{self.address}{path}", params=params)
        return self

    def post(self, path: str, **fields: str) -> Participant:
        self.page = self.browser.post(f"{self.address}{path}", data=fields)
        return self

    @property
    def text(self) -> str:
        return html.unescape(self.page.text)

    @property
    def heading(self) -> str:
        match = HEADING.search(self.page.text)
        return html.unescape(match[1]).strip() if match else ""

    def field(self, name: str) -> str:
        match = re.search(rf'name="{name}" value="([^"]*)"', self.page.text)
        assert match, f"{self.heading}: no field {name}"
        return html.unescape(match[1])

    def agree(self, id: str = "") -> Participant:
        self.get(**({"PROLIFIC_PID": id} if id else {}))
        return self.post(
            "/consent", token=self.field("token"), given=self.field("given"), agree="yes"
        )

    def next(self, **fields: str) -> Participant:
        return self.post("/next", token=self.field("token"), step=self.field("step"), **fields)

    def form_at(self, step: str) -> dict[str, str]:
        """The hidden fields of a page's form."""
        token = self.browser.get(f"{self.address}/withdraw").text
        match = re.search(r'name="token" value="([^"]*)"', token)
        assert match
        return {"token": match[1], "step": step}

    def read_on(self) -> Participant:
        while self.heading == "Instructions":
            self.next()
        return self

    def check(self, *answers: str) -> Participant:
        return self.next(**{f"q-{i}": answer for i, answer in enumerate(answers)})

    @property
    def seat_token(self) -> str:
        match = re.search(
            r'href="/study/[\w-]+/table#([0-9a-f]+)&amp;back=(/study/[\w-]+)"', self.page.text
        )
        assert match, self.heading
        assert match[2] == self.address
        return match[1]

    def screen(self, token: str) -> dict[str, Any]:
        answer = self.browser.get("/api/seat", headers={"authorization": f"Bearer {token}"})
        assert answer.status_code == 200, answer.text
        return answer.json()

    def say(self, token: str, ask: dict[str, Any], value: Any) -> Any:
        return self.browser.post(
            "/api/seat/answer",
            headers={"authorization": f"Bearer {token}"},
            json={"ask": ask["id"], "value": value, "key": uuid4().hex},
        )

    def leave(self, token: str) -> None:
        headers = {"authorization": f"Bearer {token}"}
        self.browser.post("/api/seat/leave", headers=headers, json={"key": uuid4().hex})

    def answer_all(self, token: str, limit: int = 1000, value: int = 0) -> dict[str, Any]:
        """Answer every ask with option `value` until none is open."""
        actual_screen = self.screen(token)
        while actual_screen["asks"] and limit:
            ask = next(
                (a for a in actual_screen["asks"] if a["kind"] == "probe"), actual_screen["asks"][0]
            )
            chosen = (ask["items"] or ask["options"])[value]["value"]
            assert self.say(token, ask, chosen).status_code == 200
            actual_screen, limit = self.screen(token), limit - 1
        return actual_screen

    def play(self) -> Participant:
        """Play one round to its end and come back."""
        triples = self.answer_all(self.seat_token)
        assert triples["over"], triples["waiting_for"]
        return self.get()

    def play_all(self) -> Participant:
        while self.heading.startswith("Game") or self.heading == "The game":
            self.play()
        return self

    def survey(self, **fields: str) -> Participant:
        return self.next(**{f"item-{name}": value for name, value in fields.items()})


def through(person: Participant, id: str) -> Participant:
    """The whole way."""
    person.agree(id).read_on().check(*RIGHT).play_all()
    return person.survey(human="4", device="A phone", why="I repeated myself.")


def logged_in(server) -> Participant:
    participant = Participant(server)
    participant.browser.post("/experimenter/login", data={"secret": SECRET})
    return participant


def on_disk(folder: Path, text: str) -> list[str]:
    """Return the files that contain a text."""
    files = (p for p in folder.rglob("*") if p.is_file())
    return [str(p.relative_to(folder)) for p in files if text.encode() in p.read_bytes()]
