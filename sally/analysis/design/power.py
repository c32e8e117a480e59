"""Numbers of episodes needed to detect a difference, from a pilot or a stated deviation.

Players are compared on the same settings, so the standard deviation of their differences is what
matters. Verdicts are adjusted over all comparisons of a study, and so is the planned size: each
comparison is planned at the level of the first step of Holm's method, which is alpha divided by
their number. Repeats of a problem, or episodes with several other players, add less information
than new problems; the design effect of the pilot says how much less.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import combinations

import msgspec
import numpy as np
import polars as pl

from sally.analysis.compare.compare import KNOWING
from sally.analysis.profile.selected_seats import studied_seats
from sally.core.errors import BadInput
from sally.core.registry import registry
from sally.core.registry.study import Cell, Study
from sally.core.rules.game import Seat
from sally.core.rules.metric import Metric
from sally.frames.frame import Frame
from sally.frames.measured_seat import doing_metric
from sally.frames.profiles import SeatSums
from sally.frames.rows import as_json, setup_of
from sally.players.language import LANGUAGE
from sally.runner.config import Config
from sally.runner.plan import Plan
from sally.stats.intervals import FEW
from sally.stats.power import (
    design_effect,
    equivalence_sample_size,
    intraclass_correlation,
    paired_share_sample_size,
    t_sample_size,
)

POWERS = (0.8, 0.9)
PERCENT = "%"


class PilotScore(msgspec.Struct, frozen=True):
    """The score of one player in one setting of a pilot."""

    cell: str
    game: str
    seat: str
    player: str
    setting: bytes
    instance: str
    value: float
    repeat: int = 0


class DifferenceSpread(msgspec.Struct, frozen=True):
    """The standard deviation of differences between players, and the data behind it."""

    sd: float
    icc: float | None  # of differences that are resampled together; None if none are
    pairs: int  # differences in the pilot; 0: stated, not measured
    players: int
    elsewhere: bool = False  # whether they come from other cells of the same game


class EpisodesNeeded(msgspec.Struct, frozen=True):
    """Number of episodes per player that a cell needs, and their cost."""

    cell: str
    metric: str
    unit: str
    detect: float  # in that unit
    sd: float | None
    pairs: int
    players: int
    effect: float  # the design effect of repeated problems
    now: int  # episodes of each player that the study has
    episodes: tuple[int, ...] | None  # for each power; None if not known
    cost: tuple[float | None, ...]  # of the whole cell at that size; None: a price is missing
    elsewhere: bool = False  # whether the pilot had only other cells of the game
    why: str = ""  # why episodes are not known
    family: int = 1  # comparisons whose verdicts are adjusted together


def family_of(study: Study, metric: str = "") -> int:
    """Return how many comparisons of two players `compare` makes by default in this study.

    There is one for each game, studied seat and metric; the metrics are the game's score and, if
    the seat is probed, two metrics of knowing.
    """
    counts: dict[tuple[str, str], int] = {}
    for cell in study.cells:
        seat = _seat(cell)
        count = 1 if metric or not cell.arms.get(Seat(seat)) else 1 + len(KNOWING)
        key = (cell.instances[0].game, seat)
        counts[key] = max(count, counts.get(key, 0))
    return max(1, sum(counts.values()))


def needs(
    study: Study,
    plan: Plan,
    config: Config,
    detect: float,
    *,
    metric: str = "",
    sd: float | None = None,
    pilot: Frame | None = None,
    limit: int | None = None,
    alpha: float = 0.05,
    equivalent: bool = False,
    family: int | None = None,
) -> list[EpisodesNeeded]:
    """Return the episodes that each cell needs to detect a difference of `detect` between players.

    With `equivalent`, `detect` is the margin within which two equal players are to be found
    equivalent. Verdicts are adjusted by Holm's method over a `family` of comparisons, by default
    all that `compare` makes in the study, so each is planned at alpha / family.

    Raises:
        BadInput: If an argument is out of range, or neither a pilot nor `sd` is given.
    """
    _check(detect, sd, pilot is not None, alpha)
    family = family_of(study, metric) if family is None else family
    if family < 1:
        raise BadInput(f"family, the number of comparisons, must be at least 1, not {family}.")
    target = _Target(detect, alpha, family, equivalent)
    values = [] if pilot is None else values_of(pilot, metric)
    return [
        _need(cell, plan, config, target, _metric(cell, metric), sd=sd, values=values, limit=limit)
        for cell in study.cells
    ]


class _Target(msgspec.Struct, frozen=True):
    """The difference that a sample is planned to detect."""

    detect: float
    alpha: float
    family: int
    equivalent: bool


def _check(detect: float, sd: float | None, piloted: bool, alpha: float) -> None:
    if not detect > 0:
        raise BadInput(f"The difference must be above 0, not {detect}.")
    if sd is None and not piloted:
        raise BadInput(
            "The variation between episodes must be known: give a pilot, which is a store with "
            "some episodes, or sd, the standard deviation of differences between two players."
        )
    if sd is not None and piloted:
        raise BadInput("Give a pilot or sd, not both.")
    if sd is not None and not sd > 0:
        raise BadInput(f"sd must be above 0, not {sd}.")
    if not 0 < alpha < 1:
        raise BadInput(f"alpha must lie between 0 and 1, not {alpha}.")


def _metric(cell: Cell, name: str) -> Metric:
    """Return the metric with this name or, if the name is empty, the metric that measures how much
    the studied seat gained in the cell's game."""
    if name:
        metric: Metric = registry.pick("metric", name, registry.entries("metrics"))
        return metric
    spec = registry.game(cell.instances[0].game)
    return doing_metric(spec, _seat(cell))


