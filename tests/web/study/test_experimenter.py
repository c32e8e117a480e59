"""What an experimenter does for one participant, and what depends on condition and partner."""

from __future__ import annotations

import asyncio
import csv
import html
import io
import re
import time
import zipfile
from decimal import Decimal
from typing import Any

import pytest
from click.testing import CliRunner

from sally.cli import cli
from sally.core.errors import BadInput
from sally.core.registry import registry
from sally.models.stub import always
from sally.web.study import participants
from sally.web.study.definition import read_human_study, sign_id
from sally.web.study.steps import RoundOutcome, paid_games, pay_of, step_text
from tests.web.participants import (
    RIGHT,
    TEXT,
    Participant,
    logged_in,
    on_disk,
    study_server,
    through,
)
from tests.web.study.test_design import PAIRS, play_together
from tests.web.study.test_withdrawal import dashboard, rows


def command(*arguments: str) -> Any:
    return CliRunner().invoke(cli, ["people", *arguments])


def payments(server: Any) -> dict[str, dict[str, str]]:
    text = logged_in(server).browser.get("/experimenter/study/payments.csv").text
    return {row["participant_id"]: row for row in csv.DictReader(io.StringIO(text))}


def table(server: Any, name: str) -> list[dict[str, str]]:
    data = logged_in(server).browser.get("/experimenter/study/psych-ds.zip").content
    with zipfile.ZipFile(io.BytesIO(data)) as folder:
        (file,) = [n for n in folder.namelist() if f"description-{name}_" in n]
        return list(csv.DictReader(io.StringIO(folder.read(file).decode())))


def go_away(server: Any, platform_id: str) -> None:
    """Let a participant be away for longer than the study waits."""
    long_ago = time.time() - 10**6
    by = "UPDATE people SET seen = ? WHERE given = ?"
    study = next(iter(server.app.state.studies.values()))
    server.portal.call(study.database.run, lambda tx: tx.execute(by, long_ago, platform_id))


# --- one participant ------------------------------------------------------------------------------


def test_platform_id_leads_to_the_row_and_back(tmp_path):
    with study_server(tmp_path, TEXT) as server:
        through(Participant(server), "id-of-ann")
        Participant(server).agree("id-of-bob").read_on()
        code = rows(server)[0]["participant"]
        assert payments(server)["id-of-ann"]["participant"] == code
        browser = logged_in(server).browser
        for text in ("id-of-ann", code, code[:8]):
            page = browser.get("/experimenter/study", params={"find": text}).text
            assert "<dd>id-of-ann</dd>" in page and f"<dd>{code}</dd>" in page
        missing = browser.get("/experimenter/study", params={"find": "id-of-nobody"}).text
        assert "No participant has the id or code" in missing
        # the command reads the database of the running server
        arguments = (str(tmp_path / "study.toml"), "--database", str(tmp_path / "database.sqlite"))
        printed = command("find", arguments[0], "id-of-bob", *arguments[1:]).output
        assert "participant id: id-of-bob\n" in printed and "step: check, try 1\n" in printed
        assert "resume: /study/two_games/resume?key=" in printed
        refused = command("advance", arguments[0], "id-of-bob", *arguments[1:])
        assert "use the buttons on its page" in str(refused.exception)


def test_participant_leads_to_the_episodes_and_back(tmp_path):
    with study_server(tmp_path, TEXT) as server:
        through(Participant(server), "ann")
        through(Participant(server), "bob")
        browser = logged_in(server).browser

        def links(address: str, pattern: str) -> list[str]:
            return re.findall(f'href="({pattern})"', html.unescape(browser.get(address).text))

        (ann, _), find = rows(server), "/experimenter/study?study=two_games&find="
        (games,) = links(f"{find}ann", '/experimenter/episodes[?]text=[^"]*')
        episodes = links(games, '/experimenter/episodes/[^"]*')
        assert len(episodes) == len(ann["rounds"]) == 2
        for episode in episodes:
            assert links(episode, '[^"]*find=[^"]*') == [f"{find}{ann['participant']}#find"]


@pytest.mark.parametrize(
    ("step", "text"),
    [
        ("instructions-1", "page 2 of the instructions"),
        ("block-0-1", "block 1, page 2 of its instructions"),
        ("round-0", "game 1"),
        ("survey-before-0", "survey before the games"),
        ("survey-game-2", "survey after game 3"),
        ("survey", "last survey"),
        ("end", "end"),
    ],
)
def test_dashboard_names_steps_in_words(step, text):
    assert step_text(step) == text


