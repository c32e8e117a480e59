"""Groups between games and beside people: chat, models as participants, test mode."""

from __future__ import annotations

import asyncio
import csv
import io
import re
import time
import zipfile

import pytest

from sally.core.errors import BadInput
from sally.core.registry import registry
from sally.models.stub import Scripted
from sally.web.app import Settings, make_app
from sally.web.rehearsal import rehearse
from sally.web.study.definition import read_human_study
from tests.runner.test_executors import until
from tests.web.client import Client
from tests.web.participants import (
    RIGHT,
    SECRET,
    TEXT,
    Participant,
    logged_in,
    on_disk,
    study_server,
)
from tests.web.study.test_design import PAIRS

CHAT = re.sub(r'(people = \["agent", "partner"\]\n)', r"\1chat_seconds = 30\n", PAIRS)
MODELS = PAIRS.replace('title = "', 'models = ["counted"]\ntitle = "', 1).replace(
    "participants = 40", "participants = 3", 1
)


@pytest.fixture
def model(monkeypatch):
    """A model that always says the same, known by the name `counted`."""
    says = Scripted(lambda messages, settings: "Option: F")
    registry._make_model.cache_clear()
    monkeypatch.setitem(registry._added["models"], "counted", lambda name: says)
    yield
    registry._make_model.cache_clear()


def table(server, name: str) -> list[dict[str, str]]:
    data = logged_in(server).browser.get("/experimenter/study/psych-ds.zip").content
    with zipfile.ZipFile(io.BytesIO(data)) as folder:
        (file,) = [n for n in folder.namelist() if f"description-{name}_" in n]
        return list(csv.DictReader(folder.read(file).decode().splitlines()))


def arrived(server, name: str) -> Participant:
    return Participant(server).agree(name).read_on().check(*RIGHT)


def play_through(first: Participant, two: Participant) -> None:
    """Two participants play the current game to its end."""
    first.get(), two.get()
    tokens = first.seat_token, two.seat_token
    for _ in range(100):
        triples = [p.answer_all(token) for p, token in zip((first, two), tokens, strict=True)]
        if all(screen["over"] for screen in triples):
            return
    raise AssertionError("the game does not end")


def say(person: Participant, text: str) -> Participant:
    return person.post("/chat", token=person.field("token"), text=text)


def test_group_chat_is_exported_and_deleted_on_withdrawal(tmp_path):
    with study_server(tmp_path, CHAT) as server:
        participant, two = arrived(server, "ann"), arrived(server, "bob")
        play_through(participant, two)
        assert (
            participant.get().heading == "Talk with your group"
            and "Waiting for the others" in participant.text
        )
        assert two.get().heading == "Talk with your group" and "seconds left to talk" in two.text
        say(participant.get(), "Shall we both\n choose <J>?")
        data = two.browser.get(f"{two.address}/chat").json()
        assert data["said"] == [["1", "Shall we both choose <J>?"]] and 25 <= data["left"] <= 30
        assert "Shall we both choose <J>?" in two.get().text
        assert say(two, "x" * 501).page.status_code == 422
        say(two, "=1+1")
        participant.get().next()
        assert "You are ready" in participant.get().text
        assert two.get().next().heading == "Game 2 of 2"
        assert participant.get().heading == "Game 2 of 2"
        rows = table(server, "chat")
        assert [row["text"] for row in rows] == ["Shall we both choose <J>?", "'=1+1"]
        assert {row["before_game"] for row in rows} == {"2"}
        participant.get("/withdraw").post("/withdraw", token=participant.field("token"))
        assert [row["text"] for row in table(server, "chat")] == ["'=1+1"]
    assert on_disk(tmp_path, "Shall we both") == []


def test_chat_ends_at_its_time_limit(tmp_path):
    with study_server(tmp_path, CHAT.replace("chat_seconds = 30", "chat_seconds = 0.2")) as server:
        participant, two = arrived(server, "ann"), arrived(server, "bob")
        play_through(participant, two)
        participant.get(), two.get()
        until(lambda: two.get().heading == "Game 2 of 2", 60)
        assert participant.get().heading == two.get().heading == "Game 2 of 2"


