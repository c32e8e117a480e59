"""Elicitation: payoff functions by hand, and which answers count as beliefs that are acted on."""

from __future__ import annotations

from collections.abc import Mapping
from math import comb
from typing import Any

import pytest

from sally.core.errors import BadInput
from sally.core.log.events import Censored, Ended, Instance, PlayerSpec, Setup
from sally.core.match.engine import Match
from sally.core.match.player import Forfeit
from sally.core.registry import registry
from sally.core.rules.probe import ProbeReport
from sally.frames.replays import replay_for_measures
from sally.games.elicitation.payoffs import (
    Inspection,
    LinearPublicGood,
    SequentialTransfer,
    ThresholdOfFive,
    best_of,
)
from sally.games.elicitation.rules import PLAYER
from sally.metrics.consistency import list_decision_fits

THREE = ("L", "M", "H")
WORKS: Mapping[str, Any] = {
    "ask": "works",
    "options": ["work", "shirk"],
    "kind": "odds",
    "bears": "payoff",
}


def inspection(cost: float = 15, **question: Any) -> dict[str, Any]:
    return {
        "menu": ["inspect", "not inspect"],
        "pays": {"kind": "inspection", "cost": cost, "works": 40, "caught": 30},
        "questions": [{**WORKS, **question}],
    }


def match_of(params: dict[str, Any], *probes: str) -> Match[Any, int, Any]:
    lineup = {"player": PlayerSpec("random", {}, {"player": 1})}
    setup = Setup(Instance("one", "elicitation", params), 1, lineup, arms={"player": probes})
    return Match(registry.game("elicitation"), setup)


def finish_game(params: dict[str, Any], odds: tuple[float, float], move: int) -> Any:
    """Return the episode of a player who states odds and moves."""
    probe = "belief_after" if params["questions"][0].get("asked") == "after" else "belief"
    match = match_of(params, probe)
    answer = ProbeReport(("work", "shirk")[odds[1] > odds[0]], odds)
    for turn in match.asks():
        if turn.question is not None:
            match.answer(turn.id, answer)
    match.move(PLAYER, move)
    for turn in match.asks():
        match.answer(turn.id, answer)
    return match.episode()


# --- payoff functions -----------------------------------------------------------------------------


def test_transfer_pays_what_is_left_and_the_multiplied_reply() -> None:
    pays = SequentialTransfer(100, 3, (0, 50, 100))
    odds = {"reply_to_L": (1, 0, 0), "reply_to_M": (0.5, 0.5, 0), "reply_to_H": (0, 0.25, 0.75)}
    assert pays.values(THREE, odds) == (100, 50 + 3 * 25, 0 + 3 * 87.5)


def test_threshold_draws_four_others_without_replacement() -> None:
    counts = (10, 15, 5)
    pays = ThresholdOfFive(4).values(("C", "D", "L"), {"same_move": counts})
    ways = comb(25, 4)
    three = comb(10, 3) * 15 / ways
    four = comb(10, 4) / ways
    assert pays == pytest.approx((30 * (three + four), 10 + 30 * four, 20))
    with_loners = ThresholdOfFive(4, 0.5).values(("C", "D", "L"), {"same_move": counts})
    ways = comb(27, 4)  # two of the five loners fill up groups and give nothing
    three, four = comb(10, 3) * 17 / ways, comb(10, 4) / ways
    assert with_loners == pytest.approx((30 * (three + four), 10 + 30 * four, 20))


def test_threshold_has_no_value_if_fewer_than_four_others_are_in_groups() -> None:
    pays = ThresholdOfFive(2)
    assert pays.values(("C", "D", "L"), {"same_move": (2, 1, 27)}) is None
    assert pays.values(("C", "D", "L"), {"same_move": (2, 2, 26)}) is not None


def test_inspection_pays_if_it_costs_less_than_what_a_shirker_is_expected_to_lose() -> None:
    for cost in (1, 11.9, 12.1, 29):
        values = Inspection(cost, 40, 30).values(("inspect", "not inspect"), {"works": (0.6, 0.4)})
        assert best_of(values) == ((0,) if cost < 30 * 0.4 else (1,))


