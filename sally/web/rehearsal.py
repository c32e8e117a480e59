"""A pilot with scripted participants, who go through all pages of the study.

They call the application in this process as browsers would: pages, forms, cookies, tokens.
"""

from __future__ import annotations

import html
import random
import re
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import msgspec
from starlette.applications import Starlette

from sally.web.app import Settings, make_app
from sally.web.database import Transaction
from sally.web.security import RateLimiter
from sally.web.study import participants
from sally.web.study.definition import Condition, HumanStudy
from sally.web.study.export import psych_ds_files, put_into_store
from sally.web.study.items import (
    ChoiceItem,
    LikertItem,
    MatrixItem,
    ScaleItem,
    SliderItem,
    TextItem,
)
from sally.web.study.running_study import RunningStudy
from sally.web.study.steps import SURVEY, game_steps, pay_rule

WORDS = ("river", "music", "winter", "I repeated what worked.", "north", "money", "garden")
TRIES = 400  # attempts per ask, since a game may refuse unknown words
MOST_ASKS = 20_000  # in one game


class RehearsalSummary(msgspec.Struct, frozen=True):
    """Summary of a rehearsal."""

    states: dict[str, int]
    conditions: dict[str, dict[str, int]]
    episodes: int
    rows: dict[str, int]  # number of rows by exported table
    pay: dict[str, str]  # base; lowest, mean and highest bonus
    at_the_limit: int  # number of people paid `most`
    faults: tuple[str, ...]  # server errors (status 500 and above)


