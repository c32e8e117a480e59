"""The experimenter steps through episodes and watches new ones come."""

from __future__ import annotations

import re

import msgspec
import pytest

from sally import store
from sally.api.play import play
from sally.core.display.scenes import REFEREE, tell
from sally.core.log.events import Injection, Moved, PlayerSpec, episode_id
from sally.models.stub import always
from sally.web.explorer import perspective
from sally.web.explorer.episode_list import EpisodeList, usage_of
from tests.web.explorer.small_store import SECRET
from tests.web.participants import (
    RIGHT,
    TEXT,
    Participant,
    logged_in,
    study_server,
)

# --- from somebody's eyes -----------------------------------------------------------------------


def test_seat_perspective_shows_page_probe_and_answer(folder):
    (episode,) = [e for e in store.load(folder).episodes.values() if e.setup.repeat == 2]
    assert perspective.turns_of(tell(episode), "agent") == [0, 1, 2]
    scene = perspective.turn_of_seat(tell(episode), "agent", 1)
    assert len(scene.lines) == scene.new == 1 and scene.now == "This is round 2."
    assert [request.scene.probe for request in scene.asked] == ["their_move about partner", ""]
    move = scene.asked[1]
    assert move.answer in move.scene.options
    assert perspective.turn_of_seat(tell(episode), "partner", 1).asked[0].scene.probe == ""


def test_page_of_a_person_tells_the_board_once():
    episode = play("ipd", {"agent": lambda turn: 0, "partner": lambda turn: 1}, rounds=2)
    setup = episode.setup
    lineup = {**setup.lineup, "agent": PlayerSpec("person")}
    by_person = msgspec.structs.replace(
        episode, setup=msgspec.structs.replace(setup, lineup=lineup)
    )
    seen = [perspective.turn_of_seat(tell(e), "agent", 1) for e in (episode, by_person)]
    assert [turn.now_tells_board for turn in seen] == [False, True]
    assert "What a round pays" in seen[1].now and "What a round pays" not in seen[0].now


def test_seat_perspective_hides_moves_of_the_same_turn():
    fields = {}
    for other_move in (0, 1):
        episode = play(
            "ipd", {"agent": lambda turn: 0, "partner": lambda turn, m=other_move: m}, rounds=2
        )
        fields[other_move] = msgspec.structs.replace(
            perspective.turn_of_seat(tell(episode), "agent", 0), asked=()
        )
    assert fields[0] == fields[1]


def test_referee_perspective_shows_all_moves_and_truths(folder):
    episode = next(e for e in store.load(folder).episodes.values() if e.cell == "rps")
    ledger = perspective.ledger(tell(episode), 0)
    assert {n.seat for n in ledger.notes if n.what == "moved"} == {"agent", "partner"}
    (aside,) = [n for n in ledger.notes if n.what == "reported"]
    (move,) = [n for n in ledger.notes if n.what == "moved" and n.seat == "partner"]
    assert aside.truth == move.text and aside.right == aside.text.endswith(f": {aside.truth}")
    assert "round" in ledger.state


def test_injection_is_shown_at_its_position():
    episode = play(
        "rps",
        {"agent": "random", "partner": "constant"},
        injections=[Injection("agent", "their_move", keep=True)],
        rounds=2,
    )
    first = perspective.turn_of_seat(tell(episode), "agent", 0)
    assert first.told == () and first.new == 1  # it is kept, so it is a line of the past
    assert first.lines[0].startswith("Before round 1: ")
    assert first.lines[0] in perspective.close(tell(episode), "agent").lines


