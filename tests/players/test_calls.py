"""One decision path: whichever driver supplies the replies, the episode is the same."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import msgspec
import pytest

from sally.core import redaction as keys
from sally.core.errors import PromptDiffers
from sally.core.log.events import Instance, PlayerSpec, Setup, from_line, to_line
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.match.playback import mismatch
from sally.core.prompt.model import Fault, Reply, ToolCall, Usage
from sally.core.registry import registry
from sally.models.stub import Scripted
from sally.players.calls import answer_from_log
from sally.players.language import LanguagePlayer
from sally.runner.check import answered_again
from sally.runner.seating import players_of, resolve_setup

KEY = "sk-a-key-that-nobody-reads"
ODD: tuple[Any, ...] = (
    *("{n}", "I pick {n}", "Option: {n} or {m}", "not {n}", "", "7", "\ud800", f"{KEY}\nOption: "),
    *(
        "x" * 90 + "\nOption: {n}",
        "x" * 60_000,
        Fault("server", "down"),
        Fault("bad_request", "no"),
    ),
    Reply("Option: {n}", finish="length"),
    Reply("Option: {n}", finish="refusal"),
    Reply("Option: {n}", reasoning=f"I saw {KEY}"),
    Reply("Option: {n}", reasoning="it is the first", usage=Usage(3, 4)),
    Reply("", (ToolCall("1", "look", "{}"),), finish="tool_calls"),
)


def fill(reply: Any, n: str, m: str) -> Any:
    if isinstance(reply, Fault):
        return reply
    if isinstance(reply, Reply):
        text = fill(reply.text, n, m)
        return Reply(text, reply.tool_calls, reply.usage, reply.finish, reply.reasoning)
    return reply.replace("{n}", n).replace("{m}", m)


def play_games(
    game: str, seed: int, names: tuple[str, ...], **setup: Any
) -> tuple[bytes, list[Any]]:
    """The line of an episode between two models that are often odd, and what they were shown."""
    chance, shown = random.Random(seed), list[Any]()

    def script(messages: Any, settings: Any) -> Any:
        shown.append((str(messages[-1].text), settings))
        odd = chance.random() < 0.3
        return fill(chance.choice(ODD) if odd else "Option: {n}", *chance.sample(names, 2))

    registry.add("models", "odd", lambda name: Scripted(script))
    seats = registry.game(game).build({}).seats
    lineup = {seat: PlayerSpec("language", {"model": "odd"}) for seat in seats}
    match = Match(
        registry.game(game), resolve_setup(Setup(Instance(game, game), seed, lineup, **setup))
    )
    Driver(match, players_of(match)).run()
    return to_line(match.episode()), shown


@pytest.fixture(autouse=True)
def a_known_key():
    keys.remember(KEY)
    yield
    keys._used_keys.discard(KEY)
    keys.known_keys.cache_clear()


CASES = [
    ("rps", ("R", "P", "S"), {}),
    ("ipd", ("J", "F"), {"arms": {"agent": ("their_move",)}}),
    ("toma_po", ("1", "2"), {}),
]


@pytest.mark.parametrize(("game", "names", "setup"), CASES)
def test_logged_calls_reproduce_answers_and_requests(game, names, setup):
    for seed in range(6):
        line, shown = play_games(game, seed, names, **setup)
        assert KEY.encode() not in line
        episode, requests = from_line(line), list[Any]()

        def again(turn: Any, event: Any, episode=episode, requests=requests) -> Any:
            if not event.calls:
                return None
            player = episode.setup.lineup[turn.seat]
            made = list[Any]()
            answer = answered_again(turn, player, event.calls, made)
            requests.extend((str(item.messages[-1].text), item.settings) for item in made)
            return answer

        assert mismatch(registry.game(game), episode, again) is None
        assert requests
        assert all(request in shown for request in requests)


def test_changed_prompt_is_refused():
    line, _ = play_games("rps", 1, ("R", "P", "S"))
    episode = from_line(line)
    event = next(e for e in episode.events if e.calls)
    wrong = [msgspec.structs.replace(call, prompt="0" * 32) for call in event.calls]
    match = Match(registry.game("rps"), episode.setup)
    turn, player = match.asks()[0], players_of(match)["agent"]
    with pytest.raises(PromptDiffers, match="Call 1 shows a prompt with the hash"):
        answer_from_log(player, turn, wrong, [])
    with pytest.raises(PromptDiffers, match="has 0 calls, but the replay made one more"):
        answer_from_log(player, turn, (), [])


def test_strategy_may_await_other_coroutines():
    class Waits(LanguagePlayer, frozen=True):
        async def answering(self, turn: Any, exchanges: Any) -> Any:
            await asyncio.sleep(0)
            return await super().answering(turn, exchanges)

    registry.add("models", "plain", lambda name: Scripted(lambda shown, settings: "Option: R"))
    lineup = {seat: PlayerSpec("language", {"model": "plain"}) for seat in ("agent", "partner")}
    setup = resolve_setup(Setup(Instance("rps", "rps", {"rounds": 3}), 1, lineup))
    match = Match(registry.game("rps"), setup)
    players = {
        seat: Waits(**{f: getattr(p, f) for f in p.__struct_fields__})
        for seat, p in players_of(match).items()
    }
    Driver(match, players).run()
    assert [event.reply for event in match.events[:-1]] == ["Option: R"] * 6


# --- who follows an ask -------------------------------------------------------------------------


async def tasks_of(*seats: str) -> tuple[int, int]:
    """How many calls were out at the same time, and how many tasks five rounds took, if a model
    plays these seats."""
    out, max_count, new_count = 0, 0, 0

    class Model(Scripted):
        async def complete(self, *arguments: Any) -> Reply:
            nonlocal out, max_count
            out += 1
            max_count = max(max_count, out)
            await asyncio.sleep(0.001)
            out -= 1
            return Reply("Option: R")

    def count(loop: Any, coroutine: Any, **options: Any) -> Any:
        nonlocal new_count
        new_count += 1
        return asyncio.Task(coroutine, loop=loop, **options)

    registry.add("models", "counted", lambda name: Model(lambda shown, settings: ""))
    lineup = dict.fromkeys(("agent", "partner"), PlayerSpec("random"))
    lineup |= dict.fromkeys(seats, PlayerSpec("language", {"model": "counted"}))
    match = Match(
        registry.game("rps"), resolve_setup(Setup(Instance("rps", "rps", {"rounds": 5}), 1, lineup))
    )
    asyncio.get_running_loop().set_task_factory(count)
    await Driver(match, players_of(match)).arun()
    return max_count, new_count


def test_two_seats_are_asked_concurrently():
    assert asyncio.run(tasks_of("agent", "partner")) == (2, 10)


def test_single_seat_is_asked_without_a_task():
    assert asyncio.run(tasks_of("agent")) == (1, 0)
