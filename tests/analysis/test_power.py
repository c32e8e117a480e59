"""How many episodes it takes: from a pilot or a stated spread, checked by simulation."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import msgspec
import numpy as np
import pytest

from sally.analysis.compare import compare as comparing
from sally.analysis.compare.compare import Group, Score
from sally.analysis.design.power import DifferenceSpread, PilotScore, family_of, needs, spread_of
from sally.core.errors import BadInput
from sally.core.registry.study import Cell, Study, grid, instance, player_spec
from sally.frames.frame import as_frame
from sally.runner.config import Config, read_config
from sally.runner.local import play
from sally.runner.plan import plan
from sally.runner.seating import resolve_setup
from sally.stats import paired_tests as tests_of_pairs
from sally.stats.equivalence import paired_equivalence_p
from sally.stats.paired_differences import sign_flip_test
from sally.stats.power import equivalence_sample_size, t_sample_size
from tests.stats.simulation import simulated_power

CELL = Cell(
    "duel",
    (instance("rps", "rps-10", rounds=10),),
    grid(
        agent=(player_spec("random"), player_spec("constant")), partner=player_spec("tit_for_tat")
    ),
    repeats=12,
)
STUDY = Study("s", "s", (CELL,))


def piloted(study: Study = STUDY):
    return [play(resolve_setup(setup), cell) for cell, setup in study.trials()]


def need(detect: float = 0.05, study: Study = STUDY, **options):
    return needs(study, plan(study), Config(), detect, **options)[0]


def values(by_player, instances=None):
    return [
        PilotScore(
            "duel", "rps", "agent", player, f"s{n}", instances[n] if instances else "i", float(v)
        )
        for player, column in by_player.items()
        for n, v in enumerate(column)
    ]


def test_stated_spread_gives_the_textbook_number():
    """R: power.t.test(delta=.5, sd=1, type="paired") wants 33.4 pairs for 80 percent, 44 for 90."""
    estimate = need(0.5, sd=1.0)
    assert estimate.episodes == (34, 44) and estimate.cost == (0.0, 0.0)
    assert (estimate.pairs, estimate.now, estimate.metric) == (0, 12, "reward_per_round")


def test_pilot_gives_spread_of_differences():
    spread = spread_of(CELL, values({"a": [1, 2, 3, 6], "b": [0, 0, 0, 0]}))
    assert isinstance(spread, DifferenceSpread)
    assert spread.sd == pytest.approx(np.std([1, 2, 3, 6], ddof=1))
    assert (spread.pairs, spread.players, spread.icc) == (4, 2, None)


def test_variation_shared_by_both_players_is_excluded_from_spread():
    hard = np.array([0.0, 5.0, 9.0, 1.0])  # some settings are hard for both
    spread = spread_of(CELL, values({"a": hard + np.array([1, 1, 2, 2]), "b": hard}))
    assert isinstance(spread, DifferenceSpread) and spread.sd == pytest.approx(
        np.std([1, 1, 2, 2], ddof=1)
    )


def test_repeated_problems_have_high_intraclass_correlation():
    rng = np.random.default_rng(1)
    shifts = np.repeat(rng.normal(size=10), 6) + 0.3 * rng.normal(size=60)
    names = [f"i{n // 6}" for n in range(60)]
    cell = msgspec.structs.replace(
        CELL, instances=tuple(instance("rps", f"i{n}") for n in range(10)), repeats=6
    )
    spread = spread_of(cell, values({"a": shifts, "b": np.zeros(60)}, names))
    assert isinstance(spread, DifferenceSpread) and spread.icc > 0.7


def test_partners_of_one_problem_are_clustered_like_its_repeats():
    rng = np.random.default_rng(2)
    pilot = [
        PilotScore("duel", "rps", "agent", name, f"i{i} {r} {p}", f"i{i}", better * (5 + shift), r)
        for i, shift in enumerate(rng.normal(size=10))
        for r in range(2)
        for p in range(3)
        for name, better in (("a", 1), ("b", 0))
    ]
    cell = msgspec.structs.replace(
        CELL,
        instances=tuple(instance("rps", f"i{n}") for n in range(10)),
        lineups=grid(
            agent=(player_spec("random"), player_spec("constant")),
            partner=(player_spec("tit_for_tat"), player_spec("random"), player_spec("constant")),
        ),
        repeats=2,
    )
    study = msgspec.structs.replace(STUDY, cells=(cell,))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sally.analysis.design.power.values_of", lambda *_: pilot)
        estimate = need(0.5, study=study, pilot=())
    # all that is known are ten problems: six episodes of each count as one
    assert estimate.now == 60 and estimate.effect == pytest.approx(6)


def test_with_one_problem_partners_are_clustered_by_repeat():
    rng = np.random.default_rng(4)
    pilot = [
        PilotScore("duel", "rps", "agent", name, f"{r} {p}", "i", better * (5 + shift), r)
        for r, shift in enumerate(rng.normal(size=12))
        for p in range(2)
        for name, better in (("a", 1), ("b", 0))
    ]
    spread = spread_of(CELL, pilot)
    assert isinstance(spread, DifferenceSpread) and spread.icc == pytest.approx(1)


def test_pilot_of_real_episodes_and_one_of_another_cell():
    here = need(0.1, pilot=as_frame(piloted()))
    assert here.pairs == 12 and not here.elsewhere and here.episodes[0] < here.episodes[1]
    other_study = msgspec.structs.replace(
        STUDY, cells=(msgspec.structs.replace(CELL, name="else"),)
    )
    assert need(0.1, study=other_study, pilot=as_frame(piloted())).elsewhere


def test_percentages_are_given_as_shares():
    estimate = need(0.05, metric="tom_percent", sd=0.2)
    assert (estimate.detect, estimate.sd, estimate.unit) == (5.0, 20.0, "%")
    assert estimate.episodes == need(0.05, sd=0.2).episodes


def test_missing_pilot_data_gives_a_reason():
    assert "no episode of rps" in need(0.1, pilot=as_frame([])).why
    alike = [e for e in piloted() if e.setup.lineup["agent"].player == "constant"]
    assert "no two players" in need(0.1, pilot=as_frame(alike)).why


@pytest.mark.parametrize(
    "options, said",
    [
        ({}, "give a pilot"),
        ({"sd": 1.0, "pilot": []}, "not both"),
        ({"sd": -1.0}, "sd must be above 0"),
        ({"sd": 1.0, "detect": 0.0}, "The difference must be above 0"),
        ({"sd": 1.0, "metric": "tom_precent"}, "did you mean tom_percent"),
        ({"sd": 1.0, "alpha": 1.5}, "alpha"),
    ],
)
def test_bad_requests_are_refused_with_one_message(options, said):
    with pytest.raises(BadInput, match=said):
        need(**options)


def test_cost_grows_with_the_episodes(tmp_path: Path):
    prices = tmp_path / "sally.toml"
    prices.write_text(
        '[prices]\ndate = 2026-11-01\nper_million."openai/x" = {input = 1.0, output = 2.0}\n'
    )
    config = read_config(prices)
    lineups = grid(
        agent=player_spec("language", model="openai/x"), partner=player_spec("tit_for_tat")
    )
    study = Study("s", "s", (msgspec.structs.replace(CELL, lineups=lineups, repeats=1),))
    estimate = needs(study, plan(study, config=config), config, 0.5, sd=1.0)[0]
    ((_, full_count, *_),) = [(p.cell, p.each, p) for p in plan(study, config=config).parts]
    first_ratio = (full_count.input * 1.0 + full_count.output * 2.0) / 1e6
    assert estimate.cost == pytest.approx([34 * first_ratio, 44 * first_ratio])


# --- simulation -----------------------------------------------------------------------------------


def claim(differences) -> float:
    """The p value that `sally compare` would print for these pairs."""
    group = Group("rps", "agent", "", "reward_per_round")
    scores = [Score(f"s{n}", "i", "", float(d)) for n, d in enumerate(differences)]
    two = [Score(f"s{n}", "i", "", 0.0) for n in range(len(differences))]
    comparison = comparing._compare_paired(group, scores, two, None, 1)
    return 1.0 if comparison is None or comparison.p is None else comparison.p


@pytest.fixture
def quick(monkeypatch):
    """Fewer flips than a report takes, and no intervals: they play no part in p."""
    monkeypatch.setattr(tests_of_pairs, "RESAMPLES", 1)
    monkeypatch.setattr(tests_of_pairs, "sign_flip_test", partial(sign_flip_test, flips=999))


@pytest.mark.parametrize("place, power", [(0, 0.8), (1, 0.9)])
def test_planned_episodes_reach_the_stated_power_in_compare(place, power, quick):
    n = need(0.5, sd=1.0).episodes[place]
    estimate = simulated_power(lambda rng: claim(rng.normal(0.5, 1, n)), seed=2, repeats=400)
    assert estimate.low < power < estimate.high


def test_planned_episodes_reach_the_stated_power_for_wins_and_losses(quick):
    """Paired 0-1 scores: 60 against 40 in a hundred, independent; the spread is known exactly.

    The number for means would not do here: it comes to 71 percent.
    """
    n = need(0.2, sd=0.48**0.5, metric="task_success").episodes[0]
    assert n > t_sample_size(0.2, 0.48, power=0.8)

    def experiment(rng: np.random.Generator) -> float:
        return claim((rng.random(n) < 0.6).astype(float) - (rng.random(n) < 0.4))

    estimate = simulated_power(experiment, seed=3, repeats=400)
    assert estimate.low < 0.8 < estimate.high


def test_family_of_comparisons_needs_more_and_equivalence_has_its_own_size():
    alone, three = (need(0.5, sd=1.0, family=n).episodes[0] for n in (1, 3))
    assert alone == t_sample_size(0.5, 1.0) and three == t_sample_size(0.5, 1.0, alpha=0.05 / 3)
    assert three > alone
    same = need(0.5, sd=1.0, family=1, equivalent=True)
    assert same.episodes[0] == equivalence_sample_size(0.5, 1.0)


def test_default_family_size_equals_that_of_compare():
    assert family_of(STUDY) == 1  # one game, one seat, no probes
    asked_cell = msgspec.structs.replace(CELL, name="asked", arms={"agent": ("their_move",)})
    assert family_of(Study("s", "s", (CELL, asked_cell))) == 3
    assert family_of(Study("s", "s", (asked_cell,)), "tom_percent") == 1


def test_equal_players_are_equivalent_at_the_planned_size():
    n, rng, count = equivalence_sample_size(0.4, 1.0), np.random.default_rng(4), 0
    for _ in range(400):
        away = rng.normal(size=n)
        count += paired_equivalence_p(away, (-0.4, 0.4)) < 0.05
    assert 0.74 <= count / 400 <= 0.87