def _seat(cell: Cell) -> str:
    """Return the studied seat of a cell: the first probed seat, or else the first with a model."""
    models = [s for line in cell.lineups for s, player in line.items() if player.player == LANGUAGE]
    spec = registry.game(cell.instances[0].game)
    return str([*cell.arms, *models, *spec.build(cell.instances[0].params).seats][0])


def _episodes(cell: Cell, limit: int | None) -> int:
    """Return the number of a player's episodes in a cell, over all lineups of other players; with a
    limit, its part of the cell's first `limit` episodes."""
    per_lineup = len(cell.instances) * cell.repeats
    total = per_lineup if cell.paired else per_lineup * len(cell.lineups)
    part = 1.0 if limit is None else min(1.0, limit / total)
    return max(1, round(_company(cell) * per_lineup * part))


def _company(cell: Cell) -> int:
    """Return the number of different lineups of other players that each player meets in a cell."""
    if cell.paired:
        return 1
    seat = _seat(cell)
    players = {msgspec.json.encode(line.get(seat), order="sorted") for line in cell.lineups}
    return max(1, len(cell.lineups) // len(players))


def _together(cell: Cell) -> int:
    """Return how many of a player's episodes form one cluster in a comparison."""
    return _company(cell) * (cell.repeats if _by_instance(cell) else 1)


def _by_instance(cell: Cell) -> bool:
    """Return whether a cell has enough problems to resample; otherwise repeats are resampled."""
    return len(cell.instances) >= FEW


def _need(
    cell: Cell,
    plan: Plan,
    config: Config,
    target: _Target,
    metric: Metric,
    *,
    sd: float | None,
    values: Sequence[PilotScore],
    limit: int | None,
) -> EpisodesNeeded:
    now = _episodes(cell, limit)
    scale = 100.0 if metric.unit == PERCENT else 1.0
    blank = EpisodesNeeded(
        cell.name, metric.name, metric.unit or "share", scale * target.detect,
        None, 0, 0, 1.0, now, None, (), family=target.family,
    )  # fmt: skip
    spread = DifferenceSpread(scale * sd, None, 0, 2) if sd is not None else spread_of(cell, values)
    if isinstance(spread, str):
        return msgspec.structs.replace(blank, why=spread)
    effect = 1.0 if spread.icc is None else max(1.0, design_effect(spread.icc, [_together(cell)]))
    sizes = tuple(
        _size(metric, target, scale, spread.sd, power=p, design_effect=effect) for p in POWERS
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


def _size(metric: Metric, aim: _Target, scale: float, sd: float, **target: float) -> int:
    """Return the number of pairs needed; for scores of 0 and 1, by McNemar's test."""
    detect = scale * aim.detect
    target["alpha"] = aim.alpha / aim.family
    if aim.equivalent:
        return equivalence_sample_size(detect, sd**2, **target)
    if metric.bounds != (0, 1):
        return t_sample_size(detect, sd**2, groups=1, **target)
    if detect >= 1:
        raise BadInput(
            f"{metric.name} lies between 0 and 1, so a difference of {detect:g} is impossible; it "
            "must be below 1."
        )
    # the difference itself implies that at least this share of pairs disagrees
    discordant = min(1.0, max(sd**2 + detect**2, detect * (1 + 1e-9)))
    return paired_share_sample_size(detect, discordant, exact=True, **target)


def cost_of(cell: Cell, plan: Plan, config: Config, factor: float) -> float | None:
    """Return the cost of the model calls of a cell if it had `factor` times its episodes.

    The cost is 0 if no model plays, and None if the price of a model is unknown.
    """
    total = 0.0
    for part in plan.parts:
        if part.cell == cell.name:
            price = config.price(part.model)
            if price is None:
                return None
            episode_cost = part.each.input * price.input + part.each.output * price.output
            total += factor * part.episodes * episode_cost / 1e6
    return total


# --- pilots ---------------------------------------------------------------------------------------


def values_of(frame: Frame, metric: str = "") -> list[PilotScore]:
    """Return the scores of the studied seats of a pilot, by one metric; by default, the one that
    measures how much a seat gained."""
    rows = frame.seats("cell", "game", "seat", "setup", "setting", "instance", "repeat")
    rows = rows.with_row_index("at")
    scores: list[PilotScore] = []
    for game, seats in studied_seats(SeatSums(frame.profiles())).items():
        spec = registry.game(game)
        fitting = registry.metrics(spec.family or spec.name)
        for seat in sorted(seats):
            name = metric or doing_metric(spec, seat).name
            if name not in fitting:
                continue
            values = frame.seats(name)[name]
            chosen = rows.filter((pl.col("game") == game) & (pl.col("seat") == seat))
            for row in chosen.iter_rows(named=True):
                if (value := values[row["at"]]) is not None:
                    spec_of_player = setup_of(row["setup"]).lineup[seat]
                    player = as_json((spec_of_player.player, spec_of_player.params))
                    place = (row["cell"], game, seat, player, row["setting"], row["instance"])
                    scores.append(PilotScore(*place, value, row["repeat"]))
    return scores


def spread_of(cell: Cell, values: Sequence[PilotScore]) -> DifferenceSpread | str:
    """Return the standard deviation of differences in a cell of a pilot, or why it is unknown.

    For a cell that the pilot lacks, the other cells of its game are used.
    """
    game, by_instance = cell.instances[0].game, _by_instance(cell)
    in_cell = [v for v in values if v.cell == cell.name]
    scores = in_cell or [v for v in values if v.game == game]
    if not scores:
        return f"the pilot has no episode of {game} with a result"
    by_player: dict[tuple[str, str], dict[bytes, PilotScore]] = {}
    for v in scores:
        by_player.setdefault((v.seat, v.player), {})[v.setting] = v
    samples = [
        differences
        for (seat, first), (second_seat, second) in combinations(by_player, 2)
        if seat == second_seat
        and len(
            differences := _differences(
                by_player[seat, first], by_player[second_seat, second], by_instance
            )
        )
        > 1
    ]
    if not samples:
        return "the pilot has no two players with two settings in common"
    within = [float(np.var([d for _, d in differences], ddof=1)) for differences in samples]
    if not any(within):
        return "in the pilot all differences between two players are alike: nothing varies"
    pairs = sum(len(differences) for differences in samples)
    sd = float(np.sqrt(np.mean(within)))
    return DifferenceSpread(sd, _alike(samples), pairs, len(by_player), elsewhere=not in_cell)


Difference = tuple[tuple[str, int], float]  # its cluster and its value


def _differences(
    first: dict[bytes, PilotScore], second: dict[bytes, PilotScore], by_instance: bool
) -> list[Difference]:
    """Return the differences, first minus second, in the settings that both met."""
    return [
        ((v.instance, 0 if by_instance else v.repeat), v.value - second[s].value)
        for s, v in first.items()
        if s in second
    ]


def _alike(samples: Sequence[Sequence[Difference]]) -> float | None:
    """Return the intraclass correlation of differences, pooled over pairs of players."""
    away: list[float] = []
    names: list[Hashable] = []
    for n, differences in enumerate(samples):
        # a single cluster has no variance between clusters
        if len({name for name, _ in differences}) > 1:
            middle = float(np.mean([d for _, d in differences]))
            away += [d - middle for _, d in differences]
            names += [(n, name) for name, _ in differences]
    return intraclass_correlation(away, names) if away else None
