"""A study as a value: its problems, lineups, probes and repeats."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import msgspec

from sally.core.errors import BadInput
from sally.core.log.events import Instance, PlayerSpec, Setup
from sally.core.rules.chance import derived_seed
from sally.core.rules.probe import Injection


class Cell(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One condition: every instance with every lineup, repeated."""

    name: str
    instances: tuple[Instance, ...]
    lineups: tuple[dict[str, PlayerSpec], ...]
    arms: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    injections: tuple[Injection, ...] = ()
    repeats: int = 1
    retries: int | None = None  # None: as in the study

    def __post_init__(self) -> None:
        if self.repeats < 1:
            raise ValueError(f"repeats must be at least 1, not {self.repeats}")
        if self.retries is not None and self.retries < 0:
            raise ValueError(f"retries must be at least 0, not {self.retries}")
        if not self.instances or not self.lineups:
            raise ValueError(f"cell {self.name!r} needs at least one instance and one lineup")


class Study(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Cells under one name and one seed."""

    name: str
    about: str
    cells: tuple[Cell, ...]
    paper: str = ""  # the paper it follows, if any
    seed: int = 1
    retries: int = 2

    def __post_init__(self) -> None:
        if not self.cells:
            raise ValueError("a study needs at least one cell")
        if self.retries < 0:
            raise ValueError(f"retries must be at least 0, not {self.retries}")

    def trials(self) -> Iterator[tuple[str, Setup]]:
        """Yield every episode of the study with its cell.

        The seed depends on the instance and the repeat, never on the lineup: comparisons between
        lineups are paired.
        """
        for cell in self.cells:
            for repeat, instance, lineup in product(
                range(cell.repeats), cell.instances, cell.lineups
            ):
                yield (
                    cell.name,
                    Setup(
                        instance,
                        derived_seed(self.seed, instance.id, repeat),
                        lineup,
                        arms=cell.arms,
                        injections=cell.injections,
                        retries=self.retries if cell.retries is None else cell.retries,
                        repeat=repeat,
                    ),
                )


def read_study(path: Path) -> Study:
    """Read a user's study from a TOML file and check it against the schema."""
    try:
        return msgspec.toml.decode(path.read_bytes(), type=Study)
    except OSError as why:
        raise BadInput(f"The study file {path} cannot be read: {why.strerror}.") from None
    except msgspec.ValidationError as why:
        raise BadInput(f"Study file {path}: {why}.") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as why:
        raise BadInput(f"Study file {path} is not TOML: {why}.") from None


def with_params(study: Study, params: Mapping[str, Any]) -> Study:
    """Return the study with these parameters in every instance, each under a new id."""
    changed = ",".join(f"{key}={value}" for key, value in params.items())
    cells = tuple(
        msgspec.structs.replace(
            cell,
            instances=tuple(
                Instance(f"{i.id}[{changed}]", i.game, {**i.params, **params})
                for i in cell.instances
            ),
        )
        for cell in study.cells
    )
    return msgspec.structs.replace(study, cells=cells)


def player_spec(player: str, **params: Any) -> PlayerSpec:
    """Return a player for a seat, with parameters by name."""
    return PlayerSpec(player, params)


def instance(game: str, id: str = "", **params: Any) -> Instance:
    """Return a problem with parameters by name."""
    return Instance(id or game, game, params)


def grid(**players: PlayerSpec | tuple[PlayerSpec, ...]) -> tuple[dict[str, PlayerSpec], ...]:
    """Return every combination of the named players, one seat per keyword."""
    seats: Mapping[str, tuple[PlayerSpec, ...]] = {
        seat: (who,) if isinstance(who, PlayerSpec) else who for seat, who in players.items()
    }
    return tuple(dict(zip(seats, chosen, strict=True)) for chosen in product(*seats.values()))
