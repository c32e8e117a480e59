"""What language models knew and did, from the bundles that ship with the documentation.

    python benchmarks/real_models.py docs/results/bundles/*.sally.zip > docs/results/qwen_table.md

One line a model, game and strategy, pooled over partners and problems; nothing is played.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from sally import store
from sally.analysis.columns.rows import Row, episode_rows, summary
from sally.core.log.events import Episode
from sally.core.registry import registry
from sally.output.files.bundle_reader import opened
from sally.players.language import LANGUAGE
from sally.runner.local import has_model

KNEW, ACTED = "tom_percent", "action_consistency"


def language_rows(episodes: list[Episode]) -> list[Row]:
    """The seats of language models, under model and strategy."""
    found = []
    setups = {episode.id: episode.setup for episode in episodes}
    for row in episode_rows(episodes):
        who = setups[row["episode"]].lineup.get(row["seat"])
        if who is not None and who.player == LANGUAGE:
            found.append({**row, "who": f"{who.params['model']}|{who.params['strategy']}"})
    return found


def lines(path: Path) -> Iterator[str]:
    """The table of one bundle."""
    with opened(path) as (place, _):
        found = store.load(place, quarantine=False).episodes.values()
    rows = language_rows([e for e in found if has_model(e.setup)])
    for game in dict.fromkeys(row["game"] for row in rows):
        here = [row for row in rows if row["game"] == game]
        doing = registry.game(game).measured.doing.metric
        by = {m: _by_who(here, m) for m in (KNEW, ACTED, doing, "forfeits")}
        for who in sorted({row["who"] for row in here}):
            model, strategy = who.split("|")
            mine = [row for row in here if row["who"] == who]
            cells = [_cell(by[m].get(who)) for m in (KNEW, ACTED, doing, "forfeits")]
            yield f"| {game} | {model} | {strategy} | {len(mine)} | {' | '.join(cells)} | {doing} |"


def _by_who(rows: list[Row], metric: str) -> dict[str, Row]:
    return {row["who"]: row for row in summary(rows, metric, ("who",))}


def _cell(found: Row | None) -> str:
    if found is None or found["value"] is None:
        return "-"
    value, interval = found["value"], found["interval"]
    spread = f" [{interval[0]:.2f}, {interval[1]:.2f}]" if interval else ""
    return f"{value:.2f}{spread}"


def main() -> None:
    print("| game | model | strategy | n | knew % | acted on it | did | forfeits | measured by |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name in sys.argv[1:]:
        for line in lines(Path(name)):
            print(line)


if __name__ == "__main__":
    main()
