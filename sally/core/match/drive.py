"""Drivers: who is asked, and when. They know nothing of rules, turn order or probes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping
from inspect import isawaitable, iscoroutinefunction
from types import CoroutineType
from typing import TYPE_CHECKING, Any

from sally.core.errors import BadInput
from sally.core.match.engine import Match
from sally.core.match.player import CANNOT_ANSWER, AskId, Decision, Player, Turn, put
from sally.core.rules.partner import Scripted

if TYPE_CHECKING:
    import asyncio

Says = Callable[[Turn[Any, Any]], Any]  # what a player answers, or something to await
Takes = Callable[[Turn[Any, Any], Any], object]


def let_answer(
    match: Match[Any, Any, Any],
    players: Mapping[str, Player[Any, Any]],
    says: Says | None = None,  # asks a player in another way
    takes: Takes | None = None,  # answers the match in another way
    sent: Collection[AskId] = (),
) -> list[tuple[Turn[Any, Any], Any]]:
    """Put every ask of these players that is not out; what is answered at once is taken at once.

    Goes on until nobody here has anything to say. Returns the asks whose answers take time.
    """
    waiting: dict[AskId, tuple[Turn[Any, Any], Any]] = {}
    if says is None and takes is None and not sent:
        scripts = all(type(player) is Scripted for player in players.values())
        decide = {seat: _decides(player) for seat, player in players.items()}
        report = {seat: _reports(player) for seat, player in players.items()}
        opened = match.play_on(decide, scripts, report)
        if opened is not None:
            turn, given = opened
            scripted = type(players[turn.context.seat]) is Scripted and turn.question is None
            _take(match, turn, Decision(given) if scripted else given, waiting)
    return _put_each(match, players, says, takes, sent, waiting)


def _put_each(
    match: Match[Any, Any, Any],
    players: Mapping[str, Player[Any, Any]],
    says: Says | None,
    takes: Takes | None,
    sent: Collection[AskId],
    waiting: dict[AskId, tuple[Turn[Any, Any], Any]],
) -> list[tuple[Turn[Any, Any], Any]]:
    """Put asks one by one, as long as somebody answers at once."""
    answered = True
    while answered:  # an answer may open further asks
        answered = False
        for turn in match.asks():
            player = players.get(turn.context.seat)
            if player is None or (waiting and turn.id in waiting) or (sent and turn.id in sent):
                continue
            if says is not None:
                given = says(turn)
            else:  # not by `put`: a call the less in each round of a bot
                given = player.decide(turn) if turn.question is None else put(turn, player)
            if type(given) is CoroutineType or (type(given) is not Decision and isawaitable(given)):
                waiting[turn.id] = (turn, given)
                continue
            if takes is None:
                match.answer(turn.id, given)
            else:
                takes(turn, given)
            answered = True
            if match.over:  # a bot broke down, or it is the end: nobody will listen to the others
                _close(waiting.values())
                return []
    return list(waiting.values())


def _decides(player: Player[Any, Any]) -> Says:
    """What a player is asked by; a plain function without the decision around its move."""
    return player.script if type(player) is Scripted else player.decide


def _reports(player: Player[Any, Any]) -> Says:
    """What a player is asked by aside from play."""
    return getattr(player, "report", None) or _cannot_answer


def _cannot_answer(turn: Turn[Any, Any]) -> Any:
    return CANNOT_ANSWER


def _take(
    match: Match[Any, Any, Any],
    turn: Turn[Any, Any],
    given: Any,
    waiting: dict[AskId, tuple[Turn[Any, Any], Any]],
) -> None:
    """Answer the match, or have the answer wait if it takes time."""
    if type(given) is not Decision and isawaitable(given):
        waiting[turn.id] = (turn, given)
    else:
        match.answer(turn.id, given)


def play_bots(match: Match[Any, Any, Any], players: Mapping[str, Player[Any, Any]]) -> None:
    """Let players that answer at once play, until the end or until somebody else is needed."""
    waiting = let_answer(match, players)
    if waiting:
        _close(waiting)
        seat = waiting[0][0].seat
        raise BadInput(f"The player in seat {seat!r} takes time; use `play_async`.")


def _close(waiting: Iterable[tuple[Turn[Any, Any], Any]]) -> None:
    for _, given in waiting:
        given.close()


async def play_async(match: Match[Any, Any, Any], players: Mapping[str, Player[Any, Any]]) -> None:
    """Play a match to its end with any players; all open asks are out at the same time.

    Whoever has had an answer follows the next ask, too. A task for an ask beside it is made only
    when that one has to be waited for: a model that answers at once needs none.
    """
    import asyncio  # a sixth of a worker's start, and bots need none

    sent: set[AskId] = set()
    later: deque[tuple[Turn[Any, Any], Any]] = deque()  # asks that are out and followed by nobody
    out: set[asyncio.Task[None]] = set()
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[None] = loop.create_future()
    slow = any(iscoroutinefunction(player.decide) for player in players.values())
    launching: asyncio.Handle | None = None

    def ask() -> None:
        """Put every new ask; bots are answered for at once, the rest is awaited."""
        if sent and len(sent) == match.waiting:  # all are out
            return
        if slow:  # somebody has to be waited for in nearly every turn
            opened = _put_each(match, players, None, None, sent, {})
        else:
            opened = let_answer(match, players, sent=sent)
        for turn, _ in opened:
            sent.add(turn.id)
        later.extend(opened)

    async def follow() -> None:
        """Wait for one answer, then for one of those that it opens, and so on."""
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
        """Have somebody follow each ask that is left; whoever was at it is waiting."""
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
            await ended  # raises what broke, if something of ours did
    finally:
        _close(later)
        for task in out:
            task.cancel()
