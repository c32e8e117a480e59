"""Value reports: asked once a turn of everybody, judged by each other, kept if so wished."""

from __future__ import annotations

from typing import Any

import pytest

from sally.core.errors import Unreadable
from sally.core.log.events import (
    Injection,
    Instance,
    PlayerSpec,
    Reported,
    Setup,
    Told,
    from_line,
    to_line,
)
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.match.playback import mismatch
from sally.core.registry import registry
from sally.core.rules.probe import At, ProbeReport
from sally.games.tradecraft.actions import DONE, PASS, YES
from sally.runner.seating import players_of, resolve_setup
from tests.games.tradecraft.table import HANDS, P1, P2, THREE, match_of, page, play, propose

ALL: dict[str, tuple[str, ...]] = {"p1": ("v0", "v1", "v2"), "p2": ("v0", "v1", "v2")}


def answer_all(match: Match, value: float = 3.0) -> list[tuple[str, str, str]]:
    """Answer every open question, and say which they were."""
    asked_turns = [turn for turn in match.asks() if turn.question is not None]
    for turn in asked_turns:
        assert turn.question is not None
        match.answer(turn.id, ProbeReport({str(i): value for i in turn.question.choices}))
    return [turn.id[1:] for turn in asked_turns]


def test_all_seats_are_probed_only_at_the_start_of_each_turn() -> None:
    match = match_of(arms=ALL)
    everything = [
        (a, v, b if v != "v0" else "") for a, b in (("p1", "p2"), ("p2", "p1")) for v in ALL["p1"]
    ]
    assert answer_all(match) == everything
    play(match, (P1, propose("p2", {"coal": 1}, {})))
    assert answer_all(match) == []
    play(match, (P2, YES), (P1, DONE), (P2, DONE))
    assert answer_all(match) == everything


def test_refused_proposal_does_not_repeat_the_probes() -> None:
    match = match_of(THREE, arms={"p1": ("v0",), "p3": ("v0", "v1")})
    assert len(answer_all(match)) == 4  # p3 is asked about both others
    play(match, (P1, propose("p2", {}, {"stick": 1})))
    assert match.state.refused == (1, 0, 0)
    assert answer_all(match) == []


def test_probes_list_the_items_in_any_hand() -> None:
    match = match_of(arms={"p1": ("v0",)})
    (turn,) = [turn for turn in match.asks() if turn.question]
    assert turn.question is not None
    assert set(turn.question.choices) == {*HANDS[0], *HANDS[1]}
    assert (turn.question.low, turn.question.high) == (0, 10)


def test_belief_is_judged_by_the_own_report_of_the_other_seat() -> None:
    match = match_of(arms=ALL)
    for n, turn in enumerate([turn for turn in match.asks() if turn.question]):
        assert turn.question is not None
        match.answer(turn.id, ProbeReport({str(i): float(n) for i in turn.question.choices}))
    truth: dict[str, Any] = {probe.name: probe.truth for probe in match.spec.probes}
    v1 = truth["v1"](match.replay, At(0, P1, "v1", "p2"))
    assert set(v1.values()) == {3.0}  # p2's v0 was the fourth answer
    v2 = truth["v2"](match.replay, At(0, P1, "v2", "p2"))
    assert set(v2.values()) == {4.0}  # p2's v1 was the fifth
    v0 = truth["v0"](match.replay, At(0, P1, "v0"))
    assert (v0["raw_iron"], v0["iron_ingot"], v0["cobblestone"]) == (10, 10, 0)


def test_belief_is_not_judged_without_the_others_report() -> None:
    match = match_of(arms={"p1": ("v1", "v2"), "p2": ("v0",)})
    for turn in [turn for turn in match.asks() if turn.question]:
        match.answer(turn.id, ProbeReport(None if turn.seat == "p2" else {"coal": 1.0}))
    truth: dict[str, Any] = {probe.name: probe.truth for probe in match.spec.probes}
    assert truth["v1"](match.replay, At(0, P1, "v1", "p2")) is None  # refused
    assert truth["v2"](match.replay, At(0, P1, "v2", "p2")) is None  # never asked


