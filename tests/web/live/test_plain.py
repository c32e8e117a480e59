"""What people read instead of code names, and the order in which a balanced study shows it."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import msgspec

from sally.core.registry import registry
from sally.core.rules.board import Board, Picture, Table
from sally.web.live.screen import Screen, plain
from sally.web.live.screen_text import plain_board, reverse_names, turned_rules, words_of
from tests.web.live_matches import AGAINST_A_BOT, live_matches, say, setup


def test_underscores_in_names_are_shown_as_blanks() -> None:
    assert plain("3 oak_planks for __init__ and a_b_c") == "3 oak planks for __init__ and a b c"


def test_code_names_are_replaced_everywhere_on_a_board() -> None:
    def plainly(text: str) -> str:
        return plain(re.sub(r"\bp1\b", "Ann", text))

    for text, read in (("first\np1", "first\nAnn"), ("oak_logs", "oak logs"), ("alp1", "alp1")):
        board = plain_board(Board((Picture(text), Picture("as it is"))), plainly)
        assert board == Board((Picture(read), Picture("as it is")))


def test_question_names_the_options_in_the_order_of_its_buttons() -> None:
    assert reverse_names("Option J or Option F?", ["J", "F"]) == "Option F or Option J?"
    # no list of options
    assert reverse_names("J or F? J is safe.", ["J", "F"]) == "J or F? J is safe."
    assert reverse_names("Just one?", ["J"]) == "Just one?"


def test_rules_list_options_and_outcomes_in_the_order_of_the_buttons() -> None:
    pays = ("J and J: 8.", "J and F: 0.", "F and J: 10.", "F and F: -5.5.")
    rules = "\n".join(["Both pick Option J or Option F.", *pays])
    turned = "\n".join(["Both pick Option F or Option J.", *pays[::-1]])
    assert turned_rules(rules, ["J", "F"]) == turned
    assert turned_rules("If J meets F, J wins.", ["J", "F"]) == "If J meets F, J wins."
    assert turned_rules(rules, ["J"]) == rules


def test_probe_before_the_first_move_uses_the_mirrored_order(tmp_path: Path) -> None:
    async def run() -> Screen:
        async with live_matches(tmp_path) as live:
            asked_setup = setup("ipd", "agent", AGAINST_A_BOT, rounds=1)
            asked_setup = msgspec.structs.replace(asked_setup, arms={"agent": ("their_move",)})
            opened = await live.open(asked_setup, ["agent"], mirrored=["agent"])
            return await (await live.find(opened.match)).screen("agent")

    screen = asyncio.run(run())
    assert screen.board is not None
    (ask,), matrix = screen.asks, screen.board.parts[0]
    assert isinstance(matrix, Table) and ask.kind == "probe"
    assert [item.label for item in ask.items] == list(matrix.columns) == ["F", "J"]
    assert "F or J" in ask.question
    assert "F or J" in screen.rules
    assert "When you pick" not in screen.rules  # the table says it


def test_buttons_question_and_matrix_are_mirrored_until_the_end(
    tmp_path: Path,
) -> None:
    async def run(mirrored: list[str]) -> tuple[Screen, Screen]:
        async with live_matches(tmp_path / str(len(mirrored))) as match_host:
            asked_setup = setup("ipd", "agent", AGAINST_A_BOT, rounds=1)
            opened = await match_host.open(asked_setup, ["agent"], mirrored=mirrored)
            live = await match_host.find(opened.match)
            first = await live.screen("agent")
            await say(match_host, opened.tokens["agent"], 0, "a")
            return first, await (await match_host.find(opened.match)).screen("agent")

    for mirrored, order in (([], ["J", "F"]), (["agent"], ["F", "J"])):
        first, last = asyncio.run(run(mirrored))
        assert [option.label for option in first.asks[0].options] == order
        both_text = f"{order[0]} or {order[1]}"
        assert both_text in first.asks[0].question and both_text in first.rules
        for screen in (first, last):
            assert screen.board is not None
            matrix = next(part for part in screen.board.parts if isinstance(part, Table))
            assert [row.label for row in matrix.rows] == order and list(matrix.columns) == order


def test_people_read_plain_words_unless_the_study_uses_model_wording() -> None:
    spec = registry.game("toma_sw")
    assert words_of(spec)["act.wait"] == "Wait"
    assert words_of(spec, "models") == {}
    assert words_of(spec, "toma_sw_order") == {"order": "reversed"}
