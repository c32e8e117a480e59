"""Doing on a fixed scale: 0 is the uniform random player, 1 the optimum or the reference player.

Both ends come from the same problems with the same other players. The zero is the expectation of
the random player: exact where the game computes it (`Metric.at_random`), else the mean of many
draws, whose standard error widens every interval on the scale. The best mindless player is a mark
on the scale, never its zero: it shows what a player can score without modelling others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import inf, isfinite
from typing import Literal, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from sally.analysis.bounds import instance_bounds, key_of
from sally.analysis.profile.baselines import Baseline, exactly_random
from sally.analysis.profile.estimates import Means, total
from sally.core.log.events import label
from sally.core.registry import registry
from sally.frames.measured_seat import SeatKind, is_mind
from sally.frames.profiles import Codes, Floats, SeatSums
from sally.stats.intervals import Estimate, widen, without_interval

OPTIMUM = "optimum"  # exact, from the partner's automaton; not the name of a player
ROOM = 0.05  # of the range of payoffs: with less between random and optimum there is no scale

Standing = Literal["exact", "best known"]
Bools = NDArray[np.bool_]


class _Selection(NamedTuple):
    """Some rows of a table of baseline episodes.

    `stored` tells whether they come from a store; `others` selects the rows whose scores are also
    used for settings that were not played.
    """

    table: SeatSums
    rows: Codes
    stored: bool
    others: Codes


class _Draws(NamedTuple):
    """The mean of some episodes of one problem, and the squared standard error of that mean."""

    mean: float
    variance: float
    n: int


def _mean_of(values: Sequence[float]) -> _Draws:
    n, spread = len(values), 0.0
    if max(values) > min(values):  # else rounding would leave 1e-33
        spread = float(np.var(values, ddof=1))
    return _Draws(sum(values) / n, spread / n, n)


NO_DRAWS = _Draws(float("nan"), 0.0, 0)


class _RoleScores:
    """Scores of the baseline players of one role (such as random or reference).

    They are stored by setting, and also by setting without its seed.
    """

    def __init__(self, selections: Sequence[_Selection]) -> None:
        self._some = selections
        setting = np.concatenate(
            [selection.table.settings[selection.rows] for selection in selections]
        )
        self._order = np.argsort(setting, kind="stable")
        self.setting = setting[self._order]
        self.least, self.scored, self.right = (
            np.concatenate([selection.table.of(name)[selection.rows] for selection in selections])[
                self._order
            ]
            for name in ("least", "scored", "right")
        )
        is_stored = [np.full(len(selection.rows), selection.stored) for selection in selections]
        self.stored = np.concatenate(is_stored)[self._order]
        self._levels()
        self._alike()

    def _levels(self) -> None:
        """Compute the mean score in each setting that was played."""
        is_first = np.ones(len(self.setting), dtype=np.bool_)  # settings are in ascending order
        is_first[1:] = self.setting[1:] != self.setting[:-1]
        self.there, codes = self.setting[is_first], np.cumsum(is_first) - 1
        self.starts = np.append(np.flatnonzero(is_first), len(is_first))
        is_known = ~np.isnan(self.least)
        sums = np.bincount(codes[is_known], self.least[is_known], len(self.there))
        counts = np.bincount(codes[is_known], minlength=len(self.there))
        self.level = np.divide(sums, counts, out=np.full(len(counts), np.nan), where=counts > 0)

    def _alike(self) -> None:
        """Compute the mean scores over other seeds, which are used for settings that were not
        played."""
        scores: dict[str, list[float]] = {}
        for table, rows, _, others in self._some:
            chosen = rows[others]
            known_rows = chosen[~np.isnan(table.of("least")[chosen])]
            for kind, score in zip(
                table.kind[known_rows], table.of("least")[known_rows], strict=True
            ):
                scores.setdefault(table.shared[kind].alike, []).append(float(score))
        self.alike = {alike: _mean_of(values) for alike, values in scores.items()}

    def find(self, settings: NDArray[np.bytes_]) -> tuple[Codes, Bools]:
        """Return the position of each setting in `there`, and whether it was played."""
        positions = np.minimum(np.searchsorted(self.there, settings), len(self.there) - 1)
        return positions, self.there[positions] == settings

    def first(self, position: int) -> SeatKind:
        """Return the kind of the measured seat at a position in the sorted order."""
        number = int(self._order[position])
        for table, rows, _, _ in self._some:
            if number < len(rows):
                return table.shared[int(table.kind[rows[number]])]
            number -= len(rows)
        raise IndexError(position)


class ZeroError(NamedTuple):
    """The standard error of a scale's zero if the zero is a mean of random draws; 0 if the zero is
    exact."""

    error: float
    degrees: float
    n: int  # draws


class BaselineScores:
    """Scores of the baseline players, by role and setting."""

    def __init__(self, baselines: Iterable[Baseline]) -> None:
        by_role: dict[str, list[_Selection]] = {}
        for group in baselines:
            selections = by_role.setdefault(group.role, [])
            none = np.array([], dtype=np.int64)
            selections.append(_Selection(group.table, group.rows, True, none))
            others = np.flatnonzero(group.for_others)
            selections.append(_Selection(group.played, np.arange(len(group.played)), False, others))
        self._roles = {role: _RoleScores(selected) for role, selected in by_role.items()}

    def levels(self, role: str, table: SeatSums) -> Floats:
        """Return a baseline player's score in each row's setting, or its mean over other seeds.

        For the random player, return its expected score: the exact value or the mean of draws.
        """
        if role == "random":
            exact = exactly_random(table)
            estimated = np.array([self._draws(s).mean for s in table.shared])[table.kind]
            return np.where(np.isnan(exact), estimated, exact)
        scores = self._roles.get(role)
        if scores is None or not len(scores.there):
            return np.full(len(table), np.nan)
        positions, is_played = scores.find(table.settings)
        alike = np.array([scores.alike.get(s.alike, NO_DRAWS).mean for s in table.shared])
        return np.where(is_played, scores.level[positions], alike[table.kind])

    def _draws(self, shared: SeatKind) -> _Draws:
        scores = self._roles.get("drawn")
        return NO_DRAWS if scores is None else scores.alike.get(shared.alike, NO_DRAWS)

    def draws(self, table: SeatSums, rows: Bools) -> ZeroError:
        """Return the standard error of the scale's zero. The zero is the mean score of the random
        player, averaged over some rows.

        Where it is not known exactly, the zero of a problem is the mean over many episodes of the
        random player (draws). If all draws of a problem are equal, their variance is set as if one
        among the draws of all problems had differed by the range of the score, because a rare
        success may not have been drawn.
        """
        kinds, row_counts = np.unique(
            table.kind[rows & np.isnan(exactly_random(table))], return_counts=True
        )
        counts, problems = Counter[str](), dict[str, SeatKind]()
        for kind, n in zip(kinds.tolist(), row_counts.tolist(), strict=True):
            counts[table.shared[kind].alike] += n
            problems[table.shared[kind].alike] = table.shared[kind]
        draws_by_problem = {alike: self._draws(shared) for alike, shared in problems.items()}
        row_total, draw_total = int(rows.sum()), sum(draws.n for draws in draws_by_problem.values())
        parts = []
        for alike, draws in draws_by_problem.items():
            of_mean = draws.variance or _range(problems[alike]) ** 2 / (draws.n * draw_total)
            parts.append(((counts[alike] / row_total) ** 2 * of_mean, draws.n))
        variance = sum(part for part, _ in parts)
        below = sum(part**2 / (n - 1) for part, n in parts)  # Welch and Satterthwaite
        return ZeroError(variance**0.5, variance**2 / below if below else inf, draw_total)

    def scores_in(self, role: str, table: SeatSums) -> tuple[_RoleScores, Codes] | None:
        """Return all scores of a baseline player (such as "random"), and the indices of those that
        it got in the settings of `table`; None if it has not played."""
        scores = self._roles.get(role)
        if scores is None or not len(scores.there):
            return None
        positions, is_played = scores.find(table.settings)
        low = scores.starts[positions]
        counts = np.where(is_played, scores.starts[positions + 1] - low, 0)
        offsets = np.repeat(low - (np.cumsum(counts) - counts), counts)
        return scores, offsets + np.arange(int(counts.sum()))


def _range(shared: SeatKind) -> float:
    """Return the difference between the highest and the lowest possible score in a game; 0 if it is
    not known."""
    limits = instance_bounds(shared.metric, key_of(shared.setup.instance), shared.seat)
    return limits[1] - limits[0] if limits is not None and isfinite(limits[1] - limits[0]) else 0.0


class Mark(msgspec.Struct, frozen=True):
    """The score of a baseline player in the settings of a row's own episodes."""

    player: str
    value: float  # in the unit of doing; of the random player the expectation
    accuracy: float | None  # of its predictions, in percent
    standing: Standing | None  # of an optimum or a reference: whether it cannot be beaten
    stored: int  # episodes found in the store
    played: int  # episodes played for this comparison
    doing: float | None = None  # its position on the row's scale
    draws: int = 0  # of the random player: episodes whose mean is its value; 0: computed exactly
    error: float | None = None  # the standard error of that mean


