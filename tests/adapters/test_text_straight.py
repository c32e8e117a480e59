"""The short way of the text environment is the long way, only shorter: byte for byte."""

from __future__ import annotations

import random
from typing import Any

import pytest

from sally.adapters.trainers.text import TextEnv, env
from sally.core import redaction as keys
from sally.core.log.events import to_line
from sally.core.prompt.model import Reply, Usage
from sally.players.straight import Straight, straight_way

KEY = "sk-a-key-that-nobody-reads"
REPLIES: tuple[Any, ...] = (
    *("Option: {n}", "{n}", "I pick {n}", "option {n}.", "**Option: {n}**", " Option: {n} \n"),
    *("Answer: {n}", "Option: {n} or {m}", "Option: {n}\nOption: {m}", "not {n}", "no", "", "7"),
    *(b"Option: {n}", b"\xff\xfe", "\ud800", "x" * 90 + "\nOption: {n}", f"{KEY}\nOption: {{n}}"),
    *(Reply("Option: {n}"), Reply("Option: {n}", usage=Usage(3, 4)), Reply("{n}", finish="length")),
    Reply("Option: {n}", reasoning="it is the first"),
)


def given(reply: Any, n: str, m: str) -> Any:
    """A reply of the list with names filled in."""
    if isinstance(reply, Reply):
        return Reply(given(reply.text, n, m), (), reply.usage, reply.finish, reply.reasoning)
    if isinstance(reply, bytes):
        return reply.replace(b"{n}", n.encode())
    return reply.replace("{n}", n).replace("{m}", m)


def told(table: TextEnv, game_seed: int, part: str, odd: float) -> list[Any]:
    """Everything that an episode shows to whoever trains, and its line in a store."""
    chance, out = random.Random(game_seed), [table.reset(game_seed, part)]
    while (asked := table.asked) is not None:
        names = table.task.instance.params.get("names") or ["1", "2"]
        n, m = chance.choice(names), chance.choice(names)
        reply = REPLIES[0] if chance.random() >= odd else chance.choice(REPLIES)
        out.append((str(asked.messages), asked.settings, asked.page, table.worths))
        out.append(table.step(given(reply, n, m)))
    for row in table.rows():
        tries = [
            (asked.page, str(asked.messages), asked.settings, said) for asked, said in row.tries
        ]
        out.append((row.turn, row.kind, row.columns, row.move, row.worths, tries))
    return [*out, to_line(table.episode())]


@pytest.fixture
def long_way(monkeypatch):
    def switch(on: bool) -> None:
        monkeypatch.setattr(env, "straight_way", (lambda *of: None) if on else straight_way)

    keys.remember(KEY)
    yield switch
    keys._given.discard(KEY)
    keys.known.cache_clear()


@pytest.mark.parametrize("game", ["rps", "ipd", "ibs", "level_k", "toma_po"])
def test_both_ways_tell_the_same_episode(game, long_way):
    for part in ("train", "held_out"):
        for seed in range(4):
            episodes = []
            for long in (False, True):
                long_way(long)
                table = TextEnv(game, retries=1)
                assert (table._at(table.split.part(part)[0]).way is None) == long
                episodes.append(told(table, seed, part, odd=0.0 if seed == 0 else 0.4))
            assert episodes[0] == episodes[1]


def test_the_log_is_whole_whenever_it_is_looked_at(long_way):
    logs = []
    for long in (False, True):
        long_way(long)
        table = TextEnv("rps")
        table.reset(5)
        name, seen = table.task.instance.params["names"][0], []
        for _ in range(4):
            table.step(f"Option: {name}")
            assert table._table is not None
            seen.append(list(table._table.match.events))
        logs.append(seen)
    assert logs[0] == logs[1] and all(event.calls for event in logs[0][-1][::2])


def test_a_game_with_tools_and_a_probed_seat_go_the_long_way():
    assert TextEnv("ipd")._at(TextEnv("ipd").split.part("train")[0]).way is not None
    for table in (TextEnv("ipd", probes=["their_move"]), TextEnv("ipd", strategy="cot")):
        assert table._at(table.split.part("train")[0]).way is None


def test_what_a_reply_names_is_read_once(monkeypatch):
    table, read = TextEnv("ipd"), list[str]()
    usual = Straight._read
    monkeypatch.setattr(
        Straight, "_read", lambda way, text, turn: read.append(text) or usual(way, text, turn)
    )
    for seed in range(3):
        table.begin(table.split.part("train")[0], seed)
        name = table.task.instance.params["names"][0]
        while table.asked is not None:
            table.step(f"Option: {name}")
    assert read == [f"Option: {name}"]


def test_a_key_in_a_reply_is_kept_out_of_the_log_on_either_way(long_way):
    for long in (False, True):
        long_way(long)
        table = TextEnv("ipd")
        table.reset(1)
        table.step(f"{KEY}\nOption: {table.task.instance.params['names'][0]}")
        assert table.rows()[0].move == 0 and table._table is not None
        assert KEY not in str(table._table.match.events[0])
