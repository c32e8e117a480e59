"""Provenance of a report: versions, models, costs, and planned and missing episodes."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, version
from itertools import groupby
from operator import itemgetter
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from sally.analysis.design.registration import is_peoples
from sally.core.errors import BadInput
from sally.core.log.events import (
    Call,
    Censored,
    Episode,
    Forfeited,
    Moved,
    PlayerSpec,
    Reported,
    Setup,
)
from sally.core.registry import registry
from sally.core.registry.study import Study
from sally.core.version import VERSION
from sally.store import reason

Keys = NDArray[np.uint64]  # 64-bit keys of trials
NO_KEYS: Keys = np.array([], dtype=np.uint64)
PACKAGES = ("msgspec", "numpy", "scipy")  # packages that affect results


class ModelUsage(msgspec.Struct, array_like=True):
    """Usage of one model; calls without a price are counted separately."""

    calls: int = 0
    failed: int = 0
    input: int = 0
    output: int = 0
    seconds: float = 0.0
    cost: float = 0.0
    unpriced: int = 0  # calls with unknown cost
    settings: set[str] = msgspec.field(default_factory=set)  # as JSON
    used: set[str] = msgspec.field(default_factory=set)  # as JSON: weights, versions, addresses

    def add(self, call: Call) -> None:
        """Add one call."""
        self.calls += 1
        self.failed += bool(call.failure)
        self.input += call.usage.get("input", 0)
        self.output += call.usage.get("output", 0)
        self.seconds += call.usage.get("seconds", 0.0)
        cost = call.usage.get("cost")
        self.cost += cost or 0.0
        self.unpriced += cost is None
        kept = {k: v for k, v in call.settings.items() if k != "seed" and v not in (None, [], ())}
        self.settings.add(_json(kept))

    def join(self, other: ModelUsage, times: int) -> None:
        """Add the usage of the same model in another episode, `times` times."""
        for name in ("calls", "failed", "input", "output", "seconds", "cost", "unpriced"):
            setattr(self, name, getattr(self, name) + times * getattr(other, name))
        self.settings |= other.settings
        self.used |= other.used


class Facts(msgspec.Struct, array_like=True):
    """The data that one episode adds to the provenance; they are the same for many episodes."""

    game: str
    version: int
    players: list[tuple[str, str]]  # name, versions as JSON
    packs: list[str]
    cell: str
    end: str  # "over", or the cause of censoring
    why: str  # why there is no result
    peoples: bool  # whether a person played
    moves: int
    forfeits: dict[str, int]  # by reason
    reports: int
    unread: int  # unreadable answers
    models: dict[str, ModelUsage]


def facts_of(episode: Episode) -> Facts:
    """Return the data that an episode adds to the provenance."""
    setup, end, forfeits = episode.setup, episode.end, dict[str, int]()
    seats, moves, reports, unread = setup.lineup, 0, 0, 0
    for event in episode.events:
        if type(event) is Moved:
            moves += event.seat in seats
        elif isinstance(event, Forfeited):
            forfeits[event.reason] = forfeits.get(event.reason, 0) + 1
        elif isinstance(event, Reported):
            reports += 1
            unread += event.value is None
    given = (who.params.get("pack") for who in setup.lineup.values())
    return Facts(
        setup.instance.game,
        setup.version,
        [(who.player, _json(who.versions)) for who in setup.lineup.values()],
        [pack for pack in given if isinstance(pack, str) and pack],
        episode.cell,
        end.cause if isinstance(end, Censored) else "over",
        reason(episode),
        is_peoples(episode),
        moves,
        forfeits,
        reports,
        unread,
        _models_in(episode),
    )


def _models_in(episode: Episode) -> dict[str, ModelUsage]:
    lineup, models = episode.setup.lineup, dict[str, ModelUsage]()
    for event in episode.events:
        if event.calls:
            use = models.setdefault(model_of(lineup.get(event.seat)), ModelUsage())
            for call in event.calls:
                use.add(call)
    for seat, used in episode.used.items():
        if seat in lineup:  # entries of people are not models
            models.setdefault(model_of(lineup.get(seat)), ModelUsage()).used.add(_json(used))
    return models


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
    """Provenance of a set of episodes, which are added one by one."""

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
    _keys: dict[str, list[Keys]] = field(default_factory=dict)

    def add(self, episode: Episode) -> None:
        """Add one episode."""
        facts = facts_of(episode)
        self.count(facts)
        self.count_keys(facts, np.array([key_of(trial_key(episode.setup))], dtype=np.uint64))

    def count(self, facts: Facts, times: int = 1) -> None:
        """Add `times` episodes that are alike in game, versions, models, result and counts."""
        self.games.setdefault(facts.game, set()).add(facts.version)
        for player, versions in facts.players:
            self.players.setdefault(player, set()).add(versions)
        self.packs |= set(facts.packs)
        self.ends[facts.end] += times
        if facts.why:
            self.details[facts.why] += times
        cell = self.cells.setdefault(facts.cell, Counter())
        cell["there"] += times
        cell["censored"] += times * (facts.end != "over")
        if facts.peoples:
            self.peoples[facts.cell] += times
        self.moves += times * facts.moves
        for why, n in facts.forfeits.items():
            self.forfeits[why] += times * n
        self.reports += times * facts.reports
        self.unread += times * facts.unread
        for name, use in facts.models.items():
            self.models.setdefault(name, ModelUsage()).join(use, times)

    def count_keys(self, facts: Facts, keys: Keys) -> None:
        """Add the keys by which episodes are found in a study's plan. All of these episodes have
        the same `facts`. Episodes with people are left out, because no study plans them."""
        if not facts.peoples:
            self._keys.setdefault(facts.cell, []).append(keys)

    def counts(self, studies: Iterable[Study]) -> Counts:
        """Return the numbers of planned and missing episodes, given the studies that planned
        them."""
        wanted = wanted_keys(studies)
        if not wanted:
            cells = [
                CellCount(n, None, c["there"], c["censored"], 0, self.peoples[n])
                for n, c in self.cells.items()
            ]
            return Counts(None, 0, 0, cells)
        here = {cell: _distinct(keys) for cell, keys in self._keys.items()}
        planned, played = _distinct(list(wanted.values())), _distinct(list(here.values()))
        cells = [
            CellCount(
                name,
                len(wanted.get(name, NO_KEYS)),
                int(_among(wanted.get(name, NO_KEYS), played).sum()),
                self.cells.get(name, Counter())["censored"],
                int((~_among(here.get(name, NO_KEYS), planned)).sum()),
                self.peoples[name],
            )
            for name in dict.fromkeys([*wanted, *self.cells])
        ]
        missing, others = ~_among(planned, played), ~_among(played, planned)
        return Counts(len(planned), int(missing.sum()), int(others.sum()), cells)

    @property
    def cost(self) -> tuple[float, int]:
        """The total cost reported by providers, and the number of calls without a price."""
        uses = self.models.values()
        return sum(use.cost for use in uses), sum(use.unpriced for use in uses)


def model_of(who: PlayerSpec | None) -> str:
    """Return the name of the model in a seat."""
    return str(who.params.get("model", "embedded")) if who is not None else "?"


def trial_key(setup: Setup, known: dict[bytes, str] | None = None) -> str:
    """Return a text that identifies a trial, whether it was played or not.

    The text ignores versions and the default players of seats that the trial does not fill, because
    both are filled in during play. `known` caches the part that trials share.
    """
    if known is None:
        return _key(setup, _company(setup))
    shared = (setup.instance.game, setup.lineup, setup.arms, setup.injections, setup.retries)
    asked = msgspec.msgpack.encode(shared)
    if (company := known.get(asked)) is None:
        company = known[asked] = _company(setup)
    return _key(setup, company)


def _key(setup: Setup, company: str) -> str:
    return f"[{_json(setup.instance.id)},{setup.seed},{setup.repeat},{company}]"


def _company(setup: Setup) -> str:
    """Return the part of a key shared by trials that differ only in instance, seed and repeat."""
    try:
        helpers: Mapping[Any, str] = registry.game(setup.instance.game).occupants
    except BadInput:  # the game is not installed
        helpers = {}
    lineup = {
        seat: (who.player, {k: v for k, v in who.params.items() if k != "pack"})
        for seat, who in setup.lineup.items()
        if helpers.get(seat) != who.player
    }
    return _json((lineup, (setup.arms, setup.injections, setup.retries)))


def key_of(text: str) -> int:
    """Return the 64-bit key of a trial."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")


