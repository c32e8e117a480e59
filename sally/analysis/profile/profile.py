"""The knowing-doing profile: what each player knew, how it played and what it lost, by game.

Both axes have the same scale: 0 is an even guess or a random player, 1 is the maximum; the best
mindless predictor and player are marks on them. Doing counts every decision; forfeits count as the
rules prescribe. Intervals are 95%, by `sally.stats.cluster_interval`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import polars as pl

from sally.analysis.profile.baselines import Baseline
from sally.analysis.profile.columns import COLUMNS, ProfileColumn
from sally.analysis.profile.doing_scale import (
    BaselineScores,
    Mark,
    tops,
)
from sally.analysis.profile.estimates import Means, total
from sally.analysis.profile.group import ProfileGroup
from sally.analysis.profile.habits import Habit
from sally.analysis.profile.knowing_scale import Predictor
from sally.core.log.events import PlayerSpec, label
from sally.core.registry.packs import pack_name
from sally.frames import Row
from sally.frames.knowing import BINS
from sally.frames.profiles import Floats, SeatSums
from sally.frames.schema import COUNT, NUMBER, TEXT, Column
from sally.metrics.habits import LABEL
from sally.stats.intervals import Estimate


class CalibrationPoint(msgspec.Struct, frozen=True):
    """One point of a calibration curve."""

    forecast: float  # mean odds of the likeliest choice
    share: Estimate  # how often it came true
    n: int


class ProfileRow(msgspec.Struct, frozen=True):
    """One player in one game.

    The estimates of `sally.analysis.profile.columns.COLUMNS` are attributes of the row; `why` gives
    the reason for each that has no value.
    """

    family: str
    game: str
    cell: str  # empty: all cells of the game together
    part: str  # which of its episodes; empty: all
    seat: str
    player: str
    episodes: int
    censored: int
    moves: int
    forfeits: int
    guess: float | None  # accuracy of an even guess, in percent
    predictor: Predictor | None  # the best simple rule
    unread: float | None  # share of answers that could not be read, in percent
    even_brier: float | None  # Brier score of even odds
    calibration: tuple[CalibrationPoint, ...]
    metric: str  # what doing is measured by
    unit: str
    room: float | None  # between the ends, as a share of the range of payoffs
    random: Mark | None
    mindless: Mark | None
    reference: Mark | None
    judged: int  # moves that followed a prediction and have known best replies
    judged_fits: int  # of these, best replies
    habit: Habit | None  # the habit that explains most of it
    decides: float | None  # moves whose best reply depends on the prediction, in percent
    called: str  # what the player always does, such as pressing one key; empty: nothing
    clusters: str  # the unit that intervals are clustered by
    cluster_count: int
    arms: tuple[str, ...]  # of this game and seat in all episodes, for the checklist of claims
    estimates: dict[str, Estimate]  # by field of a column
    why: dict[str, str]  # by field, why it has no value
    # the best simple rule that the player is not shown to exceed; None: it exceeds all
    unbeaten: Predictor | None = None
    fixed_rule: Predictor | None = None  # the best of three fixed rules: 0 of *beyond rules*
    has_rounds: bool = False  # whether an episode has several moves after predictions
    predictions: int = 0  # that could be judged: knowing rests on these
    predictions_asked: int = 0  # the others were unreadable, or the round was void

    @property
    def results(self) -> int:
        """Number of episodes with a result."""
        return self.episodes - self.censored

    def __getattr__(self, field: str) -> Estimate:
        try:
            return self.estimates[field]
        except KeyError:
            raise AttributeError(f"a profile has no column {field!r}") from None


def profile_of(
    table: SeatSums,
    baselines: Sequence[Baseline] = (),
    *,
    by_cell: bool = False,
    name_of: Callable[[PlayerSpec], str] = label,
) -> list[ProfileRow]:
    """Return the profile rows of measured seats; `name_of` returns the name of a seat's player."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for kind in table.kinds():
        s = table.shared[kind]
        key = (s.family, s.game, s.cell if by_cell else "", s.seat, name_of(s.player_spec))
        groups.setdefault(key, []).append(kind)
    scores, arms = BaselineScores(baselines), _arms(table)
    order = sorted(groups, key=lambda key: key[:4])  # stable: players stay in order of appearance
    return [
        _row(key, part, group, scores, arms[key[1], key[3]])
        for key in order
        for part, group in _parts(table.take(np.isin(table.kind, groups[key])), scores)
    ]


