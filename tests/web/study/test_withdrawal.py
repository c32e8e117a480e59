"""Withdrawal: on every page, by the experimenter, from the command line, and in later exports."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from sally.cli import cli
from tests.web.participants import (
    RIGHT,
    TEXT,
    Participant,
    logged_in,
    on_disk,
    study_server,
    through,
)
from tests.web.study.test_design import PAIRS


@pytest.fixture
def server(tmp_path):
    with study_server(tmp_path, TEXT) as client:
        yield client


def dashboard(server, path: str, **sent: str):
    """Send a form of the experimenter's page."""
    browser = logged_in(server).browser
    page = browser.get("/experimenter/study").text
    token = re.search(r'name="form_token" value="([^"]+)"', page)[1]
    return browser.post(f"/experimenter/study/{path}", data={"form_token": token, **sent})


def list_entries(server) -> list[str]:
    """Codes to delete, as the downloaded tables list them."""
    data = logged_in(server).browser.get("/experimenter/study/psych-ds.zip").content
    with zipfile.ZipFile(io.BytesIO(data)) as folder:
        (name,) = [n for n in folder.namelist() if "withdrawn" in n]
        return [r["participant"] for r in csv.DictReader(folder.read(name).decode().splitlines())]


def rows(server) -> list[dict]:
    return logged_in(server).browser.get("/experimenter/study/people.json").json()


def test_every_page_has_withdrawal_link_and_contact(server):
    person = Participant(server).agree("reads")
    pages = [person.get("", PROLIFIC_PID="somebody-else").text]  # an error page
    pages.append(person.get().text)
    while person.heading == "Instructions":
        pages.append(person.next().text)
    person.check("I choose first", "Nothing")
    pages.append(person.text)
    pages.append(person.check(*RIGHT).text)
    pages.append(person.browser.get(f"{person.address}/table").text)
    person.play_all()
    pages.append(person.text)
    pages.append(person.survey(human="4", device="A phone").text)
    for text in pages:
        assert f'href="{person.address}/withdraw"' in text and "lab@example.org" in text


def test_experimenter_can_withdraw_a_participant(server, tmp_path):
    through(Participant(server), "goes0away0id")
    through(Participant(server), "stays0id")
    assert dashboard(server, "withdraw", participant="goes0away0id").status_code == 422
    gone = dashboard(server, "withdraw", participant="nobody0here", sure="yes")
    assert gone.status_code == 404 and "No participant has" in gone.text
    assert dashboard(server, "withdraw", participant="goes0away0id", sure="yes").status_code == 200
    assert on_disk(tmp_path, "goes0away0id") == [] and len(rows(server)) == 1


def test_exported_code_identifies_the_participant(server):
    through(Participant(server), "goes")
    through(Participant(server), "stays")
    code = rows(server)[0]["participant"]
    dashboard(server, "withdraw", participant=code[:8], sure="yes")
    assert [row["participant"] == code for row in rows(server)] == [False]


def test_shared_completion_code_identifies_no_participant(server):
    for name in ("one", "two"):
        through(Participant(server), name)
    answer = dashboard(server, "withdraw", participant="C1A2B3", sure="yes")
    assert answer.status_code == 404 and "2 participants have" in answer.text


def test_next_export_lists_withdrawn_codes_only_if_exported_before(server, tmp_path):
    through(Participant(server), "early")
    dashboard(server, "withdraw", participant="early", sure="yes")
    assert list_entries(server) == []  # nothing had left the server
    through(Participant(server), "late")
    (row,) = rows(server)
    dashboard(server, "withdraw", participant="late", sure="yes")
    assert list_entries(server) == [row["participant"]]
    assert row["participant"] in logged_in(server).browser.get("/experimenter/study").text
    dashboard(server, "purged")
    assert list_entries(server) == [] and on_disk(tmp_path, row["participant"]) == []


def command(*arguments: str):
    return CliRunner().invoke(cli, ["people", *arguments], catch_exceptions=True)


def test_command_line_withdraws_and_exports(tmp_path):
    database, out = str(tmp_path / "database.sqlite"), tmp_path / "out"
    study = str(tmp_path / "study.toml")
    with study_server(tmp_path, TEXT) as server:
        for name in ("goes0away0id", "stays0id"):
            through(Participant(server), name)
        playing = Participant(server).agree("plays").read_on().check(*RIGHT)
        playing.answer_all(playing.seat_token, limit=1)
        arguments = command("export", study, "--database", database, "--out", str(out))
        # while the server runs
        assert arguments.exit_code == 0 and "4 episodes" in arguments.output
        assert playing.play_all().heading == "Final questions"
        busy = command("withdraw", study, "goes0away0id", "--database", database, "--yes")
        assert "/experimenter/study" in str(busy.exception or busy.output)
        (code,) = {r["participant"] for r in rows(server) if r["state"] == "done"} - {
            server.app.state.studies["two_games"].secrets.export_id(
                server.portal.call(
                    server.app.state.studies["two_games"].person_of_platform, "stays0id"
                )
            )
        }
    arguments = command("withdraw", study, "goes0away0id", "--database", database, "--yes")
    assert arguments.exit_code == 0 and code[:8] in arguments.output
    assert on_disk(tmp_path, "goes0away0id") == []
    arguments = command("export", study, "--database", database, "--out", str(out))
    assert arguments.exit_code == 0 and f"delete from earlier copies: {code}" in arguments.output
    remaining_texts = [p for p in on_disk(out, code) if "withdrawn" not in Path(p).name]
    assert remaining_texts == []


# --- help with stuck participants -----------------------------------------------------------------


def code_of(server, id: str) -> str:
    two_games = server.app.state.studies["two_games"]
    return two_games.secrets.export_id(server.portal.call(two_games.person_of_platform, id))


def test_stuck_participant_is_advanced_step_by_step(server):
    person = Participant(server).agree("stuck")
    recorded = []
    while person.get().heading != "Thank you":
        recorded.append(person.heading)
        answer = dashboard(server, "help", participant=code_of(server, "stuck"), action="advance")
        assert answer.status_code == 200 and "was skipped" in answer.text
    assert recorded[0] == "Instructions" and "Game 1 of 2" in recorded and "Game 2 of 2" in recorded
    (row,) = rows(server)
    assert row["advanced"][-1] == "survey" and len(row["advanced"]) == len(recorded)
    assert [r["how"] for r in row["rounds"]] == ["stopped", "stopped"]
    done = dashboard(server, "help", participant=row["participant"], action="advance")
    assert done.status_code == 409


def test_stuck_participant_is_removed_and_the_partner_continues(tmp_path):
    with study_server(tmp_path, PAIRS) as server:
        first = Participant(server).agree("one").read_on().check(*RIGHT)
        two = Participant(server).agree("two").read_on().check(*RIGHT)
        token = first.get().seat_token
        dashboard(server, "help", participant=code_of(server, "one"), action="remove")
        assert first.get().heading == "Thank you" and "C1A2B3" in first.text
        assert "researchers ended your participation" in first.text
        assert (
            "you left" not in first.text
            and first.screen(token)["over"]["text"] == "The game was stopped."
        )
        assert two.get().heading == "Final questions" and "not your fault" in two.text
        states = {row["removed"]: row["state"] for row in rows(server)}
        assert states[None] == "active" and "incomplete" in states.values()
