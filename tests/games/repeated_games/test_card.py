"""What mindless players score in repeated games is what arithmetic says they score."""

from __future__ import annotations

from typing import Any

import pytest

from sally.analysis.design.audit import (
    audit,
    audit_of,
    card_of,
    conditions_of,
    off_chance,
    without_intervals,
)
from sally.core.errors import BadInput
from sally.core.log.events import PlayerSpec
from sally.core.registry.study import instance
from sally.core.rules.card import Card, Condition, Shortcut, both_ways

Row = dict[str, Any]


def condition(name: str) -> Condition:
    return next(c for c in conditions_of("repeated_games") if c.name == name)


@pytest.fixture(scope="module")
def rps() -> list[Row]:
    """rps against a constant and against an unpredictable partner."""
    expected_conditions = [condition("rps: single_action 0"), condition("rps: random")]
    return audit_of(expected_conditions, episodes=8, seed=4)


def row(rows: list[Row], condition: str, player: str, metric: str) -> Row:
    key = (condition, player, metric)
    return next(r for r in rows if (r["condition"], r["player"], r["metric"]) == key)


def near(found: Row, expected: float) -> bool:
    """Within one and a half interval widths: a wrong figure is far outside."""
    low, high = found["interval"]
    return bool(abs(found["value"] - expected) <= 1.5 * (high - low) + 1e-9)


def test_random_player_loses_one_per_round_to_best_play(rps: list[Row]) -> None:
    """The best reply wins 1 in every round, and random play has mean 0."""
    actual_row = row(rps, "rps: single_action 0", "random", "functional_regret")
    assert near(actual_row, 1.0) and actual_row["interval"][1] - actual_row["interval"][0] < 0.2
    assert near(row(rps, "rps: single_action 0", "random", "tom_percent"), 100 / 3)


def test_rows_without_interval_give_a_reason(rps: list[Row]) -> None:
    assert without_intervals(rps) == [] and all(row["interval"] for row in rps)
    few = audit_of([condition("rps: random")], episodes=2, seed=4)
    reason = "no interval: fewer than 5 clusters"
    assert all(row["interval"] is None and row["method"].endswith(reason) for row in few)
    (line,) = without_intervals(few)
    assert line == f"no interval for any of the {len(few)} values: fewer than 5 clusters"


@pytest.mark.parametrize(
    ("player", "regret"),
    [
        ("constant 0", 1.0),
        ("constant 1", 0.0),
        ("constant 2", 2.0),
        ("not constant 0", 1.0),
        ("not constant 1", 1.5),
        ("not constant 2", 0.5),
        ("minimax", 1.0),
    ],
)
def test_constants_and_their_inverses(rps: list[Row], player: str, regret: float) -> None:
    assert near(row(rps, "rps: single_action 0", player, "functional_regret"), regret)


def test_copy_last_predicts_well_but_plays_badly(rps: list[Row]) -> None:
    """Literal theory of mind without the functional kind: the paper's point, from a rule."""
    knows = row(rps, "rps: single_action 0", "copy_last", "tom_percent")
    loses = row(rps, "rps: single_action 0", "copy_last", "functional_regret")
    assert knows["value"] > 98
    assert loses["value"] == pytest.approx(1.0, abs=0.02)  # it ties


def test_no_player_is_off_chance_against_unpredictable_partner(rps: list[Row]) -> None:
    assert off_chance("rps", rps, slack=2.0) == []
    tampered = [
        {**r, "value": r["value"] + 9, "interval": [x + 9 for x in r["interval"]]} for r in rps
    ]
    below = [
        {**r, "value": r["value"] - 9, "interval": [x - 9 for x in r["interval"]]} for r in rps
    ]
    judged = sum(r["condition"] == "rps: random" and r["metric"] != "tom_regret" for r in rps)
    assert len(off_chance("rps", tampered)) == len(off_chance("rps", below)) == judged


def test_in_ipd_defection_dominates_one_round_and_loses_to_tit_for_tat() -> None:
    rows = audit_of([condition("ipd: tit_for_tat")], episodes=2, seed=1)
    exact = {"constant 0": 0.02, "constant 1": 2.97, "minimax": 2.97}
    for player, regret in exact.items():
        actual_row = row(rows, "ipd: tit_for_tat", player, "functional_regret")
        assert actual_row["value"] == pytest.approx(regret)


def test_audit_follows_the_seed() -> None:
    expected_conditions = [condition("ibs: tit_for_tat")]
    assert (
        audit_of(expected_conditions, 2, 3)
        == audit_of(expected_conditions, 2, 3)
        != audit_of(expected_conditions, 2, 4)
    )


def test_conditions_include_all_partners_of_the_paper() -> None:
    names = {c.name for c in conditions_of("rps")}
    assert names == {f"rps: single_action {a}" for a in range(3)} | {
        "rps: tit_for_tat",
        "rps: random",
    }
    assert len(conditions_of("repeated_games")) == 4 + 3 + 3 + 1


# --- refused --------------------------------------------------------------------------------------


def test_game_without_card_is_refused() -> None:
    with pytest.raises(BadInput, match="cups has no card yet"):
        audit("cups")


def test_bad_input() -> None:
    with pytest.raises(BadInput, match="episodes must be from 1 to 10,000,000"):
        audit("rps", episodes=0)
    with pytest.raises(BadInput, match="did you mean"):
        audit("rpss")
    with pytest.raises(BadInput, match="own inverse"):
        Shortcut(PlayerSpec("constant"), PlayerSpec("constant"))
    with pytest.raises(BadInput, match="has a chance level but"):
        Condition("x", (instance("rps"),), "agent", (), ("reward",), chance={"regret": 0.0})
    with pytest.raises(BadInput, match="is audited and takes"):
        Condition(
            "x", (instance("rps"),), "agent", (), ("reward",), {"agent": PlayerSpec("random")}
        )
    with pytest.raises(BadInput, match="distinct names"):
        Card("x", "none", ())


def test_unknown_metric_is_refused_with_a_suggestion() -> None:
    odd = Condition(
        "odd",
        (instance("rps"),),
        "agent",
        (both_ways("constant"),),
        ("functional_regrets",),
        {"partner": PlayerSpec("random")},
    )
    with pytest.raises(BadInput, match="did you mean functional_regret"):
        audit_of([odd], 1, 1)


def test_card_covers_no_game_of_another_family() -> None:
    card: Card = card_of("repeated_games")
    assert card.of("cups") == ()
