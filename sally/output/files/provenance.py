"""Provenance of a report: versions, models, costs, and planned and missing episodes."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from itertools import groupby
from operator import itemgetter

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from sally.analysis.design.registration import is_peoples
from sally.core.registry.study import Study
from sally.core.version import VERSION
from sally.frames.frame import Frame
from sally.frames.rows import ModelUsage, as_json, setup_of, trial_key

Keys = NDArray[np.uint64]  # 64-bit keys of trials
NO_KEYS: Keys = np.array([], dtype=np.uint64)
PACKAGES = ("msgspec", "numpy", "scipy", "polars")  # packages that affect results


class CellCount(msgspec.Struct, frozen=True):
    """Episode counts of a cell; a trial that is planned in several cells is played only once."""

    cell: str
    wanted: int | None  # None: no plan in the store
    there: int  # of the planned ones, or of all without a plan
    censored: int  # of those played in this cell
    others: int  # episodes in no stored plan
    people: int = 0  # episodes with a person


class Counts(msgspec.Struct, frozen=True):
    """Planned and missing episodes, in total and by cell."""

    wanted: int | None
    missing: int
    others: int
    cells: list[CellCount]


@dataclass
class Provenance:
    """Provenance of a set of episodes."""

    games: dict[str, set[int]] = field(default_factory=dict)  # game -> rules versions
    players: dict[str, set[str]] = field(default_factory=dict)  # name -> versions as JSON
    models: dict[str, ModelUsage] = field(default_factory=dict)
    packs: set[str] = field(default_factory=set)
    ends: Counter[str] = field(default_factory=Counter)  # "over", or the cause of censoring
    details: Counter[str] = field(default_factory=Counter)  # why episodes were censored
    forfeits: Counter[str] = field(default_factory=Counter)  # by reason
    moves: int = 0
    reports: int = 0
    unread: int = 0  # unreadable answers
    cells: dict[str, Counter[str]] = field(default_factory=dict)
    peoples: Counter[str] = field(default_factory=Counter)  # episodes with a person, by cell
    _keys: dict[str, Keys] = field(default_factory=dict)  # of trials without people, by cell

    def counts(self, studies: Iterable[Study]) -> Counts:
        """Return the numbers of planned and missing episodes, given the studies that planned
        them."""
        planned_keys = wanted_keys(studies)
        if not planned_keys:
            cells = [
                CellCount(n, None, c["there"], c["censored"], 0, self.peoples[n])
                for n, c in self.cells.items()
            ]
            return Counts(None, 0, 0, cells)
        stored_keys = self._keys
        planned, played = (
            _distinct(list(planned_keys.values())),
            _distinct(list(stored_keys.values())),
        )
        cells = [
            CellCount(
                name,
                len(planned_keys.get(name, NO_KEYS)),
                int(_among(planned_keys.get(name, NO_KEYS), played).sum()),
                self.cells.get(name, Counter())["censored"],
                int((~_among(stored_keys.get(name, NO_KEYS), planned)).sum()),
                self.peoples[name],
            )
            for name in dict.fromkeys([*planned_keys, *self.cells])
        ]
        missing, others = ~_among(planned, played), ~_among(played, planned)
        return Counts(len(planned), int(missing.sum()), int(others.sum()), cells)

    @property
    def cost(self) -> tuple[float, int]:
        """The total cost reported by providers, and the number of calls without a price."""
        uses = self.models.values()
        return sum(use.cost for use in uses), sum(use.unpriced for use in uses)


def provenance_of(frame: Frame) -> Provenance:
    """Return the provenance of the episodes of a frame."""
    provenance = Provenance()
    episodes = frame.episodes.select("cell", "game", "setup", "why").with_columns(
        frame.column("end")
    )
    for text in episodes["setup"].unique(maintain_order=True):
        setup = setup_of(text)
        provenance.games.setdefault(setup.instance.game, set()).add(setup.version)
        for spec in setup.lineup.values():
            provenance.players.setdefault(spec.player, set()).add(as_json(spec.versions))
            pack = spec.params.get("pack")
            if isinstance(pack, str) and pack:
                provenance.packs.add(pack)
    provenance.ends.update(_counts(episodes["end"]))
    provenance.details.update(_counts(episodes.filter(pl.col("why") != "")["why"]))
    is_over = pl.col("end") == "over"
    by_cell = episodes.group_by("cell", maintain_order=True).agg(pl.len(), (~is_over).sum())
    for cell, count, censored in by_cell.rows():
        provenance.cells[cell] = Counter(there=count, censored=censored)
    provenance.moves, provenance.reports, provenance.unread = (
        int(frame.column(field).sum()) for field in ("all_moves", "reports", "unread")
    )
    for reasons, times in _counts(frame.column("forfeit_reasons")).items():
        for reason, n in (msgspec.json.decode(reasons) if reasons else {}).items():
            provenance.forfeits[reason] += times * n
    for text in frame.column("usage").drop_nulls():
        for name, usage in msgspec.json.decode(text, type=dict[str, ModelUsage]).items():
            provenance.models.setdefault(name, ModelUsage()).join(usage)
    _count_trials(provenance, frame, episodes)
    return provenance


def _counts(texts: pl.Series) -> dict[str, int]:
    """Return how often each text occurs, in order of first appearance."""
    counted = texts.rename("text").to_frame().group_by("text", maintain_order=True).len()
    return dict(counted.rows())


def _count_trials(provenance: Provenance, frame: Frame, episodes: pl.DataFrame) -> None:
    """Add the keys by which episodes are found in a study's plan, and count those with people,
    which no study plans."""
    setups = episodes["setup"].unique()
    people = [text for text in setups if is_peoples(setup_of(text))]
    trials = episodes.select("cell", "setup").with_columns(frame.column("trial"))
    has_person = pl.col("setup").cast(pl.String).is_in(people)
    provenance.peoples.update(_counts(trials.filter(has_person)["cell"]) if people else {})
    planned = trials.filter(~has_person) if people else trials
    for (cell,), rows in planned.partition_by("cell", as_dict=True, maintain_order=True).items():
        provenance._keys[cell] = np.unique(rows["trial"].to_numpy())


def wanted_keys(studies: Iterable[Study]) -> dict[str, Keys]:
    """Return the distinct keys of all planned trials by cell."""
    keys_by_cell: dict[str, list[Keys]] = {}
    for study in studies:
        for cell, trials in groupby(study.trials(), key=itemgetter(0)):
            keys = np.fromiter((trial_key(setup) for _, setup in trials), dtype=np.uint64)
            keys_by_cell.setdefault(cell, []).append(keys)
    return {cell: _distinct(keys) for cell, keys in keys_by_cell.items()}


def _among(keys: Keys, members: Keys) -> NDArray[np.bool_]:
    """Return a mask of the keys that are in `members`; both arrays are sorted and distinct."""
    if not len(members):
        return np.zeros(len(keys), dtype=np.bool_)
    places = np.minimum(np.searchsorted(members, keys), len(members) - 1)
    mask: NDArray[np.bool_] = members[places] == keys
    return mask


def _distinct(keys: Sequence[Keys]) -> Keys:
    return np.unique(np.concatenate([*keys, NO_KEYS]))


def installed_versions() -> dict[str, str]:
    """Return the versions of Sally, Python and the packages that affect results."""
    others = {package: version_of(package) for package in PACKAGES}
    return {"sally": VERSION, **others, "Python": platform.python_version()}


def version_of(package: str) -> str:
    """Return the installed version of a package."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
