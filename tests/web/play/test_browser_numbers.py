"""Numbers in a real browser: a field and a slider in step, on a desk and on a phone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.web.browser import NEEDS_BROWSER, PHONE, Person, Server

pytestmark = NEEDS_BROWSER
Arrive = Callable[..., Person]


def at_the_table(me: Person, served: Server, game: str, **options: Any) -> None:
    table = served.table(game, "player_1", **options)
    me.sit(table["token"])


@pytest.mark.parametrize("device", [{}, PHONE], ids=["desk", "phone"])
def test_number_is_asked_for_with_a_slider_and_a_field(
    person: Arrive, served: Server, device: dict[str, Any]
) -> None:
    me = person(**device)
    at_the_table(me, served, "eleven_twenty", params={"rounds": 2})
    ask = me.ask()
    field, slider = ask.get_by_label("Your number", exact=True), ask.locator(".slider")
    assert ask.locator(".options button").count() == 0  # no ten buttons
    assert field.input_value() == ""  # and nothing that pulls an answer towards it
    assert slider.get_attribute("aria-valuetext") == "not set"
    for wrong in ("", "21", "17.5", "ten"):
        field.fill(wrong)
        ask.get_by_role("button", name="Answer").click()
        assert "whole number from 11 to 20" in ask.get_by_role("alert").first.inner_text()
    field.fill("18")
    assert slider.input_value() == "18"
    question_before = me.question_id()
    ask.get_by_role("button", name="Answer").click()
    me.until_taken(question_before)
    me.shot("level_k" if not device else "level_k_phone")
    slider.focus()
    slider.press("Home")
    slider.press("ArrowRight")
    assert field.input_value() == "12"
    field.press("Enter")
    assert "Your result: " in me.result()
    earned = me.page.locator("#board tr", has_text="You earned").locator("td")
    assert earned.first.inner_text() == "38"
    assert me.lines()[0].startswith("Round 1: you picked 18, the other player picked 19.")
    assert me.lines()[1].startswith("Round 2: you picked 12")


def test_probe_may_ask_for_a_number(person: Arrive, served: Server) -> None:
    me = person()
    at_the_table(me, served, "beauty_contest", probes=["their_move", "their_depth"])
    aside = me.page.get_by_role("complementary", name="A question for you")
    aside.get_by_label("Your number", exact=True).fill("33")
    aside.get_by_role("button", name="Answer").click()
    me.ask().get_by_label("Your number", exact=True).fill("22")
    me.ask().get_by_role("button", name="Answer").click()
    depth = me.page.locator(".probe", has_text="steps ahead")
    for label, chance in (("none", "10"), ("one", "60"), ("two", "20"), ("three or more", "10")):
        depth.get_by_label(label, exact=True).fill(chance)
    depth.get_by_role("button", name="Answer").click()
    assert "Your result: " in me.result()


def test_boxes_are_buttons_and_shown_on_the_board(person: Arrive, served: Server) -> None:
    me = person()
    at_the_table(me, served, "hide_and_seek")
    texts = me.page.locator(".lockers .inside").all_inner_texts()
    assert texts == ["A", "B", "A", "A"]
    me.pick("Box 3")
    assert "Your result: " in me.result()
