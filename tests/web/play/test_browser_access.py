"""Accessibility: no scrolling on phone and desktop, keyboard only, screen readers (axe)."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sally.core.registry import registry
from tests.table import unlike_games
from tests.web.axe import script
from tests.web.browser import NEEDS_BROWSER, PHONE, Person, Server

pytestmark = NEEDS_BROWSER
Arrive = Callable[..., Person]
GAMES = [n for n in unlike_games() if registry.game(n).game.__module__.startswith("sally.")]
AXE = script()
NO_AXE = "AXE-CORE CANNOT BE HAD HERE: no npm, or no net"
NEEDS_AXE = pytest.mark.skipif(AXE is None, reason=NO_AXE)
RUN = "async () => (await axe.run({resultTypes: ['violations']})).violations"
LAST = """() => { scrollTo(0, 0); return Math.max(...[...document.querySelectorAll(
  "#asks .ask button, #asks .ask input, #asks .ask textarea")].filter(e => e.checkVisibility())
  .map(e => e.getBoundingClientRect().bottom)); }"""


def violations(page: Any) -> list[str]:
    """Return the violations that axe-core finds on a page, minor ones included."""
    return [
        f"{found['impact']} {found['id']}: {found['nodes'][0]['html'][:120]}"
        for found in page.evaluate(RUN)
    ]


def store_games(me: Person, name: str) -> None:
    """A picture for the contact sheet, where the environment says that pictures are kept."""
    if folder := os.environ.get("SALLY_CONTACT_SHEETS"):
        Path(folder).mkdir(parents=True, exist_ok=True)
        me.page.screenshot(path=str(Path(folder) / f"{name}.png"))


def sat_down(me: Person, served: Server, game: str) -> None:
    seat = registry.game(game).build().seats[0]
    me.sit(served.table(game, seat)["token"])
    me.page.locator("#asks .ask").first.wait_for()


@pytest.mark.parametrize("game", GAMES)
def test_every_table_fits_desktop_and_phone_without_axe_violations(
    person: Arrive, served: Server, game: str
) -> None:
    me = person(scripts=(AXE,) if AXE else ())
    sat_down(me, served, game)
    store_games(me, f"desktop_{game}")
    last = me.page.evaluate(LAST)
    assert last <= 900, f"the last control ends at {last}, below the edge of a desk's screen"
    assert AXE is None or violations(me.page) == []
    me.move_to(PHONE)
    store_games(me, f"phone_{game}")
    assert me.page.evaluate("scrollX + document.documentElement.scrollWidth") <= 390
    last = me.page.evaluate(LAST)
    assert last <= 844, f"the last control ends at {last}, below the edge of a phone"
    if AXE is None:
        pytest.skip(f"It fits, and {NO_AXE}")


@NEEDS_AXE
def test_lobby_has_no_axe_violations_in_light_and_dark(person: Arrive) -> None:
    me = person(scripts=(AXE,))
    me.page.goto(me.address)
    me.page.locator(".tile[data-game=ipd]").click()
    me.page.get_by_role("button", name="Play", exact=True).wait_for()
    for scheme in ("light", "dark"):
        me.page.emulate_media(color_scheme=scheme)
        assert violations(me.page) == []


def test_row_of_the_matrix_can_be_pressed(person: Arrive, served: Server) -> None:
    me = person()
    me.sit(served.table("ipd", "agent", params={"rounds": 2})["token"])
    question_before = me.question_id()
    me.page.locator("#board .pick", has_text="J").click()
    me.until_taken(question_before)
    me.page.locator("#lines li", has_text="Round 1").wait_for()
    question_before = me.question_id()
    me.page.locator("#board .pick", has_text="F").focus()
    me.page.keyboard.press("Enter")
    assert "Your result" in me.result()


def test_rules_can_be_folded_and_opened_again(person: Arrive, served: Server) -> None:
    me = person()
    me.sit(served.table("ipd", "agent")["token"])
    assert me.page.locator("#rules").is_hidden()
    me.page.locator("#rules-again").click()
    assert me.page.locator("#rules-text").is_visible()
    me.page.locator("#rules-read").click()
    assert me.page.locator("#rules").is_hidden()


def test_animations_can_be_turned_off_and_stay_off(person: Arrive, served: Server) -> None:
    me = person()
    me.sit(served.table("ipd", "agent")["token"])
    me.page.get_by_label("Turn animations off").check()
    me.page.reload()
    me.page.locator("html.still").wait_for()
