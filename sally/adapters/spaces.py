"""Views and menus as Gymnasium spaces, the same for PettingZoo and Gymnasium."""

from __future__ import annotations

import json
import string
from typing import Any

import numpy as np
from gymnasium import spaces

from sally.adapters.table import Table
from sally.core.errors import BadInput, IllegalMove, Unreadable
from sally.core.game import Game, GameSpec, Seat
from sally.core.menu import filled, menu_schema
from sally.core.words import as_tuples

PAGE_BYTES = 2048  # of a page in words, for games that have no numbers for learners
TEXT_LIMIT = 2000  # characters of an action that is a form, filled in as JSON


def action_space(game: Game[Any, Any, Any]) -> spaces.Space[Any]:
    """A place on the menu; where forms occur, the filled-in form as JSON text."""
    widest = game.widest_menu()
    if widest is None:
        return spaces.Text(TEXT_LIMIT, charset=string.printable)
    return spaces.Discrete(widest)


def observation_space(spec: GameSpec[Any, Any, Any], game: Game[Any, Any, Any], seat: Seat) -> Any:
    """Numbers for learners where the game has them, else the page in bytes; and the menu's mask."""
    if spec.numbers is not None:
        size = len(spec.numbers(game, game.observe(game.start(), seat)))
        seen: spaces.Space[Any] = spaces.Box(-np.inf, np.inf, (size,), np.float32)
    else:
        seen = spaces.Box(0, 255, (PAGE_BYTES,), np.uint8)
    widest = game.widest_menu()
    if widest is None:
        return spaces.Dict({"observation": seen})
    return spaces.Dict({"observation": seen, "action_mask": spaces.Box(0, 1, (widest,), np.int8)})


def observed(table: Table, seat: Seat) -> dict[str, Any]:
    """What a seat sees now."""
    spec, game, match = table.spec, table.match.game, table.match
    view = game.observe(match.state, seat)
    if spec.numbers is not None:
        seen: Any = np.array(spec.numbers(game, view), np.float32)
    else:
        desk = match.desk(seat)
        page = f"{desk.opening(view, desk.words.forms[0])}{desk.words.now(view)}".encode()
        seen = np.frombuffer(page[-PAGE_BYTES:].ljust(PAGE_BYTES, b"\0"), np.uint8)
    widest = game.widest_menu()
    if widest is None:
        return {"observation": seen}
    turn = table.asked(seat)
    if turn is not None and len(turn.options) > widest:  # it was found by sampling
        raise BadInput(
            f"{spec.name} has a menu of {len(turn.options)} options, and {widest} were taken for "
            "the most; let the game define widest_menu()."
        )
    mask = np.zeros(widest, np.int8)
    mask[: len(turn.options) if turn else 0] = 1
    return {"observation": seen, "action_mask": mask}


def info(table: Table, seat: Seat) -> dict[str, Any]:
    """The legal actions now: their names, or the schema of the form."""
    turn = table.asked(seat)
    if turn is None:
        return {}
    if table.match.game.widest_menu() is None:
        return {"schema": menu_schema(turn.options)}
    return {"names": list(table.match.desk(seat).words.menu(turn.options))}


def act(table: Table, seat: Seat, action: Any) -> None:
    """Do what an action of the space says; what is not legal is a forfeit."""
    turn = table.asked(seat)
    if turn is None:
        return
    if isinstance(action, str):
        try:
            table.move(seat, filled(turn.options, as_tuples(json.loads(action))))
        except (ValueError, RecursionError, IllegalMove, Unreadable) as why:
            table.forfeit(seat, str(why))
        return
    place = int(action)
    if 0 <= place < len(turn.options):
        table.move(seat, turn.options[place])
    else:
        table.forfeit(seat, f"there is no option {place}")


class Purse:
    """Rewards: what a seat has now and had not before."""

    def __init__(self, table: Table) -> None:
        self._table, self._had = table, dict.fromkeys(table.match.game.seats, 0.0)

    def take(self) -> dict[Seat, float]:
        """The reward of every seat since the last time."""
        game, match = self._table.match.game, self._table.match
        if not match.over and not game.pays_as_it_goes:
            return dict.fromkeys(game.seats, 0.0)
        has = game.payoffs(match.state)
        gained = {seat: float(has[seat]) - self._had[seat] for seat in game.seats}
        self._had = {seat: float(has[seat]) for seat in game.seats}
        return gained


def ended(table: Table) -> tuple[bool, bool]:
    """(terminated, truncated): a censored match is truncated."""
    match = table.match
    if not match.over:
        return False, False
    finished = match.episode().payoffs is not None
    return finished, not finished
