"""The zero of doing: the random player's expectation, exact, or drawn with its error."""

from __future__ import annotations

from dataclasses import replace
from statistics import fmean, stdev

import numpy as np
import pytest

import sally
from sally.analysis.profile.baselines import DRAWS, LEAST_DRAWS
from sally.analysis.profile.doing_scale import BaselineScores
from sally.cli.profile import sentences
from sally.core.registry import registry
from sally.core.registry.study import Cell, Study, grid, instance, player_spec
from sally.frames.measured_seat import measure_episode
from sally.output.page.profile import _baselines_text
from sally.stats.intervals import Estimate, widen
from tests.analysis.profiles import (
    baselines,
    one_cell,
    played,
    profile_of,
    profiled,
    sums_of,
)

WARY = {f"player_{n}": "conditional_cooperator" for n in (2, 3)}
EXACT = (
    ("eleven_twenty", "player_1", {"player_2": ("level", {"k": 2})}, {}, 200),
    ("eleven_twenty", "player_2", {"player_1": "people"}, {"rounds": 3}, 150),
    ("beauty_contest", "player_1", {"player_2": ("level", {"k": 1}), "player_3": "level"}, {}, 200),
    ("hide_and_seek", "player_2", {"player_1": ("level", {"k": 3})}, {}, 200),
    ("matching_pennies", "player_1", {"player_2": "k_tom"}, {"rounds": 5}, 100),
    ("matching_pennies", "player_2", {"player_1": "win_stay_lose_shift"}, {"rounds": 5}, 100),
    ("pick_the_right_stuff", "manager", {}, {"mode": "finite", "generator_seed": 3}, 100),
    ("pick_the_right_stuff", "manager", {}, {"mode": "infinite", "users": 5}, 100),
    ("public_goods", "player_1", WARY, {"players": 3, "rounds": 4, "ratio": 1.5}, 100),
    ("public_goods", "player_2", {"player_1": ("threshold", {"threshold": 0.4})},
     {"players": 2, "tokens": 7, "rounds": 6}, 100),
    ("wavelength", "guesser", {"psychic": ("own_dial", {"shift": 20.0})}, {}, 60),
    ("wavelength", "psychic", {"guesser": ("own_dial", {"until": 4, "then_stretch": -1.0})}, {},
     60),
    ("taboo", "guesser", {"giver": "hub"}, {"rounds": 4}, 60),
)  # fmt: skip


def draw_from_menu(turn):
    """The `random` of the locker draws among occupied boxes only; the menu has all boxes."""
    return turn.draws.pick(turn.options)


@pytest.mark.parametrize(("game", "seat", "others", "params", "n"), EXACT)
def test_exact_zero_is_the_mean_of_many_random_players(game, seat, others, params, n):
    blind = draw_from_menu if game == "pick_the_right_stuff" else "random"
    episodes = [sally.play(game, {seat: blind, **others}, seed, **params) for seed in range(n)]
    (first,) = measure_episode(episodes[0], (seat,))
    exact = registry.entries("metrics")[first.metric].at_random(episodes[0].setup, seat)
    actual = [m.doing for e in episodes for m in measure_episode(e, (seat,))]
    error = stdev(actual) / n**0.5
    assert exact is not None and abs(fmean(actual) - exact) <= 4 * error + 1e-9


def test_unknown_expectation_is_not_estimated():
    """A learner's reply depends on the past; with a random giver both hints are chance."""
    for game, seat, lineup, params in (
        ("eleven_twenty", "player_1", {"player_2": "repeater"}, {"rounds": 3}),
        ("wavelength", "psychic", {"guesser": "adapts"}, {}),
        ("taboo", "giver", {"guesser": "associates"}, {"rounds": 1}),
        ("public_goods", "player_1", {"player_2": "random"}, {"players": 2}),
    ):
        episode = sally.play(game, {seat: "random", **lineup}, 0, **params)
        (m,) = measure_episode(episode, (seat,))
        assert registry.entries("metrics")[m.metric].at_random(episode.setup, seat) is None


def _hanabi(seeds: range, *players: str) -> list:
    lineups = [{"ann": player, "bob": "smart"} for player in players]
    return [sally.play("hanabi_very_small", lineup, seed) for lineup in lineups for seed in seeds]


