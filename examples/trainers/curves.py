"""Run one of the scripts with several seeds, each with and without its control, and draw them all.

python curves.py openenv_turns --seeds 0 1 --out out/curves

What follows `--` is passed on to the script. The control deals the rewards of a group to its
members at random: whatever it shows is not learnt from rewards.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from importlib import import_module
from itertools import product
from pathlib import Path
from statistics import mean

from matplotlib.figure import Figure
from scipy.stats import ttest_ind


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("script", choices=("trl_turns", "openenv_turns", "verifiers_seats"))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1])
    parser.add_argument("--out", type=Path, default=Path("out/curves"))
    options, passed_on = parser.parse_known_args()
    runs: dict[bool, list[list[float]]] = {}
    for seed, control in product(options.seeds, (False, True)):
        name = f"{options.script}_{seed}{'_control' if control else ''}"
        stored = options.out / name / "curve.jsonl"
        if stored.with_suffix(".svg").exists():  # a finished run is not repeated
            lines = map(json.loads, stored.read_text().splitlines())
            runs.setdefault(control, []).append([line["reward"] for line in lines])
            continue
        arguments = ["--seed", str(seed), "--out", str(options.out / name)]
        arguments += ["--control"] * control + [
            argument for argument in passed_on if argument != "--"
        ]
        runs.setdefault(control, []).append(import_module(options.script).main(arguments))
    draw_curves(options.script, runs, options.out)
    for control, curves in runs.items():
        print(("control: " if control else "trained: ") + rise(curves))


def rise(curves: Sequence[Sequence[float]]) -> str:
    """Return the reward in the first and the last fifth of the steps, with Welch's interval."""
    fifths = [max(1, len(values) // 5) for values in curves]
    first = [v for values, n in zip(curves, fifths, strict=True) for v in values[:n]]
    last = [v for values, n in zip(curves, fifths, strict=True) for v in values[-n:]]
    differences = [mean(c[-n:]) - mean(c[:n]) for c, n in zip(curves, fifths, strict=True)]
    low, high = ttest_ind(last, first, equal_var=False).confidence_interval()
    by_seed = ", ".join(f"{difference:+.2f}" for difference in differences)
    return (
        f"{mean(first):.2f} to {mean(last):.2f}, difference {mean(last) - mean(first):+.2f} "
        f"[{low:+.2f}, {high:+.2f}] over {len(last)} steps each; by seed {by_seed}"
    )


def draw_curves(title: str, runs: dict[bool, list[list[float]]], out: Path) -> None:
    """Draw every run; controls are grey."""
    figure = Figure(figsize=(5, 3), layout="constrained")
    axes = figure.subplots()
    for control, curves in runs.items():
        for n, values in enumerate(curves):
            label = ("control" if control else "trained") if n == 0 else None
            colour = "0.6" if control else "C0"
            axes.plot(range(1, len(values) + 1), values, color=colour, label=label)
    axes.set(title=title, xlabel="step", ylabel="reward of a turn")
    axes.legend()
    figure.savefig(out / f"{title}.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
