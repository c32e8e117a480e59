"""Drivers: who is asked, and when. They know nothing of rules, turn order or probes."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
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
    out: dict[asyncio.Task[Any], Turn[Any, Any]] = {}
    try:
        while not match.over:
            waiting = _put(match, players, {turn.id for turn in out.values()})
            if match.over:
                for _, given in waiting:  # a bot broke down; nobody will listen to the others
                    given.close()
                return
            if len(waiting) == 1 and not out:  # nobody else to listen to meanwhile
                ((turn, given),) = waiting
                match.answer(turn.id, await given)
                continue
            out |= {asyncio.ensure_future(given): turn for turn, given in waiting}
            if not out:
                continue
            done, _ = await asyncio.wait(out, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                turn = out.pop(task)
                if not match.over:
                    match.answer(turn.id, task.result())
    finally:
        for task in out:
            task.cancel()


def _put(
    match: Match[Any, Any, Any], players: Mapping[str, Player[Any, Any]], sent: Collection[AskId]
) -> list[tuple[Turn[Any, Any], Any]]:
    """Put every new ask to its player: bots are answered for at once, the rest is awaited."""
    waiting = []
    for turn in match.asks():
        if turn.id in sent or match.over:
            continue
        player = players[turn.desk.seat]
        given: Any = player.decide(turn) if turn.question is None else _reported(turn, player)
        if type(given) is not Decision and isawaitable(given):
            waiting.append((turn, given))
        else:
            match.answer(turn.id, given)
    return waiting


def _reported(turn: Turn[Any, Any], player: Player[Any, Any]) -> Any:
    report = getattr(player, "report", None)
    return CANNOT_ANSWER if report is None else report(turn)
