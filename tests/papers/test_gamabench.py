"""Tables of the published layout, written here: choices come from the seats, copies are one run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from sally import store
from sally.cli import cli
from sally.core.errors import BadInput
from sally.core.match.playback import mismatch
from sally.core.registry import registry
from sally.papers.gamabench import figures
from sally.papers.gamabench.importer import IMPORTER
from sally.papers.gamabench.reader import read

GUESSES = ((50, 33, 22), (30, 20, 15), (9, 9, 6))
GIFTS = ((20, 10, 0), (5, 5, 5))


def guessing(rounds: Sequence[Sequence[int]] = GUESSES, ratio: float = 2 / 3) -> dict[str, Any]:
    listed = []
    for given_round in rounds:
        mean = sum(given_round) / len(given_round)
        winner = min(given_round, key=lambda x: abs(x - ratio * mean))
        listed.append({"responses": sorted(given_round), "mean": mean, "mean_ratio": ratio * mean,
                       "winner": winner, "winner_num": given_round.count(winner)})  # fmt: skip
    seats = [{"model": "gpt-4o", "records": [g[i] for g in rounds], "utility": [], "prompt": []}
             for i in range(len(rounds[0]))]  # fmt: skip
    meta = {"player_num": len(seats), "min": 0, "max": 100, "ratio": ratio, "version": "v1"}
    return {"meta": meta, "round_records": listed, "player_data": seats}


def goods(rounds: Sequence[Sequence[int]] = GIFTS) -> dict[str, Any]:
    seats = [{"model": "gpt-4o", "records": [g[i] for g in rounds],
              "utility": [20 - g[i] for g in rounds]} for i in range(len(rounds[0]))]  # fmt: skip
    meta = {"player_num": len(seats), "tokens": 20, "ratio": 2, "version": "v1"}
    listed = [{"responses": list(g), "total_tokens": sum(g)} for g in rounds]
    return {"meta": meta, "round_records": listed, "player_data": seats}


def write_files(folder: Path, tables: dict[str, dict[str, Any]]) -> Path:
    for name, table in tables.items():
        path = folder / "raw_results" / ("guessing_game" if "guessing" in name else "public_goods")
        path.mkdir(parents=True, exist_ok=True)
        (path / f"{name}.json").write_text(json.dumps(table))
    return folder


TABLES = {
    "gpt-4o_guessing_game_v1_1": guessing(),
    "gpt-4o_guessing_game_v1": guessing(),  # a copy
    "guessing_game_v1_1": guessing(((50, 50, 40),)),
    "guessing_game_v1_r0": guessing(((9, 9, 8),), 0.0),
    "guessing_game_v1_savept1": guessing(((1, 2, 3),)),
    "gpt-4o_public_goods_v1_1": goods(),
}


def test_tables_are_imported_by_seat_and_each_run_once(tmp_path: Path) -> None:
    result = IMPORTER.import_from(write_files(tmp_path, TABLES))
    assert len(result.episodes) == 3
    assert result.counts["copies left out"] == 1 and result.counts["short runs left alone"] == 1
    by_id = {e.setup.instance.id: e for e in result.episodes}
    first = by_id["gamabench:gpt-4o_guessing_game_v1_1:0"]  # the run itself, not its copy
    assert first.setup.instance.params["pays"]["share"] == "2/3"
    assert mismatch(registry.game("level_k"), first) is None
    assert first.payoffs == {"player_1": 0.0, "player_2": 0.0, "player_3": 60.0}
    pot = by_id["gamabench:gpt-4o_public_goods_v1_1:0"]
    assert pot.payoffs == {"player_1": 45.0, "player_2": 55.0, "player_3": 65.0}
    assert {e.setup.lineup["player_1"].params["name"] for e in result.episodes} == {"gpt-4o"}
    assert any("ratio of 0" in line for line in result.lines)


def test_contribution_above_endowment_is_a_difference_and_voids_the_round(
    tmp_path: Path,
) -> None:
    result = IMPORTER.import_from(
        write_files(tmp_path, {"x_public_goods_v1_1": goods(((35, 0, 0), *GIFTS))})
    )
    (episode,) = result.episodes
    assert [d["recorded"] for d in result.details["differences"]] == ["35 by player_1"]
    assert episode.payoffs == {"player_1": 45.0, "player_2": 55.0, "player_3": 65.0}


def test_scores_are_0_for_uniform_odds_and_1_for_the_best_number(tmp_path: Path) -> None:
    tables = read(write_files(tmp_path, TABLES)).tables
    guesses, gifts = figures.summary(tables)
    by_model = {g.model: g for g in guesses}
    four = by_model["gpt-4o"]
    assert four.score == pytest.approx(100 - sum(map(sum, GUESSES)) / 9)
    assert (four.first_mean, four.first_median) == (35, 33)
    assert four.depths == {"0": 1, "1": 1, "2": 1}
    best, _ = figures.hindsight(next(t for t in tables if t.model == "gpt-4o"))
    assert four.doing.value is not None and four.doing.value < 1 and best > 0
    assert gifts[0].given == pytest.approx(45 / 120)


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda t: t["player_data"][0]["records"].pop(), "should have 3 choices"),
        (lambda t: t["player_data"].pop(), "players"),
        (lambda t: t["round_records"][1]["responses"].append(3), "differ from the choices"),
        (lambda t: t["round_records"][1].update(mean=99), "the mean is"),
        (lambda t: t["round_records"][1].update(winner=30), "not the chosen number nearest"),
        (lambda t: t["meta"].pop("ratio"), "ratio"),
    ],
)
def test_changed_table_aborts_the_import(tmp_path: Path, spoil: Any, why: str) -> None:
    table = guessing()
    spoil(table)
    folder = write_files(tmp_path, {**TABLES, "gpt-4o_guessing_game_v1_2": table})
    with pytest.raises(BadInput, match=why):
        IMPORTER.import_from(folder)


def test_truncated_table_aborts_import_and_second_import_adds_nothing(tmp_path: Path) -> None:
    folder, out = write_files(tmp_path, TABLES), str(tmp_path / "store")
    for stored in (3, 0):
        run = CliRunner().invoke(cli, ["import", "gamabench", str(folder), "--out", out])
        assert run.exit_code == 0, run.output
        assert f"stored: {stored}\n" in run.output
    assert len(store.load(out).episodes) == 3
    assert CliRunner().invoke(cli, ["paper", "gamabench", "figures", str(folder)]).exit_code == 0
    file = next(folder.rglob("guessing_game_v1_1.json"))
    file.write_text(file.read_text()[:-30])
    with pytest.raises(BadInput, match=file.name):
        IMPORTER.import_from(folder)
