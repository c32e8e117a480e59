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


def cell(found: Estimate | None, places: int = 2) -> str:
    """Return a value with its interval."""
    if found is None or found.value is None:
        return "-"
    if found.interval is None:
        return f"{found.value:.{places}f}"
    return f"{found.value:.{places}f} [{found.low:.{places}f}, {found.high:.{places}f}]"


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a Markdown table."""
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def probe_row(one: RepresentationResult) -> list[str]:
    """Return one line of the table of probes."""
    layers = sorted(set(one.chosen_layers))
    return [
        one.model,
        one.game,
        one.at,
        one.kind,
        f"{one.decisions:,} / {one.instances}",
        cell(one.accuracy),
        cell(one.majority).partition(" ")[0],
        cell(one.surface),
        cell(one.beyond),
        "-" if one.detects is None else f"{one.detects:.2f}",
        cell(one.selectivity),
        cell(one.beyond_untrained),
        cell(one.said),
        f"{layers[0]}-{layers[-1]} of {one.layers[-1].layer}",
    ]


PROBES = ("model", "game", "at", "as", "decisions / instances", "right", "commonest", "surface",
          "beyond rules", "detects", "selectivity", "beyond untrained", "said",
          "layers")  # fmt: skip


def twin_row(one: RepresentationResult) -> list[str]:
    """Return one line of the table of twins."""
    return [
        one.model,
        one.game,
        one.at,
        one.kind,
        str(one.twins),
        cell(one.twin),
        cell(one.twin_gap),
    ]


def arms_row(one: RepresentationResult, each: Arms) -> list[str]:
    """Return one line of the table of three arms; combinations in percent."""

    def both(*parts: str) -> str:
        share = sum(each.joint[part].value or 0.0 for part in parts)
        return f"{100 * share:.0f} ({100 * sum(each.independent[part] for part in parts):.0f})"

    return [
        one.model,
        one.game,
        one.at,
        one.kind,
        each.partner,
        str(each.n),
        cell(each.represented),
        cell(each.said),
        cell(each.done),
        f"{each.blind:.2f}",
        "-" if each.loss is None else f"{each.loss:.2f}",
        both("represented", "represented and done"),
        both("said", "represented and said"),
        both("done"),
        both("represented and said and done"),
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
        short_partner(label(who)): name
        for partners in PARTNERS.values()
        for name, who in partners.items()
    }


def main(paths: Sequence[str]) -> None:
    """Print all tables of the page."""
    found = [one for path in paths for one in read_results(Path(path))]
    names = partner_names()
    print("\n".join(table(PROBES, [probe_row(one) for one in found])), "\n")
    twins = [twin_row(one) for one in found if one.twins]
    heads = (
        *("model", "game", "at", "as", "decisions on twins", "right on twins"),
        "difference from prompts about a player",
    )
    print("\n".join(table(heads, twins)), "\n")
    pooled, single = [], []
    for one in found:
        for each in one.arms:
            row = arms_row(one, each)
            if each.partner == ALL:
                pooled.append(row)
            elif (one.game, one.at, one.kind) in BY_PARTNER:
                single.append([*row[:4], names.get(each.partner, each.partner), *row[5:]])
    print("\n".join(table(ARMS, pooled)), "\n")
    print("\n".join(table(ARMS, single)))


if __name__ == "__main__":
    main(sys.argv[1:])
