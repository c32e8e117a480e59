"""Models and bots at a person's table: in tasks, at once, and when they fail."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sally.core.log.events import Censored, Moved, PlayerSpec
from sally.core.match.partner import Partner
from sally.core.prompt.model import Fault as ModelFault
from sally.core.registry import registry
from sally.models.stub import Scripted
from sally.runner.budget import Budget, Meter
from sally.runner.config import Config, Limits, ModelEntry
from sally.web.play.lobby import Lobby
from tests.web.live_matches import live_matches, say, setup, stored, until

# --- models -------------------------------------------------------------------------------------


class Counted:
    """A model that says the same thing and counts how often it was asked; or fails."""

    def __init__(self, reply: Any = "Option: F", seconds: float = 0.0) -> None:
        self.asked, self.seconds = 0, seconds
        self._model = Scripted(self._say)
        self._reply, self.name, self.can_score = reply, "counted", False

    def _say(self, messages: Any, settings: Any) -> Any:
        self.asked += 1
        return self._reply

    async def complete(self, *arguments: Any) -> Any:
        await asyncio.sleep(self.seconds)
        return await self._model.complete(*arguments)


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Any:
    made: dict[str, Counted] = {}

    def bring(item: Counted) -> Counted:
        made["counted"] = item
        registry._make_model.cache_clear()
        monkeypatch.setitem(registry._added["models"], "counted", lambda name: made["counted"])
        return item

    yield bring
    registry._make_model.cache_clear()


WITH_MODEL = {"partner": PlayerSpec("language", {"model": "counted"})}


def test_model_answers_while_the_person_thinks(tmp_path: Path, model: Any) -> None:
    asked = model(Counted())

    async def run() -> None:
        async with live_matches(tmp_path) as match_host:
            opened = await match_host.open(setup("ipd", "agent", WITH_MODEL, rounds=2), ["agent"])
            live = await match_host.find(opened.match)
            await until(lambda: live.written == 1)
            assert (await live.screen("agent")).lines == ()  # what it chose is not seen yet
            await say(match_host, opened.tokens["agent"], 0, "a")
            assert len((await live.screen("agent")).lines) == 1
            await until(lambda: live.written == 3)
            await say(match_host, opened.tokens["agent"], 0, "b")

    asyncio.run(run())
    (episode,) = stored(tmp_path)
    assert asked.asked == 2 and episode.payoffs == {"agent": 0.0, "partner": 20.0}
    their_events = [e for e in episode.events if isinstance(e, Moved) and e.seat == "partner"]
    assert all(e.calls and e.reply == "Option: F" for e in their_events)


def test_restart_does_not_repeat_answered_model_calls(tmp_path: Path, model: Any) -> None:
    asked = model(Counted())

    async def run() -> None:
        async with live_matches(tmp_path) as match_host:
            opened = await match_host.open(setup("ipd", "agent", WITH_MODEL, rounds=3), ["agent"])
            live = await match_host.find(opened.match)
            await until(lambda: live.written == 1)
        async with live_matches(tmp_path) as match_host:
            live = await match_host.find(opened.match)
            assert live.written == 1 and asked.asked == 1
            await say(match_host, opened.tokens["agent"], 0, "a")
            await until(lambda: live.written == 3)
        assert asked.asked == 2

    asyncio.run(run())


def test_model_that_was_thinking_when_the_server_died_is_asked_again(
    tmp_path: Path, model: Any
) -> None:
    slow = model(Counted(seconds=30))

    async def run() -> None:
        async with live_matches(tmp_path) as live:
            opened = await live.open(setup("ipd", "agent", WITH_MODEL, rounds=1), ["agent"])
            await say(live, opened.tokens["agent"], 0, "a")
            assert (await (await live.find(opened.match)).screen("agent")).waiting_for == ("",)
        slow.seconds = 0
        async with live_matches(tmp_path) as live:  # nobody comes; the server goes on by itself
            await until(lambda: bool(live._by_id) and not live.in_progress())

    asyncio.run(run())
    (episode,) = stored(tmp_path)
    assert episode.payoffs == {"agent": 0.0, "partner": 10.0}


def test_match_that_a_fault_ended_is_rebuilt_with_the_answers_before_it(
    tmp_path: Path, model: Any
) -> None:
    model(Counted(ModelFault("server", "down"), seconds=0.2))
    with_model = {"agent": PlayerSpec("language", {"model": "counted"})}

    async def run() -> None:
        async with live_matches(tmp_path) as match_host:
            opened = await match_host.open(
                setup("ipd", "partner", with_model, rounds=1), ["partner"]
            )
            live = await match_host.find(opened.match)
            await say(match_host, opened.tokens["partner"], 1, "a")  # before the model's call fails
            await until(lambda: live.match.over)
            ended = live.match.episode()
        assert [type(event) for event in ended.events] == [Moved, Censored]
        async with live_matches(tmp_path) as match_host:
            assert (await match_host.find(opened.match)).match.episode() == ended

    asyncio.run(run())


def test_failed_call_is_a_logged_fault_and_shows_a_message(tmp_path: Path, model: Any) -> None:
    model(Counted(ModelFault("auth", "the secret key sk-123 was refused")))

    async def run() -> Any:
        async with live_matches(tmp_path) as match_host:
            opened = await match_host.open(setup("ipd", "agent", WITH_MODEL, rounds=2), ["agent"])
            live = await match_host.find(opened.match)
            await until(lambda: live.match.over)
            return await live.screen("agent")

    screen = asyncio.run(run())
    assert screen.over.text == "A player could not be reached, so the game was stopped."
    assert b"sk-123" not in msgspec.json.encode(screen)
    (episode,) = stored(tmp_path)
    assert isinstance(episode.end, Censored)
    assert episode.end.cause == "fault" and episode.end.seat == "partner" and episode.end.calls


def test_model_calls_stop_at_the_budget(tmp_path: Path, model: Any) -> None:
    model(Counted())

    async def run() -> Any:
        async with live_matches(tmp_path, meter=Meter(Budget(tokens=50))) as match_host:
            opened = await match_host.open(setup("ipd", "agent", WITH_MODEL, rounds=9), ["agent"])
            live = await match_host.find(opened.match)
            await until(lambda: live.written == 1)
            await say(match_host, opened.tokens["agent"], 0, "a")
            await until(lambda: live.match.over)
            return await live.screen("agent")

    assert "budget" in asyncio.run(run()).over.text
    (episode,) = stored(tmp_path)
    assert isinstance(episode.end, Censored) and episode.end.cause == "budget"


def test_model_that_never_answers_is_timed_out(tmp_path: Path, model: Any) -> None:
    model(Counted(seconds=60))

    async def run() -> Any:
        limits = Config(limits=Limits(call_seconds=1))
        async with live_matches(tmp_path, meter=Meter(config=limits)) as match_host:
            opened = await match_host.open(setup("ipd", "agent", WITH_MODEL), ["agent"])
            live = await match_host.find(opened.match)
            await until(lambda: live.match.over)
            return await live.screen("agent")

    assert "longer than allowed" in asyncio.run(run()).over.text
    (episode,) = stored(tmp_path)
    assert isinstance(episode.end, Censored)
    assert (episode.end.cause, episode.end.detail) == ("limit", "no answer within 1 s")


def test_visitor_can_choose_a_model_by_alias(tmp_path: Path, model: Any) -> None:
    model(Counted())
    small = ModelEntry("counted", settings={"max_tokens": 12})

    async def run() -> PlayerSpec:
        async with live_matches(tmp_path, meter=Meter(config=Config({"small": small}))) as live:
            lobby = Lobby(live, ["small"])
            opened = await lobby.open("ipd", "agent", {"partner": "model:small"}, {})
            return (await live.find(opened.match)).match.setup.lineup["partner"]

    player = asyncio.run(run())
    assert player.player == "language"
    assert player.params == {"model": "counted", "settings": {"max_tokens": 12}}


def test_exception_in_a_bot_is_a_fault(tmp_path: Path) -> None:
    broken = Partner("broken", "", "here", lambda game, seat: lambda turn: 1 // 0)

    async def run() -> str:
        async with live_matches(tmp_path) as match_host:
            asked_setup = setup("ipd", "agent", {"partner": PlayerSpec("broken")})
            opened = await match_host.open(asked_setup, ["agent"])
            live = await match_host.find(opened.match)
            return str((await live.screen("agent")).over.how)  # type: ignore[union-attr]

    registry.add("partners", "repeated_games.broken", broken)
    try:
        assert asyncio.run(run()) == "censored"
    finally:
        registry._added["partners"].pop("repeated_games.broken")
    (episode,) = stored(tmp_path)
    assert isinstance(episode.end, Censored) and "ZeroDivisionError" in episode.end.detail
