"""One name, one number: score, profile, compare, report, export and API agree on every column."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from pathlib import Path
from statistics import fmean
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

import sally
from sally import store
from sally.analysis.profile.columns import COLUMNS
from sally.analysis.profile.ideal_scale import IDEAL_COLUMNS
from sally.cli import cli
from sally.cli.score import heading
from sally.core.log.events import Episode
from sally.core.match.player import Decision, Forfeit, Turn
from sally.core.registry import registry
from sally.core.rules.probe import ProbeReport
from sally.output.page.page_data import PageData
from sally.output.page.results import sheets_of

Key = tuple[str, str, str, str]  # game, seat, player, name of the number
Numbers = dict[Key, dict[str, float]]  # by surface


class Shy(msgspec.Struct, frozen=True):
    """Forfeits every fifth round, so that measures by rule and by answer differ."""

    def decide(self, turn: Turn) -> Decision[int] | Forfeit:
        number = turn.view.round
        return Forfeit("no answer") if number % 5 == 4 else Decision(number % 2)

    def report(self, turn: Turn) -> ProbeReport:
        return ProbeReport(0)


def play_games() -> list[Episode]:
    """Return episodes of unequal length, so that means and pooled shares differ."""
    results = []
    for game in ("rps", "ipd"):
        for player_name in ("random", "tabular", Shy()):
            for seed, rounds in enumerate((6, 10, 17)):
                lineup = {"agent": player_name, "partner": "tit_for_tat"}
                asked_probes = {"agent": ["their_move"]}
                results.append(sally.play(game, lineup, seed, probes=asked_probes, rounds=rounds))
    return results


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder_path = tmp_path_factory.mktemp("one") / "store"
    folder_path.mkdir()
    with store.Writer(folder_path) as writer:
        for episode in play_games():
            writer.add(episode)
    return folder_path


def print_text(*args: object) -> Any:
    result = CliRunner().invoke(cli, [str(arg) for arg in (*args, "--json")])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.fixture(scope="module")
def numbers(folder: Path) -> Numbers:
    """Return every number of the agent by its name on each surface."""
    by_surface: Numbers = defaultdict(dict)

    def put(surface: str, row: dict[str, Any], name: str, value: float | None) -> None:
        if value is not None and row.get("seat", "agent") == "agent":
            by_surface[row["game"], "agent", row["player"], name][surface] = value

    for row in print_text("score", folder, "--all", "--by", "player"):
        put("score", row, row["metric"], row["value"])
        put("score, heading", row, heading(row["metric"]), row["value"])
    for row in sally.score(str(folder), sorted(registry.metrics("repeated_games")), seat="agent"):
        put("API score", row, row["metric"], row["value"])
    for row in print_text("profile", folder):
        for column in COLUMNS:
            put("profile", row, column.field, row[column.field]["value"])
            put("profile, heading", row, column.title, row[column.field]["value"])
    for row in sally.profile(str(folder)):
        for column in COLUMNS:
            put("API profile", row, column.field, row[column.field])
    for row in print_text("profile", folder, "--ideal"):
        for column in IDEAL_COLUMNS:
            put("ideal", row, column.field, row[column.field]["value"])
            put("ideal, heading", row, column.title, row[column.field]["value"])
    for sheet in sheets_of(PageData(folder)):
        for group in sheet.groups:
            for metric in sheet.metrics:
                row = {"game": sheet.game, "seat": sheet.seat, "player": group.player}
                put("report", row, metric.name, group.estimate(metric.name).value)
    _exported(folder, put)
    all_metrics = sorted(registry.metrics("repeated_games"))
    chosen = [part for name in all_metrics for part in ("--metric", name)]
    for c in print_text("compare", folder, "random", "tabular", *chosen)["comparisons"]:
        for side, player in (("first", "random"), ("second", "tabular")):
            put("compare", {**c, "player": player}, c["metric"], c[side])
    return by_surface


def _exported(folder: Path, put: Any) -> None:
    file = folder.parent / "out.csv"
    print_text("export", folder, "--out", file)
    by_player: dict[tuple[str, str, str], list[dict[str, str]]] = defaultdict(list)
    for row in csv.DictReader(file.open(encoding="utf-8")):
        by_player[row["game"], row["seat"], row["player"]].append(row)
    for (game, seat, player), rows in by_player.items():
        for name in registry.metrics("repeated_games"):
            values = [float(row[name]) for row in rows if row[name]]
            if values:
                put(
                    "exported episodes",
                    {"game": game, "seat": seat, "player": player},
                    name,
                    fmean(values),
                )
    print_text("export", folder, "--what", "profile", "--out", file)
    for row in csv.DictReader(file.open(encoding="utf-8")):
        for column in COLUMNS:
            if row[column.field]:
                put("exported profile", row, column.field, float(row[column.field]))


def test_metric_name_has_same_value_on_every_surface(numbers: Numbers) -> None:
    separate_values = {
        f"{name} of {player} in {game}": values
        for (game, _, player, name), values in numbers.items()
        if max(values.values()) - min(values.values())
        > 1e-12 * max(map(abs, values.values()), default=1)
    }
    assert not separate_values, sorted(
        {f"{k.split(chr(32))[0]} {k.split(chr(32))[-1]}" for k in separate_values}
    )
    surfaces = {surface for values in numbers.values() for surface in values}
    assert len(surfaces) == 12
    shared = {name for (*_, name), values in numbers.items() if len(values) > 1}
    assert {"tom_percent", "functional_regret", "brier", "regret", "accuracy"} <= shared


def test_pooled_and_mean_shares_differ_so_that_the_test_can_fail(numbers: Numbers) -> None:
    player = ("rps", "agent", "tabular")
    assert numbers[*player, "tom_percent"]["score"] != numbers[*player, "accuracy"]["profile"]
    shy = ("rps", "agent", "own:Shy")
    assert numbers[*shy, "functional_regret"]["score"] != numbers[*shy, "regret"]["profile"]


def test_forfeits_of_a_profile_are_the_sum_of_those_of_its_episodes(folder: Path) -> None:
    rows = sally.profile(str(folder))
    counted = {(row["game"], row["player"]): row["forfeits"] for row in rows}
    summed: dict[tuple[str, str], float] = defaultdict(float)
    for row in sally.episodes(str(folder)):
        if row["seat"] == "agent":
            summed[row["game"], row["player"]] += row["forfeits"]
    assert counted == summed and sum(summed.values()) > 0
