"""The figures of appendix_a that need no model: bots with partners of declared associations."""

from __future__ import annotations

import pytest

from sally.games.association.minds import mind_of
from sally.games.taboo.instances import frozen
from sally.games.taboo.solver import best_hint, points_with_hint
from sally.output.tables.reproduce import Effort
from sally.papers.appendix_a.study import GIVERS, MINDS, STUDY, partners_of
from sally.papers.appendix_a.tables import MOST_ROWS, computes

EFFORT = Effort(repeats=4, seed=1)


def figure(game: str, partner: str, giver: str, metric: str) -> float:
    row = {"game": game, "partner": partner, "model": giver}
    estimate = computes(row, metric, EFFORT)
    assert estimate is not None and estimate.value is not None
    return estimate.value


@pytest.mark.parametrize(
    ("game", "partner"),
    [("wavelength", "plain dial"), ("taboo", "plain sense"), ("codenames", "plain sense")],
)
def test_identical_partner_has_zero_regret_and_random_nearly_all(game: str, partner: str) -> None:
    assert figure(game, partner, "like oneself", "regret") == 0
    assert figure(game, partner, "random", "regret") > 3


@pytest.mark.parametrize(
    ("game", "partner"),
    [("wavelength", "shifted by 20"), ("wavelength", "mirrored"), ("taboo", "half by spelling")],
)
def test_adaptive_player_has_less_regret_than_fixed_one(game: str, partner: str) -> None:
    learner, other_figure = (
        figure(game, partner, player_name, "regret") for player_name in ("adapts", "like oneself")
    )
    assert learner < 0.5 * other_figure
    assert figure(game, partner, "adapts", "regret_last") < 0.5


def test_two_hints_suffice_for_every_mind_of_the_table() -> None:
    for params in MINDS.values():
        for row in frozen("balanced").rows[:MOST_ROWS:3]:
            mind = mind_of(params)
            best = [
                points_with_hint(mind, problem, (), best_hint(mind, problem)[0], 5)
                for problem in row
            ]
            assert set(best) <= {5, 4}


def test_study_pairs_a_model_with_every_partner() -> None:
    names = {f"{game}: {name}" for game in GIVERS for name in partners_of(game)}
    assert {cell.name for cell in STUDY.cells} == names


def test_related_work_rows_have_no_computed_value() -> None:
    assert computes({"work": "anything", "what": "anything"}, "number", EFFORT) is None
