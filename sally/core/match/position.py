"""The fixed past of a position: earlier moves that the setup gives instead of a player."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from sally.core.errors import BadInput, IllegalMove
from sally.core.log.events import Instance
from sally.core.rules.game import Game, GameSpec, Seat
from sally.core.rules.menu import admit


def past_moves(
    spec: GameSpec, game: Game, instance: Instance, states: list[Any]
) -> Iterator[Mapping[Seat, Any]]:
    """Yield the moves of the fixed past turn by turn; each new state is appended to `states`.

    Raises:
        BadInput: The rules do not allow the past.
    """
    position = instance.position
    if not position:
        return
    for turn, plain_moves in enumerate(position.past):
        state = states[-1]
        movers = game.to_move(state)
        if set(plain_moves) != set(movers):
            raise BadInput(
                f"The past of {instance.id!r} has moves of {sorted(plain_moves)} in turn {turn}, "
                f"in which {sorted(movers)} move."
            )
        moves = {seat: _legal(spec, game, state, seat, plain_moves[seat]) for seat in movers}
        states.append(game.step(state, moves))
        yield moves
    if position.seat not in (*game.seats, *game.helpers):
        raise BadInput(f"{instance.id!r} asks seat {position.seat!r}, which {spec.name} lacks.")
    if not game.to_move(states[-1]):
        raise BadInput(f"The past of {instance.id!r} ends the game, so no decision is left.")


def _legal(spec: GameSpec, game: Game, state: Any, seat: Seat, plain: Any) -> Any:
    """Return a move of the past as an action; raises BadInput if the rules do not allow it."""
    try:
        action = plain if spec.action is int else msgspec.convert(plain, spec.action)
        return admit(game.options(state, seat), action)
    except (IllegalMove, msgspec.ValidationError) as error:
        raise BadInput(f"The past has an illegal move of {seat}: {error}") from None
