"""H1 and H2 for the population: errors clustered by person, against known answers."""

from __future__ import annotations

from math import log, sqrt

import pytest

from sally.papers.moore2025.hypotheses import CHANCE, Game, clustered_z, marginal


def log_odds(share: float) -> float:
    return log(share / (1 - share))


def test_one_game_per_person_gives_the_standard_test_of_a_share() -> None:
    won = [True] * 30 + [False] * 70
    alone = [f"person {n}" for n in range(100)]
    usual = (log_odds(0.3) - log_odds(CHANCE)) / sqrt(1 / (100 * 0.3 * 0.7))
    assert clustered_z(won, alone) == pytest.approx(usual)


def test_repeated_games_of_a_person_do_not_increase_z() -> None:
    won = [True] * 30 + [False] * 70
    alone = [f"person {n}" for n in range(100)]
    assert clustered_z(won * 4, alone * 4) == pytest.approx(clustered_z(won, alone))
    independent = [f"game {n}" for n in range(400)]
    z, first_value = clustered_z(won * 4, independent), clustered_z(won, alone)
    assert z is not None and first_value is not None and z == pytest.approx(2 * first_value)


def test_two_groups_of_independent_people_give_standard_log_odds_test() -> None:
    won = [True] * 30 + [False] * 70 + [True] * 20 + [False] * 80
    shown = [False] * 100 + [True] * 100
    error = sqrt(1 / (100 * 0.3 * 0.7) + 1 / (100 * 0.2 * 0.8))
    usual = (log_odds(0.2) - log_odds(0.3)) / error
    strangers = [str(n) for n in range(200)]
    assert clustered_z(won, strangers, shown) == pytest.approx(usual)


def test_z_is_none_if_every_game_is_won() -> None:
    assert clustered_z([True, True], ["a", "b"]) is None
    games = [Game(False, False, True, "moon", str(n)) for n in range(5)]
    assert marginal("H1", "z", games) is None


def test_population_test_uses_only_its_own_games() -> None:
    people = [Game(False, False, n % 3 == 0, "moon", str(n // 4)) for n in range(60)]
    others = [Game(True, False, False, "moon") for _ in range(60)]
    alone, mixed = (marginal("H1", "z", games) for games in (people, [*people, *others]))
    assert alone is not None and alone == mixed and alone.n == 60
