"""Causal checks of probes: the residual stream is changed, and options are scored again.

Steering adds the direction of a class, fitted to the training rows of a fold, to the stream at the
last token of a held-out prompt. Patching replaces that stream with the stream of a paired episode,
in which another partner acts differently in the same round of the same instance. In the prompt of a
probe, the check is whether the forecast changes with the stream; in the prompt of a move, whether
the best reply to the inserted choice becomes likelier.

A dose is the length of an added vector: a dose of 1 is the typical distance of a training row from
the mean of its layer. Steering has two controls with vectors of the same length: random directions,
and the directions of a probe that was fitted to labels exchanged at random in each instance. The
control of patching is a paired episode in which the other partner acts in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from sally.core.errors import BadInput
from sally.core.log.events import Episode
from sally.core.rules.game import Seat
from sally.frames.replays import replay_for_measures
from sally.models.hf.intervention import Edit, EditedPrompt
from sally.represent import probes
from sally.represent.folds import Fold, crossed_folds, units_of
from sally.represent.prompts import OWN_MOVE, Decision, Place, decisions
from sally.represent.surface import NONE, As, code
from sally.stats.cluster_interval import mean_by_rule
from sally.stats.intervals import Estimate

Floats = NDArray[np.float64]
Kind = Literal["probe", "shuffled", "random"]
KINDS: tuple[Kind, ...] = ("probe", "shuffled", "random")
DOSES = (0.5, 1.0, 2.0, 4.0)
SEEDS = 3  # random directions
BLOCKS = 3  # of partners and of instances that are held out in turn
PENALTY = 0.03  # inverse strength of the probes' ridge penalty
SHARE = (0.0, 1.0)
Score = Callable[[Sequence[EditedPrompt]], list[Floats]]
"""Function that returns the log-probability of every option under every change."""


class Case(msgspec.Struct, frozen=True):
    """A decision with its prompt, and the options that correspond to each choice of the other
    player.

    In the prompt of a probe, the corresponding option is the one that names the choice; in the
    prompt of a move, the corresponding options are the best replies to the choice.
    """

    decision: Decision
    options: tuple[tuple[int, ...], ...]  # by choice: places among the decision's candidates

    @property
    def key(self) -> tuple[str, int, str, str]:
        """The key of the decision, which is the same for its probe prompt and its move prompt."""
        decision = self.decision
        return decision.episode, decision.turn, decision.seat, decision.about

    def options_of(self, label: int, kind: As) -> tuple[int, ...]:
        """Return the answer options that belong to the class `label`; `kind` defines the classes,
        as in `code`."""
        decision = self.decision
        places = [
            n for n, choice in enumerate(decision.choices) if code(decision, choice, kind) == label
        ]
        return tuple(sorted({option for n in places for option in self.options[n]}))


class DoseEffect(msgspec.Struct, frozen=True):
    """The effects of one dose (length of an added vector), averaged over all classes that were
    steered towards."""

    dose: float
    shift: Estimate  # of the log-odds of the options that go with the class
    changed: Estimate  # share of decisions whose likeliest option is another one
    distance: Estimate  # total variation between the odds of options before and after
    mass: Estimate  # probability that any option follows, as a share of that before


class Steered(msgspec.Struct, frozen=True):
    """The effects of steering one layer along one kind of direction, by dose."""

    layer: int
    kind: Kind
    doses: list[DoseEffect]
    slope: Estimate  # of the shift of log-odds on the dose, through the origin
    beyond: Estimate | None = None  # the probe's slope less this control's, paired


class Patched(msgspec.Struct, frozen=True):
    """The effects of replacing the residual stream in one layer with that of a paired episode.

    All values are shifts of the log-odds of the options that correspond to the paired partner's
    move against the options that correspond to the move of the episode's own partner.
    """

    layer: int
    other: Estimate  # the paired partner does otherwise
    same: Estimate | None  # the paired partner does the same
    beyond: Estimate | None  # other less same, where there are both
    natural: Estimate  # of the paired page itself: a stream that transfers all reaches this


class Causal(msgspec.Struct, frozen=True):
    """The causal check of one model at one player's decisions in one game."""

    model: str
    game: str
    player: str
    about: str
    at: Place
    kind: As
    classes: int
    decisions: int  # held out and changed
    trained: int  # rows that directions were fitted to, mean over folds
    instances: int
    partners: int
    folds: int
    lengths: dict[int, float]  # of a dose of 1 by layer, mean over folds
    norms: dict[int, float]  # of the stream by layer, mean over decisions
    steered: list[Steered]
    patched: list[Patched]


