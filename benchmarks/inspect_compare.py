"""Coverage and false positives of `sally compare` on logs with a known effect.

Samples come in stories; models differ by an effect, and each story favours one of them by chance,
so differences within a story are alike. The naive interval (Welch, unpaired) stands beside ours.

    python -m benchmarks.inspect_compare [SIMULATIONS]
"""

from __future__ import annotations

import sys
from collections.abc import Hashable

import numpy as np

from sally.adapters.inspect.compare_logs import LogScores, _adjust_p_values, _compare_pair

STORIES, EACH = 40, 5


def logs(rng: np.random.Generator, effect: float, shared: float) -> tuple[LogScores, LogScores]:
    """Return two logs of the same samples, the first better by `effect` on a unit scale."""
    n = STORIES * EACH
    story = np.repeat(np.arange(STORIES), EACH)
    hard = rng.normal(0, 1, n)  # how hard a sample is for both
    favour = rng.normal(0, shared, STORIES)[story]  # what a story favours
    first = hard + effect + favour + rng.normal(0, 0.5, n)
    second = hard + rng.normal(0, 0.5, n)
    units = tuple((str(k), 1) for k in range(n))
    of: dict[str, Hashable] = {str(k): int(story[k]) for k in range(n)}
    made = [
        LogScores(
            label=name,
            task="simulated",
            planned=units,
            values={"score": dict(zip(units, values.tolist(), strict=True))},
            graded=frozenset(),
            clusters=of,
            inputs={},
            failed=frozenset(),
        )
        for name, values in (("first", first), ("second", second))
    ]
    return made[0], made[1]


def main() -> None:
    """Print coverage and false positives with and without correlated stories."""
    many = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    print(f"{many} simulations of {STORIES} stories of {EACH} samples; true effect 0 and 0.3")
    print("correlation | covered | false positives | naive covered | naive false positives")
    for shared in (0.0, 0.5, 1.0):
        covered, naive, false, naive_false = 0, 0, 0, 0
        for k in range(many):
            for effect in (0.0, 0.3):
                rng = np.random.default_rng((k, round(100 * effect), round(100 * shared)))
                one, two = logs(rng, effect, shared)
                made = _adjust_p_values([_compare_pair(one, two, "score", "story", None, k)])[0]
                low, high = made.difference.low, made.difference.high
                assert low is not None and high is not None
                covered += low <= effect <= high
                left, right = made.unpaired.low, made.unpaired.high
                assert left is not None and right is not None
                naive += left <= effect <= right
                if effect == 0:
                    false += made.p_holm is not None and made.p_holm < 0.05
                    naive_false += not left <= 0 <= right
        print(
            f"{shared:11.1f} | {covered / 2 / many:7.3f} | {false / many:15.3f} | "
            f"{naive / 2 / many:13.3f} | {naive_false / many:21.3f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
