"""Traders of TradeCraft: what each order sees, says, and falls for."""

from __future__ import annotations

from typing import Any

import pytest

from sally.core.log.events import Instance, Moved, PlayerSpec, Reported, Setup, Skipped
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.match.player import Turn
from sally.core.registry import registry
from sally.games.tradecraft.actions import DONE, NO, PASS, SEATS, YES, Craft, Propose
from sally.games.tradecraft.hands import Hand
from sally.games.tradecraft.partners import (
    PARTNERS,
    SecondOrder,
    Sign,
    beliefs_about,
    craft_plan,
    infer_target,
    lack,
    likelihood,
    outcome,
    spare,
    trade_plan,
)
from sally.games.tradecraft.problems import problems
from sally.runner.seating import players_of, resolve_setup
from tests.games.tradecraft.table import HANDS, P1, P2, THREE, match_of, play, propose

NAMES = sorted(PARTNERS)
SHORT = problems("minecraft_core_2p_2", 4)


def seated(name: str, match: Match, seat: str) -> Any:
    return PARTNERS[name].make(match.game, seat)


def ask_once(match: Match, seat: str) -> Turn:
    return next(turn for turn in match.asks() if turn.seat == seat)


def game(first: str, two: str, problem: Instance = SHORT[0], arms: Any = None) -> Match:
    lineup = {"p1": PlayerSpec(first), "p2": PlayerSpec(two)}
    match = Match(
        registry.game("tradecraft"), resolve_setup(Setup(problem, 1, lineup, arms=arms or {}))
    )
    Driver(match, players_of(match)).run()
    return match


@pytest.mark.parametrize("one", NAMES)
@pytest.mark.parametrize("two", NAMES)
def test_every_trader_can_play_every_trader(one: str, two: str) -> None:
    for problem in SHORT:
        assert game(one, two, problem).over


@pytest.mark.parametrize("name", NAMES)
def test_three_can_play(name: str) -> None:
    (problem,) = problems("minecraft_core_3p_2", 1)
    lineup = {seat: PlayerSpec(name) for seat in ("p1", "p2", "p3")}
    match = Match(registry.game("tradecraft"), resolve_setup(Setup(problem, 1, lineup)))
    Driver(match, players_of(match)).run()
    assert match.over


def test_zero_order_trader_requests_missing_and_offers_spare_goods() -> None:
    match = match_of()
    made = seated("zero_order", match, "p1")(ask_once(match, "p1"))
    assert isinstance(made, Propose)
    assert made.request == (("raw_iron", "1"),)
    assert set(dict(made.offer)) <= {"coal", "birch_planks"}  # never the iron it needs


def test_zero_order_trader_accepts_only_helpful_offers() -> None:
    helps = play(match_of(), (P1, propose("p2", {"coal": 1}, {"raw_iron": 1})))
    assert seated("zero_order", helps, "p2")(ask_once(helps, "p2")) == YES
    hurts = play(match_of(), (P1, propose("p2", {"birch_planks": 1}, {"oak_planks": 2})))
    assert seated("zero_order", hurts, "p2")(ask_once(hurts, "p2")) == NO


def test_zero_order_trader_crafts_towards_its_target_at_once() -> None:
    match = play(match_of(), (P1, propose("p2", {"coal": 1}, {"raw_iron": 1})), (P2, YES))
    first = seated("zero_order", match, "p1")(ask_once(match, "p1"))
    assert isinstance(first, Craft)
    assert first.output == "iron_ingot"
    idle = play(match_of(), (P1, PASS))
    assert seated("zero_order", idle, "p1")(ask_once(idle, "p1")) == DONE


def test_hoarder_gives_nothing_and_a_giver_asks_for_nothing() -> None:
    match = match_of()
    demand = seated("hoarder", match, "p1")(ask_once(match, "p1"))
    assert (demand.offer, bool(demand.request)) == ((), True)
    gift = seated("generous", match, "p1")(ask_once(match, "p1"))
    assert (bool(gift.offer), gift.request) == (True, ())
    asking = play(match_of(), (P1, propose("p2", {"coal": 2}, {"raw_iron": 1})))
    assert seated("hoarder", asking, "p2")(ask_once(asking, "p2")) == NO
    assert seated("generous", asking, "p2")(ask_once(asking, "p2")) == YES


def test_request_raises_belief_in_the_target_it_serves() -> None:
    """p2 asks for the last thing that its torch lacks."""
    match = play(match_of(), (P1, PASS), (P1, DONE), (P2, DONE))
    play(match, (P2, propose("p1", {"raw_iron": 1}, {"coal": 1})))
    view = ask_once(match, "p1").view
    beliefs = beliefs_about(view, P2, tuple(Hand(hand) for hand in HANDS))
    assert beliefs["torch"] > 1 / len(beliefs)


def test_first_order_trader_refuses_trades_that_let_the_other_win_alone() -> None:
    """It turns down what would help it only where the proposer could finish with the trade."""
    refused = 0
    for n in (10, 18, 29):  # of the invented instances; there the signs are clear enough
        problem = problems("invented_2p")[n]
        for text, two in (("zero_order", "first_order"), ("first_order", "zero_order")):
            match = game(text, two, problem)
            for step in match.replay.steps():
                if step.before.phase != "decide":
                    continue
                ((seat, given),) = step.moves.items()
                view = match.game.observe(step.before, seat)
                outcome_after = outcome(view, view.proposal)
                if outcome_after.helps and given == NO:
                    goal = match.game.goals[SEATS.index(view.proposer)]  # type: ignore[attr-defined]
                    assert PARTNERS["first_order"].name == match.setup.lineup[seat].player
                    assert craft_plan(view.rules, outcome_after.other_hand, goal) is not None
                    refused += 1
    assert refused >= 3