# --- cases ----------------------------------------------------------------------------------------


def cases(episodes: Sequence[Episode], about: str, place: Place) -> Iterator[Case]:
    """Yield the decisions whose options were scored, with the prompt of the probe or of the move.

    With the prompt of the move, decisions whose best reply does not depend on the other player's
    choice are left out.
    """
    all_decisions = decisions(episodes, about, place)
    if place == "probe":
        for decision in all_decisions:
            if options := _index_names(decision.candidates, decision.names):
                yield Case(decision, tuple((place,) for place in options))
        return
    own_moves = {
        (decision.episode, decision.turn, decision.seat): decision
        for decision in decisions(episodes, OWN_MOVE, "move")
    }
    episodes_by_id = {episode.id: episode for episode in episodes}
    replays: dict[str, Any] = {}
    for other_decision in all_decisions:
        own_move = own_moves.get((other_decision.episode, other_decision.turn, other_decision.seat))
        options = _index_names(other_decision.candidates, own_move.names) if own_move else None
        if own_move is None or options is None:
            continue
        if other_decision.episode not in replays:
            replays = {
                other_decision.episode: replay_for_measures(episodes_by_id[other_decision.episode])
            }
        replies = _replies(replays[other_decision.episode], other_decision, own_move, options)
        if len(set(replies)) > 1 and all(replies):
            yield Case(other_decision, replies)


def _index_names(candidates: Sequence[str], names: Sequence[str]) -> tuple[int, ...] | None:
    """Return the index of each name in `candidates`; None if the candidates are not exactly these
    names.

    Final full stops are ignored, because names are scored with a full stop if one of them is a
    prefix of another.
    """
    plain = [candidate.removesuffix(".") for candidate in candidates]
    if len(plain) < 2 or sorted(plain) != sorted(names):
        return None
    return tuple(plain.index(name) for name in names)


def _replies(
    played_episode: Any, decision: Decision, own_move: Decision, options: Sequence[int]
) -> tuple[tuple[int, ...], ...]:
    """Return the options that are best replies to each choice of the other player."""
    view = played_episode.replay.view(decision.turn, Seat(decision.seat))
    about = decision.about or next(
        str(s) for s in played_episode.replay.game.seats if str(s) != decision.seat
    )

    def best(choice: Any, move: Any) -> bool:
        return bool(
            played_episode.spec.is_best_reply(
                played_episode.replay.game, view, {about: choice}, move
            )
        )

    return tuple(
        tuple(
            option
            for option, move in zip(options, own_move.choices, strict=True)
            if best(choice, move)
        )
        for choice in decision.choices
    )


def draw_rows(
    rows: Iterable[int], all_cases: Sequence[Case], limit: int | None, seed: int
) -> list[int]:
    """Return at most `limit` rows, drawn by a hash of the decision.

    The draw is the same for the probe prompt and the move prompt of a decision.
    """

    def order(row: int) -> bytes:
        return blake2b(f"{seed}/{all_cases[row].key}".encode(), digest_size=16).digest()

    return sorted(sorted(rows, key=order)[:limit])


# --- the check ------------------------------------------------------------------------------------


