"""A study: its problems, lineups, probes and repeats."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import ceil
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import force_setattr

from sally.core.errors import BadInput, explain_schema_fault
from sally.core.log.events import Injection, Instance, PlayerSpec, Setup
from sally.core.registry.objects import ObjectNames, PlayerLike, as_lineup, as_player
from sally.core.rules.card import Condition
from sally.core.rules.chance import derived_seed

MOST_REPEATS = 10_000_000  # of a cell; more episodes are not kept track of in memory


class Cell(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One condition: every instance with every lineup, repeated.

    In a `paired` cell the n-th instance is played by the n-th lineup only. `factors` are the levels
    of the condition, such as `{"arm": "reworded", "part": "test"}`; they change no episode.
    """

    name: str
    instances: tuple[Instance, ...]
    lineups: tuple[dict[str, PlayerSpec], ...]
    arms: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    injections: tuple[Injection, ...] = ()
    repeats: int = 1
    retries: int | None = None  # None: as in the study
    paired: bool = False
    factors: dict[str, str] = {}

    def __post_init__(self) -> None:
        force_setattr(self, "lineups", tuple(map(as_lineup, self.lineups)))
        force_setattr(self, "arms", as_arms(self.arms))
        if not 1 <= self.repeats <= MOST_REPEATS:
            raise BadInput(f"repeats must be from 1 to {MOST_REPEATS:,}, not {self.repeats}")
        if self.retries is not None and self.retries < 0:
            raise BadInput(f"retries must be at least 0, not {self.retries}")
        if not self.instances or not self.lineups:
            raise BadInput(f"cell {self.name!r} needs at least one instance and one lineup")
        if self.paired and len(self.instances) != len(self.lineups):
            raise BadInput(
                f"cell {self.name!r} is paired and needs as many lineups as instances, not "
                f"{len(self.lineups)} and {len(self.instances)}"
            )

    def matchups(self) -> Iterator[tuple[Instance, dict[str, PlayerSpec]]]:
        """Yield every instance with each lineup that plays it."""
        if self.paired:
            return zip(self.instances, self.lineups, strict=True)
        return product(self.instances, self.lineups)


class Study(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A study: a set of cells with a name and a seed."""

    name: str
    about: str
    cells: tuple[Cell, ...]
    paper: str = ""  # the paper it follows, if any
    seed: int = 1
    retries: int = 2
    tags: dict[str, str] = {}  # facts about the study, such as the size of a suite

    def __post_init__(self) -> None:
        check_name(self.name)
        if not self.cells:
            raise BadInput("a study needs at least one cell")
        _refuse_doubles(self.cells)
        if self.retries < 0:
            raise BadInput(f"retries must be at least 0, not {self.retries}")

    def trials(self) -> Iterator[tuple[str, Setup]]:
        """Yield every episode of the study with its cell.

        The seed depends on the instance and the repeat, never on the lineup, so comparisons between
        lineups are paired.
        """
        for cell in self.cells:
            for repeat, (instance, lineup) in product(range(cell.repeats), cell.matchups()):
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


def without_labels(study: Study) -> Study:
    """Return the study without factors and tags, on which no episode depends; hashes of studies
    are computed from it."""
    cells = tuple(msgspec.structs.replace(cell, factors={}) for cell in study.cells)
    return msgspec.structs.replace(study, cells=cells, tags={})


def as_arms(probes: Mapping[str, str | Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """Return the probes of each seat; the name of one probe stands for that probe alone."""
    return {
        seat: (names,) if isinstance(names, str) else tuple(names) for seat, names in probes.items()
    }


def check_name(name: str) -> None:
    """Raise BadInput unless a study's name is valid as the name of a folder in `out/`."""
    if not name or name in (".", "..") or len(name) > 200:
        raise BadInput("the name of a study needs 1 to 200 characters and cannot be . or ..")
    if bad_signs := [sign for sign in name if sign in "/\\" or not sign.isprintable()]:
        raise BadInput(
            f"the name of a study names a folder and cannot contain {bad_signs[0]!r}: {name[:50]!r}"
        )


def _refuse_doubles(cells: tuple[Cell, ...]) -> None:
    """Raise BadInput if two cells share a name, or two different instances share an id."""
    names = set[str]()
    instances: dict[str, Instance] = {}
    for cell in cells:
        if cell.name in names:
            raise BadInput(f"two cells are named {cell.name!r}; give each its own name")
        names.add(cell.name)
        cell_ids = set[str]()
        for instance in cell.instances:
            if instance.id in cell_ids or instances.setdefault(instance.id, instance) != instance:
                raise BadInput(
                    f"two instances have the id {instance.id!r}; give each its own id, because "
                    "seeds depend on it"
                )
            cell_ids.add(instance.id)


def read_study(path: Path) -> Study:
    """Read a user's study from a TOML file and check it against the schema."""
    try:
        return msgspec.toml.decode(path.read_bytes(), type=Study)
    except OSError as error:
        raise BadInput(f"The study file {path} cannot be read: {error.strerror}.") from None
    except msgspec.ValidationError as error:
        raise BadInput(f"Study file {path}: {explain_schema_fault(str(error))}.") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"Study file {path} is not TOML: {error}.") from None


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


def named_study(study: Study, names: ObjectNames) -> Study:
    """Return the study with a name in place of each player or model that is an object."""
    cells = tuple(
        msgspec.structs.replace(cell, lineups=tuple(map(names.lineup, cell.lineups)))
        for cell in study.cells
    )
    return msgspec.structs.replace(study, cells=cells)


def player_spec(player: str, **params: Any) -> PlayerSpec:
    """Return the spec of a player, with its parameters given as keywords."""
    return PlayerSpec(player, params)


def instance(game: str, id: str = "", **params: Any) -> Instance:
    """Return an instance of a game with these parameters; its id defaults to the game's name."""
    return Instance(id or game, game, params)


def grid(**players: PlayerLike | tuple[PlayerSpec, ...]) -> tuple[dict[str, PlayerSpec], ...]:
    """Return every combination of the named players, one seat per keyword.

    A seat has one player, or a tuple of specs.
    """
    seats = {seat: _alternatives(player, seat) for seat, player in players.items()}
    return tuple(dict(zip(seats, chosen, strict=True)) for chosen in product(*seats.values()))


def _alternatives(player: Any, seat: str) -> tuple[PlayerSpec, ...]:
    if isinstance(player, tuple) and all(isinstance(player, PlayerSpec) for player in player):
        return player
    return (as_player(player, seat),)


def study_of(name: str, conditions: Sequence[Condition], episodes: int, seed: int) -> Study:
    """Return the conditions as a study: every player on every instance, up to `episodes` episodes.

    A condition with a fixed set of problems plays each of them once.
    """
    return Study(
        name=name,
        about="mindless players",
        seed=seed,
        cells=tuple(
            Cell(
                name=c.name,
                instances=c.instances,
                lineups=tuple({**c.others, c.seat: player} for player in c.players),
                arms=c.arms,
                repeats=1 if c.once else ceil(episodes / len(c.instances)),
            )
            for c in conditions
        ),
    )
