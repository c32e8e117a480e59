"""Linear probes of activations: held-out predictions, their scores, and controls.

A probe is a logistic regression with a ridge penalty on the leading principal components of
standardised activations, all fitted on training rows. Penalty and layer are chosen by inner folds
of the training rows, which also hold out partners and instances. Every prediction is therefore made
for an unseen partner in an unseen instance, by a probe whose penalty and layer were chosen without
them.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from sally.core.errors import BadInput, install_command
from sally.represent.folds import Fold, crossed_folds, leak
from sally.stats.one_thread import one_thread

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
COMPONENTS = 48  # principal components that a probe reads
PENALTIES = (0.003, 0.03, 0.3, 3.0)  # inverse strength of the ridge penalty
CONTROL_PENALTY = 0.03  # of control tasks, where nothing is chosen
INNER = 2  # blocks of partners and of instances in the inner folds
MANY = 10_000  # rows times layers from which on processes are started
LEAST = 1e-6  # lower bound of a predicted probability in the log score


class Groups(msgspec.Struct, frozen=True):
    """The partner and the unit (instance, or set of option letters) of each row, which training and
    test rows must not share."""

    partners: list[str]
    units: list[str]


class HeldOutPredictions(msgspec.Struct, frozen=True):
    """Held-out predictions of one probe: a probability of each class for every tested row."""

    odds: Floats  # rows x classes; NaN where a row was never tested
    inner: list[float]  # mean log score within the training rows, by fold
    penalties: list[float]  # chosen, by fold

    @property
    def was_tested(self) -> NDArray[np.bool_]:
        """Whether each row was tested."""
        has_odds: NDArray[np.bool_] = ~np.isnan(self.odds[:, 0])
        return has_odds

    @property
    def likeliest_class(self) -> Ints:
        """The likeliest class of each row; -1 where a row was never tested."""
        filled = np.where(np.isnan(self.odds), -1.0, self.odds)
        return np.where(self.was_tested, filled.argmax(axis=1), -1)


class LinearProbe:
    """Standardisation, principal components and a logistic regression, fitted together."""

    def __init__(self, x: Floats, components: int = COMPONENTS) -> None:
        self.mean, spread = x.mean(axis=0), x.std(axis=0)
        self.spread = np.where(spread > 1e-9, spread, 1.0)
        scaled = (x - self.mean) / self.spread
        self._wide = scaled.shape[1] > components
        if self._wide:
            decomposition = _sklearn("decomposition")
            n_components = min(components, scaled.shape[0] - 1)
            pca = decomposition.PCA(n_components, svd_solver="randomized", random_state=0)
            with np.errstate(invalid="ignore"):  # a layer may be the same everywhere
                self.axes: Floats = pca.fit(scaled).components_.T
        else:
            self.axes = np.eye(scaled.shape[1])
        # one scale for all components, so that the penalty means the same in every layer
        self.scale = max(float((scaled @ self.axes).std()), 1e-9)

    def reduce(self, x: Floats) -> Floats:
        """Return rows of activations as standardised principal components, the inputs of the
        regression."""
        components: Floats = ((x - self.mean) / self.spread) @ self.axes / self.scale
        return components

    def directions(self, coefficients: Floats) -> Floats:
        """Return the gradient of each class's log-odds with respect to the activations."""
        gradients: Floats = (coefficients @ self.axes.T) / self.scale / self.spread
        return gradients


def _sklearn(part: str) -> Any:
    from importlib import import_module

    try:
        return import_module(f"sklearn.{part}")
    except ImportError:
        raise BadInput(
            f"Probes need scikit-learn; `{install_command('hf')}` installs it."
        ) from None


def _regression(x: Floats, y: Ints, penalty: float) -> Any:
    """Return a fitted logistic regression; None if all rows have the same class."""
    if len(set(y.tolist())) < 2:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few steps may not converge for a weak penalty
        return _sklearn("linear_model").LogisticRegression(C=penalty, max_iter=200).fit(x, y)


def _odds(model: Any, x: Floats, y: Ints, classes: int) -> Floats:
    """Return the probabilities of all classes for each row; without a model, the only class of the
    training rows gets nearly all of the probability."""
    odds = np.full((len(x), classes), LEAST)
    if model is None:
        odds[:, y[0]] = 1.0
    else:
        odds[:, model.classes_] = model.predict_proba(x)
    normalised: Floats = odds / odds.sum(axis=1, keepdims=True)
    return normalised