def causal(
    all_cases: Sequence[Case],
    streams: NDArray[Any],
    score: Score,
    *,
    model: str,
    about: str,
    place: Place,
    kind: As = "action",
    layers: Sequence[int],
    limit: int | None = None,
    seed: int = 0,
    doses: Sequence[float] = DOSES,
) -> Causal:
    """Change the stream of held-out decisions along directions fitted without them.

    Args:
        all_cases: Decisions of one player in one game, all with the prompt of the move or of the
        probe.
        streams: Their activations: decisions x layers x width.
        score: Function that scores the options of a prompt under changes of the stream.
        model: The name of the network.
        about: The meaning of the labels: a probe, `own_move` or `own_forecast`.
        place: The prompt in which the stream is changed: move or probe.
        kind: The kind of label.
        layers: The layers that are changed, one at a time.
        limit: The maximum number of decisions changed; directions are fitted to all training rows.
        seed: The seed of folds, draws and random directions.
        doses: Lengths of the changes.

    Raises:
        BadInput: Fewer than two classes or instances are left.
    """
    y = np.array([code(case.decision, case.decision.value, kind) for case in all_cases], np.intp)
    labelled_rows: list[int] = np.flatnonzero(y != NONE).tolist()
    all_cases, streams, y = (
        [all_cases[row] for row in labelled_rows],
        streams[labelled_rows],
        y[labelled_rows],
    )
    classes = int(y.max(initial=-1)) + 1
    if len(set(y.tolist())) < 2:
        raise BadInput(f"All {len(y)} decisions have the same label; steering needs two.")
    rows = [case.decision for case in all_cases]
    instances = [decision.instance for decision in rows]
    units = units_of(instances, [decision.letters for decision in rows])
    folds = crossed_folds([decision.partner for decision in rows], units, seed, BLOCKS)
    chosen = set(draw_rows(range(len(all_cases)), all_cases, limit, seed))
    data = _LabelledStreams(all_cases, streams, y, classes, kind, instances)
    parts: list[_Part] = []
    for number, fold in enumerate(folds):
        test = [row for row in fold.test.tolist() if row in chosen]
        if test:
            rng = np.random.default_rng([seed, number, 46])
            parts.append(_steer(data, fold, test, score, layers=layers, doses=doses, rng=rng))
    tested = [row for part in parts for row in part.rows]
    return Causal(
        model=model,
        game=rows[0].game,
        player=rows[0].player,
        about=about,
        at=place,
        kind=kind,
        classes=classes,
        decisions=len(tested),
        trained=round(float(np.mean([part.trained for part in parts]))) if parts else 0,
        instances=len({instances[row] for row in tested}),
        partners=len({decision.partner for decision in rows}),
        folds=len(folds),
        lengths={
            layer: round(float(np.mean([part.lengths[layer] for part in parts])), 4)
            for layer in layers
        },
        norms={
            layer: round(float(np.linalg.norm(streams[:, layer].astype(float), axis=1).mean()), 4)
            for layer in layers
        },
        steered=_responses(parts, layers, doses, instances),
        patched=_patch(all_cases, streams, sorted(tested), layers, score),
    )


class _LabelledStreams(msgspec.Struct):
    """Decisions with their activations and labels, row by row."""

    cases: Sequence[Case]
    streams: NDArray[Any]  # rows x layers x width
    y: NDArray[np.intp]
    classes: int
    kind: As  # of the labels
    instances: Sequence[str]


class _Part(msgspec.Struct):
    """The effects of steering the test rows of one fold, by layer and kind of direction: rows x
    doses x measures."""

    rows: list[int]
    trained: int
    lengths: dict[int, float]
    values: dict[tuple[int, Kind], Floats]


MEASURES = ("shift", "changed", "distance", "mass")