def test_censored_episode_shows_its_unanswered_questions():
    from sally.core.match.engine import Match
    from sally.core.match.player import Decision
    from sally.core.registry import registry

    full_episode = play("rps", {"agent": "random", "partner": "constant"}, rounds=2)
    match = Match(registry.game("rps"), full_episode.setup)
    own_turn = next(turn for turn in match.asks() if turn.seat == "partner")
    match.answer(own_turn.id, Decision(0))
    match.censor("left", "the person left", "agent")
    cut = match.episode()
    assert perspective.turn_of_seat(tell(cut), "partner", 0).asked[0].answer == "R"
    assert perspective.turn_of_seat(tell(cut), "agent", 0).asked[0].answer is None
    assert perspective.ledger(tell(cut), 0).notes[0].text == "R"
    assert "left" in perspective.close(tell(cut), "agent").text


def test_shown_prompts_match_the_logged_hashes(monkeypatch):
    from sally.core.registry import registry

    monkeypatch.setitem(registry._added["models"], "dull", lambda name: always("Option: P"))
    episode = play(
        "rps",
        {"agent": ("language", {"model": "dull", "strategy": "qa"}), "partner": "constant"},
        rounds=2,
    )
    (move,) = perspective.turn_of_seat(tell(episode), "agent", 1).asked
    assert move.shown.why_not == "" and "round 2" in move.shown.prompts[0][-1].text
    changed = [
        msgspec.structs.replace(
            e, calls=tuple(msgspec.structs.replace(c, prompt="0" * 16) for c in e.calls)
        )
        if isinstance(e, Moved) and e.calls
        else e
        for e in episode.events
    ]
    (move,) = perspective.turn_of_seat(
        tell(msgspec.structs.replace(episode, events=changed)), "agent", 1
    ).asked
    assert move.shown.prompts == () and "hash" in move.shown.why_not


@pytest.mark.parametrize("game", ["pick_the_right_stuff", "toma_ag", "mindgames", "tradecraft"])
def test_every_family_can_be_stepped_through(game):
    from sally.core.registry import registry

    spec = registry.game(game)
    seats = spec.build({}).seats
    episode = play(game, dict.fromkeys(map(str, seats), "random"))
    story = tell(episode)
    for name in perspective.perspectives_of(story):
        for turn in perspective.turns_of(story, name):
            if name == REFEREE:
                perspective.ledger(story, turn)
            else:
                perspective.turn_of_seat(story, name, turn)
        assert perspective.close(story, name).text


# --- pages --------------------------------------------------------------------------------------


def listed_ids(page: str) -> list[str]:
    return re.findall(r'<td><a href="/experimenter/episodes/small/(\w+)', page)


def test_list_is_searched_and_sorted(experimenter, folder):
    episodes = store.load(folder).episodes
    get = experimenter.get
    assert len(listed_ids(get("/experimenter/episodes").text)) == len(episodes) == 5
    ipd = get("/experimenter/episodes", params={"text": "Tit_For"}).text
    assert len(listed_ids(ipd)) == 2 and "data-live" not in ipd
    id = next(iter(episodes))
    assert listed_ids(get("/experimenter/episodes", params={"text": id[:10]}).text) == [id]
    # a text within the events, which the table does not have
    assert listed_ids(get("/experimenter/episodes", params={"text": "their_move"}).text)
    assert listed_ids(get("/experimenter/episodes", params={"text": "nowhere to be"}).text) == []
    for sort, is_reverse in (("turns", False), ("-payoffs", True)):
        ids = listed_ids(get("/experimenter/episodes", params={"sort": sort}).text)
        values = [
            episodes[id].end.turn if sort == "turns" else episodes[id].end.payoffs["agent"]
            for id in ids
        ]
        assert values == sorted(values, reverse=is_reverse) and len(set(values)) > 1
    assert len(listed_ids(get("/experimenter/episodes", params={"sort": "-nonsense"}).text)) == 5


def test_episode_has_neighbours_in_the_filtered_list(experimenter, folder):
    page = experimenter.get("/experimenter/episodes", params={"game": "ipd", "sort": "-turns"}).text
    first, second = listed_ids(page)
    address = f"/experimenter/episodes/small/{first}"
    text = experimenter.get(address, params={"game": "ipd", "sort": "-turns"}).text
    assert "1 of 2 in the" in text and "Previous episode" not in text
    link = re.search(r'rel="next" href="([^"]+)">Next episode', text)[1].replace("&amp;", "&")
    following = experimenter.get(link).text
    assert second in link and "2 of 2 in the" in following and "Next episode" not in following


