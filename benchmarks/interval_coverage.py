"""How often do 95% intervals cover the truth of simulated players?

    python -m benchmarks.interval_coverage [--runs 500] [--workers 8] [--only NAME] [--json]

Intervals: label bias, and position bias, which is computed by the same function; acting by contrast
of players that follow a share of their forecasts; acting beyond habits; knowing beyond learning
rules, whose interval includes the choice of the best rule; reliability of reports, and knowing and
acting corrected for it; the slope of moves on a stated forecast (in the suite of pairs, and in the
study `causal_acting`, with its forecasts, labels and differences); J of predictions on pairs; the
mean of J over games. Players differ between instances, episodes or pairs, which are the clusters. A
coverage of .93 to .97 is as wanted; the standard error of a coverage is .01 with 500 runs.
"""

from __future__ import annotations

import argparse
import multiprocessing
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any

import msgspec
import numpy as np
from numpy.random import Generator

import sally
from sally.analysis.pairs.evaluation import PairRecord, StatedMove, summarize_records
from sally.analysis.pairs.told import InformedDecision, difference_of, slope_of
from sally.analysis.profile.estimates import Means
from sally.analysis.profile.habits import habit_estimates, key_presses, same_key_estimate
from sally.analysis.profile.knowing_scale import skills
from sally.analysis.profile.retest import retest_estimates
from sally.frames.knowing import AGAIN, MIRROR, Knowing
from sally.frames.measured_seat import Acting, MeasuredSeat, measure_episode
from sally.frames.profiles import SeatSums
from sally.metrics.consistency import ForecastFit, contrast_of
from sally.metrics.habits import KeyPress, habits_of
from sally.metrics.retest import Retest
from sally.parts.simple_rules import LAST, OWN_LAST, RULES
from sally.stats.cluster_interval import ratio_by_rule
from sally.stats.intervals import Estimate
from sally.stats.pairs import mean_of_games, outcome_of, score_pairs

MOVES, OPTIONS = 10, 3
INFORMANT = 0.8  # its reliability
INFORMED: Mapping[str, Callable[[float], float]] = {  # field of a slope -> its true value
    "slope": lambda share: share,
    "forecast": lambda share: (1 + share) / 2,
    "same_label": lambda share: share,
    "repeats": lambda share: 0.0,
}
KNOWS, ACTS = 0.6, 0.7  # of players that are asked twice
FORECASTS = (0.5, 0.3, 0.2)  # chances of the moves that are forecast, or true
Simulate = Callable[[Generator], Estimate]


class Case(msgspec.Struct, frozen=True):
    """One simulated player: the interval, how many clusters it has, and the true value."""

    measure: str
    clusters: int
    truth: float
    simulate: Simulate


def press_keys(shares: tuple[float, ...], instances: int, chance: Generator) -> Estimate:
    """Return the label bias of a player whose mean shares of keys vary over instances."""
    rows = []
    for _ in range(instances):
        counts = chance.multinomial(MOVES, chance.dirichlet(5 * np.array(shares))).tolist()
        rows.append(
            {f"label {key} of x": (len(shares), MOVES, n, 0) for key, n in enumerate(counts)}
        )
    return same_key_estimate(key_presses(rows, range(instances), "label"), np.arange(instances))


def follow_forecasts(share: float, episodes: int, chance: Generator) -> Estimate:
    """Return acting by contrast of a player that follows about this share of its forecasts."""
    counts, contrasts = [], []
    for _ in range(episodes):
        own_share = chance.beta(4 * share, 4 * (1 - share)) if 0 < share < 1 else share
        fits = []
        for _ in range(MOVES):
            forecast = int(chance.integers(OPTIONS))
            best = (forecast + 1) % OPTIONS
            move = best if chance.random() < own_share else int(chance.integers(OPTIONS))
            fits.append(ForecastFit(move, frozenset({best}), OPTIONS))
        contrasted, contrast = contrast_of(fits)
        counts.append(contrasted)
        contrasts.append(contrast)
    return ratio_by_rule(contrasts, counts, range(episodes), (-1.0, 1.0))


