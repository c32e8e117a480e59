"""Fill the open seats of a study with a model, and determine the settings of every model.

A setting may be given in four places. For every seat with a model, `--set` takes precedence over
sally.toml, sally.toml over the study, and the study over the strategy.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec

from sally.core.errors import BadInput
from sally.core.log.events import PlayerSpec
from sally.core.prompt.model import read_settings
from sally.core.registry.study import Cell, Study
from sally.players.language import OPEN, uses_model
from sally.runner.config import Config

__all__ = [
    "ANY_MODEL",
    "OPEN",
    "PRECEDENCE",
    "SettingUsed",
    "apply_settings",
    "models_of",
    "open_seats",
    "with_model",
]
ANY_MODEL = "MODEL"  # stands for a model in a plan for any model
PRECEDENCE = ("--set", "sally.toml", "study", "strategy")  # of settings, the strongest first


class SettingUsed(msgspec.Struct, frozen=True, order=True):
    """A model setting of a study as it will be used, and where it came from."""

    model: str
    name: str
    value: str  # as JSON
    source: str  # one of PRECEDENCE
    instead_of: tuple[str, ...] = ()  # "0.7 (study)" for each weaker place with another value

    @property
    def setting_text(self) -> str:
        """The setting in one line, for display."""
        but = f", instead of {' and '.join(self.instead_of)}" if self.instead_of else ""
        return f"{self.name} = {self.value} ({self.source}){but}"


def with_model(
    study: Study, model: str | Mapping[str, str], settings: Mapping[str, Any] | None = None
) -> Study:
    """Return the study with a model, or one per seat, in every open seat.

    `settings` take precedence over the study's.
    """

    def fill_seat(seat: str, player: PlayerSpec) -> PlayerSpec:
        if not _is_open(player):
            return player
        params = {**player.params, "model": model if isinstance(model, str) else model[seat]}
        if merged := {**(player.params.get("settings") or {}), **(settings or {})}:
            params["settings"] = merged
        return msgspec.structs.replace(player, params=params)

    def all_filled(cell: Cell) -> Cell:
        lineups = tuple(
            {s: fill_seat(s, player) for s, player in line.items()} for line in cell.lineups
        )
        return msgspec.structs.replace(cell, lineups=lineups)

    return msgspec.structs.replace(study, cells=tuple(map(all_filled, study.cells)))


def apply_settings(
    study: Study, config: Config, command_settings: Mapping[str, Any], model: str = ""
) -> tuple[Study, tuple[SettingUsed, ...]]:
    """Return the study with its models and their settings, and where each setting came from.

    Args:
        study: The study.
        config: The user's configuration, with settings by model.
        command_settings: Settings given with the command (`--set`).
        model: The model of open seats, by name or alias.

    Raises:
        BadInput: A setting is unknown or wrong, or makes two lineups equal.
    """
    read_settings(command_settings, "--set")
    used: set[SettingUsed] = set()

    def with_settings(player: PlayerSpec) -> PlayerSpec:
        if not uses_model(player):
            return player
        name = model if _is_open(player) else str(player.params["model"])
        entry = config.entry(name)
        if name != ANY_MODEL:
            config.model_name(name)  # raises if it is unknown
        study_settings = player.params.get("settings") or {}
        places = {"--set": command_settings, "sally.toml": entry.settings, "study": study_settings}
        names = {key for place_settings in places.values() for key in place_settings}
        used.update(_used(entry.name, key, places) for key in names)
        params = {**player.params, "model": entry.name}
        merged = {**study_settings, **entry.settings, **command_settings}
        if merged.get("format") == "line":  # the default, under which all ids without it were made
            del merged["format"]
        params.pop("settings", None)
        if merged:
            params["settings"] = merged
        return msgspec.structs.replace(player, params=params)

    def apply_to_cell(cell: Cell) -> Cell:
        lineups = tuple({s: with_settings(w) for s, w in line.items()} for line in cell.lineups)
        if _distinct(lineups) < _distinct(cell.lineups):
            settings_text = ", ".join(sorted({u.setting_text for u in used if u.instead_of}))
            raise BadInput(
                f"Two lineups of cell {cell.name!r} differ only in a setting that was overridden: "
                f"{settings_text}. Remove it from the command or from sally.toml, or choose other "
                f"cells."
            )
        return msgspec.structs.replace(cell, lineups=lineups)

    done = msgspec.structs.replace(study, cells=tuple(map(apply_to_cell, study.cells)))
    return done, tuple(sorted(used))


def _used(model: str, name: str, places: Mapping[str, Mapping[str, Any]]) -> SettingUsed:
    values_by_source = {
        source: place_settings[name]
        for source, place_settings in places.items()
        if name in place_settings
    }
    (source, value), *weaker = values_by_source.items()
    instead = tuple(f"{json.dumps(v)} ({place})" for place, v in weaker if v != value)
    return SettingUsed(model, name, json.dumps(value), source, instead)


def _distinct(lineups: tuple[dict[str, PlayerSpec], ...]) -> int:
    return len({msgspec.json.encode(lineup, order="sorted") for lineup in lineups})


def _is_open(player: PlayerSpec) -> bool:
    return uses_model(player) and player.params.get("model", OPEN) == OPEN


def open_seats(lineup: Mapping[str, PlayerSpec]) -> list[str]:
    """Return the seats of a lineup that still need a model."""
    return [seat for seat, player in lineup.items() if _is_open(player)]


def models_of(study: Study) -> set[str]:
    """Return the models that a study names, including the placeholder of open seats."""
    return {
        player.params.get("model", OPEN)
        for cell in study.cells
        for lineup in cell.lineups
        for player in lineup.values()
        if uses_model(player)
    }
