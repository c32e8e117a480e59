"""Baseline players on the same settings: the random, the best mindless and the reference player.

Stored episodes are used where they exist; the others are played with the same problem, random
stream and other players. If very many settings differ only in their seed, a sample represents
them. The game's card lists the mindless players, the best of which is chosen on other problems
than those it is scored on; the game itself names its reference player.

Gains are shown on a scale (*doing*) whose zero is the random player's expected score
(`Metric.at_random`). Where a game cannot compute this score, the mean of many episodes of the
random player is used, with seeds that depend on the problem alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import isnan
from operator import itemgetter
from typing import Any, Literal, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from sally.analysis.profile.halves import halves_of, other_players
from sally.analysis.profile.trial_scores import TrialScores
from sally.core.errors import BadInput
from sally.core.log.events import PlayerSpec, Setup
from sally.core.registry import registry
from sally.core.rules.card import RANDOM, Condition
from sally.core.rules.chance import Key, derived_seed
from sally.core.rules.game import Seat
from sally.core.rules.metric import Played
from sally.frames.measured_seat import (
    MeasuredSeat,
    SeatKind,
    alike,
    is_mind,
    least_score,
    measured_seats,
)
from sally.frames.profiles import Codes, Floats, MetSetting, SeatSums
from sally.runner.local import play_open
from sally.runner.seating import resolve_setup

TRIALS = 36  # episodes by which the best mindless player is chosen
FIRST_TRIALS, FINALISTS = 12, 4  # episodes of every mindless player; players that play the others
PLAYED = 400  # settings played of those that differ only in their seed; their mean represents all
DRAWS = 400  # random episodes of a game and seat without an exact expectation, over all problems
LEAST_DRAWS = 5  # of them for each problem with its other players
KEPT = 20_000  # played baselines kept in memory: profiles are often requested more than once
Watcher = Callable[[int, int], None]  # groups done, groups in all
Role = Literal["random", "drawn", "mindless", "reference"]  # drawn: random, for its expectation


@dataclass(frozen=True)
class Baseline:
    """The episodes of one baseline player: stored ones as table rows, and those played for the
    comparison."""

    role: Role
    table: SeatSums
    rows: Codes
    played: SeatSums
    for_others: list[bool]  # by played row, whether it represents settings that were not played

    def __len__(self) -> int:
        return len(self.rows) + len(self.played)


def baselines(
    table: SeatSums, by_cell: bool = False, watch: Watcher | None = None
) -> list[Baseline]:
    """Return episodes of the random, best mindless and reference players in every studied setting.

    Args:
        table: The measured seats to compare with.
        by_cell: Whether to choose the best mindless player for each cell of a study.
        watch: Called after each group of settings with the number of groups done so far and the
            total.
    """
    played_baselines: list[Baseline] = []
    groups = list(_groups(table, by_cell).values())
    for n, rows in enumerate(groups, 1):
        settings = _settings(table, rows)
        played_baselines.append(_all(RANDOM, "random", settings, table))
        reference = registry.game(table.shared[table.kind[rows[0]]].game).measured.reference
        unsolved = np.isnan(table.of("optimum"))
        played_baselines.append(
            _play_random(settings if reference else settings[~unsolved[settings]], table)
        )
        played_baselines += _best_mindless(table, settings)
        if reference and unsolved[rows].any():
            played_baselines.append(_all(PlayerSpec(reference), "reference", settings, table))
        if watch:
            watch(n, len(groups))
    return [baseline for baseline in played_baselines if len(baseline)]


def exactly_random(table: SeatSums) -> Floats:
    """Return, by row, the exact expectation of a uniformly random player, NaN if not known.

    With only one random episode in each setting, luck would shift the whole scale.
    """
    expectations = np.full(len(table.shared), np.nan)
    for kind in table.kinds():
        expectations[kind] = _expected_score(table.shared[kind])
    values: Floats = expectations[table.kind]
    return values


def _expected_score(shared: SeatKind) -> float:
    cache, key = _expectations(), (shared.metric, shared.alike)
    if key not in cache:
        at_random = registry.entries("metrics")[shared.metric].at_random
        value = None if at_random is None else at_random(shared.setup, Seat(shared.seat))
        cache[key] = float("nan") if value is None else value
    return cache[key]


@registry.cache_by_name
def _expectations() -> dict[tuple[str, str], float]:
    """Return the cache of exact expectations, emptied when the registry changes."""
    return {}


def _play_random(settings: Codes, table: SeatSums) -> Baseline:
    """Play the random player on each problem for which its expected score is not known exactly.

    The seeds depend on the problem and its other players, not on the studied episodes, so that the
    zero of the scale on a problem is the same in every store.
    """
    kinds, rows = np.unique(table.kind[settings], return_index=True)
    firsts: dict[str, int] = {}
    for kind, n in sorted(zip(kinds.tolist(), rows.tolist(), strict=True), key=itemgetter(1)):
        if isnan(_expected_score(table.shared[kind])):
            firsts.setdefault(table.shared[kind].alike, int(settings[n]))
    draws = max(LEAST_DRAWS, -(-DRAWS // max(len(firsts), 1)))
    deals = [
        _redealt(table.setting(n), "random", k, i) for k, n in firsts.items() for i in range(draws)
    ]
    return _baseline("drawn", table, settings[:0], RANDOM, [(m, True) for m in deals])


def _baseline(
    role: Role,
    table: SeatSums,
    rows: Codes,
    player: PlayerSpec,
    settings: Sequence[tuple[MetSetting, bool]],
) -> Baseline:
    """Return stored rows and the episodes that a player plays in some settings."""
    played = _play_settings(player, settings)
    sums = SeatSums.of_seats(seat for seat, _ in played)
    return Baseline(role, table, rows, sums, [for_others for _, for_others in played])


def _best_mindless(table: SeatSums, settings: Codes) -> Iterator[Baseline]:
    """Yield the episodes of the best mindless player, which is chosen on other problems than those
    it is scored on: the best player of one half of the problems plays the other half."""
    if not len(settings):
        return
    instances = table.rows["instance"].to_physical().to_numpy()[settings]
    problems = np.unique(instances, return_inverse=True)[1]
    if problems.max() == 0:
        problems = np.arange(len(settings))
    halves = halves_of(problems, other_players(table)[settings])
    for half in np.unique(halves).tolist():
        scored_rows, others = settings[halves == half], settings[halves != half]
        chosen_on = spread_over(others if len(others) else scored_rows)
        best = best_mindless([table.setting(int(row)) for row in chosen_on])
        if best is not None:
            yield _all(best, "mindless", scored_rows, table)


def best_mindless(settings: Sequence[MetSetting]) -> PlayerSpec | None:
    """Return the mindless player with the highest mean over a sample of the settings.

    Every mindless player plays some episodes, and the best of them play on. The choice uses
    separate seeds, because choosing by the episodes that are then reported would make the luckiest
    of several equal players look better than it is.
    """
    if not settings:
        return None
    sample = spread_over(settings)
    trials = [
        _redealt(episode := sample[number % len(sample)], episode.setup.seed, "mindless", number)
        for number in range(TRIALS)
    ]
    players = mindless(trials)
    for count in (FIRST_TRIALS, TRIALS):
        ranks = {number: _rank(player, trials[:count]) for number, player in enumerate(players)}
        order = sorted(ranks, key=lambda number: (ranks[number], -number), reverse=True)
        players = [players[number] for number in order[:FINALISTS]]
    for game in {setting.game for setting in sample}:
        _trial_scores(game).save()
    return players[0] if players and ranks[order[0]][0] else None


def _rank(player: PlayerSpec, trials: Sequence[MetSetting]) -> tuple[int, float]:
    """Return the number of trials that a player can play, and its mean score in them; a player that
    cannot take every seat ranks below those that can."""
    settings = [setting for setting, _ in _sample_settings(trials)]
    levels = [_trial_score(_seat_player(setting, player), setting) for setting in settings]
    scores = [score for score in levels if score is not None]
    return len(scores), round(sum(scores) / len(scores), 12) if scores else 0.0


def _trial_score(setup: Setup, setting: MetSetting) -> float | None:
    """Return the score of a trial; None if the player cannot take part."""
    measure = partial(least_score, seat=Seat(setting.seat))
    play = partial(_play, setup, setting.cell, measure)
    return _trial_scores(setting.game).find(setup, setting.seat, play)


@registry.cache_by_name
def _trial_scores(game: str) -> TrialScores:
    """Return the known scores of a game's trials, read again when the registry changes."""
    return TrialScores(game)


