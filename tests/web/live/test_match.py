"""Live matches: what is rebuilt from the database, and what happens when it cannot be written."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sally import store
from sally.core.errors import BadInput, NotAsked
from sally.core.log.events import Censored, Episode, PlayerSpec
from sally.core.match.partner import Partner
from sally.core.match.player import Decision, PlayerKind
from sally.core.registry import registry
from sally.web.database import StorageFull
from sally.web.live.match import MatchDiscarded
from sally.web.live.matches import LiveMatches, NoSuchSeat, OpenedMatch
from tests.web.live_matches import AGAINST_A_BOT, live_matches, say, setup, stored, until

PERSON = {"partner": PlayerSpec("person")}

# --- rebuilt ------------------------------------------------------------------------------------

BOTS = ("random", "tit_for_tat", "q_learning", "tabular", "forgetful", "mixed")


class Forgetful(msgspec.Struct, frozen=True):
    """Counts its moves in its notes, which are no plain data; its view would tell, too."""

    def decide(self, turn: Any) -> Decision[int]:
        count = 0 if turn.memory is None else turn.memory[object]
        return Decision(int(count % 3 == 2), {object: count + 1})


@pytest.mark.parametrize("bot", BOTS)
def test_restart_after_every_move_changes_nothing(
    bot: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forgetful = PlayerKind("forgetful", "", lambda spec, game, seat: Forgetful())
    monkeypatch.setitem(registry._added["players"], "here", {"forgetful": forgetful})
    monkeypatch.setattr(registry, "_results", {})  # a cached list of players lacks this one
    asked_setup, moves = (
        setup("ipd", "agent", {"partner": PlayerSpec(bot)}, rounds=8),
        [0, 1, 1, 0] * 2,
    )

    async def at_once() -> None:
        async with live_matches(tmp_path / "one") as live:
            token = (await live.open(asked_setup, ["agent"])).tokens["agent"]
            for n, move in enumerate(moves):
                await say(live, token, move, str(n))

    async def with_restarts() -> None:
        async with live_matches(tmp_path / "two") as live:
            token = (await live.open(asked_setup, ["agent"])).tokens["agent"]
        for n, move in enumerate(moves):
            async with live_matches(tmp_path / "two") as live:
                await say(live, token, move, str(n))

    asyncio.run(at_once())
    asyncio.run(with_restarts())
    (episode,), (two,) = stored(tmp_path / "one"), stored(tmp_path / "two")
    assert msgspec.json.encode(episode) == msgspec.json.encode(two)


def test_bot_that_plays_differently_after_restart_stops_the_match(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fickle(move: int) -> Partner:
        return Partner("fickle", "", "here", lambda game, seat: lambda turn: move)

    async def run() -> str:
        registry.add("partners", "repeated_games.fickle", fickle(0))
        async with live_matches(tmp_path) as match_host:
            asked_setup = setup("ipd", "agent", {"partner": PlayerSpec("fickle")}, rounds=5)
            token = (await match_host.open(asked_setup, ["agent"])).tokens["agent"]
            await say(match_host, token, 0, "a")
        registry.add("partners", "repeated_games.fickle", fickle(1))
        async with live_matches(tmp_path) as match_host:
            live, seat = await match_host.seat(token)
            return str((await live.screen(seat)).over.text)  # type: ignore[union-attr]

    try:
        assert asyncio.run(run()) == "A player could not be reached, so the game was stopped."
    finally:
        registry._added["partners"].pop("repeated_games.fickle")
    (episode,) = stored(tmp_path)
    assert isinstance(episode.end, Censored) and "plays differently" in episode.end.detail


def test_stopped_match_is_rebuilt_as_it_was_stopped(tmp_path: Path) -> None:
    async def run() -> None:
        async with live_matches(tmp_path) as match_host:
            people = ["agent", "partner"]
            opened = await match_host.open(setup("ipd", "agent", PERSON, rounds=2), people)
            await say(match_host, opened.tokens["partner"], 1, "a")
            live = await match_host.find(opened.match)
            await live.leave("agent", "closed the page")
            stopped = live.match.episode()
        async with live_matches(tmp_path) as match_host:
            assert (await match_host.find(opened.match)).match.episode() == stopped

    asyncio.run(run())


def test_look_ups_before_a_restart_are_logged_with_the_move(tmp_path: Path) -> None:
    async def run() -> None:
        everyone = {seat: PlayerSpec("person") for seat in ("bo", "cy")}
        async with live_matches(tmp_path) as match_host:
            opened = await match_host.open(setup("haggle", "ada", everyone), ["ada", "bo", "cy"])
            live = await match_host.find(opened.match)
            seat = live.match.asks()[0].seat
            ask = (await live.screen(seat)).asks[0].id
            progress_snapshot = await live.look(seat, ask, "worth", {})
        async with live_matches(tmp_path) as match_host:
            live = await match_host.find(opened.match)
            (look,) = live.match.asks()[0].looked
            assert (look.tool, look.found) == ("worth", progress_snapshot)

    asyncio.run(run())


def test_match_of_other_rules_reports_that_it_cannot_continue(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run() -> None:
        async with live_matches(tmp_path) as live:
            asked_setup = setup("ipd", "agent", AGAINST_A_BOT, rounds=5)
            token = (await live.open(asked_setup, ["agent"])).tokens["agent"]
        newer = replace(registry.game("ipd"), version=99)
        monkeypatch.setattr(registry, "game", lambda _: newer)
        async with live_matches(tmp_path) as live:
            with pytest.raises(NotAsked, match="cannot be continued: ipd is at rules version 99"):
                await live.seat(token)
        monkeypatch.undo()
        async with live_matches(tmp_path) as live:  # nothing was lost: the old rules are back
            assert await say(live, token, 0, "a")

    asyncio.run(run())


def test_answer_at_the_last_moment_does_not_count_as_leaving(tmp_path: Path) -> None:
    async def run() -> None:
        async with live_matches(tmp_path) as match_host:
            asked_setup = setup("ipd", "agent", AGAINST_A_BOT, rounds=2)
            live = await match_host.find((await match_host.open(asked_setup, ["agent"])).match)
            live.patience = 0.0
            async with live.lock:  # an answer is being written
                sweeping = asyncio.create_task(live.stop_if_overdue(time.monotonic() + 1))
                await asyncio.sleep(0.01)
                live.patience = 900.0
            await sweeping
            assert not live.match.over
            live.patience = 0.0
            await live.stop_if_overdue(time.monotonic() + 1)
            assert live.match.over

    asyncio.run(run())


# --- storage that fails -------------------------------------------------------------------------


def test_full_disk_does_not_change_the_match(tmp_path: Path) -> None:
    async def run() -> None:
        async with live_matches(tmp_path) as match_host:
            opened = await match_host.open(
                setup("ipd", "agent", AGAINST_A_BOT, rounds=3), ["agent"]
            )
            token = opened.tokens["agent"]
            await say(match_host, token, 0, "a")
            screen_before = await (await match_host.find(opened.match)).screen("agent")
            real, match_host.database.run = match_host.database.run, full  # type: ignore[method-assign]
            (await match_host.find(opened.match))._database = match_host.database
            with pytest.raises(StorageFull):
                await say(match_host, token, 1, "b")
            match_host.database.run = real  # type: ignore[method-assign]
            live = await match_host.find(opened.match)
            screen_after = await live.screen("agent")
            # the match was loaded again: its version is new and its deadline counts from then
            assert screen_after.due >= screen_before.due
            assert screen_before == msgspec.structs.replace(
                screen_after, version=screen_before.version, due=screen_before.due
            )
            assert await say(match_host, token, 1, "b") > screen_before.version
            assert (await match_host.find(opened.match)).written == 5  # the bot is a move ahead

    async def full(job: Any) -> Any:
        raise StorageFull("no space left")

    asyncio.run(run())


def test_commit_with_lost_acknowledgement_is_not_repeated(tmp_path: Path) -> None:
    async def run() -> None:
        async with live_matches(tmp_path) as match_host:
            opened = await match_host.open(
                setup("ipd", "agent", AGAINST_A_BOT, rounds=3), ["agent"]
            )
            live = await match_host.find(opened.match)
            real = match_host.database.run

            async def twice(job: Any) -> Any:
                await real(job)
                return await real(job)

            ask = (await live.screen("agent")).asks[0].id
            match_host.database.run = twice  # type: ignore[method-assign]
            with pytest.raises(MatchDiscarded):
                await live.answer("agent", ask, 0, "a")
            match_host.database.run = real  # type: ignore[method-assign]
            second_result = await match_host.find(opened.match)
            assert second_result is not live and await second_result.answer("agent", ask, 0, "a")
            assert second_result.written == 3  # the bot is a move ahead

    asyncio.run(run())


@pytest.mark.parametrize("after", ["writing", "half of it"])
def test_episode_is_stored_exactly_once_despite_failures(
    after: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def two_games(item: LiveMatches) -> None:
        for seed in (1, 2):
            asked_setup = setup("ipd", "agent", AGAINST_A_BOT, seed, rounds=1)
            opened = await item.open(asked_setup, ["agent"])
            await say(item, opened.tokens["agent"], 0, "a")

    async def fails(item: LiveMatches) -> None:
        monkeypatch.setattr("sally.web.live.matches.RETRY", 0.05)
        if after == "half of it":
            add, added, refused = store.Writer.add, [], []

            def first_only(self: Any, episode: Episode) -> None:
                if added:
                    refused.append(episode)
                    raise BadInput("The episode could not be stored: no space left.")
                added.append(episode)
                add(self, episode)

            monkeypatch.setattr(store.Writer, "add", first_only)
            await two_games(item)
            await until(lambda: bool(refused))
            monkeypatch.setattr(store.Writer, "add", add)
            await until(lambda: len(stored(tmp_path)) == 2)
        else:
            real = item.database.run

            async def no_mark(job: Any, *arguments: Any) -> Any:
                if job.__name__ == "mark":
                    raise StorageFull("no space left")
                return await real(job, *arguments)

            item.database.run = no_mark  # type: ignore[method-assign]
            await two_games(item)
            await until(lambda: len(stored(tmp_path)) == 2)

    async def run() -> None:
        async with live_matches(tmp_path) as live:
            await fails(live)
        async with live_matches(tmp_path) as live:
            left = await live.database.run(
                lambda tx: tx.all("SELECT id FROM matches WHERE stored = 0")
            )
            for _ in range(3000):
                left = await live.database.run(
                    lambda tx: tx.all("SELECT id FROM matches WHERE stored = 0")
                )
                if not left:
                    break
                await asyncio.sleep(0.02)
            assert left == []

    asyncio.run(run())
    contents = store.load(tmp_path / "episodes")
    assert len(contents.episodes) == 2 and contents.doubled == 0


# --- for those who build on it ------------------------------------------------------------------


def test_owned_matches_are_left_to_their_owner_and_can_be_discarded(tmp_path: Path) -> None:
    texts: list[str] = []

    async def run() -> None:
        async with live_matches(tmp_path) as live:

            async def watch(match: str, episode: Episode) -> None:
                texts.append(match)

            live.watchers.append(watch)
            asked_setup = setup("ipd", "agent", AGAINST_A_BOT, rounds=1)
            opened: OpenedMatch = await live.open(
                asked_setup, ["agent"], owner="study:x", cell="a cell"
            )
            assert await live.episode(opened.match) is None
            await say(live, opened.tokens["agent"], 0, "a")
            episode = await live.episode(opened.match)
            assert episode is not None and episode.cell == "a cell"
            await until(lambda: texts == [opened.match])
            await live.forget(opened.match)
            for table in ("matches", "seats", "answers"):
                rows = await live.database.run(lambda tx, t=table: tx.all(f"SELECT * FROM {t}"))
                assert rows == []

    asyncio.run(run())
    assert stored(tmp_path) == []


def test_match_discarded_during_rebuild_is_gone(tmp_path: Path) -> None:
    async def run() -> None:
        async with live_matches(tmp_path) as match_host:
            opened = await match_host.open(setup("ipd", "agent", AGAINST_A_BOT), ["agent"])
            match_host._by_id.clear()
            finding, forgetting = match_host.find(opened.match), match_host.forget(opened.match)
            live, _ = await asyncio.gather(finding, forgetting, return_exceptions=True)
            if not isinstance(live, NoSuchSeat):  # rebuilt before it was deleted
                with pytest.raises(MatchDiscarded):
                    await live.screen("agent")
            with pytest.raises(NoSuchSeat):
                await match_host.seat(opened.tokens["agent"])

    asyncio.run(run())