def _steer(
    data: _LabelledStreams,
    fold: Fold,
    test: list[int],
    score: Score,
    *,
    layers: Sequence[int],
    doses: Sequence[float],
    rng: np.random.Generator,
) -> _Part:
    """Return how the test rows of a fold respond when they are steered along directions fitted to
    its training rows."""
    lengths, edits = dict[int, float](), list[Edit | None]([None])
    plan: list[tuple[int, Kind, int, int]] = []  # layer, kind, class, place of the dose
    for layer in layers:
        train = np.asarray(data.streams[fold.train, layer], float)
        lengths[layer] = float(np.sqrt(train.var(axis=0).sum()))
        for name, vectors in _directions(data, fold, train, rng):
            for label, vector in enumerate(vectors):
                for place, dose in enumerate(doses):
                    edits.append(Edit(layer, dose * lengths[layer] * vector))
                    plan.append((layer, name, label, place))
    decisions = [data.cases[row].decision for row in test]
    edited_prompts = [EditedPrompt(d.prompt, d.candidates, tuple(edits)) for d in decisions]
    values: dict[tuple[int, Kind], Floats] = {
        (layer, name): np.full((len(test), len(doses), len(MEASURES)), np.nan)
        for layer in layers
        for name in KINDS
    }
    for index, (row, logs) in enumerate(zip(test, score(edited_prompts), strict=True)):
        sets = [data.cases[row].options_of(label, data.kind) for label in range(data.classes)]
        gathered: dict[tuple[int, Kind, int], list[tuple[float, ...]]] = {}
        for (layer, name, label, place), log in zip(plan, logs[1:], strict=True):
            measured = _measure_change(logs[0], log, sets[label])
            if measured is not None:
                gathered.setdefault((layer, name, place), []).append(measured)
        for (layer, name, place), effects in gathered.items():
            values[layer, name][index, place] = np.mean(effects, axis=0)
    return _Part(test, len(fold.train), lengths, values)


def _directions(
    data: _LabelledStreams, fold: Fold, train: Floats, rng: np.random.Generator
) -> Iterator[tuple[Kind, Floats]]:
    """Yield the unit-length directions of the probe and of its controls, one per class."""
    y, classes = data.y[fold.train], data.classes
    yield "probe", _unit(probes.directions(train, y, classes, PENALTY))
    homes = [data.instances[row] for row in fold.train]
    exchanged = exchanged_labels(y, classes, homes, int(rng.integers(2**31)))
    yield "shuffled", _unit(probes.directions(train, exchanged, classes, PENALTY))
    for _ in range(SEEDS):
        yield "random", _unit(rng.normal(size=(classes, train.shape[1])))


def exchanged_labels(
    y: NDArray[np.intp], classes: int, instances: Sequence[str], seed: int
) -> NDArray[np.intp]:
    """Return labels in which the classes of each instance are exchanged at random.

    Decisions of an instance that had the same label still have the same label.
    """
    rng = np.random.default_rng([seed, 46])
    exchanged = {name: rng.permutation(classes) for name in sorted(set(instances))}
    labels = [exchanged[name][label] for name, label in zip(instances, y.tolist(), strict=True)]
    return np.array(labels, np.intp)


def _unit(vectors: NDArray[Any]) -> Floats:
    rows = np.asarray(vectors, float)
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    unit_vectors: Floats = rows / np.where(norms > 0, norms, 1.0)
    return unit_vectors


def _measure_change(
    logs_before: Floats, logs_after: Floats, options: Sequence[int]
) -> tuple[float, float, float, float] | None:
    """Return four effects of a change; None if `options` is empty or contains all options.

    The effects are the shift of these options' log-odds, whether the likeliest option changed, the
    total variation distance between the odds before and after, and the ratio of the total
    probability of all options after the change to that before.
    """
    if not 0 < len(options) < len(logs_before):
        return None
    odds = [np.exp(logs - np.logaddexp.reduce(logs)) for logs in (logs_before, logs_after)]
    mass = float(np.exp(np.logaddexp.reduce(logs_after) - np.logaddexp.reduce(logs_before)))
    return (
        log_odds(logs_after, options) - log_odds(logs_before, options),
        float(odds[0].argmax() != odds[1].argmax()),
        float(np.abs(odds[0] - odds[1]).sum() / 2),
        mass,
    )


