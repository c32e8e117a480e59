"""The knowing-doing profile: what each player knew, how it played and what it lost, by game.

Both axes have the same scale: 0 is an even guess or a random player, 1 is the maximum; the best
mindless predictor and player are marks on them. Doing counts every decision; forfeits count as the
rules prescribe. Intervals are 95%, by `sally.stats.cluster_interval`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import inf
from typing import Any

import msgspec
import numpy as np

from sally.analysis.columns.measured import MeasuredSeat
from sally.analysis.columns.measured_table import MeasuredTable, table_of
from sally.analysis.profile.baselines import Baseline
from sally.analysis.profile.bounds import enclosing, instance_bounds, key_of
from sally.analysis.profile.doing_scale import (
    BaselineScores,
    Mark,
    ScaledDoing,
    scaled,
    tops,
)
from sally.analysis.profile.estimates import Means, clusters_of, or_missing, total
from sally.analysis.profile.habits import Habit, habit_estimates
from sally.analysis.profile.knowing import BINS
from sally.analysis.profile.knowing_scale import Predictor, Skills, skills
from sally.core.log.events import PlayerSpec, label
from sally.core.registry import registry
from sally.core.rules.metric import Metric
from sally.metrics.habits import LABEL
from sally.stats.cluster_interval import Bounds
from sally.stats.intervals import Estimate


class CalibrationPoint(msgspec.Struct, frozen=True):
    """One point of a calibration curve."""

    forecast: float  # mean odds of the likeliest choice
    share: Estimate  # how often it came true
    n: int


class ProfileRow(msgspec.Struct, frozen=True):
    """One player in one game; `why` gives the reason for each estimate without a value."""

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
    accuracy: Estimate  # of predictions about others, in percent
    guess: float | None  # accuracy of an even guess, in percent
    skill: Estimate  # accuracy, with an even guess at 0
    predictor: Predictor | None  # the best mindless one
    beyond: Estimate  # accuracy, with that predictor at 0
    unread: float | None  # share of answers that could not be read, in percent
    brier: Estimate
    even_brier: float | None  # Brier score of even odds
    brier_skill: Estimate  # with even odds at 0
    brier_beyond: Estimate  # with the frequencies of the answers at 0
    calibration: tuple[CalibrationPoint, ...]
    value_error: Estimate  # of value reports, in points of their scale
    metric: str  # what doing is measured by
    unit: str
    raw: Estimate  # doing in that unit, forfeited decisions counted as the rules say
    doing: Estimate  # 0: the random player, 1: the optimum or the reference player
    doing_most: Estimate  # with forfeited decisions at the best they could have earned
    regret: Estimate  # distance to the upper end, in the unit
    room: float | None  # between the ends, as a share of the range of payoffs
    random: Mark | None
    mindless: Mark | None
    reference: Mark | None
    judged: int  # moves that followed a prediction and have known best replies
    judged_fits: int  # of these, best replies
    consistency: Estimate  # moves that are best replies to the player's own prediction, in percent
    acting: Estimate  # the same, with a uniformly random pick at 0
    acting_beyond: Estimate  # the same, with the player's own habits at 0
    acting_beyond_move: Estimate  # the same, with always the same move among the habits
    acting_beyond_repetition: Estimate  # the same, with its own last move among the habits, too
    habit: Habit | None  # the habit that explains most of it
    decides: float | None  # moves whose best reply depends on the prediction, in percent
    pooled_label_bias: Estimate  # moves with the favourite label, with a uniformly random pick at 0
    pooled_position_bias: Estimate  # moves at the favourite position of the page, likewise
    pooled_imitation: Estimate  # moves with the label that was predicted of the other, in percent
    pooled_copying: Estimate  # moves with the label of the other's last move, in percent
    pooled_repetition: Estimate  # moves with the label of its own last move, in percent
    called: str  # what the player always does, such as pressing one key; empty: nothing
    inference: Estimate
    translation: Estimate
    format: Estimate
    luck: Estimate
    why: dict[str, str]  # by field, why it has no value
    clusters: str  # the unit that intervals are clustered by
    cluster_count: int
    arms: tuple[str, ...]  # of this game and seat in all episodes, for the checklist of claims


def profile_of(
    studied: Iterable[MeasuredSeat],
    baselines: Sequence[Baseline] = (),
    *,
    by_cell: bool = False,
    named: Callable[[PlayerSpec], str] = label,
) -> list[ProfileRow]:
    """Return the profile rows of measured seats; `named` returns the name of a seat's player."""
    table = table_of(studied if isinstance(studied, Sequence) else list(studied))
    groups: dict[tuple[str, ...], list[int]] = {}
    for kind in table.kinds():
        s = table.shared[kind]
        key = (s.family, s.game, s.cell if by_cell else "", s.seat, named(s.player_spec))
        groups.setdefault(key, []).append(kind)
    met, arms = BaselineScores(baselines), _arms(table)
    order = sorted(groups, key=lambda key: key[:4])  # stable: players stay in order of appearance
    return [
        _row(key, part, group, met, arms[key[1], key[3]])
        for key in order
        for part, group in _parts(table.take(np.isin(table.kind, groups[key])), met)
    ]


