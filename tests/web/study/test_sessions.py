"""Several studies on one server, and sessions of one study behind one link."""

from __future__ import annotations

import csv
import io
import zipfile

import msgspec
import pytest
from click.testing import CliRunner

from sally.cli import cli
from sally.core.errors import BadInput
from sally.web.app import Settings, make_app
from sally.web.study.definition import read_human_study
from tests.web.client import Client
from tests.web.participants import SECRET, TEXT, Participant, logged_in, study_server, through

SESSIONS = """
[[sessions]]
name = "monday"
participants = 1
platform = { labels = ["lab01", "lab02"] }
[[sessions]]
name = "tuesday"
limits = { answer_seconds = 45 }
bonus = { per_point = 0.02 }
"""


def people(server, study: str) -> list[dict]:
    browser = logged_in(server).browser
    return browser.get(f"/experimenter/study/people.json?study={study}").json()


def test_two_studies_on_one_server_keep_separate_data(tmp_path):
    file, two = tmp_path / "one.toml", tmp_path / "two.toml"
    file.write_text(TEXT)
    german = TEXT.replace('name = "two_games"', 'name = "zwei"\nlanguage = "de"', 1)
    two.write_text(german)
    settings = Settings(str(tmp_path / "d"), None, secret=SECRET, studies=(file, two), lobby=False)
    with Client(make_app(settings)) as server:
        through(Participant(server), "ann")
        other_participant = Participant(server, "zwei").agree("ann")
        assert other_participant.heading == "Anleitung"
        assert [row["state"] for row in people(server, "two_games")] == ["done"]
        assert [row["state"] for row in people(server, "zwei")] == ["active"]
        listed = logged_in(server).browser.get("/experimenter/study").text
        assert "?study=two_games" in listed and "?study=zwei" in listed
        page = logged_in(server).browser.get("/experimenter/study?study=zwei").text
        assert "/experimenter/study/people.json?study=zwei" in page
        assert logged_in(server).browser.get("/experimenter/study/people.json").status_code == 404
        assert server.get("/", follow_redirects=False).status_code == 404


def test_two_studies_of_one_name_are_refused(tmp_path):
    files = tmp_path / "one.toml", tmp_path / "two.toml"
    for file in files:
        file.write_text(TEXT)
    settings = Settings(str(tmp_path / "d"), None, studies=files)
    two = "Two studies of this server have the name 'two_games'"
    with pytest.raises(BadInput, match=two), Client(make_app(settings)):
        pass


def test_study_link_leads_to_the_session_of_its_label(tmp_path):
    with study_server(tmp_path, TEXT + SESSIONS) as server:
        lab, other_participant = Participant(server), Participant(server)
        lab.get(PROLIFIC_PID="lab02")
        assert lab.page.url.path == "/study/two_games-monday"
        other_participant.get(PROLIFIC_PID="ann")
        assert other_participant.page.url.path == "/study/two_games-tuesday"
        other_participant.address = "/study/two_games-tuesday"
        through(other_participant, "ann")
        assert other_participant.heading == "Thank you"
        assert [row["session"] for row in people(server, "two_games-tuesday")] == ["tuesday"]
        assert people(server, "two_games-monday") == []
        stranger = Participant(server, "two_games-monday").get(PROLIFIC_PID="ann")
        assert stranger.page.status_code == 400  # not on the list of the session
        data = logged_in(server).browser.get(
            "/experimenter/study/psych-ds.zip?study=two_games-tuesday"
        )
        with zipfile.ZipFile(io.BytesIO(data.content)) as folder:
            (name,) = [n for n in folder.namelist() if "participants" in n]
            (row,) = csv.DictReader(folder.read(name).decode().splitlines())
        assert row["session"] == "tuesday"


def test_session_may_set_any_key_and_merges_tables(tmp_path):
    file = tmp_path / "study.toml"
    file.write_text(TEXT + SESSIONS)
    monday, tuesday = (read_human_study(file, name) for name in ("monday", "tuesday"))
    assert (monday.participants, tuesday.participants) == (1, 40)
    assert monday.platform.participant == tuesday.platform.participant == "PROLIFIC_PID"
    assert tuesday.limits.answer_seconds == 45 and tuesday.limits.idle_minutes == 30
    assert (monday.bonus.per_point, tuesday.bonus.per_point) == (0.01, 0.02)
    result = CliRunner().invoke(cli, ["people", "check", str(file), "--json"])
    assert [item["study"] for item in msgspec.json.decode(result.output)] == [
        "two_games-monday",
        "two_games-tuesday",
    ]


@pytest.mark.parametrize(
    ("more", "session", "why"),
    [
        (SESSIONS, "", "Choose a session of .*: 'monday' or 'tuesday'"),
        (SESSIONS, "friday", "There is no session 'friday'; choose"),
        ("", "friday", "has no sessions"),
        ('[[sessions]]\nname = "a"\n[[sessions]]\nname = "a"', "a", "two sessions have the name"),
        ('[[sessions]]\nname = "a"\ncolour = 1', "a", "colour"),
        ("[[sessions]]\nparticipants = 3", "a", "a session needs a name"),
    ],
)
def test_wrong_session_is_refused(tmp_path, more, session, why):
    file = tmp_path / "study.toml"
    file.write_text(f"{TEXT}\n{more}")
    with pytest.raises(BadInput, match=why):
        read_human_study(file, session)
