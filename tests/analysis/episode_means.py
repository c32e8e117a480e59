"""Means computed episode by episode, to check those that are computed from the index."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from sally.analysis.columns.measured import seats_under_study
from sally.analysis.columns.rows import Row, played, seat_rows, summary
from sally.analysis.columns.scores import STUDIED
from sally.core.log.events import Episode, model_and_strategy

KEYS = ("cell", "game", "seat", "player", "others", "model", "strategy")


def seats_of(episodes: Iterable[Episode], metrics: Collection[str]) -> list[Row]:
    """Return a row for each seat of each episode: keys, instance, bounds and these metrics."""
    found = []
    for episode in episodes:
        asked = seats_under_study(episode.setup)
        for row in seat_rows(played(episode), metrics):
            model, strategy = model_and_strategy(episode.setup.lineup[row["seat"]])
            slim = {key: row[key] for key in KEYS if key in row}
            slim |= {"model": model, "strategy": strategy}
            slim |= {"instance": row["instance"], "ends": row["ends"]}
            slim |= {name: row[name] for name in ("participant", *metrics) if name in row}
            found.append({**slim, STUDIED: row["seat"] in asked})
    return found


def means(rows: Sequence[Row], metrics: Sequence[str], keys: Sequence[str]) -> list[Row]:
    """Return one row for each metric and group that has a value, in a fixed order."""
    order = sorted(rows, key=lambda row: [str(row[key]) for key in keys])
    found = [row for name in metrics for row in summary(_with(order, name), name, keys)]
    return [row for row in found if row["value"] is not None]


def _with(rows: Iterable[Row], metric: str) -> list[Row]:
    return [row for row in rows if metric in row]