def test_giving_nothing_is_best_in_a_linear_public_good_whatever_is_believed() -> None:
    menu = tuple(map(str, range(21)))
    pays = LinearPublicGood(20, 4, 0.4)
    for believed in (0.0, 7.3, 20.0):
        assert best_of(pays.values(menu, {"others_mean": (believed,)})) == (0,)
    assert pays.values(menu, {"others_mean": (5.0,)})[10] == pytest.approx(10 + 0.4 * 25)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"menu": ["inspect"]}, "menu must be 2 to"),
        ({"menu": ["look", "do not"]}, "the menu must be inspect, not inspect"),
        ({"questions": []}, "needs the question works"),
        ({"questions": [{**WORKS, "bears": ""}]}, "works must bear on the payoff"),
        ({"questions": [{**WORKS, "options": ["a", "b"]}]}, "with the options work and shirk"),
        ({"questions": [{**WORKS, "truth": "perhaps"}]}, "'perhaps' is not one of work or shirk"),
        ({"questions": [dict(WORKS), dict(WORKS)]}, "two questions have the same name"),
        ({"questions": [{**WORKS, "bears": "payoff peer"}]}, "its options must be the menu"),
        ({"questions": [{**WORKS, "bears": "luck"}]}, "bears names luck"),
        ({"pays": {"kind": "inspection", "cost": 1, "works": 2}}, "caught"),
        ({"pays": {"kind": "threshold_of_five", "threshold": 9}}, "threshold must be from 1 to 5"),
    ],
)
def test_problem_that_contradicts_itself_is_refused(changed: dict[str, Any], why: str) -> None:
    with pytest.raises(BadInput, match=why):
        registry.game("elicitation").build({**inspection(), **changed})


# --- what counts ----------------------------------------------------------------------------------


def test_move_is_judged_by_the_odds_stated_before_it() -> None:
    for move, fits in ((0, True), (1, False)):
        (decision,) = list_decision_fits(
            replay_for_measures(finish_game(inspection(), (0.2, 0.8), move)), PLAYER
        )
        assert (decision.fits, decision.chance, decision.best) == (fits, 0.5, (0,))


def test_belief_stated_after_the_move_is_never_acted_on() -> None:
    episode = finish_game(inspection(asked="after"), (0.2, 0.8), 0)
    assert [event.probe for event in episode.events if hasattr(event, "probe")] == ["belief_after"]
    assert list_decision_fits(replay_for_measures(episode), PLAYER) == []


def test_decision_is_left_out_if_all_actions_pay_the_same_or_earlier_moves_set_its_price() -> None:
    assert (
        list_decision_fits(replay_for_measures(finish_game(inspection(), (0.5, 0.5), 0)), PLAYER)
        == []
    )
    adaptive = {**inspection(truth="work"), "adaptive": True}
    match = replay_for_measures(finish_game(adaptive, (0.2, 0.8), 0))
    metrics = registry.metrics("elicitation")
    assert list_decision_fits(match, PLAYER) == []
    assert {metrics[name].measure(match, PLAYER) for name in ("earned", "tom_percent")} == {None}


def test_payoff_needs_what_the_others_did() -> None:
    paid = finish_game(inspection(truth="shirk"), (0.2, 0.8), 0).events[-1]
    assert isinstance(paid, Ended) and paid.payoffs == {"player": 15.0}
    unpaid = finish_game(inspection(), (0.2, 0.8), 0).events[-1]
    assert isinstance(unpaid, Censored) and unpaid.cause == "record"


def test_forfeit_of_a_player_counts_as_nothing_earned() -> None:
    match = match_of(inspection(truth="shirk"))
    match.answer((0, PLAYER, "", ""), Forfeit("unreadable"))
    intended = registry.part("elicitation", "intended")
    assert intended is not None
    assert intended(replay_for_measures(match.episode()), PLAYER) == (0.0, 15.0, None)


def test_problem_without_a_menu_asks_only_for_beliefs() -> None:
    params = {"menu": [], "pays": None, "questions": [{**WORKS, "bears": "", "kind": "choice"}]}
    match = match_of(params, "belief")
    (asked_turn,) = [turn for turn in match.asks() if turn.question is not None]
    match.answer(asked_turn.id, ProbeReport("work"))
    match.move(PLAYER, 0)
    assert match.episode().payoffs == {"player": 0.0}
