"""The page in a real browser: no reply runs, nothing is fetched, a phone scrolls down only."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import combinations, product
from pathlib import Path
from typing import Any

import pytest

from sally.analysis.pairs.comparison import PairComparison
from sally.output.page.document import write_document
from sally.output.page.page_data import PageData
from sally.output.page.pair_comparison import picture
from sally.output.page.profile import profile_section
from sally.output.page.write import PageOptions, write_page
from sally.runner.check import prompts_of
from tests.output.hostile import NAME, REPLIES, hostile_store
from tests.output.test_figures import row
from tests.web.browser import ARGS, CHROMIUM, NEEDS_BROWSER

pytestmark = NEEDS_BROWSER


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("hostile")
    page_data, made = PageData(hostile_store(folder / "store")), datetime(2026, 1, 2, tzinfo=UTC)
    write_page(page_data, folder / "page.html", PageOptions(prompts_of=prompts_of, made=made))
    return (folder / "page.html").as_uri()


@pytest.fixture(scope="module")
def chromium(address: str) -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(ARGS))
        yield browser
        browser.close()


def open_page(chromium: Any, address: str, **options: Any) -> tuple[Any, list[str]]:
    """The page, and all that it fetched or complained about."""
    page = chromium.new_context(**options).new_page()
    noticed: list[str] = []
    page.on("request", lambda request: noticed.append(request.url))
    page.on("console", lambda said: noticed.append(said.text))
    page.on("pageerror", lambda error: noticed.append(str(error)))
    page.on("dialog", lambda dialog: noticed.append(dialog.message))
    page.goto(address)
    page.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = true })")
    return page, noticed


def test_replies_execute_nothing_and_nothing_is_fetched(chromium: Any, address: str) -> None:
    page, noticed = open_page(chromium, address)
    page.mouse.move(300, 300)
    assert noticed == [address]
    assert page.title() == "hostile: Sally report"
    assert page.locator("script").count() == page.locator("style").count() == 1
    assert page.locator("img, iframe, form, object, embed").count() == 0
    assert page.locator("main").evaluate("(main) => getComputedStyle(main).display") == "block"
    assert all(href.startswith("#") for href in page.locator("a").evaluate_all(
        "(links) => links.map((link) => link.getAttribute('href'))"))  # fmt: skip


def test_replies_are_shown_verbatim(chromium: Any, address: str) -> None:
    page, _ = open_page(chromium, address)
    value = page.evaluate("document.querySelector('main').textContent")
    for reply in REPLIES:
        if "\u202e" not in reply:
            assert reply in value
    assert "U+202Eright to leftU+202C and aU+0000zero" in value
    assert "\u202e" not in value
    assert NAME in value


def test_page_does_not_scroll_sideways(chromium: Any, address: str) -> None:
    page, _ = open_page(chromium, address)
    for width, scheme in product((390, 1280), ("light", "dark")):
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate("[innerWidth, document.documentElement.scrollWidth]") == [width] * 2


def test_colours_follow_the_system_and_the_switch(chromium: Any, address: str) -> None:
    page, _ = open_page(chromium, address, color_scheme="dark")

    def paper() -> int:
        shade = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return int(shade.removeprefix("rgb(").partition(",")[0])

    assert paper() < 80
    page.locator("label[for=light]").click()
    assert paper() > 200
    page.locator("label[for=auto]").click()
    assert paper() < 80


def test_column_can_be_sorted_by_keyboard_in_both_directions(chromium: Any, address: str) -> None:
    page, _ = open_page(chromium, address)
    table = page.locator("details.list table").first
    head = table.locator("th", has_text="repeat")

    def repeats() -> list[str]:
        return table.locator("tbody td:nth-child(3)").all_inner_texts()

    head.locator("button").focus()
    page.keyboard.press("Enter")
    assert repeats() == ["0", "1", "2"] and head.get_attribute("aria-sort") == "ascending"
    page.keyboard.press("Enter")
    assert repeats() == ["2", "1", "0"] and head.get_attribute("aria-sort") == "descending"


def test_mean_links_to_episodes_and_episode_to_transcript(chromium: Any, address: str) -> None:
    page, _ = open_page(chromium, address)
    page.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = false })")
    page.locator("table.sortable a[href*='-']").first.click()
    assert page.locator("th:target").is_visible()
    page.locator("td.sought").nth(2).wait_for()  # the page hears of its address a moment later
    assert page.locator("td.sought").count() == 3
    page.locator("details[open] a[href^='#e-']").first.click()
    locator = page.locator("details.episode[open]")
    locator.wait_for()  # the page hears of its new address a moment later
    assert locator.count() == 1 and locator.locator("h3", has_text="Turn 0").is_visible()


def test_page_is_readable_without_its_script(chromium: Any, address: str) -> None:
    page = chromium.new_context(java_script_enabled=False).new_page()
    page.goto(address)
    assert page.locator("h1").inner_text() == "hostile"
    assert page.locator("th button").count() == 0
    page.locator("details.episode > summary").first.click()
    assert page.locator("details.episode[open] h3").first.is_visible()
    page.locator("table.sortable a[href*='-']").first.click()
    assert page.locator("th:target").is_visible()  # the browser opens what a link leads into


def test_long_name_does_not_cover_the_number_beside_it(chromium: Any, tmp_path: Path) -> None:
    section = profile_section(
        [row("own:a_player_with_a_long_name_of_40_letters")], lambda row: None
    )
    write_document(tmp_path / "page.html", "names", (), [str(section)])
    page, _ = open_page(
        chromium,
        (tmp_path / "page.html").as_uri(),
        viewport={"width": 390, "height": 800},
    )
    name, number = page.locator("table.sortable tbody tr").first.locator("> :visible").all()[:2]
    name_end = name.evaluate(
        "(cell) => { const text = document.createRange(); text.selectNodeContents(cell); "
        "return text.getBoundingClientRect().right }"
    )
    assert name_end <= number.bounding_box()["x"]


@pytest.mark.parametrize("width", [390, 1280])
def test_labels_below_the_axis_of_a_comparison_do_not_overlap(
    chromium: Any, tmp_path: Path, width: int
) -> None:
    names = ("server/Llama-3.1-70B-Instruct qa T=0", "server/Qwen2.5-72B-Instruct qa T=0")
    comparison = PairComparison(*names, (), None, None, ())
    write_document(tmp_path / "page.html", "labels", (), [str(picture(comparison))])
    page, _ = open_page(
        chromium,
        (tmp_path / "page.html").as_uri(),
        viewport={"width": width, "height": 800},
    )
    boxes = [label.bounding_box() for label in page.locator("svg text.axis").all()]
    assert len(boxes) >= 3
    for first, second in combinations(boxes, 2):
        left, right = sorted((first, second), key=lambda box: box["x"])
        upper, lower = sorted((first, second), key=lambda box: box["y"])
        is_beside = left["x"] + left["width"] <= right["x"]
        is_above = upper["y"] + upper["height"] <= lower["y"] + 2
        assert is_beside or is_above, (first, second)