def log_odds(logs: Floats, options: Sequence[int]) -> float:
    """Return the log-odds of some options against the others, from log-probabilities.

    >>> round(log_odds(np.log([0.5, 0.25, 0.25]), (0,)), 6)
    0.0
    """
    others = [n for n in range(len(logs)) if n not in options]
    return float(np.logaddexp.reduce(logs[list(options)]) - np.logaddexp.reduce(logs[others]))


def _responses(
    parts: Sequence[_Part], layers: Sequence[int], doses: Sequence[float], instances: Sequence[str]
) -> list[Steered]:
    clusters = [instances[row] for part in parts for row in part.rows]
    scale = np.array(doses) / float(np.sum(np.square(doses)))
    responses = []
    for layer in layers:
        slopes: dict[str, Floats] = {}
        for kind in KINDS:
            values = np.concatenate([part.values[layer, kind] for part in parts])
            slopes[kind] = values[:, :, 0] @ scale
            responses.append(
                Steered(
                    layer,
                    kind,
                    [
                        DoseEffect(dose, *(_mean_over(values[:, place, n], clusters, name)
                                           for n, name in enumerate(MEASURES)))
                        for place, dose in enumerate(doses)
                    ],
                    _mean_over(slopes[kind], clusters),
                    None
                    if kind == "probe"
                    else _mean_over(slopes["probe"] - slopes[kind], clusters),
                )
            )  # fmt: skip
    return responses


def _mean_over(values: Floats, clusters: Sequence[str], measure: str = "") -> Estimate:
    """Return the mean over decisions, without missing values, and an interval over instances."""
    known_rows: list[int] = np.flatnonzero(~np.isnan(values)).tolist()
    bounds = SHARE if measure in ("changed", "distance") else None
    return mean_by_rule(values[known_rows], [clusters[row] for row in known_rows], bounds)


# --- patching -------------------------------------------------------------------------------------


def pairs(all_cases: Sequence[Case], rows: Sequence[int]) -> dict[int, tuple[int, int | None]]:
    """Return, for each row, two rows of the same instance and round, but with another partner.

    In the first, the partner acts differently; in the second, which may be None, it acts in the
    same way. Rows without the first are left out.
    """
    places: dict[Any, list[int]] = {}
    for row, case in enumerate(all_cases):
        places.setdefault(_place(case), []).append(row)
    chosen: dict[int, tuple[int, int | None]] = {}
    for row in rows:
        decision = all_cases[row].decision
        candidates = [
            candidate
            for candidate in places[_place(all_cases[row])]
            if all_cases[candidate].decision.partner != decision.partner
            and all_cases[candidate].decision.candidates == decision.candidates
        ]
        other_value_rows = [n for n in candidates if all_cases[n].decision.value != decision.value]
        same_value_rows = [n for n in candidates if all_cases[n].decision.value == decision.value]
        if other_value_rows:
            # The pair rotates with the round, so that no partner is always the donor.
            chosen[row] = (
                other_value_rows[decision.turn % len(other_value_rows)],
                same_value_rows[decision.turn % len(same_value_rows)] if same_value_rows else None,
            )
    return chosen


def _place(case: Case) -> tuple[Any, ...]:
    decision = case.decision
    return (
        decision.game,
        decision.player,
        decision.instance,
        decision.turn,
        decision.seat,
        decision.about,
    )


