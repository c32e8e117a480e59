"""Accuracy by reasoner depth: recovered from reasoners of known depth; the table of an audit."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner

import sally
from sally import store
from sally.analysis.design.depth import depth_table, depths_of
from sally.analysis.profile.depth_curve import depth_curve, pass_hat
from sally.cli import cli
from sally.core.errors import BadInput
from sally.core.log.events import Episode
from sally.games.toma.mg.game import certified_by_id as mg_certified
from sally.games.toma.po.game import certified_by_id as po_certified
from sally.output.figures.depth_curve import depth_figure

FAMILIES = ("toma_po", "toma_mg", "pick_the_right_stuff", "level_k")


@cache
def played(depth: int, repeats: int = 1, many: int | None = None) -> list[Episode]:
    episodes: list[Episode] = []
    for game, kept_scenarios in (("toma_po", po_certified()), ("toma_mg", mg_certified())):
        for id in [*kept_scenarios][:many]:
            for seed in range(repeats):
                lineup = {"player": ("reasoner", {"depth": depth})}
                episodes.append(sally.play(game, lineup, seed=seed, scenario=id))
    return episodes


@pytest.mark.parametrize("depth", [1, 2])
def test_curve_of_a_reasoner_falls_to_chance_beyond_its_depth(depth: int) -> None:
    points = {(p.game, p.depth): p for p in depth_curve(played(depth))}
    for (game, block), point in points.items():
        assert point.right.value is not None
        if block <= depth:
            assert point.right.value == 1.0
        else:  # in toma_po it answers failure, which is right as often as a constant answer is
            assert point.right.value <= point.chance + (0.2 if game == "toma_mg" else 0.01)


def test_episodes_of_other_sets_have_no_certified_depth() -> None:
    assert depth_curve([sally.play("toma_po", {"player": "solver"}, level=2)]) == []
    assert (
        depth_curve([sally.play("ipd", {"agent": "random", "partner": "random"}, rounds=2)]) == []
    )


def test_level_k_is_right_one_step_above_its_partner() -> None:
    lineup = {"player_1": ("level", {"k": 2}), "player_2": ("level", {"k": 1})}
    points = depth_curve([sally.play("eleven_twenty", lineup)])
    assert {(p.seat, p.depth): p.right.value for p in points} == {
        ("player_1", 2): 1.0,
        ("player_2", 3): 0.0,
    }


def test_depth_curve_of_locker_omits_the_last_question() -> None:
    episode = sally.play("pick_the_right_stuff", {"manager": "tracker"}, number=3)
    (point,) = depth_curve([episode])
    assert (point.depth, point.right.value, point.right.n) == (1, 1.0, 4)


@pytest.mark.parametrize(
    ("right", "repeats", "k", "share"), [(4, 4, 4, 1.0), (3, 4, 2, 0.5), (1, 4, 2, 0.0)]
)
def test_pass_hat_is_the_share_of_all_correct_draws(
    right: int, repeats: int, k: int, share: float
) -> None:
    assert pass_hat(right, repeats, k) == share


def test_pass_hat_refuses_more_repeats_than_there_are() -> None:
    with pytest.raises(ValueError, match="from 1 to 4"):
        pass_hat(1, 4, 5)


def test_pass_all_is_one_if_every_repeat_is_right() -> None:
    points = depth_curve(played(3, 2, 12))
    assert all(point.pass_all == {1: 1.0, 2: 1.0} for point in points)


@pytest.mark.parametrize("family", FAMILIES)
def test_reasoner_of_certified_depth_is_always_right_and_shallower_is_not(family: str) -> None:
    rows = [row for row in depth_table(family) if row["block"] is not None]
    assert rows
    for row in rows:
        assert row[f"depth {row['block']}"] == 1.0
        for shallow in range(row["block"]):
            assert row[f"depth {shallow}"] <= row["chance"] + 0.02


def test_game_without_depths_is_refused() -> None:
    with pytest.raises(BadInput, match="does not declare depths"):
        depths_of("ipd")


def test_commands_print_table_and_curve(tmp_path: Path) -> None:
    result = CliRunner().invoke(cli, ["audit", "toma_mg", "--depth", "--json"])
    assert result.exit_code == 0 and '"set": "block 3"' in result.output
    (tmp_path / "store").mkdir()
    with store.Writer(tmp_path / "store") as writer:
        for episode in played(1, 1, 8):
            writer.add(episode)
    result = CliRunner().invoke(cli, ["profile", str(tmp_path / "store"), "--depth"])
    assert result.exit_code == 0 and "pass^k" in result.output
    assert "no interval" not in result.output
    (tmp_path / "few").mkdir()
    with store.Writer(tmp_path / "few") as writer:
        for episode in played(1, 1, 2):
            writer.add(episode)
    result = CliRunner().invoke(cli, ["profile", str(tmp_path / "few"), "--depth"])
    assert "fewer than 5 clusters" in " ".join(result.output.split())


def test_curve_can_be_drawn() -> None:
    pytest.importorskip("matplotlib")
    assert depth_figure(depth_curve(played(1, 1, 8)))
    with pytest.raises(BadInput, match="nothing to draw"):
        depth_figure([])
