"""Tables of docs/results/appendix/represented.md, from the shipped outputs of the probes.

python benchmarks/represented_tables.py docs/results/represented/represented-*.json
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from sally.core.log.events import label
from sally.represent.results import ALL, Arms, RepresentationResult, read_results, short_partner
from sally.stats.intervals import Estimate
from sally.studies.knowing_doing import PARTNERS


def cell(estimate: Estimate | None, places: int = 2) -> str:
    """Return a value with its interval."""
    if estimate is None or estimate.value is None:
        return "-"
    if estimate.interval is None:
        return f"{estimate.value:.{places}f}"
    return f"{estimate.value:.{places}f} [{estimate.low:.{places}f}, {estimate.high:.{places}f}]"


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a Markdown table."""
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def probe_row(result: RepresentationResult) -> list[str]:
    """Return one line of the table of probes."""
    layers = sorted(set(result.chosen_layers))
    return [
        result.model,
        result.game,
        result.at,
        result.kind,
        f"{result.decisions:,} / {result.instances}",
        cell(result.accuracy),
        cell(result.majority).partition(" ")[0],
        cell(result.surface),
        cell(result.beyond),
        "-" if result.detects is None else f"{result.detects:.2f}",
        cell(result.selectivity),
        cell(result.beyond_untrained),
        cell(result.said),
        f"{layers[0]}-{layers[-1]} of {result.layers[-1].layer}",
    ]


PROBES = ("model", "game", "at", "as", "decisions / instances", "right", "commonest", "surface",
          "beyond rules", "detects", "selectivity", "beyond untrained", "said",
          "layers")  # fmt: skip


def twin_row(result: RepresentationResult) -> list[str]:
    """Return one line of the table of twins."""
    return [
        result.model,
        result.game,
        result.at,
        result.kind,
        str(result.twins),
        cell(result.twin),
        cell(result.twin_gap),
    ]


def arms_row(result: RepresentationResult, arms: Arms) -> list[str]:
    """Return one line of the table of three arms; combinations in percent."""

    def add_parts(*parts: str) -> str:
        share = sum(arms.joint[part].value or 0.0 for part in parts)
        return f"{100 * share:.0f} ({100 * sum(arms.independent[part] for part in parts):.0f})"

    return [
        result.model,
        result.game,
        result.at,
        result.kind,
        arms.partner,
        str(arms.n),
        cell(arms.represented),
        cell(arms.said),
        cell(arms.done),
        f"{arms.blind:.2f}",
        "-" if arms.loss is None else f"{arms.loss:.2f}",
        add_parts("represented", "represented and done"),
        add_parts("said", "represented and said"),
        add_parts("done"),
        add_parts("represented and said and done"),
    ]


ARMS = ("model", "game", "at", "as", "partner", "n", "represented", "said", "done", "blind", "loss",
        "represented, not said %", "said, not done %", "done without either %",
        "all three %")  # fmt: skip


BY_PARTNER = (
    ("ipd", "move", "action"),
    ("ibs", "move", "action"),
    ("rps", "move", "change"),
    ("rps", "probe", "change"),
)


def partner_names() -> dict[str, str]:
    """Return the study's own names of its partners."""
    return {
        short_partner(label(player)): name
        for partners in PARTNERS.values()
        for name, player in partners.items()
    }


def main(paths: Sequence[str]) -> None:
    """Print all tables of the page."""
    results = [result for path in paths for result in read_results(Path(path))]
    names = partner_names()
    print("\n".join(table(PROBES, [probe_row(result) for result in results])), "\n")
    twins = [twin_row(result) for result in results if result.twins]
    heads = (
        *("model", "game", "at", "as", "decisions on twins", "right on twins"),
        "difference from prompts about a player",
    )
    print("\n".join(table(heads, twins)), "\n")
    pooled, single = [], []
    for result in results:
        for arms in result.arms:
            row = arms_row(result, arms)
            if arms.partner == ALL:
                pooled.append(row)
            elif (result.game, result.at, result.kind) in BY_PARTNER:
                single.append([*row[:4], names.get(arms.partner, arms.partner), *row[5:]])
    print("\n".join(table(ARMS, pooled)), "\n")
    print("\n".join(table(ARMS, single)))


if __name__ == "__main__":
    main(sys.argv[1:])