def _parts(group: MeasuredTable, met: BaselineScores) -> list[tuple[str, MeasuredTable]]:
    """Return the episodes of a row as one part or, if the best score is known for only some of
    them, as two parts."""
    ended = ~np.isnan(group.of("least"))
    without = ended & np.isnan(tops(met, group))
    if not without.any() or without.sum() == ended.sum():
        return [("", group)]
    known = group.take(~without)
    return [("with a known optimum", known), ("without a known optimum", group.take(without))]


def _arms(table: MeasuredTable) -> dict[tuple[str, str], tuple[str, ...]]:
    """Return, for each game and seat, the experimental arms that occur in the episodes."""
    found: dict[tuple[str, str], set[str]] = {}
    shown: dict[tuple[str, str], set[str]] = {}
    for kind in table.kinds():
        s = table.shared[kind]
        key, setup, params = (s.game, s.seat), s.setup, s.setup.instance.params
        arms = found.setdefault(key, set())
        told = any(i.seat == s.seat for i in setup.injections)
        arms.add("asked" if setup.arms.get(s.seat) else "told" if told else "not asked")
        pack = str(s.player_spec.params.get("pack", ""))
        if pack.endswith("_twin"):
            arms.add("twin")
        shown.setdefault(key, set()).add(repr((params.get("names"), params.get("order"))))
    sets: dict[tuple[str, str], set[str]] = {}
    for code, kind in {*zip(table.keys.tolist(), table.kind.tolist(), strict=True)}:
        s = table.shared[kind]
        labels = {key.partition(" of ")[2] for key in table.pressed[code] if key.startswith(LABEL)}
        sets.setdefault((s.game, s.seat), set()).update(labels)
    for key, arms in found.items():
        if len(shown[key]) > 1 or len(sets.get(key, ())) > 1:
            arms.add("labels")
    return {key: tuple(sorted(arms)) for key, arms in found.items()}


def _row(
    key: tuple[str, ...],
    part: str,
    group: MeasuredTable,
    met: BaselineScores,
    arms: tuple[str, ...],
) -> ProfileRow:
    unit, name = clusters_of(group)
    means = Means(group, unit)
    metric = registry.entries("metrics")[group.shared[group.kind[0]].metric]
    row = ProfileRow(
        family=key[0],
        game=key[1],
        cell=key[2],
        part=part,
        seat=key[3],
        player=key[4],
        episodes=len(group),
        censored=int((group.censored > 0).sum()),
        moves=int(group.of("moves").sum()),
        forfeits=int(group.of("forfeits").sum()),
        **_knowing(means, skills(means)),
        metric=metric.name,
        unit=metric.unit or "share",
        raw=means.mean(group.of("least"), _ends(metric, group)),
        **_doing(found := scaled(means, met)),
        **_acting(means),
        **msgspec.structs.asdict(habit_estimates(means)),
        why={},
        clusters=name,
        cluster_count=len(np.unique(np.asarray(unit))),
        arms=arms,
    )
    return msgspec.structs.replace(row, why=_reasons(row, group, found.why, found.why_regret))


def _ends(metric: Metric, group: MeasuredTable) -> Bounds | None:
    """Return bounds that enclose the metric's raw values in all games of these rows."""
    if metric.ends is not None:
        return metric.ends
    kinds = (group.shared[kind] for kind in group.kinds())
    apart = {(s.setup.instance.id, s.seat): s.setup.instance for s in kinds}
    return enclosing(
        instance_bounds(metric.name, key_of(i), seat) for (_, seat), i in apart.items()
    )


def _knowing(means: Means, found: Skills) -> dict[str, Any]:
    of = means.group.of
    scored, odds, asked = (total(of(name)) for name in ("scored", "with_odds", "asked"))
    return {
        "accuracy": means.share(100 * of("right"), of("scored"), most=100.0),
        "guess": 100 * total(of("guess")) / scored if scored else None,
        "skill": found.skill,
        "predictor": found.predictor,
        "beyond": found.beyond,
        "unread": 100 * total(of("unread")) / asked if asked else None,
        # means over episodes, as the metrics of the same names
        "brier": means.mean(of("brier") / or_missing(of("with_odds")), (0.0, 2.0)),
        "even_brier": total(of("even_brier")) / odds if odds else None,
        "brier_skill": found.brier_skill,
        "brier_beyond": found.brier_beyond,
        "calibration": tuple(_calibration(means)),
        "value_error": means.mean(of("value_error") / or_missing(of("valued")), (0.0, inf)),
    }


