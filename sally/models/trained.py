"""A model that is trained elsewhere and cannot be called; its episodes can be replayed.

During play, the trainer supplies the answers (`sally.adapters.trainers.text`).
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
    "is answered by its trainer (sally.adapters.trainers.text); the name alone cannot be called."
)


class Trained:
    """A model in training: only its name and provenance, because its trainer supplies the
    answers."""

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
        raise BadInput(f"Name the trained model: {TRAINED}:NAME.")
    return Trained(name)


MODEL = ModelKind(TRAINED, "a model in training; its trainer answers", _make)
