"""What is told of an episode before and after it is played: who plays it, and what it took."""

from __future__ import annotations

from typing import Any

from sally.core.log.events import Episode, Setup
from sally.players.language import uses_model
from sally.runner.config import in_process


def kind_of(order: tuple[Any, ...]) -> str:
    """Whether bots play, models of this process, or models that a provider brings."""
    names = [
        str(who.params.get("model", "embedded"))
        for who in order[-1].lineup.values()
        if uses_model(who)
    ]
    if not names:
        return "bots"
    return "models" if all(in_process(name) for name in names) else "providers"


def alike(setup: Setup) -> str:
    """What episodes have in common that take about as many calls."""
    how = [str(w.params.get("strategy", w.player)) for w in setup.lineup.values()]
    return " ".join([setup.instance.game, *how])


def calls_of(episode: Episode) -> int:
    """The model calls that an episode's log holds."""
    return sum(len(event.calls) for event in episode.events)
