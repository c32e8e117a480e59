"""Knowing with what takes no mind taken off: over an even guess, and over the best such rule."""

from __future__ import annotations

import msgspec

from sally.analysis.knowing import AGAIN, MIRROR, SAME, constant_hits, frequency_brier
from sally.analysis.measured import Measured
from sally.analysis.profile_estimates import Means
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
    hits = _hits(means)
    rule = max(hits, key=lambda name: sum(hits[name].values())) if hits else ""
    floor = hits.get(rule, {})
    freely = {m.episode: x for m, x in zip(means.group, _frequencies(means), strict=True)}
    return Skills(
        skill=_over(means, {m.episode: m.knowing.guess for m in means.group}),
        predictor=_predictor(means, rule, floor) if rule else None,
        beyond=_over(means, floor, LEAST),
        brier_skill=_brier(means, {m.episode: m.knowing.even_brier for m in means.group}),
        brier_beyond=_brier(means, freely),
    )


def _company(m: Measured) -> str:
    others = {s: (who.player, who.params) for s, who in m.setup.lineup.items() if s != m.seat}
    return msgspec.json.encode(others, order="sorted").decode()


def _hits(means: Means) -> dict[str, dict[str, float]]:
    """By rule and episode, what it would have right."""
    group = means.group
    if not sum(m.knowing.scored for m in group):
        return {}
    found = {
        name: {m.episode: m.knowing.mindless.get(name, m.knowing.guess) for m in group}
        for name in (AGAIN, MIRROR)
    }
    same = constant_hits([m.knowing for m in group], [_company(m) for m in group])
    return found | {SAME: {m.episode: x for m, x in zip(group, same, strict=True)}}


def _frequencies(means: Means) -> list[float]:
    group = means.group
    return frequency_brier([m.knowing for m in group], [_company(m) for m in group])


def _over(means: Means, floor: dict[str, float], least: float = 0.0) -> Estimate:
    """What was right above a floor, over what there was above it."""
    scored = sum(m.knowing.scored for m in means.group)
    left = scored - sum(floor.values())
    if not scored or left <= least * scored:
        return without_interval(None, 0, "t", "nothing is left to know")
    ends = (-sum(floor.values()) / left, 1.0)
    return means.ratio(
        lambda m: m.knowing.right - floor[m.episode] if m.knowing.scored else None,
        lambda m: m.knowing.scored - floor[m.episode] if m.knowing.scored else None,
        ends,
    )


def _brier(means: Means, floor: dict[str, float]) -> Estimate:
    """1 less the Brier score over that of the floor."""
    odds = sum(m.knowing.with_odds for m in means.group)
    if not odds or sum(floor.values()) <= 1e-9:
        return without_interval(None, 0, "t", "nothing to compare with")
    return means.ratio(
        lambda m: floor[m.episode] - m.knowing.brier if m.knowing.with_odds else None,
        lambda m: floor[m.episode] if m.knowing.with_odds else None,
    )


def _predictor(means: Means, rule: str, floor: dict[str, float]) -> Predictor:
    scored = sum(m.knowing.scored for m in means.group)
    guess = sum(m.knowing.guess for m in means.group)
    right = sum(floor.values())
    skill = (right - guess) / (scored - guess) if scored > guess else None
    return Predictor(rule, 100 * right / scored, skill)
