"""A model that is trained elsewhere and cannot be called; its episodes can be replayed.

During play, the trainer supplies the answers (`sally.adapters.trainers.text`).
"""

from __future__ import annotations

from typing import Any

from sally.core.errors import BadInput
from sally.core.prompt.model import ModelFailure, ModelKind

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

    async def _refuse(self, *arguments: Any, **keywords: Any) -> Any:
        """Raise ModelFailure: only the trainer can answer."""
        raise ModelFailure("unsupported", f"{self.name} {WHERE}")

    complete = score = _refuse


def _make(name: str) -> Trained:
    if not name.removeprefix(TRAINED).removeprefix(":"):
        raise BadInput(f"Name the trained model: {TRAINED}:NAME.")
    return Trained(name)


MODEL = ModelKind(TRAINED, "a model in training; its trainer answers", _make)
