"""A study in real browsers: two participants, a phone, a crash, and an experimenter who watches."""

from __future__ import annotations

import os
import re

import pytest

from tests.web.browser import NEEDS_BROWSER, PHONE, server
from tests.web.participants import TEXT

pytestmark = NEEDS_BROWSER
SECRET = "a secret for the browser"
PAIRS = re.sub(
    r"\[\[conditions\]\] .*?(?=\[\[survey\]\])",
    '[[conditions]]\nname = "pairs"\npeople = ["agent", "partner"]\n',
    TEXT,
    flags=re.S,
).replace("rounds = 5", "rounds = 2")


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """`sally serve --study`, running."""
    folder = tmp_path_factory.mktemp("served")
    (folder / "study.toml").write_text(PAIRS)
    os.environ["SALLY_EXPERIMENTER_SECRET"] = SECRET
    try:
        with server(folder, more=("--study", str(folder / "study.toml"))) as single_server:
            yield single_server
    finally:
        del os.environ["SALLY_EXPERIMENTER_SECRET"]


def come_in(person, id: str) -> None:
    """From the platform's link to the first round."""
    page, kind = person.page, "" if id == "one" else "_phone"
    page.goto(f"{person.address}/study/two_games?PROLIFIC_PID={id}")
    page.get_by_label("I have read this").check()
    person.shot(f"study_consent{kind}")
    page.get_by_role("button", name="Take part", exact=True).click()
    for _ in range(2):
        page.get_by_role("heading", name="Instructions").wait_for()
        page.get_by_role("button", name="Continue").click()
    page.get_by_label("At the same time").check()
    page.get_by_label("1 cent").check()
    person.shot(f"study_check{kind}")
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("heading", name="Game 1 of 2").wait_for()


def to_the_table(person) -> None:
    person.page.get_by_role("link", name="Start the game").click()
    person.page.get_by_role("button", name="I have read the rules").click()


def finish(person) -> None:
    """Back from the last table: survey and code."""
    page = person.page
    page.get_by_role("link", name="Continue").click()
    page.get_by_role("heading", name="Final questions").wait_for()
    page.get_by_label("4", exact=True).check()
    page.get_by_label("A phone").check()
    person.shot("study_survey")
    page.get_by_role("button", name="Continue").click()
    page.get_by_text("C1A2B3").wait_for()
    person.shot("study_end")


def no_sideways_scrolling(person) -> bool:
    width = person.page.evaluate("document.documentElement.scrollWidth")
    return width <= person.page.viewport_size["width"]


def test_two_participants_finish_despite_a_crash_while_experimenter_watches(person, served):
    watcher = person(excused="ERR_|Failed to load|NetworkError")
    watcher.page.goto(f"{served.address}/experimenter")
    watcher.page.get_by_label("secret").fill(SECRET)
    watcher.page.keyboard.press("Enter")
    watcher.page.get_by_text("No match is in progress").wait_for()

    first, two = person(excused="ERR_|Failed to load"), person(excused="ERR_|Failed", **PHONE)
    come_in(first, "one")
    first.page.get_by_text("Waiting for another participant").wait_for()
    come_in(two, "two")
    first.page.get_by_role("link", name="Start the game").wait_for()  # by itself, without a reload
    watcher.page.get_by_text("Matches in progress (1)").wait_for()
    watcher.shot("explorer_live")
    assert no_sideways_scrolling(two)

    for item in (first, two):
        to_the_table(item)
    for item in (first, two):
        item.pick("J")
    served.kill()
    served.start()
    for item in (first, two):
        item.page.get_by_text("round 2").first.wait_for()
    for item in (first, two):
        item.pick("J")
    for item in (first, two):
        item.page.get_by_role("link", name="Continue").click()
        item.page.get_by_role("heading", name="Game 2 of 2").wait_for()
        to_the_table(item)
    for _ in range(2):
        for item in (first, two):
            item.pick("J")
    for item in (first, two):
        finish(item)
        assert no_sideways_scrolling(item)

    watcher.page.goto(f"{served.address}/experimenter/study")
    watcher.page.get_by_label("secret").fill(SECRET)  # sessions end with the server
    watcher.page.keyboard.press("Enter")
    watcher.page.get_by_text("2 of 40 done").wait_for()
    watcher.shot("study_progress")
    watcher.page.get_by_role("button", name="Export to the store").click()
    watcher.page.get_by_text("2 episodes were exported").wait_for()


def test_experimenter_steps_through_a_game_by_keyboard_on_a_phone(person, served):
    me = person(**PHONE)
    me.page.goto(f"{served.address}/experimenter/episodes")
    me.page.get_by_label("secret").fill(SECRET)
    me.page.keyboard.press("Enter")
    me.page.locator("tbody a").first.click()
    me.page.get_by_role("link", name="View of agent").click()
    me.page.get_by_role("heading", name="Move").wait_for()
    assert "turn=0" in me.page.url and no_sideways_scrolling(me)
    for stop in ("turn=1", "turn=end"):
        me.page.wait_for_load_state("load")  # with its script
        me.page.keyboard.press("ArrowRight")
        me.page.wait_for_url(f"**{stop}")
    me.page.get_by_text("agent got").wait_for()
    me.page.keyboard.press("ArrowLeft")
    me.page.wait_for_url("**turn=1")
    me.page.wait_for_load_state("load")
    assert me.page.locator("[data-board] .part").count() >= 1
    me.shot("explorer_seat_phone")


def test_countdown_warns_and_starts_after_the_rules_and_late_answer_forfeits(person, tmp_path):
    alone = 'people = ["agent"]\nothers = { partner = { player = "tit_for_tat" } }'
    hurried = PAIRS.replace('people = ["agent", "partner"]', alone)
    assert hurried.count("answer_seconds = 300") == 1
    (tmp_path / "study.toml").write_text(hurried.replace("= 300", "= 4"))
    with server(tmp_path, more=("--study", str(tmp_path / "study.toml"))) as served:
        me = person(address=served.address)
        come_in(me, "one")
        page = me.page
        page.get_by_role("link", name="Start the game").click()
        page.get_by_role("button", name="I have read the rules").wait_for()
        spoken = re.compile("Only . seconds? left; then this turn is lost")  # once, as an alert
        page.locator("#hurry", has_text=spoken).wait_for(state="attached")
        page.locator("#clock.hurry", has_text="seconds").wait_for()
        page.locator("#lines li").first.wait_for()  # the turn is lost, and the game goes on
        page.get_by_role("button", name="I have read the rules").click()
        with page.expect_request("**/api/seat/answer") as sent:
            me.pick("J")
        assert 0 <= sent.value.post_data_json["shown_seconds"] < 2  # not the time for the rules
        page.get_by_role("link", name="Continue").wait_for()  # the second round was played
        page.goto("about:blank")  # before the server stops
