"""Games with talk and hints in a real browser, on a desk and on a phone, each to its end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sally.games.battery.rules import Battery
from tests.web.browser import NEEDS_BROWSER, PHONE, Person, Server

pytestmark = NEEDS_BROWSER
Arrive = Callable[..., Person]
devices = pytest.mark.parametrize("device", [{}, PHONE], ids=["desk", "phone"])
HINTS = (("river", "candle", "violin"), ("forest", "doctor", "winter"))


def fits(me: Person) -> bool:
    """Whether nothing runs off the screen."""
    return not me.page.evaluate("document.documentElement.scrollWidth > window.innerWidth")


def send(me: Person, button: str, **fields: str) -> None:
    """Fill in the form that is shown now, by labels, and send it."""
    question_before = me.question_id()
    form = me.ask().locator("form").first
    for label, text in fields.items():
        form.get_by_label(label).fill(text)
    form.get_by_role("button", name=button).click()
    me.until_taken(question_before)


def named(device: dict[str, Any], game: str) -> str:
    """Return the name of a picture."""
    return f"{game}_phone" if device else game


@devices
def test_step_race_is_played_with_messages(
    person: Arrive, served: Server, device: dict[str, Any]
) -> None:
    me = person(**device)
    params = {"target": 5, "talks": 1}
    me.sit(served.table("step_race", "player_1", params=params)["token"])
    board = me.page.locator("#board")
    board.get_by_text("The track, turn 1").wait_for()
    assert "You: 0" in board.inner_text() and "5 the end" in board.inner_text()
    end = me.page.locator("#end .result")
    for turn in range(1, 30):  # the others move at random, so it ends long before
        send(me, "Say", **{"Your message": "I will move 3."})
        question_before = me.question_id()
        me.ask().get_by_role("button", name="3", exact=True).click()
        me.until_taken(question_before)
        if turn == 1:
            me.page.locator("#lines li", has_text="Player 1 (you) chose 3").first.wait_for()
            assert any("I will move 3." in line for line in me.lines())
            assert fits(me)
            me.shot(named(device, "step_race"))
        me.ask().or_(end).first.wait_for()
        if end.count():
            break
    assert "Your result" in me.result() and fits(me)


def test_last_words_of_the_step_race_are_typed_where_all_messages_are(
    person: Arrive, served: Server
) -> None:
    me = person(**PHONE)
    me.sit(served.table("step_race", "player_1", params={"target": 5, "talks": 3})["token"])
    assert me.ask().locator("textarea").count() == 1
    me.ask().get_by_role("button", name="Say", exact=True).click()
    me.ask().get_by_text("Write something first.").wait_for()  # only the last words may be empty
    send(me, "End my talk", **{"Your message": "Enough now."})
    me.page.locator("#lines li", has_text="Player 1 (turn 1): Enough now.").wait_for()


@devices
def test_bargaining_is_played_with_messages_and_quotes(
    person: Arrive, served: Server, device: dict[str, Any]
) -> None:
    me = person(**device)
    me.sit(served.table("bargaining", "buyer", params={"rounds": 2})["token"])
    for quote in (40, 60):
        send(me, "Send", **{"Your message": f"I will bid {quote}."})
        question_before = me.question_id()
        me.ask().get_by_label("Your number", exact=True).fill(str(quote))
        assert fits(me)
        if quote == 60:
            me.shot(named(device, "bargaining"))
        me.ask().get_by_role("button", name="Answer").click()
        me.until_taken(question_before)
    assert any("I will bid 60." in line for line in me.lines())
    assert "Your result" in me.result() and fits(me)


@devices
def test_hints_are_given_and_listed_under_their_code(
    person: Arrive, served: Server, device: dict[str, Any]
) -> None:
    me = person(**device)
    me.sit(served.table("cipher", "encoder", params={"games": 1, "rounds": 2})["token"])
    for first, second, third in HINTS:
        send(me, "Send", First=first, Second=second, Third=third)
        me.page.locator("#lines li", has_text=third).first.wait_for()
        if third == "violin":
            me.page.locator("#board").get_by_text("violin").first.wait_for()
            assert fits(me)
            me.shot(named(device, "cipher"))
    assert "Your result" in me.result() and fits(me)


def test_battery_shows_one_item_per_screen_after_practice(person: Arrive, served: Server) -> None:
    me = person(**PHONE)
    params = {"generator": "applied", "length": 2, "practice": True}
    me.sit(served.table("battery", "reader", params=params)["token"])
    keys = [turn.item for turn in Battery(**params).schedule]  # type: ignore[arg-type]
    for turn, item in enumerate(keys):
        story = me.page.locator("#board").get_by_text(item.story.split("\n")[-1], exact=True)
        story.wait_for()
        assert fits(me)
        buttons = me.ask().get_by_role("button")
        assert sorted(buttons.all_inner_texts()) == sorted(item.options)
        me.shot(f"battery_{turn}")
        question_before = me.question_id()
        wrong = item.options[1 - item.answer]  # the practice item is answered wrongly
        me.ask().get_by_role(
            "button", name=item.options[item.answer] if turn else wrong, exact=True
        ).click()
        me.until_taken(question_before)
        if not turn:
            text = f"{wrong} is not right; the right answer is: {item.options[item.answer]}"
            me.page.locator("#lines li", has_text=text).first.wait_for()
    assert "Your result" in me.result() and "2" in me.result() and fits(me)
    me.shot("battery_end")


def test_refused_hint_is_marked_at_its_own_field(person: Arrive, served: Server) -> None:
    me = person()
    me.sit(served.table("cipher", "encoder")["token"])
    for label, hint in (("First", "river"), ("Second", "two words"), ("Third", "forest")):
        me.ask().get_by_label(label).fill(hint)
    me.ask().locator(".refused", has_text="two words").wait_for()
    marked = me.ask().locator("[aria-invalid=true]")
    assert [field.input_value() for field in marked.all()] == ["two words"]
