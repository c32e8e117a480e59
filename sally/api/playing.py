"""Playing one episode, and telling it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sally.core.log.events import Episode, Instance, PlayerSpec, Setup
from sally.core.log.scenes import REFEREE
from sally.core.match.drive import play_async, play_bots
from sally.core.match.engine import Match
from sally.core.match.player import Player
from sally.core.registry import registry
from sally.core.rules.partner import Scripted
from sally.core.rules.probe import Injection
from sally.output.files import transcript as transcripts
from sally.runner import local
from sally.runner.seating import players_of, refuse_empty_seats, resolved

Who = str | PlayerSpec | tuple[str, Mapping[str, Any]] | Callable[[Any], Any] | Player[Any, Any]


def play(
    game: str,
    lineup: Mapping[str, Who],
    seed: int = 1,
    *,
    probes: Mapping[str, Sequence[str]] | None = None,
    injections: Sequence[Injection] = (),
    retries: int = 2,
    **params: Any,
) -> Episode:
    """Play one episode: names of players, `(name, parameters)`, or your own function of a turn."""
    named = {seat: _named(who) for seat, who in lineup.items()}
    own = {seat: _own(who) for seat, who in lineup.items() if _is_own(who)}
    setup = Setup(
        Instance(game, game, params),
        seed,
        {seat: who for seat, who in named.items() if seat not in own},
        arms={seat: tuple(names) for seat, names in (probes or {}).items()},
        injections=tuple(injections),
        retries=retries,
    )
    if not own:
        return local.play(resolved(setup))
    spec = registry.game(game)
    match = Match(spec, _with(setup, named, spec.version))
    refuse_empty_seats(spec, match.game, named)
    players = {**_others(match, own), **own}
    if all(local.is_bot(player) for player in players.values()):
        play_bots(match, players)
    else:
        asyncio.run(play_async(match, players))
    return match.episode()


def use(path: str | Path) -> list[str]:
    """Put whatever a file or folder of yours defines on the shelf; says what it found."""
    return registry.add_file(Path(path))


def transcript(episode: Episode, eyes: str = REFEREE) -> Iterator[str]:
    """The episode, line by line, from a seat's eyes or the referee's."""
    return transcripts.transcript(episode, eyes)


# --- lineups given in other ways than by name ---------------------------------------------------


def _is_own(who: Who) -> bool:
    return not isinstance(who, str | PlayerSpec | tuple)


def _named(who: Who) -> PlayerSpec:
    if isinstance(who, PlayerSpec):
        return who
    if isinstance(who, str):
        return PlayerSpec(who)
    if isinstance(who, tuple):
        return PlayerSpec(who[0], dict(who[1]))
    return PlayerSpec(f"own:{getattr(who, '__name__', type(who).__name__)}")


def _own(who: Any) -> Player[Any, Any]:
    own: Player[Any, Any] = who if hasattr(who, "decide") else Scripted(who)
    return own


def _with(setup: Setup, named: Mapping[str, PlayerSpec], version: int) -> Setup:
    return Setup(
        setup.instance,
        setup.seed,
        dict(named),
        version,
        setup.arms,
        setup.injections,
        setup.retries,
        setup.repeat,
    )


def _others(
    match: Match[Any, Any, Any], own: Mapping[str, Player[Any, Any]]
) -> dict[str, Player[Any, Any]]:
    """The players that were given by name, and the helpers nobody named."""
    helpers = {
        str(seat): PlayerSpec(occupant)
        for seat, occupant in match.spec.occupants.items()
        if seat not in match.setup.lineup
    }
    lineup: dict[str, PlayerSpec] = {**helpers, **match.setup.lineup}
    return players_of(match, {seat: who for seat, who in lineup.items() if seat not in own})
