"""Fill the open seats of a study with a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from sally.core.log.events import PlayerSpec
from sally.core.registry.study import Study
from sally.players.language import OPEN, uses_model

__all__ = ["OPEN", "models_of", "with_model"]


def with_model(
    study: Study,
    model: str | Mapping[str, str],
    settings: Mapping[str, Any] | None = None,
    defaults: Mapping[str, Any] | None = None,
) -> Study:
    """Return the study with a model, or one per seat, in every open seat.

    `settings` take precedence over the study's, and those over `defaults`.
    """

    def name(seat: str) -> str:
        return model if isinstance(model, str) else model[seat]

    cells = tuple(
        msgspec.structs.replace(
            cell,
            lineups=tuple(
                {
                    seat: _filled(who, name(seat), settings or {}, defaults or {})
                    for seat, who in lineup.items()
                }
                for lineup in cell.lineups
            ),
        )
        for cell in study.cells
    )
    return msgspec.structs.replace(study, cells=cells)


def _filled(
    who: PlayerSpec, model: str, settings: Mapping[str, Any], defaults: Mapping[str, Any]
) -> PlayerSpec:
    if not uses_model(who) or who.params.get("model", OPEN) != OPEN:
        return who
    given = {**who.params, "model": model}
    if merged := {**defaults, **(who.params.get("settings") or {}), **settings}:
        given["settings"] = merged
    return msgspec.structs.replace(who, params=given)


def models_of(study: Study) -> set[str]:
    """Return the models that a study names, including the placeholder of open seats."""
    return {
        who.params.get("model", OPEN)
        for cell in study.cells
        for lineup in cell.lineups
        for who in lineup.values()
        if uses_model(who)
    }
