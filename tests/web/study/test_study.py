"""Studies with people: the way through, links and tabs, exclusions, restarts, surveys."""

from __future__ import annotations

import pytest

from sally.core.errors import BadInput
from sally.web.database import StorageFull, StorageLost
from sally.web.study import participants
from sally.web.study.definition import Bonus
from tests.web.participants import (
    RIGHT,
    SECRET,
    STUDY,
    TEXT,
    Participant,
    logged_in,
    on_disk,
    study_server,
    through,
)


@pytest.fixture
def server(tmp_path):
    with study_server(tmp_path, TEXT) as client:
        yield client


# --- the way through ------------------------------------------------------------------------------


def test_participant_goes_from_consent_to_completion_code(server):
    person = Participant(server).agree("5f1a")
    headings = [person.heading]
    while person.heading == "Instructions":
        person.next()
    headings += [person.heading, person.check(*RIGHT).heading]
    headings += [person.play().heading, person.play().heading]
    end = person.survey(human="4", device="A phone", why="")
    assert headings == [
        "Instructions",
        "A few questions about the instructions",
        "Game 1 of 2",
        "Game 2 of 2",
        "Final questions",
    ]
    assert end.heading == "Thank you" and "C1A2B3" in end.text
    assert "https://app.prolific.com/submissions/complete?cc=C1A2B3" in end.text
    assert "repeats your last move" in end.text  # the debrief


def test_no_data_is_stored_before_consent_or_after_declining(server, tmp_path):
    person = Participant(server).get(PROLIFIC_PID="refusenik")
    assert person.heading == STUDY.title
    person.post("/consent", token=person.field("token"), given="refusenik", answer="no")
    assert person.heading == "You are not taking part"
    assert on_disk(tmp_path, "refusenik") == []
    progress = logged_in(server).browser.get("/experimenter/study").text
    assert "declined 1" in progress


def test_consent_requires_the_checkbox(server):
    person = Participant(server).get(PROLIFIC_PID="abc")
    person.post("/consent", token=person.field("token"), given="abc")
    assert person.page.status_code == 422 and "tick the box" in person.text
    assert person.heading == STUDY.title and "lasts about ten minutes" in person.text  # the form
    person.post("/consent", token=person.field("token"), given=person.field("given"), agree="yes")
    assert person.heading == "Instructions"


def test_no_data_is_stored_of_a_consent_without_checkbox(server, tmp_path):
    person = Participant(server).get(PROLIFIC_PID="abc0untouched")
    person.post("/consent", token=person.field("token"), given="abc0untouched")
    assert on_disk(tmp_path, "abc0untouched") == []


def test_only_the_participant_id_of_a_link_is_stored(server, tmp_path):
    person = Participant(server)
    person.get(PROLIFIC_PID="kept123", SESSION_ID="session77", email="a@example.org")
    person.post("/consent", token=person.field("token"), given="kept123", agree="yes")
    assert person.heading == "Instructions"
    assert on_disk(tmp_path, "kept123")
    assert on_disk(tmp_path, "session77") == on_disk(tmp_path, "a@example.org") == []


def test_other_link_parameters_are_stored_only_if_declared(tmp_path):
    text = TEXT.replace("[platform] ", '[platform]\nkeep = ["SESSION_ID"]\n#')
    with study_server(tmp_path, text) as server:
        person = Participant(server)
        person.get(PROLIFIC_PID="kept123", SESSION_ID="session77", STUDY_ID="study88")
        sent = {"token": person.field("token"), "given": "kept123"}
        person.post("/consent", SESSION_ID=person.field("SESSION_ID"), **sent)  # without the tick
        person.post("/consent", SESSION_ID=person.field("SESSION_ID"), agree="yes", **sent)
        person.read_on().check("I choose first", "Nothing").check("I choose first", "Nothing")
        paid = logged_in(server).browser.get("/experimenter/study/payments.csv").text
        assert paid.splitlines()[0].endswith(",code,participant,SESSION_ID") and "session77" in paid
        assert on_disk(tmp_path, "study88") == []
        rows = logged_in(server).browser.get("/experimenter/study/people.json").text
        assert "session77" not in rows