def log_score(odds: Floats, y: Ints) -> Floats:
    """Return the negative log-probability of the true classes."""
    scores: Floats = -np.log(np.maximum(odds[np.arange(len(y)), y], LEAST))
    return scores


def brier(odds: Floats, y: Ints) -> Floats:
    """Return the Brier scores, summed over classes: 0 is perfect, 2 the worst."""
    true = np.zeros_like(odds)
    true[np.arange(len(y)), y] = 1.0
    scores: Floats = ((odds - true) ** 2).sum(axis=1)
    return scores


# --- one feature set ------------------------------------------------------------------------------


def fit(
    x: NDArray[Any],
    y: Ints,
    classes: int,
    groups: Groups,
    folds: Sequence[Fold],
    controls: Sequence[Ints] = (),
) -> list[HeldOutPredictions]:
    """Return the held-out predictions of a probe, then those of probes fitted to control labels.

    The penalty of the first probe is chosen within the training rows; control tasks use a fixed
    penalty.
    """
    label_sets = [y, *controls]
    odds = [np.full((len(y), classes), np.nan) for _ in label_sets]
    scores, chosen = [], []
    with one_thread("hf"):
        for fold in folds:
            train = np.asarray(x[fold.train], float)
            probe = LinearProbe(train)
            rows, tests = probe.reduce(train), probe.reduce(np.asarray(x[fold.test], float))
            penalty, score = _choose_penalty(rows, y[fold.train], classes, groups, fold.train)
            scores.append(score)
            chosen.append(penalty)
            for place, labels in enumerate(label_sets):
                training_labels = labels[fold.train]
                model = _regression(rows, training_labels, CONTROL_PENALTY if place else penalty)
                odds[place][fold.test] = _odds(model, tests, training_labels, classes)
    return [HeldOutPredictions(fitted_odds, scores, chosen) for fitted_odds in odds]


def _choose_penalty(
    rows: Floats,
    y: Ints,
    classes: int,
    groups: Groups,
    row_indices: Ints,
) -> tuple[float, float]:
    """Return the penalty with the best log score in inner folds, and that score."""
    partners = [groups.partners[row] for row in row_indices]
    units = [groups.units[row] for row in row_indices]
    try:
        crossed = crossed_folds(partners, units, blocks=INNER)
    except BadInput:  # one unit is left: nothing can be held out
        return PENALTIES[0], float("inf")
    # the corners of the crossing, in which every partner and every unit is held out once
    inner = [crossed[0], crossed[-1]]
    sums = []
    for penalty in PENALTIES:
        total, n = 0.0, 0
        for fold in inner:
            model = _regression(rows[fold.train], y[fold.train], penalty)
            odds = _odds(model, rows[fold.test], y[fold.train], classes)
            total += float(log_score(odds, y[fold.test]).sum())
            n += len(fold.test)
        sums.append(total / max(1, n))
    best = int(np.argmin(sums))
    return PENALTIES[best], sums[best]


def fit_trees(x: Floats, y: Ints, classes: int, folds: Sequence[Fold]) -> HeldOutPredictions:
    """Return the held-out predictions of boosted trees, which find combinations of features."""
    odds = np.full((len(y), classes), np.nan)
    trees = _sklearn("ensemble").HistGradientBoostingClassifier
    with one_thread("hf"):
        for fold in folds:
            labels, model = y[fold.train], None
            if len(set(labels.tolist())) > 1:
                learner = trees(max_iter=60, max_leaf_nodes=8, random_state=0)
                model = learner.fit(x[fold.train], labels)
            odds[fold.test] = _odds(model, x[fold.test], labels, classes)
    return HeldOutPredictions(odds, [], [])


# --- layers ---------------------------------------------------------------------------------------


def fit_layers(
    activations: NDArray[Any],
    y: Ints,
    classes: int,
    groups: Groups,
    folds: Sequence[Fold],
    layers: Sequence[int],
    controls: Sequence[Ints] = (),
) -> list[list[HeldOutPredictions]]:
    """Return, for each layer, the held-out predictions of the probe and of the control tasks.

    `activations` has the shape rows x layers x width.

    Raises:
        AssertionError: A fold shares a partner or a unit between training and test rows.
    """
    held_out_groups: dict[str, Sequence[Any]] = {"unit": groups.units}
    if len(set(groups.partners)) > 1:
        held_out_groups["partner"] = groups.partners
    wrong = leak(folds, held_out_groups)
    assert wrong is None, wrong
    jobs = [(activations[:, layer], y, classes, groups, folds, controls) for layer in layers]
    return in_parallel(fit, jobs)


