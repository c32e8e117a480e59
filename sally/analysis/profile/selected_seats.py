"""Selection of the seats of a store that a profile is about."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import msgspec

from sally.analysis.score import matches, require_known
from sally.core.errors import BadInput
from sally.core.log.events import label, model_and_strategy
from sally.core.registry import registry
from sally.frames.measured_seat import SeatKind, is_mind
from sally.frames.profiles import SeatSums


def select_kinds(
    table: SeatSums,
    games: Sequence[str] = (),
    players: Sequence[str] = (),
    seat: str = "",
    cells: Sequence[str] = (),
) -> list[int]:
    """Return the kinds of the studied seats, or of the seats selected, by code; patterns may
    contain `*` wildcards.

    Raises:
        BadInput: If there is no episode, or a name or pattern matches nothing.
    """
    if not len(table):
        raise BadInput("The store holds no episode.")
    kinds = {k: table.shared[k] for k in table.kinds()}
    require_known("game", games, {s.game for s in kinds.values()})
    require_known("cell", cells, {s.cell for s in kinds.values()})
    selected = {
        k: s
        for k, s in kinds.items()
        if (not games or _fits(s.game, games)) and (not cells or _fits(s.cell, cells))
    }
    probed = table.asked_kinds()
    seats = {
        game: {seat} if seat else studied_of(game, _of_game(selected, game), probed)
        for game in {s.game for s in selected.values()}
    }
    selected = {k: s for k, s in selected.items() if s.seat in seats[s.game]}
    player_names = {
        k: (label(s.player_spec), model_and_strategy(s.player_spec)[0]) for k, s in selected.items()
    }
    stored_names = {name for names in player_names.values() for name in names}
    require_known("player", players, stored_names)
    return [
        k
        for k, (player, model) in player_names.items()
        if not players or _fits(player, players) or model in players
    ]


def _fits(name: str, patterns: Iterable[str]) -> bool:
    return any(matches(pattern, name) for pattern in patterns)


def _of_game(kinds: Mapping[int, SeatKind], game: str) -> dict[int, SeatKind]:
    return {code: kind for code, kind in kinds.items() if kind.game == game}


def studied_seats(table: SeatSums) -> dict[str, set[str]]:
    """Return the seats of each game whose players are studied."""
    kinds = {code: table.shared[code] for code in table.kinds()}
    probed, games = table.asked_kinds(), dict.fromkeys(kind.game for kind in kinds.values())
    return {game: studied_of(game, _of_game(kinds, game), probed) for game in games}


def studied_of(game: str, kinds: Mapping[int, SeatKind], probed: Collection[int]) -> set[str]:
    """Return the studied seats of a game.

    These are the seats that were asked about other players, or that a model or a person took. If
    there are none, the seats on the game's card are used (all seats if the card names none). If
    some of these were taken by several different players, only those are returned.

    Args:
        game: The name of the game.
        kinds: The kinds of seats in the store, by code.
        probed: The codes of the kinds that were asked about other players.
    """
    minds = {s.seat for k, s in kinds.items() if k in probed or is_mind(s.player_spec)}
    if minds or not kinds:
        return minds
    card = registry.card(game)
    seats = {s.seat for s in kinds.values()}
    declared = ({c.seat for c in card.conditions} & seats if card else set()) or seats
    players = [(s.seat, s.player_spec) for s in kinds.values()]
    sat = {(seat, msgspec.json.encode((w.player, w.params), order="sorted")) for seat, w in players}
    compared = {seat for seat in declared if sum(seat == other_seat for other_seat, _ in sat) > 1}
    return compared or declared