def choose_rule(rates: tuple[float, ...], right: float, n: int, chance: Generator) -> Estimate:
    """Return knowing beyond learning rules of a player that is right at this rate, where the simple
    rules are right at these rates, both with differences between instances."""
    seats = []
    for _ in range(n):
        shares = [chance.beta(6 * rate, 6 * (1 - rate)) for rate in (*rates, right)]
        *hits, own_hits = chance.binomial(MOVES, shares).tolist()
        rules = dict(zip(RULES, hits, strict=True))
        truths = chance.multinomial(MOVES, [1 / OPTIONS] * OPTIONS).tolist()
        knowing = Knowing(
            asked=MOVES,
            scored=MOVES,
            right=own_hits,
            guess=MOVES / OPTIONS,
            mindless={AGAIN: rules[LAST], MIRROR: rules[OWN_LAST]},
            rules=rules,
            truths={f"probe\t{option}": count for option, count in enumerate(truths)},
        )
        seats.append({"knowing": knowing})
    return skills(means_of(seats)).beyond_learning


def draw_forecast(chance: Generator) -> int:
    """Return one of three moves, with the chances `FORECASTS`."""
    return int(np.searchsorted(np.cumsum(FORECASTS)[:-1], chance.random(), side="right"))


def act_beyond_habits(share: float, favourite: float, n: int, chance: Generator) -> Estimate:
    """Return acting beyond habits of a player that follows a share of its forecasts, and else
    presses its favourite key this often."""
    seats = []
    labels, places = tuple("ABC"[:OPTIONS]), tuple(range(OPTIONS))
    for _ in range(n):
        own_share = chance.beta(4 * share, 4 * (1 - share)) if 0 < share < 1 else share
        presses = []
        for turn in range(MOVES):
            forecast = draw_forecast(chance)
            best = (forecast + 1) % OPTIONS
            habit = 0 if chance.random() < favourite else int(chance.integers(OPTIONS))
            move = best if chance.random() < own_share else habit
            last = {LAST: int(chance.integers(OPTIONS))} if turn else {}
            presses.append(KeyPress(turn, move, labels, places, forecast, last, (best,), True))
        seats.append({"habits": habits_of(presses)})
    return habit_estimates(means_of(seats)).acting_beyond


def report_twice(measure: str, noise: float, n: int, chance: Generator) -> Estimate:
    """Return a measure of a player whose reports are random answers with this chance; it believes
    the truth in a share `KNOWS` of rounds and follows a share `ACTS` of its beliefs."""
    seats = []
    for _ in range(n):
        knows, acts = (chance.beta(8 * share, 8 * (1 - share)) for share in (KNOWS, ACTS))
        fits, second_fits, right, n_same = [], [], 0, 0
        for _ in range(MOVES):
            truth = draw_forecast(chance)
            belief = truth if chance.random() < knows else int(chance.integers(OPTIONS))
            first, second = (
                int(chance.integers(OPTIONS)) if chance.random() < noise else belief
                for _ in range(2)
            )
            random_move = int(chance.integers(OPTIONS))
            move = (belief + 1) % OPTIONS if chance.random() < acts else random_move
            best = frozenset({(first + 1) % OPTIONS})
            fits.append(ForecastFit(move, best, OPTIONS))
            second_fits.append(ForecastFit((second + 1) % OPTIONS, best, OPTIONS))
            right, n_same = right + (first == truth), n_same + (first == second)
        contrasted, contrast = contrast_of(fits)
        retested, retest_contrast = contrast_of(second_fits)
        even = MOVES / OPTIONS
        seats.append(
            {
                "knowing": Knowing(asked=MOVES, scored=MOVES, right=right, guess=even),
                "acting": Acting(forecasts=MOVES, contrasted=contrasted, contrast=contrast),
                "retest": Retest(MOVES, n_same, even, retested, retest_contrast),
            }
        )
    estimate: Estimate = getattr(retest_estimates(means_of(seats)), measure)
    return estimate


@cache
def template() -> MeasuredSeat:
    """Return a measured seat whose sums are replaced by simulated ones."""
    episode = sally.play("rps", {"agent": "random", "partner": "random"}, rounds=1)
    return measure_episode(episode, ("agent",))[0]


def means_of(seats: Sequence[Mapping[str, Any]]) -> Means:
    """Return simulated seats, each in an instance of its own."""
    setup, measured = template().setup, []
    for number, sums in enumerate(seats):
        problem = msgspec.structs.replace(setup.instance, id=str(number))
        own_setup = msgspec.structs.replace(setup, instance=problem)
        measured.append(msgspec.structs.replace(template(), setup=own_setup, **sums))
    return Means(SeatSums.of_seats(measured))


