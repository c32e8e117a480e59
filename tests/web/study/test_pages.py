"""What participants meet on the pages: the way back, time limits, Markdown, no lobby."""

from __future__ import annotations

import time

import pytest

from sally.core.errors import BadInput
from sally.core.log.events import Forfeited
from sally.web.app import Settings, make_app
from sally.web.live.match import MOST_TIMEOUTS
from sally.web.study.definition import read_human_study
from sally.web.study.markdown import pictures, render_markdown
from tests.web.client import Client
from tests.web.participants import (
    RIGHT,
    STUDY,
    TEXT,
    Participant,
    logged_in,
    study_server,
)
from tests.web.study.test_design import PAIRS

ASKED = TEXT.replace("answer_seconds = 300", "answer_seconds = 25")


@pytest.fixture
def server(tmp_path):
    with study_server(tmp_path, ASKED) as client:
        yield client


# --- back -----------------------------------------------------------------------------------------


def test_instructions_can_be_read_again_without_changing_anything(server):
    person = Participant(server).agree("reads").next()
    assert "Page 2 of" in person.text and "?page=0" in person.text
    first = person.get(page="0")
    assert "Page 1 of" in first.text and 'name="step"' not in first.page.text
    person.get().read_on()
    assert person.heading == "A few questions about the instructions"
    pages = len(STUDY.pages(STUDY.conditions[0]))
    assert "?page=" in person.text
    for asked_name in ("0", "1"):
        assert person.get(page=asked_name).heading == "Instructions"
    for wrong in (str(pages + 1), "-1", "x", "9" * 400, "\u0663"):
        assert person.get(page=wrong).heading == "A few questions about the instructions"
    person.get().check(*RIGHT)
    assert person.get(page="0").heading.startswith("Game")  # no way back from the games


# --- time -----------------------------------------------------------------------------------------


def late(server, seconds: float) -> None:
    for live in list(server.app.state.live_matches._by_id.values()):
        server.portal.call(live.stop_if_overdue, time.monotonic() + seconds)


def test_page_states_the_time_limit_and_the_remaining_time(server):
    person = Participant(server).agree("slow").read_on().check(*RIGHT)
    assert "within 25 seconds each time; after that the turn is lost" in person.text
    assert 0 < person.screen(person.seat_token)["due"] - time.time() <= 25.1


def test_late_answer_forfeits_the_round_and_not_the_match(server):
    person = Participant(server).agree("slow").read_on().check(*RIGHT)
    token = person.seat_token
    began = time.time()
    late(server, 26)
    screen = person.screen(token)
    # the next round, with all of its time
    assert not screen["over"] and screen["asks"] and screen["due"] > began + 20
    (live,) = server.app.state.live_matches._by_id.values()
    lost_events = [e for e in live.match.events if isinstance(e, Forfeited)]
    assert [e.turn for e in lost_events] == [0] and "no answer within 25 s" in lost_events[0].reason
    person.answer_all(token)
    assert person.get().heading == "Game 2 of 2"
    (row,) = logged_in(server).browser.get("/experimenter/study/people.json").json()
    assert row["rounds"][0]["how"] == "ended"


def test_late_round_survives_a_restart(tmp_path):
    with study_server(tmp_path, ASKED) as server:
        person = Participant(server).agree("slow").read_on().check(*RIGHT)
        late(server, 26)
        token, cookies = person.seat_token, person.browser.cookies
        lines_before = person.screen(token)["lines"]
    with study_server(tmp_path, ASKED) as server:
        person = Participant(server)
        person.browser.cookies = cookies
        assert person.get().screen(token)["lines"] == lines_before
        person.answer_all(token)
        assert person.get().heading == "Game 2 of 2"


