"""A server that is killed in mid-game loses nothing, and everybody goes on where they were."""

from __future__ import annotations

import signal
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from benchmarks.local_postgres import local_postgres, programs
from sally import store
from sally.core.log import Ended, Moved, Reported
from sally.runner.check import check
from tests.adapters.web.guests import Guest, play, serving, sit, value_for


def web_at(port: int) -> httpx.Client:
    return httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30, verify=False)


def content(sight: dict[str, Any]) -> dict[str, Any]:
    """A sight but for its version, which rises with every start."""
    return {key: value for key, value in sight.items() if key != "version"}


def go_on_after_a_kill(data: Path, *more: str) -> None:
    """Two people, one of whom has answered when the server dies; both then play to the end."""
    wish = {"others": {"partner": "person"}, "params": {"rounds": 3}, "probes": ["their_move"]}
    with serving(data, 0, *more) as (process, port), web_at(port) as web:
        agent, invited = sit(web, "rps", **wish)
        partner = invited["partner"]
        for guest in (agent, agent, partner):  # the agent answers aside, and then moves
            for ask in guest.see()["asks"]:
                guest.answer(ask)
        waiting = agent.see()["asks"]
        probe = next(ask for ask in waiting if ask["kind"] == "probe")
        agent.say(probe["id"], value_for(probe, agent.draw), "told before the crash")
        partner.answer(partner.see()["asks"][0])
        before = [content(agent.see()), content(partner.see())]
        process.send_signal(signal.SIGKILL)
        process.wait()
    with serving(data, port, *more) as (process, port), web_at(port) as web:
        agent.web = partner.web = web
        assert [content(agent.see()), content(partner.see())] == before
        again = agent.say(probe["id"], 0, "told before the crash")
        assert again.status_code == 200 and content(agent.see()) == before[0]  # it counts once
        sights = play([agent, partner])
        assert all(s["over"]["how"] == "ended" and len(s["lines"]) == 3 for s in sights)
        process.send_signal(signal.SIGTERM)
        process.wait(20)
    contents = store.load(data / "episodes")
    (episode,) = contents.episodes.values()
    assert contents.doubled == 0 and not contents.bad
    assert isinstance(episode.end, Ended) and check([episode]).replayed == 1
    assert sum(isinstance(e, Reported) for e in episode.events) == 3


def test_a_kill_on_sqlite_loses_nothing(tmp_path: Path) -> None:
    go_on_after_a_kill(tmp_path)


def test_a_kill_on_postgresql_loses_nothing(tmp_path: Path) -> None:
    if programs() is None:
        pytest.skip("!!! no PostgreSQL on this machine: its tests are skipped")
    with local_postgres() as address:
        go_on_after_a_kill(tmp_path, "--database", address)


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


def test_moves_are_neither_lost_nor_doubled_however_often_the_server_dies(tmp_path: Path) -> None:
    acknowledged: dict[int, list[int]] = {}

    def person(number: int, guest: Stubborn) -> None:
        while not (seen := guest.see())["over"]:
            ask = seen["asks"][0]
            value = value_for(ask, guest.draw)
            assert guest.say(ask["id"], value).status_code == 200
            acknowledged.setdefault(number, []).append(value)

    people: list[threading.Thread] = []
    clients: list[httpx.Client] = []
    port = 0
    for seconds in (0.3, 0.6):
        with serving(tmp_path, port) as (process, port):
            for number in range(0 if people else 4):
                clients.append(web := web_at(port))
                guest = Stubborn(web, sit(web, "ipd", params={"rounds": 25})[0].token)
                people.append(threading.Thread(target=person, args=(number, guest)))
                people[-1].start()
            time.sleep(seconds)
            process.send_signal(signal.SIGKILL)
    with serving(tmp_path, port) as (process, _):
        for one in people:
            one.join(60)
        process.send_signal(signal.SIGTERM)
        process.wait(20)
    for client in clients:
        client.close()
    contents = store.load(tmp_path / "episodes")
    played = [
        [e.action for e in episode.events if isinstance(e, Moved) and e.seat == "agent"]
        for episode in contents.episodes.values()
    ]
    assert sorted(played) == sorted(acknowledged.values()) and contents.doubled == 0
    assert [len(moves) for moves in played] == [25] * 4
