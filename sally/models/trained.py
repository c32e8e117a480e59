"""A model that is trained elsewhere: it sits at the table from outside, and its episodes replay.

The trainer answers for it (`sally.adapters.trainers.text`); by its name alone it cannot be called.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sally.core.errors import BadInput
from sally.core.prompt.model import (
    AS_THE_PROVIDER_DOES,
    Context,
    Message,
    ModelFailure,
    ModelKind,
    Reply,
    Scores,
    Settings,
    ToolSpec,
)

TRAINED = "trained"
WHERE = (
    "answers from where it is trained (sally.adapters.trainers.text); "
    "by its name alone it cannot be called."
)


class Trained:
    """The name of a model in training, and what is known of how it came about."""

    can_score = True

    def __init__(self, name: str, used: dict[str, Any] | None = None) -> None:
        self.name = name
        self.used = used

    async def complete(
        self,
        messages: Sequence[Message],
        settings: Settings = AS_THE_PROVIDER_DOES,
        tools: Sequence[ToolSpec] = (),
    ) -> Reply:
        raise ModelFailure("unsupported", f"{self.name} {WHERE}")

    async def score(
        self,
        context: Context,
        candidates: Sequence[str],
        settings: Settings = AS_THE_PROVIDER_DOES,
    ) -> Scores:
        raise ModelFailure("unsupported", f"{self.name} {WHERE}")


def _make(name: str) -> Trained:
    if not name.removeprefix(TRAINED).removeprefix(":"):
        raise BadInput(f"Say which trained model: {TRAINED}:NAME.")
    return Trained(name)


MODEL = ModelKind(TRAINED, "a model that is being trained, answered for from outside", _make)
