"""What a model represents, says and does at the same decisions: scores, controls and joint
tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import scipy
from numpy.typing import NDArray

from sally.core.errors import BadInput
from sally.represent import probes
from sally.represent.folds import crossed_folds, held_out, leak, units_of
from sally.represent.probes import Groups, HeldOutPredictions
from sally.represent.prompts import Decision
from sally.represent.surface import NONE, Labels, features
from sally.stats.cluster_interval import gap_by_rule, mean_by_rule
from sally.stats.intervals import Estimate
from sally.stats.power import t_power
from sally.store import Folder

CONTROLS = 3  # control tasks whose accuracy is averaged
ALL = "all partners"
FOLDER = "represented"  # in a store
SHARE, GAP = (0.0, 1.0), (-1.0, 1.0)
POWER = 0.8


class LayerScore(msgspec.Struct, frozen=True):
    """The held-out scores of one layer's probe."""

    layer: int
    accuracy: Estimate
    brier: Estimate
    log: Estimate
    control: float  # accuracy on labels that are drawn at random for each instance
    untrained: float | None = None  # accuracy of an untrained network of the same shape


class Arms(msgspec.Struct, frozen=True):
    """How often three things are right at the same decisions, by partner or overall: what a
    classifier reads from the model's activations (represented), what the model says (said), and its
    move (done).

    `joint` holds the share of decisions for each combination of right and wrong, named by what is
    right, such as 'represented and done'; `independent` holds the shares expected if the three were
    independent given the partner.
    """

    partner: str
    n: int
    represented: Estimate
    said: Estimate
    done: Estimate
    blind: float  # share of optimal moves of a random pick
    loss: float | None  # mean payoff that a decision gave up, against optimal play
    joint: dict[str, Estimate]
    independent: dict[str, float]


class RepresentationResult(msgspec.Struct, frozen=True):
    """The probes of one model at the decisions of one player in one game, with all controls."""

    model: str
    game: str
    player: str
    about: str  # label, and the agent it is about if there are several
    at: str
    kind: str  # of the label: action, shown or change
    classes: tuple[str, ...]
    decisions: int
    instances: int
    partners: tuple[str, ...]
    held_out: tuple[str, ...]  # what a test decision shares with no training decision
    folds: int
    majority: Estimate  # accuracy of the commonest class of the training rows
    chosen_layers: tuple[int, ...]  # by fold
    accuracy: Estimate
    brier: Estimate
    log: Estimate
    surface: Estimate  # accuracy of the better of two learners on surface features
    surface_learner: str
    surface_brier: Estimate
    beyond: Estimate  # accuracy less that of the surface, paired
    beyond_brier: Estimate  # Brier score of the surface less that of the probe, paired
    detects: float | None  # smallest difference beyond the surface found with a power of .8
    control: Estimate
    selectivity: Estimate  # accuracy less that on control tasks, paired
    untrained: Estimate | None
    beyond_untrained: Estimate | None
    twin: Estimate | None  # accuracy of the same probes on pages about a mechanism
    twin_gap: Estimate | None  # less the accuracy on decisions about a mind
    twins: int
    said: Estimate | None  # accuracy of the player's own forecasts, in the same terms
    layers: list[LayerScore]
    arms: list[Arms]
    predictions: list[tuple[str, int, str, int, int, float]]
    """episode, turn, about, label, predicted class, probability of the label."""


Tell = Callable[[str], None]


