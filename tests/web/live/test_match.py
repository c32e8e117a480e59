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
    asked, moves = setup("ipd", "agent", {"partner": PlayerSpec(bot)}, rounds=8), [0, 1, 1, 0] * 2

    async def at_once() -> None:
        async with live_matches(tmp_path / "one") as one:
            token = (await one.open(asked, ["agent"])).tokens["agent"]
            for n, move in enumerate(moves):
                await say(one, token, move, str(n))

    async def with_restarts() -> None:
        async with live_matches(tmp_path / "two") as one:
            token = (await one.open(asked, ["agent"])).tokens["agent"]
        for n, move in enumerate(moves):
            async with live_matches(tmp_path / "two") as one:
                await say(one, token, move, str(n))

    asyncio.run(at_once())
    asyncio.run(with_restarts())
    (one,), (two,) = stored(tmp_path / "one"), stored(tmp_path / "two")
    assert msgspec.json.encode(one) == msgspec.json.encode(two)


def test_bot_that_plays_differently_after_restart_stops_the_match(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fickle(move: int) -> Partner:
        return Partner("fickle", "", "here", lambda game, seat: lambda turn: move)

    async def run() -> str:
        registry.add("partners", "repeated_games.fickle", fickle(0))
        async with live_matches(tmp_path) as one:
            asked = setup("ipd", "agent", {"partner": PlayerSpec("fickle")}, rounds=5)
            token = (await one.open(asked, ["agent"])).tokens["agent"]
            await say(one, token, 0, "a")
        registry.add("partners", "repeated_games.fickle", fickle(1))
        async with live_matches(tmp_path) as one:
            live, seat = await one.seat(token)
            return str((await live.screen(seat)).over.text)  # type: ignore[union-attr]

    try:
        assert asyncio.run(run()) == "A player could not be reached, so the game was stopped."
    finally:
        registry._added["partners"].pop("repeated_games.fickle")
    (episode,) = stored(tmp_path)
    assert isinstance(episode.end, Censored) and "plays differently" in episode.end.detail


def test_stopped_match_is_rebuilt_as_it_was_stopped(tmp_path: Path) -> None:
    async def run() -> None:
        async with live_matches(tmp_path) as one:
            people = ["agent", "partner"]
            opened = await one.open(setup("ipd", "agent", PERSON, rounds=2), people)
            await say(one, opened.tokens["partner"], 1, "a")
            live = await one.find(opened.match)
            await live.leave("agent", "closed the page")
            stopped = live.match.episode()
        async with live_matches(tmp_path) as one:
            assert (await one.find(opened.match)).match.episode() == stopped

    asyncio.run(run())


def test_look_ups_before_a_restart_are_logged_with_the_move(tmp_path: Path) -> None:
    async def run() -> None:
        everyone = {seat: PlayerSpec("person") for seat in ("bo", "cy")}
        async with live_matches(tmp_path) as one:
            opened = await one.open(setup("haggle", "ada", everyone), ["ada", "bo", "cy"])
            live = await one.find(opened.match)
            seat = live.match.asks()[0].seat
            ask = (await live.screen(seat)).asks[0].id
            found = await live.look(seat, ask, "worth", {})
        async with live_matches(tmp_path) as one:
            live = await one.find(opened.match)
            (look,) = live.match.asks()[0].looked
            assert (look.tool, look.found) == ("worth", found)

    asyncio.run(run())


def test_match_of_other_rules_reports_that_it_cannot_continue(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run() -> None:
        async with live_matches(tmp_path) as one:
            asked = setup("ipd", "agent", AGAINST_A_BOT, rounds=5)
            token = (await one.open(asked, ["agent"])).tokens["agent"]
        newer = replace(registry.game("ipd"), version=99)
        monkeypatch.setattr(registry, "game", lambda _: newer)
        async with live_matches(tmp_path) as one:
            with pytest.raises(NotAsked, match="cannot be continued: ipd is at rules version 99"):
                await one.seat(token)
        monkeypatch.undo()
        async with live_matches(tmp_path) as one:  # nothing was lost: the old rules are back
            assert await say(one, token, 0, "a")

    asyncio.run(run())


def test_answer_at_the_last_moment_does_not_count_as_leaving(tmp_path: Path) -> None:
    async def run() -> None:
        async with live_matches(tmp_path) as one:
            asked = setup("ipd", "agent", AGAINST_A_BOT, rounds=2)
            live = await one.find((await one.open(asked, ["agent"])).match)
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
        async with live_matches(tmp_path) as one:
            opened = await one.open(setup("ipd", "agent", AGAINST_A_BOT, rounds=3), ["agent"])
            token = opened.tokens["agent"]
            await say(one, token, 0, "a")
            before = await (await one.find(opened.match)).screen("agent")
            real, one.database.run = one.database.run, full  # type: ignore[method-assign]
            (await one.find(opened.match))._database = one.database
            with pytest.raises(StorageFull):
                await say(one, token, 1, "b")
            one.database.run = real  # type: ignore[method-assign]
            live = await one.find(opened.match)
            after = await live.screen("agent")
            assert msgspec.structs.replace(after, version=before.version) == before
            assert await say(one, token, 1, "b") > before.version
            assert (await one.find(opened.match)).written == 5  # the bot is a move ahead

    async def full(job: Any) -> Any:
        raise StorageFull("no space left")

    asyncio.run(run())


def test_commit_with_lost_acknowledgement_is_not_repeated(tmp_path: Path) -> None:
    async def run() -> None:
        async with live_matches(tmp_path) as one:
            opened = await one.open(setup("ipd", "agent", AGAINST_A_BOT, rounds=3), ["agent"])
            live = await one.find(opened.match)
            real = one.database.run

            async def twice(job: Any) -> Any:
                await real(job)
                return await real(job)

            ask = (await live.screen("agent")).asks[0].id
            one.database.run = twice  # type: ignore[method-assign]
            with pytest.raises(MatchDiscarded):
                await live.answer("agent", ask, 0, "a")
            one.database.run = real  # type: ignore[method-assign]
            again = await one.find(opened.match)
            assert again is not live and await again.answer("agent", ask, 0, "a")
            assert again.written == 3  # the bot is a move ahead

    asyncio.run(run())


@pytest.mark.parametrize("after", ["writing", "half of it"])
def test_episode_is_stored_exactly_once_despite_failures(
    after: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def two_games(one: LiveMatches) -> None:
        for seed in (1, 2):
            asked = setup("ipd", "agent", AGAINST_A_BOT, seed, rounds=1)
            opened = await one.open(asked, ["agent"])
            await say(one, opened.tokens["agent"], 0, "a")

    async def fails(one: LiveMatches) -> None:
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
            await two_games(one)
            await until(lambda: bool(refused))
            monkeypatch.setattr(store.Writer, "add", add)
            await until(lambda: len(stored(tmp_path)) == 2)
        else:
            real = one.database.run

            async def no_mark(job: Any, *given: Any) -> Any:
                if job.__name__ == "mark":
                    raise StorageFull("no space left")
                return await real(job, *given)

            one.database.run = no_mark  # type: ignore[method-assign]
            await two_games(one)
            await until(lambda: len(stored(tmp_path)) == 2)

    async def run() -> None:
        async with live_matches(tmp_path) as one:
            await fails(one)
        async with live_matches(tmp_path) as one:
            left = await one.database.run(
                lambda tx: tx.all("SELECT id FROM matches WHERE stored = 0")
            )
            for _ in range(3000):
                left = await one.database.run(
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
    told: list[str] = []

    async def run() -> None:
        async with live_matches(tmp_path) as one:

            async def watch(match: str, episode: Episode) -> None:
                told.append(match)

            one.watchers.append(watch)
            asked = setup("ipd", "agent", AGAINST_A_BOT, rounds=1)
            opened: OpenedMatch = await one.open(asked, ["agent"], owner="study:x", cell="a cell")
            assert await one.episode(opened.match) is None
            await say(one, opened.tokens["agent"], 0, "a")
            episode = await one.episode(opened.match)
            assert episode is not None and episode.cell == "a cell"
            await until(lambda: told == [opened.match])
            await one.forget(opened.match)
            for table in ("matches", "seats", "answers"):
                rows = await one.database.run(lambda tx, t=table: tx.all(f"SELECT * FROM {t}"))
                assert rows == []

    asyncio.run(run())
    assert stored(tmp_path) == []


def test_match_discarded_during_rebuild_is_gone(tmp_path: Path) -> None:
    async def run() -> None:
        async with live_matches(tmp_path) as one:
            opened = await one.open(setup("ipd", "agent", AGAINST_A_BOT), ["agent"])
            one._by_id.clear()
            finding, forgetting = one.find(opened.match), one.forget(opened.match)
            live, _ = await asyncio.gather(finding, forgetting, return_exceptions=True)
            if not isinstance(live, NoSuchSeat):  # rebuilt before it was deleted
                with pytest.raises(MatchDiscarded):
                    await live.screen("agent")
            with pytest.raises(NoSuchSeat):
                await one.seat(opened.tokens["agent"])

    asyncio.run(run())
