"""Controls: forks of an episode, costs of decisions, checklists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from sally.analysis.decisions.rollouts import branches, reasons
from sally.analysis.design.checklist import checklist as checked_off
from sally.api.results import Episodes
from sally.api.rows import Rows
from sally.api.studies import find_study
from sally.core.log.events import Episode, Injection
from sally.core.registry.objects import ObjectNames, PlayerLike
from sally.core.registry.study import Study
from sally.runner.fork import Change


def fork(
    episode: Episode,
    turn: int,
    lineup: Mapping[str, PlayerLike] | None = None,
    *,
    moves: Mapping[str, Any] | None = None,
    injections: Sequence[Injection] | None = None,
    repeats: int = 1,
) -> Episodes:
    """Continue an episode from one of its turns with other players, moves or injections.

    The past is replayed from the log, and nature uses the same random draws, so branches differ
    only by the change.

    Args:
        episode: The episode to fork.
        turn: The first turn that is played again.
        lineup: Players that take over seats, given as in `play`.
        moves: Moves that seats are made to play in that turn.
        injections: Information given to seats from then on; None keeps the episode's own.
        repeats: Number of continuations; the first uses the random draws of the log.

    Returns:
        The forked episodes.

    Raises:
        BadInput: If the turn, a seat, a player or a move is wrong, or a player cannot continue.

    >>> import sally
    >>> episode = sally.play("ipd", {"agent": "random", "partner": "tit_for_tat"}, rounds=4)
    >>> sally.fork(episode, 2, {"agent": "tit_for_tat"}, repeats=2).title
    '2 episodes of ipd'
    """
    names = ObjectNames()
    seated_players = names.lineup(lineup or {})
    new_injections = None if injections is None else tuple(injections)
    change = Change(seated_players, None, new_injections, dict(moves or {}))
    with names.bound():
        branch, played = branches(episode, turn, {"fork": change}, repeats)
    fork_ids = set(branch[1].episodes)
    return Episodes(episode for episode in played if episode.id in fork_ids)


def why(
    episode: Episode, seats: Sequence[str] = (), *, repeats: int | None = None, by: str = ""
) -> Rows:
    """Return the decisions of an episode, the costliest first.

    Args:
        episode: The episode.
        seats: Only decisions of these seats.
        repeats: Paired continuations per option, if costs are estimated by continuing play.
        by: The player that continues; by default the same player or the game's reference player.

    Returns:
        One row per decision: the player's prediction, the truth, the best move, and the cost.

    Raises:
        BadInput: If the costs cannot be computed or estimated.

    >>> import sally
    >>> episode = sally.play("ipd", {"agent": "random", "partner": "tit_for_tat"}, rounds=4)
    >>> {row["seat"] for row in sally.why(episode, ["agent"])}
    {'agent'}
    """
    return Rows(msgspec.to_builtins(decision) for decision in reasons(episode, seats, repeats, by))


def checklist(study: Study | str | Path) -> Rows:
    """Return the reporting checklist of a study: what it states and what it lacks.

    >>> import sally
    >>> len(sally.checklist("quickstart")) > 5
    True
    """
    return Rows(msgspec.to_builtins(item) for item in checked_off(find_study(study)))
