"""Where things stand on the page, measured in a real browser at several widths."""

from __future__ import annotations

from collections.abc import Callable

from tests.web.browser import DESK, NEEDS_BROWSER, PHONE, Person, Server

pytestmark = NEEDS_BROWSER
Arrive = Callable[..., Person]
HIDDEN = """() => [...document.querySelectorAll("#board .scroll")]
  .map((each) => each.scrollWidth - each.clientWidth)"""
BESIDE = """() => { const { scrollLeft, clientWidth, scrollWidth } =
  document.querySelector("#board .rounds").parentNode;
  return [scrollLeft, scrollWidth - clientWidth - scrollLeft]; }"""
CUT = """() => {
  const cells = [...document.querySelector("#board .rounds").rows[0].cells];
  const [heading, ...columns] = cells.map((cell) => cell.getBoundingClientRect());
  const { right } = heading;
  return columns.filter((each) => each.left < right - 1 && each.right > right + 1).length; }"""
LOG = """() => {
  const past = document.querySelector(".past");
  return past.scrollHeight - past.clientHeight; }"""
LOG_FIRST = """() => Boolean(document.querySelector(".past")
  .compareDocumentPosition(document.querySelector("#turn")) & Node.DOCUMENT_POSITION_FOLLOWING)"""
WIDER = "() => document.documentElement.scrollWidth - innerWidth"


def test_payoff_table_keeps_its_third_column_at_every_width(person: Arrive, served: Server) -> None:
    me = person()
    me.sit(served.table("rps", "agent", params={"rounds": 20})["token"])
    for _ in range(10):
        question_before = me.question_id()
        me.ask().locator(".options button").last.click()
        me.until_taken(question_before)
    assert me.page.locator("#board .rounds thead th").last.inner_text() == "10"
    for width in (768, 1280, 1440, 1920):
        me.move_to({"viewport": {"width": width, "height": 900}})
        hidden = me.page.evaluate(HIDDEN)
        assert hidden and max(hidden) <= 0, (width, hidden)
        assert me.page.evaluate(WIDER) <= 0, width
    me.move_to({"viewport": {"width": 200, "height": 844}})
    me.page.reload()
    me.ask().wait_for()
    hidden_left, hidden_right = me.page.evaluate(BESIDE)
    assert hidden_left > 0 and hidden_right <= 1, "the last round is not in view after a reload"
    for width in (230, 260, 200):
        me.move_to({"viewport": {"width": width, "height": 844}})
        me.page.reload()
        me.ask().wait_for()
        assert me.page.evaluate(CUT) == 0, f"{width}: the headings of rows cover part of a round"


def test_log_that_answers_the_question_is_whole_and_any_other_says_where_it_goes_on(
    person: Arrive, served: Server
) -> None:
    me = person(**PHONE)
    me.sit(served.table("pick_the_right_stuff", "manager")["token"])
    assert me.page.evaluate(LOG) == 0
    past, turn = me.page.locator(".past"), me.page.locator("#turn")
    assert me.page.evaluate(LOG_FIRST), "the log that answers the question stands above it"
    assert turn.bounding_box()["y"] + turn.bounding_box()["height"] <= 845  # and the question stays
    assert turn.get_attribute("data-more") == "The list goes on below: scroll down."
    me.page.evaluate("scrollTo(0, document.body.scrollHeight)")
    me.page.locator("#turn:not([data-more])").wait_for()
    me.move_to(DESK)
    assert past.bounding_box()["x"] > turn.bounding_box()["x"]  # beside the question again
    assert past.bounding_box()["y"] < turn.bounding_box()["y"]
    me.move_to(PHONE)
    assert me.page.evaluate(LOG_FIRST)
    me.sit(served.table("toma_mg", "player")["token"])
    assert me.page.evaluate(LOG) > 0
    assert not me.page.evaluate(LOG_FIRST)
    heading = me.page.locator(".past > h2")
    assert past.get_attribute("data-below") == "more below"
    assert heading.get_attribute("data-above") is None
    past.evaluate("past => { past.scrollTop = past.scrollHeight; }")
    me.page.locator(".past > h2[data-above='more above']").wait_for()
    assert past.get_attribute("data-below") is None


def test_latest_line_stands_above_the_question_on_a_phone(person: Arrive, served: Server) -> None:
    me = person(**PHONE)
    me.sit(served.table("codenames", "giver")["token"])
    latest = me.page.locator("#latest")
    assert not latest.is_visible()  # nothing has happened since one's own move
    question_before = me.question_id()
    me.ask().get_by_label("Word").fill("ocean")
    me.ask().get_by_role("group", name="Number").get_by_role("radio", name="1").check()
    me.ask().get_by_role("button", name="Send").click()
    me.until_taken(question_before)
    assert me.lines()[-1] in latest.inner_text()
    assert latest.bounding_box()["y"] < me.ask().bounding_box()["y"]
    me.page.reload()
    me.ask().wait_for()
    assert me.lines()[-1] in latest.inner_text()
    me.move_to(DESK)
    assert not latest.is_visible()


def test_words_of_a_trade_form_stay_whole_on_a_phone(person: Arrive, served: Server) -> None:
    me = person(**PHONE)
    me.sit(served.table("tradecraft", "p1")["token"])
    me.page.locator("summary", has_text="Propose a trade").click()
    for label in me.ask().locator("form .field > label, form .field > legend").all():
        letter = label.evaluate("e => parseFloat(getComputedStyle(e).lineHeight)")
        assert label.bounding_box()["height"] < 2 * letter, label.inner_text()


def test_last_message_stands_free_above_the_next_question_on_a_phone(
    person: Arrive, served: Server
) -> None:
    me = person(**PHONE)
    me.sit(served.table("bargaining", "buyer")["token"])
    for words, bid in (("How about forty?", "40"), ("Forty again, and no more.", "")):
        question_before = me.question_id()
        me.ask().locator("textarea").fill(words)
        me.ask().get_by_role("button", name="Send").click()
        me.until_taken(question_before)
        if bid:
            question_before = me.question_id()
            me.ask().get_by_label("Your number", exact=True).fill(bid)
            me.ask().get_by_role("button", name="Answer").click()
            me.until_taken(question_before)
    message, turn, answer = (
        me.page.locator(place).last.bounding_box()
        for place in ("#talk li", "#turn", "#asks button[type=submit]")
    )
    assert message["y"] + message["height"] <= turn["y"]
    assert answer["y"] + answer["height"] <= PHONE["viewport"]["height"]
