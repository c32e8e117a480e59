"""How well a profile finds dialled knowledge and action again: `python -m benchmarks.recovery`.

Fresh episodes for every sample, every family with best replies, the corners of both dials. Prints
the bias of both estimates and how many of their 95% intervals hold the truth.
"""

from __future__ import annotations

import sys
from itertools import product

from sally.analysis.profile.profile import profile_of
from sally.frames.measured_seat import measure_episode
from sally.frames.profiles import SeatSums
from tests.analysis.dialled import families

SAMPLE = 40  # episodes
DIALS = (0.2, 0.5, 0.8)


def main(runs: int = 200, only: str = "") -> None:
    """One line for each family and pair of dials."""
    print("family, knows, acts: mean of both, share of intervals that hold each")
    for name, family in families().items():
        for knows, acts in product(DIALS, DIALS) if not only or only == name else ():
            sums, covered = [0.0, 0.0], [0, 0]
            for run in range(runs):
                seeds = range(run * SAMPLE, (run + 1) * SAMPLE)
                played = (family.played(seed, knows, acts) for seed in seeds)
                measured = (
                    m for episode in played for m in measure_episode(episode, (family.seat,))
                )
                (row,) = profile_of(SeatSums.of_seats(measured))
                for n, (estimate, truth) in enumerate(((row.skill, knows), (row.acting, acts))):
                    sums[n] += estimate.value or 0.0
                    covered[n] += (estimate.low or 0.0) <= truth <= (estimate.high or 0.0)
            means, shares = ([x / runs for x in pair] for pair in (sums, covered))
            figures = " ".join(f"{x:.3f}" for x in (*means, *shares))
            print(f"{name}, {knows}, {acts}: {figures}")


if __name__ == "__main__":
    main(*(int(x) if x.isdigit() else x for x in sys.argv[1:]))  # type: ignore[arg-type]
