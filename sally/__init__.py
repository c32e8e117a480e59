"""A laboratory for interactive theory of mind: games, the minds that play them, and measures.

>>> import sally
>>> episode = sally.play("ipd", {"agent": "random", "partner": "tit_for_tat"}, seed=1, rounds=3)
>>> len(episode.events)
7
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sally.core.version import DISTRIBUTION, VERSION

if TYPE_CHECKING:
    from sally.api import (
        decisions,
        episodes,
        load,
        play,
        run_study,
        summary,
        to_pandas,
        to_polars,
        transcript,
    )

__version__ = VERSION
__all__ = [
    "DISTRIBUTION",
    "decisions",
    "episodes",
    "load",
    "play",
    "run_study",
    "summary",
    "to_pandas",
    "to_polars",
    "transcript",
]


def __getattr__(name: str) -> Any:
    # The interface is loaded when it is used, so that a part of Sally can be imported alone.
    if name in __all__:
        return getattr(import_module("sally.api"), name)
    raise AttributeError(f"module 'sally' has no attribute {name!r}")