def fit_representation(
    labels: Labels,
    streams: NDArray[Any],
    *,
    model: str,
    about: str,
    place: str,
    layers: Sequence[int] | None = None,
    untrained: NDArray[Any] | None = None,
    twins: tuple[Labels, NDArray[Any]] | None = None,
    seed: int = 0,
    tell: Tell = lambda sentence: None,
) -> RepresentationResult:
    """Fit probes with all controls to the decisions of one player in one game.

    Args:
        labels: The decisions with their labels.
        streams: Their activations: decisions x layers x width.
        model: The name of the network.
        about: The meaning of the labels: a probe, `own_move` or `own_forecast`.
        place: Where the stream was read: move or probe.
        layers: The layers to fit; None means all.
        untrained: Activations of an untrained network of the same shape.
        twins: Decisions in prompts about a mechanism in place of a mind, with their activations.
        seed: The seed of folds and control tasks.
        tell: Called with the name of each step, to report progress.

    Raises:
        BadInput: There are too few decisions, instances or classes.
    """
    rows, y, classes = labels.decisions, labels.y, len(labels.classes)
    if len(set(y.tolist())) < 2:
        raise BadInput(f"All {len(rows)} decisions have the same label; a probe needs two.")
    groups, held_out_values = _groups(rows), _held_out_groups(rows)
    folds = crossed_folds(groups.partners, groups.units, seed)
    wrong = leak(folds, held_out_values)
    if wrong is not None:
        raise BadInput(wrong)
    instances = [decision.instance for decision in rows]
    chosen = list(range(streams.shape[1])) if layers is None else list(layers)

    exchanged = [
        probes.control_labels(y, classes, instances, seed + number) for number in range(CONTROLS)
    ]
    tell("probes and control tasks")
    layer_fits = probes.fit_layers(streams, y, classes, groups, folds, chosen, exchanged)
    fits = [layer_fit[0] for layer_fit in layer_fits]
    best, by_fold = probes.best_layer(fits, folds)
    tested = best.was_tested
    if not tested.any():
        raise BadInput("No decision can be tested: too few partners or instances.")
    tell("surface")
    surface, learner = _surface(labels, groups, folds)
    control_right, control_layers = _controls(
        [layer_fit[1:] for layer_fit in layer_fits], exchanged, folds, by_fold
    )
    blank = None
    if untrained is not None:
        tell("untrained network")
        plain = probes.fit_layers(untrained, y, classes, groups, folds, chosen)
        blank = [layer_fit[0] for layer_fit in plain]
    tell("intervals")
    test_instances = [instances[n] for n in np.flatnonzero(tested)]

    def mean_over(values: NDArray[Any], bounds: tuple[float, float] | None) -> Estimate:
        return mean_by_rule(np.asarray(values, float)[tested], test_instances, bounds)

    hit = _right(best, y)
    surface_hit = _right(surface, y)
    blank_best = probes.best_layer(blank, folds)[0] if blank is not None else None
    scores = _scores(best.odds, y)
    surface_scores = _scores(surface.odds, y)
    beyond = mean_over(hit - surface_hit, GAP)
    return RepresentationResult(
        model=model,
        game=rows[0].game,
        player=rows[0].player,
        about=about,
        at=place,
        kind=labels.kind,
        classes=labels.classes,
        decisions=int(tested.sum()),
        instances=len(set(test_instances)),
        partners=tuple(sorted({short_partner(decision.partner) for decision in rows})),
        held_out=tuple(held_out_values),
        folds=len(folds),
        majority=mean_over(_majority(y, folds), SHARE),
        chosen_layers=tuple(chosen[place] for place in by_fold),
        accuracy=mean_over(hit, SHARE),
        brier=mean_over(scores["brier"], (0.0, 2.0)),
        log=mean_over(scores["log"], None),
        surface=mean_over(surface_hit, SHARE),
        surface_learner=learner,
        surface_brier=mean_over(surface_scores["brier"], (0.0, 2.0)),
        beyond=beyond,
        beyond_brier=mean_over(surface_scores["brier"] - scores["brier"], None),
        detects=detects(beyond, len(set(test_instances))),
        control=mean_over(control_right, SHARE),
        selectivity=mean_over(hit - control_right, GAP),
        untrained=None if blank_best is None else mean_over(_right(blank_best, y), SHARE),
        beyond_untrained=None
        if blank_best is None
        else mean_over(hit - _right(blank_best, y), GAP),
        **_twins(twins, streams, labels, groups, folds, best=best, chosen=chosen, by_fold=by_fold),
        said=_forecast_accuracy(labels, tested),
        layers=[
            LayerScore(
                layer,
                mean_over(_right(layer_fit, y), SHARE),
                mean_over(_scores(layer_fit.odds, y)["brier"], (0.0, 2.0)),
                mean_over(_scores(layer_fit.odds, y)["log"], None),
                float(control_layers[place]),
                None if blank is None else float(_right(blank[place], y)[tested].mean()),
            )
            for place, (layer, layer_fit) in enumerate(zip(chosen, fits, strict=True))
        ],
        arms=arms(labels, best),
        predictions=[
            (
                decision.episode,
                decision.turn,
                decision.about,
                int(y[n]),
                int(best.likeliest_class[n]),
                round(float(best.odds[n, y[n]]), 4),
            )
            for n, decision in enumerate(rows)
            if tested[n]
        ],
    )