def test_requests_and_offers_move_beliefs_in_the_right_direction() -> None:
    there, mine = frozenset({"coal", "sand", "iron"}), frozenset({"wood", "stone"})
    asks = Sign(frozenset({"coal"}), frozenset(), there, mine)
    assert likelihood(asks, frozenset({"coal"})) > likelihood(asks, frozenset({"sand"}))
    gives = Sign(frozenset(), frozenset({"wood"}), there, mine)
    assert likelihood(gives, frozenset({"stone"})) > likelihood(gives, frozenset({"wood"}))


def test_beliefs_are_a_distribution_and_initially_uniform() -> None:
    match = match_of()
    start = tuple(Hand(hand) for hand in HANDS)
    beliefs = infer_target(match.game.rules, start, ())  # type: ignore[attr-defined]
    assert sum(beliefs.values()) == pytest.approx(1)
    assert max(beliefs.values()) == pytest.approx(min(beliefs.values()))


def test_inference_beats_chance_over_the_shipped_instances() -> None:
    """After a zero-order trader's proposals its target is likelier than at first, on average."""
    gains = []
    for problem in problems("invented_2p", 12):
        match = game("zero_order", "hoarder", problem)
        start = tuple(Hand(hand) for hand in match.game.hands)  # type: ignore[attr-defined]
        view = match.game.observe(match.state, P2)
        beliefs = beliefs_about(view, P1, start)
        (target,) = match.game.goals[0]  # type: ignore[attr-defined]
        gains.append(beliefs[target] * len(beliefs))
    assert min(gains) > 1
    assert sum(gains) / len(gains) > 3


def test_second_order_trader_reveals_less_than_first_order_trader() -> None:
    values: dict[str, list[float]] = {"first_order": [], "second_order": []}
    for problem in problems("minecraft_core_2p_2", 10):
        for name, value in values.items():
            lineup = {"p1": PlayerSpec(name), "p2": PlayerSpec("hoarder")}
            match = Match(registry.game("tradecraft"), resolve_setup(Setup(problem, 1, lineup)))
            start = tuple(Hand(hand) for hand in match.game.hands)  # type: ignore[attr-defined]
            play(match, (P1, PARTNERS[name].make(match.game, P1)(match.asks()[0])))
            (target,) = match.game.goals[0]  # type: ignore[attr-defined]
            view = match.game.observe(match.state, P2)
            value.append(beliefs_about(view, P1, start)[target])
    assert sum(values["second_order"]) < 0.8 * sum(values["first_order"])


def test_traders_answer_only_probes_of_their_order() -> None:
    arms = {"p1": ("v0", "v1", "v2", "their_target"), "p2": ("v0", "v1", "v2")}
    answered = {}
    for name in ("zero_order", "first_order", "second_order"):
        events = game(name, name, arms=arms).events
        own_events = [e for e in events if getattr(e, "seat", "") == "p1"]
        answered[name] = {e.probe for e in own_events if isinstance(e, Reported)}
        skipped = {e.probe for e in own_events if isinstance(e, Skipped)}
        assert not answered[name] & skipped
    assert answered["zero_order"] == {"v0"}
    assert answered["first_order"] == {"v0", "v1", "their_target"}
    assert answered["second_order"] == {"v0", "v1", "v2", "their_target"}


def test_second_order_report_equals_first_order_report_about_it() -> None:
    """Both infer from the same public signs, so V2 of one is V1 of the other."""
    arms = {"p1": ("v2",), "p2": ("v1",)}
    events = game("second_order", "first_order", SHORT[2], arms).events
    reports = {(e.turn, e.seat): e.value for e in events if isinstance(e, Reported)}
    turns = sorted({turn for turn, _ in reports})
    assert turns
    for turn in turns:
        assert reports[turn, "p1"] == pytest.approx(reports[turn, "p2"])


def test_spare_goods_are_not_needed_for_the_plan() -> None:
    rules, start = match_of().game.rules, [Hand(hand) for hand in HANDS]  # type: ignore[attr-defined]
    target = Hand({"shears": 1})
    plan = trade_plan(rules, start[0], start[1], target)
    remaining_counts = spare(start[0], plan)
    kept_hand = Hand({i: a - remaining_counts.get(i, 0) for i, a in start[0].items()})
    assert lack(rules, kept_hand, start[1], target) == lack(rules, start[0], start[1], target) == 1


def test_traders_are_deterministic() -> None:
    match, two = (game("second_order", "first_order", SHORT[1]) for _ in range(2))
    assert [e for e in match.events if isinstance(e, Moved)] == [
        e for e in two.events if isinstance(e, Moved)
    ]


def test_proposal_of_second_order_trader_is_legal_with_three_players() -> None:
    match = match_of(THREE)
    made = SecondOrder(match.game, P1)(match.asks()[0])  # type: ignore[arg-type]
    assert isinstance(made, Propose)
    assert match.game.problem(match.state.hands, 0, made) is None  # type: ignore[attr-defined]
