"""Participants who play together: grouped in order of arrival, then assigned to a condition."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from sally.core.errors import BadInput
from sally.web.study import participants
from sally.web.study.definition import read_human_study
from tests.web.participants import RIGHT, TEXT, Participant, logged_in, study_server
from tests.web.study.test_design import PAIRS, play_together

ANSWERS = {"human": "4", "device": "A phone"}


def pair(*conditions: str) -> str:
    """A study whose conditions all pair two participants."""
    tables = "".join(
        f"""[[conditions]]\nname = "{name}"\npeople = ["agent", "partner"]\n{more}\n"""
        for name, _, more in (condition.partition(":") for condition in conditions)
    )
    return re.sub(r"\[\[conditions\]\] .*?(?=\[\[survey\]\])", tables, TEXT, flags=re.S)


ALIKE = pair("one", "two", 'three:arms = { agent = ["their_move"] }')
APART = pair('one:instructions = ["Page of one."]', 'two:instructions = ["Page of two."]')
BOTS = PAIRS.replace("[limits]", '[limits]\nfallback = "bot"')


def rows(server) -> list[dict]:
    return logged_in(server).browser.get("/experimenter/study/people.json").json()


def ready(server, id: str) -> Participant:
    return Participant(server).agree(id).read_on().check(*RIGHT)


@pytest.mark.parametrize("text", [ALIKE, APART], ids=["alike", "apart"])
def test_first_two_arrivals_play_together(tmp_path, text):
    with study_server(tmp_path, text) as server:
        participant, two = ready(server, "one"), ready(server, "two")
        assert two.seat_token and participant.get().seat_token
        assert len({row["pair"] for row in rows(server)}) == 1


def test_groups_balance_conditions_and_pairs_share_a_condition(tmp_path):
    with study_server(tmp_path, ALIKE) as server:
        for n in range(18):
            ready(server, f"p{n}")
        actual_rows = rows(server)
        pairs: dict[str, set[str]] = {}
        for row in actual_rows:
            pairs.setdefault(row["pair"], set()).add(row["condition"])
        assert len(pairs) == 9 and all(len(conditions) == 1 for conditions in pairs.values())
        assert set(Counter(row["condition"] for row in actual_rows).values()) == {6}
        orders = Counter((row["condition"], tuple(row["order"])) for row in actual_rows)
        assert max(orders.values()) - min(orders.values()) <= 2  # one group
        assert Counter(row["option_order"] for row in actual_rows) == {"as given": 9, "reversed": 9}


def test_conditions_with_different_pages_are_not_mixed(tmp_path):
    """Who has read the page of a condition plays in it, even if others wait elsewhere."""
    with study_server(tmp_path, APART) as server:
        read = {}
        for n in range(8):
            person = Participant(server).agree(f"p{n}")
            while person.heading == "Instructions":
                for name in re.findall(r"Page of (one|two)", person.text):
                    read[n] = name
                person.next()
            person.check(*RIGHT)
        actual_rows = rows(server)
        assert [row["condition"] for row in actual_rows] == [read[n] for n in range(8)]
        assert all(row["pair"] for row in actual_rows)
        assert Counter(row["condition"] for row in actual_rows) == {"one": 4, "two": 4}


def test_new_arrival_completes_the_waiting_group(tmp_path):
    with study_server(tmp_path, APART) as server:
        failed = Participant(server).agree("fails").read_on()
        waits = ready(server, "waits")
        failed.check("I choose first", "Nothing").check("I choose first", "Nothing")
        assert ready(server, "comes").seat_token and waits.get().seat_token


def test_waiting_person_survives_a_restart(tmp_path):
    with study_server(tmp_path, ALIKE) as server:
        first = ready(server, "first")
        cookies = first.browser.cookies
    with study_server(tmp_path, ALIKE) as server:
        first = Participant(server)
        first.browser.cookies = cookies
        assert "You have waited" in first.get().text
        assert ready(server, "second").seat_token and first.get().seat_token


def test_waiting_page_shows_wait_time_and_payment(tmp_path, monkeypatch):
    text = PAIRS.replace("[bonus] ", "[bonus]\npartner_left = 0.25 ")
    with study_server(tmp_path, text) as server:
        alone = ready(server, "alone")
        assert "You have waited 0:00 minutes" in alone.text and "within 10 minutes" in alone.text
        assert "paid 0.25 EUR extra" in alone.text
        now = participants.time.time
        monkeypatch.setattr(participants.time, "time", lambda: now() + 65)
        assert "You have waited 1:05 minutes" in alone.get().text
        assert alone.browser.get(f"{alone.address}/waiting").json()["seconds"] >= 65
        monkeypatch.setattr(participants.time, "time", lambda: now() + 601)
        assert alone.get().heading == "Final questions" and "paid 0.25 EUR extra" in alone.text
        late = ready(server, "late")  # not grouped with somebody who has stopped waiting
        assert "Waiting for another participant" in late.text
        assert alone.survey(**ANSWERS).heading == "Thank you"
        assert rows(server)[0]["bonus"] == "1.25"


@pytest.mark.parametrize(("fallback", "plays"), [("bot", None), ("tit_for_tat", "tit_for_tat")])
def test_participant_without_partner_may_play_a_bot_as_recorded(
    tmp_path, monkeypatch, fallback, plays
):
    with study_server(tmp_path, BOTS.replace('"bot"', f'"{fallback}"')) as server:
        alone = ready(server, "alone")
        assert "you play with a computer program instead" in alone.text
        now = participants.time.time
        monkeypatch.setattr(participants.time, "time", lambda: now() + 601)
        assert "you play with a computer program" in alone.get().text
        alone.play_all()
        assert alone.survey(**ANSWERS).heading == "Thank you"
        participant, two = ready(server, "one"), ready(server, "two")
        play_together(participant.get(), two)
        actual_rows = {row["fallback"]: row for row in rows(server)}
        assert actual_rows[fallback]["state"] == "done" and actual_rows[fallback]["pair"] is None
        assert actual_rows[None]["pair"] is not None and len(actual_rows[fallback]["episodes"]) == 2
        two_games = server.app.state.studies["two_games"]
        lineups = [
            {player.player for player in live.match.setup.lineup.values()}
            for live in two_games.live_matches._by_id.values()
        ]
        assert sum("person" in lineup and len(lineup) == 2 for lineup in lineups) == 2
        assert plays is None or any(plays in lineup for lineup in lineups)


def test_unknown_fallback_is_refused_when_the_study_is_read(tmp_path):
    file = tmp_path / "study.toml"
    file.write_text(BOTS.replace('"bot"', '"bott"'))
    with pytest.raises(BadInput, match=r"limits\.fallback: .*bott"):
        read_human_study(file)


def test_last_place_of_a_pair_admits_a_partner_beyond_the_target(tmp_path):
    text = PAIRS.replace("participants = 40", "participants = 1")
    with study_server(tmp_path, text) as server:
        last = ready(server, "last")
        assert "Waiting for another participant" in last.text
        partner = ready(server, "partner")  # the study would be full, but one waits in vain
        assert partner.seat_token and last.get().seat_token
        assert Participant(server).get(PROLIFIC_PID="more").heading == "The study is full"
