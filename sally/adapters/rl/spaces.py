"""Views and menus as Gymnasium spaces, the same for PettingZoo and Gymnasium."""

from __future__ import annotations

import json
import string
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from gymnasium import spaces

from sally.adapters.rl.table import Table
from sally.core.errors import BadInput, IllegalMove, Unreadable
from sally.core.log.events import Ended
from sally.core.match.player import Turn
from sally.core.prompt.words import as_tuples
from sally.core.rules.chance import derived_seed
from sally.core.rules.game import Game, GameSpec, Seat
from sally.core.rules.menu import filled, menu_schema
from sally.output.files.transcript import transcript

PAGE_BYTES = 16_384  # room for a page in words, for games that have no numbers for learners
TEXT_LIMIT = 2000  # characters of an action that is a form, filled in as JSON


def action_space(game: Game[Any, Any, Any]) -> spaces.Space[Any]:
    """A place on the menu; where forms occur, the filled-in form as JSON text."""
    widest = game.widest_menu()
    if widest is None:
        return spaces.Text(TEXT_LIMIT, charset=string.printable)
    return spaces.Discrete(widest)


def observation_space(
    spec: GameSpec[Any, Any, Any],
    game: Game[Any, Any, Any],
    seat: Seat,
    page_bytes: int = PAGE_BYTES,
) -> Any:
    """Numbers for learners where the game has them, else the page in bytes; and the menu's mask."""
    if spec.numbers is not None:
        size = len(spec.numbers(game, game.observe(game.start(), seat)))
        seen: spaces.Space[Any] = spaces.Box(-np.inf, np.inf, (size,), np.float32)
    else:
        seen = spaces.Box(0, 255, (page_bytes,), np.uint8)
    widest = game.widest_menu()
    if widest is None:
        return spaces.Dict({"observation": seen})
    return spaces.Dict({"observation": seen, "action_mask": spaces.Box(0, 1, (widest,), np.int8)})


def page(table: Table, seat: Seat) -> str:
    """All that a seat is shown: rules, the past, where we are, and what is wanted of it."""
    match, turn, context = table.match, table.asked(seat), table.match.context(seat)
    view = match.game.observe(match.state, seat) if turn is None else turn.view
    words = context.words
    told = context.opening(view, words.forms[0]) + words.now(view)
    if turn is None:
        return told
    question = words.question(view, turn.options)
    return f"{told}\n{question}\n{words.format(view, turn.options)}"


def observed(table: Table, seat: Seat, page_bytes: int = PAGE_BYTES) -> dict[str, Any]:
    """What a seat sees now."""
    return _observed(table, seat, table.asked(seat), page_bytes)


def told_all(
    table: Table, seats: Iterable[str], page_bytes: int, pages: bool
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What each of these seats sees now, and what stands beside it."""
    seen, infos = {}, {}
    for name in seats:
        seat, turn = Seat(name), table.match.asked(name)
        seen[name] = _observed(table, seat, turn, page_bytes)
        infos[name] = {} if turn is None else _info(table, seat, turn, pages)
    return seen, infos


def _observed(
    table: Table, seat: Seat, turn: Turn[Any, Any] | None, page_bytes: int
) -> dict[str, Any]:
    spec, match = table.spec, table.match
    game = match.game
    if spec.numbers is not None:
        view = game.observe(match.state, seat) if turn is None else turn.view
        seen: Any = np.array(spec.numbers(game, view), np.float32)
    else:
        shown = page(table, seat).encode()
        if len(shown) > page_bytes:
            raise BadInput(
                f"A page of {spec.name} has {len(shown)} bytes, and there is room for "
                f"{page_bytes}; make the environment with a larger page_bytes."
            )
        seen = np.frombuffer(shown.ljust(page_bytes, b"\0"), np.uint8)
    widest = game.widest_menu()
    if widest is None:
        return {"observation": seen}
    return {"observation": seen, "action_mask": mask(table, turn, widest)}


def mask(table: Table, turn: Turn[Any, Any] | None, widest: int) -> Any:
    """1 for each place of the menu that can be chosen now; all 0 where nothing is asked."""
    places = 0 if turn is None else len(turn.options)
    if places > widest:  # it was found by sampling
        raise BadInput(
            f"{table.spec.name} has a menu of {places} options, but at most "
            f"{widest} were expected; let the game define widest_menu()."
        )
    return _places(places, widest).copy()


@lru_cache(maxsize=1024)
def _places(n: int, widest: int) -> Any:
    found = np.zeros(widest, np.int8)
    found[:n] = 1
    return found


def info(table: Table, seat: Seat, pages: bool = True) -> dict[str, Any]:
    """The legal actions now, by names and mask or as the schema of the form, and the whole page.

    Telling the page takes about half the time of a step; `pages` False leaves it out.
    """
    turn = table.asked(seat)
    return {} if turn is None else _info(table, seat, turn, pages)


def _info(table: Table, seat: Seat, turn: Turn[Any, Any], pages: bool) -> dict[str, Any]:
    shown: dict[str, Any] = {"page": page(table, seat)} if pages else {}
    widest = table.match.game.widest_menu()
    if widest is None:
        return shown | {"schema": menu_schema(turn.options)}
    shown["names"] = list(turn.context.words.menu(turn.options))
    shown["action_mask"] = mask(table, turn, widest)
    return shown


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
    table.move_at(seat, _place(action))


def act_all(table: Table, actions: Mapping[str, Any]) -> None:
    """Do what the actions of seats that move together say; what is not legal is a forfeit."""
    places = {s: _place(a) for s, a in actions.items() if not isinstance(a, str)}
    if len(places) == len(actions):
        table.move_all(places)
    else:
        for seat, action in actions.items():
            act(table, Seat(seat), action)


def _place(action: Any) -> int:
    try:
        return int(action)
    except (TypeError, ValueError, OverflowError):
        raise BadInput(f"An action is the number of an option, not {action!r}.") from None


def rendered(table: Table) -> str:
    """The episode as a text, once it is over; until then, what each outside seat is shown."""
    if table.match.over:
        return "\n".join(transcript(table.match.episode()))
    return "\n\n".join(page(table, Seat(seat)) for seat in table.waiting())


class Seeds:
    """A seed for each reset: the one that is given, or the next of those that follow from it."""

    def __init__(self) -> None:
        self._root: int = np.random.SeedSequence().entropy  # type: ignore[assignment]
        self._drawn = 0

    def next(self, given: int | None) -> int:
        """The seed to play under now."""
        if given is not None:
            self._root, self._drawn = given, 0
            return given
        self._drawn += 1
        return derived_seed(self._root, "reset", self._drawn)


class Purse:
    """Rewards: what a seat has now and had not before."""

    def __init__(self, table: Table) -> None:
        self._table, self._had = table, dict.fromkeys(table.match.game.seats, 0.0)

    def take(self) -> dict[Seat, float]:
        """The reward of every seat since the last time."""
        game, match = self._table.match.game, self._table.match
        if not match.over and not game.pays_as_it_goes:
            return dict.fromkeys(game.seats, 0.0)
        had, paid = self._had, game.payoffs(match.state)
        gained: dict[Seat, float] = {}
        self._had = has = {}
        for seat in game.seats:
            has[seat] = float(paid[seat])
            gained[seat] = has[seat] - had[seat]
        return gained


def ended(table: Table) -> tuple[bool, bool]:
    """(terminated, truncated): a censored match is truncated."""
    match = table.match
    if not match.over:
        return False, False
    finished = isinstance(match.events[-1], Ended)
    return finished, not finished
