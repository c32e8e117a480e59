"""Are true copies of a published value called different, and are planted differences found?

    python -m benchmarks.true_copies [--runs 2000] [--json]

A paper prints a mean without an error; we play the same player (a copy), or one whose mean lies a
quarter of the range away (planted). Three kinds of episodes: won or lost, the mean of five answers,
and a share that is skewed towards 0. The error of the printed value comes from its n; without an n,
every comparison is undecided.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from sally.analysis.compare.agreement import agreement
from sally.analysis.compare.published_figures import Figure
from sally.stats.cluster_interval import lone_by_rule

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator, float, int], Floats]  # (chance, mean, n) -> episodes
PLANTED, DIGITS = 0.25, 3
OURS, THEIRS = (30, 100, 1000), (20, 60, 300)
MEANS = (0.1, 0.3, 0.5)


def draw_wins(chance: np.random.Generator, mean: float, n: int) -> Floats:
    return (chance.random(n) < mean).astype(float)


def draw_five_answers(chance: np.random.Generator, mean: float, n: int) -> Floats:
    return chance.binomial(5, chance.beta(2 * mean, 2 * (1 - mean), n)) / 5


def draw_skewed(chance: np.random.Generator, mean: float, n: int) -> Floats:
    return chance.beta(mean, 1 - mean, n)


KINDS: dict[str, Draw] = {
    "won or lost": draw_wins,
    "mean of five answers": draw_five_answers,
    "skewed share": draw_skewed,
}


class Outcome(msgspec.Struct, frozen=True):
    """Shares of verdicts for one kind of episodes and one pair of sample sizes."""

    kind: str
    n_ours: int
    n_theirs: int | None  # None: the paper gives no n
    copies_different: float  # over all means
    worst: float  # of one mean
    copies_equivalent: float
    planted_different: float
    planted_equivalent: float


def share_verdicts(
    draw: Draw, n_ours: int, n_theirs: int, mean: float, shift: float, runs: int, has_n: bool
) -> tuple[float, float]:
    """Return the shares of comparisons that come out different and equivalent."""
    chance = np.random.default_rng([n_ours, n_theirs, round(100 * mean), round(100 * shift)])
    verdicts = []
    for _ in range(runs):
        printed = round(float(draw(chance, mean, n_theirs).mean()), DIGITS)
        figure = Figure({}, "score", printed, "Table 1", n=n_theirs if has_n else None)
        estimate = lone_by_rule(draw(chance, mean + shift, n_ours))
        verdicts.append(agreement("t", figure, estimate, 1.0, 0.5 * 10**-DIGITS).verdict)
    return verdicts.count("different") / runs, verdicts.count("equivalent") / runs


def simulate(runs: int) -> Iterator[Outcome]:
    """Yield the outcomes of every kind and pair of sizes."""
    sizes: list[tuple[int, int | None]] = [(n_ours, n) for n_ours in OURS for n in THEIRS]
    for kind, draw in KINDS.items():
        for n_ours, n_theirs in [*sizes, (1000, None)]:
            arguments: dict[str, Any] = {"runs": runs, "has_n": n_theirs is not None}
            n = n_theirs or THEIRS[1]
            copies = [share_verdicts(draw, n_ours, n, mean, 0.0, **arguments) for mean in MEANS]
            planted = [
                share_verdicts(draw, n_ours, n, mean, PLANTED, **arguments) for mean in MEANS
            ]
            different, equivalent = (float(np.mean(shares)) for shares in zip(*copies, strict=True))
            found_share, missed = (float(np.mean(shares)) for shares in zip(*planted, strict=True))
            worst = max(share for share, _ in copies)
            yield Outcome(kind, n_ours, n_theirs, different, worst, equivalent, found_share, missed)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    outcomes = list(simulate(options.runs))
    if options.json:
        print(msgspec.json.encode(outcomes).decode())
        return
    print("| episodes | ours | the paper's | copies different (worst mean) | copies equivalent | "
          "planted different | planted equivalent |\n|---|---|---|---|---|---|---|")  # fmt: skip
    for row in outcomes:
        print(
            f"| {row.kind} | {row.n_ours} | {row.n_theirs or 'not given'} | "
            f"{row.copies_different:.3f} "
            f"({row.worst:.3f}) | {row.copies_equivalent:.2f} | {row.planted_different:.2f} | "
            f"{row.planted_equivalent:.2f} |"
        )


if __name__ == "__main__":
    main()
