"""Who is told something about a turn's start is told whenever it moves in that turn."""

from __future__ import annotations

from typing import Any

from sally.core.log.events import Injection, Instance, PlayerSpec, Setup, Told
from sally.core.match.engine import Match
from sally.core.match.player import Decision
from sally.core.registry import registry
from sally.core.rules.probe import ProbeReport
from sally.games.tradecraft.actions import DONE, NO, Propose
from tests.games.tradecraft.test_reports import HANDS

V0 = ("v0",)


def table(*injections: Injection) -> Match:
    """Two turns: p1 proposes in the first, p2 in the second."""
    params = {"hands": HANDS, "targets": [{"shears": 1}, {"torch": 1}], "max_turns": 2}
    lineup = {"p1": PlayerSpec("first_order"), "p2": PlayerSpec("first_order")}
    setup = Setup(
        Instance("told", "tradecraft", params), 1, lineup,
        arms={"p1": ("v0", "v1"), "p2": V0}, injections=injections,
    )  # fmt: skip
    return Match(registry.game("tradecraft"), setup)


def moves_of(match: Match, seat: str) -> list[list[Any]]:
    """What a seat was told at each of its moves, in a game of offers that are all refused."""
    told_lines = []
    while asks := match.asks():
        turn = asks[0]
        if turn.question is not None:
            value = 2.0 if turn.seat == "p1" else 9.0
            match.answer(turn.id, ProbeReport({str(i): value for i in turn.question.choices}))
            continue
        if turn.seat == seat:
            told_lines.append([item.value for item in turn.told])
        other_seat = "p2" if turn.seat == "p1" else "p1"
        give = Propose(other_seat, ((next(iter(turn.view.hand.goods)), "1"),), ())
        action = {"propose": give, "decide": NO}.get(turn.view.phase, DONE)
        match.answer(turn.id, Decision(action))
    return told_lines


def test_injection_reaches_deciding_and_proposing_seats_alike():
    oracle = Injection("p1", "their_target")  # type: ignore[arg-type]
    moves = moves_of(table(oracle), "p1")
    assert moves == [["torch"]] * 4  # proposes, crafts; decides, crafts


def test_truth_of_turn_start_is_injected_into_every_move_of_the_turn():
    moves = moves_of(table(Injection("p1", "v1")), "p1")  # type: ignore[arg-type]
    assert [set(values[0].values()) for values in moves] == [{9.0}] * 4  # what p2 said of itself


def test_kept_own_reports_are_told_once_per_turn():
    match = table(Injection("p1", "v0", "own", keep=True))  # type: ignore[arg-type]
    moves = moves_of(match, "p1")
    assert [len(values) for values in moves] == [1, 0, 0, 0]  # in turn 2 kept before p2 proposed
    assert sum(isinstance(event, Told) for event in match.events) == 2
    past = match.context(match.game.seats[0]).past(
        match.game.observe(match.state, match.game.seats[0]), "agent_first"
    )
    assert [line[:24] for line in past if "You rated" in line] == [
        "Turn 1. You rated how us",
        "Turn 2. You rated how us",
    ]
