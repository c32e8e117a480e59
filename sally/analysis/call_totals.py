"""The calls of a set of episodes: their number, tokens, seconds and cost."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from sally.core.log.events import Episode
from sally.core.prompt.model import Usage


class CallTotals(msgspec.Struct, frozen=True):
    """The calls of the evaluated player: their number, tokens, seconds and cost."""

    calls: int = 0
    lost: int = 0  # calls without a usable reply
    input: int = 0
    output: int = 0
    seconds: float = 0.0  # summed over calls, which may overlap
    cost: float | None = None
    uncounted: int = 0  # calls with a reply and without a count of tokens


def count_calls(episodes: Iterable[Episode]) -> CallTotals:
    """Return the sums over all calls; the cost is None if the cost of a call is unknown."""
    calls = lost = uncounted = 0
    usage = Usage(cost=0.0)
    for episode in episodes:
        for event in episode.events:
            for call in event.calls:
                calls += 1
                lost += bool(call.failure)
                uncounted += not call.failure and not call.usage.get("input")
                usage += msgspec.convert({"cost": None, **call.usage}, Usage, strict=False)
    cost = usage.cost if calls else None
    return CallTotals(calls, lost, usage.input, usage.output, usage.seconds, cost, uncounted)