def in_parallel(job: Any, argument_lists: Sequence[tuple[Any, ...]]) -> list[Any]:
    """Return the results of a job for all given arguments, in order; large jobs run in parallel."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    rows = sum(len(arguments[1]) for arguments in argument_lists)
    _sklearn("linear_model")  # which brings joblib
    if rows < MANY or (cores or 1) < 2:
        return [job(*arguments) for arguments in argument_lists]
    import joblib  # type: ignore[import-untyped]

    with joblib.parallel_config("loky", inner_max_num_threads=1):
        tasks = (joblib.delayed(job)(*arguments) for arguments in argument_lists)
        return list(joblib.Parallel(n_jobs=cores)(tasks))


def best_layer(
    fits: Sequence[HeldOutPredictions], folds: Sequence[Fold]
) -> tuple[HeldOutPredictions, list[int]]:
    """Return predictions that use, in each fold, the layer with the best log score in the inner
    folds.

    The second value is the index of the layer chosen in each fold.
    """
    odds = np.full_like(fits[0].odds, np.nan)
    chosen = []
    for number, fold in enumerate(folds):
        layer = int(np.argmin([layer_fit.inner[number] for layer_fit in fits]))
        odds[fold.test] = fits[layer].odds[fold.test]
        chosen.append(layer)
    inner = [fits[layer].inner[number] for number, layer in enumerate(chosen)]
    penalties = [fits[layer].penalties[number] for number, layer in enumerate(chosen)]
    return HeldOutPredictions(odds, inner, penalties), chosen


# --- controls -------------------------------------------------------------------------------------


def control_labels(y: Ints, classes: int, instances: Sequence[str], seed: int) -> Ints:
    """Return the labels of a control task: one label for each instance, drawn from all labels.

    Drawn labels are as unevenly distributed as the true ones. A probe predicts them better than a
    constant guess only if it has memorised instances or reads their letters, both of which the
    folds prevent.
    """
    rng = np.random.default_rng([seed, 46])
    label_of = {name: int(y[rng.integers(len(y))]) for name in sorted(set(instances))}
    return np.array([label_of[name] for name in instances], np.intp)


def fit_other_rows(
    x: NDArray[Any],
    y: Ints,
    classes: int,
    groups: Groups,
    folds: Sequence[Fold],
    *,
    others: NDArray[Any],
    partners: Sequence[str],
    units: Sequence[str],
    penalties: Sequence[float],
) -> HeldOutPredictions:
    """Return the predictions of the folds' probes for other rows, such as those of twins (the same
    problem with a mechanism in place of a mind).

    A row is predicted by a probe that was fitted without its partner and without its unit
    (instance, or set of option letters). Rows for which no fold has such a probe are left out.
    """
    odds = np.full((len(others), classes), np.nan)
    has_several_partners = len(set(groups.partners)) > 1
    for fold, penalty in zip(folds, penalties, strict=True):
        seen_partners = {groups.partners[row] for row in fold.train}
        seen_units = {groups.units[row] for row in fold.train}
        fits = [
            unit not in seen_units and (not has_several_partners or partner not in seen_partners)
            for partner, unit in zip(partners, units, strict=True)
        ]
        rows = np.flatnonzero(np.array(fits, bool) & np.isnan(odds[:, 0]))
        if not rows.size:
            continue
        train = np.asarray(x[fold.train], float)
        probe = LinearProbe(train)
        model = _regression(probe.reduce(train), y[fold.train], penalty)
        reduced = probe.reduce(np.asarray(others[rows], float))
        odds[rows] = _odds(model, reduced, y[fold.train], classes)
    return HeldOutPredictions(odds, [], [])


def directions(x: NDArray[Any], y: Ints, classes: int, penalty: float) -> NDArray[np.float32]:
    """Return the direction of each class in the residual stream, from all rows: classes x width.

    Moving the stream along a row raises the log-odds of that class. With two classes the first row
    is the negative of the second.
    """
    rows = np.asarray(x, float)
    probe = LinearProbe(rows)
    model = _regression(probe.reduce(rows), y, penalty)
    class_directions = np.zeros((classes, rows.shape[1]), np.float32)
    if model is not None:
        coefficients = model.coef_
        if len(model.classes_) == 2:
            coefficients = np.vstack([-coefficients, coefficients])
        class_directions[model.classes_] = probe.directions(coefficients)
    return class_directions
