"""Secrets: targets, what was rejected, and what is crafted before the phase ends."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from sally.core.match.engine import Match
from sally.core.rules.game import Seat
from sally.core.rules.probe import ProbeReport
from sally.games.tradecraft.actions import DONE, NO, PASS, YES, Answer
from tests.games.tradecraft.table import (
    HANDS,
    P1,
    P2,
    P3,
    THREE,
    craft,
    match_of,
    page,
    play,
    propose,
)

NUGGETS = craft({"iron_ingot": 1}, "iron_nugget", 9)
BUTTON = craft({"birch_planks": 1}, "birch_button")


def test_target_is_visible_only_to_its_owner() -> None:
    single_match, two = (match_of(targets=({"shears": 1}, {t: 1})) for t in ("torch", "lever"))
    for match in (single_match, two):
        play(match, (P1, propose("p2", {"coal": 1}, {"raw_iron": 1})), (P2, YES))
        play(match, (P1, DONE), (P2, DONE))
    assert page(single_match, P1) == page(two, P1)
    assert page(single_match, P2) != page(two, P2)


def test_probes_do_not_reveal_the_target() -> None:
    requests = []
    for target in ("torch", "lever"):
        match = match_of(
            targets=({"shears": 1}, {target: 1}),
            arms={"p1": ("v0", "v1", "v2", "their_target"), "p2": ("v0",)},
        )
        own_turns = [turn for turn in match.asks() if turn.seat == "p1" and turn.question]
        words = match.context(P1).words
        requests.append(
            [(t.question, words.aside(t.question, t.view), t.view) for t in own_turns if t.question]
        )
    assert requests[0] == requests[1]
    assert len(requests[0]) == 4


@pytest.mark.parametrize("given", [{"coal": 1}, {"iron_ingot": 1}])
def test_rejected_proposal_is_hidden_from_third_player(given: dict[str, int]) -> None:
    match = play(match_of(THREE), (P1, propose("p2", given, {"raw_iron": 2}, "Psst.")))
    other_match = play(match_of(THREE), (P1, propose("p3", {}, {"stick": 1}, "Hello.")))
    assert page(match, P3).replace("p2", "") != page(match, P2).replace("p3", "")
    play(match, (P2, Answer("reject", "Never.")))
    play(other_match, (P3, NO))
    plain = play(match_of(THREE), (P1, propose("p2", {"birch_planks": 1}, {})), (P2, NO))
    assert page(match, P3) == page(plain, P3)
    assert "p1's proposal was rejected." in page(match, P3)
    assert page(match, P1) != page(plain, P1)
    # Nor does a third player learn to whom it went.
    assert "p1's proposal was rejected." in page(other_match, P2)
    assert list(_lines(match, P3)) == list(_lines(other_match, P2))


def _lines(match: Match, seat: Seat) -> Iterable[str]:
    view = match.game.observe(match.state, seat)
    return match.context(seat).words.lines(view, 0, "agent_first")


def test_open_proposal_is_hidden_from_third_player() -> None:
    open_ = play(match_of(THREE), (P1, propose("p2", {"coal": 1}, {})))
    another = play(match_of(THREE), (P1, propose("p2", {}, {"raw_iron": 1}, "Please.")))
    assert page(open_, P3) == page(another, P3)


def test_trade_is_public_but_its_messages_are_not() -> None:
    match, unsaid = (
        play(match_of(THREE), (P1, propose("p2", {"coal": 1}, {}, m)), (P2, Answer("accept", m)))
        for m in ("A secret.", "")
    )
    assert page(match, P3) == page(unsaid, P3)
    assert "p1 gave 1 coal" in page(match, P3)
    assert "A secret." in page(match, P1)


def test_message_beside_an_empty_proposal_reaches_its_reader_only() -> None:
    match = play(match_of(THREE), (P1, propose("p2", {}, {}, "Between us.")))
    assert "Between us." in page(match, P2)
    assert "Between us." not in page(match, P3)


def test_refused_proposal_is_not_seen_by_the_others() -> None:
    wrong = play(match_of(THREE), (P1, propose("p2", {}, {"stick": 1}, "Oh.")), (P1, PASS))
    plain = play(match_of(THREE), (P1, PASS))
    for seat in (P2, P3):
        assert page(wrong, seat) == page(plain, seat)


def test_crafts_are_unseen_until_the_phase_ends() -> None:
    crafted, idle = (
        play(match_of(), (P1, PASS), (P1, action), (P2, craft({"oak_planks": 2}, "stick", 4)))
        for action in (NUGGETS, BUTTON)
    )
    assert page(crafted, P2) == page(idle, P2)
    assert page(crafted, P1) != page(idle, P1)
    for match in (crafted, idle):
        play(match, (P1, DONE), (P2, DONE))
    assert page(crafted, P2) != page(idle, P2)


def test_done_is_hidden_until_the_phase_ends() -> None:
    done = play(match_of(), (P1, PASS), (P1, DONE), (P2, craft({"oak_planks": 2}, "stick", 4)))
    busy = play(match_of(), (P1, PASS), (P1, BUTTON), (P2, craft({"oak_planks": 2}, "stick", 4)))
    assert page(done, P2) == page(busy, P2)


def test_reports_are_hidden_from_all_seats() -> None:
    arms = {"p1": ("v0",), "p2": ("v0", "v1")}
    pages = []
    for value in (0.0, 10.0):
        match = match_of(arms=arms)
        for turn in match.asks():
            if turn.question:
                match.answer(turn.id, ProbeReport({str(i): value for i in turn.question.choices}))
        play(match, (P1, propose("p2", {"coal": 1}, {})))
        pages.append((page(match, P1), page(match, P2)))
    assert pages[0] == pages[1]
    assert HANDS[0]["coal"] == 2