@dataclass
class Browser:
    """An in-process client with a cookie jar and the last page."""

    app: Starlette
    cookies: dict[str, str] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    text: str = ""

    async def send(
        self, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> tuple[int, bytes]:
        """Send a request and follow redirects."""
        url_path, _, query = path.partition("?")
        sent_headers = {"host": "rehearsal", **(headers or {})}
        sent_headers["cookie"] = "; ".join(f"{k}={v}" for k, v in self.cookies.items())
        scope = {
            "type": "http", "method": method, "path": url_path, "raw_path": url_path.encode(),
            "query_string": query.encode(), "root_path": "", "scheme": "http",
            "http_version": "1.1", "server": ("rehearsal", 80), "client": ("127.0.0.1", 1),
            "headers": [(k.encode(), v.encode()) for k, v in sent_headers.items()],
        }  # fmt: skip
        sent: list[Any] = []
        parts = iter([{"type": "http.request", "body": body, "more_body": False}])

        async def receive() -> Any:
            return next(parts, {"type": "http.disconnect"})

        async def take(message: Any) -> None:
            sent.append(message)

        await self.app(scope, receive, take)
        status, response_headers = sent[0]["status"], dict(sent[0]["headers"])
        for name, value in sent[0]["headers"]:
            if name == b"set-cookie":
                key, _, cookie_value = value.decode().partition("=")
                self.cookies[key] = cookie_value.partition(";")[0]
        if status == 303:
            return await self.send("GET", response_headers[b"location"].decode())
        if status >= 500:
            self.faults.append(f"{status} for {method} {url_path}")
        return status, b"".join(m.get("body", b"") for m in sent[1:])

    async def get(self, path: str) -> None:
        self.text = (await self.send("GET", path))[1].decode()

    async def post(self, path: str, **fields: str) -> None:
        kind = {"content-type": "application/x-www-form-urlencoded"}
        self.text = (await self.send("POST", path, urlencode(fields).encode(), kind))[1].decode()

    async def api(self, path: str, token: str, sent: Any = None) -> tuple[int, Any]:
        headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
        body = b"" if sent is None else msgspec.json.encode(sent)
        status, content = await self.send("GET" if sent is None else "POST", path, body, headers)
        return status, msgspec.json.decode(content)

    def field(self, name: str) -> str:
        field_match = re.search(rf'name="{name}" value="([^"]*)"', self.text)
        return html.unescape(field_match[1]) if field_match else ""


@dataclass
class ScriptedParticipant:
    """A scripted participant who answers at random and may drop out.

    With probability `leaves`, the participant leaves at some page of the study; all pages are
    equally likely.
    """

    study: HumanStudy
    browser: Browser
    draw: random.Random
    leaves: float  # probability of leaving before the end
    name: str
    pages: int = 0  # pages answered so far
    last: int | None = None  # the page at which they leave

    def __post_init__(self) -> None:
        if self.draw.random() < self.leaves:
            longest = max(map(self._length, self.study.conditions))
            self.last = self.draw.randrange(longest)

    def _length(self, condition: Condition) -> int:
        """Return the number of pages of a condition; each game counts as one page."""
        surveys = bool(self.study.survey) + bool(self.study.survey_before)
        extra = (self.study.check is not None) + surveys
        extra += len(self.study.practice_games(condition))
        return len(self.study.pages(condition)) + len(game_steps(self.study, condition)) + extra

    @property
    def address(self) -> str:
        return f"/study/{self.study.name}"

    async def come(self) -> None:
        """Open the study's link and consent."""
        await self.browser.get(self.study.link(self.name))
        token, platform_id = self.browser.field("token"), self.browser.field("given")
        await self.browser.post(
            f"{self.address}/consent", token=token, given=platform_id, agree="yes"
        )

    async def step(self) -> bool:
        """Answer the current page; return whether the participant continues."""
        text, browser = self.browser.text, self.browser
        seat = re.search(r"/table#([0-9a-f]+)&amp;back=", text)
        if self.pages == self.last and seat is None:
            return False
        if seat is not None:
            if self.pages == self.last:  # in the middle of the game
                await browser.api("/api/seat/leave", seat[1], {"key": "leave"})
                return False
            text_before = self.browser.text
            await self.play(seat[1])
            await browser.get(self.address)
            self.pages += self.browser.text != text_before
            return True
        if "data-waiting" in text or " data-ready" in text:
            await browser.get(self.address)
            return True
        step = browser.field("step")
        if not step:
            return False
        answers = {"token": browser.field("token"), "step": step, **self.answers(step)}
        await browser.post(f"{self.address}/next", **answers)
        self.pages += 1
        return True

    def answers(self, step: str) -> dict[str, str]:
        if step.startswith("check-") and self.study.check is not None:
            right = self.draw.random() < 0.9
            return {
                f"q-{i}": q.right if right else self.draw.choice(q.options)
                for i, q in enumerate(self.study.check.questions)
            }
        return self.survey() if step.startswith(SURVEY) else {}

    def survey(self) -> dict[str, str]:
        """Answer the items on the current page."""
        answers: dict[str, str] = {}
        for item in self.study.survey_items.values():
            key = f"item-{item.name}"
            if not re.search(rf'name="{key}(-0)?"', self.browser.text):
                continue
            match item:
                case ChoiceItem():
                    answers[key] = item.attention or self.draw.choice(item.options)
                case LikertItem():
                    answers[key] = str(self.draw.randint(1, len(item.options)))
                case ScaleItem():
                    answers[key] = str(self.draw.randint(item.low, item.high))
                case SliderItem():
                    answers[key] = f"{self.draw.uniform(item.low, item.high):.2f}"
                case MatrixItem():
                    for i, _ in enumerate(item.rows):
                        answers[f"{key}-{i}"] = self.draw.choice(item.options)
                case TextItem():
                    answers[key] = self.draw.choice(WORDS)[: item.limit]
        return answers

    async def play(self, token: str) -> None:
        """Answer the game's questions until the game is over or others must answer first."""
        for n in range(MOST_ASKS):
            _, screen = await self.browser.api("/api/seat", token)
            if screen.get("over") or not screen.get("asks"):
                return
            await self.answer(token, screen["asks"][0], n)

    async def answer(self, token: str, ask: dict[str, Any], n: int) -> None:
        for k in range(TRIES):
            sent = {"ask": ask["id"], "value": value_for(ask, self.draw), "key": f"{n}-{k}"}
            status, _ = await self.browser.api("/api/seat/answer", token, sent)
            if status != 422:
                return


def value_for(ask: Mapping[str, Any], draw: random.Random) -> Any:
    """Return a random legal answer to an ask."""
    if ask["answer"] == "choice":
        return draw.choice(ask["items"])["value"]
    if ask["answer"] == "odds":
        n = len(ask["items"])
        return [100 - 100 // n * (n - 1)] + [100 // n] * (n - 1)
    if ask["answer"] == "values":
        return [draw.uniform(*ask["range"]) for _ in ask["items"]]
    if ask["answer"] == "number":
        return draw.randint(*map(int, ask["range"]))
    option = draw.choice([*ask["options"], *ask["forms"]])
    return option["value"] if "value" in option else _fill_form(option, draw)


def _fill_form(form: Mapping[str, Any], draw: random.Random) -> dict[str, Any]:
    return {"kind": form["kind"]} | {f["name"]: _field(f, draw) for f in form["fields"]}


def _field(field: Mapping[str, Any], draw: random.Random) -> Any:
    match field["type"]:
        case "choice":
            return draw.choice(field["values"])
        case "whole":
            return draw.randint(field["low"], field["high"])
        case "text":
            fitting = [w for w in WORDS if re.fullmatch(field["pattern"] or ".*", w)]
            return draw.choice(fitting or ["a"])[: field["limit"]]
        case "amounts":
            return [[item, "1"] for item, _ in field["most"] if draw.random() < 0.4]
        case "many":
            return [
                _field(field["of"], draw) for _ in range(draw.randint(0, min(2, field["most"])))
            ]
        case _:
            return _fill_form(field, draw)


async def rehearse(
    file: Path,
    study: HumanStudy,
    people: int,
    drop_out: float = 0.0,
    seed: int = 1,
    database: str = "",
    out: Path | None = None,
) -> RehearsalSummary:
    """Run scripted participants through the study and return a summary."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(
            database or str(Path(folder) / "database.sqlite"), None, studies=(file,), a_second=1e6
        )
        app = make_app(settings)
        app.state.rates = RateLimiter(1e9, 1e9)  # no limit
        async with app.router.lifespan_context(app):
            draw = random.Random(seed)
            actors = [
                ScriptedParticipant(
                    study, Browser(app), random.Random(draw.random()), drop_out, f"rehearsal{i}"
                )
                for i in range(people)
            ]
            await _take_part(actors)
            faults = [fault for actor in actors for fault in actor.browser.faults]
            return await _summary_of(app.state.studies[study.name], faults, out)


async def _take_part(actors: list[ScriptedParticipant]) -> None:
    """Let all actors answer one page each in turn until none can continue."""
    for actor in actors:
        await actor.come()
    active, idle = list(actors), 0
    while active and idle < 50:  # some may wait for a partner in vain
        texts_before = [actor.browser.text for actor in active]
        active = [actor for actor in active if await actor.step()]
        idle = idle + 1 if [actor.browser.text for actor in active] == texts_before else 0


def _with_answers(
    tx: Transaction, people: list[participants.Person]
) -> list[tuple[participants.Person, dict[str, Any]]]:
    return [(person, participants.given_by(tx, person.id)) for person in people]


def _is_at_limit(pay: str, limit: float | None) -> bool:
    return bool(pay) and limit is not None and Decimal(pay) >= Decimal(str(limit))


async def _summary_of(
    running_study: RunningStudy, faults: list[str], out: Path | None
) -> RehearsalSummary:
    study = running_study.study
    people = await running_study.database.run(participants.everybody, study.name)
    rules = {
        p.id: pay_rule(study, study.condition(p.condition), answers)
        for p, answers in await running_study.database.run(_with_answers, people)
    }
    bonuses = [rules[p.id].parts(p.bonus)[1] for p in people if p.bonus]
    files = await psych_ds_files(running_study)
    data_files = {
        re.search(r"description-(\w+)_data\.csv$", name): data for name, data in files.items()
    }
    rows = {name[1]: data.count(b"\n") - 1 for name, data in data_files.items() if name}
    owned = await running_study.database.run(
        Transaction.first,
        "SELECT COUNT(*) FROM matches WHERE owner = ? AND ended = 1",
        running_study.owner,
    )
    if out is not None:
        await put_into_store(running_study, out)
    return RehearsalSummary(
        dict(Counter(p.state for p in people)),
        {
            c.name: dict(Counter(p.state for p in people if p.condition == c.name))
            for c in study.conditions
        },
        owned[0] if owned else 0,
        rows,
        {
            "base": f"{study.bonus.base:.2f}",
            "lowest bonus": str(min(bonuses, default=Decimal(0))),
            "mean bonus": f"{sum(bonuses, Decimal(0)) / max(1, len(bonuses)):.2f}",
            "highest bonus": str(max(bonuses, default=Decimal(0))),
        },
        sum(_is_at_limit(p.bonus, rules[p.id].most) for p in people),
        tuple(faults),
    )
