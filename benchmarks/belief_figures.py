"""Compare the figures of records with stated beliefs with those of the project's protocol.

    python -m benchmarks.belief_figures andreozzi2020=CHECKOUT mori2024=CHECKOUT ...

Each record is imported from a checkout of the authors' repository, or from a user's own copy, and
every published figure is compared with ours: counts exactly, values within 5e-4 or half of the last
printed digit, ends of intervals within .003, nulls of permutations within .06. The exit status is 1
if a figure is outside its tolerance or was not computed. On a sample of a record nearly all figures
are outside; the figures of the shipped samples are in tests/papers/test_belief_samples.py. Instead
of a checkout, a bundle of imported episodes may be given.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path

from sally.analysis.compare.agreement import half_a_digit
from sally.analysis.compare.published_figures import Figure, Reference, load
from sally.api.analyses import load as load_episodes
from sally.core.log.events import Episode
from sally.core.registry import registry
from sally.output.tables.reproduce import engine_of
from sally.papers.belief_records import records_of_episodes
from sally.stats.intervals import Estimate

PAPERS = ("andreozzi2020", "vanbaar2022", "mori2024", "fischbacher2010", "kahn2026")
VALUE, INTERVAL, NULL = 5e-4, 0.003, 0.06
SLACK = 1e-9


def problem(figure: Figure, ours: Estimate | None) -> str | None:
    """Return how far our figure is from the published one, or None if it is within tolerance."""
    if ours is None or ours.value is None:
        return "not computed"
    digit = half_a_digit([figure.value])
    away = abs(ours.value - figure.value)
    allowed = {"count": 0.0, "null": NULL}.get(figure.metric, max(VALUE, digit))
    if away > allowed + SLACK:
        return f"ours {ours.value:.4f}, published {figure.value:g}, tolerance {allowed:g}"
    if figure.interval is not None:
        if ours.interval is None:
            return "our interval is missing"
        wide = max(INTERVAL, half_a_digit(figure.interval))
        for end, published in zip(ours.interval, figure.interval, strict=True):
            if abs(end - published) > wide + SLACK:
                return f"an end of our interval is {end:.4f}, published {published:g}"
    return None


def compare_figures(
    reference: Reference, figures: Mapping[str, Estimate], cannot: Mapping[str, str]
) -> Iterator[tuple[str, str, str | None]]:
    """Yield the table, the name and the problem of every published figure that we compute."""
    for name, table in reference.tables.items():
        for figure in table.rows:
            label = str(figure.row["figure"])
            if label not in cannot:
                yield name, label, problem(figure, figures.get(label))


def within_intervals(reference: Reference, figures: Mapping[str, Estimate]) -> tuple[int, int]:
    """Return how many published values lie in our 95% intervals, and how many have one."""
    inside = [
        ours.interval[0] <= figure.value <= ours.interval[1]
        for table in reference.tables.values()
        for figure in table.rows
        if figure.metric == "value"
        and (ours := figures.get(str(figure.row["figure"]))) is not None
        and ours.interval is not None
    ]
    return sum(inside), len(inside)


def _import_episodes(paper: str) -> Callable[[Path], Iterable[Episode]]:
    return lambda path: registry.importer(paper).import_from(path).episodes


def check_paper(paper: str, path: Path) -> tuple[int, list[str], str]:
    """Return the number of figures compared, one line for each that is outside, and a line on
    intervals."""
    is_bundle = path.suffix == ".zip"
    episodes = (
        load_episodes(path) if is_bundle else registry.importer(paper).import_from(path).episodes
    )
    compute = import_module(f"sally.papers.{paper}.figures").figures
    engine, reference = engine_of(paper), load(paper)
    cannot = {
        str(figure.row["figure"]): reason
        for table in reference.tables.values()
        for figure in table.rows
        if (reason := engine.cannot(figure.row, figure.metric)) is not None
    }
    figures = compute(records_of_episodes(episodes))
    rows = list(compare_figures(reference, figures, cannot))
    lines = [f"  {table}, {label}: {reason}" for table, label, reason in rows if reason is not None]
    lines += [f"  left out: {label}: {reason}" for label, reason in cannot.items()]
    inside, total = within_intervals(reference, figures)
    return len(rows), lines, f"{inside} of {total} published values lie in our 95% intervals"


def main() -> int:
    """Print the comparison of every named record; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("records", nargs="+", metavar="PAPER=CHECKOUT")
    status = 0
    for text in parser.parse_args().records:
        paper, _, path = text.partition("=")
        if paper not in PAPERS or not path:
            parser.error(f"{text} should be PAPER=CHECKOUT, with PAPER one of {', '.join(PAPERS)}")
        total, lines, intervals = check_paper(paper, Path(path))
        outside = [line for line in lines if not line.startswith("  left out")]
        print(f"{paper}: {total - len(outside)} of {total} figures are within tolerance")
        print("\n".join([*lines, f"  {intervals}"]))
        status |= bool(outside)
    return status


if __name__ == "__main__":
    sys.exit(main())
