"""Several servers behind one model name: an episode keeps its server, and survives its loss."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sally.adapters.inspect.run import play_orders
from sally.core.log.events import Episode
from sally.runner import routing
from sally.runner.budget import Meter
from sally.runner.check import check
from sally.runner.config import Config, Limits, ModelEntry, use_config
from sally.runner.models import with_model
from sally.runner.orders import Order
from sally.runner.routing import order_servers
from tests.adapters.inspect import server as faulty
from tests.adapters.inspect.server import serving
from tests.adapters.inspect.tables import stored, tiny, wanted
from tests.adapters.inspect.test_faults import calls

pytest.importorskip("openai", reason="the servers speak the language of openai-api")

THREE = ("http://one/v1", "http://two/v1", "http://three/v1")
EPISODES = [f"episode {n}" for n in range(600)]
numbers = itertools.count()


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("ROUTED_KEY", "sk-none")
    routing._down.clear()
    yield
    routing._down.clear()
    use_config(None)


def reached(addresses: list[str], **options: float) -> tuple[str, Config]:
    """A model on several servers under a name of its own: Inspect remembers clients."""
    name = f"openai-api/routed/m{next(numbers)}"
    entry = ModelEntry(name, api_key_env="ROUTED_KEY", base_urls=tuple(addresses), **options)  # type: ignore[arg-type]
    limits = Limits(call_seconds=100, call_retries=3, first_wait=0.01)
    return name, use_config(Config({"m": entry}, limits=limits))


def ask_once(name: str, out: Path, repeats: int) -> list[Order]:
    short = {"temperature": 0.0, "max_tokens": 4}
    study = with_model(tiny(rounds=2, repeats=repeats, retries=0), name, short)
    return wanted(study, name, out)


def play_games(addresses: list[str], folder: Path, repeats: int, **options: float) -> list[Episode]:
    name, config = reached(addresses, **options)
    out = folder / "out"
    play_orders("tiny", ask_once(name, out, repeats), out, Meter(config=config), display="none")
    return stored(out)


def test_episodes_spread_evenly_and_new_server_moves_only_its_share() -> None:
    order_servers_before = {episode: order_servers(THREE[:2], episode)[0] for episode in EPISODES}
    order_servers_after = {episode: order_servers(THREE, episode)[0] for episode in EPISODES}
    for server in THREE:
        assert 150 < sum(chosen == server for chosen in order_servers_after.values()) < 250
    moved = {
        order_servers_after[episode]
        for episode in EPISODES
        if order_servers_after[episode] != order_servers_before[episode]
    }
    assert moved == {THREE[2]}


def test_unreachable_server_is_ranked_last_temporarily() -> None:
    chosen = order_servers(THREE, "e")[0]
    routing._down[chosen] = time.monotonic() + 10
    assert order_servers(THREE, "e")[-1] == chosen
    routing._down[chosen] = time.monotonic() - 1
    assert order_servers(THREE, "e")[0] == chosen


def test_episode_keeps_its_server(tmp_path: Path) -> None:
    with serving() as single_server, serving() as two:
        episodes = play_games([single_server.address, two.address], tmp_path, repeats=12)
    assert len(episodes) == 12
    kept_addresses = [episode.used["agent"]["address"] for episode in episodes]
    servers = (single_server.address, two.address)
    assert kept_addresses == [order_servers(servers, episode.id)[0] for episode in episodes]
    for server in (single_server, two):  # two rounds, each with a probe
        assert server.calls == 4 * kept_addresses.count(server.address)


def test_server_that_dies_loses_no_episode(tmp_path: Path) -> None:
    with serving() as server, serving() as two:
        addresses, out = [server.address, two.address], tmp_path / "out"
        name, config = reached(addresses)
        orders = ask_once(name, out, repeats=8)
        first = order_servers(addresses, orders[0][0])[0]
        dead, alive = (server, two) if first == server.address else (two, server)
        dead.always = faulty.dropped
        play_orders("tiny", orders, out, Meter(config=config), display="none")
    episodes = stored(out)
    assert all(episode.payoffs is not None for episode in episodes)
    failed = [call for call in calls(episodes) if call.failure]
    assert dead.calls == len(failed) > 0  # every failed call is in the log
    assert {call.failure for call in failed} == {"connection"}
    assert alive.calls == 8 * 4
    (moved,) = (e for e in episodes if e.id == orders[0][0])
    assert [at["address"] for at in moved.used["agent"]] == [dead.address, alive.address]
    assert alive.address not in routing._down  # two calls of an episode failed there, one left
    assert check(episodes).mismatches == []


def test_rate_limit_is_shared_by_all_episodes_and_servers(tmp_path: Path) -> None:
    with serving() as server, serving() as two:
        begun = time.monotonic()
        play_games([server.address, two.address], tmp_path, repeats=5, calls_per_minute=300)
    times = [*server.times, *two.times]
    assert len(times) == 20  # five at once, then five a second: three seconds on any machine
    assert max(times) - begun >= 3
