"""Transfer of training: rows are training tasks, columns are test tasks.

A player that records what it was trained on (`trained_on` in each of its episodes) is compared with
the untrained player on the same problems, partners and seeds, for knowing and for doing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from sally.analysis.profile.baselines import baselines
from sally.analysis.profile.doing_scale import BaselineScores, scale_doing, tops
from sally.analysis.profile.estimates import Means, or_missing
from sally.analysis.profile.knowing_scale import skills
from sally.core.errors import BadInput
from sally.core.log.events import label
from sally.frames.frame import Frame
from sally.frames.profiles import Codes, Floats, SeatSums
from sally.stats.cluster_interval import lone_by_rule, ratio_by_rule
from sally.stats.columns import encode_labels
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
        return _mean_known(doing), _mean_known(knowing)


@dataclass(frozen=True)
class TrainedSeats:
    """Measured seats with their players' training, by row: its name, its seed and the test task."""

    sums: SeatSums
    training: list[str]
    seed: list[str]
    task: list[str]

    def take(self, rows: Codes) -> TrainedSeats:
        """Return some rows, by number."""
        lists = ([column[n] for n in rows] for column in (self.training, self.seed, self.task))
        return TrainedSeats(self.sums.take(rows), *lists)

    def select(self, training: str = "", seed: str = "", task: str = "") -> TrainedSeats:
        """Return the rows with this training, seed and task; empty: any."""
        rows = [
            n
            for n in range(len(self.sums))
            if training in ("", self.training[n])
            and seed in ("", self.seed[n])
            and task in ("", self.task[n])
        ]
        return self.take(np.array(rows, dtype=np.int64))


def read_trained_seats(frame: Frame) -> TrainedSeats:
    """Return the seats whose players record what they were trained on.

    Raises:
        BadInput: If there is no such episode.
    """
    trained: dict[str, list[tuple[int, str, str]]] = {}  # by seat: episode, training, seed
    for number, text in enumerate(frame.column("used")):
        for seat, used in (msgspec.json.decode(text) if text else {}).items():
            if isinstance(used, dict) and "trained_on" in used:
                about = used["trained_on"] or {}
                name, seed = str(about.get("name") or UNTRAINED), str(about.get("seed", ""))
                trained.setdefault(seat, []).append((number, name, seed))
    tables, tags = list[SeatSums](), list[tuple[int, str, str]]()
    for seat, episode_tags in trained.items():
        part = frame.take(np.array([number for number, _, _ in episode_tags]))
        tables.append(SeatSums(part.profiles(seat)))
        tags += episode_tags
    if not tags:
        raise BadInput(
            "No episode here records what its player was trained on; the text environment writes "
            "`trained_on` into each of its episodes."
        )
    sums = SeatSums.concat(tables)
    kinds = [sums.shared[code] for code in sums.kind.tolist()]
    tasks = [kind.cell or kind.game for kind in kinds]
    seats = TrainedSeats(sums, [name for _, name, _ in tags], [seed for _, _, seed in tags], tasks)
    return seats.take(np.argsort([number for number, _, _ in tags], kind="stable"))


def transfer(tested: TrainedSeats) -> list[TransferCell]:
    """Return the cells of the transfer matrix row by row, starting with the untrained players."""
    scores = BaselineScores(baselines(tested.sums, by_cell=True))
    rows = list(dict.fromkeys(tested.training))
    rows.sort(key=lambda row: row != UNTRAINED)
    columns = list(dict.fromkeys(tested.task))
    return [
        cell
        for row in rows
        for column in columns
        if (cell := _cell(row, column, tested, scores)) is not None
    ]


def _cell(
    row: str, column: str, tested: TrainedSeats, scores: BaselineScores
) -> TransferCell | None:
    group = tested.select(training=row, task=column)
    if not len(group.sums):
        return None
    means = Means(group.sums, _clusters(group.sums))
    knowing = skills(means)
    untrained = None if row == UNTRAINED else tested.select(training=UNTRAINED, task=column).sums
    seeds = dict.fromkeys(group.seed)
    changes = {
        field: _change(group.sums, untrained, term)
        for field, term in (
            ("doing_change", _doing(scores)),
            ("knowing_change", _right),
            ("brier_change", _brier),
        )
    }
    return TransferCell(
        trained_on=row,
        tested_on=column,
        episodes=len(group.sums),
        doing=scale_doing(means, scores).doing,
        knowing=knowing.skill,
        brier=knowing.brier_skill,
        **changes,
        by_seed={seed: _pair(group.select(seed=seed).sums, scores) for seed in seeds if seed},
    )


def _pair(group: SeatSums, scores: BaselineScores) -> tuple[float | None, float | None]:
    means = Means(group, _clusters(group))
    return scale_doing(means, scores).doing.value, skills(means).skill.value


def _mean_known(values: Sequence[float | None]) -> Estimate:
    return lone_by_rule([value for value in values if value is not None])


def _clusters(group: SeatSums) -> Codes:
    """Return the cluster of each row: the problem together with the other players or, if this
    gives too few clusters, the setting."""
    names = [
        (
            kind.setup.instance.id,
            ", ".join(label(spec) for seat, spec in kind.setup.lineup.items() if seat != kind.seat),
        )
        for kind in group.shared
    ]
    tasks, count = encode_labels([names[code] for code in group.kind.tolist()], len(group), "tasks")
    if count >= FEW:
        return tasks
    return encode_labels(group.settings.tolist(), len(group), "settings")[0]


# --- what training changed ------------------------------------------------------------------------

Term = Callable[[SeatSums], tuple[Floats, Floats]]
"""Function that returns, by row, the score and the score that was possible; NaN if unknown."""


def _doing(scores: BaselineScores) -> Term:
    return lambda group: (
        group.of("least"),
        tops(scores, group) - scores.levels("random", group),
    )


def _right(group: SeatSums) -> tuple[Floats, Floats]:
    return group.of("right"), or_missing(group.of("scored")) - group.of("guess")


def _brier(group: SeatSums) -> tuple[Floats, Floats]:
    odds = or_missing(group.of("with_odds"))
    return -group.of("brier"), group.of("even_brier") + 0 * odds


def _change(group: SeatSums, untrained: SeatSums | None, term: Term) -> Estimate:
    """Return the gain over the untrained player in the same settings, as a ratio of sums like the
    score itself."""
    new, possible = term(group)
    old: dict[bytes, list[float]] = {}
    if untrained is not None:
        scores, weights = term(untrained)
        for setting, value in zip(untrained.settings.tolist(), scores + 0 * weights, strict=True):
            if not np.isnan(value):
                old.setdefault(setting, []).append(float(value))
    past = [old.get(setting, [np.nan]) for setting in group.settings.tolist()]
    gain = new - np.array([sum(values) / len(values) for values in past])
    rows = ~np.isnan(gain + 0 * possible)
    if not rows.any() or possible[rows].sum() <= 0:
        return without_interval(None, 0, "t", "no untrained player met the same settings")
    return ratio_by_rule(gain[rows], possible[rows], _clusters(group)[rows])


def grid(cells: Sequence[TransferCell], of: str) -> tuple[list[str], list[str], list[list[Any]]]:
    """Return the names of rows and columns, and one field of each cell; None where nothing was
    tested."""
    rows = list(dict.fromkeys(cell.trained_on for cell in cells))
    columns = list(dict.fromkeys(cell.tested_on for cell in cells))
    values = {(cell.trained_on, cell.tested_on): getattr(cell, of) for cell in cells}
    return rows, columns, [[values.get((row, column)) for column in columns] for row in rows]