def _groups(rows: Sequence[Decision]) -> Groups:
    instances, letters = (
        [decision.instance for decision in rows],
        [decision.letters for decision in rows],
    )
    return Groups([decision.partner for decision in rows], units_of(instances, letters))


def _held_out_groups(rows: Sequence[Decision]) -> dict[str, Sequence[str]]:
    return held_out(
        [decision.partner for decision in rows],
        [decision.instance for decision in rows],
        [decision.letters for decision in rows],
    )


def _right(fitted: HeldOutPredictions, y: NDArray[np.intp]) -> NDArray[np.float64]:
    hits: NDArray[np.float64] = (fitted.likeliest_class == y).astype(float)
    return hits


def _scores(odds: NDArray[np.float64], y: NDArray[np.intp]) -> dict[str, NDArray[np.float64]]:
    filled = np.where(np.isnan(odds), 1 / odds.shape[1], odds)
    return {"brier": probes.brier(filled, y), "log": probes.log_score(filled, y)}


def _majority(y: NDArray[np.intp], folds: Sequence[Any]) -> NDArray[np.float64]:
    hits = np.zeros(len(y))
    for fold in folds:
        commonest = np.bincount(y[fold.train]).argmax()
        hits[fold.test] = y[fold.test] == commonest
    return hits


def _surface(
    labels: Labels, groups: Groups, folds: Sequence[Any]
) -> tuple[HeldOutPredictions, str]:
    """Return the predictions of the better of two learners on surface features, and its name.

    Choosing the better one by its own test accuracy favours this baseline.
    """
    _, x = features(labels)
    classes = len(labels.classes)
    learners = {
        "logistic": probes.fit(x, labels.y, classes, groups, folds)[0],
        "trees": probes.fit_trees(x, labels.y, classes, folds),
    }
    name = max(learners, key=lambda learner: float(_right(learners[learner], labels.y).sum()))
    return learners[name], name


