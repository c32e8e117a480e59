"""Means of a store's metrics by group: selection of rows, metrics and grouping keys."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import translate
from typing import Literal, get_args

import msgspec

from sally.analysis.columns.rows import Row
from sally.analysis.profile.bounds import COUNTS, PAID
from sally.core.errors import BadInput, unknown
from sally.core.registry import registry

By = Literal["player", "model", "strategy", "others", "cell"]
FINEST = ("cell", "game", "seat", "player", "others")
STUDIED = "studied"  # whether the seat was probed or taken by a model or person in the episode


class ScoreQuery(msgspec.Struct, frozen=True):
    """Selection of metrics, seats, players, cells and games; an empty field selects all."""

    metrics: tuple[str, ...] = ()  # empty: the headline ones and the payoff
    every: bool = False  # all that have a value
    seats: tuple[str, ...] = ()
    players: tuple[str, ...] = ()
    cells: tuple[str, ...] = ()
    games: tuple[str, ...] = ()

    @property
    def named(self) -> tuple[str, ...]:
        """The selected metrics, in the order in which they are shown."""
        known = registry.entries("metrics")
        for name in self.metrics:
            if name not in (*known, *PAID, *COUNTS):
                raise unknown("metric", name, dict.fromkeys((*known, *PAID, *COUNTS)))
        unasked = [n for n, metric in known.items() if self.every or metric.headline]
        return self.metrics or tuple(sorted([*unasked, "payoff"], key=_place))


def _place(metric: str) -> int:
    """Return the sort key of a metric: knowing first, then doing, then payoff, forfeits last."""
    return {"tom_percent": 0, "payoff": 2, "forfeits": 3}.get(metric, 1)


def chosen(rows: Sequence[Row], wanted: ScoreQuery) -> list[Row]:
    """Return the selected rows.

    Raises:
        BadInput: If a name or pattern matches no row, or no row matches all of them together.
    """
    kept = list(rows)
    for key, patterns in (
        ("seat", wanted.seats),
        ("game", wanted.games),
        ("cell", wanted.cells),
        ("player", wanted.players),
    ):
        if patterns and rows:
            kept = _fitting(kept, rows, key, patterns)
    if rows and not kept:
        raise BadInput("No episode of this store matches all of these options together.")
    return kept


def _fitting(
    kept: Sequence[Row], every: Sequence[Row], key: str, patterns: Sequence[str]
) -> list[Row]:
    known = {(row[key], row["model"] if key == "player" else row[key]) for row in every}
    fits = set[str]()
    for pattern in patterns:
        mine = {name for name, short in known if matches(pattern, name) or short == pattern}
        if not mine:
            raise unknown(f"{key} in this store", pattern, {name for name, _ in known})
        fits |= mine
    return [row for row in kept if row[key] in fits]


def matches(pattern: str, name: str) -> bool:
    """Return whether a name matches a pattern, in which only `*` is special."""
    if "*" not in pattern:
        return pattern == name
    plain = re.sub(r"([\[?])", r"[\1]", pattern)
    return re.match(translate(plain), name) is not None


def studied(rows: Sequence[Row]) -> list[Row]:
    """Return the rows of studied seats; if a game has no studied seats, all of its rows."""
    games = {row["game"] for row in rows if row[STUDIED]}
    return [row for row in rows if row[STUDIED] or row["game"] not in games]


def keys_for(by: Sequence[By]) -> tuple[str, ...]:
    """Return the grouping keys: game, seat, the keys in `by` and, unless `by` contains model or
    strategy, the player."""
    for name in by:
        if name not in get_args(By):
            raise unknown("grouping", name, get_args(By))
    who = () if {"player", "model", "strategy"} & set(by) else ("player",)
    order = ("cell", "game", "seat", "player", "model", "strategy", "others")
    return tuple(key for key in order if key in ("game", "seat", *who, *by))