def test_advance_exclude_and_readmit_by_platform_id(tmp_path):
    file, database = str(tmp_path / "study.toml"), str(tmp_path / "database.sqlite")
    with study_server(tmp_path, TEXT.replace("participants = 40", "participants = 2")) as server:
        ann = through(Participant(server), "ann")
        bob = Participant(server).agree("bob")
        assert "The study is full" in Participant(server).get(PROLIFIC_PID="carl").text
        paid = payments(server)["ann"]
        for action in ("readmit", "nonsense"):
            assert dashboard(server, "help", participant="ann", action=action).status_code in (
                400,
                409,
            )
        answer = dashboard(
            server, "help", participant="ann", action="exclude", reason="same answer throughout"
        )
        assert "was excluded" in answer.text and ann.get().heading == "Thank you"
        assert payments(server)["ann"] == {**paid, "state": "excluded"}
        assert rows(server)[0]["exclusion"] == "same answer throughout"
        assert Participant(server).get(PROLIFIC_PID="carl").heading != "The study is full"
        assert dashboard(server, "help", participant="bob", action="advance").status_code == 200
        assert rows(server)[1]["advanced"] == ["instructions-0"]
        go_away(server, "bob")
        assert bob.get().heading == "Your time has run out"
        assert dashboard(server, "help", participant="bob", action="readmit").status_code == 200
        assert bob.get().heading == "Instructions"
        go_away(server, "bob")
    assert "can go on" in command("readmit", file, "bob", "--database", database).output
    skipped = command("advance", file, "bob", "--database", database).output
    assert skipped == "The step page 2 of the instructions was skipped.\n"
    excluded = command("exclude", file, "bob", "--reason", "asked us", "--database", database)
    assert "was excluded" in excluded.output
    second_result = command("exclude", file, "bob", "--reason", "asked us", "--database", database)
    assert "The participant is excluded" in str(second_result.exception)
    listed = command("find", file, "bob", "--database", database).output
    assert "state: excluded\n" in listed and "resume" not in listed


def test_commands_mark_lapsed_people_as_the_dashboard_does(tmp_path):
    arguments = (str(tmp_path / "study.toml"), "--database", str(tmp_path / "database.sqlite"))
    with study_server(tmp_path, TEXT) as server:
        Participant(server).agree("stays")
        Participant(server).agree("goes")
        go_away(server, "goes")
        assert "active 1, lapsed 1" in command("progress", *arguments).output
        listed = command("list", *arguments).output
        assert re.findall(r"\b(active|lapsed)\b", listed) == ["active", "lapsed"]
        assert "state: lapsed" in command("find", arguments[0], "goes", *arguments[1:]).output
        page = logged_in(server).browser.get("/experimenter/study").text
        assert re.findall(r"<td>(active|lapsed)</td>", page) == ["active", "lapsed"]


def test_lost_cookie_is_resumed_once_by_the_experimenters_link(tmp_path):
    with study_server(tmp_path, TEXT) as server:
        lost = Participant(server).agree("ann").read_on()
        new = Participant(server).get(PROLIFIC_PID="ann")
        assert new.heading == "You started in another browser"
        page = logged_in(server).browser.get("/experimenter/study", params={"find": "ann"}).text
        key = re.search(r"/study/two_games/resume\?key=([0-9a-f.]+)", page)[1]
        wrong_key = key[:-1] + ("1" if key[-1] == "0" else "0")
        assert new.get("/resume", key=wrong_key).heading == "This link cannot be used"
        assert new.get("/resume", key=key).heading == "Decisions with another player"
        assert lost.get().heading != "You started in another browser"  # opening changes nothing
        new.post("/resume", key=key)
        assert "Questions" in new.heading or new.field("step") == "check-0"
        assert Participant(server).post("/resume", key=key).heading == "This link cannot be used"
        assert (
            new.check(*RIGHT).play_all().survey(human="4", device="A phone").heading == "Thank you"
        )
        assert len(rows(server)) == 1


