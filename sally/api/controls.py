"""Controls: other branches of an episode, what decisions cost, how reliable scores are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from sally.analysis.compare import contrast as contrasts
from sally.analysis.decisions.rollouts import branches, reasons
from sally.analysis.design import reliability as reliable
from sally.analysis.design import variance as variances
from sally.analysis.design.checklist import checklist as checked_off
from sally.api.analyses import Played, episodes_in
from sally.api.results import Episodes, Rows, flat
from sally.api.studies import find_study
from sally.core.log.events import Episode, PlayerSpec
from sally.core.registry.study import Study
from sally.core.rules.probe import Injection
from sally.runner.forking import Change


def fork(
    episode: Episode,
    turn: int,
    lineup: Mapping[str, str | PlayerSpec] | None = None,
    *,
    moves: Mapping[str, Any] | None = None,
    injections: Sequence[Injection] | None = None,
    repeats: int = 1,
) -> Episodes:
    """The episode taken up again at a turn with other players, moves or injections, same chance."""
    named = {
        s: PlayerSpec(who) if isinstance(who, str) else who for s, who in (lineup or {}).items()
    }
    told = None if injections is None else tuple(injections)
    change = Change(named, None, told, dict(moves or {}))
    found, played = branches(episode, turn, {"fork": change}, repeats)
    wanted = set(found[1].episodes)
    return Episodes(one for one in played if one.id in wanted)


def why(
    episode: Episode, seats: Sequence[str] = (), *, repeats: int | None = None, by: str = ""
) -> Rows:
    """The decisions of an episode, the dearest first: expected, true, best, and what was lost."""
    return Rows(msgspec.to_builtins(each) for each in reasons(episode, seats, repeats, by))


def checklist(study: Study | str | Path) -> Rows:
    """What a reader must be told of a study: what it has, and what it lacks."""
    return Rows(msgspec.to_builtins(item) for item in checked_off(find_study(study)))


def contrast(
    played: Played,
    of: contrasts.Of,
    *,
    metrics: Sequence[str] = (),
    by_player: bool = False,
    margin: float | None = None,
) -> Rows:
    """The same players under two conditions: `asked` or not, `twin` or mind, other `packs`."""
    found = contrasts.contrast(
        episodes_in(played), of, metrics=tuple(metrics), by_player=by_player, margin=margin
    )
    return Rows({"condition": c.condition, "base": c.base, **flat(c.comparison)} for c in found)


def reliability(played: Played, *, target: float = 0.8) -> Rows:
    """How far each measure tells the players apart, and the episodes that it would take."""
    scores = reliable.scores_of(episodes_in(played))
    return Rows(flat(row) for row in reliable.reliability(scores, target))


def variance(played: Played) -> Rows:
    """Where the variance of each measure comes from, and what is lost in fresh wordings."""
    return Rows(flat(row) for row in variances.sources(variances.told_of(episodes_in(played))))