def wanted_keys(studies: Iterable[Study]) -> dict[str, Keys]:
    """Return the distinct keys of all planned trials by cell."""
    found: dict[str, list[Keys]] = {}
    for study in studies:
        for cell, trials in groupby(study.trials(), key=itemgetter(0)):
            keys = np.fromiter(_keys(setup for _, setup in trials), dtype=np.uint64)
            found.setdefault(cell, []).append(keys)
    return {cell: _distinct(keys) for cell, keys in found.items()}


def _keys(setups: Iterable[Setup]) -> Iterator[int]:
    """Yield the keys of trials, computing their common part only once."""
    known: dict[bytes, str] = {}
    return (key_of(trial_key(setup, known)) for setup in setups)


def _among(keys: Keys, every: Keys) -> NDArray[np.bool_]:
    """Return a mask of the keys that are in `every`; both arrays are sorted and distinct."""
    if not len(every):
        return np.zeros(len(keys), dtype=np.bool_)
    places = np.minimum(np.searchsorted(every, keys), len(every) - 1)
    found: NDArray[np.bool_] = every[places] == keys
    return found


def _distinct(keys: Sequence[Keys]) -> Keys:
    return np.unique(np.concatenate([*keys, NO_KEYS]))


def installed() -> dict[str, str]:
    """Return the versions of Sally, Python and the packages that affect results."""
    others = {package: version_of(package) for package in PACKAGES}
    return {"sally": VERSION, **others, "Python": platform.python_version()}


def version_of(package: str) -> str:
    """Return the installed version of a package."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _json(value: Any) -> str:
    return msgspec.json.encode(value, order="sorted").decode()
