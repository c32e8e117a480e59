"""Goods as people write them, on every page, board and transcript, and read back again."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from sally.core.display.board import board_of
from sally.core.display.scenes import tell
from sally.core.errors import Unreadable
from sally.core.match.player import Decision, Turn
from sally.core.rules.game import Seat
from sally.core.rules.menu import Form
from sally.core.rules.probe import ProbeReport, Question
from sally.games.tradecraft.actions import DONE, YES
from sally.games.tradecraft.replies import amount_meant
from sally.games.tradecraft.rulesets import shipped_ruleset
from sally.games.tradecraft.speech import (
    counted_name,
    good_said,
    goods_said,
    item_meant,
    item_said,
)
from tests.games.tradecraft.table import craft, match_of, propose

CODED = re.compile(r"[a-z0-9]_[a-z0-9]")
CORE = shipped_ruleset("minecraft_core")


@pytest.mark.parametrize(
    ("item", "amount", "said"),
    [
        ("stick", 4, "4 sticks"),
        ("stick", 1, "1 stick"),
        ("oak_planks", 1, "1 oak plank"),
        ("oak_planks", "5/3", "1 2/3 oak planks"),
        ("coal", "0.125", "1/8 coal"),
        ("torch", 2, "2 torches"),
        ("lucky_leaf", 3, "3 lucky leaves"),
        ("shears", 1, "1 pair of shears"),
        ("iron_boots", 2, "2 pairs of iron boots"),
        ("raw_iron", 3, "3 raw iron"),
        ("biizz", 3, "3 biizz"),  # nobody knows the plural of a made-up name
        ("minecraft:oak_log", 2, "2 oak logs"),
    ],
)
def test_goods_are_displayed_with_readable_amounts_and_plurals(
    item: str, amount: Any, said: str
) -> None:
    assert good_said(item, amount) == said


def test_recipe_names_groups_and_choices_in_plain_words() -> None:
    said = {recipe.as_text() for recipe in CORE.recipes}
    assert "any 2 planks + 1 stick -> 1 wooden sword" in said
    assert "1 coal or charcoal + 1 stick -> 4 torches" in said
    assert "any 1 oak log -> 4 oak planks" in said
    assert not [line for line in said if CODED.search(line) or "#" in line or "|" in line]


@pytest.mark.parametrize("name", ["minecraft_core", "alchemy"])
def test_every_way_of_writing_an_item_is_read_back(name: str) -> None:
    known = shipped_ruleset(name).item_set
    for item in known:
        for reply in (item, item_said(item), item_said(item).upper(), f"minecraft:{item}"):
            assert item_meant(reply, known) == item
        if item != "brick":  # bricks are another thing, and so are never said of a brick
            assert item_meant(counted_name(item, True), known) == item
            assert item_meant(counted_name(item, False), known) == item


def test_mixed_number_is_an_amount() -> None:
    assert amount_meant("1 2/3") == "5/3"
    assert amount_meant("1 2/0") == "1 2/0"  # refused later, with the reason


def test_odds_name_items_whose_names_are_parts_of_others() -> None:
    match = match_of()
    names = ("iron", "raw_iron", "raw_iron_block", "stone", "smooth_stone", "flint_and_steel")
    question = Question("their_target", "odds", names, "p2")
    text = "Odds: raw iron 10%, iron 20%, Stone: 30, smooth_stone 25 and flint and steel 15"
    report = match.context(Seat("p1")).words.read_report(text, question)
    assert report.odds == pytest.approx((0.2, 0.1, 0, 0.3, 0.25, 0.15))
    with pytest.raises(Unreadable, match="stone is named more than once"):
        twice = "Odds: stone 50, raw iron 25, stone 25"
        match.context(Seat("p1")).words.read_report(twice, question)


def answers(turn: Turn) -> Any:
    """A move of each kind, a refused craft and a refused offer among them."""
    hand = turn.view.hand.goods
    if turn.view.phase == "propose":
        other_seat = "p2" if turn.seat == "p1" else "p1"
        return propose(other_seat, {next(iter(hand)): "1/2"}, {}, "oak planks?")
    if turn.view.phase == "decide":
        return YES
    tried = any(entry.craft for entry in turn.view.story)
    return DONE if tried else craft({next(iter(hand)): "1/4"}, "oak_planks", 3)


def pages() -> Iterator[str]:
    """All that either seat is shown in a game, by words and by board."""
    match = match_of(max_turns=2, arms={"p1": ("v0", "v1", "their_target"), "p2": ("v0",)})
    while asks := match.asks():
        for turn in asks:
            context, view = turn.context, turn.view
            words: Any = context.words
            yield words.rules(turn.seat)
            yield from context.past(view, "agent_first")
            yield words.now(view)
            data = msgspec.json.encode(board_of(context, view)).decode()
            yield re.sub(r'"fill":\{.*?\}', "", data)  # what is sent back, not what is shown
            if turn.question is None:
                yield from map(words.name, (o for o in turn.options if not isinstance(o, Form)))
                yield str(words.refusal(view, answers(turn)))
                yield str(turn.use("item_info", {"item": "Oak planks"}))
                yield str(turn.use("possible_recipes", {}))
                match.answer(turn.id, Decision(answers(turn)))
            else:
                yield words.aside(turn.question, view) + words.aside_format(turn.question)
                first = turn.question.choices[0]
                odds = tuple(float(c == first) for c in turn.question.choices)
                many = ProbeReport({str(first): 3.0})
                match.answer(
                    turn.id, ProbeReport(first, odds) if turn.question.kind == "odds" else many
                )
    for scene in tell(match.episode()).scenes:
        yield " ".join(map(str, (scene.question, scene.answer, *scene.options, *scene.told)))


def test_pages_boards_and_transcripts_show_no_internal_item_names() -> None:
    coded = {item for item in CORE.items if "_" in item}
    shown_pages = list(pages())
    assert len(shown_pages) > 30
    for text in shown_pages:
        for item in set(re.findall(r"[a-z]+(?:_[a-z]+)+", text)) & coded:
            raise AssertionError(f"{item} in: {text[:300]}")
    assert any("oak planks" in text for text in shown_pages)
    assert goods_said({}) == "nothing"
