"""Drivers: who is asked, and when. They know nothing of rules, turn order or probes."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from inspect import isawaitable
from typing import Any

from sally.core.errors import BadInput
from sally.core.match import Match
from sally.core.player import AskId, Decision, Player, Silence, Turn

CANNOT_ANSWER = Silence("this player takes no questions")


def play_bots(match: Match[Any, Any, Any], players: Mapping[str, Player[Any, Any]]) -> None:
    """Play a match to its end with players that answer at once; no event loop."""
    while asks := match.asks():
        for turn in asks:
            player = players[turn.desk.seat]
            given: Any = player.decide(turn) if turn.question is None else _reported(turn, player)
            if type(given) is not Decision and isawaitable(given):
                raise BadInput(f"The player in seat {turn.seat!r} takes time; use `play_async`.")
            match.answer(turn.id, given)
            if match.over:
                return


async def play_async(match: Match[Any, Any, Any], players: Mapping[str, Player[Any, Any]]) -> None:
    """Play a match to its end with any players; all open asks are out at the same time."""
    sent: set[AskId] = set()
    out: set[asyncio.Task[None]] = set()
    ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def follow(turn: Turn[Any, Any], given: Any) -> None:
        """Wait for one answer, then for one of those that it opens, and so on."""
        while True:
            answer = await given
            if match.over:
                return
            match.answer(turn.id, answer)
            sent.discard(turn.id)
            opened = _put(match, players, sent)
            if not opened:
                return
            (turn, given), *others = opened
            launch(others)

    def launch(opened: list[tuple[Turn[Any, Any], Any]]) -> None:
        for turn, given in opened:
            task = asyncio.ensure_future(follow(turn, given))
            out.add(task)
            task.add_done_callback(settle)

    def settle(task: asyncio.Task[None]) -> None:
        out.discard(task)
        if ended.done() or task.cancelled():
            return
        if (broken := task.exception()) is not None:
            ended.set_exception(broken)
        elif match.over:
            ended.set_result(None)

    try:
        opened = _put(match, players, sent)
        launch(opened[1:])
        for turn, given in opened[:1]:
            await follow(turn, given)
        if ended.done() or not match.over:
            await ended  # raises what broke, if something of ours did
    finally:
        for task in out:
            task.cancel()


def _put(
    match: Match[Any, Any, Any], players: Mapping[str, Player[Any, Any]], sent: set[AskId]
) -> list[tuple[Turn[Any, Any], Any]]:
    """Put every new ask to its player: bots are answered for at once, the rest is awaited."""
    waiting: list[tuple[Turn[Any, Any], Any]] = []
    answered = True
    while answered and not match.over:  # an answer may open further asks
        answered = False
        for turn in match.asks():
            if turn.id in sent or match.over:
                continue
            player = players[turn.desk.seat]
            given: Any = player.decide(turn) if turn.question is None else _reported(turn, player)
            if type(given) is not Decision and isawaitable(given):
                sent.add(turn.id)
                waiting.append((turn, given))
            else:
                match.answer(turn.id, given)
                answered = True
    if not match.over:
        return waiting
    for _, given in waiting:  # a bot broke down; nobody will listen to the others
        given.close()
    return []


def _reported(turn: Turn[Any, Any], player: Player[Any, Any]) -> Any:
    report = getattr(player, "report", None)
    return CANNOT_ANSWER if report is None else report(turn)
