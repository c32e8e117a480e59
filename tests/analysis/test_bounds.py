"""No interval leaves the range of its measure, whatever the measure and whichever the table."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from math import inf
from typing import Any

import pytest
from click.testing import CliRunner

import sally
from sally import store
from sally.analysis.bounds import game_bounds, instance_bounds, key_of, mean_within
from sally.cli import cli
from sally.core.log.events import Instance, PlayerSpec, Setup
from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.core.rules.metric import ENDS
from sally.output.page.page_data import PageData
from sally.output.page.results import sheets_of
from sally.runner.local import play
from sally.runner.seating import resolve_setup
from sally.stats.cluster_interval import lone_by_rule

GAMES = {
    name: spec
    for name, spec in registry.games().items()
    if spec.game.__module__.startswith("sally.games.") and name != "repeated_games"
}
SHARE = re.compile(r"(the )?share of |share with |1 (if|where) |how often |rounds in which ")


def metrics_of(name: str) -> dict[str, Any]:
    return registry.metrics(GAMES[name].family or name)


@pytest.mark.parametrize("name", GAMES)
def test_every_registered_share_and_count_has_bounds(name: str) -> None:
    for metric in metrics_of(name).values():
        if metric.unit in ENDS:
            assert metric.ends is not None, metric.name
        if SHARE.match(metric.about) and metric.unit != "of the surplus":  # a deal may cost more
            assert metric.ends in ((0, 1), (0, 100)), f"{metric.name}: {metric.about}"
        if metric.ends is not None:
            assert metric.ends[0] < metric.ends[1], metric.name


@pytest.mark.parametrize("name", GAMES)
def test_interval_of_mean_stays_within_metric_bounds(name: str) -> None:
    """Four episodes at one end and one far from it: the t interval would leave every range."""
    spec = GAMES[name]
    game = spec.build()
    for seat in game.seats:
        for metric in (*metrics_of(name), "payoff", "moves", "seconds"):
            ends = game_bounds(metric, spec, game, seat)
            if ends is None:
                continue
            low, high = max(ends[0], -1e6), min(ends[1], 1e6)
            for subset, counterpart in ((low, high), (high, low), (low, (low + high) / 2)):
                bounds = instance_bounds(metric, key_of(Instance("i", name)), seat)
                estimate = mean_within(metric, [*[subset] * 4, counterpart], range(5), bounds)
                assert estimate.low is not None and estimate.high is not None
                assert ends[0] <= estimate.low <= estimate.value <= estimate.high <= ends[1], metric


def test_every_game_has_payoff_bounds() -> None:
    for name, spec in GAMES.items():
        game = spec.build()
        assert all(game_bounds("payoff", spec, game, seat) is not None for seat in game.seats), name


def test_count_interval_is_above_zero_and_contains_the_mean() -> None:
    estimate = lone_by_rule([0, 0, 0, 0, 0, 1], (0, inf))
    assert estimate.value == pytest.approx(1 / 6)
    assert 0 < estimate.low < estimate.value < estimate.high < 1.5
    assert lone_by_rule([0.0] * 6, (0, inf)).interval == [0, 0]
    high = lone_by_rule([90, 100, 110, 95, 105], (0, inf))  # far from its end: plain t
    assert high.interval == lone_by_rule([90, 100, 110, 95, 105]).interval
    mirrored = lone_by_rule([0, 0, 0, 0, 0, -1], (-inf, 0))
    assert mirrored.interval == pytest.approx([-estimate.high, -estimate.low])


def test_zero_regret_has_point_interval_and_maximal_payoff_does_not() -> None:
    spec = GAMES["ipd"]
    regret, payoff = (
        game_bounds(metric, spec, spec.build(), Seat("agent"))
        for metric in ("tom_regret", "payoff")
    )
    lost_estimate = mean_within("tom_regret", [0.0] * 6, range(6), regret)
    won = mean_within("payoff", [payoff[1]] * 6, range(6), payoff)
    assert lost_estimate.interval == [0, 0] and won.low < won.value == won.high


# --- every command that prints intervals --------------------------------------------------------


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Games with few rounds and much luck, so that plain t intervals leave their ranges."""
    folder = tmp_path_factory.mktemp("ends")
    kinds = [("ibs", {"rounds": 1}), ("ipd", {"rounds": 2}), ("rps", {"rounds": 1})]
    episodes = []
    for game, params in kinds:
        for n in range(6):
            for single_name in ("random", "tabular"):
                lineup = {"agent": PlayerSpec(single_name), "partner": PlayerSpec("random")}
                setup = Setup(Instance(f"{game}-{n}", game, params), n, lineup,
                              arms={"agent": ("their_odds",)})  # fmt: skip
                episodes.append(play(resolve_setup(setup), game))
    with store.Writer(folder) as writer:
        for episode in episodes:
            writer.add(episode)
    return str(folder)


Found = Iterator[tuple[str, str, list[float]]]
NAMED = {"accuracy": (0, 100), "consistency": (0, 100), "brier": (0, 2)}


def intervals(told: Any, metric: str = "", game: str = "") -> Found:
    """Every interval in what a command says as JSON, with its metric and game."""
    if isinstance(told, list):
        for item in told:
            yield from intervals(item, metric, game)
    elif isinstance(told, dict):
        metric, game = told.get("metric", metric), told.get("game", game)
        for name, value in told.items():
            if name == "interval" and value is not None:
                yield metric, game, value
            elif name.endswith("_interval") and value is not None:
                yield "payoff", game, value
            else:
                under = name if name in (*NAMED, *OWN) else metric
                yield from intervals(value, under, name if name in GAMES else game)


OWN = ("skill", "beyond", "beyond_learning", "brier_skill", "brier_beyond", "doing", "doing_most",
       "regret", "acting", "acting_contrast",
       "acting_beyond", "acting_beyond_move", "acting_beyond_repetition", "pooled_label_bias",
       "pooled_position_bias", "pooled_imitation", "pooled_copying", "pooled_repetition",
       "inference", "translation", "format",
       "luck", "value_error", "share")  # fmt: skip
"""Figures of a profile that are not registered metrics and may lie below 0 or above 1."""


def all_inside(told: Any) -> int:
    """How many intervals were looked at; each is within what its game and measure allow."""
    count = 0
    for metric, game, (low, high) in intervals(told):
        if game not in GAMES or metric in OWN:
            continue
        spec = GAMES[game]
        rules = spec.build({"rounds": 2 if game == "ipd" else 1})
        ends = NAMED.get(metric) or game_bounds(metric, spec, rules, Seat("agent"))
        if ends is not None:
            count += 1
            assert ends[0] - 1e-9 <= low <= high <= ends[1] + 1e-9, (metric, game, low, high)
    return count


@pytest.mark.parametrize(
    ("command", "least"),
    [("score --all", 60), ("score --all --by others", 60), ("crossplay", 6), ("profile", 10)],
)
def test_command_tables_show_no_interval_beyond_the_range(
    held: str, command: str, least: int
) -> None:
    name, *arguments = command.split()
    done = CliRunner().invoke(cli, [name, held, *arguments, "--json"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert all_inside(json.loads(done.stdout)) >= least


def test_notebook_and_report_show_no_interval_beyond_the_range(held: str) -> None:
    assert all_inside(list(sally.score(held))) >= 10
    for sheet in sheets_of(PageData(held)):
        for group in sheet.groups:
            for metric in sheet.metrics:
                row = {"metric": metric.name, "game": sheet.game}
                assert all_inside([row | {"interval": group.estimate(metric.name).interval}]) <= 1
