"""The step race in a real browser, on a desk and on a phone: a message, a move, the track."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.web.browser import NEEDS_BROWSER, PHONE, Person, Server

pytestmark = NEEDS_BROWSER
Arrive = Callable[..., Person]


@pytest.mark.parametrize("device", [{}, PHONE], ids=["desk", "phone"])
def test_a_message_is_sent_and_a_move_is_made(
    person: Arrive, served: Server, device: dict[str, Any]
) -> None:
    me = person(**device)
    me.sit(served.table("step_race", "player_1", params={"target": 20, "talks": 1})["token"])
    me.ask().first.wait_for()
    board = me.page.locator("#board")
    board.get_by_text("The track, turn 1").wait_for()
    assert "You: 0" in board.inner_text() and "20 the end" in board.inner_text()
    form = me.ask().locator("form").first
    form.get_by_label("Text").fill("I will move 3.")
    before = me.question_id()
    form.get_by_role("button", name="Say").click()
    me.until_taken(before)
    me.ask().get_by_role("button", name="3", exact=True).click()
    me.page.locator("#lines li", has_text="Player 1 (you) chose 3").first.wait_for()
    assert any("I will move 3." in line for line in me.lines())
    wide = me.page.evaluate("document.documentElement.scrollWidth > window.innerWidth")
    assert not wide  # nothing runs off the screen
