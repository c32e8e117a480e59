"""Comparison of any Inspect logs by paired samples, with clustered intervals, adjusted p values and
power.

Two samples form a pair if they have the same id and epoch in both logs. Samples that a log planned
but did not finish or score count as the lowest score (intention to treat); the difference over
complete pairs is reported, too. Intervals come from resampling whole clusters, p values from
flipping the signs of whole clusters, adjusted by Holm's method over all comparisons.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np
from inspect_ai.log import EvalLog, EvalSample, read_eval_log, read_eval_log_samples
from inspect_ai.scorer import value_to_float

from sally.core.errors import BadInput, join_names, unknown
from sally.stats.columns import encode_labels
from sally.stats.intervals import FEW, Estimate
from sally.stats.multiple_tests import holm_where_known
from sally.stats.paired_differences import unpaired_difference
from sally.stats.paired_tests import paired_tests
from sally.stats.power import equivalence_sample_size, t_power, t_sample_size

ALPHA, POWER, SEED = 0.05, 0.8, 1
LETTERS = frozenset("CIPN")  # Inspect's correct, incorrect, partially correct and no answer
UNREAD = {"messages", "events", "store", "attachments", "output", "timelines", "events_data"}

Verdict = Literal["higher", "lower", "equivalent", "undecided", "too few"]
Cluster = str | Callable[[EvalSample], Hashable]
Unit = tuple[str, int]  # sample id and epoch


class LogScores(msgspec.Struct, frozen=True):
    """The scores of one log, by scorer and by sample and epoch; NaN means that a sample was not
    scored."""

    label: str
    task: str
    planned: tuple[Unit, ...]
    values: dict[str, dict[Unit, float]]
    graded: frozenset[str]  # scorers with letters or booleans, whose lowest score is 0
    clusters: dict[str, Hashable]  # by sample id
    inputs: dict[str, str]  # hash of each sample's input
    failed: frozenset[Unit]  # samples that ended with an error


class LogComparison(msgspec.Struct, frozen=True):
    """The difference between two logs (first minus second) by one scorer."""

    first: str
    second: str
    scorer: str
    pairs: int
    units: int  # number of clusters
    clusters: str  # what a cluster is
    first_mean: float
    second_mean: float
    difference: Estimate
    complete: Estimate | None  # over pairs that both logs scored, if some are missing
    unpaired: Estimate  # Welch's interval, which ignores pairs and clusters
    p: float | None
    p_holm: float | None
    effect: float | None
    margin: float | None
    p_equivalent: float | None
    p_equivalent_holm: float | None
    verdict: Verdict
    missing: tuple[int, int]  # planned samples counted as the lowest score, in each log
    alone: tuple[int, int]  # samples that only one of the logs planned
    deviation: float | None  # of the differences, over clusters; None if they do not vary
    detects: float | None  # the smallest difference found with a power of .8 at this size
    needs: int | None  # clusters that would show equivalence within the margin, if undecided


def compare_logs(
    logs: Sequence[str | Path],
    *,
    scorers: Sequence[str] = (),
    cluster: Cluster | None = None,
    margin: float | None = None,
    ids_only: bool = False,
    seed: int = SEED,
) -> list[LogComparison]:
    """Return comparisons of every pair of these Inspect logs, by each scorer that both have.

    Args:
        logs: At least two `.eval` or `.json` logs of the same samples.
        scorers: Only these scorers; `SCORER.KEY` names one value of a scorer that has several.
        cluster: A metadata column, or a function of a sample; by default epochs of one sample form
            a cluster.
        margin: Differences smaller than this count as equivalence; by default .2 standard
            deviations.
        ids_only: Pair samples by id even if their inputs differ.
        seed: Seed of resampling and sign flips.

    Raises:
        BadInput: If a log cannot be read, or two logs share no sample or scorer.
    """
    if len(logs) < 2:
        raise BadInput("A comparison needs at least two logs.")
    if margin is not None and not margin > 0:
        raise BadInput(f"The margin must be above 0, not {margin}.")
    read = label_logs(*merge_runs([log_scores(Path(log), cluster) for log in logs], logs))
    if len(read) < 2:
        raise BadInput("These logs are runs of one model on one task, with different samples.")
    cluster_name = cluster if isinstance(cluster, str) else "clusters" if cluster else "samples"
    comparisons = []
    for first, second in combinations(read, 2):
        if not ids_only:
            first, second = _with_same_inputs(first, second)
        for scorer in _shared_scorers(first, second, scorers):
            comparisons.append(_compare_pair(first, second, scorer, cluster_name, margin, seed))
    return _adjust_p_values(comparisons)


def log_scores(path: Path, cluster: Cluster | None = None) -> LogScores:
    """Read the scores of one log, sample by sample.

    Raises:
        BadInput: If the log cannot be read, has no samples, or lacks the column named by `cluster`.
    """
    header = _header(path)
    number = value_to_float()
    values: dict[str, dict[Unit, float]] = {}
    graded, failed = set[str](), set[Unit]()
    clusters: dict[str, Hashable] = {}
    inputs: dict[str, str] = {}
    units: list[Unit] = []
    for sample in _samples(path):
        id, unit = str(sample.id), (str(sample.id), sample.epoch)
        units.append(unit)
        clusters[id] = _cluster_of(sample, cluster, path)
        inputs[id] = _hash(sample)
        if sample.error is not None:
            failed.add(unit)
            continue
        for scorer, score in (sample.scores or {}).items():
            for name, value in _flat(scorer, score.value):
                if isinstance(value, bool) or value in LETTERS:
                    graded.add(name)
                values.setdefault(name, {})[unit] = _number(value, number)
    if not units:
        raise BadInput(f"{path} contains no samples.")
    ids = [str(id) for id in header.eval.dataset.sample_ids or ()] or [id for id, _ in units]
    epochs = header.eval.config.epochs or max(epoch for _, epoch in units)
    planned = dict.fromkeys((id, epoch) for id in ids for epoch in range(1, epochs + 1))
    planned |= dict.fromkeys(units)
    return LogScores(
        label=header.eval.model,
        task=header.eval.task,
        planned=tuple(planned),
        values=values,
        graded=frozenset(graded),
        clusters=clusters,
        inputs=inputs,
        failed=frozenset(failed),
    )


def merge_runs(
    read: Sequence[LogScores], logs: Sequence[str | Path]
) -> tuple[list[LogScores], list[str | Path]]:
    """Return the logs with several runs of one model on one task as one log, if no sample and epoch
    is in two of them; each with the path of its first run."""
    runs: list[LogScores] = []
    paths: list[str | Path] = []
    for log, path in zip(read, logs, strict=True):
        for index, earlier in enumerate(runs):
            is_same = (log.task, log.label) == (earlier.task, earlier.label)
            if is_same and not set(log.planned) & set(earlier.planned):
                runs[index] = _join_logs(earlier, log)
                break
        else:
            runs.append(log)
            paths.append(path)
    return runs, paths


def _join_logs(first: LogScores, second: LogScores) -> LogScores:
    scorers = dict.fromkeys([*first.values, *second.values])
    return msgspec.structs.replace(
        first,
        planned=first.planned + second.planned,
        values={
            name: {**first.values.get(name, {}), **second.values.get(name, {})} for name in scorers
        },
        graded=first.graded & second.graded,
        clusters={**first.clusters, **second.clusters},
        inputs={**first.inputs, **second.inputs},
        failed=first.failed | second.failed,
    )


def label_logs(read: Sequence[LogScores], logs: Sequence[str | Path]) -> list[LogScores]:
    """Return the logs with distinct labels: the model or, where that is not distinct, task and
    model or the file name."""
    names = [[log.label for log in read], [f"{log.task} {log.label}" for log in read]]
    names.append([Path(log).stem for log in logs])
    names.append([str(log) for log in logs])
    distinct = next((labels for labels in names if len(set(labels)) == len(read)), None)
    if distinct is None:
        raise BadInput(
            f"A log cannot be compared with itself: {join_names(map(str, logs), 'and')}."
        )
    return [msgspec.structs.replace(o, label=n) for o, n in zip(read, distinct, strict=True)]


# --- one comparison -------------------------------------------------------------------------------


def _compare_pair(
    first: LogScores, second: LogScores, scorer: str, clusters: str, margin: float | None, seed: int
) -> LogComparison:
    sides = (first, second)
    graded = scorer in first.graded and scorer in second.graded
    lowest = 0.0 if graded else _lowest(first, second, scorer)
    shared = [unit for unit in first.planned if unit in set(second.planned)]
    if not shared:
        raise BadInput(
            f"{first.label} and {second.label} share no sample id and epoch, so nothing can be "
            f"paired."
        )
    columns, missing = [], []
    for side in sides:
        scored = side.values[scorer]
        columns.append([scored.get(unit, math.inf) for unit in shared])
        missing.append(sum(unit not in scored for unit in shared))
    raw = np.array(columns)
    is_scored = ~np.isnan(raw).any(axis=0)  # a sample that its scorer left out says nothing
    if not is_scored.any():
        raise BadInput(
            f"No sample in both {first.label} and {second.label} has a score of {scorer}."
        )
    full = np.isfinite(raw).all(axis=0)
    a, b = np.where(np.isinf(raw), lowest, raw)[:, is_scored]
    of = {**second.clusters, **first.clusters}
    units = [of.get(id, id) for (id, _), keep in zip(shared, is_scored, strict=True) if keep]
    tests = paired_tests(a, b, units, seed=seed, margin=margin)
    complete = None
    if (full & is_scored).sum() < is_scored.sum() and full.any():
        complete_units = [
            of.get(id, id) for (id, _), keep in zip(shared, full, strict=True) if keep
        ]
        complete = paired_tests(raw[0, full], raw[1, full], complete_units, seed=seed).difference
    variance = _variance(a - b, units)
    return LogComparison(
        first=first.label,
        second=second.label,
        scorer=scorer,
        pairs=int(a.size),
        units=tests.units,
        clusters=clusters,
        first_mean=tests.first,
        second_mean=tests.second,
        difference=tests.difference,
        complete=complete,
        unpaired=unpaired_difference(a, b),
        p=tests.p,
        p_holm=None,
        effect=tests.effect,
        margin=tests.margin,
        p_equivalent=tests.p_equivalent,
        p_equivalent_holm=None,
        verdict="undecided",
        missing=(missing[0], missing[1]),
        alone=(len(first.planned) - len(shared), len(second.planned) - len(shared)),
        deviation=variance and math.sqrt(variance),
        detects=variance and detectable(tests.units, variance),
        needs=None,
    )


def _adjust_p_values(comparisons: Sequence[LogComparison]) -> list[LogComparison]:
    """Return the comparisons with adjusted p values, verdicts and required sample sizes."""
    away = holm_where_known([c.p for c in comparisons])
    alike = holm_where_known([c.p_equivalent for c in comparisons])
    rows = zip(comparisons, away, alike, strict=True)
    return [_judge(c, p, p_alike, len(comparisons)) for c, p, p_alike in rows]


def _judge(c: LogComparison, p: float | None, p_alike: float | None, family: int) -> LogComparison:
    gain = c.difference.value or 0.0
    verdict: Verdict = "undecided" if c.units >= FEW else "too few"
    if c.units >= FEW and gain and p is not None and p < ALPHA:
        verdict = "higher" if gain > 0 else "lower"
    elif c.units >= FEW and p_alike is not None and p_alike < ALPHA:
        verdict = "equivalent"
    needs = None
    if verdict in ("undecided", "too few") and c.margin and c.deviation:
        variance, level = c.deviation**2, ALPHA / family
        needs = equivalence_sample_size(c.margin, variance, power=POWER, alpha=level)
    return msgspec.structs.replace(
        c, p_holm=p, p_equivalent_holm=p_alike, verdict=verdict, needs=needs
    )


# --- power ----------------------------------------------------------------------------------------


class LogPower(msgspec.Struct, frozen=True):
    """The statistical power that samples like those of the given logs provide, for one scorer."""

    scorer: str
    units: int
    clusters: str
    deviation: float  # of the differences between two logs, over clusters
    paired: bool  # False: from one log, with differences taken as independent (an upper bound)
    detects: float | None
    needs: int | None  # clusters with which `detect` is found


def power_of_logs(
    logs: Sequence[str | Path],
    *,
    detect: float | None = None,
    scorers: Sequence[str] = (),
    cluster: Cluster | None = None,
    comparisons: int = 1,
) -> list[LogPower]:
    """Return the smallest difference that one or two logs can detect, and the number of samples
    needed for smaller differences.

    With two logs, the standard deviation of their paired differences is used. With one log, it is
    that of independent differences, which is an upper bound if two models find the same samples
    hard.

    Raises:
        BadInput: If a log cannot be read, or `detect` or `comparisons` is not positive.
    """
    if not 1 <= len(logs) <= 2:
        raise BadInput(f"Power is computed from one or two logs, not {len(logs)}.")
    if detect is not None and not detect > 0:
        raise BadInput(f"The difference to detect must be above 0, not {detect}.")
    if comparisons < 1:
        raise BadInput(f"The number of comparisons must be at least 1, not {comparisons}.")
    read = [log_scores(Path(log), cluster) for log in logs]
    cluster_name = cluster if isinstance(cluster, str) else "clusters" if cluster else "samples"
    names = _shared_scorers(read[0], read[-1], scorers)
    alpha = ALPHA / comparisons
    return [_power(read, name, cluster_name, detect, alpha) for name in names]


def _power(
    read: Sequence[LogScores], scorer: str, clusters: str, detect: float | None, alpha: float
) -> LogPower:
    first, second = read[0], read[-1]
    of = {**second.clusters, **first.clusters}
    first_scores, second_scores = (
        {u: v for u, v in log.values[scorer].items() if not math.isnan(v)}
        for log in (first, second)
    )
    paired = len(read) == 2
    shared = [unit for unit in first_scores if unit in second_scores]
    values = np.array(
        [first_scores[u] - second_scores[u] if paired else first_scores[u] for u in shared]
    )
    units = [of[id] for id, _ in shared]
    variance = (_variance(values, units) or 0.0) * (1 if paired else 2)
    count = len(set(units))
    return LogPower(
        scorer=scorer,
        units=count,
        clusters=clusters,
        deviation=math.sqrt(variance),
        paired=paired,
        detects=detectable(count, variance, alpha) if variance else None,
        needs=(
            t_sample_size(detect, variance, power=POWER, alpha=alpha)
            if detect and variance
            else None
        ),
    )


def detectable(units: int, variance: float, alpha: float = ALPHA) -> float | None:
    """Return the smallest difference that a paired t test over this many clusters detects with
    power .8."""
    if units < 2 or not variance:
        return None
    low, high = 0.0, 40 * math.sqrt(variance)
    for _ in range(60):
        middle = (low + high) / 2
        is_too_small = not middle or t_power(units, middle, variance, alpha=alpha) < POWER
        low, high = (middle, high) if is_too_small else (low, middle)
    return high


def _variance(differences: np.ndarray[Any, Any], clusters: Sequence[Hashable]) -> float | None:
    """Return the variance of clusters of equal size that gives the mean the same cluster-robust
    error; None if it is 0 or there are fewer than two clusters.

    The mean is over samples, so a large cluster weighs more, in the interval and here.
    """
    codes, count = encode_labels(clusters, differences.size, "clusters")
    if count < 2:
        return None
    sizes = np.bincount(codes, minlength=count)
    away = np.bincount(codes, differences, count) - float(differences.mean()) * sizes
    variance = count**2 / (count - 1) * float((away**2).sum()) / differences.size**2
    return variance if variance > 1e-24 else None


# --- reading --------------------------------------------------------------------------------------


def _header(path: Path) -> EvalLog:
    if not path.is_file():
        raise BadInput(f"There is no log at {path}.")
    try:
        return read_eval_log(path, header_only=True)
    except Exception as error:  # Inspect raises whatever its readers of zip and JSON raise
        raise BadInput(f"{path} is not an Inspect log (.eval or .json).") from error


def _samples(path: Path) -> Iterator[EvalSample]:
    try:
        yield from read_eval_log_samples(path, all_samples_required=False, exclude_fields=UNREAD)
    except BadInput:
        raise
    except Exception as error:
        if path.suffix != ".json":
            raise BadInput(
                f"The samples of {path} cannot be read: {type(error).__name__}."
            ) from error
        yield from _samples_without_ids(path)


def _samples_without_ids(path: Path) -> Iterator[EvalSample]:
    """Yield the samples of a JSON log, each named by its input if it has no id.

    Raises:
        BadInput: A sample cannot be read.
    """
    for number, sample in enumerate(json.loads(path.read_bytes()).get("samples") or ()):
        try:
            plain = {name: value for name, value in sample.items() if name not in UNREAD}
            text = json.dumps(plain.get("input"), sort_keys=True)
            fields = {"id": hashlib.sha256(text.encode()).hexdigest(), "epoch": 1, **plain}
            yield EvalSample.model_validate(fields)
        except (AttributeError, ValueError) as error:
            raise BadInput(
                f"Sample {number} of {path} cannot be read; a sample needs `input`, `target` and "
                "`scores`."
            ) from error


def _cluster_of(sample: EvalSample, cluster: Cluster | None, path: Path) -> Hashable:
    if cluster is None:
        return str(sample.id)
    if callable(cluster):
        return cluster(sample)
    if cluster not in sample.metadata:
        raise BadInput(
            f"Sample {sample.id} of {path} has no metadata column {cluster!r}; it has "
            f"{join_names(sorted(sample.metadata), 'and') or 'none'}."
        )
    value = sample.metadata[cluster]
    return value if isinstance(value, str | int) else repr(value)


def _hash(sample: EvalSample) -> str:
    sample_input = sample.input
    text = (
        sample_input
        if isinstance(sample_input, str)
        else "\n".join(f"{m.role}:{m.text}" for m in sample_input)
    )
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _flat(scorer: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        yield from ((f"{scorer}.{key}", element) for key, element in value.items())
    elif isinstance(value, list | tuple):
        yield from ((f"{scorer}.{n}", element) for n, element in enumerate(value))
    else:
        yield scorer, value


def _number(value: Any, of_text: Callable[[Any], float]) -> float:
    """Return a score as a number; text that is neither a grade nor a number is not scored."""
    if value is None:
        return math.nan
    if isinstance(value, bool | int | float):
        return float(value)
    if value in LETTERS:
        return of_text(value)
    try:
        return float(value)
    except ValueError:
        lowered = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
        return lowered.get(str(value).lower(), math.nan)


def _lowest(first: LogScores, second: LogScores, scorer: str) -> float:
    values = [
        v for log in (first, second) for v in log.values[scorer].values() if not math.isnan(v)
    ]
    return min(values, default=0.0)


def _shared_scorers(first: LogScores, second: LogScores, chosen: Sequence[str]) -> list[str]:
    shared = [name for name in first.values if name in second.values]
    for name in chosen:
        if name not in shared:
            raise unknown("scorer in both logs", name, shared)
    if not shared:
        raise BadInput(
            f"{first.label} has scores of "
            f"{join_names(sorted(first.values), 'and') or 'no scorer'}, "
            f"{second.label} of {join_names(sorted(second.values), 'and') or 'no scorer'}; "
            "they have no scorer in common."
        )
    return list(chosen) or shared


def _with_same_inputs(first: LogScores, second: LogScores) -> tuple[LogScores, LogScores]:
    """Return both logs, with samples renamed so that equal ids mean equal inputs.

    If an id stands for different inputs, as with numbers that Inspect gave to samples in another
    order, samples are named by their inputs, provided that no input occurs twice.
    """
    mismatched_ids = [
        id for id, text in first.inputs.items() if second.inputs.get(id, text) != text
    ]
    if not mismatched_ids:
        return first, second
    is_distinct = all(len(set(log.inputs.values())) == len(log.inputs) for log in (first, second))
    if not is_distinct or not set(first.inputs.values()) & set(second.inputs.values()):
        raise BadInput(
            f"Sample {mismatched_ids[0]} has different inputs in {first.label} and {second.label}, "
            "so its scores are not a pair; ids_only pairs samples by id nevertheless."
        )
    return _named_by_input(first), _named_by_input(second)


def _named_by_input(log: LogScores) -> LogScores:
    def rename_unit(unit: Unit) -> Unit:
        return log.inputs.get(unit[0], unit[0]), unit[1]

    return msgspec.structs.replace(
        log,
        planned=tuple(map(rename_unit, log.planned)),
        values={
            name: {rename_unit(unit): value for unit, value in column.items()}
            for name, column in log.values.items()
        },
        clusters={rename_unit((id, 1))[0]: cluster for id, cluster in log.clusters.items()},
        inputs={text: text for text in log.inputs.values()},
        failed=frozenset(map(rename_unit, log.failed)),
    )