def test_signed_links_resume_and_others_are_refused(tmp_path, monkeypatch):
    text = TEXT.replace("[completion]", 'signature = "sig"\n[completion]')
    monkeypatch.delenv("SALLY_LINK_SECRET", raising=False)
    with pytest.raises(BadInput, match="set SALLY_LINK_SECRET"), study_server(tmp_path, text):
        pass
    monkeypatch.setenv("SALLY_LINK_SECRET", "a key of the platform's")
    (tmp_path / "study.toml").write_text(text)
    printed = command("link", str(tmp_path / "study.toml"), "ann").output.strip()
    assert printed == f"/study/two_games?PROLIFIC_PID=ann&sig={sign_id('ann')}"
    with study_server(tmp_path, text) as server:
        for signature in ("", sign_id("bob"), sign_id("ann")[:-1]):
            page = Participant(server).get(PROLIFIC_PID="ann", sig=signature)
            assert page.heading == "This link is incomplete"
        person = Participant(server).get(PROLIFIC_PID="ann", sig=sign_id("ann"))
        person.post("/consent", token=person.field("token"), given="ann", agree="yes").read_on()
        step = person.field("step")
        alternative = Participant(server).get(PROLIFIC_PID="ann", sig=sign_id("ann"))
        assert alternative.field("step") == step  # another browser goes on
        assert person.get().heading != alternative.heading


def test_withdrawn_id_is_told_so_and_not_asked_for_consent_again(tmp_path):
    with study_server(tmp_path, TEXT) as server:
        offered = Participant(server).get(PROLIFIC_PID="goes0away0id")
        token = offered.field("token")
        person = through(Participant(server), "goes0away0id")
        code = rows(server)[0]["participant"]
        person.get("/withdraw")
        assert "scrambled form" in person.text
        person.post("/withdraw", token=person.field("token"))
        for browser in (person, Participant(server)):
            browser.get(PROLIFIC_PID="goes0away0id")
            assert browser.heading == "You have withdrawn" and 'name="agree"' not in browser.text
            assert browser.page.status_code == 409
        # a consent form that was open before is refused, too
        offered.post("/consent", token=token, given="goes0away0id", agree="yes")
        assert offered.heading == "You have withdrawn" and rows(server) == []
        assert Participant(server).get(PROLIFIC_PID="another0id").field("given") == "another0id"
        dashboard(server, "purged")
        assert on_disk(tmp_path, "goes0away0id") == [] == on_disk(tmp_path, code)


# --- by condition and partner ---------------------------------------------------------------------

VARIED = (
    TEXT.replace(
        'name = "not asked"',
        'name = "not asked"\ndebrief = "You were not asked."\n'
        "bonus = { base = 2.00, per_point = 0.02 }\n"
        'survey = [{ kind = "text", name = "missed", question = "Did you miss anything?" }]',
    )
    .replace("most = 3.00", "most = 9.00")
    .replace(
        "[bonus] ",
        '[[survey_before]]\nkind = "choice"\nname = "mood"\nquestion = "Mood?"\n'
        'options = ["Good", "Bad"]\nattention = "Good"\n'
        '[[survey_each_game]]\nkind = "scale"\nname = "fair"\nquestion = "Fair?"\n'
        '[by_partner.bot]\ndebrief = "You played with a bot."\n'
        '[by_partner.model]\ndebrief = "You played with a model."\n[bonus] ',
    )
)


def test_survey_debrief_and_pay_follow_the_condition(tmp_path):
    with study_server(tmp_path, VARIED) as server:
        seen: dict[str, Participant] = {}
        for name in ("one", "two"):
            person = Participant(server).agree(name).read_on().check(*RIGHT)
            assert person.heading == "A few questions" and "Mood?" in person.text
            assert "Please answer this question" in person.next().text
            person.next(**{"item-mood": "Bad" if name == "two" else "Good"})
            while person.heading != "Final questions":
                person.play()
                assert "Fair?" in person.text and person.heading == "A few questions"
                person.next(**{"item-fair": "5"})
            condition = next(r for r in rows(server) if r["state"] == "active")["condition"]
            assert ("Did you miss anything?" in person.text) == (condition == "not asked")
            seen[condition] = person.survey(human="4", device="A phone", missed="no")
        assert set(seen) == {"asked", "not asked"}
        for condition, person in seen.items():
            assert person.heading == "Thank you" and "begins by cooperating" in person.text
            assert ("You were not asked." in person.text) == (condition == "not asked")
            assert "You played with a bot." in person.text and "with a model" not in person.text
        paid = {row["participant"]: row for row in payments(server).values()}
        for row in rows(server):
            points = sum(Decimal(str(r["payoff"])) for r in row["rounds"])
            base, rate = ("2.00", "0.02") if row["condition"] == "not asked" else ("1.00", "0.01")
            payment = paid[row["participant"]]
            assert points > 0 and payment["base"] == base
            assert Decimal(payment["bonus"]) == (points * Decimal(rate)).quantize(Decimal("0.01"))
            assert row["partner"] == "bot" and row["paid_games"] == [1, 2]
            assert row["started"] <= row["finished"]
        assert [row["attention"] for row in rows(server)] == [[1, 1], [0, 1]]
        survey = table(server, "survey")
        assert [(row["asked"], row["item"]) for row in survey[:5]] == [
            ("before", "mood"), ("game 1", "fair"), ("game 2", "fair"), ("end", "human"),
            ("end", "device"),
        ]  # fmt: skip
        trials = table(server, "trials")
        for row in (*survey, *trials, *table(server, "probes")):
            assert re.fullmatch(r"20\d\d-\d\d-\d\d \d\d:\d\d:\d\d", row["answered"])


