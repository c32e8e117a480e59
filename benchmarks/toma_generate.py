"""How fast certified scenarios of toma po and mg are made: python benchmarks/toma_generate.py."""

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

import click

from sally.games.toma.mg import generators as mg_generate
from sally.games.toma.mg import rules as mg_rules
from sally.games.toma.po import generators as po_generate
from sally.games.toma.po import rules as po_rules

# What issue 6 asks for, on a two-core machine.
PO_WANTED, MG_WANTED, WITHIN = 10_000, 2_000, 60.0


def seconds(
    make: Callable[[int, int], Iterator[object]], levels: Sequence[int], count: int, seed: int
) -> float:
    """The time to make so many scenarios, spread evenly over the levels."""
    start = time.perf_counter()
    for turn, level in enumerate(levels):
        share = count // len(levels) + (turn < count % len(levels))
        n_made = sum(1 for _ in islice(make(level, seed), share))
        if n_made != share:
            raise RuntimeError(f"Level {level} gave {n_made} scenarios, {share} were asked for.")
    return time.perf_counter() - start


@click.command()
@click.option("--po", default=PO_WANTED, help="How many po scenarios.")
@click.option("--mg", default=MG_WANTED, help="How many mg scenarios.")
@click.option("--seed", default=1, help="The seed of both generators.")
def main(po: int, mg: int, seed: int) -> None:
    """Print how many scenarios a second each generator certifies."""
    for name, make, levels, count, target in (
        ("po", po_generate.scenarios, po_rules.LEVELS, po, PO_WANTED),
        ("mg", mg_generate.scenarios, mg_rules.LEVELS, mg, MG_WANTED),
    ):
        took = seconds(make, levels, count, seed)
        click.echo(
            f"{name}: {count} certified in {took:.1f} s, {count / took:.0f} a second "
            f"(wanted: {target / WITHIN:.0f})"
        )


if __name__ == "__main__":
    main()
