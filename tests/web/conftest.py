"""A server for all who ask, a browser for those who follow on each other; none is left behind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.web.browser import ARGS, CHROMIUM, DESK, Person, Server, missing, server


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """`sally serve`, running, with a user's own game on its shelf."""
    own = ("--use", str(Path(__file__).parent / "order_form.py"))
    with server(tmp_path_factory.mktemp("served"), own) as single_server:
        yield single_server


BROWSER = ExitStack()


@cache
def started() -> Any:
    """Debian's browser, until `BROWSER` is closed."""
    from playwright.sync_api import sync_playwright

    playwright = BROWSER.enter_context(sync_playwright())
    browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(ARGS))
    BROWSER.callback(browser.close)
    BROWSER.callback(started.cache_clear)
    BROWSER.callback(PROFILES.free.clear)
    return browser


@pytest.fixture
def chromium() -> Any:
    """One browser for as many tests with a browser as follow on each other."""
    return started()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Stop the browser before a test that does without: while it runs, `asyncio.run` does not."""
    ours = nextitem is not None and nextitem.nodeid.startswith("tests/web/")
    if not (ours and "chromium" in getattr(nextitem, "fixturenames", ())):
        BROWSER.close()


class Profiles:
    """Browser profiles, never shared, and cleared when given back.

    A new one for each test would start a process, load our scripts and compile them each time.
    """

    def __init__(self) -> None:
        self.free: dict[str, list[Any]] = {}

    def take(self, browser: Any, how: dict[str, Any]) -> Any:
        """Return an unused profile of this kind."""
        if free := self.free.get(repr(how)):
            return free.pop()
        new = {"reduced_motion": "reduce"} | {k: v for k, v in how.items() if k != "scripts"}
        context = browser.new_context(**new)
        for script in how.get("scripts", ()):  # on our pages alone, not on an empty one
            context.add_init_script(f"if (location.host) {{ {script.read_text()} }}")
        context.set_default_timeout(60_000)
        context.new_page()  # it stays: without a page there is no process to come back to
        return context

    def give_back(self, context: Any, how: dict[str, Any], address: str) -> None:
        """Clear a profile and give it back."""
        first, *opened = context.pages
        for page in opened:
            page.close()
        cdp_session = context.new_cdp_session(first)
        cdp_session.send("Storage.clearDataForOrigin", {"origin": address, "storageTypes": "all"})
        cdp_session.detach()
        context.clear_cookies()
        context.set_offline(False)
        self.free.setdefault(repr(how), []).append(context)


PROFILES = Profiles()


@pytest.fixture
def person(chromium: Any, served: Server) -> Iterator[Callable[..., Person]]:
    """Makes people, each with a browser profile of their own; their consoles must stay silent."""
    triples: list[tuple[Person, Any, dict[str, Any]]] = []

    def arrive(excused: str = "", address: str = "", **options: Any) -> Person:
        options = DESK | options
        context = PROFILES.take(chromium, options)
        single_person = Person(context.new_page(), address or served.address, excused)
        triples.append((single_person, context, options))
        return single_person

    yield arrive
    for first, context, how in triples:
        PROFILES.give_back(context, how, first.address)
        first.check()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print a visible line if the browser tests could not run."""
    if (reason := missing()) is not None:
        terminalreporter.write_line(
            f"THE BROWSER TESTS DID NOT RUN: {reason}.", red=True, bold=True
        )