def test_whole_episode_is_on_one_page_with_outline_and_links(experimenter, folder):
    episode = next(e for e in store.load(folder).episodes.values() if e.cell == "rps")
    address = f"/experimenter/episodes/small/{episode.id}"
    text = experimenter.get(address, params={"turn": "all"}).text
    regions = re.findall(r'role="region" aria-label="([^"]+)"', text)
    assert len(regions) == len(set(regions)) > 1, "a screen reader tells the turns apart by name"
    events = [e for e in episode.events if e.turn < 3]
    for turn in range(3):
        assert f'href="#turn-{turn}"' in text and f'id="turn-{turn}"' in text
        count = sum(e.turn == turn for e in events)
        for number in range(1, count + 1):
            mark = f"event-{turn}-{number}"
            assert f'id="{mark}"' in text and f'href="#{mark}"' in text
    seat = experimenter.get(address, params={"turn": "all", "eyes": "agent"}).text
    assert seat.count("<h2>Move</h2>") == 3 and 'href="#turn-2"' in seat
    assert "right)" not in seat  # a seat does not see what was true


def test_tokens_and_seconds_are_shown_for_models(monkeypatch, tmp_path):
    from sally.core.registry import registry

    monkeypatch.setitem(registry._added["models"], "dull", lambda name: always("Option: P"))
    lineup = {"agent": ("language", {"model": "dull", "strategy": "qa"}), "partner": "constant"}
    used = usage_of(play("rps", lineup, rounds=2))
    assert used.calls == 2 and used.tokens > 2
    bots = usage_of(play("rps", {"agent": "random", "partner": "constant"}, rounds=2))
    assert (bots.calls, bots.tokens, bots.seconds) == (0, 0, None)


def test_pages_require_the_experimenter_login(visitor, folder):
    id = next(iter(store.load(folder).episodes))
    for address in (
        "/experimenter",
        "/experimenter/episodes",
        f"/experimenter/episodes/small/{id}",
    ):
        answer = visitor.get(address, follow_redirects=False)
        assert answer.status_code == 303 and "login" in answer.headers["location"]


def test_link_to_a_turn_is_followed_after_login(visitor, folder):
    id = next(iter(store.load(folder).episodes))
    link = f"/experimenter/episodes/small/{id}?eyes=partner&turn=1"
    form = visitor.get(link)
    expected = re.search(r'name="next" value="([^"]*)"', form.text)[1].replace("&amp;", "&")
    response = visitor.post("/experimenter/login", data={"secret": SECRET, "next": expected})
    assert str(response.url).endswith(link) and "This is round 2." in response.text


def test_list_links_to_each_episode_and_every_step_opens(experimenter):
    listed = experimenter.get("/experimenter/episodes?game=rps").text
    links = re.findall(r'href="(/experimenter/episodes/small/\w+\?game=rps)"', listed)
    assert len(links) == 3
    current_text, steps = f"{links[0]}&eyes=agent", 0
    while current_text:
        text = experimenter.get(current_text).text
        assert "View of agent" in text
        match = re.search(r'id="after" rel="next" href="([^"]+)"', text)
        current_text, steps = match and match[1].replace("&amp;", "&"), steps + 1
    assert steps == 4 and "agent got" in text


def test_seat_perspective_hides_player_names(experimenter):
    link = re.search(
        r"/experimenter/episodes/small/\w+",
        experimenter.get("/experimenter/episodes?cell=ipd").text,
    )[0]
    assert "tit_for_tat" in experimenter.get(f"{link}?eyes=referee").text
    assert "tit_for_tat" not in experimenter.get(f"{link}?eyes=agent").text


