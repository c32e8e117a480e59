"""Stores of all kinds beside a paper: whole, partial, foreign, censored, forfeited, mixed."""

from __future__ import annotations

import pytest

from sally.analysis.episodes.paper_store import pool_mean, same_model, short
from sally.core.errors import BadInput
from sally.output.files.bundle import pack
from sally.output.tables.reproduce import Effort, Row, reproduce
from tests.analysis.scripted_models import (
    cut,
    repeated_episode,
    scenario_episode,
    speechless_episode,
    stored,
)

FEW = Effort(repeats=4)


def one(rows: list[Row], metric: str = "functional_regret", **row: object) -> Row:
    actual_rows = [r for r in rows if r.metric == metric and row.items() <= r.row.items()]
    assert len(actual_rows) == 1, actual_rows
    return actual_rows[0]


# --- riemer2025 ---------------------------------------------------------------------------------

QA = {"game": "rps", "strategy": "qa"}


def test_partners_of_a_cell_are_weighted_equally(tmp_path):
    three = [repeated_episode("rps", action, 1) for action in range(3)]
    row = one(reproduce("riemer2025", "9", stored(tmp_path, *three), effort=FEW), **QA)
    assert row.ours == pytest.approx(1.0)  # a tie, a loss and a win
    assert (row.n, row.note, row.missing, row.run) == (3, None, None, None)


def test_bundle_gives_the_same_rows_as_its_store(tmp_path):
    folder = stored(tmp_path / "s", *(repeated_episode("rps", action, 1) for action in range(3)))
    pack(folder, tmp_path / "b.zip")
    row, actual_folder = (
        one(reproduce("riemer2025", "9", place, effort=FEW), **QA)
        for place in (folder, tmp_path / "b.zip")
    )
    assert row == actual_folder and row.n == 3


def test_partial_store_notes_partners_not_played(tmp_path):
    two = [repeated_episode("rps", action, 1) for action in (0, 1)]
    row = one(reproduce("riemer2025", "9", stored(tmp_path, *two), effort=FEW), **QA)
    assert row.note == "partners were not met equally often (action 0: 1, action 1: 1, action 2: 0)"


def test_row_not_run_states_the_command_to_run_it(tmp_path):
    folder = stored(tmp_path / "s", repeated_episode("rps", 0, 1))
    row = one(reproduce("riemer2025", "9", folder, effort=FEW), game="ibs", strategy="qa")
    assert row.missing == "not run"
    assert row.run == f"sally run riemer2025 --model PROVIDER/mistral-large-2 --out {folder}"


def test_one_episode_has_no_interval_and_no_verdict(tmp_path):
    folder = stored(tmp_path, repeated_episode("rps", 2, 1))
    row = one(reproduce("riemer2025", "9", folder, effort=FEW), **QA)
    assert (row.ours, row.ours_interval, row.verdict) == (0.0, None, None)


def test_row_contains_published_and_exact_convention(tmp_path):
    """Playing J for ever against tit for tat loses nothing by rate, and by the optimum 2 of 802."""
    folder = stored(tmp_path, *(repeated_episode("ipd", a, 1, plays=0) for a in (0, 1)))
    row = one(reproduce("riemer2025", "9", folder, effort=FEW), game="ipd", strategy="qa")
    assert row.ours == pytest.approx((2 + 5) / 2)
    assert row.exact is not None
    assert row.exact.metric == "functional_regret"
    assert row.exact.value == pytest.approx(row.ours)  # the rate is exact against one action


def test_episodes_outside_the_published_conditions_are_ignored(tmp_path):
    same_episodes = [repeated_episode("rps", action, 1) for action in range(3)]
    others = [
        repeated_episode("rps", 1, 1, rounds=10),
        repeated_episode("rps", 1, 1, names=("R", "P", "S")),
        repeated_episode("rps", 1, 1, strategy="cot"),
        repeated_episode("rps", 1, 1, with_={"history": False}),
        repeated_episode("rps", 1, 1, model="another"),
    ]
    folder = stored(tmp_path, *same_episodes, *others)
    assert (
        one(reproduce("riemer2025", "9", folder, effort=FEW), model="mistral-large-2", **QA).n == 3
    )


