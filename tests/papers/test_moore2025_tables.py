"""moore2025 reproduced: what needs no games, and what is made of games."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from sally.analysis.compare.published_figures import load
from sally.cli import cli
from sally.games.mindgames.claims import Disclosure, Names
from sally.output.tables.reproduce import Effort, Reproduction, Row, engine_of, reproduce
from sally.papers.moore2025.hypotheses import TESTS, Game, deciding_coefficient, hypothesis
from sally.papers.moore2025.importer import import_games
from sally.papers.moore2025.released_games import literal
from sally.papers.moore2025.tables import (
    BESIDE,
    computes,
    counts,
    named_as_published,
)
from sally.store import Manifest, Writer, claim
from tests.games.mindgames.records import MODEL, PEOPLE, record, written

FEW = Effort(repeats=400)
WON, LOST = record([[(0, 1)], [(2, 1)]], "A"), record([[(0, 1)]], "C")


def figure(rows: list[Row], metric: str, **conditions: object) -> Row:
    (found,) = [r for r in rows if r.metric == metric and conditions.items() <= r.row.items()]
    return found


def test_counts_planners_and_baselines_agree_without_episodes() -> None:
    rows = [r for t in ("counts", "baseline") for r in reproduce("moore2025", t, effort=FEW)]
    assert all(row.verdict == "equivalent" for row in rows if row.published is not None)
    plans = {row.row["plan"]: row.ours for row in rows if "plan" in row.row}
    assert plans == {
        "revealed planner": 1.0,
        "hidden planner": 1.0,
        "tells everything": 0.0,
        "talks about the goal only": 0.0,
    }
    assert all(row.published is None for row in rows if "plan" in row.row)


def test_success_is_computed_only_from_games() -> None:
    for player_name in ("human", "random"):
        assert computes({"persuader": player_name, "data": "released"}, "success", FEW) is None
    assert counts()[3, "up to attribute order and sign"] == 252


def store_episodes(folder: Path) -> Path:
    """Three games of people, two of them won; two of a model, both won."""
    second_result = record([[(0, 1)], [], [(2, 1)]], "A")
    return store_games(folder, [[WON, LOST], [second_result]], [[WON, second_result]])


def store_games(
    folder: Path, people: list[list[Any]], models: list[list[Any]] | None = None
) -> Path:
    """A store of imported games: a list for each person, and one for each condition of models."""
    source = written(folder / "in", {PEOPLE: people} | ({MODEL: models} if models else {}))
    out = folder / "out"
    claim(out, Manifest("import mindgames", "test"))
    with Writer(out) as writer:
        for episode in import_games(source).episodes:
            writer.add(episode)
    return out


def test_tables_from_imported_games(tmp_path: Path) -> None:
    rows = reproduce("moore2025", episodes=store_episodes(tmp_path), effort=FEW)
    people = {"persuader": "human", "condition": "hidden", "data": "released"}
    assert figure(rows, "games", **people).ours == 3
    assert figure(rows, "success", **people).ours == pytest.approx(2 / 3)
    model = {"persuader": "o1-preview", "condition": "revealed", "data": "released"}
    assert figure(rows, "success", **model).ours == 1.0
    assert figure(rows, "participants", persuader="human").ours == 2
    # two of three are won in the end; by looking ahead both are already won after message 1
    first = {"persuader": "human", "condition": "hidden", "turn": 1, "data": "paper"}
    assert figure(rows, "success_by_turn", **first).ours == pytest.approx(2 / 3)
    assert figure(rows, "disclosures", **first).ours == 1.0
    missing = figure(rows, "success", persuader="gpt-4o", condition="hidden")
    assert missing.ours is None and missing.missing == "not run"
    assert figure(rows, "distinct_matrices", persuader="human").ours == 1
    assert figure(rows, "final_choices", persuader="human").ours == 3
    kept_row = figure(rows, "final_choices_reproduced", persuader="human")
    assert kept_row.ours is None and "sally import mindgames" in str(kept_row.missing)


def test_games_of_one_person_are_clustered(tmp_path: Path) -> None:
    """One person wins three games and another loses three: two facts, not six."""
    won = [record([[(0, 1)], *[[]] * more_index, [(2, 1)]], "A") for more_index in range(3)]
    lost = [record([[]] * more_index + [[(0, 1)]], "C") for more_index in range(3)]
    separate_row, together = (
        figure(reproduce("moore2025", "success", store_games(tmp_path / name, people), effort=FEW),
               "success", persuader="human", condition="hidden", data="released")
        for name, people in (("apart", [[g] for g in won + lost]), ("together", [won, lost]))
    )  # fmt: skip
    assert separate_row.ours == together.ours == 0.5
    assert (
        separate_row.ours_interval is not None and separate_row.method == "Wilson over 6 clusters"
    )
    assert together.ours_interval is None  # two people are too few for an interval


def test_sentences_in_the_words_of_the_game_are_literal() -> None:
    names = Names(("A", "B", "C"), ("public trust", "speed"), "proposal")
    text = "Proposal A will increase public trust. proposal B decreases speed. A increases it."
    assert list(literal(text, names)) == [
        Disclosure("A", "public trust", 1),
        Disclosure("B", "speed", -1),
    ]


def test_values_only_computed_here_are_not_in_the_published_file() -> None:
    """Plans, and hypotheses on people with an intercept for each of them."""
    printed = load("moore2025").tables
    assert "planners" not in printed
    assert not any("intercepts" in f.row for f in printed["hypotheses"].rows)
    ours = {(row["hypothesis"], metric) for row, metric in BESIDE["hypotheses"]}
    assert ours == {(h, m) for h in ("H1", "H2") for m in ("z", "p", "confirmed")}


def test_models_have_their_published_names() -> None:
    assert named_as_published("openai/gpt-4o-2024-11-20") == "gpt-4o"
    assert named_as_published("meta-llama/Meta-Llama-3.1-405B-Instruct-Turbo") == "llama-3.1-405b"
    assert named_as_published("deepseek-ai/DeepSeek-R1") == "deepseek-r1"
    assert named_as_published("o3-2025-04-16") == "o3-2025-04-16"


# --- hypotheses -----------------------------------------------------------------------------------


def games(o1: bool, revealed: bool, wins: int, n: int) -> list[Game]:
    """So many games of which so many are won, dealt out over five stories."""
    rng = np.random.default_rng(n + wins)
    order = rng.permutation(n)
    return [Game(o1, revealed, bool(order[i] < wins), f"story {i % 5}") for i in range(n)]


# The released counts: 59 of 202 and 43 of 199 for people, 35 and 157 of 200 for o1-preview.
RELEASED = [
    *games(False, False, 59, 202),
    *games(False, True, 43, 199),
    *games(True, False, 35, 200),
    *games(True, True, 157, 200),
]


@pytest.mark.parametrize(
    ("name", "z"),
    [("H1", 8.48), ("H2", -1.74), ("H4", 11.05), ("H5", -2.75), ("H6", 10.54), ("H7", 9.48)],
)
def test_z_from_released_counts_is_near_the_published_z(name: str, z: float) -> None:
    """Stories are dealt anew here, so the third digit may differ."""
    coefficient = deciding_coefficient(name, RELEASED)
    assert coefficient is not None and coefficient.z == pytest.approx(z, abs=0.35)


def test_h3_is_above_chance_only_by_the_stories() -> None:
    """35 of 200 is far above 10% without stories; 1.49 in the released data has theirs."""
    coefficient = deciding_coefficient("H3", RELEASED)
    assert coefficient is not None and coefficient.z is not None and coefficient.z > 0


def test_chance_is_not_confirmed_and_its_p_is_large() -> None:
    at_chance = games(False, False, 20, 200)
    confirmed, p = (hypothesis("H1", m, at_chance) for m in ("confirmed", "p"))
    assert confirmed is not None and confirmed.value == 0.0
    assert p is not None and p.value is not None and p.value > 0.5


def test_differences_between_people_widen_the_error() -> None:
    """Ten people with ten games each, three of whom win always: a third of the evidence is left."""
    mixed = [
        Game(False, False, person < 3, f"story {game % 5}", f"p{person}")
        for person in range(10)
        for game in range(10)
        if not (person in (0, 9) and game == 0)
    ] + [Game(False, False, False, "story 0", "p0"), Game(False, False, True, "story 0", "p9")]
    alone, with_people = (
        deciding_coefficient("H1", mixed, by_participant=b) for b in (False, True)
    )
    assert alone is not None and alone.z is not None
    assert with_people is None or with_people.z is None or abs(with_people.z) < abs(alone.z) / 2


def test_hypotheses_are_blank_without_games_or_with_only_wins() -> None:
    assert all(hypothesis(name, "z", []) is None for name in TESTS)
    assert hypothesis("H1", "z", games(False, False, 10, 10)) is None


# --- figures --------------------------------------------------------------------------------------


def test_figures_use_games_and_report_missing_ones(tmp_path: Path) -> None:
    reproduction = Reproduction(
        "moore2025", engine_of("moore2025"), store_episodes(tmp_path), effort=FEW
    )
    success, text = (reproduction.pictures(f"figure{n}")[0] for n in (2, 10))
    shown = {s.label: [p.y for p in s.points] for s in success.series}
    assert shown == {"people": [pytest.approx(2 / 3), None], "o1-preview": [None, 1.0]}
    assert [s.label for s in text.series] == ["people"] * 3  # the model played revealed only
    third = pytest.approx(1 / 3)
    assert [p.y for p in text.series[0].points] == [1.0, third, third, 0, 0, 0, 0, 0]
    (variants,) = reproduction.pictures("figure4")
    assert variants.missing is not None


# --- curves ---------------------------------------------------------------------------------------


def test_curves_do_not_look_ahead_and_include_published_curves(tmp_path: Path) -> None:
    out = store_episodes(tmp_path)
    result = CliRunner().invoke(cli, ["paper", "moore2025", "curves", str(out), "--json"])
    points = [p for p in json.loads(result.output) if p["persuader"] == "human"]
    assert [p["message"] for p in points] == [*range(1, 9)]
    assert [round(p["success"], 2) for p in points[:3]] == [0, 0.33, 0.67]
    assert [round(p["success_published"], 2) for p in points[:3]] == [0.67] * 3
    assert points[0]["told"] == 1.0 and points[0]["games"] == 3
    assert not any(p["trap"] or p["asked_all"] for p in points)


def test_run_command_imports_human_games_and_plays_model_games() -> None:
    rows = [row for row in reproduce("moore2025", "success") if row.run]
    for row in rows:
        kept = row.row["persuader"] in ("human", "random")
        verb = "import mindgames PATH" if kept else "run moore2025"
        assert row.run is not None and row.run.startswith(f"sally {verb}"), row
    released = [row.run for row in reproduce("moore2025", "replay") if row.run]
    assert set(released) == {"sally import mindgames PATH --out DIR"}
    output = CliRunner().invoke(cli, ["reproduce", "moore2025:hypotheses"]).output
    assert "`sally import mindgames PATH --out DIR` imports them" in output
    assert "`sally run moore2025 --model MODEL --out DIR` plays them" in output
