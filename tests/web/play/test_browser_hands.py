"""Hands and eyes: clicks, keys, thumbs, screen readers, light and dark."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.web.browser import NEEDS_BROWSER, PHONE, TOO_SMALL, UNFOLD, Person, Server

pytestmark = NEEDS_BROWSER
Arrive = Callable[..., Person]


def test_double_click_moves_once(person: Arrive, served: Server) -> None:
    me = person()
    me.sit(served.table("ipd", "agent", params={"rounds": 5})["token"])
    sent: list[str] = []
    me.page.on("request", lambda r: sent.append(r.url) if r.method == "POST" else None)
    for rounds in (1, 2):
        me.ask().locator(".options button").first.dblclick()
        me.page.locator("#lines li").nth(rounds - 1).wait_for()
        assert len(sent) == rounds  # whatever a click sends is sent before the click is over
        assert len(me.lines()) == rounds


def test_second_click_of_a_double_click_does_not_answer_the_next_question(
    person: Arrive, served: Server
) -> None:
    me = person()
    me.sit(served.table("ipd", "agent", params={"rounds": 5})["token"])
    box = me.ask().locator(".options button").first.bounding_box()
    assert box is not None
    mouse, question_before = me.page.mouse, me.question_id()
    sent: list[str] = []
    me.page.on("request", lambda r: sent.append(r.url) if r.method == "POST" else None)
    mouse.move(box["x"] + 20, box["y"] + 20)
    for nth in (1, 2):  # the board has moved the buttons by now, so the mouse follows
        mouse.down(click_count=nth)
        mouse.up(click_count=nth)
        me.until_taken(question_before)
        box = me.ask().locator(".options button").first.bounding_box()
        assert box is not None
        mouse.move(box["x"] + 20, box["y"] + 20)
    assert len(sent) == 1
    mouse.down()
    mouse.up()
    me.page.locator("#lines li").nth(1).wait_for()  # a click of its own counts
    assert len(sent) == len(me.lines()) == 2


def test_past_grows_by_appending_and_is_announced(person: Arrive, served: Server) -> None:
    me = person()
    me.sit(served.table("ipd", "agent", params={"rounds": 4})["token"])
    me.pick("J")
    assert me.page.get_by_role("log").get_attribute("aria-live") == "polite"
    log = me.page.get_by_role("log").get_by_role("list")
    log.evaluate("list => { list.firstElementChild.kept = true }")
    me.pick("F")
    assert log.evaluate("list => [list.children.length, list.firstElementChild.kept]") == [2, True]


def test_typed_text_survives_a_lost_connection(person: Arrive, served: Server) -> None:
    me = person(excused="ERR_FAILED")
    held: list[Any] = []
    me.page.route(re.compile(r"/api/seat\?since"), lambda route: held.append(route))
    me.sit(served.table("toma_sw", "guide")["token"])
    me.ask().get_by_label("Your message").fill("Wait for me")
    while not held:
        me.page.wait_for_timeout(20)
    held[0].abort()
    me.page.get_by_text("Connected again").wait_for()  # and all that is on the table came anew
    assert me.ask().get_by_label("Your message").input_value() == "Wait for me"
    me.page.unroute_all(behavior="ignoreErrors")


def test_whole_game_can_be_played_by_keyboard(person: Arrive, served: Server) -> None:
    me = person()
    me.page.goto(f"{me.address}/")
    me.page.locator(".tile").first.wait_for()
    keys = me.page.keyboard
    _tab_to(me, "document.activeElement.dataset.game === 'ipd'")
    keys.press("Enter")
    _tab_to(me, "document.activeElement.textContent === 'Settings'")
    keys.press("Enter")
    _tab_to(me, "document.activeElement.labels?.[0]?.textContent === 'Rounds'")
    keys.press("Control+A")
    keys.type("3")
    keys.press("Enter")  # sits down
    me.page.locator("#rules-read").wait_for()
    _tab_to(me, "document.activeElement.id === 'rules-read'")
    keys.press("Enter")
    assert "Which option" in _focused(me)
    keys.press("Tab")
    assert me.page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    keys.press("Enter")  # the first option
    me.page.locator("#lines li").wait_for()
    me.page.wait_for_function("() => document.activeElement.classList.contains('question')")
    keys.press("2")  # the second one, by its number
    me.page.locator("#lines li").nth(1).wait_for()
    me.page.wait_for_function("() => document.activeElement.classList.contains('question')")
    keys.press("Tab")
    keys.press("Tab")
    keys.press("Space")
    assert "Your result: " in me.result()
    assert [line[:22] for line in me.lines()] == [
        "Round 1: you picked J,",
        "Round 2: you picked F,",
        "Round 3: you picked F,",
    ]
    assert "The game is over" in _focused(me)
    _tab_to(me, "document.activeElement.textContent === 'Play another game'")


SLOW_RECEIPTS = """const ask = fetch;
fetch = async (path, ...how) => {
  const reply = await ask(path, ...how);
  while (path.endsWith('/answer') && !document.querySelector('#lines li'))
    await new Promise((done) => setTimeout(done, 10)); // until the news of it has been shown
  return reply;
};"""


def test_focus_advances_if_the_update_precedes_the_response(person: Arrive, served: Server) -> None:
    me = person()
    me.page.add_init_script(SLOW_RECEIPTS)
    me.sit(served.table("ipd", "agent", params={"rounds": 3})["token"])
    question_before = me.question_id()
    me.page.keyboard.press("1")
    me.page.locator("#lines li").wait_for()
    me.until_taken(question_before)
    assert "Which option" in _focused(me)


def test_forms_and_scales_can_be_used_by_keyboard(person: Arrive, served: Server) -> None:
    me = person()
    asked_probes = {"params": {"messages": 1}, "probes": ["target_likes"]}
    me.sit(served.table("mindgames", "persuader", **asked_probes)["token"])
    keys = me.page.keyboard
    for presses in ("Space", "ArrowRight"), ("Space",), ("ArrowLeft",):  # one scale after another
        keys.press("Tab")
        for press in presses:
            keys.press(press)
    chosen = "[...document.querySelectorAll('.probe input:checked')].map(i => i.value)"
    assert me.page.evaluate(chosen) == ["1", "0", "2"]
    keys.press("Tab")
    assert _focused(me) == "Answer"
    keys.press("Enter")
    me.page.wait_for_function("() => document.activeElement.classList.contains('question')")
    assert "What do you write" in _focused(me)
    keys.press("Tab")
    me.page.wait_for_function("() => document.activeElement.tagName === 'TEXTAREA'")
    keys.type("What do you like?")
    keys.press("Tab")  # the text does not hold the focus back
    assert _focused(me) == "Send"
    keys.press("Enter")
    assert "Your result: " in me.result()


REACHED = """() => {
  const found = [...document.querySelectorAll('a, button, input, select, textarea, summary')]
    .filter(e => e.checkVisibility());
  return found.filter(e => !e.reached && !(e.type === 'radio' && found.some(
    r => r.name === e.name && r.reached))).map(e => e.outerHTML.slice(0, 90));
}"""


def test_keyboard_reaches_everything_without_a_trap(person: Arrive, served: Server) -> None:
    me = person()
    me.sit(served.table("tradecraft", "p1")["token"])
    for _ in range(50):  # once round the page and on
        me.page.keyboard.press("Tab")
        me.page.evaluate("document.activeElement.reached = true")
    assert me.page.evaluate(REACHED) == []


def _tab_to(me: Person, condition: str) -> None:
    """Press Tab until something has the focus; a trap would never let it."""
    for _ in range(60):
        me.page.keyboard.press("Tab")
        if me.page.evaluate(condition):
            return
    raise AssertionError(f"the keyboard does not reach: {condition}")


def _focused(me: Person) -> str:
    """What has the focus says; nothing, if nothing has it: the page itself holds every word."""
    text = "document.activeElement === document.body ? '' : document.activeElement.textContent"
    return str(me.page.evaluate(text))


GAMES = (
    ("rps", "agent", ["their_odds"]),
    ("pick_the_right_stuff", "manager", ["true_box"]),
    ("toma_po", "player", ["their_choice"]),
    ("toma_mg", "player", []),
    ("toma_ag", "speaker", ["has_hint"]),
    ("toma_sw", "explorer", []),
    ("toma_sw", "eavesdropper", []),
    ("mindgames", "persuader", ["target_likes"]),
    ("tradecraft", "p1", ["v0"]),
    ("tradecraft", "p1", []),
    ("eleven_twenty", "player_1", []),
    ("beauty_contest", "player_1", ["their_move"]),
    ("hide_and_seek", "player_2", []),
    ("matching_pennies", "player_1", ["their_guess_of_me"]),
    ("hanabi", "ann", []),
    ("codenames", "guesser", []),
    ("taboo", "giver", []),
    ("cipher", "interceptor", []),
    ("bargaining", "buyer", []),
    ("public_goods", "player_1", []),
    ("step_race", "player_1", []),
    ("wavelength", "guesser", []),
)


def test_game_can_be_played_on_a_phone(person: Arrive, served: Server) -> None:
    me = person(**PHONE)
    me.page.goto(me.address)
    me.page.locator(".tile[data-game=rps]").tap()
    me.page.get_by_text("Settings").tap()
    me.page.get_by_label("Rounds").fill("2")
    assert me.page.evaluate("document.documentElement.scrollWidth") <= 390
    assert me.page.evaluate(TOO_SMALL) == []
    me.page.get_by_role("button", name="Play", exact=True).tap()
    me.page.get_by_role("button", name="I have read the rules").tap()
    for rounds in (1, 2):
        me.shot("phone")
        me.ask().locator(".options button").nth(1).tap()
        me.page.locator("#lines li").nth(rounds - 1).wait_for()
    assert "Your result: " in me.result()


CONTRASTS = """() => {
  const rgb = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(c => c / 255)
    .map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (e) => {
    for (; e; e = e.parentElement) {
      const colour = rgb(getComputedStyle(e).backgroundColor);
      if (colour.length < 4 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const poor = [];
  for (const e of document.querySelectorAll('body *')) {
    const own = [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
    if (!own || !e.checkVisibility() || e.closest('.unseen')) continue;
    const style = getComputedStyle(e);
    const [a, b] = [light(rgb(style.color)), light(behind(e))].sort((x, y) => y - x);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700)
      || e.matches('.sign'); // a shape: 3 to 1, as for pictures
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < (large ? 3 : 4.5)) poor.push(`${ratio.toFixed(2)} ${e.outerHTML.slice(0, 90)}`);
  }
  return poor;
}"""


def readable(me: Person) -> None:
    """Return whether all text has enough contrast, in light and dark mode."""
    for scheme in ("light", "dark"):
        me.page.emulate_media(color_scheme=scheme)
        assert me.page.evaluate(CONTRASTS) == [], scheme


def test_lobby_can_be_read_in_the_light_and_in_the_dark(person: Arrive) -> None:
    me = person()
    me.page.goto(me.address)
    me.page.locator(".tile[data-game=tradecraft]").click()
    readable(me)


@pytest.mark.parametrize(("game", "seat", "probes"), GAMES)
def test_every_game_can_be_read_in_light_and_dark_and_fits_a_phone_and_a_thumb(
    person: Arrive, served: Server, game: str, seat: str, probes: list[str]
) -> None:
    me = person()
    me.sit(served.table(game, seat, probes=probes)["token"], read_rules=False)
    me.page.locator("#asks .ask, #asides .probe").first.wait_for()
    readable(me)
    me.page.get_by_role("button", name="I have read the rules").click()
    if game == "mindgames":
        me.shot("mindgames_dark")
    me.page.emulate_media(color_scheme="light")
    for width in (768, 1280, 1920):
        me.move_to({"viewport": {"width": width, "height": 900}})
        assert me.page.evaluate("document.documentElement.scrollWidth") <= width
    me.move_to(PHONE)
    me.page.evaluate(UNFOLD)
    assert me.page.evaluate("document.documentElement.scrollWidth") <= 390
    assert me.page.evaluate(TOO_SMALL) == []
