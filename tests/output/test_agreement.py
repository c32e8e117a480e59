"""A self-test of the verdicts on published values: true copies, false ones, relabelled bots."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from benchmarks import true_copies
from sally import store
from sally.analysis.compare.agreement import agreement
from sally.analysis.compare.published_figures import Figure
from sally.core.log.events import Episode, Instance, PlayerSpec, Setup
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.registry import registry
from sally.games.repeated_games.rules import PARTNER
from sally.output.tables.reproduce import Effort, comparison_row, reproduce
from sally.runner.seating import seat_player
from sally.stats.cluster_interval import lone_by_rule, mean_by_rule
from sally.stats.intervals import Estimate

RUNS = 600


def print_text(values: np.ndarray) -> Figure:
    """A sample as a paper prints it: a mean and a 95% interval, to four places."""
    estimate = lone_by_rule(values)
    value, low, high = (round(float(x), 4) for x in (estimate.value, estimate.low, estimate.high))
    return Figure({"game": "rps"}, "regret", value, "Table 1", (low, high))


def verdicts(theirs, ours) -> Counter[str | None]:
    rng = np.random.default_rng(8)
    actual_verdicts = (
        comparison_row("t", [print_text(theirs(rng))], lone_by_rule(ours(rng))).verdict
        for _ in range(RUNS)
    )
    return Counter(actual_verdicts)


def true(rng: np.random.Generator, n: int = 60) -> np.ndarray:
    return rng.gamma(2.0, 0.5, n)  # skewed, as regrets are


def test_resampled_true_data_are_different_in_at_most_one_of_twenty():
    actual_verdicts = verdicts(true, true)
    assert 0.02 <= actual_verdicts["different"] / RUNS <= 0.06


def test_large_copies_are_equivalent():
    def large(rng: np.random.Generator) -> np.ndarray:
        return true(rng, 4000)

    actual_verdicts = verdicts(large, large)
    assert actual_verdicts["equivalent"] / RUNS > 0.75


def test_contaminated_data_are_detected():
    def contaminated(rng: np.random.Generator) -> np.ndarray:
        array = true(rng)
        array[: len(array) // 3] += 1.5  # a third of the episodes are somebody else's
        return array

    actual_verdicts = verdicts(true, contaminated)
    assert actual_verdicts["different"] / RUNS > 0.75 and actual_verdicts["equivalent"] == 0


def wrongly_different(mine: int, theirs: int, shares: np.ndarray, n: int | None) -> np.ndarray:
    """How often two true samples of a measure with two values are called different, exactly."""

    def sample(hits: int, of: int) -> Estimate:
        return lone_by_rule(np.arange(of) < hits)

    ours, copies = ([sample(k, of) for k in range(of + 1)] for of in (mine, theirs))
    printed = [Figure({}, "m", e.value, "Table 1", (e.low, e.high), n=n) for e in copies]
    separate_array = np.array(
        [[agreement("t", p, e, digit=1e-6).verdict == "different" for p in printed] for e in ours]
    )
    weights = [binom.pmf(np.arange(of + 1)[:, None], of, shares)[:, None] for of in (mine, theirs)]
    return np.einsum("ikp,jkp,ij->p", *weights, separate_array)


def test_rare_values_do_not_make_copies_different():
    """riemer2025 has 30 to 100 episodes a cell; its learner has 98% right or, in .13, 99%."""
    shares = np.array([0.02, 0.05, 0.1, 0.128, 0.2, 0.35, 0.5])
    for mine, theirs in ((30, 30), (30, 100), (100, 30), (100, 100)):
        assert wrongly_different(mine, theirs, shares, 60).max() <= 0.05
    assert wrongly_different(30, 100, shares, None).max() > 0.15  # with the errors as they stand
    rare, common = np.array([0.1]), np.array([0.5])
    assert (
        wrongly_different(30, 100, rare, 60) > 0.01
        and wrongly_different(100, 100, common, 60) > 0.02
    )  # not by giving up


@pytest.mark.parametrize("kind", true_copies.KINDS)
def test_copies_of_values_without_an_error_are_rarely_different_and_planted_ones_are(kind: str):
    """The long form is `benchmarks/true_copies.py`."""
    draw = true_copies.KINDS[kind]
    for ours, theirs in ((30, 60), (1000, 60)):
        different, _ = true_copies.share_verdicts(draw, ours, theirs, 0.3, 0.0, 300, True)
        assert different <= 0.08
    found, missed = true_copies.share_verdicts(draw, 1000, 60, 0.3, 0.25, 100, True)
    assert found > 0.8 and missed == 0
    assert true_copies.share_verdicts(draw, 1000, 60, 0.3, 0.25, 20, False) == (0.0, 0.0)


def relabelled(model: str, game: str, names: list[str], bot: PlayerSpec) -> Iterator[Episode]:
    """A bot's episodes in the name of a language model, against the partners of the paper."""
    spec = registry.game(game)
    moves = len(names)
    partners = [PlayerSpec("single_action", {"action": a}) for a in range(moves)]
    for n, partner in enumerate([*partners * 8, *[PlayerSpec("tit_for_tat")] * 8 * moves]):
        lineup = {
            "agent": PlayerSpec("language", {"model": model, "strategy": "qa"}),
            "partner": partner,
        }
        params: dict[str, Any] = {"names": names}
        setup = Setup(Instance(game, game, params), n, lineup, arms={"agent": ("their_move",)})
        match = Match(spec, setup)
        agent = seat_player(spec, match.game, "agent", bot)
        Driver(
            match, {"agent": agent, "partner": seat_player(spec, match.game, PARTNER, partner)}
        ).run()
        yield match.episode()