def follow_statements(slope: float, pairs: int, chance: Generator) -> Estimate:
    """Return the slope of moves on a forecast that is true by a coin."""
    records = []
    for number in range(pairs):
        base = chance.uniform(0.0, 1.0 - slope)  # pairs differ in how easy they are
        stated = []
        for _ in range(2):
            is_true = bool(chance.random() < 0.5)
            is_right = bool(chance.random() < base + slope * is_true)
            stated.append(StatedMove(str(number), is_true, is_right))
        records.append(PairRecord("told", "rps", 2, None, tuple(stated)))
    (effect,) = summarize_records(records, ("rps",)).arms
    assert effect.difference is not None
    return effect.difference


def follow_informant(measure: str, share: float, positions: int, chance: Generator) -> Estimate:
    """Return a slope on the statements of an informant, by the name of its field."""
    estimate = getattr(slope_of(informed_decisions(share, positions, chance)), measure)
    assert isinstance(estimate, Estimate)
    return estimate


def follow_one_informant(share: float, positions: int, chance: Generator) -> Estimate:
    """Return the slope less that of a control whose statements have no effect."""
    groups = (informed_decisions(follows, positions, chance) for follows in (share, 0.0))
    estimate = difference_of(*groups).slope
    assert estimate is not None
    return estimate


def informed_decisions(share: float, positions: int, chance: Generator) -> list[InformedDecision]:
    """Return the decisions of a player that follows statements with a probability that differs
    between positions, and reports them with a larger one; else it has a habit, which also
    differs."""
    decisions = []
    for number in range(positions):
        own_share = chance.beta(4 * share, 4 * (1 - share)) if 0 < share < 1 else share
        habit, is_same = chance.uniform(), number % 2 == 0
        is_true = bool(chance.random() < INFORMANT)
        for stated in (0, 1):
            best = stated if is_same else 1 - stated
            move = best if chance.random() < own_share else int(chance.random() < habit)
            is_taken_in = chance.random() < (1 + own_share) / 2
            forecast = stated if is_taken_in else int(chance.random() < habit)
            decisions.append(
                InformedDecision("x", "told", INFORMANT, str(number), stated, is_true, (best,),
                                 (best,), is_same, move, forecast, True)
            )  # fmt: skip
    return decisions


def know_pairs(share: float, pairs: int, chance: Generator) -> Estimate:
    """Return J of a player that knows a share of the pairs and guesses in the others."""
    outcomes = []
    for _ in range(pairs):
        answers = (0, 1) if chance.random() < share else tuple(chance.integers(OPTIONS, size=2))
        outcomes.append(outcome_of(answers, ((0,), (1,))))
    return score_pairs(outcomes).j


def know_games(share: float, pairs: int, chance: Generator) -> Estimate:
    """Return the mean of J over ten games."""
    mean = mean_of_games([know_pairs(share, pairs, chance) for _ in range(10)])
    assert mean is not None
    return mean


def learning_cases() -> Iterator[Case]:
    """Yield players whose predictions are compared with the best of all simple rules."""
    best = 0.6
    for name, others, right in (("far", 0.4, 0.8), ("near", 0.57, best), ("near", 0.57, 0.8),
                                ("equal", best, 0.8)):  # fmt: skip
        rates = (others,) * (len(RULES) - 1) + (best,)
        truth = (right - best) / (1 - best)
        for n in (12, 60):
            simulate = partial(choose_rule, rates, right, n)
            yield Case(f"beyond learning rules, others {name}", n, truth, simulate)


HABITS = ((0.0, 0.0), (0.0, 0.8), (0.5, 0.5), (0.8, 0.5))  # share of forecasts, of one key


def true_beyond_habits(share: float, favourite: float) -> float:
    """Return what `act_beyond_habits` estimates."""
    forecasts = np.array(FORECASTS)
    best = np.roll(forecasts, 1)  # how often each move is the best reply
    habit = favourite * np.eye(OPTIONS)[0] + (1 - favourite) / OPTIONS
    fits = share + (1 - share) * float(habit @ best)
    one_key = float((share * best + (1 - share) * habit) @ best)
    imitation = (1 - (1 - share) * float(habit @ forecasts)) / (OPTIONS - 1)
    explained = max(1 / OPTIONS, one_key, imitation)
    return (fits - explained) / (1 - explained)


