"""One process, one study: play what is missing, keep what is there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from inspect import iscoroutinefunction
from pathlib import Path
from typing import Any

import msgspec

from sally import store
from sally.core import shelf
from sally.core.drive import play_async, play_bots
from sally.core.log import Episode, Setup, episode_id
from sally.core.match import Match
from sally.core.player import Player
from sally.core.study import Study
from sally.runner.seating import players_of, resolved


class Progress(msgspec.Struct, frozen=True):
    """How far a run is."""

    done: int
    wanted: int
    kept: int  # found in the store already
    censored: int


Watcher = Callable[[Progress], None]


def play(setup: Setup, cell: str = "") -> Episode:
    """Play one episode to its end."""
    spec = shelf.game(setup.instance.game)
    match = Match(spec, setup)
    players = players_of(match)
    if all(is_bot(player) for player in players.values()):
        play_bots(match, players)
    else:
        asyncio.run(play_async(match, players))
    return match.episode(cell)


def is_bot(player: Player[Any, Any]) -> bool:
    """Whether a player answers at once, so that no event loop is needed."""
    methods = (player.decide, getattr(player, "report", None))
    return not any(iscoroutinefunction(method) for method in methods)


def run_study(
    study: Study, out: Path, limit: int | None = None, watch: Watcher | None = None
) -> store.Contents:
    """Play what the store lacks of a study, and return all that it then holds."""
    wanted = orders(study, limit)
    store.claim(out, manifest(study))
    there = store.load(out)
    missing = [order for order in wanted if order[0] not in there.finished]
    kept, censored = len(wanted) - len(missing), 0
    with store.Writer(out) as writer:
        for n, (_, cell, setup) in enumerate(missing, 1):
            episode = play(setup, cell)
            writer.add(episode)
            censored += episode.payoffs is None
            if watch:
                watch(Progress(n, len(missing), kept, censored))
    return store.load(out)


def orders(study: Study, limit: int | None = None) -> list[tuple[str, str, Setup]]:
    """Every episode of a study as (id, cell, setup), checked; at most `limit` a cell."""
    found: dict[str, tuple[str, str, Setup]] = {}
    for cell, setup in limited(study.trials(), limit):
        checked = resolved(setup)
        id = episode_id(checked)
        found.setdefault(id, (id, cell, checked))
    return list(found.values())


def limited(trials: Iterable[tuple[str, Setup]], limit: int | None) -> Iterator[tuple[str, Setup]]:
    """At most `limit` episodes of each cell and lineup, so that a short run still has them all."""
    seen: dict[str, int] = {}
    for cell, setup in trials:
        lineup = msgspec.json.encode((cell, setup.lineup), order="sorted").decode()
        seen[lineup] = seen.get(lineup, 0) + 1
        if limit is None or seen[lineup] <= limit:
            yield cell, setup


def manifest(study: Study) -> store.Manifest:
    """What the store of this study is marked with."""
    asks = blake2b(msgspec.json.encode(study, order="sorted"), digest_size=12).hexdigest()
    return store.Manifest(study.name, asks)