def test_study_may_admit_only_the_labels_that_it_lists(tmp_path):
    text = TEXT.replace("[platform] ", '[platform]\nlabels = ["lab01", "lab02"]\n#')
    with study_server(tmp_path, text) as server:
        assert Participant(server).get(PROLIFIC_PID="lab03").page.status_code == 400
        assert Participant(server).agree("lab02").heading == "Instructions"


# --- links and tabs -------------------------------------------------------------------------------


@pytest.mark.parametrize("id", ["", "a b", "<script>", "x" * 65, "=1+1", "-1", "ü"])
def test_link_without_valid_id_is_refused_with_a_page(server, id):
    person = Participant(server).get(**({"PROLIFIC_PID": id} if id else {}))
    assert person.page.status_code == 400 and person.heading == "This link is incomplete"
    assert "<script>" not in person.page.text


def test_link_must_contain_required_parameters(tmp_path):
    text = TEXT.replace("[platform] ", '[platform]\nrequire = { STUDY_ID = "s9" }\n#')
    with study_server(tmp_path, text) as server:
        person = Participant(server)
        assert person.get(PROLIFIC_PID="abc").heading == "This link is incomplete"
        assert person.get(PROLIFIC_PID="abc", STUDY_ID="s8").page.status_code == 400
        assert person.get(PROLIFIC_PID="abc", STUDY_ID="s9").heading == STUDY.title


def test_wrong_addresses_show_clear_pages(server):
    for name in ("another", "two_games/nowhere", "../etc", "a/b/c"):
        person = Participant(server, name).get()
        assert person.page.status_code == 404
    assert Participant(server, "another").get().heading == "There is no study here"


def test_server_without_study_returns_404(tmp_path):
    from sally.web.app import Settings, make_app
    from tests.web.client import Client

    with Client(make_app(Settings(str(tmp_path / "b"), None, secret=SECRET))) as client:
        assert client.get("/study/two_games").status_code == 404
        client.post("/experimenter/login", data={"secret": SECRET})
        assert client.get("/experimenter/study").status_code == 404


def test_reload_second_tab_back_button_and_double_click_change_nothing(server):
    person = Participant(server).agree("tabs")
    token, first = person.field("token"), person.field("step")
    person.next()
    assert person.field("step") == "instructions-1"
    person.post("/next", token=token, step=first)  # a second click
    assert person.field("step") == "instructions-1" and "nothing was changed" not in person.text
    person.post("/next", token=token, step="survey")  # a page that is not theirs yet
    assert person.field("step") == "instructions-1" and "nothing was changed" in person.text
    other_tab = person.get()
    assert other_tab.field("step") == "instructions-1"
    person.read_on().check("I choose first", "Nothing")
    assert person.field("step") == "check-1"
    person.post("/next", token=token, step="check-0", **{"q-0": RIGHT[0], "q-1": RIGHT[1]})
    assert person.field("step") == "check-1"  # the first try is not answered again


def test_consent_form_is_valid_only_for_its_link(server):
    person = Participant(server).get(PROLIFIC_PID="mine")
    person.post("/consent", token=person.field("token"), given="another", agree="yes")
    assert person.page.status_code == 403


