"""Which seats of a store a profile is about."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import numpy as np

from sally.analysis.columns.measured import Measured
from sally.analysis.columns.measured_table import Table, table_of
from sally.analysis.columns.scores import matches
from sally.analysis.profile.baselines import studied_of
from sally.core.errors import BadInput, unknown
from sally.core.log.events import label, model_and_strategy


def chosen(
    found: Sequence[Measured],
    games: Sequence[str] = (),
    players: Sequence[str] = (),
    seat: str = "",
    cells: Sequence[str] = (),
) -> Table:
    """The seats that are studied, or those that were asked for."""
    if not found:
        raise BadInput("The store holds no episode.")
    table = table_of(found)
    kinds = {k: table.shared[k] for k in table.kinds()}
    known("game in this store", games, {s.game for s in kinds.values()})
    known("cell in this store", cells, {s.cell for s in kinds.values()})
    kept = {
        k: s
        for k, s in kinds.items()
        if (not games or _fits(s.game, games)) and (not cells or _fits(s.cell, cells))
    }
    asked = table.asked_kinds()
    seats = {
        game: {seat}
        if seat
        else studied_of(game, {k: s for k, s in kept.items() if s.game == game}, asked)
        for game in {s.game for s in kept.values()}
    }
    kept = {k: s for k, s in kept.items() if s.seat in seats[s.game]}
    named = {
        k: (label(s.player_spec), model_and_strategy(s.player_spec)[0]) for k, s in kept.items()
    }
    there = {name for both in named.values() for name in both}
    known("player in this store", players, there)
    wanted = [
        k
        for k, (player, model) in named.items()
        if not players or _fits(player, players) or model in players
    ]
    return table.take(np.isin(table.kind, wanted))


def _fits(name: str, patterns: Iterable[str]) -> bool:
    return any(matches(pattern, name) for pattern in patterns)


def known(what: str, names: Iterable[str], there: Collection[str]) -> None:
    """Refuse a name or a pattern that nothing there fits."""
    for name in names:
        if not any(matches(name, one) for one in there):
            raise unknown(what, name, there)