@pytest.mark.usefixtures("full_trials")
def test_sampled_zero_does_not_depend_on_seed_or_store():
    """It was one random player's score on each deal, and moved with its luck."""
    rows = [
        profiled(episodes, "ann")[0]
        for episodes in (
            _hanabi(range(6), "info"),
            _hanabi(range(100, 108), "info"),
            _hanabi(range(100, 108), "info", "random"),
        )
    ]
    assert [row.random.value for row in rows] == pytest.approx([rows[0].random.value] * 3)
    assert {row.random.draws for row in rows} == {DRAWS}
    assert 0 < rows[0].random.error < 0.05  # cards, of at most 5
    assert f"the mean of {DRAWS} draws (standard error" in sentences(rows[:1])[0]
    assert f"(mean of {DRAWS} draws, standard error" in _baselines_text(rows[0])
    assert rows[1].doing == rows[2].doing


def test_exact_zero_does_not_move_with_the_seed_of_the_random_player():
    rows = []
    for seeds in (range(5), range(50, 55)):
        lineup = {"player_1": ("level", {"k": 2}), "player_2": ("level", {"k": 1})}
        episodes = [sally.play("eleven_twenty", lineup, seed) for seed in seeds]
        rows += profiled(episodes, "player_1")
    assert rows[0].doing.value == rows[1].doing.value
    assert rows[0].random.error is None and rows[0].random.draws == 0


@pytest.mark.usefixtures("full_trials")
def test_draws_are_divided_among_all_problems():
    lineups = grid(ann=player_spec("info"), bob=(player_spec("smart"), player_spec("info")))
    studied = [
        m
        for e in played(one_cell("hanabi_very_small", lineups, repeats=3))
        for m in measure_episode(e)
    ]
    own_rows = [m for m in studied if m.seat == "ann"]
    (drawn_baseline,) = [b.played for b in baselines(own_rows) if b.role == "drawn"]
    problems = [drawn_baseline.shared[code].alike for code in drawn_baseline.kind]
    by_problem = {m.alike: problems.count(m.alike) for m in own_rows}
    assert set(by_problem.values()) == {max(LEAST_DRAWS, DRAWS // 2)}


def test_error_of_the_draws_is_in_the_interval(monkeypatch):
    episodes = _hanabi(range(8), "info")
    studied = [m for e in episodes for m in measure_episode(e, ("ann",))]
    ends = baselines(studied)
    (row,) = profile_of(studied, ends)
    (drawn_baseline,) = [b for b in ends if b.role == "drawn"]
    values = drawn_baseline.played.of("least").tolist()
    assert row.random.value == pytest.approx(fmean(values))
    assert row.random.error == pytest.approx(stdev(values) / len(values) ** 0.5)
    levels = BaselineScores(ends).levels("random", sums_of(studied[:1]))
    assert levels.tolist() == [pytest.approx(fmean(values))]
    some = replace(
        drawn_baseline, played=drawn_baseline.played.take(np.arange(10)), for_others=[True] * 10
    )
    few = [*(b for b in ends if b.role != "drawn"), some]
    (wide,) = profile_of(studied, few)
    assert wide.doing.high - wide.doing.low > row.doing.high - row.doing.low
    # the same episodes with a zero that is known beforehand
    monkeypatch.setattr(
        "sally.analysis.profile.baselines._expected_score", lambda shared: fmean(values)
    )
    (narrow,) = profile_of(studied, ends)
    assert narrow.random.error is None
    added = row.random.error * (1 - row.doing.value) / (row.reference.value - row.random.value)
    assert narrow.doing.value == pytest.approx(row.doing.value)
    expected_estimate = widen(narrow.doing, added, len(values) - 1)
    assert (row.doing.low, row.doing.high) == pytest.approx(
        (expected_estimate.low, expected_estimate.high)
    )


def test_interval_above_sampled_zero_has_nominal_coverage():
    """A score known without error above a zero of ten draws: only the draws can miss."""
    rng, hits, times = np.random.default_rng(1), 0, 4000
    for _ in range(times):
        draws = rng.normal(0.0, 1.0, 10)
        estimate = widen(
            Estimate(-draws.mean(), -draws.mean(), -draws.mean(), 5, "t"),
            float(draws.std(ddof=1)) / 10**0.5,
            9,
        )
        hits += estimate.low <= 0 <= estimate.high
    assert abs(hits / times - 0.95) < 4 * (0.95 * 0.05 / times) ** 0.5


@pytest.mark.usefixtures("full_trials")
def test_error_of_all_failed_draws_is_not_zero():
    lineups = grid(
        encoder=player_spec("nearest"), decoder=player_spec("random"),
        interceptor=player_spec("random"),
    )  # fmt: skip
    study = Study("s", "s", (Cell("c", (instance("cipher", "g", games=1),), lineups, repeats=5),))
    (row,) = profiled(played(study), "decoder")
    assert row.random.value == 0 and row.random.error == pytest.approx(1 / DRAWS)