def _doing(found: ScaledDoing) -> dict[str, Any]:
    fields = ("doing", "doing_most", "regret", "room", "random", "mindless", "reference")
    return {name: getattr(found, name) for name in fields}


def _acting(means: Means) -> dict[str, Any]:
    of = means.group.of
    chance = of("chance")
    return {
        "judged": int(total(of("judged"))),
        "judged_fits": int(total(of("judged_fits"))),
        "consistency": means.share(100 * of("fits"), of("n"), most=100.0),
        "acting": means.ratio(of("weighed_fits") - chance, or_missing(of("weighed") - chance)),
        "inference": means.mean(of("inference")),
        "translation": means.mean(of("translation"), (0.0, inf)),
        "format": means.mean(of("format")),
        "luck": means.mean(of("luck")),
    }


def _calibration(means: Means) -> Iterator[CalibrationPoint]:
    bins = means.group.bins
    for place in range(BINS if bins is not None else 0):
        assert bins is not None
        many, forecasts, right = (bins[:, place, part] for part in range(3))
        if n := total(many):
            yield CalibrationPoint(total(forecasts) / n, means.share(right, many), int(n))


# --- why a number is missing ----------------------------------------------------------------------


def _reasons(
    row: ProfileRow, group: MeasuredTable, no_doing: str, no_regret: str
) -> dict[str, str]:
    """Return, for each field without a value, the reason in a few words."""
    asked, chosen = (int(group.of(name).sum()) for name in ("asked", "scored"))
    no_answer = _no_answer(group, asked)
    no_split = _no_split(row.game, no_answer, bool(chosen or not asked))
    no_skill = no_answer if not asked or chosen else "only values were asked for"
    no_odds = "no odds were stated" if asked else no_answer
    no_keys = "no move was chosen from a short menu"
    found = {
        "accuracy": no_skill,
        "skill": no_skill,
        "beyond": no_skill if row.predictor is None else _no_beyond(row.predictor),
        "brier": no_odds,
        "brier_skill": no_odds,
        "brier_beyond": no_odds,
        "value_error": "no values were asked for that have a known truth",
        "raw": "no episode has a result",
        "doing": no_doing,
        "doing_most": no_doing or "the most that was possible is not known",
        "regret": no_regret,
        "consistency": no_split,
        "acting": no_split if not group.of("n").any() else "moves are free text",
        "acting_beyond": no_split if row.habit is None else _no_acting_beyond(row.habit),
        "acting_beyond_move": no_split if row.habit is None else "one move explains all of it",
        "acting_beyond_repetition": no_split
        if row.habit is None
        else "one move, or its own last move, explains all of it",
        "pooled_label_bias": no_keys,
        "pooled_position_bias": no_keys,
        "pooled_imitation": no_keys
        if row.pooled_label_bias.value is None
        else "no label was predicted",
        "pooled_copying": no_keys
        if row.pooled_label_bias.value is None
        else "no label of the other is known",
        "pooled_repetition": no_keys
        if row.pooled_label_bias.value is None
        else "no episode has a second move",
        "inference": no_split,
        "translation": no_split,
        "luck": no_split,
        "format": f"what a forfeited move costs is not known in {row.game}",
    }
    return {name: why for name, why in found.items() if getattr(row, name).value is None}


def _no_answer(group: MeasuredTable, asked: int) -> str:
    if not asked:
        kinds = (group.shared[kind] for kind in group.kinds())
        silent = any(shared.setup.arms.get(shared.seat) for shared in kinds)
        if silent:
            return "these problems have no probe about another's mind, or the player answers none"
        return "nothing was asked about another's mind"
    unread = int(group.of("unread").sum()) == asked
    return "no answer could be read" if unread else "no answer has a known truth"


def _no_split(game: str, no_answer: str, scored: bool) -> str:
    spec = registry.game(game)
    if spec.measured.doing.no_split:
        return spec.measured.doing.no_split
    own = registry.part(game, "losses") or registry.part(game, "acting")
    if spec.measured.best_replies is None and own is None:
        return f"{game} does not say what the best replies are"
    return "no decision has a prediction that can be scored" if scored else no_answer


def _no_beyond(best: Predictor) -> str:
    return f"nothing is left to know: '{best.rule}' foresees {best.accuracy:.0f} %"


def _no_acting_beyond(best: Habit) -> str:
    return f"nothing is left to explain: {best.rule} fits in {best.fits:.0f} %"
