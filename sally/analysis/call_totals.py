"""The calls of a set of episodes: their number, tokens, seconds and cost."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from sally.frames.rows import ModelUsage


class CallTotals(msgspec.Struct, frozen=True):
    """The calls of the evaluated player: their number, tokens, seconds and cost."""

    calls: int = 0
    lost: int = 0  # calls without a usable reply
    input: int = 0
    output: int = 0
    seconds: float = 0.0  # summed over calls, which may overlap
    cost: float | None = None
    uncounted: int = 0  # calls with a reply and without a count of tokens
    currency: str = ""  # of the cost; "" if it is not on record


def total_calls(usages: Iterable[ModelUsage]) -> CallTotals:
    """Return the sums over all calls; the cost is None if the cost of a call is unknown."""
    used = ModelUsage()
    for usage in usages:
        used.join(usage)
    cost = used.cost if used.calls and not used.unpriced else None
    unanswered = used.failed + used.unusable
    return CallTotals(
        used.calls, unanswered, used.input, used.output, used.seconds, cost, used.uncounted
    )