def test_random_games_are_drawn_before_play_and_paid_exactly(tmp_path):
    text = TEXT.replace("[bonus] ", "[bonus]\nrandom_games = 1 ")
    with study_server(tmp_path, text) as server:
        for name in ("one", "two", "three"):
            person = through(Participant(server), name)
            row = rows(server)[-1]
            (game,) = row["paid_games"]
            points = Decimal(str(row["rounds"][game - 1]["payoff"]))
            assert f"Drawn for payment: game {game}" in person.text
            assert Decimal(row["bonus"]) == Decimal("1.00") + points / 100
    study = read_human_study(tmp_path / "study.toml")
    condition, nothing = study.conditions[0], dict[str, Any]()
    played = [RoundOutcome("ended", 7.0), RoundOutcome("ended", 30.0)]
    drawn = [paid_games(study, condition, nothing, n, played)[0] for n in range(200)]
    assert 70 <= sum(drawn) <= 130  # each game about equally often
    for n, game in enumerate(drawn):
        pay = Decimal("1.00") + Decimal(7 if game == 0 else 30) / 100
        assert Decimal(pay_of(study, condition, nothing, n, played)) == pay
        # the draw does not depend on the points; a game without points is not drawn
        reverse = [RoundOutcome("ended", 30.0), RoundOutcome("ended", 7.0)]
        assert paid_games(study, condition, nothing, n, reverse) == [game]
        left = [RoundOutcome("ended", 7.0), RoundOutcome("partner left")]
        assert pay_of(study, condition, nothing, n, left) == "1.07"


def test_partner_kind_decides_debrief_and_pay_in_groups(tmp_path, monkeypatch):
    text = PAIRS.replace(
        "[bonus] ",
        '[by_partner.person]\ndebrief = "With a person."\n'
        '[by_partner.bot]\ndebrief = "With a bot."\n'
        "bonus = { base = 1.50 }\n[bonus] ",
    ).replace("[limits]", '[limits]\nfallback = "bot"')
    with study_server(tmp_path, text) as server:
        first = Participant(server).agree("one").read_on().check(*RIGHT)
        two = Participant(server).agree("two").read_on().check(*RIGHT)
        first.get()
        play_together(first, two)
        play_together(first, two)
        for person in (first, two):
            person.survey(human="4", device="A phone")
            assert "With a person." in person.text and "With a bot." not in person.text
        alone = Participant(server).agree("alone").read_on().check(*RIGHT)
        now = participants.time.time
        monkeypatch.setattr(participants.time, "time", lambda: now() + 11 * 60)
        alone.get().play_all().survey(human="4", device="A phone")
        assert "With a bot." in alone.text
        paid = payments(server)
        assert [paid[name]["base"] for name in ("one", "two", "alone")] == ["1.00", "1.00", "1.50"]
        assert [row["partner"] for row in rows(server)] == ["person", "person", "bot"]


REMATCHED = PAIRS.replace('name = "pairs"', 'name = "pairs"\nrematch = true').replace(
    "[bonus] ", "[bonus]\npartner_left = 0.25 "
)


def partners(server: Any) -> list[set[str]]:
    """Return the participants of each episode, in order."""
    text = logged_in(server).browser.get("/experimenter/study/episodes.jsonl").text
    lines = [line for line in text.splitlines() if line]
    return [set(re.findall(r'"participant":"(\w+)"', line)) for line in lines]


def play_all_together(people: list[Participant]) -> None:
    """Let everybody answer until nobody is in a game or waits for one."""
    for _ in range(200):
        busy = False
        for person in people:
            person.get()
            if "/table#" in person.page.text:
                busy = True
                person.answer_all(person.seat_token, limit=1)
        if not busy and all(person.heading == "Final questions" for person in people):
            return
    raise AssertionError([person.heading for person in people])


