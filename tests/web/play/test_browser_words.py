"""Games of clues in a real browser, on a desk and on a phone: a word, a hint, a dial, cards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sally.games.codenames.instances import frozen
from sally.games.taboo.instances import frozen as taboo
from tests.web.browser import NEEDS_BROWSER, PHONE, Person, Server

pytestmark = NEEDS_BROWSER
Arrive = Callable[..., Person]
devices = pytest.mark.parametrize("device", [{}, PHONE], ids=["desk", "phone"])


@devices
def test_clue_too_close_to_a_card_is_refused_and_another_is_played(
    person: Arrive, served: Server, device: dict[str, Any]
) -> None:
    me = person(**device)
    me.sit(served.table("codenames", "giver", params={"boards": 1})["token"])
    board = me.page.locator("#board")
    assert "✔ yours" in board.inner_text() and board.locator(".thing").count() == 12
    for word, expected in ((frozen("small").rows[0][0].words[0], "too close"), ("ocean", "ocean")):
        field = me.ask().get_by_label("Word")
        if expected == "ocean":  # the refused word came back, with the reason at its field
            assert field.input_value() == frozen("small").rows[0][0].words[0]
            assert "tries left" in me.ask().locator(".field .refused").first.inner_text()
            me.page.wait_for_timeout(1000)  # the word is checked again as if it had been typed
            assert "tries left" in me.ask().locator(".field .refused").first.inner_text()
        field.fill(word)
        if expected == "too close":  # said while it is typed, before it is sent
            me.ask().locator(".field .refused", has_text=expected).wait_for()
        me.ask().get_by_role("group", name="Number").get_by_role("radio", name="1").check()
        question_before = me.question_id()
        me.ask().get_by_role("button", name="Send").click()
        me.until_taken(question_before)
        me.page.locator("#lines li", has_text=expected).first.wait_for()
    assert any("The clue is" in line for line in me.lines())


@devices
def test_guesser_names_a_word_for_a_hint(
    person: Arrive, served: Server, device: dict[str, Any]
) -> None:
    me = person(**device)
    me.sit(served.table("taboo", "guesser", params={"rounds": 1})["token"])
    target = taboo("balanced").rows[0][0].target
    assert target not in me.page.locator("main").inner_text()  # the giver's alone
    me.ask().get_by_label("Word").fill(target)
    me.ask().get_by_role("button", name="Send").click()
    assert "Your result: 5" in me.result()  # found after the first of five hints


@devices
def test_dial_is_set_as_a_number(person: Arrive, served: Server, device: dict[str, Any]) -> None:
    me = person(**device)
    me.sit(served.table("wavelength", "guesser", params={"rounds": 1})["token"])
    field = me.ask().get_by_label("Your number", exact=True)
    slider = me.page.locator("#board .dial .slider")  # the drawn scale is the control
    assert field.input_value() == "" and me.ask().locator(".options button").count() == 0
    slider.focus()
    slider.press("End")
    assert field.input_value() == "100"
    field.fill("78")
    field.press("Enter")
    assert "Your result: " in me.result()
    assert "the guesser set 78, the target was 78" in me.lines()[-1]


@devices
def test_every_pile_and_every_card_of_hanabi_is_on_the_screen(
    person: Arrive, served: Server, device: dict[str, Any]
) -> None:
    me = person(**device)
    me.sit(served.table("hanabi", "bob")["token"])
    me.ask().first.wait_for()
    rows = me.page.locator("#board .cards-row")
    assert [row.locator(".playing").count() for row in rows.all()] == [5, 5, 5]
    assert "blue pile: empty" in rows.first.inner_text()
    right = "cards => Math.max(...cards.map(c => c.getBoundingClientRect().right)) <= innerWidth"
    assert me.page.locator("#board .playing").evaluate_all(right)
    assert me.ask().locator(".options button:visible").count() == 0  # they are on the cards
    question_before = me.question_id()
    own = rows.last.locator(".playing").nth(1)
    own.get_by_role("button", name="play card 2").click()
    me.until_taken(question_before)
    me.page.locator("#lines li", has_text="Bob (you) play").or_(
        me.page.locator("#lines li", has_text="You play")
    ).first.wait_for()
