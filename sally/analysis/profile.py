"""The knowing-doing profile: per player and game, what it knew, what it did, where it lost.

Knowing is the accuracy of predictions about others. Doing is where a player stands between the
best mindless player (0) and the optimum or the reference (1) on the same settings: the sum of what
it got above the mindless one, over the sum of what there was to get. Intervals are 95%, from
resampling whole clusters of episodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Literal

import msgspec

from sally.analysis.measured import MINDS, Baseline, Measured, measured
from sally.analysis.profile_estimates import RESAMPLES, Boot, clusters_of, judged
from sally.core import shelf
from sally.core.log import Episode, label
from sally.stats import Estimate, clustered_ratio_interval
from sally.stats.intervals import without_interval

SEED = 1  # of the bootstrap: the same episodes give the same intervals
OPTIMUM = "optimum"  # exact, from the partner's automaton: nobody's name

Standing = Literal["exact", "best known"]


class Mark(msgspec.Struct, frozen=True):
    """A player to compare with, where the row's own episodes were played."""

    player: str
    value: float  # in the unit of doing
    accuracy: float | None  # of its predictions, in percent
    standing: Standing | None  # of an optimum or a reference: whether nobody can do better
    stored: int  # of its episodes, so many were found
    played: int  # and so many were played for this comparison


class Point(msgspec.Struct, frozen=True):
    """One point of a calibration curve."""

    forecast: float  # mean odds of the likeliest choice
    share: Estimate  # how often it came true
    n: int


class ProfileRow(msgspec.Struct, frozen=True):
    """One player in one game; an estimate without a value says in `why` why it has none."""

    family: str
    game: str
    cell: str  # empty: all cells of the game together
    seat: str
    player: str
    episodes: int
    censored: int
    moves: int
    forfeits: int
    accuracy: Estimate  # of predictions about others, in percent
    guess: float | None  # the accuracy of an even guess, in percent
    unread: float | None  # share of answers that could not be read, in percent
    brier: Estimate
    even_brier: float | None  # of even odds
    calibration: tuple[Point, ...]
    value_error: Estimate  # of value reports, in points of their scale
    metric: str  # what doing is measured by
    unit: str
    raw: Estimate  # doing in that unit
    doing: Estimate  # 0: as the best mindless player, 1: as the optimum or the reference
    mindless: Mark | None
    reference: Mark | None
    inference: Estimate
    translation: Estimate
    format: Estimate
    horizon: Estimate
    why: dict[str, str]  # by field, why it is blank
    clusters: str  # what was resampled


def profile_rows(
    episodes: Iterable[Episode],
    baselines: Sequence[Baseline] = (),
    *,
    seats: Mapping[str, Iterable[str]] | None = None,
    by_cell: bool = False,
    seed: int = SEED,
) -> list[ProfileRow]:
    """One row for each player, game and seat; `seats` by game, all of them unless named."""
    found = [m for episode in episodes for m in measured(episode)]
    if seats is not None:
        found = [m for m in found if m.seat in seats.get(m.game, ())]
    return profile_of(found, baselines, by_cell=by_cell, seed=seed)


def profile_of(
    studied: Iterable[Measured],
    baselines: Sequence[Baseline] = (),
    *,
    by_cell: bool = False,
    seed: int = SEED,
) -> list[ProfileRow]:
    """The rows of seats that are measured already."""
    groups: dict[tuple[str, ...], list[Measured]] = {}
    for m in studied:
        who = label(m.setup.lineup[m.seat])
        groups.setdefault((m.family, m.game, m.cell if by_cell else "", m.seat, who), []).append(m)
    met: dict[tuple[str, str], list[Baseline]] = {}
    for b in baselines:
        met.setdefault((b.role, b.measured.setting), []).append(b)
    order = sorted(groups, key=lambda key: key[:4])  # stable: players stay in order of appearance
    return [_row(key, groups[key], met, seed) for key in order]


Met = Mapping[tuple[str, str], Sequence[Baseline]]


