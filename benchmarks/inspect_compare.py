"""Coverage, false positives and planned sizes of `sally compare` on logs with a known effect.

Samples come in stories; models differ by an effect, and each story favours one of them by chance,
so differences within a story are alike. The naive interval (Welch, unpaired) stands beside ours.

    python -m benchmarks.inspect_compare [SIMULATIONS] [--first N] [--workers N] [--json]
    python -m benchmarks.inspect_compare 1500 --only-false-positives

Settings: stories that favour a model not at all, somewhat or much; stories of unequal size; eight
stories; scores of 0 and 1, many of which are ties. A planned size is what two pilot logs of 40
stories ask for to find a difference of 0.3 with a power of 0.8; logs of that size are then
compared. Rates have a standard error of `sqrt(rate (1 - rate) / n)`: with 200 simulations, a true
rate of .05 is seen above .06 in one setting of five, so that several hundred are needed to judge
it. `--first` continues an earlier series.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Hashable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import NamedTuple

import numpy as np

from sally.adapters.inspect.compare_logs import LogScores, _adjust_p_values, _compare_pair
from sally.stats.paired_differences import sign_flip_test
from sally.stats.power import t_sample_size

EFFECT = 0.3


class Setting(NamedTuple):
    """What the simulated logs are like."""

    name: str
    favour: float  # standard deviation of what a story favours one model by
    stories: int = 40
    is_uneven: bool = False  # stories of 1 to 9 samples instead of 5 each
    is_graded: bool = False  # scores of 0 and 1


SETTINGS = (
    Setting("story effect 0", 0.0),
    Setting("story effect 0.5", 0.5),
    Setting("story effect 1.0", 1.0),
    Setting("uneven stories", 0.5, is_uneven=True),
    Setting("eight stories", 0.5, stories=8),
    Setting("scores of 0 and 1", 0.5, is_graded=True),
)


class Outcome(NamedTuple):
    """What one simulation gave, as counts."""

    covered: int = 0  # of two: without an effect and with one
    false_positives: int = 0
    naive_covered: int = 0
    naive_false_positives: int = 0
    planned: int = 0  # whether the comparison of the planned size found the effect
    planned_stories: int = 0


def simulate_logs(
    rng: np.random.Generator, effect: float, setting: Setting, stories: int
) -> tuple[LogScores, LogScores]:
    """Return two logs of the same samples, the first better by `effect` on a unit scale."""
    sizes = rng.integers(1, 10, stories) if setting.is_uneven else np.full(stories, 5)
    story = np.repeat(np.arange(stories), sizes)
    n = story.size
    hardness = rng.normal(0, 1, n)  # of a sample, for both
    favour = rng.normal(0, setting.favour, stories)[story]
    first = hardness + effect + favour + rng.normal(0, 0.5, n)
    second = hardness + rng.normal(0, 0.5, n)
    if setting.is_graded:
        first, second = (first > 0).astype(float), (second > 0).astype(float)
    units = tuple((str(k), 1) for k in range(n))
    clusters: dict[str, Hashable] = {str(k): int(story[k]) for k in range(n)}
    logs = [
        LogScores(
            label=name,
            task="simulated",
            planned=units,
            values={"score": dict(zip(units, values.tolist(), strict=True))},
            graded=frozenset({"score"} if setting.is_graded else ()),
            clusters=clusters,
            inputs={},
            failed=frozenset(),
        )
        for name, values in (("first", first), ("second", second))
    ]
    return logs[0], logs[1]


def true_effect(setting: Setting, effect: float) -> float:
    """Return the expected difference of scores."""
    if not setting.is_graded:
        return effect
    # both thresholds are at 0; hardness, noise and favour are independent and normal
    deviation = math.sqrt(1 + 0.25 + setting.favour**2)
    return 0.5 * math.erf(effect / deviation / math.sqrt(2))


def simulate(number: int, setting: Setting) -> Outcome:
    """Return the outcome of one simulation: comparisons without and with an effect, and one of the
    size that a pilot plans."""
    counts = dict.fromkeys(Outcome._fields, 0)
    for effect in (0.0, EFFECT):
        rng = np.random.default_rng((number, round(100 * effect), SETTINGS.index(setting)))
        pilot = simulate_logs(rng, effect, setting, setting.stories)
        row = _adjust_p_values([_compare_pair(*pilot, "score", "story", None, number)])[0]
        low, high = row.difference.low, row.difference.high
        unpaired_low, unpaired_high = row.unpaired.low, row.unpaired.high
        assert (
            low is not None
            and high is not None
            and unpaired_low is not None
            and unpaired_high is not None
        )
        truth = true_effect(setting, effect)
        counts["covered"] += low <= truth <= high
        counts["naive_covered"] += unpaired_low <= truth <= unpaired_high
        if effect == 0:
            counts["false_positives"] += row.p_holm is not None and row.p_holm < 0.05
            counts["naive_false_positives"] += not unpaired_low <= 0 <= unpaired_high
        elif row.deviation:
            stories = t_sample_size(truth, row.deviation**2)
            larger = simulate_logs(rng, effect, setting, stories)
            planned_row = _adjust_p_values(
                [_compare_pair(*larger, "score", "story", None, number)]
            )[0]
            counts["planned"] += planned_row.p_holm is not None and planned_row.p_holm < 0.05
            counts["planned_stories"] += stories
    return Outcome(**counts)


def false_positive(number: int, setting: Setting) -> bool:
    """Return whether the test finds a difference where there is none; the same simulation and p
    value as in `simulate`, without intervals and sizes."""
    rng = np.random.default_rng((number, 0, SETTINGS.index(setting)))
    first, second = simulate_logs(rng, 0.0, setting, setting.stories)
    scores = [np.array([*log.values["score"].values()]) for log in (first, second)]
    clusters = [*first.clusters.values()]
    return sign_flip_test(scores[0] - scores[1], clusters=clusters, seed=number) < 0.05


def main() -> None:
    """Print a line for each setting."""
    parser = argparse.ArgumentParser()
    parser.add_argument("simulations", type=int, nargs="?", default=200)
    parser.add_argument("--first", type=int, default=0, help="number of the first simulation")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--only-false-positives", action="store_true", help="the quick part")
    options = parser.parse_args()
    n, rows = options.simulations, []
    numbers = range(options.first, options.first + n)
    if options.only_false_positives:
        for setting in SETTINGS:
            share = sum(false_positive(number, setting) for number in numbers) / n
            print(f"{setting.name}: {share:.3f} of {n}", flush=True)
        return
    if not options.json:
        print(f"{n} simulations of each setting; true differences 0 and {EFFECT}")
        print(
            "setting           | covered | false positives | found by planned size (stories) | "
            "naive covered | naive false positives"
        )
    with ProcessPoolExecutor(options.workers) as pool:
        for setting in SETTINGS:
            run = partial(simulate, setting=setting)
            outcomes = list(pool.map(run, numbers, chunksize=20)) if options.workers > 1 else [
                run(number) for number in numbers
            ]  # fmt: skip
            sums = Outcome(*map(sum, zip(*outcomes, strict=True)))
            row = {
                "setting": setting.name,
                "simulations": n,
                "covered": sums.covered / 2 / n,
                "false_positives": sums.false_positives / n,
                "planned_power": sums.planned / n,
                "planned_stories": sums.planned_stories / n,
                "naive_covered": sums.naive_covered / 2 / n,
                "naive_false_positives": sums.naive_false_positives / n,
            }
            rows.append(row)
            if not options.json:
                print(
                    f"{setting.name:17} | {row['covered']:7.3f} | {row['false_positives']:15.3f} | "
                    f"{row['planned_power']:22.3f} ({row['planned_stories']:5.1f}) | "
                    f"{row['naive_covered']:13.3f} | {row['naive_false_positives']:21.3f}",
                    flush=True,
                )
    if options.json:
        print(json.dumps(rows))


if __name__ == "__main__":
    main()
