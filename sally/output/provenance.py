"""Where the numbers of a report come from: what was asked, what was used, what is missing."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import msgspec

from sally.analysis.registration import is_peoples
from sally.core import shelf
from sally.core.errors import BadInput
from sally.core.log import Call, Censored, Episode, Forfeited, Moved, Reported, Setup, Sitter
from sally.core.study import Study
from sally.core.version import VERSION
from sally.store import reason

PACKAGES = ("msgspec", "numpy", "scipy")  # what computes here


@dataclass
class ModelUse:
    """What one model took, over all episodes; what a provider did not say is counted apart."""

    calls: int = 0
    failed: int = 0
    input: int = 0
    output: int = 0
    seconds: float = 0.0
    cost: float = 0.0
    unpriced: int = 0  # calls whose cost is not known, which is not zero
    settings: set[str] = field(default_factory=set)  # as JSON
    used: set[str] = field(default_factory=set)  # as JSON: weights, versions, addresses

    def add(self, call: Call) -> None:
        """Count one call."""
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


class CellCount(msgspec.Struct, frozen=True):
    """How much of a cell is there; one trial may be planned in several cells and is played once."""

    cell: str
    wanted: int | None  # None: what was planned was not kept
    there: int  # of those wanted, or of all where the plan is not known
    censored: int  # of those that were played in this cell
    others: int  # episodes of this cell that no kept plan asks for
    people: int = 0  # episodes of this cell with a person at the table


class Counts(msgspec.Struct, frozen=True):
    """How much of what was planned is there: in all, and cell by cell."""

    wanted: int | None
    missing: int
    others: int
    cells: list[CellCount]


@dataclass
class Provenance:
    """All that a reader must know to trust a number, gathered episode by episode."""

    games: dict[str, set[int]] = field(default_factory=dict)  # rules versions that were played
    players: dict[str, set[str]] = field(default_factory=dict)  # name -> versions as JSON
    models: dict[str, ModelUse] = field(default_factory=dict)
    packs: set[str] = field(default_factory=set)
    ends: Counter[str] = field(default_factory=Counter)  # "over", or the cause of a censoring
    details: Counter[str] = field(default_factory=Counter)  # why episodes were censored
    forfeits: Counter[str] = field(default_factory=Counter)  # by reason
    moves: int = 0
    reports: int = 0
    unread: int = 0  # reports in which no answer could be read
    cells: dict[str, Counter[str]] = field(default_factory=dict)
    peoples: Counter[str] = field(default_factory=Counter)  # episodes with a person, by cell
    _keys: dict[str, set[str]] = field(default_factory=dict)

    def add(self, episode: Episode) -> None:
        """Take one episode into account."""
        setup, end = episode.setup, episode.end
        self.games.setdefault(setup.instance.game, set()).add(setup.version)
        for who in setup.lineup.values():
            self.players.setdefault(who.player, set()).add(_json(who.versions))
            if isinstance(pack := who.params.get("pack"), str) and pack:
                self.packs.add(pack)
        cut = isinstance(end, Censored)
        self.ends[end.cause if isinstance(end, Censored) else "over"] += 1
        if why := reason(episode):
            self.details[why] += 1
        cell = self.cells.setdefault(episode.cell, Counter())
        cell["there"] += 1
        cell["censored"] += cut
        if is_peoples(episode):
            self.peoples[episode.cell] += 1
        else:
            self._keys.setdefault(episode.cell, set()).add(trial_key(setup))
        for event in episode.events:
            self.moves += isinstance(event, Moved) and event.seat in setup.lineup
            if isinstance(event, Forfeited):
                self.forfeits[event.reason] += 1
            elif isinstance(event, Reported):
                self.reports += 1
                self.unread += event.value is None
        self._add_models(episode)

    def _add_models(self, episode: Episode) -> None:
        lineup = episode.setup.lineup
        for event in episode.events:
            calls = event.calls
            if not calls:
                continue
            use = self.models.setdefault(model_of(lineup.get(event.seat)), ModelUse())
            for call in calls:
                use.add(call)
        for seat, used in episode.used.items():
            if seat not in lineup:  # what is known of people is no model's
                continue
            use = self.models.setdefault(model_of(lineup.get(seat)), ModelUse())
            use.used.add(_json(used))

    def counts(self, studies: Iterable[Study]) -> Counts:
        """How much of what was planned is there."""
        wanted: dict[str, set[str]] = {}
        for study in studies:
            for cell, setup in study.trials():
                wanted.setdefault(cell, set()).add(trial_key(setup))
        if not wanted:
            cells = [
                CellCount(n, None, c["there"], c["censored"], 0, self.peoples[n])
                for n, c in self.cells.items()
            ]
            return Counts(None, 0, 0, cells)
        planned = set[str]().union(*wanted.values())
        played = set[str]().union(*self._keys.values())
        cells = [
            CellCount(
                name,
                len(wanted.get(name, ())),
                len(wanted.get(name, set()) & played),
                self.cells.get(name, Counter())["censored"],
                len(self._keys.get(name, set()) - planned),
                self.peoples[name],
            )
            for name in dict.fromkeys([*wanted, *self.cells])
        ]
        return Counts(len(planned), len(planned - played), len(played - planned), cells)

    @property
    def cost(self) -> tuple[float, int]:
        """Money that providers named, and the calls of which nobody said what they cost."""
        uses = self.models.values()
        return sum(use.cost for use in uses), sum(use.unpriced for use in uses)


def model_of(who: Sitter | None) -> str:
    """The model in a seat, by name."""
    return str(who.params.get("model", "embedded")) if who is not None else "?"


def trial_key(setup: Setup) -> str:
    """What tells one trial of a cell from another, whether it was played yet or not.

    Versions are filled in when a trial is played, and so are helpers that nobody named.
    """
    try:
        helpers: Mapping[Any, str] = shelf.game(setup.instance.game).occupants
    except BadInput:  # a game of somebody's own, not on this shelf
        helpers = {}
    lineup = {
        seat: (who.player, {k: v for k, v in who.params.items() if k != "pack"})
        for seat, who in setup.lineup.items()
        if helpers.get(seat) != who.player
    }
    asked = (setup.arms, setup.injections, setup.retries)
    return _json((setup.instance.id, setup.seed, setup.repeat, lineup, asked))


def installed() -> dict[str, str]:
    """The versions of what made this report."""
    others = {package: version_of(package) for package in PACKAGES}
    return {"sally": VERSION, **others, "Python": platform.python_version()}


def version_of(package: str) -> str:
    """The installed version of a package; a bare source tree has none."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _json(value: Any) -> str:
    return msgspec.json.encode(value, order="sorted").decode()
