"""A live_matches in this process, asked without HTTP: what tests of matches share."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from sally import store
from sally.core.log.events import Episode, Instance, PlayerSpec, Setup
from sally.web.database import Database
from sally.web.live.matches import LiveMatches


@asynccontextmanager
async def live_matches(folder: Path, **how: Any) -> AsyncIterator[LiveMatches]:
    database = Database(str(folder / "database.sqlite"))
    database.open()
    matches = LiveMatches(database, folder / "episodes", **how)
    await matches.start()
    try:
        yield matches
    finally:
        await matches.close()
        database.close()


def setup(
    game: str, seat: str, others: dict[str, PlayerSpec], seed: int = 5, **params: Any
) -> Setup:
    return Setup(Instance(game, game, params), seed, {seat: PlayerSpec("person"), **others})


async def say(item: LiveMatches, token: str, value: Any, key: str) -> int:
    async def answer(live: Any, seat: str) -> int:
        screen = await live.screen(seat)
        return (await live.answer(seat, screen.asks[0].id, value, key)).version

    return await item.act_on(token, answer)


async def until(done: Callable[[], bool]) -> None:
    for _ in range(6000):  # a minute: whoever waits may have little of a processor
        if done():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it did not happen")


def stored(folder: Path) -> list[Episode]:
    return list(store.load(folder / "episodes").episodes.values())


AGAINST_A_BOT = {"partner": PlayerSpec("tit_for_tat")}
