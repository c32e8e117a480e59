"""Where things stand on the page, measured in a real browser at several widths."""

from __future__ import annotations

from collections.abc import Callable

from tests.web.browser import NEEDS_BROWSER, Person, Server

pytestmark = NEEDS_BROWSER
Arrive = Callable[..., Person]
HIDDEN = """() => [...document.querySelectorAll("#board .scroll")]
  .map((each) => each.scrollWidth - each.clientWidth)"""
BESIDE = """() => { const { scrollLeft, clientWidth, scrollWidth } =
  document.querySelector("#board .rounds").parentNode;
  return [scrollLeft, scrollWidth - clientWidth - scrollLeft]; }"""
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
