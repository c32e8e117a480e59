"""Payments recomputed from the moves, for every way in which a participation can end."""

from __future__ import annotations

import csv
import io
import time
from collections import defaultdict
from decimal import Decimal
from typing import Any

import pytest

from sally.core.log.events import Moved
from sally.core.registry import registry
from sally.web.live.match import LiveMatch
from sally.web.study import participants
from tests.web.participants import RIGHT, TEXT, Participant, logged_in, study_server
from tests.web.study.test_design import PAIRS, play_together

BASE, A_POINT, MOST, PARTNER_LEFT = (Decimal(x) for x in ("1.00", "0.01", "3.00", "0.25"))
PAID_PAIRS = PAIRS.replace("[bonus] ", "[bonus]\npartner_left = 0.25 ").replace(
    "[limits]", '[limits]\ntimeout = "match"'
)
ANSWERS = {"human": "4", "device": "A phone"}


def points(matches: list[LiveMatch]) -> dict[str, Decimal]:
    """Points by participant, from complete rounds of moves and the payoff matrices alone."""
    decimals: dict[str, Decimal] = defaultdict(Decimal)
    for live in matches:
        matrix = registry.game(live.match.setup.instance.game).build().matrix
        moves: dict[int, dict[str, int]] = defaultdict(dict)
        for event in live.match.events:
            if isinstance(event, Moved):
                moves[event.turn][event.seat] = event.action
        for both_move in moves.values():
            if len(both_move) == 2:
                paid = matrix[both_move["agent"]][both_move["partner"]]
                for seat, pay in zip(("agent", "partner"), paid, strict=True):
                    name = live.match.setup.lineup[seat].params.get("participant", "a bot")
                    decimals[name] += Decimal(str(pay))
    return decimals


def matches(server: Any) -> list[LiveMatch]:
    return list(server.app.state.live_matches._by_id.values())


def payments(server: Any) -> dict[str, tuple[str, Decimal]]:
    """State and whole pay by participant, as the list of payments has them."""
    text = logged_in(server).browser.get("/experimenter/study/payments.csv").text
    rows = csv.DictReader(io.StringIO(text))
    return {
        r["participant_id"]: (r["state"], Decimal(r["base"]) + Decimal(r["bonus"])) for r in rows
    }


def compute_expected(
    server: Any, id: str, earned: dict[str, Decimal], alone: bool = False
) -> Decimal:
    two_games = server.app.state.studies["two_games"]
    person = server.portal.call(two_games.person_of_platform, id)
    extra = PARTNER_LEFT if alone else Decimal(0)
    return min(BASE + A_POINT * earned[two_games.secrets.export_id(person)] + extra, MOST)


def play_rounds(first: Participant, two: Participant, rounds: int) -> None:
    for _ in range(rounds):
        first.answer_all(first.seat_token, limit=1, value=0)
        two.answer_all(two.seat_token, limit=1, value=1)


@pytest.fixture
def pair(tmp_path):
    with study_server(tmp_path, PAID_PAIRS) as server:
        first = Participant(server).agree("one").read_on().check(*RIGHT)
        two = Participant(server).agree("two").read_on().check(*RIGHT)
        yield first.get(), two, server


def test_finished_people_are_paid_for_every_round(pair):
    first, two, server = pair
    play_together(first, two)
    play_together(first, two)
    first.survey(**ANSWERS), two.survey(**ANSWERS)
    earned = points(matches(server))
    assert payments(server) == {
        id: ("done", compute_expected(server, id, earned)) for id in ("one", "two")
    }
    assert max(earned.values()) > 0


@pytest.mark.parametrize("how", ["leaves", "times out"])
def test_interrupted_game_pays_played_rounds_to_both_participants(pair, how):
    first, two, server = pair
    play_together(first, two)
    play_rounds(first, two, 2)
    if how == "leaves":
        first.leave(first.seat_token)
    else:
        two.answer_all(two.seat_token, limit=1)  # so that only the other one is waited for
        late = time.monotonic() + 301
        for live in matches(server):
            server.portal.call(live.stop_if_overdue, late)
    first.get().survey(**ANSWERS), two.get().survey(**ANSWERS)
    earned = points(matches(server))
    assert payments(server) == {
        "one": ("incomplete", compute_expected(server, "one", earned)),
        "two": ("incomplete", compute_expected(server, "two", earned, alone=True)),
    }
    rows = logged_in(server).browser.get("/experimenter/study/people.json").json()
    assert {tuple(r["how"] for r in row["rounds"]) for row in rows} == {
        ("ended", "left"),
        ("ended", "partner left"),
    }
    for row in rows:
        assert sum(Decimal(str(r["payoff"])) for r in row["rounds"]) == earned[row["participant"]]


