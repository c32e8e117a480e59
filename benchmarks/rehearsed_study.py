"""A rehearsed study of 40 people, with everything that an experimenter meets.

`python -m benchmarks.rehearsed_study` runs a study of pairs in two conditions (in one, all points
are paid; in the other, one game drawn at random at ten times the rate) against `sally serve` in a
process of its own. Scripted participants use the study's pages over HTTP; in four groups a model (a
stub) takes the partner's seat. Meanwhile:

- five people close their browsers: before the games, while they wait, or within a game;
- one loses the cookie, and continues by the link that `sally people find` prints;
- one mails "my id is person17, I am stuck", is found by id and advanced on the dashboard;
- one withdraws, and comes back with the same link;
- when all is over, one is excluded by id with `sally people exclude`.

At the end every payment is recomputed by a few lines that use only the exported tables, the payoff
matrices written below and the pay rule of the study file as written below. All steps use documented
commands and pages. It prints the figures, or fails at the first difference.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import io
import json
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import httpx

from benchmarks.people_campaign import SECRET, OverHttp, Server
from sally.web.rehearsal import ScriptedParticipant
from sally.web.study.definition import HumanStudy, read_human_study

MODEL = """
from sally.core.prompt.model import ModelKind
from sally.models.stub import always

MODEL = ModelKind("stub_partner", "always chooses J", lambda name: always("Option: J"), at_once=8)
"""
STUDY = """
name = "rehearsed"
title = "Two games with another player"
participants = {people}
option_order = "balanced"
contact = "lab@example.org"
instructions = ["You play two games of three rounds with another player."]
[consent]
text = "This takes five minutes."
[[survey_before]]
kind = "choice"
name = "device"
question = "What do you play on?"
options = ["A computer", "A phone"]
[[survey_each_game]]
kind = "scale"
name = "fair"
question = "How fair was the other player?"
[[instances]]
id = "ipd-3"
game = "ipd"
params = {{ rounds = 3 }}
[[instances]]
id = "ibs-3"
game = "ibs"
params = {{ rounds = 3 }}
[[conditions]]
name = "all games"
people = ["agent", "partner"]
[[conditions]]
name = "one game"
people = ["agent", "partner"]
debrief = "One of your games was drawn and paid at ten times the rate."
bonus = {{ per_point = 0.10, random_games = 1 }}
[[models]]
model = "stub_partner"
participants = 4
[by_partner.model]
debrief = "The other player was a model."
bonus = {{ base = 1.20 }}
[[survey]]
kind = "text"
name = "why"
question = "How did you decide?"
[bonus]
base = 1.00
per_point = 0.01
most = 3.00
partner_left = 0.25
currency = "EUR"
[platform]
name = "Prolific"
participant = "PROLIFIC_PID"
[completion]
code = "C1A2B3"
[limits]
idle_minutes = 0.7
answer_seconds = 20
timeout = "match"
pair_minutes = 0.4
model_seconds = [0.05, 0.2]
"""
# What the study file says about money, and the games' payoffs, for the recomputation.
BASE = {"person": "1.00", "bot": "1.00", "model": "1.20"}
RATE = {"all games": "0.01", "one game": "0.10"}
MOST, PARTNER_LEFT = Decimal("3.00"), Decimal("0.25")
PAYOFFS = {  # game -> (agent's choice, partner's choice) -> points of agent and partner
    "ipd": {(0, 0): (8, 8), (0, 1): (0, 10), (1, 0): (10, 0), (1, 1): (5, 5)},
    "ibs": {(0, 0): (10, 7), (0, 1): (0, 0), (1, 0): (0, 0), (1, 1): (7, 10)},
}


class Rehearsal:
    """The study, its server and its participants."""

    def __init__(self, folder: Path, people: int, seed: int) -> None:
        self.file, self.data = folder / "study.toml", folder / "data"
        self.file.write_text(STUDY.format(people=people))
        model = folder / "stub_partner.py"
        model.write_text(MODEL)
        self.sally = [sys.executable, "-m", "sally", "--use", str(model)]
        self.study: HumanStudy | None = None
        self.server = Server(self.file, self.data, "")
        self.server.command[3:3] = ["--use", str(model)]
        self.people, self.draw = people, random.Random(seed)
        self.commands: list[str] = []  # documented commands and pages that were used

    def command(self, *arguments: str, database: bool = True) -> str:
        """Run a `sally people` command and return its output."""
        database_options = ("--database", str(self.data / "database.sqlite")) if database else ()
        command = [
            *self.sally,
            "people",
            arguments[0],
            str(self.file),
            *arguments[1:],
            *database_options,
        ]
        self.commands.append(f"sally people {arguments[0]}")
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.server.port}"

    def newcomer(self, client: Any, number: int) -> ScriptedParticipant:
        assert self.study is not None
        browser = OverHttp(None, client=client, base_url=self.base_url)  # type: ignore[arg-type]
        draw = random.Random(self.draw.random())
        return ScriptedParticipant(self.study, browser, draw, 0.0, f"person{number}")

    async def take_part(self, client: Any) -> dict[str, str]:
        """Let everybody take part; return what befell the people with a fate of their own."""
        numbers = self.draw.sample([n for n in range(self.people) if n != 17], 7)
        lost_cookie, withdraws, *leavers = numbers
        leaves_at = dict(zip(leavers, (2, 3, 4, 5, 6), strict=True))  # actions until they are gone
        fates = {f"person{n}": "closed the browser" for n in leavers}
        fates |= {f"person{lost_cookie}": "lost the cookie", f"person{withdraws}": "withdrew"}
        fates["person17"] = "was stuck"
        people = [self.newcomer(client, n) for n in range(self.people)]
        for person in people:
            await person.come()

        async def live(number: int, person: ScriptedParticipant) -> None:
            action = 0
            while True:
                action += 1
                if action == leaves_at.get(number):
                    return None
                if number == withdraws and action == 3:
                    return await self.withdraw(person)
                if number == lost_cookie and action == 2:
                    await self.resume(person)
                elif number == 17 and action == 2:
                    await self.answer_mail(client, person)
                elif not await person.step():
                    return None
                await asyncio.sleep(0.2)

        await asyncio.gather(*(live(number, person) for number, person in enumerate(people)))
        return fates

    async def resume(self, person: ScriptedParticipant) -> None:
        """Lose the cookie, come back by the platform's link, and go on by the experimenter's."""
        step_before = person.browser.field("step")
        person.browser.cookies.clear()
        await person.browser.get(person.study.link(person.name))
        assert "You started in another browser" in person.browser.text
        facts = json.loads(await asyncio.to_thread(self.command, "find", person.name, "--json"))
        await person.browser.get(facts["resume"])
        await person.browser.post(
            facts["resume"].partition("?")[0], key=facts["resume"].partition("key=")[2]
        )
        assert person.browser.field("step") == step_before, "the lost participant is elsewhere"

    async def answer_mail(self, client: Any, person: ScriptedParticipant) -> None:
        """Find the person of the mail by id, and skip the step on the dashboard."""
        facts = json.loads(await asyncio.to_thread(self.command, "find", person.name, "--json"))
        assert facts["participant_id"] == person.name and facts["state"] == "active"
        assert facts["step"] == person.browser.field("step")
        await client.post(f"{self.base_url}/experimenter/login", data={"secret": SECRET})
        page = await client.get(f"{self.base_url}/experimenter/study", params={"find": person.name})
        token = re.search(r'name="form_token" value="([^"]+)"', page.text)
        assert token is not None and f"<dd>{person.name}</dd>" in page.text
        sent = {"form_token": token[1], "participant": facts["participant"], "action": "advance"}
        await client.post(f"{self.base_url}/experimenter/study/help", data=sent)
        self.commands.append("/experimenter/study: Find a participant, Advance")
        await person.browser.get(person.address)
        assert person.browser.field("step") != facts["step"], "the participant is still stuck"

    async def withdraw(self, person: ScriptedParticipant) -> None:
        """Withdraw, and come back with the same link."""
        await person.browser.get(f"{person.address}/withdraw")
        await person.browser.post(f"{person.address}/withdraw", token=person.browser.field("token"))
        await person.browser.get(person.study.link(person.name))
        assert "You withdrew from this study earlier" in person.browser.text
        assert 'name="agree"' not in person.browser.text

    async def run(self) -> dict[str, str]:
        self.command("check", database=False)
        import sally

        sally.use(self.sally[-1])
        self.study = read_human_study(self.file)
        self.server.start()
        try:
            async with httpx.AsyncClient(timeout=60, trust_env=False) as client:
                fates = await self.take_part(client)
                for _ in range(120):  # until those who left have lapsed
                    states = json.loads(await asyncio.to_thread(self.command, "progress", "--json"))
                    if not states["states"].get("active"):
                        break
                    await asyncio.sleep(1)
                assert not states["states"].get("active"), states["states"]
        finally:
            assert self.server.process is not None
            self.server.process.terminate()
            self.server.process.wait()
        return fates


def read_table(folder: Path, name: str) -> list[dict[str, str]]:
    (file,) = (folder / "psych-ds" / "data").glob(f"*description-{name}_data.csv")
    return list(csv.DictReader(io.StringIO(file.read_text())))


def recompute(folder: Path) -> dict[str, Decimal]:
    """Return the whole pay by participant code, from the exported choices alone."""
    points: dict[tuple[str, str], int] = defaultdict(int)
    for trial in read_table(folder, "trials"):
        others = json.loads(trial["others_option"] or "{}")
        if trial["option"] and others:  # both chose
            own_option, other_option = int(trial["option"]), int(next(iter(others.values())))
            is_agent = trial["seat"] == "agent"
            pay = PAYOFFS[trial["game"]][
                (own_option, other_option) if is_agent else (other_option, own_option)
            ]
            points[trial["participant"], trial["game_number"]] += pay[0 if is_agent else 1]
    outcomes = {
        row["participant"]: [came["how"] for came in row["rounds"]]
        for row in json.loads((folder / "people.json").read_text())
    }
    pays = {}
    for row in read_table(folder, "participants"):
        code, condition = row["participant"], row["condition"]
        games = json.loads(row["paid_games"] or "[]")
        earned = sum(points[code, str(game)] for game in games)
        amount = Decimal(BASE[row["partner"]]) + Decimal(RATE[condition]) * earned
        was_left = {"partner left", "no partner"} & set(outcomes[code])
        if was_left and row["state"] != "lapsed":  # those who left get no compensation
            amount += PARTNER_LEFT
        pays[code] = min(amount, MOST).quantize(Decimal("0.01"), ROUND_HALF_UP)
    return pays


def verify(rehearsal: Rehearsal, fates: dict[str, str]) -> dict[str, Any]:
    """Check the study after its end; raises AssertionError at the first difference."""
    done = next(f"person{n}" for n in range(rehearsal.people) if f"person{n}" not in fates)
    facts = json.loads(rehearsal.command("find", done, "--json"))
    if facts["state"] in ("done", "incomplete"):
        rehearsal.command("exclude", done, "--reason", "rehearsed")
        fates[done] = "was excluded"
    out, payments_file = rehearsal.data / "export", rehearsal.data / "payments.csv"
    rehearsal.command("export", "--out", str(out))
    rehearsal.command("payments", "--out", str(payments_file))
    payments = list(csv.DictReader(io.StringIO(payments_file.read_text())))
    expected = recompute(out)
    rows = {row["participant"]: row for row in read_table(out, "participants")}
    compared = 0
    for payment in payments:
        paid = Decimal(payment["base"]) + Decimal(payment["bonus"])
        row = rows[payment["participant"]]
        compared += 1
        assert paid == expected[payment["participant"]], (payment, expected[row["participant"]])
        if payment["participant_id"] == done and fates.get(done) == "was excluded":
            assert payment["state"] == "excluded" and row["exclusion"] == "rehearsed"
    states = Counter(row["state"] for row in rows.values())
    partners = Counter(row["partner"] for row in rows.values() if row["games_played"] != "0")
    assert len(rows) == rehearsal.people - 1, "all but the withdrawn participant have a row"
    finished = {"done", "incomplete", "excluded"}
    assert sum(states[state] for state in finished) == len(
        [p for p in payments if p["state"] in finished]
    )
    code = {payment["participant_id"]: payment["participant"] for payment in payments}
    assert rows[code["person17"]]["advanced"] not in ("", "[]")
    withdrawn = {name for name, fate in fates.items() if fate == "withdrew"}
    assert not withdrawn & set(code)
    return {
        "people": rehearsal.people,
        "states": dict(states),
        "partners of those who played": dict(partners),
        "fates": fates,
        "payments recomputed": compared,
        "of them lapsed": sum(payment["state"] == "lapsed" for payment in payments),
        "payments that differ": 0,
        "paid in all": str(sum(Decimal(p["base"]) + Decimal(p["bonus"]) for p in payments)),
        "used": sorted(set(rehearsal.commands)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--people", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.people < 18:
        parser.error("--people must be at least 18, because person17 is the one who is stuck.")
    with tempfile.TemporaryDirectory() as folder:
        rehearsal = Rehearsal(Path(folder), options.people, options.seed)
        fates = asyncio.run(rehearsal.run())
        figures = verify(rehearsal, fates)
    if options.json:
        print(json.dumps(figures, indent=2))
    else:
        for name, value in figures.items():
            print(f"{name}: {value}")


if __name__ == "__main__":
    main()
