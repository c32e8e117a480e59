"""Doing on a fixed scale: 0 is the uniform random player, 1 the optimum or the reference.

Both ends stand on the same problems with the same chance and company. The best mindless player is
a mark on the scale, never its zero: how far it comes says how much can be had without a mind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal

import msgspec

from sally.analysis.measured import Baseline, Measured, is_mind
from sally.analysis.profile_estimates import Means
from sally.core import shelf
from sally.core.log import label
from sally.stats import Estimate
from sally.stats.intervals import without_interval

OPTIMUM = "optimum"  # exact, from the partner's automaton: nobody's name
ROOM = 0.05  # of the range of payoffs: with less between chance and optimum there is no scale

Standing = Literal["exact", "best known"]
Zero = Literal["random", "mindless"]
Got = Callable[[Measured], float | None]


class Met:
    """What players to compare with got, by role and setting."""

    def __init__(self, baselines: Iterable[Baseline]) -> None:
        self._there: dict[tuple[str, str], list[Baseline]] = {}
        got: dict[tuple[str, str], list[float]] = {}
        for b in baselines:
            m = b.measured
            self._there.setdefault((b.role, m.setting), []).append(b)
            if m.least is not None:
                for where in (m.setting, m.alike) if b.for_others else (m.setting,):
                    got.setdefault((b.role, where), []).append(m.least)
        self._mean = {key: sum(values) / len(values) for key, values in got.items()}

    def there(self, role: str, m: Measured) -> Sequence[Baseline]:
        """Those that were played in the setting of an episode itself."""
        return self._there.get((role, m.setting), ())

    def level(self, role: str, m: Measured) -> float | None:
        """What a baseline got in that setting, or on average in settings alike."""
        if (role, m.setting) in self._there:
            return self._mean.get((role, m.setting))
        return self._mean.get((role, m.alike))


class Mark(msgspec.Struct, frozen=True):
    """A player to compare with, where the row's own episodes were played."""

    player: str
    value: float  # in the unit of doing
    accuracy: float | None  # of its predictions, in percent
    standing: Standing | None  # of an optimum or a reference: whether nobody can do better
    stored: int  # of its episodes, so many were found
    played: int  # and so many were played for this comparison
    doing: float | None = None  # where it stands on the row's scale


class Scaled(msgspec.Struct, frozen=True):
    """A row's place on the scale, and what the scale is made of."""

    doing: Estimate  # forfeited and cut-off decisions at what the rules give
    doing_most: Estimate  # these at the best that they could have earned
    regret: Estimate  # what is missing to the upper end, in the unit of doing
    room: float | None  # between the ends, as a share of the range of payoffs
    random: Mark | None
    mindless: Mark | None
    reference: Mark | None
    why: str  # why there is no scale; empty if there is one
    why_regret: str


def scaled(means: Means, met: Met, zero: Zero = "random") -> Scaled:
    """Where the episodes of a row stand between the two ends."""
    group = means.group
    chance, mindless = (_mark(group, met, role) for role in ("random", "mindless"))
    reference = _reference(group, met)
    low: Got = lambda m: at_setting(met, zero, m)  # noqa: E731 (a name for both uses)
    regret = means.mean(lambda m: _less(top(met, m), m.least))
    no_regret = "" if regret.value is not None else NO_TOP
    end = chance if zero == "random" else mindless
    why, room = _why_not(means, met, low, end, reference)
    if zero == "mindless" and why.startswith(NO_ROOM):
        why = ""  # as it was: any room that is there was a scale
    doing, most = (_place(means, met, low, why, got) for got in (_least, _most))
    if not why:
        chance, mindless, reference = (
            _placed(mark, means, met, low) for mark in (chance, mindless, reference)
        )
    return Scaled(doing, most, regret, room, chance, mindless, reference, why, no_regret)


NO_ROOM = "no room to speak of:"
NO_TOP = "neither an optimum nor a reference player is known on these settings"


def at_setting(met: Met, role: str, m: Measured) -> float | None:
    """What a baseline got in the setting of this episode."""
    return met.level(role, m)


def top(met: Met, m: Measured) -> float | None:
    """The most that is known to be had in the setting of this episode."""
    return m.optimum if m.optimum is not None else at_setting(met, "reference", m)


def _least(m: Measured) -> float | None:
    return m.least


def _most(m: Measured) -> float | None:
    return m.most


def _less(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one - other


def _place(means: Means, met: Met, low: Got, why: str, got: Got) -> Estimate:
    """The sum of what was got above the lower end, over the sum of what there was to get."""
    if why:
        return without_interval(None, 0, "t", "not defined")

    def above(m: Measured) -> float | None:
        return None if top(met, m) is None else _less(got(m), low(m))

    def below(m: Measured) -> float | None:
        return None if got(m) is None else _less(top(met, m), low(m))

    return means.ratio(above, below)


def _why_not(
    means: Means, met: Met, low: Got, zero: Mark | None, reference: Mark | None
) -> tuple[str, float | None]:
    """Why there is no scale here, and how much room it has."""
    if all(m.least is None for m in means.group):
        return "no episode has a result", None
    if zero is None:
        return _no_zero(means.group), None
    if reference is None:
        return NO_TOP, None
    room = means.mean(lambda m: _less(top(met, m), low(m)))
    if room.value is None:
        return NO_TOP, None
    ranges = [m.span[1] - m.span[0] for m in means.group if m.span is not None]
    share = room.value / (sum(ranges) / len(ranges)) if ranges else None
    named = f"between {zero.player} and {_end(reference)}"
    if share is not None and share < ROOM:
        if room.value > 1e-9:
            return f"{NO_ROOM} {share:.1%} of the range {named}; see the regret", share
        return f"no room {named}; see the regret", share
    if room.value <= 1e-9 or (room.low is not None and room.low <= 0):
        return f"no clear room {named}; see the regret", share
    return "", share


def _no_zero(group: Sequence[Measured]) -> str:
    across = (m.setup.lineup[s] for m in group for s in m.setup.lineup if s != m.seat)
    if any(map(is_mind, across)):
        return "a model or a person sits across, with whom no random player was played"
    return "no random player was played on these settings"


def _end(reference: Mark) -> str:
    return "the optimum" if reference.player == OPTIMUM else reference.player


def _reference(group: Sequence[Measured], met: Met) -> Mark | None:
    """The exact optimum where every episode has one, else the reference player."""
    known = [m.optimum for m in group if m.optimum is not None]
    if known and len(known) == sum(m.least is not None for m in group):
        return Mark(OPTIMUM, sum(known) / len(known), None, "exact", 0, 0)
    return _mark(group, met, "reference")


def _mark(group: Sequence[Measured], met: Met, role: str) -> Mark | None:
    there = [b for m in group for b in met.there(role, m)]
    got = [(b, b.measured.least) for b in there if b.measured.least is not None]
    if not got:
        return None
    first = got[0][0].measured
    bounds = shelf.shelf("metrics")[first.metric].bounds
    standing: Standing | None = None
    if role == "reference":
        most = bounds and bounds[1]
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


def _placed(mark: Mark | None, means: Means, met: Met, low: Got) -> Mark | None:
    """The mark with its place on the scale."""
    if mark is None:
        return None
    tops = [t for m in means.group if (t := top(met, m)) is not None and low(m) is not None]
    lows = [z for m in means.group if (z := low(m)) is not None and top(met, m) is not None]
    zero, room = sum(lows) / len(lows), (sum(tops) - sum(lows)) / len(lows)
    return msgspec.structs.replace(mark, doing=(mark.value - zero) / room)