class ScaledDoing(msgspec.Struct, frozen=True):
    """A player's gain in one row of a profile, on a scale from a baseline player, usually the
    random one (0), to the best known score (1), and the positions of the baseline players on this
    scale."""

    doing: Estimate  # forfeited and cut-off decisions count as the rules say
    doing_most: Estimate  # the same decisions at the best they could have earned
    regret: Estimate  # distance to the upper end, in the unit of doing
    room: float | None  # between the ends, as a share of the range of payoffs
    random: Mark | None
    mindless: Mark | None
    reference: Mark | None
    why: str  # why there is no scale; empty if there is one
    why_regret: str


def scale_doing(means: Means, baselines: BaselineScores) -> ScaledDoing:
    """Return the player's gain in one row of a profile, on a scale from the expected score of the
    random player (0) to the best known score (1)."""
    group = means.group
    chance, mindless = (_mark(group, baselines, role) for role in ("random", "mindless"))
    reference = _reference(group, baselines)
    ends = _Ends(baselines.levels("random", group), tops(baselines, group))
    regret = means.mean(ends.high - group.of("least"))
    no_regret = "" if regret.value is not None else NO_TOP
    reason, room = _why_not(means, ends, chance, reference, baselines)
    doing, highest = (
        _place(means, ends, reason, group.of(name), baselines) for name in ("least", "most")
    )
    chance = _expectation(chance, group, baselines)
    if chance is not None and mindless is not None and mindless.player == chance.player:
        mindless = msgspec.structs.replace(mindless, value=chance.value)
    if not reason:
        chance, mindless, reference = (
            _place_mark(mark, ends) for mark in (chance, mindless, reference)
        )
    return ScaledDoing(doing, highest, regret, room, chance, mindless, reference, reason, no_regret)