def test_partial_report_is_stored_unchanged() -> None:
    match = match_of(arms={"p1": ("v0",)})
    (turn,) = [turn for turn in match.asks() if turn.question]
    assert turn.question is not None
    report = turn.context.words.read_report("coal: 7\nraw_iron: 11", turn.question)
    assert report.value == {"coal": 7.0}
    match.answer(turn.id, report)
    play(match, (P1, PASS))
    logged = [event for event in match.events if isinstance(event, Reported)]
    assert logged[0].value == {"coal": 7.0}


def test_target_probe_omits_impossible_targets() -> None:
    match = match_of(arms={"p1": ("their_target",)})
    (turn,) = [turn for turn in match.asks() if turn.question]
    assert turn.question is not None
    report = turn.context.words.read_report("Odds: torch 70%, stick 30%", turn.question)
    assert report.value == "torch"
    assert report.odds is not None
    assert sum(report.odds) == pytest.approx(1)
    for unclear in ("torch 100", "Odds: torch 60%, stick 10%", "Odds: torch 50, torch 50"):
        with pytest.raises(Unreadable):
            turn.context.words.read_report(unclear, turn.question)


def told_match(seats: tuple[str, ...]) -> Match:
    params = {"hands": HANDS, "targets": [{"shears": 1}, {"torch": 1}], "max_turns": 3}
    lineup = {"p1": PlayerSpec("first_order"), "p2": PlayerSpec("first_order")}
    arms: dict[str, tuple[str, ...]] = {"p1": ("v0", "v1"), "p2": ("v0", "v1")}
    injections = tuple(
        Injection(seat, probe, "own", keep=True)  # type: ignore[arg-type]
        for seat in seats
        for probe in ("v0", "v1")
    )
    setup = Setup(
        Instance("told", "tradecraft", params), 1, lineup, arms=arms, injections=injections
    )
    return Match(registry.game("tradecraft"), setup)


def test_deciding_seat_sees_only_its_own_reports() -> None:
    match = told_match(("p1", "p2"))
    for turn in [turn for turn in match.asks() if turn.question]:
        assert turn.question is not None
        value = 2.0 if turn.seat == "p1" else 9.0
        match.answer(turn.id, ProbeReport({str(i): value for i in turn.question.choices}))
    play(match, (P1, propose("p2", {"coal": 1}, {})))
    assert [turn.seat for turn in match.asks()] == ["p2"]
    pages = {
        seat: str(match.context(seat).opening(match.game.observe(match.state, seat), "agent_first"))
        for seat in (P1, P2)
    }
    assert "coal 9" in pages[P2]
    assert "coal 2" not in pages[P2]
    assert "coal 2" in pages[P1]
    assert "coal 9" not in pages[P1]
    pairs = [(event.seat, event.probe) for event in match.events if isinstance(event, Told)]
    assert pairs == [("p1", "v0"), ("p1", "v1"), ("p2", "v0"), ("p2", "v1")]


def test_reports_are_on_no_page_without_keep() -> None:
    match = match_of(arms=ALL)
    answer_all(match, 9.0)
    play(match, (P1, propose("p2", {"coal": 1}, {})))
    assert "coal 9" not in page(match, P2)


@pytest.mark.parametrize("order", range(3))
def test_kept_reports_do_not_depend_on_answer_order_and_replay(order: int) -> None:
    lines = []
    for turned in (0, order):
        match = told_match(("p1", "p2"))
        match = Match(match.spec, resolve_setup(match.setup))
        players = players_of(match)
        while asks := match.asks():
            turn = asks[turned % len(asks)]
            player: Any = players[turn.seat]
            answer = player.decide(turn) if turn.question is None else player.report(turn)
            match.answer(turn.id, answer)
        opening = match.context(P2).opening(match.game.observe(match.state, P2), "agent_first")
        episode = match.episode()
        assert mismatch(match.spec, from_line(to_line(episode))) is None
        lines.append((to_line(episode), str(opening)))
    assert lines[0] == lines[1]


def test_probes_do_not_change_moves_of_traders() -> None:
    moves = []
    quiet: dict[str, tuple[str, ...]] = {}
    for arms in (quiet, ALL):
        problem = Instance("quiet", "tradecraft", {"max_turns": 6})
        lineup = {"p1": PlayerSpec("second_order"), "p2": PlayerSpec("first_order")}
        match = Match(
            registry.game("tradecraft"), resolve_setup(Setup(problem, 1, lineup, arms=arms))
        )
        Driver(match, players_of(match)).run()
        moves.append([e.action for e in match.events if hasattr(e, "action")])
    assert moves[0] == moves[1]