def _row(key: tuple[str, ...], group: Sequence[Measured], met: Met, seed: int) -> ProfileRow:
    family, game, cell, seat, player = key
    unit, name = clusters_of(group)
    boot = Boot(group, unit, seed)
    known = [m.knowing for m in group]
    scored, odds = sum(k.scored for k in known), sum(k.with_odds for k in known)
    asked = sum(k.asked for k in known)
    mindless, reference = _marks(group, met)
    metric = shelf.shelf("metrics")[group[0].metric]
    raw = boot.mean(lambda m: m.doing, metric.bounds and metric.bounds[1])
    doing, no_doing = _doing(boot, met, mindless, reference)
    doing = _on_the_scale(doing, raw, mindless, reference)
    row = ProfileRow(
        *(family, game, cell, seat, player),
        episodes=len(group),
        censored=sum(bool(m.censored) for m in group),
        moves=sum(m.moves for m in group),
        forfeits=sum(m.forfeits for m in group),
        accuracy=boot.ratio(lambda m: 100 * m.knowing.right, lambda m: m.knowing.scored, 100),
        guess=100 * sum(k.guess for k in known) / scored if scored else None,
        unread=100 * sum(k.unread for k in known) / asked if asked else None,
        brier=boot.ratio(lambda m: m.knowing.brier, lambda m: m.knowing.with_odds),
        even_brier=sum(k.even_brier for k in known) / odds if odds else None,
        calibration=tuple(_calibration(boot)),
        value_error=boot.ratio(lambda m: m.knowing.value_error, lambda m: m.knowing.valued),
        metric=metric.name,
        unit=metric.unit or "share",
        raw=raw,
        doing=doing,
        mindless=mindless,
        reference=reference,
        inference=boot.mean(lambda m: m.terms.inference),
        translation=boot.mean(lambda m: m.terms.translation),
        format=boot.mean(lambda m: m.terms.format),
        horizon=boot.mean(lambda m: m.terms.horizon),
        why={},
        clusters=name,
    )
    return msgspec.structs.replace(row, why=_why(row, group, no_doing))


# --- calibration ---------------------------------------------------------------------------------


def _calibration(boot: Boot) -> Iterator[Point]:
    curves = [m.knowing.bins for m in boot.group if m.knowing.bins]
    for place in range(len(curves[0]) if curves else 0):
        n = sum(curve[place][0] for curve in curves)
        if n:
            yield Point(
                sum(curve[place][1] for curve in curves) / n,
                boot.ratio(*_at(place), most=1.0),
                n,
            )


def _at(place: int) -> tuple[Callable[[Measured], float], Callable[[Measured], float]]:
    """How many forecasts of a bin came true, and how many there were."""
    return (
        lambda m: m.knowing.bins[place][2] if m.knowing.bins else 0.0,
        lambda m: m.knowing.bins[place][0] if m.knowing.bins else 0.0,
    )


# --- between the mindless and the best ------------------------------------------------------------


def _at_setting(met: Met, role: str, m: Measured) -> float | None:
    """What a baseline got in the setting of this episode."""
    got = [b.measured.doing for b in met.get((role, m.setting), ())]
    values = [value for value in got if value is not None]
    return sum(values) / len(values) if values else None


def _top(met: Met, m: Measured) -> float | None:
    return m.optimum if m.optimum is not None else _at_setting(met, "reference", m)


def _marks(group: Sequence[Measured], met: Met) -> tuple[Mark | None, Mark | None]:
    done = [m for m in group if m.doing is not None]
    known = [m for m in done if m.optimum is not None]
    reference = _mark(done, met, "reference")
    if done and len(known) == len(done):
        mean = sum(m.optimum or 0.0 for m in known) / len(known)
        reference = Mark(OPTIMUM, mean, None, "exact", 0, 0)
    return _mark(done, met, "mindless"), reference


def _mark(group: Sequence[Measured], met: Met, role: str) -> Mark | None:
    there = [b for m in group for b in met.get((role, m.setting), ())]
    got = [(b, b.measured.doing) for b in there if b.measured.doing is not None]
    if not got:
        return None
    first = got[0][0].measured
    bounds = shelf.shelf("metrics")[first.metric].bounds
    most = bounds and bounds[1]
    standing: Standing | None = None
    if role == "reference":
        standing = "exact" if all(value == most for _, value in got) else "best known"
    scored = sum(b.measured.knowing.scored for b in there)
    right = sum(b.measured.knowing.right for b in there)
    return Mark(
        player=label(first.setup.lineup[first.seat]),
        value=sum(value for _, value in got) / len(got),
        accuracy=100 * right / scored if scored else None,
        standing=standing,
        stored=sum(b.stored for b in there),
        played=sum(not b.stored for b in there),
    )