def _expectation(chance: Mark | None, group: SeatSums, baselines: BaselineScores) -> Mark | None:
    """Return the random player's mark. Its value, a mean over played episodes, is replaced by the
    expected score where that is known."""
    levels = baselines.levels("random", group)
    is_known = ~np.isnan(levels)
    if chance is None or not is_known.any():
        return chance
    error, _, draws = baselines.draws(group, is_known)
    return msgspec.structs.replace(
        chance,
        value=total(levels[is_known]) / int(is_known.sum()),
        draws=draws,
        error=error if draws else None,
    )


NO_TOP = "neither an optimum nor a reference player is known on these settings"


class _Ends(NamedTuple):
    """The ends of the scale on which gains are shown, for each row: the baseline player's score and
    the best known score."""

    low: Floats
    high: Floats


def tops(baselines: BaselineScores, table: SeatSums) -> Floats:
    """Return the best known score in the setting of each row."""
    exact = table.of("optimum")
    if not np.isnan(exact).any():
        return exact
    return np.where(np.isnan(exact), baselines.levels("reference", table), exact)


def _place(
    means: Means, ends: _Ends, reason: str, scores: Floats, baselines: BaselineScores
) -> Estimate:
    """Return the gain over the baseline player, summed over rows and divided by the largest
    possible gain (the best known score minus the baseline player's), also summed.

    An error e in the baseline player's mean score changes this ratio r by e (1 - r) divided by the
    mean of the largest possible gains.
    """
    if reason:
        return without_interval(None, 0, "t", "not defined")
    above = np.where(np.isnan(ends.high), np.nan, scores - ends.low)
    below = np.where(np.isnan(scores), np.nan, ends.high - ends.low)
    estimate, rows = means.ratio(above, below), ~(np.isnan(above) | np.isnan(below))
    if estimate.value is None:
        return estimate
    error, degrees, _ = baselines.draws(means.group, rows)
    return widen(estimate, error * (1 - estimate.value) / float(below[rows].mean()), degrees)


