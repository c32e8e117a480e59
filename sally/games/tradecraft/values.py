"""What value reports say about minds: how far beliefs are off, and at what rate players trade.

Pure functions on plain arrays. Where the paper leaves a choice open, ours is named here:
reports are compared after adding .5 to each value and normalising to sum 1, natural logarithms;
sums weigh each item's value with its amount.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

SMOOTHING = 0.5


class Divergence(msgspec.Struct, frozen=True):
    """How far one player's belief about values is from the values the other reported."""

    kl: float  # KL(the other's report || the belief)
    reverse: float  # KL(the belief || the other's report)
    jensen_shannon: float
    items: int  # how many items both reported


def divergence(
    reported: Mapping[str, float], believed: Mapping[str, float], smoothing: float = SMOOTHING
) -> Divergence | None:
    """Compare a report with a belief about it, over the items in both; None below two items."""
    both = sorted(reported.keys() & believed.keys())
    if len(both) < 2:
        return None  # one item always has share 1: nothing to be right or wrong about
    p = _shares([reported[item] for item in both], smoothing)
    q = _shares([believed[item] for item in both], smoothing)
    middle = (p + q) / 2
    return Divergence(
        kl=_kl(p, q),
        reverse=_kl(q, p),
        jensen_shannon=(_kl(p, middle) + _kl(q, middle)) / 2,
        items=len(both),
    )


def _shares(values: Sequence[float], smoothing: float) -> Floats:
    raw = np.asarray(values, dtype=np.float64)
    if not np.all(np.isfinite(raw)) or np.any(raw < 0):
        raise ValueError("Reported values are finite numbers from 0 up.")
    smooth = raw + smoothing
    return np.asarray(smooth / smooth.sum())


def _kl(p: Floats, q: Floats) -> float:
    return float(np.sum(p * np.log(p / q)))


def worth(values: Mapping[str, float], goods: Mapping[str, int | Fraction]) -> float | None:
    """The total value of goods, amounts included; None if one of them was not valued."""
    if any(item not in values for item in goods):
        return None
    return float(sum(values[item] * float(amount) for item, amount in goods.items()))


class Exchange(msgspec.Struct, frozen=True):
    """How the value offered goes with the value requested, over many proposals."""

    r: float | None  # Pearson; None where one side never varies
    slope: float | None  # of offered on requested value
    intercept: float | None
    r_interval: tuple[float, float] | None
    slope_interval: tuple[float, float] | None
    proposals: int
    episodes: int
    undefined: int  # bootstrap draws in which slope or r did not exist


def exchange(
    requested: ArrayLike,
    offered: ArrayLike,
    episodes: Sequence[Any],
    *,
    seed: int,
    draws: int = 2000,
    level: float = 0.9,
) -> Exchange:
    """Pearson r and slope of offered on requested value, with intervals drawn by episode."""
    x, y = np.asarray(requested, np.float64), np.asarray(offered, np.float64)
    if not (x.shape == y.shape == (len(episodes),)):
        raise ValueError("Give one requested value, one offered value and one episode a proposal.")
    names, which = np.unique(np.asarray(episodes, dtype=str), return_inverse=True)
    # Sums by episode: a bootstrap draw is then one weighting of a small table.
    parts = np.stack([np.ones_like(x), x, y, x * x, y * y, x * y], axis=1)
    sums = np.zeros((len(names), 6))
    np.add.at(sums, which, parts)
    r, slope, intercept = _line(sums.sum(axis=0)[None, :])
    rng = np.random.default_rng(seed)
    weights = rng.multinomial(len(names), np.full(len(names), 1 / len(names)), size=draws)
    r_draws, slope_draws, _ = _line(weights @ sums)
    missing = int(np.sum(~(np.isfinite(r_draws) & np.isfinite(slope_draws))))
    return Exchange(
        r=_known(r[0]),
        slope=_known(slope[0]),
        intercept=_known(intercept[0]),
        r_interval=_middle(r_draws, level),
        slope_interval=_middle(slope_draws, level),
        proposals=len(x),
        episodes=len(names),
        undefined=missing,
    )


def _line(sums: Floats) -> tuple[Floats, Floats, Floats]:
    """Pearson r, slope and intercept from rows of (n, x, y, xx, yy, xy); nan where undefined."""
    n, x, y, xx, yy, xy = sums.T
    with np.errstate(divide="ignore", invalid="ignore"):
        vx, vy, vxy = xx - x * x / n, yy - y * y / n, xy - x * y / n
        # Below rounding a variance counts as none.
        vx = np.where(vx > 1e-12 * np.maximum(xx, 1), vx, np.nan)
        vy = np.where(vy > 1e-12 * np.maximum(yy, 1), vy, np.nan)
        slope = vxy / vx
        return vxy / np.sqrt(vx * vy), slope, (y - slope * x) / n


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _middle(draws: Floats, level: float) -> tuple[float, float] | None:
    """The central interval of the defined draws, by percentile."""
    defined = draws[np.isfinite(draws)]
    if not len(defined):
        return None
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
