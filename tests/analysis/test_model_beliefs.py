"""Models in the table of stated beliefs: the same measures for rounds of matrix games and public
goods."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import sally
from sally.analysis.beliefs.decisions import decisions_of
from sally.analysis.beliefs.table import belief_table
from sally.cli import cli
from sally.core.errors import BadInput
from sally.core.log.events import Instance, PlayerSpec, Setup
from sally.core.match.engine import Match
from sally.core.registry import registry
from sally.core.rules.probe import ProbeReport
from sally.frames.replays import replay_for_measures

STAG = {"matrix": [[[4, 4], [0, 3]], [[3, 0], [2, 2]]], "names": ["S", "H"]}
CROSSED = {"matrix": [[[4, 1], [0, 3]], [[3, 0], [2, 2]]], "names": ["A", "B"],
           "partner_names": ["C", "D"]}  # fmt: skip


def episode(
    game: str,
    moves: list[tuple[int, int]],
    predictions: list[Any],
    params: dict[str, Any] | None = None,
    probe: str = "their_move",
) -> Any:
    """An episode in which the agent predicts and both make these moves."""
    player = PlayerSpec("language", {"model": "some", "strategy": "qa"}, {"player": 1})
    setup = Setup(
        Instance("one", game, {"rounds": len(moves), **(params or {})}),
        1,
        {"agent": player, "partner": PlayerSpec("random", {}, {"player": 1})},
        arms={"agent": (probe,)},
    )
    match: Match[Any, int, Any] = Match(registry.game(game), setup)
    for (agent, partner), predicted in zip(moves, predictions, strict=True):
        report = predicted if isinstance(predicted, ProbeReport) else ProbeReport(predicted)
        for turn in match.asks():
            if turn.question is not None:
                match.answer(turn.id, report)
        match.move("agent", agent)
        for turn in match.asks():
            if turn.question is not None:
                match.answer(turn.id, report)
        match.move("partner", partner)
    return match.episode()


def test_every_prediction_in_rps_is_a_contest() -> None:
    # 1 beats 0: predicts 0 and plays 1; then plays the predicted move; then neither
    belief_decisions = list(
        decisions_of(replay_for_measures(episode("rps", [(1, 0), (0, 2), (2, 1)], [0, 0, 0])))
    )
    (summary,) = belief_table(belief_decisions)
    assert [decision.stated_worth for decision in belief_decisions] == [(0, 1, -1)] * 3
    assert summary.acts.value == pytest.approx(1 / 3)
    assert summary.contest is not None and summary.contest.rows == 3
    assert summary.contest.expected.value == pytest.approx(1 / 3)
    assert belief_decisions[1].true_worth == (1, -1, 0)  # the partner moved 2


def test_stated_odds_are_used_where_they_were_asked() -> None:
    odds = ProbeReport(1, (0.45, 0.55))
    (decision,) = decisions_of(
        replay_for_measures(episode("ibs", [(0, 0)], [odds], probe="their_odds"))
    )
    assert decision.stated_worth == pytest.approx((4.5, 0.55 * 7))
    assert decision.expected == (0.45, 0.55)
    (summary,) = belief_table([decision])
    assert summary.contest is not None  # most likely F, but J pays more


def test_matching_and_best_replies_are_not_separable_in_a_stag_hunt() -> None:
    stag = episode("repeated_games", [(0, 0), (1, 1)], [0, 1], STAG)
    (summary,) = belief_table(decisions_of(replay_for_measures(stag)))
    assert summary.acts.value == 1 and summary.contest is None
    assert "not separable" in summary.notes[0]


def test_dominant_move_of_the_dilemma_has_no_acting_but_contests() -> None:
    dilemma = episode("ipd", [(0, 0), (1, 0)], [0, 0])
    (summary,) = belief_table(decisions_of(replay_for_measures(dilemma)))
    assert summary.acts.value is None
    assert summary.contest is not None and summary.contest.best.value == 0.5


def test_different_menus_have_no_contest() -> None:
    crossed = episode("repeated_games", [(0, 0)], [1], CROSSED)
    (decision,) = decisions_of(replay_for_measures(crossed))
    assert decision.expected is None and decision.stated_worth == (0, 2)


def test_prediction_after_the_move_is_left_out() -> None:
    episode_after = episode("rps", [(1, 0)], [0], probe="their_move_given_mine")
    assert list(decisions_of(replay_for_measures(episode_after))) == []


def test_contributions_are_compared_with_the_expected_mean() -> None:
    lineup = {f"player_{n}": PlayerSpec("random", {}, {"player": 1}) for n in (1, 2)}
    setup = Setup(
        Instance("one", "public_goods", {"players": 2, "tokens": 4, "ratio": 1.5, "rounds": 1}),
        1,
        lineup,
        arms={"player_1": ("their_mean", "their_least")},
    )
    match: Match[Any, int, Any] = Match(registry.game("public_goods"), setup)
    for turn in match.asks():
        if turn.question is not None:
            match.answer(turn.id, ProbeReport(2))
    match.move("player_1", 2)
    match.move("player_2", 3)
    (decision,) = decisions_of(replay_for_measures(match.episode()))
    assert decision.stated_worth == pytest.approx(
        [4 - own_index + 0.75 * (own_index + 2) for own_index in range(5)]
    )
    assert decision.true_worth == pytest.approx(
        [4 - own_index + 0.75 * (own_index + 3) for own_index in range(5)]
    )
    (summary,) = belief_table([decision])
    assert summary.contest is not None and summary.contest.expected.value == 1


def test_command_and_function_give_the_same_table(tmp_path: Path) -> None:
    bots = {"agent": "constant", "partner": "random"}
    game = sally.play("rps", bots, probes={"agent": ["their_move"]}, rounds=30)
    sally.store.claim(tmp_path, sally.store.Manifest("one", asks="ours"))
    with sally.store.Writer(tmp_path) as writer:
        writer.add(game)
    (row,) = sally.beliefs(tmp_path)
    answer = CliRunner().invoke(cli, ["profile", "--beliefs", str(tmp_path), "--json"])
    assert answer.exit_code == 0 and f'"acts": {row["acts"]}' in answer.output
    table = CliRunner().invoke(cli, ["profile", "--beliefs", str(tmp_path)]).output
    assert "contests" in table and "constant" in table


def test_store_without_beliefs_is_refused(tmp_path: Path) -> None:
    game = sally.play("rps", {"agent": "random", "partner": "random"}, rounds=3)
    sally.store.claim(tmp_path, sally.store.Manifest("one", asks="ours"))
    with sally.store.Writer(tmp_path) as writer:
        writer.add(game)
    with pytest.raises(BadInput, match="no decision with a belief"):
        sally.beliefs(tmp_path)
