"""Checks of a game's logs: they replay, and they do not depend on when or in which order the
players answer."""

from __future__ import annotations

import asyncio
from collections.abc import Set
from typing import Any

import msgspec

from sally.core.errors import IllegalMove, NotAsked
from sally.core.log.events import from_line, to_line
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.match.playback import mismatch, replay_episode
from sally.core.match.player import Decision, Fault, Forfeit, Turn
from sally.core.rules.chance import Stream
from sally.core.rules.probe import ProbeReport
from sally.testing.bench import (
    Bench,
    Broken,
    answered_by,
    asked_in_turn,
    digest,
    match_of,
    must,
    must_refuse,
    play_episode,
    play_in_any_order,
    players_at,
)

CUTS = 60


def replay_from_disk_gives_the_same(bench: Bench, seed: int) -> None:
    """Check that an episode written to disk and read back replays to the same events and
    payoffs."""
    episode = play_episode(bench.table(seed, arms=bench.all_probes))
    read_back = from_line(to_line(episode))
    must(to_line(read_back) == to_line(episode), "the episode read differs from the one written")
    must(
        (difference := mismatch(bench.spec, read_back)) is None,
        f"the log does not replay: {difference}",
    )
    replay = replay_episode(bench.spec, read_back)
    must(replay.game.payoffs(replay.states[-1]) == read_back.payoffs, "other payoffs")


def answers_in_any_order_give_the_same_log(bench: Bench, seed: int) -> None:
    """Check that the order in which simultaneous movers answer does not change the log."""
    for arms, injections in bench.conditions:
        setup = bench.table(seed, arms=arms, injections=injections)
        in_order = bench.log_in_order(setup)
        for order in range(1 if injections else 3):
            match = match_of(setup)
            has_others = play_in_any_order(match, Stream("order", seed, order))
            is_same = digest(match.episode()) == in_order
            must(is_same, f"{injections}: the order changed the log")
            if not has_others:
                break  # only one was asked at a time, so no other order exists


class _SlowPlayer:
    """A player that answers after a few iterations of the event loop."""

    def __init__(self, player: Any) -> None:
        self.player = player

    async def decide(self, turn: Any) -> Any:
        return await self.late(turn)

    async def report(self, turn: Any) -> Any:
        return await self.late(turn)

    async def late(self, turn: Any) -> Any:
        for _ in range(Stream("late", *turn.id).below(4)):
            await asyncio.sleep(0)
        return answered_by(turn, {turn.seat: self.player})


def the_asynchronous_driver_gives_the_same_log(bench: Bench, seed: int) -> None:
    """Check that players that answer late produce the same log as players that answer at once."""
    for arms, injections in bench.conditions:
        setup = bench.table(seed, arms=arms, injections=injections)
        match = match_of(setup)
        helped: Any = {
            seat: player if seat in match.game.helpers else _SlowPlayer(player)
            for seat, player in players_at(match).items()
        }
        Driver(match, helped).run()
        is_same = digest(match.episode()) == bench.log_in_order(setup)
        must(is_same, "late answers changed the log")


def a_wrong_answer_leaves_the_match_as_it_was(bench: Bench) -> None:
    """Check that an illegal answer is rejected and changes nothing."""
    match = match_of(bench.table(arms=bench.all_probes))
    asked_turn: tuple[Turn, Any] | None = None
    for turn, good in asked_in_turn(match):
        asked_turn = turn, good
        looks_before = _looks(match, turn)
        for bad in _wrong(turn, good):
            with must_refuse(IllegalMove, f"{bad!r} from {turn.seat}"):
                match.answer(turn.id, bad)
            must(_looks(match, turn) == looks_before, f"{bad!r} was rejected but changed the match")
        for stranger in ((99, turn.seat, "", ""), (turn.number, "nobody", "", "")):
            with must_refuse(NotAsked, f"an answer to {stranger}"):
                match.answer(stranger, good)
    if asked_turn is None:
        raise Broken("no seat is ever asked for a move; `to_move` returns () at the start")
    with must_refuse(NotAsked, "an answer after the end"):
        match.answer(asked_turn[0].id, asked_turn[1])


def _looks(match: Match, turn: Turn) -> tuple[Any, ...]:
    return (match.asks(), list(match.events), match.turn, match.memory(turn.seat))


def _wrong(turn: Turn, good: Any) -> list[Any]:
    wrong: list[Any] = [None, "?", 10**9]
    if turn.question is None:
        illegal: tuple[Any, ...] = (None, "?", -1, 10**9, 0.5, [], {}, object(), "\ud800")
        return [*wrong, ProbeReport(0), *(Decision(action, "notes") for action in illegal)]
    values: tuple[Any, ...] = (-1, True, 0.5, "?", {"?": 1}, {"?": "x"}, [])
    unreal: Any = ("a",)
    wrong += [ProbeReport(value) for value in values]
    return [
        *wrong,
        Decision(0),
        Forfeit("x"),
        ProbeReport(good.value, (2.0,)),
        ProbeReport(None, unreal),
    ]


def censoring_at_any_moment_plays_back(bench: Bench) -> None:
    """Check that an episode cut at any ask gives a record that replays up to the cut.

    In a long episode, only `CUTS` evenly spaced asks are tried, because the time to test a cut
    grows with the length of the play before it.
    """
    for kind, (arms, injections) in enumerate(bench.conditions):
        setup = bench.table(3, arms=arms, injections=injections)
        match = match_of(setup)
        answers = [(turn.id, answer) for turn, answer in asked_in_turn(match)]
        all_events = set(map(msgspec.json.encode, match.events))
        step = max(1 if kind < 2 else 4, len(answers) // (CUTS if kind < 2 else CUTS // 4))
        match = match_of(setup)
        for n, (id, answer) in enumerate(answers):
            if n % step == kind % step:
                cut = match.copy()
                cut.answer(id, Fault("fault", "the line is dead"))
                _cut(bench, cut, all_events)
            match.answer(id, answer)
        is_same = set(map(msgspec.json.encode, match.events)) == all_events
        must(is_same, "the cut changed the match that went on")


def _cut(bench: Bench, match: Match, all_events: Set[bytes]) -> None:
    episode = from_line(to_line(match.episode()))
    must(episode.payoffs is None, "a cut episode has payoffs")
    must(
        (difference := mismatch(bench.spec, episode)) is None,
        f"a cut episode does not replay: {difference}",
    )
    replay = replay_episode(bench.spec, episode)
    must(replay.states == match.replay.states, "a cut episode passes through other states")
    for event in episode.events[:-1]:
        happened = msgspec.json.encode(event) in all_events
        must(happened, "a cut episode contains an event that would not have happened")
