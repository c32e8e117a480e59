"""How many episodes of each cell it takes to see a difference, from a pilot or a stated spread.

Players are compared on the same settings, so what counts is the spread of their differences.
Where a problem is played several times or against several others, that tells less than as many
problems would; the design effect of the pilot says how much less.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import combinations

import msgspec
import numpy as np

from sally.analysis.columns.measured import Measured, doing_metric, measure
from sally.analysis.profile.selected_seats import studied_seats
from sally.core.errors import BadInput
from sally.core.log.events import Episode
from sally.core.match.playback import replayed
from sally.core.registry import registry
from sally.core.registry.study import Cell, Study
from sally.core.rules.game import Seat
from sally.core.rules.metric import Metric, Played
from sally.players.language import LANGUAGE
from sally.runner.config import Config
from sally.runner.plan import Plan
from sally.stats import (
    design_effect,
    intraclass_correlation,
    paired_sample_size,
    paired_share_sample_size,
)
from sally.stats.intervals import FEW

POWERS = (0.8, 0.9)
PERCENT = "%"


class Value(msgspec.Struct, frozen=True):
    """What one player got in one setting of a pilot."""

    cell: str
    game: str
    seat: str
    player: str
    setting: str
    instance: str
    value: float
    repeat: int = 0


class Spread(msgspec.Struct, frozen=True):
    """How differences between players vary, and from how much that is known."""

    sd: float
    icc: float | None  # of differences that are resampled together; None where none are
    pairs: int  # differences in the pilot; 0: stated, not measured
    players: int
    elsewhere: bool = False  # whether they are from other cells of the same game


class Need(msgspec.Struct, frozen=True):
    """Episodes of each player that a cell needs, and what they would cost."""

    cell: str
    metric: str
    unit: str
    detect: float  # in that unit
    sd: float | None
    pairs: int
    players: int
    effect: float  # the design effect of repeated problems
    now: int  # episodes of each player that the study has
    episodes: tuple[int, ...] | None  # for each power; None where nothing is known
    cost: tuple[float | None, ...]  # of the whole cell at that size; None: a price is missing
    elsewhere: bool = False  # whether the pilot had other cells of the game only
    why: str = ""  # blank for this reason


def needs(
    study: Study,
    plan: Plan,
    config: Config,
    detect: float,
    *,
    metric: str = "",
    sd: float | None = None,
    pilot: Iterable[Episode] | None = None,
    limit: int | None = None,
    alpha: float = 0.05,
) -> list[Need]:
    """What each cell of a study needs to see a difference of `detect` between two players."""
    _check(detect, sd, pilot is not None, alpha)
    values = [] if pilot is None else values_of(pilot, metric)
    return [
        _need(cell, plan, config, detect, _metric(cell, metric), sd, values, limit, alpha)
        for cell in study.cells
    ]


def _check(detect: float, sd: float | None, piloted: bool, alpha: float) -> None:
    if not detect > 0:
        raise BadInput(f"detect must be above 0, not {detect}.")
    if sd is None and not piloted:
        raise BadInput(
            "How far apart episodes lie must be known: give a pilot, a store with some of "
            "them, or sd, the standard deviation of differences between two players."
        )
    if sd is not None and piloted:
        raise BadInput("Give a pilot or sd, not both.")
    if sd is not None and not sd > 0:
        raise BadInput(f"sd must be above 0, not {sd}.")
    if not 0 < alpha < 1:
        raise BadInput(f"alpha must lie between 0 and 1, not {alpha}.")


def _metric(cell: Cell, name: str) -> Metric:
    """The metric that is asked for, or that says how well a player did in the cell's game."""
    if name:
        found: Metric = registry.pick("metric", name, registry.entries("metrics"))
        return found
    spec = registry.game(cell.instances[0].game)
    return doing_metric(spec, _seat(cell))


def _seat(cell: Cell) -> str:
    """The seat that a cell is about: asked aside, taken by a model, or the first."""
    models = [s for line in cell.lineups for s, who in line.items() if who.player == LANGUAGE]
    spec = registry.game(cell.instances[0].game)
    return str([*cell.arms, *models, *spec.build(cell.instances[0].params).seats][0])


def _episodes(cell: Cell, limit: int | None) -> int:
    """How many episodes a player of a cell has, over all company."""
    each = len(cell.instances) * cell.repeats
    return _company(cell) * (each if limit is None else min(each, limit))