def test_player_text_is_escaped(experimenter, folder, tmp_path):
    episode = next(e for e in store.load(folder).episodes.values() if e.cell == "rps")
    evil = "<script>alert(1)</script>"
    events = [
        msgspec.structs.replace(e, reply=evil) if isinstance(e, Moved) and e.seat == "agent" else e
        for e in episode.events
    ]
    setup = msgspec.structs.replace(episode.setup, repeat=77)
    odd = msgspec.structs.replace(
        episode, id=episode_id(setup), setup=setup, events=events, cell=evil
    )
    experimenter.app.state.episode_list = EpisodeList([tmp_path / "odd"])
    store.claim(tmp_path / "odd", store.Manifest(evil, ""))
    with store.Writer(tmp_path / "odd") as writer:
        writer.add(odd)
    for address in (
        "/experimenter",
        f"/experimenter/episodes?cell={evil}",
        f"/experimenter/episodes/odd/{odd.id}?eyes={evil}",
        f"/experimenter/episodes/odd/{odd.id}?eyes=agent",
        f"/experimenter/episodes/odd/{odd.id}?eyes=referee",
    ):
        text = experimenter.get(address).text
        assert "&lt;script&gt;" in text and "<script>alert" not in text


@pytest.mark.parametrize(
    "address", ["small/none", "elsewhere/none", "small/..%2f..%2fetc", "small/%00"]
)
def test_wrong_link_returns_404(experimenter, address):
    answer = experimenter.get(f"/experimenter/episodes/{address}")
    assert answer.status_code == 404


def test_long_list_is_paginated(experimenter, monkeypatch):
    from sally.web.explorer import pages as explorer

    monkeypatch.setattr(explorer, "A_PAGE", 2)
    text = experimenter.get("/experimenter/episodes?page=2&game=").text
    assert "page 2 of 3" in text and "page=1" in text and "page=3" in text
    assert "page 3 of 3" in experimenter.get("/experimenter/episodes?page=999").text
    assert "page 1 of 3" in experimenter.get("/experimenter/episodes?page=minus").text


def test_table_in_progress_and_a_new_episode_appear_without_reload(experimenter, tmp_path):
    assert "No match is in progress" in experimenter.get("/experimenter?live=1").text
    response = experimenter.post(
        "/api/tables", json={"game": "rps", "seat": "agent", "others": {"partner": "constant"}}
    )
    assert response.status_code == 201
    live = experimenter.get("/experimenter?live=1").text
    assert "Matches in progress (1)" in live and "agent = person" in live
    assert "<html" not in live


def test_study_episodes_are_listed_before_export_and_removed_on_withdrawal(tmp_path):
    with study_server(tmp_path, TEXT) as server:
        person = Participant(server).agree("watched").read_on().check(*RIGHT)
        browser = logged_in(server).browser
        assert "Matches in progress (1)" in browser.get("/experimenter?live=1").text
        person.play()
        live = browser.get("/experimenter?live=1").text
        assert "Matches in progress (1)" in live  # the next round
        link = re.search(r'href="(/experimenter/episodes/study%3Atwo_games/\w+)"', live)[1]
        text = browser.get(f"{link}?eyes=agent").text
        assert "<h2>Move<" in text and "watched" not in text
        assert "1 episode," in browser.get("/experimenter/episodes?study=two_games").text
        person.get("/withdraw")
        person.post("/withdraw", token=person.field("token"))
        assert browser.get(link).status_code == 404
        assert "0 episodes," in browser.get("/experimenter/episodes?study=two_games").text


def test_cost_of_an_offer_is_computed_by_continuations():
    episode = play("tradecraft", {"p1": "hoarder", "p2": "zero_order"}, max_turns=1)
    story = tell(episode)
    (unknown,) = [n for n in perspective.ledger(story, 0).notes if n.what == "moved"]
    (found,) = [n for n in perspective.ledger(story, 0, play_on=True).notes if n.what == "moved"]
    assert unknown.cost == "" and "paired continuations" in found.cost
