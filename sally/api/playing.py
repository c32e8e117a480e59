"""Play one episode and read it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from sally.core.errors import BadInput
from sally.core.log.events import Episode, Instance, PlayerSpec, Setup
from sally.core.log.scenes import REFEREE
from sally.core.match.drive import play_async, play_bots
from sally.core.match.engine import Match
from sally.core.match.player import Player
from sally.core.registry import registry
from sally.core.rules.partner import Scripted
from sally.core.rules.probe import Injection
from sally.output.files import transcript as transcripts
from sally.players.language import LANGUAGE
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
    """Play one episode of a game.

    Args:
        game: Name of a game, as listed by `list_games`.
        lineup: The player of each seat: the name of a player or partner, `(name, parameters)`, a
            `PlayerSpec`, a function from a `Turn` to a move, or an object with a `decide` method.
        seed: Seed of nature and of random players, a whole number.
        probes: For each seat, the probes it is asked.
        injections: Information given to seats before they move.
        retries: How often an unreadable or rejected answer may be retried.
        **params: Parameters of the game, such as `rounds=20`.

    Returns:
        The record of the episode.

    Raises:
        BadInput: If the game, a seat, a player, a probe or a parameter is unknown or wrong.

    >>> import sally
    >>> def always_paper(turn):
    ...     return 1
    >>> lineup = {"agent": always_paper, "partner": "tit_for_tat"}
    >>> sally.play("rps", lineup, seed=7, rounds=3).payoffs["agent"]
    -2.0
    """
    _check_arguments(lineup, seed)
    named = {seat: _spec_of(seat, who) for seat, who in lineup.items()}
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
    match = Match(spec, msgspec.structs.replace(setup, lineup=named, version=spec.version))
    refuse_empty_seats(spec, match.game, named)
    players = {**_others(match, own), **own}
    if all(local.is_bot(player) for player in players.values()):
        play_bots(match, players)
    else:
        asyncio.run(play_async(match, players))
    return match.episode()


def use(path: str | Path) -> list[str]:
    """Register the games, players, metrics and studies that a Python file or package defines.

    Args:
        path: A `.py` file, or a folder with an `__init__.py`; its code is executed.

    Returns:
        The names of the registered entries, as `kind/name`.

    Raises:
        BadInput: If the file is missing, fails when it is run, or defines nothing to register.
    """
    return registry.add_file(Path(path))


def transcript(episode: Episode, eyes: str = REFEREE) -> Iterator[str]:
    """Yield an episode as lines of text.

    Args:
        episode: The episode.
        eyes: The seat whose view is shown; by default the referee, who sees everything.

    Raises:
        BadInput: If the game of the episode is unknown or has another version.

    >>> import sally
    >>> episode = sally.play("ipd", {"agent": "random", "partner": "tit_for_tat"}, rounds=1)
    >>> list(sally.transcript(episode))[1]
    'at the table: agent = random, partner = tit_for_tat'
    """
    return transcripts.transcript(episode, eyes)


# --- lineups ------------------------------------------------------------------------------------


def _check_arguments(lineup: Any, seed: Any) -> None:
    """Raise BadInput unless the lineup is a mapping and the seed a whole number."""
    if not isinstance(lineup, Mapping):
        raise BadInput(
            f"The lineup is a {type(lineup).__name__}; it must be a mapping from seats to players, "
            'such as {"agent": "random", "partner": "tit_for_tat"}.'
        )
    if not isinstance(seed, int) or isinstance(seed, bool):
        raise BadInput(f"The seed is {seed!r}; it must be a whole number, such as 1.")


def _is_own(who: Who) -> bool:
    return not isinstance(who, str | PlayerSpec | tuple)


def _spec_of(seat: str, who: Who) -> PlayerSpec:
    """Return the spec of a seat's player; raises BadInput if the player is not valid."""
    if isinstance(who, tuple):
        if len(who) != 2 or not isinstance(who[0], str) or not isinstance(who[1], Mapping):
            raise BadInput(f"Seat {seat!r} has {who!r}; a tuple must be (name, parameters).")
        who = PlayerSpec(who[0], dict(who[1]))
    if isinstance(who, str):
        who = PlayerSpec(who)
    if isinstance(who, PlayerSpec):
        if who.player == LANGUAGE and "model" not in who.params:
            raise BadInput(
                f"Seat {seat!r} has a language player without a model; name one, such as "
                '("language", {"model": "embedded", "strategy": "qa"}).'
            )
        return who
    if isinstance(who, type):
        raise BadInput(
            f"Seat {seat!r} has the class {who.__name__}; give an instance of it, "
            f"such as {who.__name__}()."
        )
    if not callable(who) and not hasattr(who, "decide"):
        raise BadInput(
            f"Seat {seat!r} has {who!r}; a player is a name, (name, parameters), a function of a "
            "turn, or an object with a `decide` method."
        )
    return PlayerSpec(f"own:{getattr(who, '__name__', type(who).__name__)}")


def _own(who: Any) -> Player[Any, Any]:
    own: Player[Any, Any] = who if hasattr(who, "decide") else Scripted(who)
    return own


def _others(
    match: Match[Any, Any, Any], own: Mapping[str, Player[Any, Any]]
) -> dict[str, Player[Any, Any]]:
    """Return the players given by name, and the default occupants of helper seats."""
    helpers = {
        str(seat): PlayerSpec(occupant)
        for seat, occupant in match.spec.occupants.items()
        if seat not in match.setup.lineup
    }
    lineup: dict[str, PlayerSpec] = {**helpers, **match.setup.lineup}
    return players_of(match, {seat: who for seat, who in lineup.items() if seat not in own})