S = TypeVar("S", Sequence[MetSetting], Codes)


def spread_over(settings: S) -> S:
    """Return at most `TRIALS` of the given settings, evenly spaced."""
    return settings[:: max(1, len(settings) // TRIALS)][:TRIALS]


def mindless(settings: Sequence[MetSetting]) -> list[PlayerSpec]:
    """Return the players that are mindless in all of these settings; the random player always is.

    A rule that is mindless in one condition of a game's card may be the right solution in another.
    """
    players: list[PlayerSpec] = [RANDOM] if settings else []
    for n, setting in enumerate({(m.seat, _params(m)): m for m in settings}.values()):
        declared = [player for c in conditions(setting) for player in c.mindless]
        if n == 0:
            players += [
                player for i, player in enumerate(declared) if player not in (RANDOM, *declared[:i])
            ]
        players = [player for player in players if player == RANDOM or player in declared]
    return players


def conditions(setting: MetSetting) -> list[Condition]:
    """Return the card's conditions for a setting, or the nearest condition if none fits."""
    card = registry.card(setting.game)
    if card is None:
        return []
    declared = card.of(setting.game) or card.conditions
    of_seat = [c for c in declared if c.seat == setting.seat] or list(declared)
    params = setting.setup.instance.params
    fitting = [c for c in of_seat if any(_fits(i.params, params) for i in c.instances)]
    # a condition with a declared chance level is the one meant for mindless players
    return [c for c in fitting if c.chance] or fitting or of_seat


def _fits(listed: Mapping[str, Any], params: Mapping[str, Any]) -> bool:
    """Return whether two sets of parameters agree on every parameter they share."""
    shared = listed.keys() & params.keys()
    return bool(shared or not listed) and all(listed[name] == params[name] for name in shared)


def _all(player: PlayerSpec, role: Role, settings: Codes, table: SeatSums) -> Baseline:
    """Return the episodes of one player in each setting; those that are not stored are played
    now."""
    kinds = [
        k for k in table.kinds() if _player_key(table.shared[k].player_spec) == _player_key(player)
    ]
    own_rows = np.flatnonzero(np.isin(table.kind, kinds) & ~table.is_censored)
    codes = table.setting_codes
    last = np.full(int(codes.max(initial=-1)) + 1, -1, dtype=np.int64)
    np.maximum.at(last, codes[own_rows], own_rows)  # the last run of each setting
    rows = last[codes[settings]]
    lacking = settings[rows < 0]
    to_play = [
        (table.setting(int(lacking[n])), others)
        for n, others in _spread(table.kind[lacking], table.shared)
    ]
    return _baseline(role, table, rows[rows >= 0], player, to_play)


def _play_settings(
    player: PlayerSpec, settings: Sequence[tuple[MetSetting, bool]]
) -> list[tuple[MeasuredSeat, bool]]:
    """Play these settings with a player; settings it cannot take part in are left out."""
    cache = _baseline_cache()
    if len(cache) > KEPT:
        cache.clear()
    seats = []
    for setting, for_others in settings:
        setup = _seat_player(setting, player)
        key = (msgspec.json.encode(setup, order="sorted"), setting.cell, setting.seat)
        if key not in cache:
            seats_of = partial(measured_seats, seats=(setting.seat,))
            cache[key] = _play(setup, setting.cell, seats_of) or ()
        seats += [(m, for_others) for m in cache[key]]
    return seats


@registry.cache_by_name
def _baseline_cache() -> dict[tuple[bytes, str, str], Sequence[MeasuredSeat]]:
    """Return the cache of baselines played in this process, emptied when the registry changes."""
    return {}


M = TypeVar("M")


def _play(setup: Setup, cell: str, measure: Callable[[Played], M]) -> M | None:
    """Play an episode and measure it; None if the player does not fit its seat, or another player
    cannot be called again."""
    spec = registry.game(setup.instance.game)
    try:
        return measure(Played(spec, *play_open(_ready(setup), cell)))
    except BadInput:
        return None


def _ready(setup: Setup) -> Setup:
    """Resolve the names in a setup; the result is shared by setups that differ only in seed and
    repeat."""
    cache, seed, repeat = _setup_cache(), setup.seed, setup.repeat
    key = msgspec.json.encode(msgspec.structs.replace(setup, seed=0, repeat=0), order="sorted")
    if key not in cache:
        cache[key] = resolve_setup(setup)
    return msgspec.structs.replace(cache[key], seed=seed, repeat=repeat)


@registry.cache_by_name
def _setup_cache() -> dict[bytes, Setup]:
    """Return the cache of setups resolved in this process, emptied when the registry changes."""
    return {}


def _seat_player(setting: MetSetting, player: PlayerSpec) -> Setup:
    arms = (
        {setting.seat: setting.setup.arms[setting.seat]}
        if setting.seat in setting.setup.arms
        else {}
    )
    return msgspec.structs.replace(
        setting.setup,
        lineup={**setting.setup.lineup, setting.seat: player},
        arms=arms,
        injections=(),
    )


def _redealt(setting: MetSetting, *key: Key) -> MetSetting:
    """Return the setting without its probes, which do not affect the score, and with a seed derived
    from `key`."""
    setup = msgspec.structs.replace(setting.setup, seed=derived_seed(*key), arms={})
    return msgspec.structs.replace(setting, setup=setup)


def _settings(table: SeatSums, rows: Codes) -> Codes:
    """Return one row for each setting that can be played again because all other players are
    bots."""
    alone = [k for k in table.kinds() if not any(map(is_mind, _across(table.shared[k])))]
    rows = rows[np.isin(table.kind[rows], alone)]
    codes = table.setting_codes[rows]
    first = np.full(int(codes.max(initial=-1)) + 1, len(rows), dtype=np.int64)
    chosen = first.copy()
    np.minimum.at(first, codes, np.arange(len(rows)))
    probed = np.flatnonzero(table.of("asked")[rows] > 0)
    np.minimum.at(chosen, codes[probed], probed)  # a probed row, if there is one
    chosen = np.where(chosen < len(rows), chosen, first)
    present = np.flatnonzero(first < len(rows))
    return rows[chosen[present[np.argsort(first[present])]]]


def _across(shared: SeatKind) -> list[PlayerSpec]:
    return [player for seat, player in shared.setup.lineup.items() if seat != shared.seat]


def _sample_settings(settings: Sequence[MetSetting]) -> list[tuple[MetSetting, bool]]:
    keys = [alike(setting.setup, setting.seat) for setting in settings]
    return [(settings[n], others) for n, others in _spread_over_keys(np.array(keys))]


def _spread(kinds: Codes, shared: Sequence[SeatKind]) -> list[tuple[int, bool]]:
    """Return at most `PLAYED` of the settings that differ only in their seed, evenly spaced.

    Each setting is given by its position in `kinds`, with a flag that is true if it also represents
    settings that were left out.
    """
    names: dict[str, int] = {}
    codes = [names.setdefault(kind.alike, len(names)) for kind in shared]
    return _spread_over_keys(np.array(codes, dtype=np.int64)[kinds])


def _spread_over_keys(keys: NDArray[Any]) -> list[tuple[int, bool]]:
    positions: list[tuple[int, bool]] = []
    _, first, codes, counts = np.unique(
        keys, return_index=True, return_inverse=True, return_counts=True
    )
    groups = np.split(np.argsort(codes, kind="stable"), np.cumsum(counts)[:-1])
    for key in np.argsort(first).tolist():  # in order of appearance
        rows = groups[key]
        step, few = max(1, len(rows) / PLAYED), len(rows) <= PLAYED
        positions += [(int(rows[int(n * step)]), not few) for n in range(min(len(rows), PLAYED))]
    return positions


def _groups(table: SeatSums, by_cell: bool) -> dict[tuple[str, str, str], Codes]:
    """Return the rows of each game and seat, and of each cell if `by_cell`."""
    kinds_by_group: dict[tuple[str, str, str], list[int]] = {}
    for k in table.kinds():
        shared = table.shared[k]
        key = (shared.game, shared.seat, shared.cell if by_cell else "")
        kinds_by_group.setdefault(key, []).append(k)
    return {
        key: np.flatnonzero(np.isin(table.kind, kinds)) for key, kinds in kinds_by_group.items()
    }


def _player_key(player: PlayerSpec) -> bytes:
    return msgspec.json.encode((player.player, player.params), order="sorted")


def _params(m: MetSetting) -> bytes:
    return msgspec.json.encode(m.setup.instance.params, order="sorted")
