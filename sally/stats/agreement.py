"""Agreement of two or more coders, readers or players; a measure that is not defined is None."""

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from sally.stats.columns import Floats, as_pairs, same_length

Scale = Literal["nominal", "interval"]


class LabelScore(msgspec.Struct, frozen=True):
    """Hits, false alarms and misses of one label."""

    hits: int
    false_alarms: int
    misses: int

    @property
    def f1(self) -> float | None:
        """The harmonic mean of precision and recall; None if the label never occurred."""
        return _share(2 * self.hits, 2 * self.hits + self.false_alarms + self.misses)


def percent_agreement(first: Sequence[Hashable], second: Sequence[Hashable]) -> float | None:
    """Return the share of units to which two coders give the same label."""
    same_length("first", len(first), "second", len(second))
    return _share(sum(a == b for a, b in zip(first, second, strict=True)), len(first))


def cohens_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float | None:
    """Return agreement beyond chance (Cohen 1960); None if chance agreement is complete."""
    observed = percent_agreement(first, second)
    if observed is None:
        return None
    n = len(first)
    expected = sum(_count(first, x) * _count(second, x) for x in set(first)) / n**2
    return (observed - expected) / (1 - expected) if expected < 1 else None


def krippendorffs_alpha(ratings: Sequence[Sequence[Any]], scale: Scale = "nominal") -> float | None:
    """Return Krippendorff's alpha of coders (rows) over units (columns); None marks a missing
    rating."""
    units = _units(ratings)
    values = _values(units, scale)
    places = {value: i for i, value in enumerate(values)}
    together = np.zeros((len(values), len(values)))
    for unit in units:
        counts = np.bincount([places[v] for v in unit], minlength=len(values)).astype(float)
        together += (np.outer(counts, counts) - np.diag(counts)) / (len(unit) - 1)
    totals = together.sum(axis=0)
    n = float(totals.sum())
    if n == 0:
        return None
    distance = _distances(values, scale)
    expected = float((np.outer(totals, totals) * distance).sum()) / (n - 1)
    if expected == 0:  # Every rating is the same: no variation that coders could agree about.
        return None
    return 1 - float((together * distance).sum()) / expected


def mean_absolute_error(first: ArrayLike, second: ArrayLike) -> float | None:
    """Return the mean absolute difference of two columns."""
    column, two = as_pairs(first, second)
    return float(np.abs(column - two).mean()) if column.size else None


def label_scores(
    truth: Sequence[Hashable], given: Sequence[Hashable]
) -> dict[Hashable, LabelScore]:
    """Return the hits, false alarms and misses of each label that occurs in `truth` (the true
    labels) or in `given` (the labels to be scored)."""
    same_length("truth", len(truth), "given", len(given))
    labels = dict.fromkeys([*truth, *given])
    label_pairs = list(zip(truth, given, strict=True))
    return {
        label: LabelScore(
            hits=sum(t == label and g == label for t, g in label_pairs),
            false_alarms=sum(t != label and g == label for t, g in label_pairs),
            misses=sum(t == label and g != label for t, g in label_pairs),
        )
        for label in labels
    }


def macro_f1(scores: Iterable[LabelScore]) -> float | None:
    """Return the unweighted mean of F1 over the labels, leaving out labels that occur neither among
    the true nor among the given labels."""
    defined = [f1 for f1 in (score.f1 for score in scores) if f1 is not None]
    return sum(defined) / len(defined) if defined else None


def _share(part: float, total: float) -> float | None:
    return part / total if total else None


def _count(labels: Sequence[Hashable], label: Hashable) -> int:
    return sum(candidate == label for candidate in labels)


def _units(ratings: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """Return the ratings of each unit that at least two coders rated."""
    for i, row in enumerate(ratings):
        same_length(f"coder {i}", len(row), "coder 0", len(ratings[0]))
    columns = ([v for v in column if v is not None] for column in zip(*ratings, strict=True))
    return [unit for unit in columns if len(unit) > 1]


def _values(units: list[list[Any]], scale: Scale) -> list[Any]:
    """Return the distinct ratings."""
    if scale not in ("nominal", "interval"):
        raise ValueError(f"scale is {scale!r}; it must be 'nominal' or 'interval'.")
    ratings = dict.fromkeys(value for unit in units for value in unit)
    for value in ratings if scale == "interval" else ():
        if isinstance(value, str) or not np.isfinite(value):
            raise ValueError(f"the rating {value!r} is not a number.")
    return list(ratings)


def _distances(values: list[Any], scale: Scale) -> Floats:
    """Return squared distances between values (Krippendorff 2011, section on metrics)."""
    if scale == "nominal":
        return 1 - np.eye(len(values))
    ranks = np.asarray(values, float)
    return np.asarray(np.subtract.outer(ranks, ranks) ** 2)
