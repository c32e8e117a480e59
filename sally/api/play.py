"""Play one episode and read it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from sally.core.display.scenes import REFEREE
from sally.core.errors import BadInput
from sally.core.log.events import Episode, Injection, Instance, PlayerSpec, Setup
from sally.core.registry import registry
from sally.core.registry.objects import ObjectNames, PlayerLike
from sally.core.registry.register import as_game
from sally.core.registry.study import as_arms
from sally.core.rules.game import GameSpec
from sally.output.files import transcript as transcripts
from sally.players.language import LANGUAGE
from sally.runner import local
from sally.runner.config import find_config
from sally.runner.seating import resolve_setup


def play(
    game: str | GameSpec,
    lineup: Mapping[str, PlayerLike],
    seed: int = 1,
    *,
    probes: Mapping[str, str | Sequence[str]] | None = None,
    injections: Sequence[Injection] = (),
    retries: int = 2,
    **params: Any,
) -> Episode:
    """Play one episode of a game.

    Args:
        game: Name of a game, as listed by `list_games`, or a `GameSpec`, which is registered.
        lineup: The player of each seat: the name of a player or partner, `(name, parameters)`, a
            `PlayerSpec`, a function from a `Turn` to a move, two functions for moves and reports,
            or an object with a `decide` method. The parameter `model` of a language player may be
            an object with the methods of `Model`.
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
    ...     return turn.choose("paper")
    >>> lineup = {"agent": always_paper, "partner": "tit_for_tat"}
    >>> sally.play("rps", lineup, seed=7, rounds=3).payoffs["agent"]
    -2.0
    """
    names = ObjectNames()
    specs = names.lineup(lineup)
    with names.bound():
        setup = named_setup(as_game(game), specs, seed, probes or {}, injections, retries, params)
        return local.play(setup)


async def aplay(
    game: str | GameSpec,
    lineup: Mapping[str, PlayerLike],
    seed: int = 1,
    *,
    probes: Mapping[str, str | Sequence[str]] | None = None,
    injections: Sequence[Injection] = (),
    retries: int = 2,
    **params: Any,
) -> Episode:
    """Play one episode as `play` does, and await its models in the running event loop.

    Args:
        game: As for `play`, and likewise all other arguments.
        lineup: The player of each seat; coroutine functions and models run in this event loop.
        seed: Seed of nature and of random players.
        probes: For each seat, the probes it is asked.
        injections: Information given to seats before they move.
        retries: How often an unreadable or rejected answer may be retried.
        **params: Parameters of the game.

    >>> import asyncio, sally
    >>> lineup = {"agent": "random", "partner": "tit_for_tat"}
    >>> asyncio.run(sally.aplay("ipd", lineup, rounds=3)) == sally.play("ipd", lineup, rounds=3)
    True
    """
    names = ObjectNames()
    specs = names.lineup(lineup)
    with names.bound():
        setup = named_setup(as_game(game), specs, seed, probes or {}, injections, retries, params)
        return await local.aplay(setup)


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


class Transcript(tuple[str, ...]):
    """The lines of a transcript; printing it, or showing it in a notebook, prints the lines."""

    __slots__ = ()

    def __str__(self) -> str:
        return "\n".join(self)

    __repr__ = __str__


def transcript(episode: Episode, eyes: str = REFEREE) -> Transcript:
    """Return an episode as lines of text.

    Args:
        episode: The episode.
        eyes: The seat whose view is shown; by default the referee, who sees everything.

    Returns:
        The lines; `print(sally.transcript(episode))` prints them.

    Raises:
        BadInput: If the game of the episode is unknown or has another version.

    >>> import sally
    >>> episode = sally.play("ipd", {"agent": "random", "partner": "tit_for_tat"}, rounds=1)
    >>> sally.transcript(episode)[1]
    'at the table: agent = random, partner = tit_for_tat'
    """
    return Transcript(transcripts.transcript(episode, eyes))


def named_setup(
    game: str,
    lineup: Mapping[str, PlayerSpec],
    seed: int,
    probes: Mapping[str, str | Sequence[str]],
    injections: Sequence[Injection],
    retries: int,
    params: Mapping[str, Any],
) -> Setup:
    """Return the checked setup of one episode.

    Raises:
        BadInput: If the game, a seat, a player, a probe or a parameter is unknown or wrong.
    """
    if not isinstance(seed, int) or isinstance(seed, bool):
        raise BadInput(f"The seed is {seed!r}; it must be a whole number, such as 1.")
    for seat, spec in lineup.items():
        if spec.player == LANGUAGE and "model" not in spec.params:
            raise BadInput(
                f"Seat {seat!r} has a language player without a model; name one, such as "
                '("language", {"model": "embedded", "strategy": "qa"}).'
            )
    return resolve_setup(
        Setup(
            Instance(game, game, dict(params)),
            seed,
            {seat: _with_model_name(spec) for seat, spec in lineup.items()},
            arms=as_arms(probes),
            injections=tuple(injections),
            retries=retries,
        )
    )


def _with_model_name(spec: PlayerSpec) -> PlayerSpec:
    """Return the player with the name of its model in place of an alias."""
    if not isinstance(alias := spec.params.get("model"), str):
        return spec
    name = find_config().model_name(alias)
    return replace(spec, params={**spec.params, "model": name})