def _patch(
    all_cases: Sequence[Case],
    streams: NDArray[Any],
    rows: Sequence[int],
    layers: Sequence[int],
    score: Score,
) -> list[Patched]:
    """Return the effects of replacing the residual stream of each row with that of a paired
    decision."""
    paired = {
        row: row_pair
        for row, row_pair in pairs(all_cases, rows).items()
        if _against(all_cases[row], all_cases[row], all_cases[row_pair[0]]) is not None
    }
    if not paired:
        return []
    donors = sorted({other_row for other_row, _ in paired.values()})
    edited_prompts = []
    for row, (other_row, same_row) in paired.items():
        edits: list[Edit | None] = [None]
        for donor in (other_row, same_row):
            edits += [
                None if donor is None else Edit(layer, streams[donor, layer], replace=True)
                for layer in layers
            ]
        decision = all_cases[row].decision
        edited_prompts.append(EditedPrompt(decision.prompt, decision.candidates, tuple(edits)))
    for row in donors:
        decision = all_cases[row].decision
        edited_prompts.append(EditedPrompt(decision.prompt, decision.candidates, (None,)))
    scores = score(edited_prompts)
    natural = dict(zip(donors, (logs[0] for logs in scores[len(paired) :]), strict=True))
    shifts = np.full((len(paired), len(layers), 3), np.nan)
    for index, ((row, (other_row, same_row)), logs) in enumerate(
        zip(paired.items(), scores[: len(paired)], strict=True)
    ):
        options = _against(all_cases[row], all_cases[row], all_cases[other_row])
        donor_options = _against(all_cases[other_row], all_cases[row], all_cases[other_row])
        assert options is not None
        base = _contrast(logs[0], options)
        for place in range(len(layers)):
            shifts[index, place, 0] = _contrast(logs[1 + place], options) - base
            if same_row is not None:
                shifts[index, place, 1] = _contrast(logs[1 + len(layers) + place], options) - base
            if donor_options is not None:
                shifts[index, place, 2] = _contrast(natural[other_row], donor_options) - base
    clusters = [all_cases[row].decision.instance for row in paired]
    result = []
    for place, layer in enumerate(layers):
        shift_other, shift_same, natural_ = (shifts[:, place, n] for n in range(3))
        has_both = bool((~np.isnan(shift_same)).any())
        result.append(
            Patched(
                layer,
                _mean_over(shift_other, clusters),
                _mean_over(shift_same, clusters) if has_both else None,
                _mean_over(shift_other - shift_same, clusters) if has_both else None,
                _mean_over(natural_, clusters),
            )
        )
    return result


Sides = tuple[tuple[int, ...], tuple[int, ...]]


def _against(page: Case, own_case: Case, other_case: Case) -> Sides | None:
    """Return two groups of the options of `page`: those that match the other player's move at the
    decision `other_case`, and those that match its move at the decision `own_case`. An option
    matches a move
    if it names the move or is a best reply to it.

    Return None if the groups overlap, or if a move is not among the choices of `page`.
    """
    choices = page.decision.choices
    if other_case.decision.value not in choices or own_case.decision.value not in choices:
        return None
    other_options, own_options = (
        page.options[choices.index(case.decision.value)] for case in (other_case, own_case)
    )
    return None if set(other_options) & set(own_options) else (other_options, own_options)


def _contrast(logs: Floats, sides: Sides) -> float:
    other_logs, own_logs = (np.logaddexp.reduce(logs[list(side)]) for side in sides)
    return float(other_logs - own_logs)


# --- groups ---------------------------------------------------------------------------------------


def by_player(all_cases: Iterable[Case]) -> Mapping[tuple[str, str], list[Case]]:
    """Return the cases by game and player, without prompts that describe the other player as a
    mechanism instead of a mind (twins)."""
    groups: dict[tuple[str, str], list[Case]] = {}
    for case in all_cases:
        if not case.decision.twin:
            groups.setdefault((case.decision.game, case.decision.player), []).append(case)
    return groups


def spaced_layers(count: int, limit: int = 4) -> list[int]:
    """Return evenly spaced layers of a network, without the embeddings and the last layer.

    >>> spaced(25)
    [5, 10, 14, 19]
    """
    last = count - 1
    if last <= limit:
        return list(range(1, last)) or [last]
    return sorted({round(last * n / (limit + 1)) for n in range(1, limit + 1)})