def test_rematched_people_play_every_game_with_another_partner(tmp_path):
    with study_server(tmp_path, REMATCHED) as server:
        people = [Participant(server).agree(f"p{n}").read_on().check(*RIGHT) for n in range(4)]
        play_all_together(people)
        for person in people:
            assert person.survey(human="4", device="A phone").heading == "Thank you"
        groups = partners(server)
        assert len(groups) == 4 and all(len(group) == 2 for group in groups)
        assert len(set(map(frozenset, groups))) == 4  # nobody met anybody twice
        for row in rows(server):
            assert row["state"] == "done" and [r["how"] for r in row["rounds"]] == ["ended"] * 2
            assert row["order"] == ["ipd-5", "ibs-5"] and row["pair"] is None
            points = sum(Decimal(str(r["payoff"])) for r in row["rounds"])
            assert Decimal(row["bonus"]) == Decimal("1.00") + points / 100


def test_rematched_person_goes_on_after_a_partner_left(tmp_path, monkeypatch):
    with study_server(tmp_path, REMATCHED) as server:
        leaves, stays, other, another = (
            Participant(server).agree(f"p{n}").read_on().check(*RIGHT) for n in range(4)
        )
        leaves.get().leave(leaves.seat_token)
        assert leaves.get().heading == "Final questions"
        people = [stays, other, another]
        for _ in range(100):
            for person in people:
                person.get()
                if "/table#" in person.page.text:
                    person.answer_all(person.seat_token, limit=1)
            if sum(person.heading == "Final questions" for person in people) == 2:
                break
        (alone,) = (p for p in people if p.heading != "Final questions")
        assert "Waiting for another participant" in alone.text
        now = participants.time.time
        monkeypatch.setattr(participants.time, "time", lambda: now() + 11 * 60)
        assert alone.get().heading == "Final questions"
        for person in people:
            person.survey(human="4", device="A phone")
        outcomes = {r["rounds"][0]["how"]: r for r in rows(server)}
        assert set(outcomes) == {"left", "partner left", "ended"}
        continued = outcomes["partner left"]
        assert continued["rounds"][1]["how"] == "ended"
        points = sum(Decimal(str(r.get("payoff") or 0)) for r in continued["rounds"])
        assert Decimal(continued["bonus"]) == Decimal("1.25") + points / 100


@pytest.mark.parametrize(
    ("was", "becomes", "message"),
    [
        ('people = ["agent", "partner"]', 'people = ["agent"]', "rematch needs two seats"),
        ("rematch = true", "rematch = true\nchat_seconds = 9", "neither with chat_seconds"),
        ("[limits]", '[limits]\nfallback = "bot"', "rematch needs limits.fallback"),
    ],
)
def test_rematch_refuses_what_it_cannot_do(tmp_path, was, becomes, message):
    file = tmp_path / "study.toml"
    file.write_text(REMATCHED.replace(was, becomes, 1))
    with pytest.raises(BadInput, match=message):
        read_human_study(file)


def test_answers_of_models_wait_for_the_delay_of_the_study(tmp_path, monkeypatch):
    monkeypatch.setitem(registry._added["models"], "dull", lambda name: always("Option: J"))
    player = '{ player = "language", params = { model = "dull" } }'
    text = TEXT.replace('{ player = "tit_for_tat" }', player)
    text = text.replace("[limits]", "[limits]\nmodel_seconds = [20, 40]")
    waits, sleep = [], asyncio.sleep

    async def note_wait(seconds: float, *rest: Any) -> None:
        if seconds > 15:
            waits.append(seconds)
        await sleep(0 if seconds > 15 else seconds, *rest)

    monkeypatch.setattr(asyncio, "sleep", note_wait)
    with study_server(tmp_path, text) as server:
        person = Participant(server).agree("m").read_on().check(*RIGHT)
        person.answer_all(person.seat_token)
        while len(waits) < 2:
            person.screen(person.seat_token)
            person.answer_all(person.seat_token)
    assert all(15 < seconds <= 40 for seconds in waits) and len(set(waits)) > 1
    with pytest.raises(BadInput, match="model_seconds must be two times"):
        bad = tmp_path / "bad.toml"
        bad.write_text(text.replace("[20, 40]", "[40, 20]"))
        read_human_study(bad)