def test_episodes_with_different_settings_are_not_pooled(tmp_path):
    folder = stored(
        tmp_path,
        repeated_episode("rps", 0, 1, settings={"temperature": 0.0}),
        repeated_episode("rps", 0, 1, settings={"temperature": 1.0}),
    )
    row = one(reproduce("riemer2025", "9", folder, effort=FEW), **QA)
    assert row.ours is None
    assert row.missing == (
        'not pooled: episodes differ in settings ({"temperature":0.0} and {"temperature":1.0})'
    )


def test_new_model_has_its_own_lines_in_every_table_it_played(tmp_path):
    folder = stored(tmp_path, repeated_episode("rps", 1, 1, model="provider/new"))
    rows = reproduce("riemer2025", "9", folder, effort=FEW)
    own_rows = [row for row in rows if row.published is None]
    assert {row.row["model"] for row in own_rows} == {"provider/new"}
    assert one(own_rows).ours == pytest.approx(2.0)
    table8 = [r for r in reproduce("riemer2025", "8", folder, effort=FEW) if r.published is None]
    assert len([r for r in table8 if r.metric == "functional_regret"]) == 1  # two models, one line


def test_provider_prefix_is_ignored_but_two_providers_are_not_pooled(tmp_path):
    served = repeated_episode("rps", 1, 1, model="mistral/Mistral-Large-2")
    folder = stored(tmp_path / "one", served)
    assert one(reproduce("riemer2025", "9", folder, effort=FEW), **QA).ours == pytest.approx(2.0)
    folder = stored(tmp_path / "two", served, repeated_episode("rps", 0, 1))
    with pytest.raises(BadInput, match="name the model in full"):
        reproduce("riemer2025", "9", folder, effort=FEW)
    chosen = reproduce("riemer2025", "9", folder, "mistral/Mistral-Large-2", FEW)
    assert one(chosen, **QA).ours == pytest.approx(2.0)


def test_names_of_models():
    assert short("openai/gpt-4o") == "gpt-4o" == short("gpt-4o")
    assert same_model("openai/GPT-4o", "gpt-4o") and same_model("a/b", "a/b")
    assert not same_model("openai/gpt-4o-mini", "gpt-4o")


def test_store_of_another_paper_is_refused_with_one_message(tmp_path):
    folder = stored(tmp_path, scenario_episode("toma_po", 1, 0, "solver"))
    with pytest.raises(
        BadInput, match=r"None of the 1 episodes in .* belongs to a table or figure"
    ):
        reproduce("riemer2025", episodes=folder)
    with pytest.raises(BadInput, match="There is no store"):
        reproduce("kang2026", episodes=tmp_path / "nowhere")


# --- kang2026 -----------------------------------------------------------------------------------

MODEL = {"model": "qwen2.5-3b-instruct", "strategy": "zero_shot"}


def test_success_level_by_level_and_in_total(tmp_path):
    folder = stored(
        tmp_path,
        *(scenario_episode("toma_mg", level, n, "solver") for level in (1, 2) for n in range(6)),
    )
    rows = reproduce("kang2026", "10", folder)
    level = one(rows, "task_success", level="L1", **MODEL)
    assert level.ours == 1.0
    assert level.method == "Wilson over 6 clusters"
    low, high = level.ours_interval  # six of six leave room, with t of five degrees for z
    assert 0.4 < low < 0.6 and high == 1
    total = one(rows, "task_success", level="total", **MODEL)
    assert total.note == "levels were not met equally often (L1: 6, L2: 6, L3: 0)"
    assert one(rows, "task_success", level="L3", **MODEL).missing == "not run"


def test_runs_are_the_units_if_scenarios_are_few(tmp_path):
    runs = [
        scenario_episode("toma_mg", 1, n, "solver" if n < 2 else "random", repeat=repeat)
        for n in range(4)
        for repeat in range(5)
    ]
    row = one(
        reproduce("kang2026", "10", stored(tmp_path, *runs)), "task_success", level="L1", **MODEL
    )
    assert row.n == 20
    # Four scenarios are too few to draw from: then the runs count, these scenarios given.
    assert row.method == "t over 20 clusters"


def test_five_scenarios_are_enough_to_cluster_by_scenario(tmp_path):
    runs = [
        scenario_episode("toma_mg", 1, n, "solver" if n < 2 else "random", repeat=repeat)
        for n in range(5)
        for repeat in range(3)
    ]
    row = one(
        reproduce("kang2026", "10", stored(tmp_path, *runs)), "task_success", level="L1", **MODEL
    )
    assert row.n == 15 and row.method == "beta-binomial over 5 clusters"


