"""Drivers: who is asked, and when. They know nothing of rules, turn order or probes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from inspect import isawaitable
from typing import TYPE_CHECKING, Any

from sally.core.errors import BadInput
from sally.core.match import Match
from sally.core.partner import Scripted
from sally.core.player import AskId, Decision, Player, Turn, put

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
        opened = match.play_on(decide, scripts)
        if opened is not None:
            turn, given = opened
            scripted = type(players[turn.desk.seat]) is Scripted
            _take(match, turn, Decision(given) if scripted else given, waiting)
    answered = True
    while answered:  # an answer may open further asks
        answered = False
        for turn in match.asks():
            player = players.get(turn.desk.seat)
            if player is None or (waiting and turn.id in waiting) or (sent and turn.id in sent):
                continue
            if says is not None:
                given = says(turn)
            else:  # not by `put`: a call the less in each round of a bot
                given = player.decide(turn) if turn.question is None else put(turn, player)
            if type(given) is not Decision and isawaitable(given):
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
    """Play a match to its end with any players; all open asks are out at the same time."""
    import asyncio  # a sixth of a worker's start, and bots need none

    sent: set[AskId] = set()
    out: set[asyncio.Task[None]] = set()
    ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def ask() -> list[tuple[Turn[Any, Any], Any]]:
        """Put every new ask; bots are answered for at once, the rest is awaited."""
        opened = let_answer(match, players, sent=sent)
        sent.update(turn.id for turn, _ in opened)
        return opened

    async def follow(turn: Turn[Any, Any], given: Any) -> None:
        """Wait for one answer, then for one of those that it opens, and so on."""
        while True:
            answer = await given
            if match.over:
                return
            match.answer(turn.id, answer)
            sent.discard(turn.id)
            if not (opened := ask()):
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
        opened = ask()
        launch(opened[1:])
        for turn, given in opened[:1]:
            await follow(turn, given)
        if ended.done() or not match.over:
            await ended  # raises what broke, if something of ours did
    finally:
        for task in out:
            task.cancel()
