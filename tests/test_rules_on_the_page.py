"""Every rule of a game is on its page: a game with another number reads otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec
import pytest

from sally.core.errors import BadInput
from sally.core.match.seat_context import SeatContext
from sally.core.registry import registry
from sally.core.rules.game import NATURE

SHIPPED = {family for family, home in registry.packages().items() if home.startswith("sally.")}
GAMES = sorted(game for game in registry.games() if registry.family(game).name in SHIPPED)
NOT_OF_THE_RULES = {  # what changes no page, and why it need not
    "void_limit": "when the referee gives an episode up, whatever was played",
    "pass_limit": "when the referee gives an episode up, whatever was played",
    "most_crafts": "when the referee gives a phase up, far beyond any plan",
    "any_word": "which words the referee takes for English; a refusal says so",
    "reminders": "whether what hints have said is told again, from the first hint on",
    "may_pass": "the listener's form of answer, which says so",
    "generator": "which of several ways drew the problem; the problem itself is on the page",
    "memory": "to which of its earlier choices the target goes back on a tie; it says so then",
    "letters": "the most letters of a message: a longer one is sent back with the limit",
    "target_range": "targets that a published record leaves open; the target played is on the page",
    "positions": "where each player starts: on the page of every turn, after the order is drawn",
    "options_seed": "in which order options are listed: the question of every turn shows it",
    "questions": "what a player is asked about others: the page of each probe says it",
    "adaptive": "whether earlier moves set the numbers; a decision is then not scored",
    "number": "which problem of a set it is; the problem itself is on the page from its start on",
}

OF_A_MIND = "salient"  # where a mind that thinks no step ahead goes: what players have to find out


def pages(spec: Any, params: dict[str, Any]) -> str:
    """What every seat reads before anything has happened."""
    game, results = spec.build(params), []
    for seat in game.seats:
        words = SeatContext(spec, game, seat, 0).words
        results.append(words.rules(seat))
        if NATURE not in game.to_move(game.start()):  # before a deal there is nothing to see
            results.append(words.now(game.observe(game.start(), seat)))
    return "\n".join(results)


def others(value: Any, hint: Any = None) -> Iterator[Any]:
    """Values near this one, and the other ones where a parameter names all that it can be."""
    for kind in (hint, *get_args(hint)):
        if get_origin(kind) is Literal:
            yield from (other_item for other_item in get_args(kind) if other_item != value)
    if isinstance(value, msgspec.Struct):
        plain = msgspec.to_builtins(value)
        for name in set(value.__struct_fields__) - {OF_A_MIND}:
            for other_item in others(getattr(value, name), get_type_hints(type(value)).get(name)):
                yield {**plain, name: other_item}
    elif isinstance(value, tuple) and value:
        for n, part in enumerate(value):
            yield from ((*value[:n], other_item, *value[n + 1 :]) for other_item in others(part))
    elif isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from (value + 1, value - 1)
    elif isinstance(value, float):
        yield from (value + 0.25, value / 2)


@pytest.mark.parametrize("game", GAMES)
def test_changed_parameter_changes_the_page(game):
    spec = registry.game(game)
    usual, rules = pages(spec, {}), spec.build({})
    hints = get_type_hints(type(rules))
    for name in spec.parameters:
        if name in NOT_OF_THE_RULES:
            continue
        was = getattr(rules, name)
        for value in others(was, hints.get(name)):
            try:
                seen_pages = pages(spec, {name: value})
            except (BadInput, ValueError):
                continue  # no such game
            assert seen_pages != usual or value == was, f"{game} does not say {name}={value!r}"


def test_parameter_missing_on_the_page_is_detected():
    with pytest.MonkeyPatch.context() as patched:
        patched.delitem(NOT_OF_THE_RULES, "void_limit")
        with pytest.raises(AssertionError, match="void_limit"):
            test_changed_parameter_changes_the_page("ipd")


def test_exceptions_are_parameters_that_exist():
    known_names = {name for game in GAMES for name in registry.game(game).parameters}
    assert set(NOT_OF_THE_RULES) <= known_names