def test_game_that_stopped_before_its_first_move_is_drawn_only_for_who_stopped_it(tmp_path):
    text = PAIRS.replace("[bonus] ", "[bonus]\nrandom_games = 1 ")
    left_alone, stopped = [], []
    with study_server(tmp_path, text) as server:
        for n in range(4):
            first = Participant(server).agree(f"stays{n}").read_on().check(*RIGHT)
            two = Participant(server).agree(f"leaves{n}").read_on().check(*RIGHT)
            play_together(first.get(), two)
            if n % 2:
                first.answer_all(first.seat_token, limit=1)  # a move that nobody has seen yet
            two.leave(two.seat_token)
            first.get().survey(**ANSWERS), two.get().survey(**ANSWERS)
            left_alone.append(f"stays{n}"), stopped.append(f"leaves{n}")
            assert "Drawn for payment: game 1" in first.text
        browser = logged_in(server).browser
        rows = browser.get("/experimenter/study/people.json").json()
        paid = browser.get("/experimenter/study/payments.csv").text
    by_code = {row["participant"]: row for row in rows}
    drawn = {}
    for payment in csv.DictReader(io.StringIO(paid)):
        row = by_code[payment["participant"]]
        (drawn[payment["participant_id"]],) = row["paid_games"]
        assert payment["paid_games"] == str(row["paid_games"][0])
        points = row["rounds"][row["paid_games"][0] - 1]["payoff"]
        assert Decimal(payment["bonus"]) == A_POINT * Decimal(str(points))
    assert [drawn[name] for name in left_alone] == [1, 1, 1, 1]
    assert {drawn[name] for name in stopped} == {1, 2}  # leaving a game does not choose the draw


def test_withdrawal_leaves_the_partner_the_points_of_the_interrupted_game(pair):
    first, two, server = pair
    play_rounds(first, two, 3)
    earned = points(matches(server))
    first.get("/withdraw")
    first.post("/withdraw", token=first.field("token"))
    two.get().survey(**ANSWERS)
    assert matches(server) == []  # the game itself is deleted
    assert payments(server) == {
        "two": ("incomplete", compute_expected(server, "two", earned, alone=True))
    }
    assert max(earned.values()) > 0


def lapse(server: Any, *ids: str) -> None:
    """Let people be away for longer than the study waits for them."""
    for live in matches(server):
        server.portal.call(live.stop_if_overdue, time.monotonic() + 301)
    long_ago = time.time() - 10**6

    def age(tx: Any) -> None:
        tx.execute("UPDATE answers SET made = ?", long_ago)
        for id in ids:
            tx.execute("UPDATE people SET seen = ? WHERE given = ?", long_ago, id)

    server.portal.call(server.app.state.studies["two_games"].database.run, age)


def test_people_who_lapse_after_playing_are_listed_with_what_they_earned(pair):
    first, two, server = pair
    play_together(first, two)
    play_rounds(first, two, 2)  # they never come back to be told the outcome
    earned = points(matches(server))
    lapse(server, "one", "two")
    Participant(server).agree("looks").read_on()  # somebody has not played
    lapse(server, "looks")
    logged_in(server).browser.get("/experimenter/study")
    paid = payments(server)
    assert paid == {id: ("lapsed", compute_expected(server, id, earned)) for id in ("one", "two")}
    rows = logged_in(server).browser.get("/experimenter/study/people.json").json()
    exported = {row["participant"]: row for row in rows if row["episodes"]}
    assert exported.keys() == earned.keys()  # the exported rows name the games that are paid
    for code, row in exported.items():
        assert sum(Decimal(str(came["payoff"])) for came in row["rounds"]) == earned[code]
        assert row["paid_games"] == [1, 2]
    assert max(earned.values()) > 0
    assert payments(server) == paid


def test_screened_out_participant_is_listed_and_paid_nothing(tmp_path):
    with study_server(tmp_path, TEXT) as server:
        person = Participant(server).agree("fails").read_on()
        person.check("I choose first", "Nothing").check("I choose first", "Nothing")
        assert payments(server) == {"fails": (participants.FAILED, Decimal(0))}
