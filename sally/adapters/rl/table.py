"""A match in which some seats are controlled from outside and bots play the other seats."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

import msgspec

from sally.core.errors import BadInput, IllegalMove, Unreadable
from sally.core.log.events import Instance, PlayerSpec, Setup
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.match.player import Forfeit, Player, Turn
from sally.core.registry import registry
from sally.core.registry.objects import OBJECT, ObjectNames, PlayerLike, as_lineup
from sally.core.rules.game import GameSpec, Seat
from sally.core.rules.menu import fill_form
from sally.core.rules.words import as_tuples
from sally.runner.local import is_bot
from sally.runner.seating import kinds, refuse_empty_seats, seat_player, with_helpers

OUTSIDE = "outside"  # player name of outside seats in the log


class Table:
    """A match in which bots move at once and externally controlled (outside) seats wait for the
    caller's moves."""

    outside: tuple[Seat, ...]
    match: Match
    _set: tuple[Any, ...]  # arguments it was made from
    _inside: dict[str, Player]

    def __init__(
        self,
        game: str,
        outside: Collection[str] | None = None,
        inside: Mapping[str, PlayerLike] | None = None,
        seed: int = 1,
        params: Mapping[str, Any] | None = None,
        like: Table | None = None,  # an earlier table; reused rules if made from the same arguments
    ) -> None:
        self.spec: GameSpec = registry.game(game)
        if like is not None and like._set == (game, outside, inside, params):
            self._set, self.outside, self._inside = like._set, like.outside, like._inside
            setup = msgspec.structs.replace(like.match.setup, seed=seed)
            self._begin(Match(self.spec, setup, like=like.match))
            return
        self._set = (game, outside, inside, params)
        rules = self.spec.build(params)
        self.outside = tuple(s for s in rules.seats if outside is None or s in outside)
        names = ObjectNames()
        seated_here = with_helpers(self.spec, rules, names.lineup(inside or {}))
        lineup = {str(s): PlayerSpec(OUTSIDE) for s in self.outside} | seated_here
        refuse_empty_seats(self.spec, rules, lineup)
        setup = Setup(
            Instance(game, game, dict(params or {})), seed, lineup, version=self.spec.version
        )
        self._inside = {}
        for seat, player_spec in seated_here.items():
            with names.bound():
                player = seat_player(self.spec, rules, Seat(seat), player_spec)
            if not is_bot(player):
                raise BadInput(
                    f"{player_spec.player} is not a bot; only bots can play the other seats."
                )
            self._inside[seat] = player
        self._begin(Match(self.spec, setup))

    def _begin(self, match: Match) -> None:
        self.match, self._driver = match, Driver(match, self._inside, on_illegal="forfeit")
        self._driver.run()

    def waiting(self) -> tuple[str, ...]:
        """Return the externally controlled seats that must move now, in seat order."""
        return tuple(seat for seat in self.outside if self.match.ask_for(seat) is not None)

    def act(self, seat: str, action: int | str) -> None:
        """Play an action of an externally controlled seat, if it is asked for one.

        The action is the number of an option, or a form as JSON text. An illegal action counts as a
        forfeit.
        """
        turn = self.match.ask_for(seat)
        if turn is not None:
            self._driver.answer(turn.id, _move(turn, action))
            if self._inside:
                self._driver.run()


def _move(turn: Turn, action: int | str) -> Any:
    """Return the move that an action stands for, or a forfeit."""
    if isinstance(action, str):
        try:
            return fill_form(turn.options, as_tuples(json.loads(action)))
        except (ValueError, RecursionError, IllegalMove, Unreadable) as error:
            return Forfeit("illegal", str(error))
    if 0 <= action < len(turn.options):
        return turn.options[action]
    return Forfeit("illegal", f"there is no option {action}")


def opponents(spec: GameSpec, players: Mapping[str, PlayerLike]) -> dict[str, PlayerSpec]:
    """Return the specs of players that are given in any of the ways of `as_player`.

    Raises:
        BadInput: A player is unknown in this game.
    """
    lineup = as_lineup(players)
    for player in lineup.values():
        if OBJECT not in player.params:
            registry.pick(f"player of {spec.name}", player.player, kinds(spec))
    return lineup
