"""List the episodes of a study and play them in this process."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from inspect import iscoroutinefunction
from itertools import groupby
from operator import itemgetter
from typing import Any

import msgspec

from sally import store
from sally.core.errors import BadInput, NotReady, RunFailed
from sally.core.event_loop import run_coroutine
from sally.core.log.events import Episode, Instance, PlayerSpec, Setup, canonical
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.match.player import Player
from sally.core.prompt.model import Model
from sally.core.registry import registry
from sally.core.registry.packs import is_reference
from sally.core.registry.study import Study, without_labels
from sally.core.registry.wording import verbatim_texts
from sally.core.rules.replay import Trajectory
from sally.players.language import patient, uses_model
from sally.runner.budget import EpisodeStopped, Meter, Metered
from sally.runner.config import SERVER_AT_ONCE, Config, Limits, declared_at_once, transport_of
from sally.runner.gates import forget_refusals, hopeless, record_answers
from sally.runner.orders import Order, Orders, models_in
from sally.runner.seating import players_of, portable_study, resolve_setup

AT_ONCE = 8  # concurrent episodes for a model that declares no number of calls
Opened = tuple[Episode, Trajectory]  # an episode and its trajectory
Keep = Callable[[Episode, Trajectory], None]


def play(setup: Setup, cell: str = "") -> Episode:
    """Play one episode."""
    return play_open(setup, cell)[0]


def play_open(setup: Setup, cell: str = "") -> Opened:
    """Play one episode; return it with its trajectory."""
    match, players = _seated_match(setup)
    Driver(match, players).run(_with_connections)
    return match.episode(cell, used_by(players)), match.replay


async def aplay(setup: Setup) -> Episode:
    """Play one episode in the running event loop."""
    match, players = _seated_match(setup)
    await _with_connections(Driver(match, players).arun())
    return match.episode(used=used_by(players))


def _seated_match(setup: Setup) -> tuple[Match, dict[str, Player]]:
    match: Match = Match(registry.game(setup.instance.game), setup)
    return match, players_of(match)


def is_bot(player: Player) -> bool:
    """Return whether a player answers synchronously."""
    methods = (player.decide, getattr(player, "report", None))
    return not any(iscoroutinefunction(method) for method in methods)


def used_by(players: Mapping[str, Player]) -> dict[str, Any]:
    """Return, for the record, the model versions used in each seat.

    For a seat whose words pack reproduces published texts word for word, these texts are listed
    under `verbatim`.
    """
    models = {seat: getattr(player, "model", None) for seat, player in players.items()}
    used = {seat: getattr(model, "used", None) for seat, model in models.items()}
    versions = {
        seat: msgspec.to_builtins(version) for seat, version in used.items() if version is not None
    }
    for seat, player in players.items():
        pack = getattr(player, "pack", "")
        if is_reference(pack) and (texts := verbatim_texts(pack)):
            versions[seat] = {**versions.get(seat, {}), "verbatim": list(texts)}
    return versions


def plays_here(missing: Sequence[Order], config: Config, cache: bool) -> bool:
    """Return whether episodes can be played without Inspect; the reply cache needs Inspect."""
    ways = {transport_of(name, config) for _, _, setup in missing for name in models_in(setup)}
    return "inspect" not in ways and not (cache and "server" in ways)


def play_here(missing: Sequence[Order], keep: Keep, meter: Meter | None = None) -> None:
    """Play episodes in this process, bots first; `keep` receives each episode when it ends."""
    for _, cell, setup in missing:
        if not has_model(setup):
            keep(*play_open(setup, cell))
    if waiting := [order for order in missing if has_model(order[2])]:
        run_coroutine(_with_connections(play_several(waiting, keep, meter or Meter())))


async def _with_connections(play: Coroutine[Any, Any, None]) -> None:
    """Play with models; connections to servers are closed when no call of this loop needs them."""
    from sally.models.chat_server import open_connections  # late: not needed for bots

    async with open_connections():
        await play


def has_model(setup: Setup) -> bool:
    """Return whether a language model plays in this setup."""
    return any(uses_model(player) for player in setup.lineup.values())


# --- several episodes at once -------------------------------------------------------------------


async def play_several(waiting: Sequence[Order], keep: Keep, meter: Meter) -> None:
    """Play as many episodes concurrently as their models accept."""
    import asyncio

    line = iter(waiting)
    forget_refusals()

    async def work() -> None:
        for order in line:
            if meter.spent or hopeless():
                return
            episode, trajectory = await _with_models(order, meter)
            record_answers(episode)
            keep(episode, trajectory)

    working = [asyncio.ensure_future(work()) for _ in range(at_once(waiting, meter.config))]
    try:
        await asyncio.gather(*working)
    finally:
        for task in working:
            task.cancel()
        await asyncio.gather(*working, return_exceptions=True)
    if (reason := hopeless()) is not None:
        raise RunFailed(f"{reason} The run was stopped.")


async def _with_models(order: Order, run: Meter) -> Opened:
    id, cell, setup = order
    match: Match = Match(registry.game(setup.instance.game), setup)
    meter = run.of_episode()
    config = meter.config

    def model(seat: str, name: str) -> Model:
        if transport_of(name, config) != "server":
            return Metered(registry.model(name), meter, name)
        from sally.runner.servers import server_model  # late: not needed for bots

        return Metered(server_model(name, config, id), meter, name)

    players = players_of(match, with_models(setup.lineup, model))
    if any(transport_of(name, config) == "server" for name in models_in(setup)):
        retries = config.limits.call_retries
        players = {seat: patient(player, retries) for seat, player in players.items()}
    await play_within(match, Driver(match, players).arun(), config.limits)
    return match.episode(cell, used_by(players)), match.replay


async def play_within(match: Match, play: Coroutine[Any, Any, None], limits: Limits) -> None:
    """Await the play of a match until it ends or a budget or limit censors it."""
    import asyncio

    clock = asyncio.timeout(limits.episode_seconds)
    try:
        async with clock:
            await play
    except EpisodeStopped as error:
        match.censor(error.cause, error.detail)
    except TimeoutError:
        if not clock.expired():
            raise
        match.censor("limit", f"time limit of {limits.episode_seconds} s")


def with_models(
    lineup: Mapping[str, PlayerSpec], model: Callable[[str, str], Model | str]
) -> dict[str, PlayerSpec]:
    """Return the lineup with the models, or other names, that `model` returns for each seat and
    model name."""

    def with_model(seat: str, player: PlayerSpec) -> PlayerSpec:
        if not uses_model(player):
            return player
        seat_model = model(seat, player.params.get("model", "embedded"))
        return msgspec.structs.replace(player, params={**player.params, "model": seat_model})

    return {seat: with_model(seat, player) for seat, player in lineup.items()}


def at_once(waiting: Sequence[Order], config: Config) -> int:
    """Return how many episodes to play concurrently: the smallest number that their models accept.

    The user's config takes precedence over the model's declaration, which takes precedence over
    that of the model's kind.
    """
    names = {name for _, _, setup in waiting for name in models_in(setup)}

    def takes(name: str) -> int:
        if transport_of(name, config) == "server":
            return config.entry(name).at_once or SERVER_AT_ONCE
        declared = config.entry(name).at_once or getattr(registry.model(name), "slots", None)
        return int(declared or declared_at_once(name, config) or AT_ONCE)

    return min(*map(takes, names), config.limits.episodes_at_once or len(waiting))


# --- what is wanted -----------------------------------------------------------------------------


def orders(study: Study, limit: int | None = None, open_models: bool = True) -> Orders:
    """Return the checked episodes of a study as (id, cell, setup), at most `limit` per cell."""
    ready = portable_study(study)
    if limit is None and (bulk_orders := _in_bulk(ready, open_models)) is not None:
        return bulk_orders
    planned = Orders()
    checked: dict[tuple[str, int, int], int] = {}  # kinds already checked
    for cell, setup in limit_trials(ready.trials(), limit):
        alike = (cell, id(setup.instance), id(setup.lineup))
        if (kind := checked.get(alike)) is None:
            kind = checked[alike] = planned.kind(
                (cell, _check_setup(study, cell, setup, open_models))
            )
        planned.add(kind, setup.seed, setup.repeat)
    return planned.end()


def _in_bulk(study: Study, open_models: bool) -> Orders | None:
    """Return the planned episodes, added in bulk for each cell; None if two cells may contain the
    same episode."""
    planned, setups_seen = Orders(study.seed), set[bytes]()
    for cell in study.cells:
        single_cell = msgspec.structs.replace(cell, repeats=1)
        kinds = []
        for name, setup in msgspec.structs.replace(study, cells=(single_cell,)).trials():
            ready = _check_setup(study, name, setup, open_models)
            played = canonical(msgspec.structs.replace(ready, seed=0))
            if played in setups_seen:
                return None
            setups_seen.add(played)
            kinds.append(planned.kind((name, ready)))
        planned.add_all(kinds, cell.repeats)
    return planned


def _check_setup(study: Study, cell: str, setup: Setup, open_models: bool) -> Setup:
    try:
        return resolve_setup(setup, open_models)
    except NotReady:
        raise
    except BadInput as error:
        raise BadInput(f"Study {study.name!r}, cell {cell!r}: {error}") from None


def refuse_changed(planned: Orders, stored: Mapping[str, Instance], out: object) -> None:
    """Raise BadInput if a stored instance has parameters that differ from the study's."""
    for cell, setup in planned.alike:
        instance = setup.instance
        if stored.get(instance.id, instance) != instance:
            raise BadInput(
                f"The store {out} holds instance {instance.id!r} of cell {cell!r} with other "
                "parameters; give the changed instance another id, or choose another store."
            )


def limit_trials(
    trials: Iterable[tuple[str, Setup]], limit: int | None
) -> Iterator[tuple[str, Setup]]:
    """Yield at most `limit` episodes of each cell: the first ones with a model, then the first ones
    of bots alone."""
    if limit is None:
        yield from trials
        return
    for _, cell_trials in groupby(trials, key=itemgetter(0)):
        numbered = list(enumerate(cell_trials))
        models_first = sorted(numbered, key=lambda trial: not models_in(trial[1][1]))
        yield from (trial for _, trial in sorted(models_first[:limit], key=itemgetter(0)))


def manifest(study: Study) -> store.Manifest:
    """Return the manifest of the study's store."""
    text = msgspec.json.encode(without_labels(study), order="sorted")
    asks = blake2b(text, digest_size=12).hexdigest()
    return store.Manifest(study.name, asks)