def test_repeatedly_late_participant_counts_as_having_left(tmp_path):
    text = PAIRS.replace("answer_seconds = 300", "answer_seconds = 25")
    with study_server(tmp_path, text) as server:
        gone = Participant(server).agree("gone").read_on().check(*RIGHT)
        stays = Participant(server).agree("stays").read_on().check(*RIGHT)
        token = stays.seat_token
        for n in range(MOST_TIMEOUTS):
            stays.answer_all(token, limit=1)  # so that only the other one is late
            assert not stays.screen(token)["over"], n
            late(server, 26)
        assert stays.screen(token)["over"]["how"] == "censored"
        assert stays.get().heading == "Final questions" and "not your fault" in stays.text
        assert "you left" in gone.get().text


def test_study_may_let_a_late_answer_end_the_match(tmp_path):
    text = ASKED.replace("[limits]", '[limits]\ntimeout = "match"')
    with study_server(tmp_path, text) as server:
        person = Participant(server).agree("slow").read_on().check(*RIGHT)
        assert "after that the game stops" in person.text
        late(server, 26)
        assert person.get().heading == "Final questions"


# --- Markdown -------------------------------------------------------------------------------------


def test_texts_may_use_links_emphasis_lists_and_pictures(tmp_path):
    (tmp_path / "board.png").write_bytes(b"\x89PNG a picture")
    (tmp_path / "secret.png").write_bytes(b"\x89PNG another")
    text = TEXT.replace(
        "Your points depend on both choices;",
        "See [the rules](https://example.org/rules) and **remember**:\n\n- one\n- two\n\n"
        "![a board](board.png)\n\nYour points depend on both choices;",
    )
    with study_server(tmp_path, text) as server:
        person = Participant(server).agree("reads")
        html = person.page.text
        assert '<a href="https://example.org/rules" target="_blank" rel="noopener' in html
        assert "<strong>remember</strong>" in html and "<li>one</li>" in html
        assert 'src="/study/two_games/files/board.png" alt="a board"' in html
        picture = person.browser.get(f"{person.address}/files/board.png")
        assert picture.content.endswith(b"a picture") and "image/png" in str(picture.headers)
        for other_name in ("secret.png", "study.toml", "..%2Fstudy.toml", "database.sqlite"):
            assert person.browser.get(f"{person.address}/files/{other_name}").status_code == 404


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[x](javascript:alert(1))",
        "[x](JaVaScRiPt:alert(1))",
        "![x](javascript:alert(1))",
        "[x](data:text/html,<script>alert(1)</script>)",
        "[x](vbscript:x)",
        '[x](https://e.org "onmouseover=alert(1)\\" onload=x")',
        "<https://e.org/<script>>",
    ],
)
def test_no_text_becomes_a_tag_or_a_script(text):
    html = str(render_markdown(text, "s"))
    for bad in ("<script", "<img src=x", 'href="javascript', 'src="javascript', 'href="data'):
        assert bad not in html.lower()
    assert 'href="vbscript' not in html and '" onload' not in html


@pytest.mark.parametrize(
    "name", ["https://e.org/x.png", "../x.png", "x.svg", "missing.png", "/x.png"]
)
def test_picture_must_be_a_file_beside_the_study(tmp_path, name):
    file = tmp_path / "study.toml"
    file.write_text(TEXT.replace("Your points depend", f"![p]({name}) Your points depend"))
    with pytest.raises(BadInput, match="picture"):
        read_human_study(file)
    assert pictures(f"![p]({name})") == [name]


# --- no lobby -------------------------------------------------------------------------------------


def test_study_server_has_no_lobby_by_default(tmp_path):
    file = tmp_path / "study.toml"
    file.write_text(TEXT)
    settings = Settings(str(tmp_path / "d"), None, studies=(file,), lobby=False)
    with Client(make_app(settings)) as client:
        assert client.get("/", follow_redirects=False).headers["location"] == "/study/two_games"
        for path in ("/table", "/api/games", "/api/lobby"):
            assert client.get(path).status_code == 404
        sent = {"game": "ipd", "seat": "agent"}
        assert client.post("/api/tables", json=sent).status_code == 404
        assert client.get("/study/two_games/table").status_code == 200