def _company(cell: Cell) -> int:
    """How many lineups of others a player of a cell meets."""
    seat = _seat(cell)
    players = {msgspec.json.encode(line.get(seat), order="sorted") for line in cell.lineups}
    return max(1, len(cell.lineups) // len(players))


def _together(cell: Cell) -> int:
    """How many episodes of a player are resampled as one when players are compared."""
    return _company(cell) * (cell.repeats if _by_instance(cell) else 1)


def _by_instance(cell: Cell) -> bool:
    """Whether there are problems enough to resample; else their repeats are."""
    return len(cell.instances) >= FEW


def _need(
    cell: Cell,
    plan: Plan,
    config: Config,
    detect: float,
    metric: Metric,
    sd: float | None,
    values: Sequence[Value],
    limit: int | None,
    alpha: float,
) -> Need:
    now = _episodes(cell, limit)
    scale = 100.0 if metric.unit == PERCENT else 1.0
    blank = Need(cell.name, metric.name, metric.unit or "share", scale * detect, None, 0, 0, 1.0,
                 now, None, ())  # fmt: skip
    spread = Spread(scale * sd, None, 0, 2) if sd is not None else spread_of(cell, values)
    if isinstance(spread, str):
        return msgspec.structs.replace(blank, why=spread)
    effect = 1.0 if spread.icc is None else max(1.0, design_effect(spread.icc, [_together(cell)]))
    sizes = tuple(
        _size(metric, scale * detect, spread.sd, power=p, alpha=alpha, design_effect=effect)
        for p in POWERS
    )
    return msgspec.structs.replace(
        blank,
        sd=spread.sd,
        pairs=spread.pairs,
        players=spread.players,
        elsewhere=spread.elsewhere,
        effect=effect,
        episodes=sizes,
        cost=tuple(cost_of(cell, plan, config, size / now) for size in sizes),
    )


def _size(metric: Metric, detect: float, sd: float, **target: float) -> int:
    """The pairs that it takes; scores of 0 and 1 have a test and a spread of their own."""
    if metric.bounds != (0, 1):
        return paired_sample_size(detect, sd**2, **target)
    if detect >= 1:
        raise BadInput(f"{metric.name} is 0 or 1: a difference of {detect:g} cannot be.")
    # at least so many pairs disagree if the difference is to be there at all
    discordant = min(1.0, max(sd**2 + detect**2, detect * (1 + 1e-9)))
    return paired_share_sample_size(detect, discordant, exact=True, **target)


def cost_of(cell: Cell, plan: Plan, config: Config, factor: float) -> float | None:
    """The models' price of a cell with so many times its episodes; 0 where no model plays."""
    total = 0.0
    for part in plan.parts:
        if part.cell == cell.name:
            price = config.price(part.model)
            if price is None:
                return None
            each = part.each.input * price.input + part.each.output * price.output
            total += factor * part.episodes * each / 1e6
    return total


# --- pilots ---------------------------------------------------------------------------------------


def values_of(episodes: Iterable[Episode], metric: str = "") -> list[Value]:
    """The studied seats of a pilot, by one metric."""
    found: dict[str, list[tuple[Measured, float | None]]] = {}
    for episode in episodes:
        spec = registry.game(episode.setup.instance.game)
        played = Played(spec, episode, replayed(spec, episode))
        for seat in played.replay.game.seats:
            m = measure(played, seat)
            value = _by(metric, played, seat) if metric else m.doing
            found.setdefault(m.game, []).append((m, value))
    kept: list[Value] = []
    for game, seats in found.items():
        studied = studied_seats([m for m, _ in seats])
        kept += [_value(game, m, v) for m, v in seats if m.seat in studied and v is not None]
    return kept


def _by(name: str, played: Played, seat: Seat) -> float | None:
    fitting = registry.metrics(played.spec.family or played.spec.name)
    return fitting[name].measure(played, seat) if name in fitting else None


def _value(game: str, m: Measured, value: float) -> Value:
    who = m.setup.lineup[m.seat]
    player = msgspec.json.encode((who.player, who.params), order="sorted").decode()
    return Value(m.cell, game, m.seat, player, m.setting, m.setup.instance.id, value,
                 m.setup.repeat)  # fmt: skip


def spread_of(cell: Cell, values: Sequence[Value]) -> Spread | str:
    """How differences of players vary in a cell of a pilot, or why that is not known.

    A cell that the pilot lacks is judged by the other cells of its game.
    """
    game, whole = cell.instances[0].game, _by_instance(cell)
    here = [v for v in values if v.cell == cell.name]
    mine = here or [v for v in values if v.game == game]
    if not mine:
        return f"the pilot has no episode of {game} with a result"
    by_player: dict[tuple[str, str], dict[str, Value]] = {}
    for v in mine:
        by_player.setdefault((v.seat, v.player), {})[v.setting] = v
    found = [
        some
        for (seat, one), (other, two) in combinations(by_player, 2)
        if seat == other
        and len(some := _differences(by_player[seat, one], by_player[other, two], whole)) > 1
    ]
    if not found:
        return "the pilot has no two players with two settings in common"
    within = [float(np.var([d for _, d in some], ddof=1)) for some in found]
    if not any(within):
        return "in the pilot all differences between two players are alike: nothing varies"
    pairs = sum(len(some) for some in found)
    sd = float(np.sqrt(np.mean(within)))
    return Spread(sd, _alike(found), pairs, len(by_player), elsewhere=not here)


Difference = tuple[tuple[str, int], float]  # with the cluster it is of


def _differences(one: dict[str, Value], two: dict[str, Value], whole: bool) -> list[Difference]:
    """What the first got more than the second where both met the same setting."""
    return [
        ((v.instance, 0 if whole else v.repeat), v.value - two[s].value)
        for s, v in one.items()
        if s in two
    ]


def _alike(found: Sequence[Sequence[Difference]]) -> float | None:
    """How much differences of a cluster are alike, whoever is compared; None if all are alone."""
    away: list[float] = []
    names: list[Hashable] = []
    for n, some in enumerate(found):
        if len({name for name, _ in some}) > 1:  # one cluster alone shows no difference of clusters
            middle = float(np.mean([d for _, d in some]))
            away += [d - middle for _, d in some]
            names += [(n, name) for name, _ in some]
    return intraclass_correlation(away, names) if away else None