@pytest.mark.parametrize("bot", [PlayerSpec("random"), PlayerSpec("single_action", {"action": 0})])
def test_bot_under_a_models_name_is_never_equivalent(tmp_path: Path, bot: PlayerSpec):
    """A constant player once agreed in 22 of 24 rows: partners were counted as error."""
    with store.Writer(tmp_path) as writer:
        for episode in relabelled("mistral-large-2", "rps", ["J", "F", "B"], bot):
            writer.add(episode)
    rows = reproduce("riemer2025", "9", tmp_path, None, Effort(repeats=4))
    judged = [row for row in rows if row.verdict is not None and row.published is not None]
    assert len(judged) >= 1  # a constant player makes no predictions
    assert [row.verdict for row in judged].count("different") > len(judged) / 2
    assert not [row for row in judged if row.verdict == "equivalent"]


def test_partners_of_the_design_are_not_an_error():
    """Three partners give 0, 1 and 2; within each the values hardly differ."""
    values = np.array([0.0, 1.0, 2.0] * 5) + np.tile([-0.01, 0.01, 0.0, 0.01, -0.01], 3)
    partners = [0, 1, 2] * 5
    blind = mean_by_rule(values, range(15))
    known_estimate = mean_by_rule(values, range(15), strata=partners)
    assert (
        known_estimate.value == blind.value
        and known_estimate.method == "t over 15 clusters in 3 strata"
    )
    assert known_estimate.high - known_estimate.low < 0.02 < 0.8 < blind.high - blind.low
    within = [values[p::3] for p in range(3)]
    pooled = np.sqrt(np.mean([w.var(ddof=1) for w in within]) / 15) * 2.178813  # t, 12 degrees
    assert known_estimate.high - known_estimate.value == pytest.approx(pooled, rel=1e-6)
    few = mean_by_rule(values[:6], range(6), strata=partners[:6])
    assert few.interval is None and "in 3 strata" in few.method


@pytest.mark.parametrize("apart", [0.0, 3.0])
def test_verdict_does_not_depend_on_the_unit(apart: float):
    for unit in (1.0, 100.0):
        figure = Figure({}, "m", 5 * unit, "Table 1", (4 * unit, 6 * unit))
        ours = lone_by_rule([unit * (5 + apart + x) for x in (-0.2, -0.1, 0.0, 0.1, 0.2)])
        assert comparison_row("t", [figure], ours).verdict == (
            "different" if apart else "undecided"
        )
