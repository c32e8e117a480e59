"""Is A better than B: pairs on the same settings, adjusted claims, equivalence, plain words."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
import scipy

import sally
from sally.analysis.compare import compare as comparing
from sally.analysis.compare.compare import (
    Comparison,
    Group,
    Score,
    adjust_p_values,
    are_models,
    clusters_needed,
    conclusion,
)
from sally.core.errors import BadInput
from sally.core.log.events import Episode, Instance, PlayerSpec, Setup
from sally.frames.frame import as_frame
from sally.frames.measured_seat import person_of
from sally.stats.multiple_tests import holm

# Student (1908): extra hours of sleep of ten patients under two drugs
DEXTRO = (0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0)
LAEVO = (1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4)
GROUP = Group("rps", "agent", "", "reward_per_round")


def scores(values, instances=None) -> list[Score]:
    return [
        Score(f"s{n}".encode(), instances[n] if instances else "i", "tit_for_tat", value)
        for n, value in enumerate(values)
    ]


def compare(first, two, **options) -> Comparison:
    comparison = comparing._compare_paired(GROUP, first, two, options.get("margin"), 1)
    assert comparison is not None
    return adjust_p_values([comparison])[0]


def duel(first: str, second: str, seeds=range(8), **params) -> list[Episode]:
    return [
        sally.play("rps", {"agent": player, "partner": "tit_for_tat"}, seed,
                 probes={"agent": ["their_move"]}, rounds=10, **params)
        for seed in seeds
        for player in (first, second)
    ]  # fmt: skip


def test_students_sleep_data_favours_the_second_drug():
    comparison = compare(scores(LAEVO), scores(DEXTRO))
    assert comparison.difference.value == pytest.approx(1.58)
    assert comparison.effect == pytest.approx(1.58 / 1.229995, rel=1e-5)  # his standard deviation
    # nine of ten differences are above 0 and one is 0: 2 of 2**9 sign choices are as extreme
    assert comparison.p == pytest.approx(2 / 2**9)
    assert comparison.verdict == "better" and comparison.pairs == 10
    assert compare(scores(DEXTRO), scores(LAEVO)).verdict == "worse"


def test_only_scores_of_the_same_setting_are_paired():
    single_scores, two = (
        scores([1.0, 2.0, 3.0]),
        [*scores([0.0, 1.0])[1:], Score(b"else", "i", "t", 9.0)],
    )
    comparison = compare(single_scores, two)
    assert (comparison.pairs, comparison.alone, comparison.difference.value) == (1, (2, 1), 1.0)
    assert (
        comparing._compare_paired(GROUP, single_scores, [Score(b"else", "i", "t", 9.0)], None, 1)
        is None
    )


def test_episodes_of_one_setting_are_averaged_not_counted_twice():
    twice = [*scores([1.0]), *scores([3.0])]
    comparison = compare(twice, scores([1.0]))
    assert (comparison.pairs, comparison.first) == (1, 2.0)


def test_instances_are_resampled_whole_and_that_widens_the_interval():
    rng = np.random.default_rng(3)
    shifts = np.repeat(rng.normal(size=8), 6)
    values = shifts + 0.1 * rng.normal(size=48)
    names = [f"i{n // 6}" for n in range(48)]
    by_instance = compare(scores(values, names), scores(np.zeros(48), names))
    by_pair = compare(scores(values), scores(np.zeros(48)))
    assert (by_instance.clusters, by_pair.clusters) == ("instances", "pairs")
    widths = [c.difference.high - c.difference.low for c in (by_instance, by_pair)]
    assert widths[0] > 1.5 * widths[1]


def test_claims_are_adjusted_over_the_whole_family():
    comparisons = [
        comparing._compare_paired(GROUP, scores(LAEVO), scores(np.add(DEXTRO, shift)), None, 1)
        for shift in (0.0, 1.0, 1.58)
    ]
    actual_comparisons = adjust_p_values(comparisons)
    assert [c.p_holm for c in actual_comparisons] == holm([c.p for c in comparisons])
    assert actual_comparisons[0].p_holm == pytest.approx(3 * actual_comparisons[0].p)


def test_difference_within_the_margin_is_equivalent_and_a_wide_one_undecided():
    rng = np.random.default_rng(5)
    base = rng.normal(size=60)
    near_comparison = compare(scores(base + 0.02 * rng.normal(size=60)), scores(base), margin=0.1)
    assert near_comparison.verdict == "equivalent" and near_comparison.p_equivalent < 0.05
    wide = compare(scores(base), scores(rng.normal(size=60)), margin=0.01)
    assert wide.verdict == "undecided"


def test_identical_differences_are_flagged_with_exact_p_value():
    two, ten = (compare(scores([1.0] * n), scores([0.0] * n)) for n in (2, 10))
    assert two.alike and two.verdict == "undecided" and two.p == 1 / 2
    assert ten.alike and ten.verdict == "better" and ten.p == 2 / 2**10
    same_comparison = compare(scores([1.0] * 10), scores([1.0] * 10), margin=0.1)
    assert same_comparison.p_equivalent is None and same_comparison.verdict == "undecided"


def test_comparison_of_two_players_has_a_plain_conclusion():
    comparisons = sally.compare(duel("random", "constant"), "random", "constant")
    assert {c.metric for c in comparisons} == {
        "tom_percent",
        "reward_per_round",
    }  # constant states no odds
    assert all(c.pairs == 8 for c in comparisons)
    told_conclusion = conclusion(comparisons, "random", "constant")
    assert told_conclusion.startswith(
        "Doing (reward_per_round): random is better than constant in rps."
    )
    expected_fields = {"metrics": ["functional_regret"]}
    lower = sally.compare(duel("random", "constant"), "random", "constant", **expected_fields)
    assert [(c.better, c.verdict) for c in lower] == [("lower", "better")]


def test_wrong_names_are_refused_with_suggestions():
    episodes = duel("random", "constant", seeds=[1])
    with pytest.raises(BadInput, match="did you mean random"):
        sally.compare(episodes, "randon", "constant")
    with pytest.raises(BadInput, match="did you mean tom_percent"):
        sally.compare(episodes, "random", "constant", metrics=["tom_precent"])
    with pytest.raises(BadInput, match="cannot be compared with itself"):
        sally.compare(episodes, "random", "random")
    separate_episodes = [
        *duel("random", "random", seeds=[1]),
        *duel("constant", "constant", seeds=[2]),
    ]
    with pytest.raises(BadInput, match="never met the same setting"):
        comparing.family({GROUP: {"a": scores([1.0])}}, "a", "b", None, 1)
    (first, *_) = sally.compare(separate_episodes, "random", "constant")
    assert first.design == "unpaired" and first.difference.interval is None and not first.decidable


def test_players_without_shared_settings_are_compared_unpaired_by_cluster():
    rng = np.random.default_rng(3)
    people = [
        Score(
            f"s{seat_number}-{n}".encode(),
            "i",
            "t",
            1.0 + skill + 0.1 * rng.normal(),
            f"person {seat_number}",
        )
        for seat_number, skill in enumerate(rng.normal(size=12))
        for n in range(5)
    ]
    model = [
        Score(f"m{n}".encode(), f"j{n}", "t", float(v)) for n, v in enumerate(rng.normal(size=30))
    ]
    (comparisons,) = comparing.family({GROUP: {"a": people, "b": model}}, "a", "b", None, 1)
    assert (comparisons.design, comparisons.units, comparisons.pairs) == ("unpaired", 12, 30)
    assert comparisons.clusters == "participants and instances"
    # the same as Welch's t of twelve means and thirty values, up to the correction for 12
    means = [np.mean([s.value for s in people[5 * k : 5 * k + 5]]) for k in range(12)]
    other_rows = [s.value for s in model]
    welch = scipy.stats.ttest_ind(means, other_rows, equal_var=False)
    assert comparisons.p == pytest.approx(welch.pvalue, rel=1e-6)
    assert comparisons.difference.low == pytest.approx(welch.confidence_interval().low, rel=1e-6)
    assert "Doing (reward_per_round, unpaired)" in conclusion([comparisons], "a", "b")


def test_one_episode_against_six_people_is_one_pair_without_interval():
    people = [Score(b"s", "i", "t", float(n), f"person {n}") for n in range(6)]
    comparison = compare(people, [Score(b"s", "i", "t", 2.0)])
    assert (comparison.pairs, comparison.units, comparison.difference.interval) == (1, 1, None)
    assert "fewer than 5 clusters" in comparison.difference.method
    judged = adjust_p_values([comparison])[0]
    assert judged.verdict == "undecided" and not judged.decidable
    assert "too few" in comparing.word_of(judged)


def test_sentence_names_the_seats_where_a_game_has_several():
    rng = np.random.default_rng(2)
    high, low = scores(1 + rng.normal(size=20) / 9), scores(rng.normal(size=20) / 9)
    agent, partner = GROUP, msgspec.structs.replace(GROUP, seat="partner")
    table = {agent: {"a": high, "b": low}, partner: {"a": low, "b": low}}
    reply_conclusion = conclusion(comparing.family(table, "a", "b", None, 1), "a", "b")
    assert (
        "a is better than b in rps as agent, not told apart in rps as partner" in reply_conclusion
    )


def test_people_are_resampled_as_participant_clusters():
    rng = np.random.default_rng(7)
    skill = rng.normal(size=6)
    people = [
        Score(
            f"s{n}".encode(),
            f"i{n}",
            "t",
            skill[seat_number] + 0.1 * rng.normal(),
            f"person {seat_number}",
        )
        for seat_number in range(6)
        for n in range(8)
    ]
    bot = scores(np.zeros(8), [f"i{n}" for n in range(8)])
    comparison = compare(people, bot)
    assert (comparison.pairs, comparison.clusters) == (8, "participants")  # the bot has 8
    assert comparison.difference.value == pytest.approx(np.mean([s.value for s in people]))
    # six people, not 48 games: about the t interval of their six means
    half = 2.571 * np.std(skill, ddof=1) / np.sqrt(6)
    assert comparison.difference.high - comparison.difference.low == pytest.approx(
        2 * half, rel=0.3
    )
    turned = compare(bot, people)
    assert turned.difference.value == pytest.approx(-comparison.difference.value)
    assert turned.clusters == "participants"


def test_equivalence_is_claimed_only_as_far_as_the_family_allows():
    rng = np.random.default_rng(5)
    base, near = rng.normal(size=60), []
    for noise in (0.02, 0.02, 0.02):
        two = scores(base + noise * rng.normal(size=60))
        near.append(comparing._compare_paired(GROUP, scores(base), two, 0.1, 1))
    comparisons = adjust_p_values(near)
    assert [c.p_equivalent_holm for c in comparisons] == holm([c.p_equivalent for c in near])
    # a p of .03 alone would do; as one of three it does not
    alone = msgspec.structs.replace(near[0], p=1.0, p_equivalent=0.03)
    assert adjust_p_values([alone])[0].verdict == "equivalent"
    assert [c.verdict for c in adjust_p_values([alone] * 3)] == ["undecided"] * 3


def test_difference_in_metric_without_direction_is_reported_as_different():
    group = Group("rps", "agent", "", "horizon_term")
    comparison = comparing._compare_paired(group, scores(LAEVO), scores(DEXTRO), None, 1)
    assert adjust_p_values([comparison])[0].verdict == "different"
    told_conclusion = conclusion(adjust_p_values([comparison]), "laevo", "dextro")
    assert "laevo is different from dextro in rps" in told_conclusion


def test_eavesdropper_is_better_the_more_it_catches():
    group = Group("toma_sw", "eavesdropper", "", "radio_caught")
    comparison = comparing._compare_paired(group, scores([1.0] * 10), scores([0.0] * 10), None, 1)
    assert (comparison.better, adjust_p_values([comparison])[0].verdict) == ("higher", "better")


def test_recorded_models_have_no_participant_id():
    def recorded(name: str) -> Setup:
        lineup = {"persuader": PlayerSpec("recorded", {"name": name})}
        return Setup(Instance("games.jsonl:3:1", "mindgames", {}), 1, lineup)

    assert person_of(recorded("human"), "persuader") == "games.jsonl:3"
    assert person_of(recorded("o1-preview"), "persuader") == ""


def test_partners_sharing_a_repeat_are_resampled_together():
    rng = np.random.default_rng(9)
    luck = rng.normal(size=8)
    single_scores = [
        Score(f"s{r} {player}".encode(), "i", player, luck[r], repeat=r)
        for r in range(8)
        for player in "xyz"
    ]
    two = [Score(s.setting, "i", s.others, 0.0, repeat=s.repeat) for s in single_scores]
    comparison = compare(single_scores, two)
    assert (comparison.pairs, comparison.clusters) == (24, "repeats of instances")
    assert comparison.p == compare(scores(luck), scores(np.zeros(8))).p  # eight throws, not 24


@pytest.mark.parametrize("family", [1, 3, 9])
def test_clusters_needed_is_the_least_number_that_allows_a_claim(family: int):
    needed = clusters_needed(family)
    enough, few = (
        [
            comparing._compare_paired(
                GROUP, scores(np.arange(1.0, n + 1)), scores([0.0] * n), None, 1
            )
            for _ in range(family)
        ]
        for n in (needed, needed - 1)
    )
    assert {c.verdict for c in adjust_p_values(enough)} == {"better"} and enough[0].units == needed
    assert {c.verdict for c in adjust_p_values(few)} == {"undecided"}


def ask_once(model: str, strategy: str) -> PlayerSpec:
    return PlayerSpec("language", {"model": model, "strategy": strategy})


def test_names_of_models_are_distinguished_from_names_of_players() -> None:
    instance = Instance("ipd-1", "ipd", {"rounds": 1})
    lineups = [
        {"agent": ask_once(model, kind), "partner": PlayerSpec("random")}
        for model in ("lab/weak", "lab/good")
        for kind in ("qa", "cot")
    ]
    events = sally.play("ipd", {"agent": "random", "partner": "random"}, rounds=1).events
    frame = as_frame([Episode("x", Setup(instance, 1, lineup), events) for lineup in lineups])
    assert are_models(frame, "lab/weak", "lab/good")
    assert not are_models(frame, "lab/weak qa", "lab/good qa")
    with pytest.raises(BadInput, match="two models, or two players"):
        are_models(frame, "lab/weak", "lab/good qa")
    with pytest.raises(BadInput, match="lab/wek"):
        are_models(frame, "lab/wek", "lab/good")


def test_strategies_in_one_setting_do_not_count_as_independent_pairs() -> None:
    def of(shift: float) -> list[Score]:
        return [
            Score(f"s{n}".encode(), "i", "random", n + shift, strategy=kind)
            for n in range(2)
            for kind in ("qa", "cot", "lm")
        ]

    comparison = compare(of(1.0), of(0.0))
    assert (comparison.pairs, comparison.units, comparison.clusters) == (6, 2, "settings")
    assert comparison.difference.interval is None
