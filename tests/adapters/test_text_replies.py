"""A text environment and an evaluation with the same replies tell the same episode."""

from __future__ import annotations

import random
from typing import Any

import pytest

from sally.adapters.trainers.text import TextEnv
from sally.core import redaction as keys
from sally.core.log.events import to_line
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.prompt.model import Reply, Usage
from sally.core.rules.words import Words
from sally.models.stub import reply_in_order
from sally.runner.local import with_models
from sally.runner.seating import players_of

KEY = "sk-a-key-that-nobody-reads"
REPLIES: tuple[Any, ...] = (
    *("Option: {n}", "{n}", "I pick {n}", "option {n}.", "**Option: {n}**", " Option: {n} \n"),
    *("Answer: {n}", "Option: {n} or {m}", "Option: {n}\nOption: {m}", "not {n}", "no", "", "7"),
    *(b"Option: {n}", b"\xff\xfe", "\ud800", "x" * 90 + "\nOption: {n}", f"{KEY}\nOption: {{n}}"),
    *(Reply("Option: {n}"), Reply("Option: {n}", usage=Usage(3, 4)), Reply("{n}", finish="length")),
    Reply("Option: {n}", reasoning="it is the first"),
)


def fill(reply: Any, n: str, m: str) -> Any:
    """A reply of the list with names filled in."""
    if isinstance(reply, Reply):
        return Reply(fill(reply.text, n, m), (), reply.usage, reply.finish, reply.reasoning)
    if isinstance(reply, bytes):
        return reply.replace(b"{n}", n.encode())
    return reply.replace("{n}", n).replace("{m}", m)


@pytest.fixture(autouse=True)
def a_known_key():
    keys.remember(KEY)
    yield
    keys._used_keys.discard(KEY)
    keys.known_keys.cache_clear()


@pytest.mark.parametrize(
    ("game", "wishes"),
    [
        ("rps", {}),
        ("ipd", {}),
        ("ipd", {"probes": ["their_move"]}),
        ("ipd", {"strategy": "cot"}),
        ("ibs", {"strategy": "social_qa"}),
        ("level_k", {}),
        ("toma_po", {}),
    ],
)
def test_environment_and_evaluation_play_the_same_episode(game, wishes):
    for seed in range(4):
        env, chance, replies = (
            TextEnv(game, retries=1, **wishes),
            random.Random(seed),
            list[Reply](),
        )
        env.reset(seed)
        while env.asked is not None:
            names = env.task.instance.params.get("names") or ["1", "2"]
            n, m = chance.choice(names), chance.choice(names)
            odd = seed and chance.random() < 0.4
            reply = fill(chance.choice(REPLIES) if odd else REPLIES[0], n, m)
            env.step(reply)
            text = reply.decode("utf-8", "replace") if isinstance(reply, bytes) else reply
            replies.append(text if isinstance(text, Reply) else Reply(text))
        episode = env.episode()
        match = Match(env._table.match.spec, episode.setup)
        model = reply_in_order(replies)
        model.name, model.used = env._model.name, env._model.used
        players = players_of(
            match, with_models(episode.setup.lineup, lambda at, name, model=model: model)
        )
        Driver(match, players).run()
        assert to_line(match.episode("", episode.used)) == to_line(episode)
        assert KEY.encode() not in to_line(episode)


def test_event_log_is_complete_after_every_step():
    env = TextEnv("rps")
    env.reset(5)
    name = env.task.instance.params["names"][0]
    for turn in range(4):
        env.step(f"Option: {name}")
        events = env._table.match.events
        assert len(events) == 2 * turn + 2 and all(event.calls for event in events[::2])


def test_each_reply_is_read_once(monkeypatch):
    env, read, usual = TextEnv("ipd"), list[str](), Words.read
    task = env.split.part("train")[0]
    words = type(env._prepare_task(task).match.context(task.seat).words)

    def counted(self: Any, reply: str, *options: Any) -> Any:
        read.append(reply)
        return usual(self, reply, *options)

    monkeypatch.setattr(Words, "read", counted)
    assert words.read is counted
    for seed in range(3):
        env.begin(task, seed)
        name = env.task.instance.params["names"][0]
        while env.asked is not None:
            env.step(f"Option: {name}")
    assert read == [f"Option: {name}"]