def _doing(
    boot: Boot, met: Met, mindless: Mark | None, reference: Mark | None
) -> tuple[Estimate, str]:
    """Where the player stands between the two, and why that is not defined if it is not."""
    blank = without_interval(None, 0, "clustered bootstrap", "not defined")
    if all(m.doing is None for m in boot.group):
        return blank, "no episode has a result"
    if mindless is None:
        return blank, _no_mindless(boot.group)
    if reference is None:
        return blank, "neither an optimum nor a reference player is known on these settings"
    spans: dict[str, tuple[float, float]] = {}  # by episode: what was got, and could be had
    for m in boot.group:
        low, high = _at_setting(met, "mindless", m), _top(met, m)
        if m.doing is not None and low is not None and high is not None:
            spans[m.episode] = (m.doing - low, high - low)
    there = [m for m in boot.group if m.episode in spans]
    room = Boot(there, boot.unit, boot.seed).mean(lambda m: spans[m.episode][1])
    if room.value is None or (room.value if room.low is None else room.low) <= 1e-9:
        return blank, _no_room(room, mindless, reference)
    units = [boot.unit(m) for m in there]
    estimate = clustered_ratio_interval(  # episodes without room count with what they got
        [spans[m.episode][0] for m in there],
        [spans[m.episode][1] for m in there],
        units,
        seed=boot.seed,
        resamples=RESAMPLES,
        method="expanded",
    )
    return judged(estimate, None, len(set(units))), ""


def _on_the_scale(
    doing: Estimate, raw: Estimate, mindless: Mark | None, reference: Mark | None
) -> Estimate:
    """Where a score is all or nothing, its interval carried over to the scale."""
    low, high = raw.low, raw.high
    if not (mindless and reference and raw.method.startswith("Wilson") and low is not None):
        return doing
    room = reference.value - mindless.value
    if doing.value is None or doing.low is None or high is None or room <= 0:
        return doing
    ends = [(end - mindless.value) / room for end in (low, high)]
    return Estimate(doing.value, min(ends[0], doing.low), max(ends[1], doing.high or ends[1]),
                    doing.n, raw.method)  # fmt: skip


def _no_mindless(group: Sequence[Measured]) -> str:
    across = (m.setup.lineup[s] for m in group for s in m.setup.lineup if s != m.seat)
    if any(who.player in MINDS for who in across):
        return "a model or a person sits across, with whom no mindless player was played"
    return "no mindless player was played on these settings"


def _no_room(room: Estimate, mindless: Mark, reference: Mark) -> str:
    """A scale needs two ends: without clear room between them, it would stretch noise."""
    if room.value is None or room.value <= 1e-9:
        return f"no room: {mindless.player} does as well as {_end(reference)} here"
    return f"no clear room: {_end(reference)} is not reliably better than {mindless.player} here"


def _end(reference: Mark) -> str:
    return "the optimum" if reference.player == OPTIMUM else reference.player


# --- blanks ---------------------------------------------------------------------------------------


def _why(row: ProfileRow, group: Sequence[Measured], no_doing: str) -> dict[str, str]:
    """By blank field, the reason in a few words."""
    asked = sum(m.knowing.asked for m in group)
    chosen = sum(m.knowing.scored for m in group)
    spec = shelf.game(row.game)
    silent = any(m.setup.arms.get(m.seat) for m in group)
    no_answer = (
        ("it takes no such question" if silent else "nothing was asked about another's mind")
        if not asked
        else "no answer could be read"
        if sum(m.knowing.unread for m in group) == asked
        else "no answer has a known truth"
    )
    no_split = (
        f"{row.game} does not say what the best replies are"
        if spec.best_replies is None
        else "no decision has a prediction that can be scored"
        if chosen or not asked
        else no_answer
    )
    no_horizon = (
        "every decision stands alone"
        if spec.doing.right is not None
        else "the optimum of the whole episode is not known"
    )
    reasons = {
        "accuracy": no_answer if not asked or chosen else "only values were asked for",
        "brier": "no odds were stated" if asked else no_answer,
        "value_error": "no values were asked for that have a known truth",
        "raw": "no episode has a result",
        "doing": no_doing,
        "inference": no_split,
        "translation": no_split,
        "format": f"what a forfeited move costs is not known in {row.game}",
        "horizon": no_horizon,
    }
    return {name: why for name, why in reasons.items() if getattr(row, name).value is None}
