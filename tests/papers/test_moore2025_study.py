"""The study of moore2025: its cells are the paper's, and everybody in them can sit down."""

from __future__ import annotations

import pytest

from sally.games.mindgames import GAME
from sally.games.mindgames.target import random_success_formula
from sally.papers.moore2025.study import STORIES, STUDY
from sally.runner.local import play
from sally.runner.seating import resolve_setup
from tests.games.mindgames.table import played

CELLS = {cell.name: cell for cell in STUDY.cells}


def test_main_cells_have_200_instances_and_variants_20() -> None:
    assert len(STORIES) == 5
    for condition in ("hidden", "revealed"):
        assert len(CELLS[condition].instances) == 200
        assert {i.params["memory"] for i in CELLS[condition].instances} == {"frozen"}
    for variant in ("non_mental", "add_hint", "perfect_game", "discrete_game"):
        assert len(CELLS[variant].instances) == 20
        assert {i.params["collection"] for i in CELLS[variant].instances} == {"variants"}


def test_models_also_play_with_sequential_memory() -> None:
    for condition in ("hidden", "revealed"):
        cell = CELLS[f"{condition}, sequential"]
        assert "language" in {lineup["persuader"].player for lineup in cell.lineups}
        assert {i.params.get("memory", "sequential") for i in cell.instances} == {"sequential"}


def test_instance_ids_are_unique_within_a_cell() -> None:
    for cell in STUDY.cells:
        assert len({i.id for i in cell.instances}) == len(cell.instances)


@pytest.mark.parametrize("name", CELLS)
def test_every_bot_of_the_study_plays(name: str) -> None:
    first: dict[str, str] = {}
    for cell, setup in STUDY.trials():
        player = setup.lineup["persuader"].player
        if cell == name and player != "language" and player not in first:
            episode = play(resolve_setup(setup))
            assert episode.payoffs is not None
            first[player] = episode.id
    assert first


@pytest.mark.parametrize("memory", ["sequential", "frozen"])
def test_random_play_wins_as_often_as_the_formula_predicts(memory: str) -> None:
    games = 200
    wins = sum(
        played("random", seed, number=seed % 40, memory=memory, variant="discrete_game").payoffs
        == {"persuader": 1.0}
        for seed in range(games)
    )
    chance = float(random_success_formula(8, memory))  # type: ignore[arg-type]
    assert abs(wins / games - chance) < 3 * (chance * (1 - chance) / games) ** 0.5
    assert GAME.occupants["target"] == "exact"  # type: ignore[index]
