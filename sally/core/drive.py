"""Drivers: who is asked, and when. They know nothing of rules, turn order or probes."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from inspect import isawaitable
from typing import Any

from sally.core.errors import BadInput
from sally.core.match import Match
from sally.core.player import Answer, Decision, Move, Player, Silence, Turn

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
    sent: set[Any] = set()
    try:
        while not match.over:
            for turn in match.asks():
                if turn.id not in sent:
                    sent.add(turn.id)
                    out[asyncio.ensure_future(_in_time(turn, players[turn.seat]))] = turn
            done, _ = await asyncio.wait(out, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                turn = out.pop(task)
                if not match.over:
                    match.answer(turn.id, task.result())
    finally:
        for task in out:
            task.cancel()


async def _in_time(turn: Turn[Any, Any], player: Player[Any, Any]) -> Move[Any] | Answer:
    given: Any = player.decide(turn) if turn.question is None else _reported(turn, player)
    answered: Move[Any] | Answer = await given if isawaitable(given) else given
    return answered


def _reported(turn: Turn[Any, Any], player: Player[Any, Any]) -> Any:
    report = getattr(player, "report", None)
    return CANNOT_ANSWER if report is None else report(turn)
