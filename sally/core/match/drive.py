"""Drivers, which decide which player gets an ask and when; the match owns turn order and probes."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from sally.core.errors import BadInput
from sally.core.match.engine import Match
from sally.core.match.player import CANNOT_ANSWER, AskId, Player, Source, Turn
from sally.core.rules.partner import Scripted

if TYPE_CHECKING:
    import asyncio


def let_answer(
    match: Match[Any, Any, Any],
    players: Mapping[str, Player[Any, Any]],
    says: Source | None = None,  # answers for every player instead
    sent: Collection[AskId] = (),
) -> list[tuple[Turn[Any, Any], Any]]:
    """Send these players every ask that has not been sent yet, and take immediate answers.

    Continue through the following turns until no ask to these players is left to send.

    Returns:
        The asks whose answers must be awaited, each with its awaitable.
    """
    if says is None:
        decide, report = sources_of(match, players)
    else:
        decide = report = dict.fromkeys(players, says)
    return _play(match, decide, report, sent)


def sources_of(
    match: Match[Any, Any, Any], players: Mapping[str, Player[Any, Any]]
) -> tuple[Mapping[str, Source], Mapping[str, Source]]:
    """Return the functions that supply these players' moves and answers to probes, by seat."""
    decide = {seat: _decides(match, player) for seat, player in players.items()}
    return decide, {seat: _reports(player) for seat, player in players.items()}


def _play(
    match: Match[Any, Any, Any],
    decide: Mapping[str, Source],
    report: Mapping[str, Source],
    sent: Collection[AskId],
) -> list[tuple[Turn[Any, Any], Any]]:
    awaited = match.play(decide, report, sent)
    if match.over:  # a player failed, or the game ended: no further answer is taken
        _close(awaited)
        return []
    return awaited


def _decides(match: Match[Any, Any, Any], player: Player[Any, Any]) -> Source:
    """Return the function that decides a player's moves; for a bot without tools, its script."""
    bare = type(player) is Scripted and not match.spec.tools  # a look-up is logged with a decision
    return player.script if bare else player.decide  # type: ignore[attr-defined]


def _reports(player: Player[Any, Any]) -> Source:
    """Return the function that answers probes for a player."""
    return getattr(player, "report", None) or _cannot_answer


def _cannot_answer(turn: Turn[Any, Any]) -> Any:
    return CANNOT_ANSWER


def play_bots(match: Match[Any, Any, Any], players: Mapping[str, Player[Any, Any]]) -> None:
    """Let synchronous players play to the end, or until another player's answer is needed.

    Raises:
        BadInput: a player returned an awaitable; `play_async` can await it.
    """
    awaited = let_answer(match, players)
    if awaited:
        _close(awaited)
        seat = awaited[0][0].seat
        raise BadInput(f"The player in seat {seat!r} answers asynchronously; use `play_async`.")


def _close(awaited: Iterable[tuple[Turn[Any, Any], Any]]) -> None:
    for _, given in awaited:
        given.close()


async def play_async(match: Match[Any, Any, Any], players: Mapping[str, Player[Any, Any]]) -> None:
    """Play a match to its end with any players; all open asks are sent at the same time.

    A task that has received an answer goes on to the next ask. Further tasks are created only while
    an ask has to be awaited; a model that answers immediately needs no further task.
    """
    import asyncio  # a sixth of a worker's start, and bots need none

    sent: set[AskId] = set()
    later: deque[tuple[Turn[Any, Any], Any]] = deque()  # sent asks that no task awaits yet
    out: set[asyncio.Task[None]] = set()
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[None] = loop.create_future()
    decide, report = sources_of(match, players)
    launching: asyncio.Handle | None = None

    def ask() -> None:
        """Send every new ask; bots answer immediately, other answers are awaited."""
        if sent and len(sent) == match.waiting:  # all are out
            return
        opened = _play(match, decide, report, sent)
        sent.update(turn.id for turn, _ in opened)
        later.extend(opened)

    async def follow() -> None:
        """Await one answer, then the answer to one of the asks that follow from it, and so on."""
        nonlocal launching
        while later:
            turn, given = later.popleft()
            if later and launching is None:
                launching = loop.call_soon(launch)
            answer = await given
            if match.over:
                return
            match.answer(turn.id, answer)
            sent.discard(turn.id)
            ask()

    def launch() -> None:
        """Create one task for each sent ask that no task awaits yet."""
        nonlocal launching
        launching = None
        for _ in range(len(later)):
            task = loop.create_task(follow())
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
        ask()
        await follow()
        if ended.done() or not match.over:
            await ended  # raises the exception of a task
    finally:
        _close(later)
        for task in out:
            task.cancel()
