"""Knowing with what takes no mind taken off: over an even guess, and over the best such rule."""

from __future__ import annotations

import msgspec
import numpy as np

from sally.analysis.columns.measured_table import Floats, Table
from sally.analysis.profile.estimates import Means, or_missing, total
from sally.analysis.profile.knowing import AGAIN, MIRROR, SAME, constant_hits, frequency_brier
from sally.stats import Estimate
from sally.stats.intervals import without_interval

LEAST = 0.05  # of all answers: with less left to know beyond a mindless rule there is no scale


class Predictor(msgspec.Struct, frozen=True):
    """The best rule that foresees others without a mind for them, on the row's own questions."""

    rule: str
    accuracy: float  # in percent
    skill: float | None  # with an even guess at 0


class Skills(msgspec.Struct, frozen=True):
    """Accuracy and Brier score of a row, each over two floors."""

    skill: Estimate
    predictor: Predictor | None
    beyond: Estimate
    brier_skill: Estimate
    brier_beyond: Estimate


def skills(means: Means) -> Skills:
    """Each is a sum above the floor over the sum that there was above it; 1 is all there is."""
    table = means.group
    hits = _hits(table)
    rule = max(hits, key=lambda name: total(hits[name])) if hits else ""
    floor = hits.get(rule, np.zeros(len(table)))
    return Skills(
        skill=_over(means, table.of("guess")),
        predictor=_predictor(table, rule, floor) if rule else None,
        beyond=_over(means, floor, LEAST),
        brier_skill=_brier(means, table.of("even_brier")),
        brier_beyond=_brier(means, _frequencies(table)),
    )


def _company(table: Table) -> list[str]:
    """By row, who else sat there."""
    said = []
    for shared in table.shared:
        others = {s: w for s, w in shared.setup.lineup.items() if s != shared.seat}
        plain = {seat: (who.player, who.params) for seat, who in others.items()}
        said.append(msgspec.json.encode(plain, order="sorted").decode())
    return [said[kind] for kind in table.kind.tolist()]


def _hits(table: Table) -> dict[str, Floats]:
    """By rule, what it would have right in each row."""
    scored = table.of("scored")
    if not scored.any():
        return {}
    truths = [table.counts[n] for n in table.truths.tolist()]
    guess = table.of("guess").tolist()
    same = constant_hits(truths, guess, scored.tolist(), _company(table))
    return {name: table.of(name) for name in (AGAIN, MIRROR)} | {SAME: np.array(same)}


def _frequencies(table: Table) -> Floats:
    if not table.of("with_odds").any():
        return np.zeros(len(table))
    truths = [table.counts[n] for n in table.sure.tolist()]
    return np.array(frequency_brier(truths, _company(table)))


def _over(means: Means, floor: Floats, least: float = 0.0) -> Estimate:
    """What was right above a floor, over what there was above it."""
    table = means.group
    scored, right = table.of("scored"), table.of("right")
    every, under = total(scored), total(floor)
    left = every - under
    if not every or left <= least * every:
        return without_interval(None, 0, "t", "nothing is left to know")
    known = or_missing(scored)
    return means.ratio(np.where(scored == 0, np.nan, right - floor), known - floor,
                       (-under / left, 1.0))  # fmt: skip


def _brier(means: Means, floor: Floats) -> Estimate:
    """1 less the Brier score over that of the floor."""
    table = means.group
    odds = table.of("with_odds")
    if not odds.any() or total(floor) <= 1e-9:
        return without_interval(None, 0, "t", "nothing to compare with")
    stated = np.where(odds == 0, np.nan, floor)
    return means.ratio(stated - table.of("brier"), stated)


def _predictor(table: Table, rule: str, floor: Floats) -> Predictor:
    scored, guess, right = (
        total(column) for column in (table.of("scored"), table.of("guess"), floor)
    )
    skill = (right - guess) / (scored - guess) if scored > guess else None
    return Predictor(rule, 100 * right / scored, skill)
