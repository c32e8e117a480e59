"""A server for all who ask, a browser for each module; none is left behind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.web.browser import ARGS, CHROMIUM, Person, Server, missing, server


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """`sally serve`, running, with a user's own game on its shelf."""
    own = ("--use", str(Path(__file__).parent / "order_form.py"))
    with server(tmp_path_factory.mktemp("served"), own) as one:
        yield one


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """Debian's browser. It is stopped with the module: while it runs, `asyncio.run` does not."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(ARGS))
        yield browser
        browser.close()


@pytest.fixture
def person(chromium: Any, served: Server) -> Iterator[Callable[..., Person]]:
    """Makes people, each with a browser profile of their own; their consoles must stay silent."""
    made: list[tuple[Person, Any]] = []

    def arrive(excused: str = "", address: str = "", **how: Any) -> Person:
        how.setdefault("viewport", {"width": 1200, "height": 900})
        context = chromium.new_context(reduced_motion="reduce", **how)
        context.set_default_timeout(60_000)
        one = Person(context.new_page(), address or served.address, excused)
        made.append((one, context))
        return one

    yield arrive
    for one, context in made:
        context.close()
        one.check()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Where no browser can be driven, one line says so that nobody overlooks."""
    if (why := missing()) is not None:
        terminalreporter.write_line(f"THE BROWSER TESTS DID NOT RUN: {why}.", red=True, bold=True)
