"""Every rule of a game is on its page: a game with another number reads otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from sally.core import shelf
from sally.core.desk import Desk
from sally.core.errors import BadInput
from sally.core.game import NATURE

GAMES = sorted(game for game, home in shelf.packages().items() if home.startswith("sally."))
NOT_OF_THE_RULES = {  # what changes no page, and why it need not
    "void_limit": "when the referee gives an episode up, whatever was played",
    "pass_limit": "when the referee gives an episode up, whatever was played",
    "most_crafts": "when the referee gives a phase up, far beyond any plan",
    "any_word": "which words the referee takes for English; a refusal says so",
    "reminders": "whether what hints have said is told again, from the first hint on",
    "may_pass": "the listener's form of answer, which says so",
    "number": "which problem of a set it is; the problem itself is on the page from its start on",
}


def pages(spec: Any, params: dict[str, Any]) -> str:
    """What every seat reads before anything has happened."""
    game, found = spec.build(params), []
    for seat in game.seats:
        words = Desk(spec, game, seat, 0).words
        found.append(words.rules(seat))
        if NATURE not in game.to_move(game.start()):  # before a deal there is nothing to see
            found.append(words.now(game.observe(game.start(), seat)))
    return "\n".join(found)


def others(value: Any) -> Iterator[Any]:
    """Values near this one."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from (value + 1, value - 1)
    elif isinstance(value, float):
        yield from (value + 0.25, value / 2)


@pytest.mark.parametrize("game", GAMES)
def test_a_game_with_another_number_reads_otherwise(game):
    spec = shelf.game(game)
    usual, rules = pages(spec, {}), spec.build({})
    for name in spec.parameters:
        if name in NOT_OF_THE_RULES:
            continue
        seen = []
        for value in others(getattr(rules, name)):
            try:
                seen.append(pages(spec, {name: value}) != usual)
            except BadInput:
                continue  # no such game
        assert any(seen) or not seen, f"{game} does not say {name}"


def test_every_payoff_of_a_matrix_is_told():
    spec = shelf.game("ipd")
    usual, matrix = pages(spec, {}), [[list(pay) for pay in row] for row in spec.build({}).matrix]
    for row in range(2):
        for column in range(2):
            for seat in range(2):
                changed = [[list(pay) for pay in line] for line in matrix]
                changed[row][column][seat] += 1
                assert pages(spec, {"matrix": changed}) != usual


def test_the_exceptions_are_parameters_that_exist():
    known = {name for game in GAMES for name in shelf.game(game).parameters}
    assert set(NOT_OF_THE_RULES) <= known