def _why_not(
    means: Means,
    ends: _Ends,
    zero: Mark | None,
    reference: Mark | None,
    baselines: BaselineScores,
) -> tuple[str, float | None]:
    """Return why gains cannot be put on a scale from the baseline player to the best known score
    ("" if they can), and the length of this scale as a share of the payoff range (None if
    unknown)."""
    group = means.group
    if np.isnan(group.of("least")).all():
        return "no episode has a result", None
    if zero is None:
        return _no_zero(group), None
    if reference is None:
        return NO_TOP, None
    room = means.mean(ends.high - ends.low)
    if room.value is None:
        return NO_TOP, None
    error, degrees, _ = baselines.draws(group, ~np.isnan(ends.high - ends.low))
    low = widen(room, error, degrees).low
    wide = np.array([np.nan if s.span is None else s.span[1] - s.span[0] for s in group.shared])
    ranges = wide[group.kind]
    ranges = ranges[~np.isnan(ranges)]
    share = room.value / (total(ranges) / len(ranges)) if len(ranges) else None
    interval = f"between {zero.player} and {_end(reference)}"
    if share is not None and share < ROOM:
        if room.value > 1e-9:
            return (
                f"no room to speak of: {share:.1%} of the range {interval}; see the regret",
                share,
            )
        return f"no room {interval}; see the regret", share
    if room.value <= 1e-9 or (low is not None and low <= 0):
        return f"no clear room {interval}; see the regret", share
    return "", share


def _no_zero(group: SeatSums) -> str:
    kinds = [group.shared[kind] for kind in group.kinds()]
    across = (w for s in kinds for seat, w in s.setup.lineup.items() if seat != s.seat)
    if any(map(is_mind, across)):
        return "a model or a person sits across, with whom no random player was played"
    return "no random player was played on these settings"


def _end(reference: Mark) -> str:
    return "the optimum" if reference.player == OPTIMUM else reference.player


def _reference(group: SeatSums, baselines: BaselineScores) -> Mark | None:
    """Return the exact optimum if it is known in every episode, else the reference player."""
    exact = group.of("optimum")
    optima = exact[~np.isnan(exact)]
    if len(optima) and len(optima) == int((~np.isnan(group.of("least"))).sum()):
        return Mark(OPTIMUM, total(optima) / len(optima), None, "exact", 0, 0)
    return _mark(group, baselines, "reference")


def _mark(group: SeatSums, baselines: BaselineScores, role: str) -> Mark | None:
    matching = baselines.scores_in(role, group)
    if matching is None:
        return None
    scores, rows = matching
    scored_rows = rows[~np.isnan(scores.least[rows])]
    if not len(scored_rows):
        return None
    first, values = scores.first(int(scored_rows[0])), scores.least[scored_rows]
    # the best mindless player may differ between problems
    named_rows = scored_rows if role == "mindless" else scored_rows[:1]
    players = {label(scores.first(int(index)).player_spec) for index in named_rows}
    bounds = registry.entries("metrics")[first.metric].bounds
    standing: Standing | None = None
    if role == "reference":
        highest = bounds and bounds[1]
        standing = "exact" if highest is not None and (values == highest).all() else "best known"
    scored, right = total(scores.scored[rows]), total(scores.right[rows])
    stored = int(scores.stored[rows].sum())
    return Mark(
        player=" or ".join(sorted(players)),
        value=total(values) / len(values),
        accuracy=100 * right / scored if scored else None,
        standing=standing,
        stored=stored,
        played=len(rows) - stored,
    )


def _place_mark(mark: Mark | None, ends: _Ends) -> Mark | None:
    """Return a baseline player's mark with its position on the scale between the lower end (0) and
    the upper end (1)."""
    if mark is None:
        return None
    has_ends = ~(np.isnan(ends.low) | np.isnan(ends.high))
    high, low, count = total(ends.high[has_ends]), total(ends.low[has_ends]), int(has_ends.sum())
    zero, room = low / count, (high - low) / count
    return msgspec.structs.replace(mark, doing=(mark.value - zero) / room)
