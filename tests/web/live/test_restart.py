"""A server killed during a game loses nothing, and all players continue where they were."""

from __future__ import annotations

import signal
import threading
import time
from pathlib import Path
from typing import Any

import httpx

from sally import store
from sally.core.log.events import Ended, Moved, Reported
from sally.runner.check import check
from sally.web.rehearsal import value_for
from tests.web.guests import Guest, play, serving, sit
from tests.web.postgres import empty_database

ROUNDS = 25


def web_at(port: int) -> httpx.Client:
    return httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30, verify=False)


class Stubborn(Guest):
    """A browser that tries again, under the same key, until the server is back."""

    def call(self, method: str, path: str, sent: Any = None) -> Any:
        while True:
            try:
                reply = super().call(method, path, sent)
                if reply.status_code < 500:
                    return reply
            except httpx.TransportError:
                time.sleep(0.05)


class Hurried(threading.Thread):
    """Plays as fast as the server lets it, and remembers what was acknowledged.

    Players who are far ahead wait for the crash, so that none finishes before it.
    """

    def __init__(self, port: int, crashed: threading.Event) -> None:
        super().__init__(daemon=True)
        self.crashed = crashed
        web = web_at(port)
        self.guest = Stubborn(web, sit(web, "ipd", params={"rounds": ROUNDS})[0].token)
        self.acknowledged: list[int] = []

    def run(self) -> None:
        while not (screen := self.guest.see())["over"]:
            ask = screen["asks"][0]
            value = value_for(ask, self.guest.draw)
            assert self.guest.say(ask["id"], value).status_code == 200
            self.acknowledged.append(value)
            if len(self.acknowledged) == ROUNDS - 5:
                self.crashed.wait(300)
        self.guest.web.close()


def content(screen: dict[str, Any]) -> dict[str, Any]:
    """A screen but for its version, which rises with every start, and the time that is left."""
    return {key: value for key, value in screen.items() if key not in ("version", "due")}


def go_on_after_a_kill(data: Path, *options: str) -> None:
    """Two people take their time and three play in a hurry; the server dies; all finish."""
    wish = {"others": {"partner": "person"}, "params": {"rounds": 3}, "probes": ["their_move"]}
    with serving(data, 0, *options) as (process, port), web_at(port) as web:
        agent, invited = sit(web, "rps", **wish)
        partner = invited["partner"]
        play([agent, partner], turns=2)  # the question aside, then the first round
        probe = agent.see()["asks"][0]
        agent.say(probe["id"], value_for(probe, agent.draw), "told before the crash")
        partner.answer(partner.see()["asks"][0])
        contents_before = [content(agent.see()), content(partner.see())]
        crashed = threading.Event()
        hurried = [Hurried(port, crashed) for _ in range(3)]
        for item in hurried:
            item.start()
        while min(len(item.acknowledged) for item in hurried) < 3:
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)
        process.wait()
        crashed.set()
    assert all(len(item.acknowledged) < ROUNDS for item in hurried)  # it died in mid-game
    with serving(data, port, *options) as (process, port), web_at(port) as web:
        agent.web = partner.web = web
        assert [content(agent.see()), content(partner.see())] == contents_before
        second_result = agent.say(probe["id"], 0, "told before the crash")
        # it counts once
        assert second_result.status_code == 200 and content(agent.see()) == contents_before[0]
        screens = play([agent, partner])
        assert all(s["over"]["how"] == "ended" and len(s["lines"]) == 3 for s in screens)
        for item in hurried:
            item.join(300)
        process.send_signal(signal.SIGTERM)
        process.wait(120)
    check_the_store(data / "episodes", hurried)


def check_the_store(folder: Path, hurried: list[Hurried]) -> None:
    """Every acknowledged move is there, in order, once; and every episode replays."""
    contents = store.load(folder)
    assert len(contents.episodes) == 4 and contents.doubled == 0 and not contents.bad
    assert check(contents.episodes.values()).replayed == 4
    slow = [e for e in contents.episodes.values() if e.setup.instance.game == "rps"]
    assert isinstance(slow[0].end, Ended)
    assert sum(isinstance(event, Reported) for event in slow[0].events) == 3
    played = [
        [e.action for e in episode.events if isinstance(e, Moved) and e.seat == "agent"]
        for episode in contents.episodes.values()
        if episode.setup.instance.game == "ipd"
    ]
    assert sorted(played) == sorted(item.acknowledged for item in hurried)
    assert [len(moves) for moves in played] == [ROUNDS] * 3


def test_kill_with_sqlite_loses_no_data(tmp_path: Path) -> None:
    go_on_after_a_kill(tmp_path)


def test_kill_with_postgresql_loses_no_data(tmp_path: Path) -> None:
    with empty_database() as address:
        go_on_after_a_kill(tmp_path, "--database", address)
