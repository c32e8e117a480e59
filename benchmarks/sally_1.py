"""Reliability of Sally-1 on bots of known skill: is the order of twelve graded bots recovered?

The best bot of each game errs in 0, 1/11, ..., 11/11 of its moves and answers (the last one is the
random player). Each bot plays the asked arm twice: with the seed of the suite and with another one.
For every game and measure the script prints Kendall's tau between skill and score, the correlation
of the two sessions (retest), and that of odd and even problems, stepped up to the whole (split
halves). It also writes the standard deviations of differences between neighbouring bots, from
which `sally evaluate --plan` computes what each size can tell apart.

    python benchmarks/sally_1.py [--size S] [--size M] [--spreads]
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
from scipy.stats import kendalltau

from sally.analysis.evaluation import ASKED, measured_of
from sally.analysis.profile.baselines import Baseline, baselines
from sally.analysis.profile.doing_scale import BaselineScores, tops
from sally.analysis.profile.profile import profile_of
from sally.frames.frame import as_frame
from sally.frames.profiles import SeatSums
from sally.runner.local import orders, play
from sally.studies.sally_1 import GAMES, SPREADS, Size, noisy, with_bot

ERRORS = tuple(n / 11 for n in range(12))
SESSIONS = (1, 2)
RECORDS = Path(__file__).parents[1] / "sally" / "studies" / "records"
MEASURES = {"knowing": "skill", "acting on it": "acting", "doing": "doing"}


def play_bot(error: float, size: Size, seed: int, game: str) -> list:
    """Play the asked arm of one game with one bot."""
    study = msgspec.structs.replace(with_bot(noisy(error), size), seed=seed)
    cells = tuple(
        c for c in study.cells if c.factors["arm"] == ASKED and c.instances[0].game == game
    )
    study = msgspec.structs.replace(study, cells=cells)
    return [play(setup, cell) for _, cell, setup in orders(study)]


def score_measures(table: SeatSums, ends: Sequence[Baseline]) -> dict[str, float | None]:
    """Return each measure of the profile for some measured seats."""
    (row,) = profile_of(table, ends, name_of=lambda player: "bot")
    return {name: getattr(row, field).value for name, field in MEASURES.items()}


def instances(table: SeatSums) -> list[str]:
    """Return the name of the problem of each row."""
    return [str(name) for name in table.rows["instance"].to_list()]


def score_problems(table: SeatSums, ends: Sequence[Baseline]) -> dict[str, dict[str, float]]:
    """Return knowing and doing of every problem, on the scales of the profile."""
    scores = BaselineScores(ends)
    low, high = scores.levels("random", table), tops(scores, table)
    scored, right, guess, lowest = map(table.of, ("scored", "right", "guess", "least"))
    by_measure: dict[str, dict[str, float]] = {"knowing": {}, "doing": {}}
    for n, problem in enumerate(zip(instances(table), table.repeats.tolist(), strict=True)):
        key = " ".join(map(str, problem))
        if scored[n] > guess[n]:
            by_measure["knowing"][key] = (right[n] - guess[n]) / (scored[n] - guess[n])
        if lowest[n] == lowest[n] and high[n] > low[n]:
            by_measure["doing"][key] = (lowest[n] - low[n]) / (high[n] - low[n])
    return by_measure


def stepped_up(r: float) -> float:
    """Return the reliability of the whole from that of its halves (Spearman and Brown)."""
    return 2 * r / (1 + r)


def correlation(first, second) -> float | None:
    pairs = [(a, b) for a, b in zip(first, second, strict=True) if a is not None and b is not None]
    if len(pairs) < 3:
        return None
    a, b = np.array(pairs).T
    return None if not a.std() or not b.std() else float(np.corrcoef(a, b)[0, 1])


def measure(size: Size, game: str) -> tuple[list[dict], dict[str, float]]:
    """Return tau, retest and split halves of every measure, and the deviations of differences."""
    by_session: dict[int, list[dict]] = {}
    halves: tuple[list[dict], list[dict]] = ([], [])
    problems = []
    for seed in SESSIONS:
        ends = None
        for error in ERRORS:
            table = measured_of(as_frame(play_bot(error, size, seed, game)))
            ends = ends if ends is not None else baselines(table, False)
            by_session.setdefault(seed, []).append(score_measures(table, ends))
            if seed == SESSIONS[0]:
                names = instances(table)
                ordered = sorted(set(names))
                for half, half_names in enumerate((ordered[::2], ordered[1::2])):
                    half_table = table.take(np.isin(names, half_names))
                    halves[half].append(score_measures(half_table, ends))
                problems.append(score_problems(table, ends))
    rows = []
    for name in MEASURES:
        first, second = ([bot[name] for bot in by_session[seed]] for seed in SESSIONS)
        if any(value is None for value in first):
            continue
        odd, even = ([bot[name] for bot in half] for half in halves)
        tau = [float(kendalltau(values, [-e for e in ERRORS]).statistic)
               for values in (first, second) if None not in values]  # fmt: skip
        split = correlation(odd, even)
        rows.append(
            {"size": size, "game": game, "measure": name, "tau": tau[0], "tau_2": tau[-1],
             "retest": correlation(first, second),
             "split_half": None if split is None else stepped_up(split)}
        )  # fmt: skip
    spread = {}
    for name in ("knowing", "doing"):
        variances = []
        for first_bot, second_bot in zip(
            problems, problems[2:], strict=False
        ):  # 2/11 of skill apart
            shared_problems = first_bot[name].keys() & second_bot[name].keys()
            if len(shared_problems) > 2:
                moved = [first_bot[name][k] - second_bot[name][k] for k in sorted(shared_problems)]
                variances.append(np.var(moved, ddof=1))
        if variances and np.mean(variances) > 0:
            spread[name] = float(np.sqrt(np.mean(variances)))
    return rows, spread


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", action="append", choices=["S", "M", "L"])
    parser.add_argument("--game", action="append", choices=GAMES)
    parser.add_argument("--spreads", action="store_true", help="write the deviations")
    options = parser.parse_args()
    spreads: dict[str, dict[str, float]] = {"knowing": {}, "doing": {}}
    for size in options.size or ["S"]:
        for game in options.game or GAMES:
            began = time.process_time()
            rows, spread = measure(size, game)
            for row in rows:
                print(json.dumps(row), flush=True)
            print(f"{size} {game}: {time.process_time() - began:.0f} s of one core",
                  file=sys.stderr, flush=True)  # fmt: skip
            for name, value in spread.items():
                spreads[name][game] = round(value, 3)
    if options.spreads:
        text = json.dumps(spreads, indent=1)
        (RECORDS / SPREADS).write_text(text + "\n", "utf-8")
    print(json.dumps(spreads), file=sys.stderr)


if __name__ == "__main__":
    main()
