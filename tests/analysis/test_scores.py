"""Means of a store by what is kept apart, checked against means computed episode by episode."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from statistics import fmean

import pytest
from click.testing import CliRunner

import sally
from sally import store
from sally.analysis.score import Query, matches, score
from sally.cli import cli
from sally.core.errors import BadInput
from sally.core.log.events import Episode, Instance, PlayerSpec, Setup, label
from sally.core.registry import registry
from sally.frames.frame import Frame, as_frame
from sally.frames.replays import replay_for_measures
from sally.output.tables.console import estimate_cell
from sally.runner.local import play
from sally.runner.seating import resolve_setup
from sally.stats.cluster_interval import mean_by_rule

MET = [
    ("easy", PlayerSpec("constant"), PlayerSpec("tit_for_tat")),
    ("easy", PlayerSpec("random"), PlayerSpec("tit_for_tat")),
    ("hard", PlayerSpec("constant"), PlayerSpec("random")),
]


@pytest.fixture(scope="module")
def episodes() -> list[Episode]:
    instance = Instance("ipd-2", "ipd", {"rounds": 2})
    return [
        play(resolve_setup(Setup(instance, seed, {"agent": first, "partner": two})), cell)
        for cell, first, two in MET
        for seed in (1, 2)
    ]


@pytest.fixture(scope="module")
def frame(episodes: list[Episode]) -> Frame:
    return as_frame(episodes)


def test_cells_are_pooled_unless_grouped_by_cell(frame: Frame) -> None:
    query = Query(("payoff",), seats=("agent",))
    pooled = {row["player"]: row["episodes"] for row in score(frame, query).rows}
    assert pooled == {"constant": 4, "random": 2}
    separate_rows = score(frame, query, ("cell",)).rows
    assert [(row["cell"], row["player"], row["episodes"]) for row in separate_rows] == [
        ("easy", "constant", 2),
        ("easy", "random", 2),
        ("hard", "constant", 2),
    ]


def test_means_equal_those_computed_episode_by_episode(
    frame: Frame, episodes: list[Episode]
) -> None:
    values: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    metrics = registry.metrics("repeated_games")
    for episode in episodes:
        replay = replay_for_measures(episode)
        for seat, spec in episode.setup.lineup.items():
            for name, metric in metrics.items():
                if (value := metric.measure(replay, seat)) is not None:
                    values[seat, label(spec), name].append(value)
    rows = score(frame, Query(every=True, seats=("*",))).rows
    means = {(row["seat"], row["player"], row["metric"]): row["value"] for row in rows}
    payoffs = {key for key in means if key[2] == "payoff"}
    assert means.keys() - payoffs == values.keys()
    assert all(means[key] == pytest.approx(fmean(subset)) for key, subset in values.items())


def test_interval_is_over_instances_or_people() -> None:
    def row(instance: str, person: str, seed: int) -> Episode:
        params = {"participant": person} if person else {}
        episode = sally.play("ipd", {"agent": "random", "partner": "random"}, seed, rounds=2)
        lineup = {**episode.setup.lineup, "agent": PlayerSpec("random", params)}
        problem = Instance(instance, "ipd", {"rounds": 2})
        setup = Setup(problem, seed, lineup, repeat=seed)
        return Episode(f"{instance} {person} {seed}", setup, episode.events, "c")

    for name, person in (("instance", ""), ("person", "p")):
        units = [n % 6 for n in range(18)]
        several_episodes = [
            row(*((f"i{n}", "") if name == "instance" else ("i", f"p{n}")), seed)
            for seed, n in enumerate(units)
        ]
        (actual_row,) = score(as_frame(several_episodes), Query(("payoff",), seats=("agent",))).rows
        payoffs = [float(e.payoffs["agent"]) for e in several_episodes if e.payoffs]
        expected = mean_by_rule(payoffs, units, (0.0, 20.0))
        assert actual_row["interval"] == pytest.approx(expected.interval), (name, person)
        assert actual_row["method"] == expected.method


def test_rows_are_chosen_by_cell_player_game_and_seat(frame: Frame) -> None:
    query = Query(("payoff",), False, ("ipd",), ("h*",), ("agent",), ("const*",))
    (row,) = score(frame, query, ("cell",)).rows
    assert (row["cell"], row["player"]) == ("hard", "constant")
    with pytest.raises(BadInput, match="together"):
        score(frame, Query(cells=("hard",), players=("tit_for_tat",)))
    with pytest.raises(BadInput, match="no cell named 'heard'"):
        score(frame, Query(cells=("heard",)))


def test_star_is_the_only_wildcard_in_patterns() -> None:
    assert matches("table 3: *", "table 3: ipd, [x]")
    assert matches("a[b]*", "a[b]c")
    assert not matches("a?", "ab")


def test_only_studied_seats_are_scored_unless_none_is(episodes: list[Episode]) -> None:
    seats = {row["seat"] for row in sally.score(episodes)}
    assert seats == {"agent", "partner"}  # no seat is studied
    lineup, probes = {"agent": "random", "partner": "tit_for_tat"}, {"agent": ["their_move"]}
    questions = [sally.play("ipd", lineup, seed, probes=probes, rounds=2) for seed in range(3)]
    scores = sally.score(questions)
    assert {row["seat"] for row in scores} == {"agent"}
    assert scores.scores.seats_left_out == ["partner"]
    assert {row["seat"] for row in sally.score(questions, seat="*")} == {"agent", "partner"}


def test_requested_metric_is_shown_even_if_all_zero(tmp_path: Path) -> None:
    with store.Writer(tmp_path) as writer:
        for game in ("rps", "ipd"):
            writer.add(sally.play(game, {"agent": "random", "partner": "tit_for_tat"}, 1, rounds=4))
    output = CliRunner().invoke(cli, ["score", str(tmp_path), "--metric", "forfeits"]).output
    assert output.count("forfeits") == 2 and "0.000" in output


def test_mean_without_an_interval_gives_the_reason_in_text_and_json(tmp_path: Path) -> None:
    with store.Writer(tmp_path) as writer:
        for seed in range(2):
            lineup = {"agent": "random", "partner": "tit_for_tat"}
            writer.add(sally.play("rps", lineup, seed, rounds=4))
    fields = {"score": "random, tit_for_tat", "crossplay": "random against tit_for_tat"}
    for command, more in fields.items():
        output = CliRunner().invoke(cli, [command, str(tmp_path)]).output
        assert f"no interval ({more}): fewer than 5 clusters" in output
        assert "no interval: fewer than 5 clusters" in (
            CliRunner().invoke(cli, [command, str(tmp_path), "--json"]).output
        )


@pytest.mark.parametrize(
    ("values", "text"),
    [([80.0] * 6, "all 80.0"), ([-2.0] * 6, "all -2.00"), ([0.0] * 6, "all 0")],
)
def test_equal_repeats_are_not_written_as_an_error_of_zero(values: list[float], text: str) -> None:
    equal = mean_by_rule(values, range(6))
    assert estimate_cell(equal.value, equal.interval) == text
    spread = mean_by_rule([*values[:5], values[5] + 0.003], range(6))
    assert "±0.001" in estimate_cell(spread.value, spread.interval, 3)
