"""People and models read the same past, whoever shows it to them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from sally.adapters.terminal import Person
from sally.core.display.scenes import tell
from sally.core.log.events import Episode, Injection, Instance, PlayerSpec, Setup
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.registry import registry
from sally.models.stub import always
from sally.output.files.transcript import transcript
from sally.output.page.transcripts import transcript_of
from sally.runner.check import prompts_of
from sally.runner.local import play
from sally.runner.seating import players_of, resolve_setup
from sally.web.explorer import perspective
from tests.web.live_matches import live_matches

ROUNDS = 4
INJECTIONS = {
    "the truth, kept": (Injection("agent", "their_move", keep=True), "Before round"),
    "one's own word, kept": (Injection("agent", "their_move", "own", keep=True), "Before round"),
    "the truth, for now": (Injection("agent", "their_move"), ""),
}


def setup_of(spec: PlayerSpec, injection: Injection) -> Setup:
    lineup = {"agent": spec, "partner": PlayerSpec("constant")}
    asked_probes = {"agent": ("their_move",)}
    return Setup(
        Instance("ipd", "ipd", {"rounds": ROUNDS}),
        5,
        lineup,
        arms=asked_probes,
        injections=(injection,),
    )


def of_a_model(setup: Setup) -> tuple[Episode, list[str]]:
    """The episode of a model, and the past on the page of its last move."""
    episode = play(resolve_setup(setup))
    (page,) = prompts_of(episode)[ROUNDS - 1, "agent", "", ""][0]
    rules = tell(episode).rules["agent"]
    past, now, _ = page.text.removeprefix(rules).partition(f"This is round {ROUNDS}.")
    assert now
    return episode, past.strip().split("\n")


def at_the_terminal(setup: Setup) -> list[str]:
    texts: list[str] = []
    match: Match = Match(registry.game("ipd"), setup)
    person = Person(texts.append, lambda prompt: "J")
    partner = {"partner": setup.lineup["partner"]}
    Driver(match, {"agent": person, **players_of(match, partner)}).run()
    return texts[1:]  # the rules come first


def in_a_live_browser(setup: Setup, folder: Path) -> list[str]:
    async def played() -> list[str]:
        async with live_matches(folder) as matches:
            token = (await matches.open(setup, ["agent"])).tokens["agent"]
            lines: list[str] = []

            async def step(live: Any, seat: str) -> bool:
                screen = await live.screen(seat)
                if screen.over is not None:
                    return False
                lines[:] = screen.lines  # as they stand at what is asked last
                await live.answer(seat, screen.asks[0].id, 0, screen.asks[0].id)
                return True

            while await matches.act_on(token, step):
                pass
            return lines

    return asyncio.run(played())


def on_the_page(episode: Episode) -> list[str]:
    sections = str(transcript_of(episode)).split("<section")
    own_text = "\n".join(part for part in sections if "<h4>agent" in part)
    return unescape(re.sub("<[^>]*>", "\n", own_text)).split("\n")


@pytest.fixture
def dull(monkeypatch: pytest.MonkeyPatch) -> PlayerSpec:
    monkeypatch.setitem(registry._added["models"], "dull", lambda name: always("Option: J"))
    return PlayerSpec("language", {"model": "dull", "strategy": "qa"})


@pytest.mark.parametrize("kind", INJECTIONS)
def test_all_five_renderings_and_the_prompt_show_the_same_past(
    kind: str, dull: PlayerSpec, tmp_path: Path
) -> None:
    injection, kept = INJECTIONS[kind]
    episode, past = of_a_model(setup_of(dull, injection))
    assert sum(bool(kept) and line.startswith(kept) for line in past) == (ROUNDS if kept else 0)
    person = setup_of(PlayerSpec("person"), injection)

    def told(lines: list[str]) -> list[str]:
        """Of all that is shown, what stands in the past or claims to."""
        return [line for line in lines if line in past or line.startswith("Before round")]

    # The words for people name options without "Option"; injected sentences are those of models.
    for_people = [re.sub("^Round.*", lambda m: m[0].replace("Option ", ""), line) for line in past]
    assert in_a_live_browser(person, tmp_path) == for_people
    assert list(perspective.turn_of_seat(tell(episode), "agent", ROUNDS - 1).lines) == past
    renderers: dict[str, Callable[[], list[str]]] = {
        "terminal": lambda: at_the_terminal(person),
        "transcript": lambda: list(transcript(episode, "agent")),
        "page": lambda: on_the_page(episode),
    }
    for name, shows in renderers.items():
        assert told(shows())[: len(past)] == past, name
