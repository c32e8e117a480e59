"""Live matches: bots at once, models in tasks, all of it rebuilt from the book."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sally import store
from sally.adapters.web.book import Book, StorageFull
from sally.adapters.web.house import House, Opened
from sally.adapters.web.room import GivenUp
from sally.core import shelf
from sally.core.errors import BadInput, NotAsked
from sally.core.log import Censored, Episode, Instance, Moved, Setup, Sitter
from sally.core.model import Fault as ModelFault
from sally.core.partner import Partner
from sally.core.player import Decision, PlayerKind
from sally.models.stub import Scripted
from sally.runner.budget import Budget, Meter
from sally.runner.config import Config, Limits


@asynccontextmanager
async def house(folder: Path, **how: Any) -> AsyncIterator[House]:
    book = Book(str(folder / "book.sqlite"))
    book.open()
    one = House(book, folder / "episodes", **how)
    await one.start()
    try:
        yield one
    finally:
        await one.close()
        book.close()


def setup(game: str, seat: str, others: dict[str, Sitter], seed: int = 5, **params: Any) -> Setup:
    return Setup(Instance(game, game, params), seed, {seat: Sitter("person"), **others})


async def say(one: House, token: str, value: Any, key: str) -> int:
    async def answer(room: Any, seat: str) -> int:
        sight = await room.sight(seat)
        return int(await room.answer(seat, sight.asks[0].id, value, key))

    return await one.at(token, answer)


async def until(done: Callable[[], bool]) -> None:
    for _ in range(400):
        if done():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it did not happen")


def stored(folder: Path) -> list[Episode]:
    return list(store.load(folder / "episodes").episodes.values())


AGAINST_A_BOT = {"partner": Sitter("tit_for_tat")}

# --- rebuilt ------------------------------------------------------------------------------------

BOTS = ("random", "tit_for_tat", "q_learning", "tabular", "forgetful", "mixed")


class Forgetful(msgspec.Struct, frozen=True):
    """Counts its moves in its notes, which are no plain data; its view would tell, too."""

    def decide(self, turn: Any) -> Decision[int]:
        count = 0 if turn.memory is None else turn.memory[object]
        return Decision(int(count % 3 == 2), {object: count + 1})


@pytest.mark.parametrize("bot", BOTS)
def test_a_restart_after_every_move_changes_nothing(
    bot: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forgetful = PlayerKind("forgetful", "", lambda spec, game, seat: Forgetful())
    monkeypatch.setitem(shelf._added["players"], "here", {"forgetful": forgetful})
    asked, moves = setup("ipd", "agent", {"partner": Sitter(bot)}, rounds=8), [0, 1, 1, 0] * 2

    async def at_once() -> None:
        async with house(tmp_path / "one") as one:
            token = (await one.open(asked, ["agent"])).tokens["agent"]
            for n, move in enumerate(moves):
                await say(one, token, move, str(n))

    async def with_restarts() -> None:
        async with house(tmp_path / "two") as one:
            token = (await one.open(asked, ["agent"])).tokens["agent"]
        for n, move in enumerate(moves):
            async with house(tmp_path / "two") as one:
                await say(one, token, move, str(n))

    asyncio.run(at_once())
    asyncio.run(with_restarts())
    (one,), (two,) = stored(tmp_path / "one"), stored(tmp_path / "two")
    assert msgspec.json.encode(one) == msgspec.json.encode(two)


def test_a_bot_that_plays_otherwise_after_a_restart_stops_the_match(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fickle(move: int) -> Partner:
        return Partner("fickle", "", "here", lambda game, seat: lambda turn: move)

    async def run() -> str:
        shelf.add("partners", "repeated_games.fickle", fickle(0))
        async with house(tmp_path) as one:
            asked = setup("ipd", "agent", {"partner": Sitter("fickle")}, rounds=5)
            token = (await one.open(asked, ["agent"])).tokens["agent"]
            await say(one, token, 0, "a")
        shelf.add("partners", "repeated_games.fickle", fickle(1))
        async with house(tmp_path) as one:
            room, seat = await one.seat(token)
            return str((await room.sight(seat)).over.text)  # type: ignore[union-attr]

    try:
        assert asyncio.run(run()) == "A player could not be reached, so the game was stopped."
    finally:
        shelf._added["partners"].pop("repeated_games.fickle")
    (episode,) = stored(tmp_path)
    assert isinstance(episode.end, Censored) and "plays otherwise" in episode.end.detail


def test_a_match_of_other_rules_says_that_it_cannot_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run() -> None:
        async with house(tmp_path) as one:
            asked = setup("ipd", "agent", AGAINST_A_BOT, rounds=5)
            token = (await one.open(asked, ["agent"])).tokens["agent"]
        newer = replace(shelf.game("ipd"), version=99)
        monkeypatch.setattr(shelf, "games", lambda: {"ipd": newer})
        async with house(tmp_path) as one:
            with pytest.raises(NotAsked, match="cannot go on: ipd is at rules version 99"):
                await one.seat(token)
        monkeypatch.undo()
        async with house(tmp_path) as one:  # nothing was lost: the old rules are back
            assert await say(one, token, 0, "a")

    asyncio.run(run())


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

    async def complete(self, *given: Any) -> Any:
        await asyncio.sleep(self.seconds)
        return await self._model.complete(*given)


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Any:
    made: dict[str, Counted] = {}

    def bring(one: Counted) -> Counted:
        made["counted"] = one
        shelf._made.cache_clear()
        monkeypatch.setitem(shelf._added["models"], "counted", lambda name: made["counted"])
        return one

    yield bring
    shelf._made.cache_clear()


WITH_MODEL = {"partner": Sitter("language", {"model": "counted"})}


def test_a_model_answers_while_the_person_thinks(tmp_path: Path, model: Any) -> None:
    asked = model(Counted())

    async def run() -> None:
        async with house(tmp_path) as one:
            opened = await one.open(setup("ipd", "agent", WITH_MODEL, rounds=2), ["agent"])
            room = await one.room(opened.match)
            await until(lambda: room.written == 1)
            assert (await room.sight("agent")).lines == ()  # what it chose is not seen yet
            await say(one, opened.tokens["agent"], 0, "a")
            assert len((await room.sight("agent")).lines) == 1
            await until(lambda: room.written == 3)
            await say(one, opened.tokens["agent"], 0, "b")

    asyncio.run(run())
    (episode,) = stored(tmp_path)
    assert asked.asked == 2 and episode.payoffs == {"agent": 0.0, "partner": 20.0}
    theirs = [e for e in episode.events if isinstance(e, Moved) and e.seat == "partner"]
    assert all(e.calls and e.reply == "Option: F" for e in theirs)


def test_a_restart_asks_no_model_again_for_what_it_has_said(tmp_path: Path, model: Any) -> None:
    asked = model(Counted())

    async def run() -> None:
        async with house(tmp_path) as one:
            opened = await one.open(setup("ipd", "agent", WITH_MODEL, rounds=3), ["agent"])
            room = await one.room(opened.match)
            await until(lambda: room.written == 1)
        async with house(tmp_path) as one:
            room = await one.room(opened.match)
            assert room.written == 1 and asked.asked == 1
            await say(one, opened.tokens["agent"], 0, "a")
            await until(lambda: room.written == 3)
        assert asked.asked == 2

    asyncio.run(run())


def test_a_model_that_was_thinking_when_the_server_died_is_asked_again(
    tmp_path: Path, model: Any
) -> None:
    slow = model(Counted(seconds=30))

    async def run() -> None:
        async with house(tmp_path) as one:
            opened = await one.open(setup("ipd", "agent", WITH_MODEL, rounds=1), ["agent"])
            await say(one, opened.tokens["agent"], 0, "a")
            assert (await (await one.room(opened.match)).sight("agent")).waiting_for == ("partner",)
        slow.seconds = 0
        async with house(tmp_path) as one:  # nobody comes; the house goes on by itself
            await until(lambda: bool(one._rooms) and not one.live())

    asyncio.run(run())
    (episode,) = stored(tmp_path)
    assert episode.payoffs == {"agent": 0.0, "partner": 10.0}


def test_a_failed_call_is_a_fault_in_the_log_and_a_sentence_for_the_person(
    tmp_path: Path, model: Any
) -> None:
    model(Counted(ModelFault("auth", "the secret key sk-123 was refused")))

    async def run() -> Any:
        async with house(tmp_path) as one:
            opened = await one.open(setup("ipd", "agent", WITH_MODEL, rounds=2), ["agent"])
            room = await one.room(opened.match)
            await until(lambda: room.match.over)
            return await room.sight("agent")

    sight = asyncio.run(run())
    assert sight.over.text == "A player could not be reached, so the game was stopped."
    assert b"sk-123" not in msgspec.json.encode(sight)
    (episode,) = stored(tmp_path)
    assert isinstance(episode.end, Censored)
    assert episode.end.cause == "fault" and episode.end.seat == "partner" and episode.end.calls


def test_models_stop_where_the_budget_ends(tmp_path: Path, model: Any) -> None:
    model(Counted())

    async def run() -> Any:
        async with house(tmp_path, meter=Meter(Budget(tokens=50))) as one:
            opened = await one.open(setup("ipd", "agent", WITH_MODEL, rounds=9), ["agent"])
            room = await one.room(opened.match)
            await until(lambda: room.written == 1)
            await say(one, opened.tokens["agent"], 0, "a")
            await until(lambda: room.match.over)
            return await room.sight("agent")

    assert "budget" in asyncio.run(run()).over.text
    (episode,) = stored(tmp_path)
    assert isinstance(episode.end, Censored) and episode.end.cause == "budget"


def test_a_model_that_never_answers_keeps_nobody_for_ever(tmp_path: Path, model: Any) -> None:
    model(Counted(seconds=60))

    async def run() -> Any:
        limits = Config(limits=Limits(call_seconds=1))
        async with house(tmp_path, meter=Meter(config=limits)) as one:
            opened = await one.open(setup("ipd", "agent", WITH_MODEL), ["agent"])
            room = await one.room(opened.match)
            await until(lambda: room.match.over)
            return await room.sight("agent")

    assert "longer than is allowed" in asyncio.run(run()).over.text
    (episode,) = stored(tmp_path)
    assert isinstance(episode.end, Censored)
    assert (episode.end.cause, episode.end.detail) == ("limit", "no answer within 1 s")


def test_a_bot_that_breaks_down_is_a_fault(tmp_path: Path) -> None:
    broken = Partner("broken", "", "here", lambda game, seat: lambda turn: 1 // 0)

    async def run() -> str:
        async with house(tmp_path) as one:
            asked = setup("ipd", "agent", {"partner": Sitter("broken")})
            opened = await one.open(asked, ["agent"])
            room = await one.room(opened.match)
            return str((await room.sight("agent")).over.how)  # type: ignore[union-attr]

    shelf.add("partners", "repeated_games.broken", broken)
    try:
        assert asyncio.run(run()) == "censored"
    finally:
        shelf._added["partners"].pop("repeated_games.broken")
    (episode,) = stored(tmp_path)
    assert isinstance(episode.end, Censored) and "ZeroDivisionError" in episode.end.detail


# --- storage that fails -------------------------------------------------------------------------


def test_a_full_disk_leaves_the_match_as_it_was(tmp_path: Path) -> None:
    async def run() -> None:
        async with house(tmp_path) as one:
            opened = await one.open(setup("ipd", "agent", AGAINST_A_BOT, rounds=3), ["agent"])
            token = opened.tokens["agent"]
            await say(one, token, 0, "a")
            before = await (await one.room(opened.match)).sight("agent")
            real, one.book.run = one.book.run, full  # type: ignore[method-assign]
            (await one.room(opened.match))._book = one.book
            with pytest.raises(StorageFull):
                await say(one, token, 1, "b")
            one.book.run = real  # type: ignore[method-assign]
            room = await one.room(opened.match)
            after = await room.sight("agent")
            assert msgspec.structs.replace(after, version=before.version) == before
            assert await say(one, token, 1, "b") > before.version
            assert (await one.room(opened.match)).written == 5  # the bot is a move ahead

    async def full(job: Any) -> Any:
        raise StorageFull("no space left")

    asyncio.run(run())


def test_a_commit_whose_answer_was_lost_is_found_and_not_repeated(tmp_path: Path) -> None:
    async def run() -> None:
        async with house(tmp_path) as one:
            opened = await one.open(setup("ipd", "agent", AGAINST_A_BOT, rounds=3), ["agent"])
            room = await one.room(opened.match)
            real = one.book.run

            async def twice(job: Any) -> Any:
                await real(job)
                return await real(job)

            ask = (await room.sight("agent")).asks[0].id
            one.book.run = twice  # type: ignore[method-assign]
            with pytest.raises(GivenUp):
                await room.answer("agent", ask, 0, "a")
            one.book.run = real  # type: ignore[method-assign]
            again = await one.room(opened.match)
            assert again is not room and await again.answer("agent", ask, 0, "a")
            assert again.written == 3  # the bot is a move ahead

    asyncio.run(run())


@pytest.mark.parametrize("after", ["writing", "half of it"])
def test_an_episode_is_stored_once_whatever_fails(
    after: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def two_games(one: House) -> None:
        for seed in (1, 2):
            asked = setup("ipd", "agent", AGAINST_A_BOT, seed, rounds=1)
            opened = await one.open(asked, ["agent"])
            await say(one, opened.tokens["agent"], 0, "a")

    async def fails(one: House) -> None:
        monkeypatch.setattr("sally.adapters.web.house.RETRY", 0.05)
        if after == "half of it":
            add, added = store.Writer.add, []

            def first_only(self: Any, episode: Episode) -> None:
                if added:
                    raise BadInput("The episode could not be stored: no space left.")
                added.append(episode)
                add(self, episode)

            monkeypatch.setattr(store.Writer, "add", first_only)
            await two_games(one)
            await until(lambda: len(added) == 1)
            await asyncio.sleep(0.1)
            monkeypatch.setattr(store.Writer, "add", add)
            await until(lambda: len(stored(tmp_path)) == 2)
        else:
            real = one.book.run

            async def no_mark(job: Any) -> Any:
                if job.__name__ == "mark":
                    raise StorageFull("no space left")
                return await real(job)

            one.book.run = no_mark  # type: ignore[method-assign]
            await two_games(one)
            await until(lambda: len(stored(tmp_path)) == 2)

    async def run() -> None:
        async with house(tmp_path) as one:
            await fails(one)
        async with house(tmp_path) as one:
            left = await one.book.run(
                lambda hand: hand.all("SELECT id FROM matches WHERE stored = 0")
            )
            for _ in range(100):
                left = await one.book.run(
                    lambda hand: hand.all("SELECT id FROM matches WHERE stored = 0")
                )
                if not left:
                    break
                await asyncio.sleep(0.02)
            assert left == []

    asyncio.run(run())
    contents = store.load(tmp_path / "episodes")
    assert len(contents.episodes) == 2 and contents.doubled == 0


# --- for those who build on it ------------------------------------------------------------------


def test_matches_with_an_owner_are_left_to_it_and_can_be_forgotten(tmp_path: Path) -> None:
    told: list[str] = []

    async def run() -> None:
        async with house(tmp_path) as one:

            async def watch(match: str, episode: Episode) -> None:
                told.append(match)

            one.watchers.append(watch)
            asked = setup("ipd", "agent", AGAINST_A_BOT, rounds=1)
            opened: Opened = await one.open(asked, ["agent"], owner="study:x", cell="a cell")
            assert await one.episode(opened.match) is None
            await say(one, opened.tokens["agent"], 0, "a")
            episode = await one.episode(opened.match)
            assert episode is not None and episode.cell == "a cell"
            await until(lambda: told == [opened.match])
            await one.forget(opened.match)
            for table in ("matches", "seats", "answers"):
                rows = await one.book.run(lambda hand, t=table: hand.all(f"SELECT * FROM {t}"))
                assert rows == []

    asyncio.run(run())
    assert stored(tmp_path) == []