@pytest.mark.parametrize(("failure", "status"), [(StorageFull, 507), (StorageLost, 503)])
def test_full_disk_shows_a_page_and_changes_nothing(server, monkeypatch, failure, status):
    person = Participant(server).agree("unlucky")

    def full(*arguments):
        raise failure("no space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(participants, "note_quietly", full)
        person.next()
        assert person.page.status_code == status and "Nothing was changed" in person.text
    assert person.get().field("step") == "instructions-0"
    assert person.next().field("step") == "instructions-1"


def test_two_tabs_open_one_table(server):
    person = Participant(server).agree("tabs").read_on().check(*RIGHT)
    assert person.seat_token == person.get().seat_token
    assert len(server.app.state.live_matches.in_progress()) == 1


@pytest.mark.parametrize("forged", ["", "0" * 64])
def test_form_without_its_token_is_refused(server, forged):
    person = Participant(server).agree("csrf")
    person.post("/next", token=forged, step="instructions-0")
    assert person.page.status_code == 403
    assert person.get().field("step") == "instructions-0"
    person.post("/withdraw", token=forged)
    assert person.page.status_code == 403 and person.get().heading == "Instructions"


def test_form_from_another_site_is_refused(server):
    person = Participant(server).agree("csrf")
    answer = person.browser.post(
        f"{person.address}/next",
        data={"token": person.field("token"), "step": "instructions-0"},
        headers={"origin": "https://evil.example"},
    )
    assert answer.status_code == 403


def test_form_token_of_another_participant_is_refused(server):
    participant, other_participant = (
        Participant(server).agree("one"),
        Participant(server).agree("other"),
    )
    other_participant.post("/next", token=participant.field("token"), step="instructions-0")
    assert other_participant.page.status_code == 403


# --- exclusions -----------------------------------------------------------------------------------


def test_failed_check_excludes_and_frees_the_place(server):
    person = Participant(server).agree("fails").read_on().check("I choose first", "1 cent")
    assert "Attempts left: 1" in person.text
    person.check("I choose first", "1 cent")
    assert person.heading == "You cannot continue" and "C0FFEE" in person.text
    assert person.get().heading == "You cannot continue"
    second_result = Participant(server).get(PROLIFIC_PID="fails")
    assert (
        second_result.page.status_code == 409
        and second_result.heading == "You have already taken part"
    )


def test_unanswered_question_does_not_count_as_attempt(server):
    person = Participant(server).agree("slow").read_on().check("At the same time")
    assert person.page.status_code == 422 and "every question" in person.text
    assert person.field("step") == "check-0"


def test_participant_cannot_take_part_twice(server):
    person = through(Participant(server), "once")
    assert person.heading == "Thank you"
    assert person.get(PROLIFIC_PID="once").heading == "Thank you"  # their own browser
    stranger = Participant(server).get(PROLIFIC_PID="once")
    assert stranger.heading == "You have already taken part" and "C1A2B3" not in stranger.text


def test_continuing_in_another_browser_is_refused_by_default(server, tmp_path):
    Participant(server).agree("moves")
    alternative = Participant(server).get(PROLIFIC_PID="moves")
    assert (
        alternative.heading == "You started in another browser"
        and alternative.page.status_code == 409
    )


def test_resume_by_link_allows_continuing_in_another_browser(tmp_path):
    with study_server(
        tmp_path, TEXT.replace("[completion]", "resume_by_link = true\n[completion]")
    ) as s:
        first = Participant(s).agree("moves").next()
        alternative = Participant(s).get(PROLIFIC_PID="moves")
        assert alternative.field("step") == "instructions-1"
        assert first.get().page.status_code == 400  # shut out


def test_second_participant_at_the_same_computer(server):
    first = Participant(server).agree("first")
    assert first.get(PROLIFIC_PID="second").page.status_code == 409
    first.get().read_on().check("I choose first", "Nothing").check("I choose first", "Nothing")
    assert first.get(PROLIFIC_PID="second").heading == STUDY.title
    assert first.agree("second").heading == "Instructions"


def test_full_study_is_reported(tmp_path):
    with study_server(tmp_path, TEXT.replace("participants = 40", "participants = 1")) as server:
        late = Participant(server).get(PROLIFIC_PID="late")
        assert through(Participant(server), "only").heading == "Thank you"
        assert Participant(server).get(PROLIFIC_PID="more").heading == "The study is full"
        late.post("/consent", token=late.field("token"), given="late", agree="yes")
        assert late.heading == "The study is full"
        assert on_disk(tmp_path, "late") == []


def test_idle_participant_lapses_and_frees_the_place(tmp_path, monkeypatch):
    text = TEXT.replace("participants = 40", "participants = 1")
    with study_server(tmp_path, text) as server:
        idle = Participant(server).agree("idle")
        now = participants.time.time
        monkeypatch.setattr(participants.time, "time", lambda: now() + 31 * 60)
        assert Participant(server).agree("next").heading == "Instructions"
        assert idle.next().heading == "Your time has run out"
        assert idle.get().heading == "Your time has run out"


def test_participant_in_a_match_is_not_idle(tmp_path, monkeypatch):
    with study_server(tmp_path, TEXT.replace("participants = 40", "participants = 1")) as server:
        playing = Participant(server).agree("plays").read_on().check(*RIGHT)
        token = playing.seat_token
        now = participants.time.time
        monkeypatch.setattr(participants.time, "time", lambda: now() + 31 * 60)
        assert Participant(server).get(PROLIFIC_PID="next").heading == "The study is full"
        playing.answer_all(token)
        assert playing.get().heading == "Game 2 of 2"


def test_game_in_progress_is_gone_on_with(server):
    person = Participant(server).agree("ann").read_on().check(*RIGHT)
    assert "Start the game" in person.get().text
    person.answer_all(person.seat_token, limit=1)
    assert "Go on with the game" in person.get().text
    assert "Start the game" not in person.text


def test_participant_leaving_the_match_is_paid_for_played_rounds(server):
    person = Participant(server).agree("leaver").read_on().check(*RIGHT).play()
    person.leave(person.seat_token)
    person.get()
    assert person.heading == "Final questions" and "you left or" in person.text
    person.survey(human="1", device="A phone")
    assert person.heading == "Thank you"
    (row,) = logged_in(server).browser.get("/experimenter/study/people.json").json()
    assert row["state"] == "incomplete" and [r["how"] for r in row["rounds"]] == ["ended", "left"]
    expected = Bonus(1.0, 0.01, 3.0).of([row["rounds"][0]["payoff"]])
    assert row["bonus"] == str(expected)


# --- restarts -------------------------------------------------------------------------------------


def test_restart_restores_every_participants_step(tmp_path):
    with study_server(tmp_path, TEXT) as server:
        reader = Participant(server).agree("reader").next()
        player = Participant(server).agree("player").read_on().check(*RIGHT)
        token = player.seat_token
        triples_before = player.answer_all(token, limit=3)
        cookies = reader.browser.cookies, player.browser.cookies
    with study_server(tmp_path, TEXT) as server:
        reader, player = Participant(server), Participant(server)
        reader.browser.cookies, player.browser.cookies = cookies
        assert reader.get().field("step") == "instructions-1"
        assert player.get().seat_token == token
        screen_after = player.screen(token)
        assert (
            screen_after["lines"] == triples_before["lines"]
            and screen_after["asks"] == triples_before["asks"]
        )
        assert player.play_all().heading == "Final questions"


def test_study_may_not_change_while_people_are_in_it(tmp_path):
    with study_server(tmp_path, TEXT):
        pass
    changed = TEXT.replace("rounds = 5", "rounds = 6")
    with study_server(tmp_path, changed) as server:  # nobody had begun
        Participant(server).agree("first")
    with (
        pytest.raises(BadInput, match="changed after people had begun"),
        study_server(tmp_path, TEXT),
    ):
        pass
    more = changed.replace("participants = 40", "participants = 50").replace("lab@", "lab2@")
    with study_server(tmp_path, more) as server:
        assert Participant(server).get(PROLIFIC_PID="first").page.status_code == 409


# --- surveys --------------------------------------------------------------------------------------


def test_survey_keeps_sent_answers_until_all_are_valid(server):
    person = Participant(server).agree("survey").read_on().check(*RIGHT).play_all()
    person.survey(human="8", device="A fridge", why="x" * 401)
    assert person.page.status_code == 422
    for wrong in ("from 1 to 7", "Choose one of the answers", "you have used 401"):
        assert wrong in person.text
    assert "x" * 401 in person.text
    person.survey(why="<b>bold</b>")
    assert person.text.count("Please answer this question.") == 2
    assert "<b>bold" not in person.page.text
    assert person.survey(human="7", device="A phone").heading == "Thank you"
    (row,) = logged_in(server).browser.get("/experimenter/study/people.json").json()
    assert row["survey"] == {"human": 7, "device": "A phone", "why": None}
