"""How moves follow what an informant of stated reliability says."""

from __future__ import annotations

from collections.abc import Sequence

from sally.analysis.pairs.told import (
    ToldDifference,
    ToldResult,
    has_informant,
    told_slopes,
)
from sally.api.results import flat
from sally.api.rows import Rows
from sally.core.errors import BadInput
from sally.frames.frame import Source
from sally.frames.frame import as_frame as frame_of


class ToldRows(Rows):
    """The slopes of moves on stated forecasts: one row per player, arm and stated reliability.

    `differences` has the statement less its controls, over the positions that both have.
    """

    def __init__(self, result: ToldResult) -> None:
        self.result = result
        super().__init__(map(flat, result.slopes))

    @property
    def differences(self) -> Sequence[ToldDifference]:
        return self.result.differences


def told(source: Source) -> ToldRows:
    """Return how moves follow the forecasts that an informant of stated reliability states.

    Args:
        source: A store, a bundle, episodes, or a frame, such as those of the study
            `causal_acting`.

    Raises:
        BadInput: If no position has two statements of an informant.
    """
    frame = frame_of(source)
    result = told_slopes(iter(frame)) if has_informant(frame) else ToldResult((), ())
    if not any(slope.positions for slope in result.slopes):
        raise BadInput(
            "No position of these episodes has two different statements of an informant; "
            "`sally run causal_acting --model MODEL` plays such positions."
        )
    return ToldRows(result)