def habit_cases() -> Iterator[Case]:
    """Yield players with habits."""
    for share, favourite in HABITS:
        truth = true_beyond_habits(share, favourite)
        for n in (12, 60):
            yield Case("beyond habits", n, truth, partial(act_beyond_habits, share, favourite, n))


def retest_cases() -> Iterator[Case]:
    """Yield players that are asked twice."""
    for noise in (0.1, 0.3):
        truths = {"reliability": (1 - noise) ** 2, "skill": KNOWS, "acting": ACTS}
        for measure, truth in truths.items():
            name = measure if measure == "reliability" else f"{measure}, corrected"
            for n in (12, 60):
                yield Case(name, n, truth, partial(report_twice, measure, noise, n))


def list_cases() -> list[Case]:
    """Return every simulated player."""
    cases = [*learning_cases(), *habit_cases(), *retest_cases()]
    for shares in ((0.5, 0.5), (0.6, 0.4), (0.9, 0.1), (0.5, 0.3, 0.2), (1 / 3, 1 / 3, 1 / 3)):
        even = 1 / len(shares)
        truth = (sum(share**2 for share in shares) - even) / (1 - even)
        cases += [
            Case("label bias", n, truth, partial(press_keys, shares, n)) for n in (12, 36, 100)
        ]
    for share in (0.0, 0.3, 0.7):
        cases += [
            Case("acting by contrast", n, share, partial(follow_forecasts, share, n))
            for n in (12, 36, 100)
        ]
        cases += [
            Case("slope told", n, share, partial(follow_statements, share, n))
            for n in (20, 100, 400)
        ]
        for measure, truth_of in INFORMED.items():
            cases += [
                Case(f"informant: {measure}", n, truth_of(share),
                     partial(follow_informant, measure, share, n))
                for n in (24, 96)
            ]  # fmt: skip
        cases += [
            Case("informant: less control", n, share, partial(follow_one_informant, share, n))
            for n in (24, 96)
        ]
        cases += [Case("J", n, share, partial(know_pairs, share, n)) for n in (24, 100)]
        cases.append(Case("mean J of ten games", 24, share, partial(know_games, share, 24)))
    return cases


class Coverage(msgspec.Struct, frozen=True):
    """How often the interval of a case covered, and how far the estimates were from the truth."""

    measure: str
    clusters: int
    truth: float
    covered: float
    bias: float
    half_width: float
    blank: int  # runs without an interval


def measure_coverage(runs: int, number: int) -> Coverage:
    """Return the coverage of one case."""
    case = list_cases()[number]
    chance = np.random.default_rng([number, runs])
    covered, values, widths = 0, [], []
    for _ in range(runs):
        estimate = case.simulate(chance)
        if estimate.interval is None:  # the reliability of the reports is not above 0
            continue
        low, high = estimate.interval
        covered += low - 1e-9 <= case.truth <= high + 1e-9
        values.append(estimate.value)
        widths.append((high - low) / 2)
    bias = float(np.mean(values)) - case.truth
    share, half_width = covered / len(values), float(np.mean(widths))
    return Coverage(
        case.measure, case.clusters, case.truth, share, bias, half_width, runs - len(values)
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--only", default="", help="intervals whose name begins with this")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    measure = partial(measure_coverage, options.runs)
    numbers = [n for n, case in enumerate(list_cases()) if case.measure.startswith(options.only)]
    if not numbers:
        parser.error(f"no interval's name begins with {options.only!r}")
    if options.workers > 1:
        with multiprocessing.get_context("spawn").Pool(options.workers) as pool:
            rows = pool.map(measure, numbers)
    else:
        rows = list(map(measure, numbers))
    if options.json:
        print(msgspec.json.encode(rows).decode())
        return
    print(
        "| interval | clusters | truth | covered | bias | half width | blank |\n"
        "|---|---|---|---|---|---|---|"
    )
    for row in rows:
        print(
            f"| {row.measure} | {row.clusters} | {row.truth:.2f} | {row.covered:.3f} | "
            f"{row.bias:+.3f} | {row.half_width:.2f} | {row.blank} |"
        )


if __name__ == "__main__":
    main()
