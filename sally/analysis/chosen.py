"""Which seats of a store a profile is about."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from sally.analysis.baselines import studied_seats
from sally.analysis.measured import Measured
from sally.analysis.scores import matches
from sally.core.errors import BadInput, unknown
from sally.core.log import label, model_and_strategy


def chosen(
    found: Sequence[Measured],
    games: Sequence[str] = (),
    players: Sequence[str] = (),
    seat: str = "",
    cells: Sequence[str] = (),
) -> list[Measured]:
    """The seats that are studied, or those that were asked for."""
    if not found:
        raise BadInput("The store holds no episode.")
    known("game in this store", games, {m.game for m in found})
    known("cell in this store", cells, {m.cell for m in found})
    kept = [
        m
        for m in found
        if (not games or _fits(m.game, games)) and (not cells or _fits(m.cell, cells))
    ]
    seats = {
        game: {seat} if seat else studied_seats([m for m in kept if m.game == game])
        for game in {m.game for m in kept}
    }
    kept = [m for m in kept if m.seat in seats[m.game]]
    models = {_model(m) for m in kept}
    known("player in this store", players, {_player(m) for m in kept} | models)
    return [m for m in kept if not players or _fits(_player(m), players) or _model(m) in players]


def _player(m: Measured) -> str:
    return label(m.setup.lineup[m.seat])


def _model(m: Measured) -> str:
    return model_and_strategy(m.setup.lineup[m.seat])[0]


def _fits(name: str, patterns: Iterable[str]) -> bool:
    return any(matches(pattern, name) for pattern in patterns)


def known(what: str, names: Iterable[str], there: Collection[str]) -> None:
    """Refuse a name or a pattern that nothing there fits."""
    for name in names:
        if not any(matches(name, one) for one in there):
            raise unknown(what, name, there)
