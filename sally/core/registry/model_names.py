"""What models are called in tables: by alias, else without their provider, and no two alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

WAYS = {"temperature": "T", "top_p": "p", "top_k": "k", "reasoning_effort": "effort"}  # in labels

_known: dict[str, tuple[str, ...]] = {}  # the models of the stores that were opened, in pieces
_aliases: dict[str, str] = {}  # by model, what whoever ran it called it


def remember(models: Iterable[str], aliases: Mapping[str, str] | None = None) -> None:
    """Know that these models stand beside each other, so that no two are called alike.

    `aliases` says, by model, what a run called it; where two runs differ, the first holds.
    """
    _known.update((model, pieces(model)) for model in models)
    for model, alias in (aliases or {}).items():
        if alias not in _aliases.values():
            _aliases.setdefault(model, alias)


def pieces(model: str) -> tuple[str, ...]:
    """Kind or provider, folders, and the model's own name, the most telling last."""
    kind, colon, rest = model.partition(":")
    inside = (kind, *rest.split("/")) if colon and "/" not in kind else model.split("/")
    return tuple(piece for piece in inside if piece)


def called(model: str) -> str:
    """Its alias, or the shortest end of a model's name that no other known model shares."""
    if model in _aliases:
        return _aliases[model]
    mine = pieces(model)
    others = [theirs for name, theirs in _known.items() if name != model]
    for n in range(1, len(mine)):
        end = "/".join(mine[-n:])
        if end not in _aliases.values() and not any(t[-n:] == mine[-n:] for t in others):
            return end
    return model


def named(params: dict[str, Any]) -> list[str]:
    """Parameters as `name=value`, settings by their usual letters, what is not set left out."""
    return [
        f"{WAYS.get(key, key)}={_said(value)}" for key, value in params.items() if value is not None
    ]


def _said(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)
