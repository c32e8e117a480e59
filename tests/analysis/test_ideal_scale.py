"""Players beside the ideal observer, on played episodes of repeated and level-k games."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

import sally
from sally import store
from sally.analysis.profile.ideal_scale import IdealRow, has_pool, ideal_rows, without_pool
from sally.cli import cli
from sally.core.errors import BadInput
from sally.core.log.events import Episode, PlayerSpec
from sally.core.registry import registry
from sally.games.repeated_games.ideal import declared_pool, ideal_of
from sally.games.repeated_games.rules import RepeatedGame

ROUNDS = 8


def against_the_pool(
    game: str, spec: PlayerSpec, seeds: int = 1, probe: str = "their_move"
) -> list[Episode]:
    rules = registry.game(game).build({"rounds": ROUNDS})
    assert isinstance(rules, RepeatedGame)
    return [
        sally.play(
            game,
            {"agent": spec, "partner": partner},
            seed=seed,
            rounds=ROUNDS,
            probes={"agent": [probe]},
        )
        for partner in declared_pool(rules, rules.seats[0])
        for seed in range(seeds)
    ]


def row_of(episodes: list[Episode]) -> IdealRow:
    (row,) = [row for row in ideal_rows(episodes) if row.seat in ("agent", "player_1")]
    return row


@pytest.mark.parametrize("game", ["ipd", "rps"])
def test_bayes_adaptive_player_earns_its_value_and_matches_ideal_accuracy(game: str) -> None:
    row = row_of(against_the_pool(game, PlayerSpec("bayes_adaptive"), 4, "their_odds"))
    assert row.by_moves.value == pytest.approx(0.0, abs=1e-6)
    assert row.pool_inference.value == pytest.approx(0.0, abs=1e-6)
    assert row.earned.value == pytest.approx(row.adaptive, abs=0.35)  # ties are drawn
    assert row.pool_accuracy.value == pytest.approx(row.ideal_accuracy.value)
    assert row.knowing_of_ideal.value == pytest.approx(1.0)


@pytest.mark.parametrize("who", ["tit_for_tat", "win_stay_lose_shift", "grim_trigger", "random"])
def test_no_player_beats_the_ideal_in_expectation_and_parts_add_up(who: str) -> None:
    row = row_of(against_the_pool("ipd", PlayerSpec(who)))
    assert row.earned.value is not None and row.pool_regret.value is not None
    assert row.by_moves.value is not None and row.price.value is not None
    if who != "random":  # without chance the pool is the whole distribution
        assert row.earned.value <= row.adaptive + 1e-9
        assert row.pool_luck.value == pytest.approx(0.0, abs=1e-6)
    assert row.pool_luck.value is not None
    total = row.price.value + row.by_moves.value + row.pool_luck.value
    assert row.pool_regret.value == pytest.approx(total)


def test_level_k_has_a_pool_of_four_levels() -> None:
    episodes = [
        sally.play(
            "eleven_twenty",
            {"player_1": ("level", {"k": 1}), "player_2": ("level", {"k": k})},
            rounds=3,
            probes={"player_1": ["their_move"]},
        )
        for k in range(4)
    ]
    row = row_of(episodes)
    assert row.earned.value is not None and row.earned.value < row.adaptive
    assert row.ideal_accuracy.value == pytest.approx(100 * (1 / 4 + 2) / 3)
    assert row.pool_luck.value == pytest.approx(0.0, abs=1e-6)


def test_partners_outside_the_pool_get_no_ideal_row() -> None:
    lineup = {"agent": "tit_for_tat", "partner": "random"}
    rows = ideal_rows([sally.play("ipd", lineup, rounds=3)])
    assert [row.seat for row in rows] == ["partner"]  # it faces tit for tat


def test_custom_pool_is_validated() -> None:
    for pool, reason in ((["nobody"], "nobody"), (["tom_k"], "no automaton"), (7, "must list")):
        with pytest.raises(BadInput, match=reason):
            player = ("bayes_adaptive", {"pool": pool})
            sally.play("ipd", {"agent": player, "partner": "tit_for_tat"}, rounds=2)
    with pytest.raises(BadInput, match="fixed number of rounds"):
        game = registry.game("ipd").build({"rounds": 5, "stop_chance": 0.2})
        assert isinstance(game, RepeatedGame)
        ideal_of(game, game.seats[0], declared_pool(game, game.seats[0]), 4)


def test_command_prints_the_parts(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    folder.mkdir()
    with store.Writer(folder) as writer:
        for episode in against_the_pool("ipd", PlayerSpec("tit_for_tat")):
            writer.add(episode)
    result = CliRunner().invoke(cli, ["profile", str(folder), "--ideal"])
    assert result.exit_code == 0, result.output
    assert "Bayes-adaptive player expects" in result.output and "price" in result.output


def test_report_and_figure_show_the_ideal_player(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    folder.mkdir()
    with store.Writer(folder) as writer:
        for episode in against_the_pool("ipd", PlayerSpec("tit_for_tat")):
            writer.add(episode)
    page, file = tmp_path / "page.html", tmp_path / "ideal.svg"
    for args in (
        ["report", str(folder), "--out", str(page)],
        ["profile", str(folder), "--ideal", "--figure", str(file)],
    ):
        result = CliRunner().invoke(cli, args)
        assert result.exit_code == 0, result.output
    text = page.read_text(encoding="utf-8")
    assert "Beside an ideal mind" in text and "Bayes-adaptive" in text
    assert "ideal observer" in text and "pool translation" in text
    assert file.read_text(encoding="utf-8").count("<path") > 10


def test_bayes_adaptive_player_of_level_k_earns_what_it_expects() -> None:
    episodes = [
        sally.play(
            "eleven_twenty",
            {"player_1": "bayes_adaptive", "player_2": ("level", {"k": k})},
            rounds=5,
            probes={"player_1": ["their_move"]},
        )
        for k in range(4)
    ]
    (row,) = (row for row in ideal_rows(episodes) if row.seat == "player_1")
    assert row.earned.value == pytest.approx(row.adaptive)
    assert row.by_moves.value == pytest.approx(0)
    assert row.knowing_of_ideal.value == pytest.approx(1, abs=0.2)  # ties are drawn


def test_every_family_has_ideal_line_or_reason_on_its_card() -> None:
    for game in registry.games():
        card = registry.card(game)
        assert card is None or has_pool(game) != bool(card.no_ideal) or card.family == "hanabi", (
            game
        )
    assert without_pool(["hanabi_small", "rps", "hanabi"]) == [
        f"hanabi has no ideal line: {registry.card('hanabi').no_ideal}."
    ]