def test_models_take_part_as_drawn_and_are_marked_in_the_data(tmp_path, model):
    with study_server(tmp_path, MODELS) as server:
        people = [arrived(server, f"p{i}") for i in range(3)]
        for person in people:
            person.get()
        tables = [p for p in people if "/table#" in p.page.text]
        assert tables, "three of the people cannot all wait: two pair up, or a model joins one"
        assert "may be artificial intelligence models" in tables[0].text
        rows = logged_in(server).browser.get("/experimenter/study/people.json").json()
        assert sum(row["partner_model"] is not None for row in rows) <= 1


def test_person_paired_with_a_model_is_informed_at_the_end(tmp_path, model):
    text = MODELS.replace("participants = 3", "participants = 1", 1)
    with study_server(tmp_path, text) as server:
        person = arrived(server, "ann")
        while person.get().heading.startswith("Game"):
            token = person.seat_token
            for _ in range(400):
                if person.answer_all(token)["over"]:
                    break
                time.sleep(0.01)  # the model answers in the background
        assert person.heading == "Final questions"
        person.survey(human="4", device="A phone", why="-")
        assert "was an artificial intelligence model" in person.text
        (row,) = table(server, "participants")
        assert (row["partner_model"], row["pair"]) == ("counted", "")
        kinds = {trial["others_kind"] for trial in table(server, "trials")}
        assert all("model counted" in kind for kind in kinds) and len(kinds) <= 2


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (TEXT.replace('title = "', 'models = ["counted"]\ntitle = "', 1), "models join groups"),
        (MODELS.replace("participants = 3", "participants = 2", 1), "must fill whole groups"),
        (CHAT.replace('title = "', 'models = ["counted"]\ntitle = "', 1), "models cannot chat"),
        (
            TEXT.replace('people = ["agent"] ', 'chat_seconds = 9\npeople = ["agent"] ', 1),
            "two people",
        ),
    ],
)
def test_invalid_company_settings_are_refused(tmp_path, model, text, why):
    (tmp_path / "study.toml").write_text(text)
    with pytest.raises(BadInput, match=why):
        read_human_study(tmp_path / "study.toml")


def test_experimenter_can_play_as_any_participant_in_test_mode(tmp_path):
    (tmp_path / "study.toml").write_text(TEXT)
    settings = Settings(
        *(str(tmp_path / "d"), None),
        secret=SECRET,
        studies=(tmp_path / "study.toml",),
        test=True,
        lobby=False,
    )
    with Client(make_app(settings)) as server:
        me = logged_in(server)

        def play_as(player: str) -> None:
            page = me.browser.get("/experimenter/study").text
            token = re.search(r'name="form_token" value="([^"]+)"', page)[1]
            sent = {"form_token": token, "participant": player}
            me.page = me.browser.post("/experimenter/study/play_as", data=sent)

        for _ in range(2):
            play_as("")
            me.post("/consent", token=me.field("token"), given=me.field("given"), agree="yes")
        assert me.heading == "Instructions"
        rows = me.browser.get("/experimenter/study/people.json").json()
        assert len(rows) == 2
        me.next()
        play_as(rows[0]["participant"])
        assert "Page 1 of" in me.text  # the other participant is still on the first page


def test_playing_as_a_participant_requires_test_mode(tmp_path):
    with study_server(tmp_path, TEXT) as server:
        Participant(server).agree("ann")
        me = logged_in(server)
        page = me.browser.get("/experimenter/study").text
        assert "Play as" not in page
        token = re.search(r'name="form_token" value="([^"]+)"', page)[1]
        refused = me.browser.post("/experimenter/study/play_as", data={"form_token": token})
        assert refused.status_code == 403


def test_scripted_participants_practise_and_talk(tmp_path):
    file = tmp_path / "study.toml"
    file.write_text(CHAT.replace('title = "', 'practice = true\ntitle = "', 1))
    rehearsal_summary = asyncio.run(rehearse(file, read_human_study(file), 2))
    assert rehearsal_summary.states == {"done": 2} and not rehearsal_summary.faults
    assert rehearsal_summary.rows["trials"] == 2 * 2 * 5  # of practice games none