def _controls(
    fits: Sequence[Sequence[HeldOutPredictions]],
    exchanged: Sequence[NDArray[np.intp]],
    folds: Sequence[Any],
    by_fold: Sequence[int],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return how well the control labels are predicted: for each row, in the layer chosen in its
    fold; and for each layer, over all tested rows."""
    hits = np.array(
        [
            [
                _right(control_fit, labels)
                for control_fit, labels in zip(layer, exchanged, strict=True)
            ]
            for layer in fits
        ]
    ).mean(axis=1)  # layers x rows
    right = np.zeros(hits.shape[1])
    for place, fold in zip(by_fold, folds, strict=True):
        right[fold.test] = hits[place, fold.test]
    tested = fits[0][0].was_tested
    return right, hits[:, tested].mean(axis=1)


def _twins(
    twins: tuple[Labels, NDArray[Any]] | None,
    streams: NDArray[Any],
    labels: Labels,
    groups: Groups,
    folds: Sequence[Any],
    *,
    best: HeldOutPredictions,
    chosen: Sequence[int],
    by_fold: Sequence[int],
) -> dict[str, Any]:
    """Return the accuracy of the same probes on prompts about a mechanism in place of a mind
    (twins), in the layer that most folds chose."""
    nothing: dict[str, Any] = {"twin": None, "twin_gap": None, "twins": 0}
    if twins is None or not len(twins[0].y) or twins[0].classes != labels.classes:
        return nothing
    twin_labels, others = twins
    layer = chosen[int(np.bincount(by_fold).argmax())]
    partners = [decision.partner for decision in twin_labels.decisions]
    instances = [decision.instance for decision in twin_labels.decisions]
    letters = [decision.letters for decision in twin_labels.decisions]
    by_letters = set(groups.units) <= {decision.letters for decision in labels.decisions}
    predictions = probes.fit_other_rows(
        streams[:, layer],
        labels.y,
        len(labels.classes),
        groups,
        folds,
        others=others[:, layer],
        partners=partners,
        units=letters if by_letters else instances,
        penalties=best.penalties,
    )
    is_tested = predictions.was_tested
    if not is_tested.any():
        return nothing
    hits = _right(predictions, twin_labels.y)[is_tested]
    test_instances = [instances[n] for n in np.flatnonzero(is_tested)]
    # minds with the partners and instances that twins have, too
    pairs = {(partners[n], instances[n]) for n in np.flatnonzero(is_tested)}
    minds = (
        np.array(
            [(decision.partner, decision.instance) in pairs for decision in labels.decisions], bool
        )
        & best.was_tested
    )
    mind_hits = _right(best, labels.y)[minds]
    homes = [labels.decisions[n].instance for n in np.flatnonzero(minds)]
    return {
        "twin": mean_by_rule(hits, test_instances, SHARE),
        "twin_gap": gap_by_rule(hits, mind_hits, [*test_instances, *homes], GAP)
        if len(mind_hits)
        else None,
        "twins": int(is_tested.sum()),
    }


def detects(estimate: Estimate, clusters: int) -> float | None:
    """Return the smallest difference that this number of clusters detects with a power of .8.

    The standard error is taken from the estimate's own interval.

    >>> detects(Estimate(0.0, -0.1, 0.1, 700, "t over 36 clusters"), 36)
    0.142
    """
    if estimate.low is None or estimate.high is None or estimate.high <= estimate.low:
        return None
    edge = float(scipy.special.stdtrit(clusters - 1, 0.975))
    error = (estimate.high - estimate.low) / 2 / edge
    low, high = 0.0, (8 if clusters > 2 else 40) * error  # beyond them the power exceeds .8
    while high - low > 1e-3 * error:
        middle = (low + high) / 2
        enough = t_power(clusters, middle, error**2 * clusters) >= POWER
        low, high = (low, middle) if enough else (middle, high)
    return round(high, 4)


def _forecast_accuracy(labels: Labels, tested: NDArray[np.bool_]) -> Estimate | None:
    has_forecast = tested & (labels.forecasts != NONE)
    if not has_forecast.any():
        return None
    instances = [labels.decisions[n].instance for n in np.flatnonzero(has_forecast)]
    return mean_by_rule(
        (labels.forecasts == labels.y)[has_forecast].astype(float), instances, SHARE
    )


# --- the joint table ------------------------------------------------------------------------------

NAMES = ("represented", "said", "done")


def name_combination(right: Sequence[bool]) -> str:
    """Return the name of a combination: which of represented, said and done is right.

    >>> name_combination((True, False, True))
    'represented and done'
    """
    right_names = [name for name, is_right in zip(NAMES, right, strict=True) if is_right]
    return " and ".join(right_names) if right_names else "none"


COMBINATIONS = tuple(product((True, False), repeat=3))


def arms(labels: Labels, fitted: HeldOutPredictions) -> list[Arms]:
    """Return, overall and by partner, how often three things are right at the same decision: what a
    classifier reads from the model's activations (represented), what the model says (said), and its
    move (done).

    Decisions are left out if one of the three is unknown.
    """
    complete_rows = [
        n
        for n, decision in enumerate(labels.decisions)
        if fitted.was_tested[n]
        and labels.forecasts[n] != NONE
        and decision.best is not None
        and decision.true is not None
    ]
    if not complete_rows:
        return []
    right = np.array(
        [
            (
                fitted.likeliest_class[n] == labels.y[n],
                labels.forecasts[n] == labels.y[n],
                labels.decisions[n].did in (labels.decisions[n].best or ()),
            )
            for n in complete_rows
        ],
        bool,
    )
    rows = [labels.decisions[n] for n in complete_rows]
    partners = sorted({decision.partner for decision in rows})
    parts = [ALL, *partners] if len(partners) > 1 else [ALL]
    return [
        _arms(
            part,
            [n for n, decision in enumerate(rows) if part in (ALL, decision.partner)],
            rows,
            right,
        )
        for part in parts
    ]


def _arms(
    partner: str, row_indices: Sequence[int], rows: Sequence[Decision], right: NDArray[np.bool_]
) -> Arms:
    part_rows, part_right = [rows[n] for n in row_indices], right[list(row_indices)]
    instances = [decision.instance for decision in part_rows]

    def mean_over(values: NDArray[np.bool_]) -> Estimate:
        return mean_by_rule(values.astype(float), instances, SHARE)

    losses = [decision.loss for decision in part_rows if decision.loss is not None]
    return Arms(
        partner=partner if partner == ALL else short_partner(partner),
        n=len(part_rows),
        represented=mean_over(part_right[:, 0]),
        said=mean_over(part_right[:, 1]),
        done=mean_over(part_right[:, 2]),
        blind=float(
            np.mean([len(decision.best or ()) / max(1, decision.options) for decision in part_rows])
        ),
        loss=float(np.mean(losses)) if losses else None,
        joint={
            name_combination(combination): mean_over((part_right == combination).all(axis=1))
            for combination in COMBINATIONS
        },
        independent=_independent(part_rows, part_right),
    )


def _independent(rows: Sequence[Decision], right: NDArray[np.bool_]) -> dict[str, float]:
    """Return the share of each combination of represented, said and done that would be expected if
    the three were independent given the partner."""
    shares_by_name = dict.fromkeys(map(name_combination, COMBINATIONS), 0.0)
    for partner in {decision.partner for decision in rows}:
        partner_right = right[[n for n, decision in enumerate(rows) if decision.partner == partner]]
        shares = partner_right.mean(axis=0)
        for combination in COMBINATIONS:
            chance = np.prod(np.where(combination, shares, 1 - shares))
            shares_by_name[name_combination(combination)] += (
                float(chance) * len(partner_right) / len(rows)
            )
    return shares_by_name


def short_partner(name: str) -> str:
    """Return a partner's label without the table by which the partner is defined, if any."""
    if len(name) <= 40:
        return name
    from hashlib import blake2b

    word = name.partition(" ")[0]
    return f"{word} {blake2b(name.encode(), digest_size=2).hexdigest()}"


# --- files ----------------------------------------------------------------------------------------


def write_results(results: Sequence[RepresentationResult], path: Path) -> None:
    """Write results as one JSON file."""
    Folder(path.parent).write(path.name, msgspec.json.encode(list(results)) + b"\n")


def read_results(location: Path) -> list[RepresentationResult]:
    """Return the results in a file or beside a store; an empty list if a store has no results.

    Raises:
        BadInput: A file cannot be read.
    """
    beside = (path for path in (location / FOLDER).glob("*.json") if "-causal-" not in path.name)
    paths = [location] if location.is_file() else sorted(beside)
    results: list[RepresentationResult] = []
    for path in paths:
        try:
            results += msgspec.json.decode(path.read_bytes(), type=list[RepresentationResult])
        except (OSError, msgspec.DecodeError) as error:
            raise BadInput(f"{path} was not written by `sally represent`: {error}") from None
    return results


def by_group(
    decisions: Sequence[Decision], place: str
) -> Mapping[tuple[str, str, str], list[Decision]]:
    """Return decisions by game, player and, if a prompt has labels about several seats, the
    seat."""
    subjects: dict[tuple[str, str], set[str]] = {}
    for decision in decisions:
        subjects.setdefault((decision.episode, str(decision.turn)), set()).add(decision.about)
    has_several = place == "move" and any(
        len(group_subjects) > 1 for group_subjects in subjects.values()
    )
    groups: dict[tuple[str, str, str], list[Decision]] = {}
    for decision in decisions:
        key = (decision.game, decision.player, decision.about if has_several else "")
        groups.setdefault(key, []).append(decision)
    return groups
