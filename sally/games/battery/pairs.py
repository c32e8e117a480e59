"""Pairs of the battery: the two members of a story of the generator `watched`.

The question about the belief of a chain of minds is asked as the probe `belief`; the move lights
the container that the first mind will name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import msgspec

from sally.core.log.events import PlayerSpec
from sally.core.rules.chance import Stream
from sally.core.rules.pair import Member, PairRecipe, QuestionKind
from sally.games.battery.beliefs import Chain
from sally.games.battery.items import Item
from sally.games.battery.mindless import SURFACE
from sally.games.battery.rules import READER, Battery, State, View
from sally.games.battery.spec import BELIEF
from sally.games.battery.watched import (
    ORDERS,
    PER_STORY,
    Lines,
    believed_place,
    draw_story,
    mindless_answers,
    simulated_place,
)


def _draw(chance: Stream, order: int) -> tuple[Member, Member]:
    seed = chance.below(2**31)
    first, second = (
        Member({"generator": "watched", "generator_seed": seed, "order": order, "number": member})
        for member in range(PER_STORY)
    )
    return first, second


def _story(game: Battery) -> tuple[Lines, Chain]:
    assert game.order is not None
    number, member = divmod(game.number, PER_STORY)
    story = draw_story(game.generator_seed, number, game.order)
    return story.members[member], story.chain


def _item(game: Battery) -> Item:
    return game.items[0]


def _truth(game: Battery, state: State, others: Mapping[str, PlayerSpec]) -> int:
    belief = _item(game).belief
    assert belief is not None
    return belief.answer


def _best_moves(game: Battery, view: View, predicted: int) -> tuple[int, ...]:
    belief = _item(game).belief
    assert belief is not None and view.asked is not None
    return (view.asked.base + belief.acts[predicted],)


def _minds(game: Battery, view: View, order: int) -> Iterator[int]:
    """Yield the belief of the chain, from the history of each mind of it: of people who notice
    others on their own storey, and of people who notice only those lower down."""
    lines, chain = _story(game)
    for notices_same_storey in (True, False):
        yield simulated_place(lines, chain, notices_same_storey)


def _reason(game: Battery, view: View, order: int) -> int:
    """Return the answer of a reasoner that follows the last `order` minds of the chain."""
    lines, chain = _story(game)
    return believed_place(lines, chain[len(chain) - order :])


def _follow_reading(name: str, game: Battery, view: View, question: QuestionKind) -> int | None:
    place = mindless_answers(*_story(game))[name]
    if place is None or question == "know":
        return place
    return _best_moves(game, view, place)[0]


def _follow_surface(name: str, game: Battery, view: View, question: QuestionKind) -> int:
    item = _item(game)
    assert item.belief is not None and view.asked is not None
    if question == "do":
        return view.asked.base + SURFACE[name](item)[0]
    posed_item = msgspec.structs.replace(
        item, question=item.belief.question, options=item.belief.options, answer=0
    )
    return SURFACE[name](posed_item)[0]


def _rules(order: int) -> Mapping[str, Callable[..., Any]]:
    story = draw_story(0, 0, order)  # all stories of an order have the same readings
    names = mindless_answers(story.members[0], story.chain)
    rules: dict[str, Callable[..., Any]] = {name: partial(_follow_reading, name) for name in names}
    return rules | {name: partial(_follow_surface, name) for name in SURFACE}


PAIRS = (
    PairRecipe(
        name="watched",
        title="nested beliefs",
        game="battery",
        about="two people exchange the storeys from which they watch, so another event is the last "
        "that reaches the whole chain of minds",
        seat=READER,
        probe=BELIEF,
        subject="",
        orders=tuple(ORDERS),
        draw=_draw,
        truth=_truth,
        best_moves=_best_moves,
        minds=_minds,
        minds_about="people who remember all that they saw, and who notice others on their own "
        "storey or only those lower down",
        rules=_rules,
        reason=_reason,
    ),
)
