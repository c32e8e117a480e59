"""Players to compare with: chance, the best mindless one, the reference; on the same settings.

What the episodes hold already is used; the rest is played with the same problem, chance and
company. Where very many settings differ in chance alone, a part of them stands for all. Who is
mindless stands on the game's card, who is the reference in the game itself.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import msgspec
import numpy as np

from sally.analysis.columns.measured import Baseline, Measured, Role, is_mind, measured_seats
from sally.analysis.columns.measured_table import Codes, Shared, Table, table_of
from sally.core.errors import BadInput
from sally.core.log.events import PlayerSpec, Setup
from sally.core.registry import registry
from sally.core.rules.card import RANDOM, Condition
from sally.core.rules.chance import derived_seed
from sally.core.rules.metric import Played
from sally.runner.local import play_open
from sally.runner.seating import resolved

TRIALS = 24  # episodes by which the best mindless player is chosen
PLAYED = 400  # settings that differ in chance alone and are played; their mean stands for the rest
KEPT = 20_000  # what was played is kept: a profile is often asked for more than once
Watcher = Callable[[int, int], None]  # episodes played, episodes wanted


class Stand(msgspec.Struct, frozen=True):
    """One player to compare with: rows of a table in which it was found, and what it played."""

    role: Role
    table: Table
    rows: Codes
    played: list[tuple[Measured, bool]]  # and whether it stands for settings alike

    def __len__(self) -> int:
        return len(self.rows) + len(self.played)


class Baselines(Sequence[Baseline]):
    """Players to compare with, the stored ones without an object each."""

    def __init__(self, stands: Iterable[Stand]) -> None:
        self.stands = [stand for stand in stands if len(stand)]

    def __len__(self) -> int:
        return sum(map(len, self.stands))

    def __getitem__(self, at: Any) -> Any:
        return list(self)[at]

    def __iter__(self) -> Iterator[Baseline]:
        for s in self.stands:
            yield from (Baseline(s.role, True, s.table.row(n)) for n in s.rows.tolist())
            yield from (Baseline(s.role, False, m, others) for m, others in s.played)


def baselines(
    studied: Sequence[Measured], by_cell: bool = False, watch: Watcher | None = None
) -> Baselines:
    """A random player, the best mindless one and the reference wherever somebody was studied."""
    table = table_of(studied)
    found: list[Stand] = []
    groups = list(_groups(table, by_cell).values())
    for n, rows in enumerate(groups, 1):
        settings = _settings(table, rows)
        found.append(_all(RANDOM, "random", settings, table))
        best = best_mindless(table.take(spread_over(settings)))
        if best is not None:
            found.append(_all(best, "mindless", settings, table))
        reference = registry.game(table.shared[table.kind[rows[0]]].game).reference
        if reference and np.isnan(table.of("optimum")[rows]).any():
            found.append(_all(PlayerSpec(reference), "reference", settings, table))
        if watch:
            watch(n, len(groups))
    return Baselines(found)


def best_mindless(settings: Sequence[Measured]) -> PlayerSpec | None:
    """The mindless player with the highest mean over some settings, spread over all of them.

    It is chosen under chance of its own: were it chosen by the very numbers it is then held up
    with, the luckiest of several equals would be taken for better than it is.
    """
    some = spread_over(settings)
    tried = [_redealt(some[n % len(some)], n) for n in range(TRIALS if some else 0)]
    best: tuple[int, float] | None = None
    chosen: PlayerSpec | None = None
    for who in mindless(tried):
        got = [m.least for m, _ in _played(who, _some(tried))]
        scores = [score for score in got if score is not None]
        # one that cannot sit everywhere is not compared with those that can
        rank = (len(scores), round(sum(scores) / len(scores), 12)) if scores else None
        if rank is not None and (best is None or rank > best):
            best, chosen = rank, who
    return chosen


S = TypeVar("S", Sequence[Measured], Codes)


def spread_over(settings: S) -> S:
    """As many of some settings as are tried, spread over all of them."""
    return settings[:: max(1, len(settings) // TRIALS)][:TRIALS]


def mindless(settings: Sequence[Measured]) -> list[PlayerSpec]:
    """The players that are without a mind in each of these settings; always a random one.

    What is a shortcut in one condition of a card may be the solution in another.
    """
    found: list[PlayerSpec] = [RANDOM] if settings else []
    for n, met in enumerate({(m.seat, _params(m)): m for m in settings}.values()):
        here = [who for c in conditions(met) for who in c.mindless]
        if n == 0:
            found += [who for i, who in enumerate(here) if who not in (RANDOM, *here[:i])]
        found = [who for who in found if who == RANDOM or who in here]
    return found


def conditions(met: Measured) -> list[Condition]:
    """The conditions of the card that a setting belongs to; those that nearly fit, if none does."""
    card = registry.card(met.game)
    if card is None:
        return []
    every = card.of(met.game) or card.conditions
    here = [c for c in every if c.seat == met.seat] or list(every)
    params = met.setup.instance.params
    fitting = [c for c in here if any(_fits(i.params, params) for i in c.instances)]
    # a condition that says what no mind should score is meant for rules without a mind
    return [c for c in fitting if c.chance] or fitting or here


def _fits(listed: Mapping[str, Any], met: Mapping[str, Any]) -> bool:
    """Whether nothing tells two problems apart; a scenario has its level, said or not."""
    shared = listed.keys() & met.keys()
    return bool(shared or not listed) and all(listed[name] == met[name] for name in shared)


def studied_seats(found: Sequence[Measured]) -> set[str]:
    """The seats of one game whose players are studied."""
    table = table_of(found)
    kinds = {k: table.shared[k] for k in table.kinds()}
    games = {shared.game for shared in kinds.values()}
    return studied_of(games.pop(), kinds, table.asked_kinds()) if games else set()


def studied_of(game: str, kinds: Mapping[int, Shared], asked: Collection[int]) -> set[str]:
    """The same by kinds of seats, and by which of these somebody was asked about others.

    Those that were asked about others, or taken by a model or a person; else those on the card
    in which several players sat; else all on the card, or all there are.
    """
    minds = {s.seat for k, s in kinds.items() if k in asked or is_mind(s.player_spec)}
    if minds or not kinds:
        return minds
    card = registry.card(game)
    seats = {s.seat for s in kinds.values()}
    named = ({c.seat for c in card.conditions} & seats if card else set()) or seats
    sat = {(s.seat, _who(s.player_spec)) for s in kinds.values()}
    several = {seat for seat in named if sum(seat == one for one, _ in sat) > 1}
    return several or named


def _all(who: PlayerSpec, role: Role, settings: Codes, table: Table) -> Stand:
    """What one player did in each setting; nothing where it cannot sit there."""
    kinds = [k for k in table.kinds() if _who(table.shared[k].player_spec) == _who(who)]
    theirs = np.flatnonzero(np.isin(table.kind, kinds) & (table.censored == 0))[::-1]
    there, last = np.unique(table.setting[theirs], return_index=True)  # the last run of each
    met = table.setting[settings]
    at = np.minimum(np.searchsorted(there, met), max(len(there) - 1, 0))
    known = there[at] == met if len(there) else np.zeros(len(met), dtype=np.bool_)
    lacking = settings[~known]
    some = [
        (table.row(int(lacking[n])), others) for n, others in _spread(table.kind[lacking], table)
    ]
    rows = theirs[last[at[known]]] if len(there) else lacking[:0]
    return Stand(role, table, rows, _played(who, some))


def _played(
    who: PlayerSpec, settings: Sequence[tuple[Measured, bool]]
) -> list[tuple[Measured, bool]]:
    """What a player gets in these settings; nothing where it cannot sit there."""
    before = _before()
    if len(before) > KEPT:
        before.clear()
    found = []
    for met, for_others in settings:
        setup = _seated(met, who)
        key = (msgspec.json.encode(setup, order="sorted"), met.cell, met.seat)
        if key not in before:
            before[key] = _played_once(setup, met.cell, met.seat)
        found += [(m, for_others) for m in before[key]]
    return found


@registry.once
def _before() -> dict[tuple[bytes, str, str], Sequence[Measured]]:
    """What was played in this process, as long as the shelf stays as it is."""
    return {}


def _played_once(setup: Setup, cell: str, seat: str) -> Sequence[Measured]:
    spec = registry.game(setup.instance.game)
    try:
        return measured_seats(Played(spec, *play_open(_ready(setup), cell)), (seat,))
    except BadInput:
        return ()  # not made for this seat, or somebody across cannot be called again


def _ready(setup: Setup) -> Setup:
    """The setup with every name checked; those that differ in chance alone, once."""
    known, seed, repeat = _checked(), setup.seed, setup.repeat
    key = msgspec.json.encode(msgspec.structs.replace(setup, seed=0, repeat=0), order="sorted")
    if key not in known:
        known[key] = resolved(setup)
    return msgspec.structs.replace(known[key], seed=seed, repeat=repeat)


@registry.once
def _checked() -> dict[bytes, Setup]:
    """What was checked in this process, as long as the shelf stays as it is."""
    return {}


def _seated(met: Measured, who: PlayerSpec) -> Setup:
    arms = {met.seat: met.setup.arms[met.seat]} if met.seat in met.setup.arms else {}
    return msgspec.structs.replace(
        met.setup, lineup={**met.setup.lineup, met.seat: who}, arms=arms, injections=()
    )


def _redealt(met: Measured, n: int) -> Measured:
    """The setting under other chance; nobody is asked aside, since it is doing that is wanted."""
    seed = derived_seed(met.setup.seed, "mindless", n)
    setup = msgspec.structs.replace(met.setup, seed=seed, arms={})
    return msgspec.structs.replace(met, setup=setup)


def _settings(table: Table, rows: Codes) -> Codes:
    """One row for each setting that can be played again: no mind of its own across."""
    alone = [k for k in table.kinds() if not any(map(is_mind, _across(table.shared[k])))]
    rows = rows[np.isin(table.kind[rows], alone)]
    every, first, which = np.unique(table.setting[rows], return_index=True, return_inverse=True)
    asked = np.flatnonzero(table.of("asked")[rows] > 0)
    chosen = np.full(len(every), len(rows), dtype=np.int64)
    np.minimum.at(chosen, which[asked], asked)  # asked aside, if anybody was
    chosen = np.where(chosen < len(rows), chosen, first)
    return rows[chosen[np.argsort(first, kind="stable")]]


def _across(shared: Shared) -> list[PlayerSpec]:
    return [who for seat, who in shared.setup.lineup.items() if seat != shared.seat]


def _some(settings: Sequence[Measured]) -> list[tuple[Measured, bool]]:
    table = table_of(settings)
    return [(settings[n], others) for n, others in _spread(table.kind, table)]


def _spread(kinds: Codes, table: Table) -> list[tuple[int, bool]]:
    """Of settings that differ in chance alone at most `PLAYED`, and whether they stand for others.

    They are spread over all of them, and known by their places.
    """
    names: dict[str, int] = {}
    codes = [names.setdefault(shared.alike, len(names)) for shared in table.shared]
    mine = np.array(codes, dtype=np.int64)[kinds]
    kept: list[tuple[int, bool]] = []
    for code in dict.fromkeys(mine.tolist()):
        alike = np.flatnonzero(mine == code)
        step, few = max(1, len(alike) / PLAYED), len(alike) <= PLAYED
        kept += [(int(alike[int(n * step)]), not few) for n in range(min(len(alike), PLAYED))]
    return kept


def _groups(table: Table, by_cell: bool) -> dict[tuple[str, str, str], Codes]:
    """The rows of each game and seat, and of each cell if these are kept apart."""
    found: dict[tuple[str, str, str], list[int]] = {}
    for k in table.kinds():
        shared = table.shared[k]
        key = (shared.game, shared.seat, shared.cell if by_cell else "")
        found.setdefault(key, []).append(k)
    return {key: np.flatnonzero(np.isin(table.kind, kinds)) for key, kinds in found.items()}


def _who(who: PlayerSpec) -> bytes:
    return msgspec.json.encode((who.player, who.params), order="sorted")


def _params(m: Measured) -> bytes:
    return msgspec.json.encode(m.setup.instance.params, order="sorted")