def test_gain_is_a_paired_difference_on_the_same_scenarios(tmp_path):
    plain = [scenario_episode("toma_mg", 1, n, "random") for n in range(6)]
    better = [scenario_episode("toma_mg", 1, n, "solver", strategy="tom_cot") for n in range(6)]
    unmatched = scenario_episode("toma_mg", 1, 9, "solver", strategy="tom_cot")
    rows = reproduce("kang2026", "2", stored(tmp_path, *plain, *better, unmatched))
    of = {"model": "qwen2.5-3b-instruct", "strategy": "tom_cot"}
    lost = one(rows, "task_success", **MODEL).ours
    gain = one(rows, "gain_over_zero_shot", **of)
    assert lost is not None
    assert gain.ours == pytest.approx(1 - lost)
    assert gain.n == 6


def test_episodes_with_injections_are_not_in_the_tables(tmp_path):
    episode = scenario_episode("toma_mg", 1, 0, "solver", told=0.0)
    folder = stored(tmp_path, episode, scenario_episode("toma_mg", 1, 1, "solver"))
    assert one(reproduce("kang2026", "2", folder), "task_success", **MODEL).n == 1


def test_censored_episodes_are_excluded_and_counted(tmp_path):
    folder = stored(
        tmp_path,
        scenario_episode("toma_mg", 1, 0, "solver"),
        cut(scenario_episode("toma_mg", 1, 1, "solver")),
    )
    row = one(reproduce("kang2026", "2", folder), "task_success", **MODEL)
    assert (row.n, row.censored, row.ours) == (1, 1, 1.0)
    only = stored(tmp_path / "cut", cut(scenario_episode("toma_mg", 1, 1, "solver")))
    row = one(reproduce("kang2026", "2", only), "task_success", **MODEL)
    assert row.ours is None
    assert row.missing == "the episodes give no figure: censored, forfeited or not asked"
    assert row.run is not None and row.run.startswith("sally run kang2026 --model PROVIDER/qwen")


def test_forfeit_is_wrong_by_the_published_convention_and_blank_by_ours(tmp_path):
    folder = stored(tmp_path, speechless_episode("toma_mg", 1, 0))
    row = one(reproduce("kang2026", "2", folder, "speechless"), "task_success", **MODEL)
    assert (row.ours, row.forfeited, row.exact) == (0.0, 1, None)


def test_unavailable_value_states_the_reason_and_no_command():
    rows = reproduce("kang2026", "3")
    assert {row.missing for row in rows if row.row["game"] == "ipd"} == {
        "the paper does not say what success is in the prisoner's dilemma"
    }
    assert all(row.run is None for row in rows)
    rating = reproduce("tradecraft2026", "validation")
    assert all(row.missing and "ratings are not episodes" in row.missing for row in rating)


# --- intervals ----------------------------------------------------------------------------------


def test_share_near_its_bound_has_a_wilson_interval_within_bounds():
    estimate = pool_mean([1.0] * 9 + [0.0], list("abcdefghij"), ends=(0, 1))
    assert (
        estimate.method == "Wilson over 10 clusters" and estimate.value == 0.9 and estimate.high < 1
    )


def test_identical_repeats_use_beta_binomial_over_instances():
    estimate = pool_mean([1.0] * 10, list("abcde") * 2, ends=(0, 1))
    assert (estimate.method, estimate.n, estimate.high) == (
        "beta-binomial over 5 clusters",
        10,
        1.0,
    )
    assert 0.4 < estimate.low < 0.75  # five instances, whatever they were repeated


def test_values_without_bounds_use_a_t_interval():
    assert pool_mean([1.0, 0.0, 1.0, 1.0, 1.0], list("abcde")).method == "t over 5 clusters"


def test_repeats_of_few_instances_have_an_interval_over_episodes():
    assert pool_mean([0.2, 0.4, 0.6, 0.1, 0.3], ["a"] * 5).interval is not None
    few = pool_mean([0.2, 0.4, 0.6, 0.1, 0.3, 0.2], ["a", "a", "a", "b", "b", "b"])
    assert few.method == "t over 6 clusters"  # as in every table of ours