def shown_columns(rows: Iterable[ProfileRow]) -> list[ProfileColumn]:
    """Return the columns of a full table: without those of a second asking if there is none."""
    are_repeated = any(row.reliability.value is not None for row in rows)
    return [column for column in COLUMNS if are_repeated or not column.only_if_repeated]


def _parts(group: SeatSums, scores: BaselineScores) -> list[tuple[str, SeatSums]]:
    """Return the episodes of a row as one part or, if the best score is known for only some of
    them, as two parts."""
    ended = ~np.isnan(group.of("least"))
    without = ended & np.isnan(tops(scores, group))
    if not without.any() or without.sum() == ended.sum():
        return [("", group)]
    solved = group.take(~without)
    return [("with a known optimum", solved), ("without a known optimum", group.take(without))]


def _arms(table: SeatSums) -> dict[tuple[str, str], tuple[str, ...]]:
    """Return, for each game and seat, the experimental arms that occur in the episodes."""
    arms_by_key: dict[tuple[str, str], set[str]] = {}
    layouts: dict[tuple[str, str], set[str]] = {}
    for kind in table.kinds():
        s = table.shared[kind]
        key, setup, params = (s.game, s.seat), s.setup, s.setup.instance.params
        arms = arms_by_key.setdefault(key, set())
        is_told = any(i.seat == s.seat for i in setup.injections)
        arms.add("asked" if setup.arms.get(s.seat) else "told" if is_told else "not asked")
        if pack_name(str(s.player_spec.params.get("pack", ""))).endswith("_twin"):
            arms.add("twin")
        layouts.setdefault(key, set()).add(repr((params.get("names"), params.get("order"))))
    sets: dict[tuple[str, str], set[str]] = {}
    distinct = table.rows.select("keys", "kind").unique()
    for s, row in SeatSums(distinct).rows_with_kinds("keys"):
        keys = msgspec.json.decode(row["keys"]) if row["keys"] else ()
        labels = {key.partition(" of ")[2] for key in keys if key.startswith(LABEL)}
        sets.setdefault((s.game, s.seat), set()).update(labels)
    for key, arms in arms_by_key.items():
        if len(layouts[key]) > 1 or len(sets.get(key, ())) > 1:
            arms.add("labels")
    return {key: tuple(sorted(arms)) for key, arms in arms_by_key.items()}


def _row(
    key: tuple[str, ...],
    part: str,
    seats: SeatSums,
    baselines: BaselineScores,
    arms: tuple[str, ...],
) -> ProfileRow:
    family, game, cell, seat, player = key
    group = ProfileGroup(game, seats, baselines)
    of, doing, habits = group.of, group.doing, group.habits
    scored, odds, answers = (total(of(field)) for field in ("scored", "with_odds", "asked"))
    estimates = {column.field: column.estimate(group) for column in COLUMNS}
    return ProfileRow(
        family=family,
        game=game,
        cell=cell,
        part=part,
        seat=seat,
        player=player,
        episodes=len(seats),
        censored=int(seats.is_censored.sum()),
        moves=int(of("moves").sum()),
        forfeits=int(of("forfeits").sum()),
        guess=100 * total(of("guess")) / scored if scored else None,
        predictor=group.skills.predictor,
        unbeaten=group.skills.unbeaten,
        fixed_rule=group.skills.fixed_rule,
        unread=100 * total(of("unread")) / answers if answers else None,
        even_brier=total(of("even_brier")) / odds if odds else None,
        calibration=tuple(_calibration(group.means)),
        metric=group.metric.name,
        unit=group.metric.unit or "share",
        room=doing.room,
        random=doing.random,
        mindless=doing.mindless,
        reference=doing.reference,
        judged=int(total(of("judged"))),
        predictions=int(total(of("scored"))),
        predictions_asked=int(total(of("asked"))),
        judged_fits=int(total(of("judged_fits"))),
        has_rounds=group.has_rounds,
        habit=habits.habit,
        decides=habits.decides,
        called=habits.called,
        clusters=group.means.unit,
        cluster_count=group.means.cluster_count,
        arms=arms,
        estimates=estimates,
        why={
            column.field: column.why(group)
            for column in COLUMNS
            if estimates[column.field].value is None and column.why(group)
        },
    )


