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
from pathlib import Path

import msgspec
import numpy as np
from scipy.stats import kendalltau

from sally.analysis.evaluation import ASKED, measured_of
from sally.analysis.profile.baselines import baselines
from sally.analysis.profile.doing_scale import BaselineScores
from sally.analysis.profile.profile import profile_of
from sally.runner.local import orders, play
from sally.studies.sally_1 import GAMES, SPREADS, noisy, with_bot

ERRORS = tuple(n / 11 for n in range(12))
SESSIONS = (1, 2)
RECORDS = Path(__file__).parents[1] / "sally" / "studies" / "records"
MEASURES = {"knowing": "skill", "acting on it": "acting", "doing": "doing"}


def played(error: float, size: str, seed: int, game: str) -> list:
    """Play the asked arm of one game with one bot."""
    study = msgspec.structs.replace(with_bot(noisy(error), size), seed=seed)
    cells = tuple(
        c for c in study.cells if c.factors["arm"] == ASKED and c.instances[0].game == game
    )
    study = msgspec.structs.replace(study, cells=cells)
    return [play(setup, cell) for _, cell, setup in orders(study)]


def scores(seats, ends) -> dict[str, float | None]:
    """Return each measure of the profile for some measured seats."""
    (row,) = profile_of(seats, ends, name_of=lambda who: "bot")
    return {name: getattr(row, field).value for name, field in MEASURES.items()}


def per_problem(seats, top: dict[str, tuple[float, float]]) -> dict[str, dict[str, float]]:
    """Return knowing and doing of every problem, on the scales of the profile."""
    found: dict[str, dict[str, float]] = {"knowing": {}, "doing": {}}
    for m in seats:
        key = f"{m.setup.instance.id} {m.setup.repeat}"
        if m.knowing.scored:
            guess = m.knowing.guess / m.knowing.scored
            right = m.knowing.right / m.knowing.scored
            found["knowing"][key] = (right - guess) / (1 - guess)
        low, high = top.get(m.alike, (0.0, 0.0))
        if m.least is not None and high > low:
            found["doing"][key] = (m.least - low) / (high - low)
    return found


def ends_of(ends) -> dict[str, tuple[float, float]]:
    """Return the random player's expected score and the optimum, by problem and opponents."""
    met, low = BaselineScores(ends), {}
    high: dict[str, list[float]] = {}
    stored = [(end.role, end.table.row(n)) for end in ends for n in end.rows.tolist()]
    for role, m in stored + [(end.role, m) for end in ends for m, _ in end.played]:
        if m.alike not in low and (expected := met.level("random", m)) is not None:
            low[m.alike] = expected
        if m.optimum is not None:
            high.setdefault(m.alike, []).append(m.optimum)
        elif role == "reference" and m.least is not None:
            high.setdefault(m.alike, []).append(m.least)
    return {key: (low[key], float(np.max(high[key]))) for key in low.keys() & high.keys()}


def stepped_up(r: float) -> float:
    """Return the reliability of the whole from that of its halves (Spearman and Brown)."""
    return 2 * r / (1 + r)


def correlation(one, two) -> float | None:
    pairs = [(a, b) for a, b in zip(one, two, strict=True) if a is not None and b is not None]
    if len(pairs) < 3:
        return None
    a, b = np.array(pairs).T
    return None if not a.std() or not b.std() else float(np.corrcoef(a, b)[0, 1])


def measure(size: str, game: str) -> tuple[list[dict], dict[str, float]]:
    """Return tau, retest and split halves of every measure, and the deviations of differences."""
    by_session: dict[int, list[dict]] = {}
    halves: tuple[list[dict], list[dict]] = ([], [])
    problems = []
    for seed in SESSIONS:
        ends = None
        for error in ERRORS:
            seats = measured_of(played(error, size, seed, game))
            ends = ends if ends is not None else baselines(seats, False)
            by_session.setdefault(seed, []).append(scores(seats, ends))
            if seed == SESSIONS[0]:
                ordered = sorted({m.setup.instance.id for m in seats})
                for half, kept in enumerate((set(ordered[::2]), set(ordered[1::2]))):
                    halves[half].append(
                        scores([m for m in seats if m.setup.instance.id in kept], ends)
                    )
                problems.append(per_problem(seats, ends_of(ends)))
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
        for one, two in zip(problems, problems[2:], strict=False):  # 2/11 of skill apart
            both = one[name].keys() & two[name].keys()
            if len(both) > 2:
                moved = [one[name][k] - two[name][k] for k in sorted(both)]
                variances.append(np.var(moved, ddof=1))
        if variances and np.mean(variances) > 0:
            spread[name] = float(np.sqrt(np.mean(variances)))
    return rows, spread


def main() -> None:
    asked = argparse.ArgumentParser()
    asked.add_argument("--size", action="append", choices=["S", "M", "L"])
    asked.add_argument("--game", action="append", choices=GAMES)
    asked.add_argument("--spreads", action="store_true", help="write the deviations")
    given = asked.parse_args()
    spreads: dict[str, dict[str, float]] = {"knowing": {}, "doing": {}}
    for size in given.size or ["S"]:
        for game in given.game or GAMES:
            began = time.process_time()
            rows, spread = measure(size, game)
            for row in rows:
                print(json.dumps(row), flush=True)
            print(f"{size} {game}: {time.process_time() - began:.0f} s of one core",
                  file=sys.stderr, flush=True)  # fmt: skip
            for name, value in spread.items():
                spreads[name][game] = round(value, 3)
    if given.spreads:
        text = json.dumps(spreads, indent=1)
        (RECORDS / SPREADS).write_text(text + "\n", "utf-8")
    print(json.dumps(spreads), file=sys.stderr)


if __name__ == "__main__":
    main()
