"""Transfer of training: rows are training tasks, columns are test tasks.

A player that records what it was trained on (`trained_on` in each of its episodes) is compared with
the untrained player on the same problems, partners and seeds, for knowing and for doing.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from sally.analysis.columns.measured import MeasuredSeat, measured
from sally.analysis.profile.baselines import baselines
from sally.analysis.profile.doing_scale import BaselineScores, scaled, top
from sally.analysis.profile.estimates import Means
from sally.analysis.profile.knowing_scale import skills
from sally.core.errors import BadInput
from sally.core.log.events import Episode, label
from sally.stats.cluster_interval import lone_by_rule, ratio_by_rule
from sally.stats.intervals import FEW, Estimate, without_interval

UNTRAINED = "untrained"


class TransferCell(msgspec.Struct, frozen=True):
    """One cell of the transfer matrix: scores, and their change due to training, paired by
    setting."""

    trained_on: str
    tested_on: str
    episodes: int
    doing: Estimate  # 0: the random player, 1: the optimum or the reference player
    knowing: Estimate  # accuracy of predictions; 0: an even guess, 1: all correct
    brier: Estimate  # the same by stated odds; 0: even odds, 1: certain and correct
    doing_change: Estimate  # against the untrained player, in the same units
    knowing_change: Estimate
    brier_change: Estimate
    by_seed: dict[str, tuple[float | None, float | None]]  # training seed -> (doing, knowing)

    def over_seeds(self) -> tuple[Estimate, Estimate]:
        """Return the scores for doing (gains) and for knowing (predictions of others), with
        intervals over training seeds."""
        doing, knowing = zip(*self.by_seed.values(), strict=True) if self.by_seed else ((), ())
        return _over(doing), _over(knowing)


class TrainedEpisode(msgspec.Struct, frozen=True):
    """One measured episode with its player's training."""

    row: str
    seed: str
    measured: MeasuredSeat


def tagged(episodes: Iterable[Episode]) -> list[TrainedEpisode]:
    """Return the episodes whose players record what they were trained on.

    Raises:
        BadInput: If there is no such episode.
    """
    found = []
    for episode in episodes:
        for seat, used in episode.used.items():
            if isinstance(used, Mapping) and "trained_on" in used:
                about = used["trained_on"] or {}
                row, seed = str(about.get("name") or UNTRAINED), str(about.get("seed", ""))
                found += [TrainedEpisode(row, seed, m) for m in measured(episode, (seat,))]
    if not found:
        raise BadInput(
            "No episode here records what its player was trained on; the text environment writes "
            "`trained_on` into each of its episodes."
        )
    return found


def transfer(tested: Sequence[TrainedEpisode]) -> list[TransferCell]:
    """Return the cells of the transfer matrix row by row, starting with the untrained players."""
    met = BaselineScores(baselines([t.measured for t in tested], by_cell=True))
    rows = list(dict.fromkeys(t.row for t in tested))
    rows.sort(key=lambda row: row != UNTRAINED)
    columns = list(dict.fromkeys(_column(t) for t in tested))
    return [
        cell
        for row in rows
        for column in columns
        if (cell := _cell(row, column, tested, met)) is not None
    ]


def _column(t: TrainedEpisode) -> str:
    return t.measured.cell or t.measured.game


def _cell(
    row: str, column: str, tested: Sequence[TrainedEpisode], met: BaselineScores
) -> TransferCell | None:
    here = [t for t in tested if _column(t) == column]
    mine = [t for t in here if t.row == row]
    if not mine:
        return None
    group = [t.measured for t in mine]
    means = Means(group, list(map(_unit(group), group)))
    known = skills(means)
    before = {} if row == UNTRAINED else _by_setting(t for t in here if t.row == UNTRAINED)
    seeds = dict.fromkeys(t.seed for t in mine)
    return TransferCell(
        trained_on=row,
        tested_on=column,
        episodes=len(group),
        doing=scaled(means, met).doing,
        knowing=known.skill,
        brier=known.brier_skill,
        doing_change=_change(group, before, _doing(met)),
        knowing_change=_change(group, before, _right),
        brier_change=_change(group, before, _brier),
        by_seed={seed: _pair([t for t in mine if t.seed == seed], met) for seed in seeds if seed},
    )


def _pair(mine: Sequence[TrainedEpisode], met: BaselineScores) -> tuple[float | None, float | None]:
    group = [t.measured for t in mine]
    means = Means(group, list(map(_unit(group), group)))
    return scaled(means, met).doing.value, skills(means).skill.value


def _over(values: Sequence[float | None]) -> Estimate:
    return lone_by_rule([value for value in values if value is not None])


Unit = Callable[[MeasuredSeat], Hashable]


def _unit(group: Sequence[MeasuredSeat]) -> Unit:
    """Return the function that assigns a seat to its cluster: the problem together with the other
    players or, if this gives too few clusters, the setting."""
    tasks: Unit = lambda m: (m.setup.instance.id, _company(m))  # noqa: E731 (one of two)
    return tasks if len({tasks(m) for m in group}) >= FEW else lambda m: m.setting


def _company(m: MeasuredSeat) -> str:
    return ", ".join(label(who) for seat, who in m.setup.lineup.items() if seat != m.seat)


# --- what training changed ------------------------------------------------------------------------

Term = Callable[[MeasuredSeat], tuple[float, float] | None]
"""Function that returns the score of one episode and the score that was possible, or None."""


def _doing(met: BaselineScores) -> Term:
    def term(m: MeasuredSeat) -> tuple[float, float] | None:
        high, low = top(met, m), met.level("random", m)
        return None if m.least is None or high is None or low is None else (m.least, high - low)

    return term


def _right(m: MeasuredSeat) -> tuple[float, float] | None:
    k = m.knowing
    return (k.right, k.scored - k.guess) if k.scored else None


def _brier(m: MeasuredSeat) -> tuple[float, float] | None:
    k = m.knowing
    return (-k.brier, k.even_brier) if k.with_odds else None


def _by_setting(tested: Iterable[TrainedEpisode]) -> dict[str, list[MeasuredSeat]]:
    found: dict[str, list[MeasuredSeat]] = {}
    for t in tested:
        found.setdefault(t.measured.setting, []).append(t.measured)
    return found


def _change(
    group: Sequence[MeasuredSeat], before: Mapping[str, Sequence[MeasuredSeat]], term: Term
) -> Estimate:
    """Return the gain over the untrained player in the same settings, as a ratio of sums like the
    score itself."""
    unit, tops, bottoms = _unit(group), list[float](), list[float]()
    clusters = list[Hashable]()
    for m in group:
        old = [found for b in before.get(m.setting, ()) if (found := term(b)) is not None]
        if (new := term(m)) is None or not old:
            continue
        tops.append(new[0] - sum(got for got, _ in old) / len(old))
        bottoms.append(new[1])
        clusters.append(unit(m))
    if not tops or sum(bottoms) <= 0:
        return without_interval(None, 0, "t", "no untrained player met the same settings")
    return ratio_by_rule(tops, bottoms, clusters)


def grid(cells: Sequence[TransferCell], of: str) -> tuple[list[str], list[str], list[list[Any]]]:
    """Return the names of rows and columns, and one field of each cell; None where nothing was
    tested."""
    rows = list(dict.fromkeys(cell.trained_on for cell in cells))
    columns = list(dict.fromkeys(cell.tested_on for cell in cells))
    found = {(cell.trained_on, cell.tested_on): getattr(cell, of) for cell in cells}
    return rows, columns, [[found.get((row, column)) for column in columns] for row in rows]
