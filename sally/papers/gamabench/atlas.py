"""Dots of the atlas figure: guessing and public goods games with one model in all seats."""

from __future__ import annotations

from collections.abc import Sequence

from sally.core.rules.metric import Played
from sally.papers.gamabench import figures
from sally.papers.gamabench.reader import GOODS, GUESSING, RecordedTable, table_of_episode
from sally.parts.atlas import AtlasColumn, AtlasDot, AtlasSource, estimate_dots
from sally.stats.cluster_interval import mean_by_rule
from sally.stats.intervals import Estimate

SOURCE = "gamabench"
YEARS = {
    "gpt-3.5-turbo-0613": 2023,
    "gpt-3.5-turbo-1106": 2023,
    "gpt-3.5-turbo-0125": 2024,
    "gpt-4-0125-preview": 2024,
    "gpt-4o": 2024,
    "gemini-1.0-pro": 2023,
    "gemini-1.5-pro": 2024,
    "llama-3.1-8b": 2024,
    "llama-3.1-70b": 2024,
    "llama-3.1-405b": 2024,
    "mixtral-8x7b": 2023,
    "mixtral-8x22b": 2024,
    "qwen2-72b": 2024,
}
NOTE = "ten copies of one model; says nothing about how it reads others"
GUESSES = AtlasColumn(
    "guessing game",
    "2/3 of the mean, ten players, runs of the leaderboard",
    "doing in hindsight",
    "even odds over all numbers",
    "the best number given the others",
)


def goods_column(back: float) -> AtlasColumn:
    """Return the atlas column of public goods for a given return per token."""
    return AtlasColumn(
        "public goods",
        f"a token returns {back:.2f} to each",
        "share of the tokens given (joint scale, not skill)",
        "nothing is given",
        "everything is given",
    )


def dots_of(games: Sequence[Played]) -> list[AtlasDot]:
    """Return the dots of the atlas figure for every model with leaderboard runs; in intervals, each
    game is a cluster."""
    ids: dict[str, str] = {}
    tables: list[RecordedTable] = []
    for played in games:
        table = table_of_episode(played.episode)
        tables.append(table)
        ids[table.file] = played.episode.id
    dots: list[AtlasDot] = []
    for model, of in figures.runs(tables, GUESSING).items():
        doing = figures.guessing(model, of).doing
        dots += _dots(GUESSES, model, doing, of, ids, "choices in 5 rounds")
    for model, of in figures.runs(tables, GOODS).items():
        shares = [x / t.high for t in of for choices in t.choices for x in choices]
        units = [t.file for t in of for choices in t.choices for _ in choices]
        share = mean_by_rule(shares, units, (0.0, 1.0))
        back = of[0].ratio / len(of[0].seats)
        dots += _dots(goods_column(back), model, share, of, ids, "contributions")
    return dots


def _dots(
    column: AtlasColumn,
    model: str,
    value: Estimate,
    tables: Sequence[RecordedTable],
    ids: dict[str, str],
    unit: str,
) -> list[AtlasDot]:
    per_table = 10 * (len(figures.ROUNDS) if unit.startswith("choices") else 0)
    n = per_table * len(tables) or value.n
    facts = (n, unit, len(tables), SOURCE, [ids[t.file] for t in tables])
    return estimate_dots(column, model, "model", YEARS.get(model), value, *facts, note=NOTE)


ATLAS = AtlasSource("gamabench", dots_of)
