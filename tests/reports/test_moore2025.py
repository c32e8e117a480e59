"""moore2025 reproduced: what needs no games, and what is made of games."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from sally.adapters.importers.mindgames import imported
from sally.cli import cli
from sally.reports.papers.moore2025 import computes, counts, named_as_published, random_play
from sally.reports.papers.moore2025_hypotheses import TESTS, Game, decided, hypothesis
from sally.reports.reproduce import Effort, Row, reproduce
from sally.store import Manifest, Writer, claim
from tests.games.mindgames.records import MODEL, PEOPLE, record, written

FEW = Effort(repeats=400)
WON, LOST = record([[(0, 1)], [(2, 1)]], "A"), record([[(0, 1)]], "C")


def figure(rows: list[Row], metric: str, **conditions: object) -> Row:
    (found,) = [r for r in rows if r.metric == metric and conditions.items() <= r.row.items()]
    return found


def test_counts_planners_and_baselines_agree_without_a_single_game() -> None:
    for table in ("counts", "baseline", "planners"):
        for row in reproduce("moore2025", table, effort=FEW):
            assert row.agrees is True, row


def test_random_play_is_near_its_formula() -> None:
    estimate = random_play(Effort(repeats=3000, seed=3))
    assert estimate.low is not None and estimate.high is not None
    assert estimate.low <= 0.0650 <= estimate.high
    assert computes({"persuader": "human"}, "success", FEW) is None
    assert counts()[3, "up to attribute order and sign"] == 252


def stored(folder: Path) -> Path:
    """Three games of people, one of them won; two of a model, both won."""
    again = record([[(0, 1)], [], [(2, 1)]], "A")
    source = written(folder / "in", {PEOPLE: [[WON, LOST], [again]], MODEL: [[WON, again]]})
    out = folder / "out"
    claim(out, Manifest("import mindgames", "test"))
    with Writer(out) as writer:
        for episode in imported(source).episodes:
            writer.add(episode)
    return out


def test_tables_from_imported_games(tmp_path: Path) -> None:
    rows = reproduce("moore2025", episodes=stored(tmp_path), effort=FEW)
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
    assert figure(rows, "success", persuader="gpt-4o", condition="hidden").ours is None


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
def test_with_the_released_counts_z_is_about_what_was_found(name: str, z: float) -> None:
    """Stories are dealt anew here, so the third digit may differ."""
    found = decided(name, RELEASED)
    assert found is not None and found.z == pytest.approx(z, abs=0.35)


def test_h3_is_above_chance_only_by_the_stories() -> None:
    """35 of 200 is far above 10% without stories; 1.49 in the released data has theirs."""
    found = decided("H3", RELEASED)
    assert found is not None and found.z is not None and found.z > 0


def test_chance_is_not_confirmed_and_its_p_is_large() -> None:
    at_chance = games(False, False, 20, 200)
    confirmed, p = (hypothesis("H1", m, at_chance) for m in ("confirmed", "p"))
    assert confirmed is not None and confirmed.value == 0.0
    assert p is not None and p.value is not None and p.value > 0.5


def test_people_who_always_win_and_people_who_never_do_widen_the_error() -> None:
    """Ten people with ten games each, three of whom win always: a third of the evidence is left."""
    mixed = [
        Game(False, False, person < 3, f"story {game % 5}", f"p{person}")
        for person in range(10)
        for game in range(10)
        if not (person in (0, 9) and game == 0)
    ] + [Game(False, False, False, "story 0", "p0"), Game(False, False, True, "story 0", "p9")]
    alone, with_people = (decided("H1", mixed, by_participant=b) for b in (False, True))
    assert alone is not None and alone.z is not None
    assert with_people is None or with_people.z is None or abs(with_people.z) < abs(alone.z) / 2


def test_no_games_or_only_wins_give_no_figure() -> None:
    assert all(hypothesis(name, "z", []) is None for name in TESTS)
    assert hypothesis("H1", "z", games(False, False, 10, 10)) is None


# --- curves ---------------------------------------------------------------------------------------


def test_curves_do_not_look_ahead_and_show_the_published_ones_beside(tmp_path: Path) -> None:
    out = stored(tmp_path)
    shown = CliRunner().invoke(cli, ["curves", "mindgames", "--on", str(out), "--json"])
    points = [p for p in json.loads(shown.output) if p["persuader"] == "human"]
    assert [p["message"] for p in points] == [*range(1, 9)]
    assert [round(p["success"], 2) for p in points[:3]] == [0, 0.33, 0.67]
    assert [round(p["success_published"], 2) for p in points[:3]] == [0.67] * 3
    assert points[0]["told"] == 1.0 and points[0]["games"] == 3
    assert not any(p["trap"] or p["asked_all"] for p in points)
