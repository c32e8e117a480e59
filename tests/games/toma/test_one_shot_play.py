"""The partially observable game and the minority game, played and measured."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sally.core.errors import BadInput, Unreadable
from sally.core.log.events import Injection
from sally.core.match.player import Decision, Forfeit
from sally.core.registry import registry
from sally.core.rules.probe import At, ProbeReport
from sally.games.toma.mg import game as mg
from sally.games.toma.one_shot import PLAYER, read_numbered
from sally.games.toma.po import game as po
from sally.games.toma.po.rules import AGENTS, FAILURE, answer, predictable, predictions
from tests.games.toma.mg_printed import ALL as MG_PRINTED
from tests.games.toma.po_printed import ALL as PO_PRINTED
from tests.games.toma.table import match_at, page_of, played, row_of

PROBES = {"toma_po": "their_choice", "toma_mg": "their_place"}
NAMES = ("Cave", "River", "Deep Cave", "Treaty 4", "Mission failure is inevitable")


def answered(game: str, predicted: dict[str, int], chosen: int, **params: Any) -> dict[str, Any]:
    """The row of an episode in which the player predicts and chooses like this."""
    match = match_at(game, {"player": "random"}, arms={"player": (PROBES[game],)}, **params)
    for turn in match.asks():
        if turn.question is not None:
            match.answer(turn.id, ProbeReport(predicted[turn.question.about]))
    for turn in match.asks():
        match.answer(turn.id, Decision(chosen))
    return row_of(match.episode())


# --- the solvers, and what is printed -----------------------------------------------------------


@pytest.mark.parametrize("game", PROBES)
def test_solver_predicts_and_acts_correctly(game: str) -> None:
    module: Any = {"toma_po": po, "toma_mg": mg}[game]
    for id, scenario in list(module.frozen_scenarios().items())[::7]:
        row = row_of(
            played(game, {"player": "solver"}, arms={"player": (PROBES[game],)}, scenario=id)
        )
        assert (row["task_success"], row["action_consistency"]) == (1, 1)
        if game == "toma_mg" or scenario.level > 0:
            assert (row["tom_percent"], row["knowing_doing_both"]) == (100, 1)
        else:
            assert row["tom_percent"] is row["knowing_doing_both"] is None


@pytest.mark.parametrize("scenario", PO_PRINTED, ids=lambda s: s.id)
def test_printed_scenarios_are_solved_in_play(scenario: Any) -> None:
    plain = msgspec.to_builtins(scenario)
    for matrix in ("full", "known"):
        episode = played("toma_po", {"player": "solver"}, scenario=plain, matrix=matrix)
        assert episode.payoffs == {"player": 1.0}


@pytest.mark.parametrize("scenario", MG_PRINTED, ids=lambda s: s.id)
def test_printed_minority_scenarios_are_solved_in_play(scenario: Any) -> None:
    plain = msgspec.to_builtins(scenario)
    assert played("toma_mg", {"player": "solver"}, scenario=plain).payoffs == {"player": 1.0}


# --- knowing and doing ----------------------------------------------------------------------------


def test_acting_on_a_wrong_prediction_is_consistent_and_fails() -> None:
    scenario = next(s for s in po.frozen_scenarios().values() if s.level == 1)
    right = {AGENTS[a]: task for a, task in predictions(scenario).items()}
    wrong = dict.fromkeys(right, 0)  # both on one task: then failure is the rational answer
    row = answered("toma_po", wrong, FAILURE, scenario=scenario.id)
    assert row["action_consistency"] == 1
    assert row["task_success"] == float(answer(scenario) == FAILURE)


def test_right_predictions_with_wrong_choice_are_scored_as_such() -> None:
    scenario = next(
        s for s in po.frozen_scenarios().values() if s.level == 3 and answer(s) != FAILURE
    )
    right = {AGENTS[a]: task for a, task in predictions(scenario).items()}
    row = answered("toma_po", right, FAILURE, scenario=scenario.id)
    assert (row["tom_percent"], row["action_consistency"], row["task_success"]) == (100, 0, 0)
    assert row["knowing_doing_knew_only"] == 1
    assert row["knowing_doing_both"] == row["knowing_doing_neither"] == 0


def test_unreadable_prediction_leaves_knowing_and_consistency_blank() -> None:
    match = match_at("toma_po", {"player": "random"}, arms={"player": ("their_choice",)}, level=3)
    first, *other_turn = [turn for turn in match.asks() if turn.question is not None]
    match.answer(first.id, ProbeReport(None, reply="Hm."))
    for turn in other_turn:
        match.answer(turn.id, ProbeReport(0))
    for turn in match.asks():
        match.answer(turn.id, Decision(0))
    row = row_of(match.episode())
    assert row["action_consistency"] is row["knowing_doing_both"] is None
    assert row["task_success"] is not None
    assert row["unread_reports"]


def test_every_episode_is_in_exactly_one_cell() -> None:
    for id in list(po.frozen_scenarios())[30::13]:
        arms = {"player": ("their_choice",)}
        row = row_of(played("toma_po", {"player": "own_min"}, arms=arms, scenario=id))
        assert sum(value for key, value in row.items() if key.startswith("knowing_doing_")) == 1


def test_tie_between_places_leaves_both_consistent() -> None:
    match = match_at("toma_mg", {"player": "random"}, level=1)
    agents = [agent.name for agent in match.game.problem.agents]  # type: ignore[attr-defined]
    crowded = {name: number % 2 for number, name in enumerate(agents)}
    for chosen, consistent in ((0, 0), (1, 0), (2, 1), (3, 1)):
        row = answered("toma_mg", crowded, chosen, level=1)
        assert row["action_consistency"] == consistent


def test_forfeited_choice_is_blank_and_zero_in_published_score() -> None:
    match = match_at("toma_po", {"player": "random"})
    match.answer(match.asks()[0].id, Forfeit("unreadable", "Hm."))
    row = row_of(match.episode())
    assert row["task_success"] is None
    assert row["task_success_published"] == 0
    assert row["forfeited"] == 1


def test_consistency_without_predictions_is_blank_except_at_level_0() -> None:
    assert row_of(played("toma_po", {"player": "solver"}, level=2))["action_consistency"] is None
    assert row_of(played("toma_po", {"player": "solver"}, level=0))["action_consistency"] == 1
    assert row_of(played("toma_po", {"player": "own_max"}, level=0))["action_consistency"] == 0


# --- injection ------------------------------------------------------------------------------------


@pytest.mark.parametrize("game", PROBES)
def test_injected_values_are_true_without_error_and_false_with_error_1(game: str) -> None:
    for error, share in ((0.0, 1.0), (1.0, 0.0)):
        injection = Injection(PLAYER, PROBES[game], error=error)
        match = match_at(game, {"player": "random"}, injections=(injection,), level=3)
        (turn,) = match.asks()
        truth = match.spec.probe(PROBES[game]).truth
        right = [
            t.value == truth(match.replay, At(t.turn, PLAYER, t.probe, t.about)) for t in turn.told
        ]
        assert right
        assert sum(right) / len(right) == share
        for t in turn.told:
            sentence = turn.context.words.told(t)
            assert t.about in sentence
            assert turn.context.words.name(t.value) in sentence


@pytest.mark.parametrize("game", PROBES)
def test_believer_wins_with_injected_truth_and_loses_with_errors(game: str) -> None:
    module: Any = {"toma_po": po, "toma_mg": mg}[game]
    some = [id for id, scenario in module.frozen_scenarios().items() if scenario.level == 3]
    wins = {}
    for error in (0.0, 1.0):
        injected = (Injection(PLAYER, PROBES[game], error=error),)
        episodes = [
            played(game, {"player": "believer"}, scenario=id, injections=injected) for id in some
        ]
        wins[error] = sum((e.payoffs or {})["player"] for e in episodes)
    assert wins[0.0] == len(some)
    assert wins[1.0] < len(some) / 2


# --- pages and secrets ----------------------------------------------------------------------------


@pytest.mark.parametrize("level", [0, 1])
@given(row=st.permutations([17, 23, 31, 47]))
def test_page_does_not_depend_on_hidden_costs(level: int, row: list[int]) -> None:
    scenario = next(s for s in po.frozen_scenarios().values() if s.level == level)
    hidden = next(a for a in range(4) if a != scenario.player and a not in predictable(scenario))
    costs = [tuple(row) if a == hidden else r for a, r in enumerate(scenario.costs)]
    other_scenario = msgspec.structs.replace(scenario, costs=tuple(costs))
    match, two = (
        match_at("toma_po", {"player": "random"}, scenario=msgspec.to_builtins(s), matrix="known")
        for s in (scenario, other_scenario)
    )
    assert page_of(match, "player") == page_of(two, "player")
    assert match.game.observe(match.state, PLAYER) == two.game.observe(two.state, PLAYER)
    shown_match = match_at(
        "toma_po", {"player": "random"}, scenario=msgspec.to_builtins(other_scenario)
    )
    assert "1.7" in page_of(shown_match, "player")


# --- reading --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "place"),
    [
        ("Answer: 2", 1),
        ("Answer: [2]", 1),
        ("**Answer:** 2 - River", 1),
        ("Answer: River (3.1)", 1),
        ("I think hard.\nAnswer: 5", 4),
        ("Answer: Deep Cave", 2),
        ("Answer: Treaty 4", 3),
        ("River", 1),
        ("4", 3),
        ("Answer: Option 1: Cave", 0),
    ],
)
def test_numbers_and_names_are_read(reply: str, place: int) -> None:
    assert read_numbered(reply, NAMES, "Answer") == place


@pytest.mark.parametrize(
    "reply",
    [
        "Answer: 6",
        "Answer: 1 or 2",
        "Answer: 1 (River)",
        "Answer: not 3",
        "Answer:",
        "0",
    ],
)
def test_unclear_reply_is_refused(reply: str) -> None:
    with pytest.raises(Unreadable):
        read_numbered(reply, NAMES, "Answer")


# --- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("game", "params", "says"),
    [
        ("toma_po", {"level": 7}, "0 to 4"),
        ("toma_po", {"scenario": "po-L9"}, "no stored scenario"),
        ("toma_po", {"scenario": "po2-L1-2026-1", "level": 2}, "level is 2"),
        ("toma_po", {"story": "moon"}, "moon"),
        ("toma_po", {"matrix": "half"}, "matrix"),
        ("toma_mg", {"level": 0}, "1 to 3"),
    ],
)
def test_bad_parameters_are_refused_with_one_message(
    game: str, params: dict[str, Any], says: str
) -> None:
    with pytest.raises(BadInput, match=says):
        registry.game(game).build(params)
