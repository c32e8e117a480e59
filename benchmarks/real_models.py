"""What language models knew and did, from the bundles that ship with the documentation.

    python benchmarks/real_models.py docs/results/bundles/*.sally.zip > docs/results/qwen_table.md

One line a game, seat, model and strategy, pooled over partners and problems; nothing is played.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any

import sally
from sally.core.grouping import group_by
from sally.core.registry import registry

HEADINGS = ("game", "seat", "model", "strategy", "n", "knew %", "acted on it", "did", "forfeits",
            "measured by")  # fmt: skip
KNEW, ACTED, FORFEITS = "tom_percent", "action_consistency", "forfeits"


def lines(bundle: str) -> Iterator[str]:
    """Yield the table of one bundle."""
    frame = sally.as_frame(bundle)
    games = frame.episodes["game"].unique()
    doing_of = {game: registry.game(game).measured.doing.metric for game in games}
    metrics = (KNEW, ACTED, *doing_of.values(), FORFEITS)
    scores = sally.score(frame, [*dict.fromkeys(metrics)], by=("model", "strategy"))
    played = scores.filter(lambda row: row["strategy"])
    rows = group_by(played, lambda row: (row["game"], row["seat"], row["model"], row["strategy"]))
    for (game, seat, model, strategy), group in rows.items():
        doing = doing_of[game]
        values = {row["metric"]: row for row in group}
        cells = [_cell(values.get(metric)) for metric in (KNEW, ACTED, doing, FORFEITS)]
        count = group[0]["results"] + group[0]["missing"]
        yield f"| {' | '.join([game, seat, model, strategy, str(count), *cells, doing])} |"


def _cell(row: Mapping[str, Any] | None) -> str:
    if row is None:
        return "-"
    interval = row["interval"]
    spread = f" [{interval[0]:.2f}, {interval[1]:.2f}]" if interval else ""
    return f"{row['value']:.2f}{spread}"


def main() -> None:
    print(f"| {' | '.join(HEADINGS)} |")
    print("|" + "---|" * len(HEADINGS))
    for bundle in sys.argv[1:]:
        for line in lines(bundle):
            print(line)


if __name__ == "__main__":
    main()