def _calibration(means: Means) -> Iterator[CalibrationPoint]:
    for counts, forecasts, right in _bins(means.group):
        if n := total(counts):
            yield CalibrationPoint(total(forecasts) / n, means.share(right, counts), int(n))


def _bins(group: SeatSums) -> Iterator[tuple[Floats, Floats, Floats]]:
    """Yield, for each bin of stated odds, the answers, the sum of their odds and the right ones by
    row; nothing if no odds were stated."""
    if not group.of("with_odds").any():
        return
    codes, values = group.encode_json("bins")
    bins = np.array([value or np.zeros((BINS, 3)) for value in values])
    for place in range(BINS):
        counts, forecasts, right = bins[:, place].T
        yield counts[codes], forecasts[codes], right[codes]


# --- facts beside the estimates -------------------------------------------------------------------

ROLES = ("random", "mindless", "reference")


@dataclass(frozen=True, kw_only=True)
class FactColumn(Column):
    """A column of a profile that is not an estimate."""

    value: Callable[[ProfileRow], Any]


def _fact(type: pl.DataType, field: str, about: str) -> FactColumn:
    return FactColumn(field, about=about, type=type, value=lambda row: getattr(row, field))


def _mark(role: str, field: str, about: str) -> FactColumn:
    def value(row: ProfileRow) -> Any:
        mark = getattr(row, role)
        return None if mark is None else getattr(mark, field)

    name, type = (role, TEXT) if field == "player" else (f"{role}_{field}", NUMBER)
    return FactColumn(name, about=about.format(role), type=type, value=value)


FACTS: tuple[FactColumn, ...] = (
    _fact(TEXT, "family", "family of the game"),
    _fact(TEXT, "game", "name of the game"),
    _fact(TEXT, "cell", "cell of the study; empty: all cells together"),
    _fact(TEXT, "part", "which of its episodes; empty: all"),
    _fact(TEXT, "seat", "seat of the player"),
    _fact(TEXT, "player", "the player"),
    _fact(TEXT, "metric", "what doing is measured by"),
    _fact(TEXT, "unit", "unit of the metric"),
    _fact(TEXT, "clusters", "unit that intervals are clustered by"),
    FactColumn(
        "predictor", about="best simple rule", type=TEXT,
        value=lambda row: row.predictor and row.predictor.rule,
    ),
    _fact(COUNT, "episodes", "episodes"),
    _fact(COUNT, "censored", "episodes without a result"),
    _fact(COUNT, "moves", "moves"),
    _fact(COUNT, "forfeits", "forfeited moves"),
    _fact(NUMBER, "guess", "accuracy of a uniform guess, in percent"),
    FactColumn(
        "predictor_accuracy", about="accuracy of the best simple rule, in percent",
        value=lambda row: row.predictor and row.predictor.accuracy,
    ),
    _fact(NUMBER, "unread", "answers that could not be read, in percent"),
    _fact(NUMBER, "even_brier", "Brier score of even odds"),
    _fact(NUMBER, "room", "distance of the ends of doing, as a share of the range of payoffs"),
    *(
        _mark(role, field, about)
        for role in ROLES
        for field, about in (
            ("player", "{} player"),
            ("value", "score of the {} player"),
            ("doing", "doing of the {} player"),
            ("accuracy", "accuracy of the {} player, in percent"),
        )
    ),
    FactColumn(
        "standing", about="whether the reference cannot be beaten", type=TEXT,
        value=lambda row: row.reference and row.reference.standing,
    ),
    FactColumn(
        "blank", about="why estimates are missing", type=pl.String(),
        value=lambda row: "; ".join(f"{field}: {reason}" for field, reason in row.why.items()),
    ),
)  # fmt: skip


def flat_columns() -> tuple[Column, ...]:
    """Return the columns of a profile with one number each: facts, then estimates with bounds."""
    bounds = ((c.field, f"{c.field}_low", f"{c.field}_high") for c in COLUMNS)
    return (*FACTS, *(Column(name) for names in bounds for name in names))


def flat_row(row: ProfileRow) -> Row:
    """Return a row of a profile with one value per column."""
    flat = {fact.field: fact.value(row) for fact in FACTS}
    for field, estimate in row.estimates.items():
        flat |= {
            field: estimate.value,
            f"{field}_low": estimate.low,
            f"{field}_high": estimate.high,
        }
    return flat
