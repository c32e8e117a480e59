"""The seat API: what a browser asks, what it gets, and what it is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sally import store
from sally.core.log.events import Censored, Ended, Moved, Reported
from sally.core.match.seat_context import SeatContext
from sally.core.registry import registry
from sally.frames.replays import replay_for_measures
from sally.runner.check import check
from sally.web.live.screen_text import Labels
from tests.table import unlike_games
from tests.web.guests import Guest, play, sit, web_server

GAMES = sorted(unlike_games())


@pytest.fixture
def web(tmp_path: Path) -> Any:
    with web_server(tmp_path) as client:
        yield client


def load_stored(folder: Path) -> list[Any]:
    return list(store.load(folder / "episodes").episodes.values())


# --- every game ---------------------------------------------------------------------------------


@pytest.mark.parametrize("game", GAMES)
def test_every_game_can_be_played_to_its_end(game: str, tmp_path: Path) -> None:
    with web_server(tmp_path) as web:
        offer = next(o for o in web.get("/api/games").json() if o["name"] == game)
        # A problem of ToMA at level 0 may have nobody to ask about.
        bounded = {"rounds": 3, "turns": 4, "max_turns": 3, "messages": 2, "level": 2}
        params = {
            p["name"]: bounded[p["name"]] for p in offer["parameters"] if p["name"] in bounded
        }
        seat = offer["seats"][0]
        guest, _ = sit(web, game, params=params, probes=offer["probes"][seat][:2])
        play([guest], turns=3)
        screen_before = guest.see()
        web.app.state.live_matches._by_id.clear()  # as after a restart: the database has to do
        screen_after = guest.see()  # with the whole time for an answer, since the server was down
        assert screen_after["due"] is None or screen_after["due"] >= screen_before["due"]
        assert {**screen_after, "version": 0, "due": 0} == {**screen_before, "version": 0, "due": 0}
        (last,) = play([guest])
    assert last["over"]["how"] == "ended", last["over"]
    (episode,) = load_stored(tmp_path)
    assert isinstance(episode.end, Ended)
    assert last["over"]["payoff"] == episode.payoffs[seat]
    assert episode.setup.lineup[seat].player == "person"
    assert check([episode]).replayed == 1  # the log of a person replays like a model's
    page = replay_for_measures(episode)
    context = SeatContext(page.spec, page.replay.game, seat, 0).in_words("", page.spec.people.texts)
    view = page.replay.view(len(page.replay), seat)
    plainly = Labels().plainly(context)  # what a model reads, in words for people
    assert last["rules"] == plainly(context.words.rules(seat))
    assert last["lines"] == list(map(plainly, context.past(view, context.words.forms[0])))
    if offer["probes"][seat]:
        assert any(isinstance(e, Reported) and e.seat == seat for e in episode.events)


@pytest.mark.parametrize("game", [g for g in GAMES if len(registry.game(g).build().seats) > 1])
def test_people_can_fill_every_seat_of_every_game(game: str, tmp_path: Path) -> None:
    with web_server(tmp_path) as web:
        offer = next(o for o in web.get("/api/games").json() if o["name"] == game)
        small = {"rounds": 2, "turns": 2, "max_turns": 2}
        settable = {p["name"] for p in offer["parameters"]}
        params = {name: value for name, value in small.items() if name in settable}
        others = dict.fromkeys(offer["seats"][1:], "person")
        guest, invited = sit(web, game, others=others, params=params)
        assert set(invited) == set(others)
        screens = play([guest, *invited.values()])
    assert all(s["over"]["how"] == "ended" for s in screens)
    (episode,) = load_stored(tmp_path)
    assert {episode.setup.lineup[s].player for s in offer["seats"]} == {"person"}


# --- one seat's day -----------------------------------------------------------------------------


def test_move_appears_as_a_line_of_the_past(web: Any) -> None:
    guest, _ = sit(web, "ipd", params={"rounds": 3})
    screen = guest.see()
    assert [o["label"] for o in screen["asks"][0]["options"]] == ["J", "F"]
    guest.say(screen["asks"][0]["id"], 0)
    later = guest.see()
    assert len(later["lines"]) == 1 and later["version"] > screen["version"]
    assert "Round 1: you picked J" in later["lines"][0]


def test_known_lines_are_not_sent_again(web: Any) -> None:
    guest, _ = sit(web, "ipd", params={"rounds": 5})
    for _ in range(3):
        guest.answer(guest.see()["asks"][0])
    whole, rest = guest.see(), guest.see("?lines=2")
    assert whole["lines_from"] == 0 and rest["lines_from"] == 2
    assert rest["lines"] == whole["lines"][2:] and rest["rules"] == ""
    assert guest.see("?lines=99")["lines"] == whole["lines"]  # it cannot have what is not there


def test_response_to_an_answer_contains_the_next_screen(web: Any) -> None:
    guest, _ = sit(web, "ipd", params={"rounds": 5})
    guest.answer(guest.see()["asks"][0])
    (ask,) = guest.see()["asks"]
    sent = {"ask": ask["id"], "value": 0, "key": "k", "lines": 1}
    data = guest.call("POST", "/api/seat/answer", sent).json()
    assert data["screen"] == guest.see("?lines=1") and len(data["screen"]["lines"]) == 1
    assert data["version"] == data["screen"]["version"]
    assert guest.call("POST", "/api/seat/answer", sent).json() == data  # and so does a second one
    for wrong in (-1, True, "1", 2**60):
        repeated_fields = {**sent, "lines": wrong}
        assert guest.call("POST", "/api/seat/answer", repeated_fields).status_code == 400


def test_long_poll_returns_when_the_other_has_moved(tmp_path: Path) -> None:
    import threading
    import time

    with web_server(tmp_path) as web:
        guest, invited = sit(web, "rps", others={"partner": "person"}, params={"rounds": 2})
        guest.answer(guest.see()["asks"][0])
        screen = guest.see()
        assert screen["asks"] == [] and screen["waiting_for"] == [""]
        later: list[Any] = []
        waiting = threading.Thread(
            target=lambda: later.append(guest.see(f"?since={screen['version']}"))
        )
        waiting.start()
        time.sleep(0.1)
        assert not later
        invited["partner"].answer(invited["partner"].see()["asks"][0])
        waiting.join(120)
        assert later and later[0]["version"] > screen["version"] and len(later[0]["lines"]) == 1


def test_leaving_censors_the_match_and_informs_the_other_player(tmp_path: Path) -> None:
    with web_server(tmp_path) as web:
        guest, invited = sit(web, "rps", others={"partner": "person"})
        guest.answer(guest.see()["asks"][0])
        left = invited["partner"]
        assert left.call("POST", "/api/seat/leave", {"key": "x"}).status_code == 200
        assert left.call("POST", "/api/seat/leave", {"key": "x"}).status_code == 200
        assert left.see()["over"]["text"].startswith("You left")
        over = guest.see()["over"]
        assert over == {
            "how": "censored",
            "payoff": None,
            "text": "A player left or did not answer in time, so the game was stopped.",
            "scores": [],
            "why": "",
            "hidden": [],
        }
    (episode,) = load_stored(tmp_path)
    assert isinstance(episode.end, Censored)
    assert (episode.end.cause, episode.end.seat) == ("left", "partner")
    assert [e for e in episode.events if isinstance(e, Moved)]  # what was answered is kept


def test_player_that_does_not_answer_counts_as_having_left(tmp_path: Path) -> None:
    with web_server(tmp_path, patience=0.2) as web:
        guest, _ = sit(web, "ipd")
        screen = guest.see(f"?since={guest.see()['version']}")
        assert screen["over"]["how"] == "censored"
    (episode,) = load_stored(tmp_path)
    assert episode.end.cause == "left" and "0.2 s" in episode.end.detail


def test_people_use_the_same_tools_and_uses_are_logged(tmp_path: Path) -> None:
    with web_server(tmp_path) as web:
        guest, _ = sit(web, "tradecraft", params={"max_turns": 2})
        ask = guest.see()["asks"][0]
        assert [t["name"] for t in ask["tools"]] == ["item_info", "possible_recipes"]
        expected_fields = {"ask": ask["id"], "tool": "item_info", "arguments": {"item": "torch"}}
        result = guest.call("POST", "/api/seat/look", expected_fields)
        assert result.status_code == 200 and result.json()["found"]
        assert guest.see()["asks"][0]["looked"][0]["arguments"] == {"item": "torch"}
        unknown = guest.call("POST", "/api/seat/look", {**expected_fields, "tool": "nothing"})
        assert unknown.status_code == 422 and "item_info" in unknown.json()["error"]
        guest.answer(guest.see()["asks"][0])
        assert guest.call("POST", "/api/seat/look", expected_fields).status_code == 409
        guest.call("POST", "/api/seat/leave", {"key": "x"})
    (episode,) = load_stored(tmp_path)
    first = next(e for e in episode.events if isinstance(e, Moved) and e.seat == "p1")
    assert [look.tool for look in first.looked] == ["item_info"]


# --- refused, and nothing changed ---------------------------------------------------------------


def test_double_click_is_one_move(web: Any) -> None:
    guest, _ = sit(web, "ipd", params={"rounds": 4})
    ask = guest.see()["asks"][0]["id"]
    first, again = guest.say(ask, 0, "click"), guest.say(ask, 0, "click")
    assert first.json() == again.json() and again.status_code == 200
    assert len(guest.see()["lines"]) == 1


def test_two_tabs_cannot_answer_one_question_twice(web: Any) -> None:
    guest, _ = sit(web, "ipd", params={"rounds": 4})
    ask = guest.see()["asks"][0]["id"]
    assert guest.say(ask, 0, "tab one").status_code == 200
    late = guest.say(ask, 1, "tab two")
    assert late.status_code == 409 and "answered already" in late.json()["error"]
    assert len(guest.see()["lines"]) == 1


def test_key_cannot_be_used_for_another_answer(web: Any) -> None:
    guest, _ = sit(web, "ipd", params={"rounds": 4})
    guest.say(guest.see()["asks"][0]["id"], 0, "same")
    assert guest.say(guest.see()["asks"][0]["id"], 0, "same").status_code == 409


def test_move_out_of_turn_or_for_another_seat_is_refused(web: Any) -> None:
    guest, invited = sit(web, "rps", others={"partner": "person"})
    other_partner = invited["partner"]
    mine, theirs = guest.see()["asks"][0]["id"], other_partner.see()["asks"][0]["id"]
    assert guest.say(theirs, 0).status_code == 409 and other_partner.say(mine, 0).status_code == 409
    assert guest.say(mine, 0).status_code == 200
    assert guest.say(mine, 0, "again").status_code == 409  # the partner has not moved yet
    assert other_partner.see()["lines"] == [] and other_partner.see()["asks"]


@pytest.mark.parametrize(
    "value", [7, "J", None, True, 0.0, [], {}, {"kind": "move"}, [[1]], "x" * 900]
)
def test_illegal_value_is_refused_with_the_reason(value: Any, web: Any) -> None:
    guest, _ = sit(web, "ipd", params={"rounds": 4})
    screen_before = guest.see()
    said = guest.say(screen_before["asks"][0]["id"], value)
    assert said.status_code == 422 and said.json()["error"].endswith(".")
    screen_after = guest.see()
    assert screen_after["asks"][0].pop("refused") == said.json()["error"]
    assert screen_before["asks"][0].pop("refused") is None
    assert {**screen_after, "version": 0} == {**screen_before, "version": 0}


def test_refused_answers_are_counted_as_tries(tmp_path: Path) -> None:
    with web_server(tmp_path) as web:
        guest, _ = sit(web, "ipd", params={"rounds": 1})
        ask = guest.see()["asks"][0]["id"]
        for value in (9, "no", 1):
            guest.say(ask, value)
    (episode,) = load_stored(tmp_path)
    own_event = next(e for e in episode.events if isinstance(e, Moved) and e.seat == "agent")
    assert (own_event.action, own_event.tries, own_event.reply) == (1, 3, "1")


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ([50, 50], "3 numbers"),
        ([50, 50, 50], "add up to 150"),
        ([50, 50, None], "from 0 to 100"),
        ([-1, 51, 50], "from 0 to 100"),
        (["a", 50, 50], "from 0 to 100"),
        ({"R": 100}, "3 numbers"),
    ],
)
def test_invalid_odds_are_refused(value: Any, why: str, web: Any) -> None:
    guest, _ = sit(web, "rps", probes=["their_odds"])
    probe = next(a for a in guest.see()["asks"] if a["kind"] == "probe")
    said = guest.say(probe["id"], value)
    assert said.status_code == 422 and why in said.json()["error"]


def test_odds_are_reported_as_shares(tmp_path: Path) -> None:
    with web_server(tmp_path) as web:
        guest, _ = sit(web, "rps", probes=["their_odds"], params={"rounds": 1})
        probe = next(a for a in guest.see()["asks"] if a["kind"] == "probe")
        assert probe["answer"] == "odds" and probe["question"]
        guest.say(probe["id"], [20, 50, 30])
        guest.answer(guest.see()["asks"][0])
    (episode,) = load_stored(tmp_path)
    (report,) = [e for e in episode.events if isinstance(e, Reported)]
    assert report.odds == (0.2, 0.5, 0.3) and report.value == 1


# --- pairing ------------------------------------------------------------------------------------


def test_two_waiting_visitors_are_paired(web: Any) -> None:
    tickets = [web.post("/api/lobby", json={"game": "rps"}).json()["ticket"] for _ in range(3)]
    called = [
        web.get("/api/lobby", headers={"Authorization": f"Bearer {t}"}).json() for t in tickets
    ]
    assert [c["token"] for c in called] == [tickets[0], tickets[1], None]
    assert called[2] == {"token": None, "waiting": 1, "needed": 2}
    pair = [Guest(web, ticket) for ticket in tickets[:2]]
    assert {g.see()["seat"] for g in pair} == {"agent", "partner"}
    assert web.get("/api/lobby", headers={"Authorization": "Bearer no"}).status_code == 401
    assert Guest(web, tickets[2]).call("GET", "/api/seat").status_code == 401  # not yet a seat


def test_place_in_the_queue_survives_a_restart(tmp_path: Path) -> None:
    def called(web: Any, ticket: str) -> Any:
        return web.get("/api/lobby", headers={"Authorization": f"Bearer {ticket}"}).json()

    with web_server(tmp_path) as web:
        first = web.post("/api/lobby", json={"game": "rps"}).json()["ticket"]
    with web_server(tmp_path) as web:
        second = web.post("/api/lobby", json={"game": "rps"}).json()["ticket"]
        assert called(web, second)["token"] is None  # the first has not come back yet
        assert called(web, first)["token"] == first
        assert called(web, second)["token"] == second


def test_visitors_who_have_gone_are_not_paired(web: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sally.web.play.lobby.STALE", 0.0)
    for _ in range(3):
        ticket = web.post("/api/lobby", json={"game": "rps"}).json()["ticket"]
    called = web.get("/api/lobby", headers={"Authorization": f"Bearer {ticket}"}).json()
    assert called["token"] is None


def test_visitors_who_stop_waiting_are_not_paired(web: Any) -> None:
    def line(method: str, path: str, ticket: str) -> Any:
        headers = {"Authorization": f"Bearer {ticket}"}
        return web.request(method, path, headers=headers, json={} if method == "POST" else None)

    first, second, third = (
        web.post("/api/lobby", json={"game": game}).json()["ticket"] for game in ("rps",) * 3
    )
    assert line("POST", "/api/lobby/leave", third).json() == {"left": True}
    assert line("GET", "/api/lobby", third).status_code == 401
    fourth = web.post("/api/lobby", json={"game": "rps"}).json()["ticket"]
    assert line("GET", "/api/lobby", fourth).json() == {"token": None, "waiting": 1, "needed": 2}
    assert line("POST", "/api/lobby/leave", first).json() == {"left": False}  # seated by now
    assert Guest(web, first).see() and Guest(web, second).see()


def test_long_wrong_value_is_not_echoed(tmp_path: Path) -> None:
    with web_server(tmp_path) as web:
        guest, _ = sit(web, "ipd")
        reply = guest.say(guest.see()["asks"][0]["id"], "x" * 50_000)
        assert reply.status_code == 422 and len(reply.text) < 1000
        assert len(guest.see()["asks"][0]["refused"]) < 1000
