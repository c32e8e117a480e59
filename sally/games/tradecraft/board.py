"""Hands, the seat's own target, and the recipes that the goods on the table can fill."""

from __future__ import annotations

from collections.abc import Mapping

from sally.core.board import Board, Good, Hand, Hands, Part, Recipe, Recipes
from sally.core.desk import Desk
from sally.games.tradecraft.actions import SEATS
from sally.games.tradecraft.amounts import Amount, show
from sally.games.tradecraft.filling import cover, prepared
from sally.games.tradecraft.hands import union
from sally.games.tradecraft.rules import TradeCraft, View
from sally.games.tradecraft.tools import runnable


def board(desk: Desk, view: View) -> Board:
    """All hands as the seat knows them, its own target, and what can be made of them."""
    game = desk.game
    assert isinstance(game, TradeCraft)
    hands = [
        Hand(
            f"{seat} (you)" if seat == view.seat else seat,
            _goods(hand),
            "yours" if seat == view.seat else "",
        )
        for seat, hand in zip(SEATS, view.hands, strict=False)
    ]
    target = Hand("Your target", _goods(view.target), "goal")
    parts: list[Part] = [Hands("On the table", (*hands, target))]
    if game.book:  # else recipes are there to be looked up, for people as for models
        parts.append(Recipes("What the goods on the table can make", _recipes(view)))
    return Board(tuple(parts))


def _goods(hand: Mapping[str, Amount]) -> tuple[Good, ...]:
    return tuple(Good(item, show(amount)) for item, amount in hand.items())


def _recipes(view: View) -> tuple[Recipe, ...]:
    """Recipes that all goods together can run once; ready are those for which one's own do."""
    ready, table = prepared(view.rules), union(view.hands)
    found: dict[str, Recipe] = {}
    for number in runnable(view.rules, table):
        if cover(ready[number], 1, table.goods) is None:
            continue
        recipe = view.rules.recipes[number]
        mine = cover(ready[number], 1, view.hand.goods) is not None
        fuel = show(recipe.fuel) if recipe.fuel else ""
        known = found.get(recipe.text())
        found[recipe.text()] = Recipe(
            recipe.text(), fuel, mine or (known is not None and known.ready)
        )
    return tuple(sorted(found.values(), key=lambda r: not r.ready))


BOARD = board
