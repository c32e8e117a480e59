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
from sally.frames.replays import played
from sally.models.hf.edited import Edit, EditedPrompt
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
        one = self.decision
        return one.episode, one.turn, one.seat, one.about

    def options_of(self, label: int, kind: As) -> tuple[int, ...]:
        """Return the answer options that belong to the class `label`; `kind` defines the classes,
        as in `code`."""
        one = self.decision
        places = [n for n, choice in enumerate(one.choices) if code(one, choice, kind) == label]
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


def cases(episodes: Sequence[Episode], about: str, at: Place) -> Iterator[Case]:
    """Yield the decisions whose options were scored, with the prompt of the probe or of the move.

    With the prompt of the move, decisions whose best reply does not depend on the other player's
    choice are left out.
    """
    found = decisions(episodes, about, at)
    if at == "probe":
        for one in found:
            if options := _named(one.candidates, one.names):
                yield Case(one, tuple((place,) for place in options))
        return
    own = {(one.episode, one.turn, one.seat): one for one in decisions(episodes, OWN_MOVE, "move")}
    whole = {episode.id: episode for episode in episodes}
    replays: dict[str, Any] = {}
    for one in found:
        mine = own.get((one.episode, one.turn, one.seat))
        options = _named(one.candidates, mine.names) if mine else None
        if mine is None or options is None:
            continue
        if one.episode not in replays:
            replays = {one.episode: played(whole[one.episode])}
        replies = _replies(replays[one.episode], one, mine, options)
        if len(set(replies)) > 1 and all(replies):
            yield Case(one, replies)


def _named(candidates: Sequence[str], names: Sequence[str]) -> tuple[int, ...] | None:
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
    whole: Any, one: Decision, mine: Decision, options: Sequence[int]
) -> tuple[tuple[int, ...], ...]:
    """Return the options that are best replies to each choice of the other player."""
    view = whole.replay.view(one.turn, Seat(one.seat))
    about = one.about or next(str(s) for s in whole.replay.game.seats if str(s) != one.seat)

    def best(choice: Any, move: Any) -> bool:
        return bool(whole.spec.is_best_reply(whole.replay.game, view, {about: choice}, move))

    return tuple(
        tuple(
            option for option, move in zip(options, mine.choices, strict=True) if best(choice, move)
        )
        for choice in one.choices
    )


def drawn(rows: Iterable[int], found: Sequence[Case], most: int | None, seed: int) -> list[int]:
    """Return at most `most` rows, drawn by a hash of the decision.

    The draw is the same for the probe prompt and the move prompt of a decision.
    """

    def order(row: int) -> bytes:
        return blake2b(f"{seed}/{found[row].key}".encode(), digest_size=16).digest()

    return sorted(sorted(rows, key=order)[:most])


# --- the check ------------------------------------------------------------------------------------


def causal(
    found: Sequence[Case],
    streams: NDArray[Any],
    score: Score,
    *,
    model: str,
    about: str,
    at: Place,
    kind: As = "action",
    layers: Sequence[int],
    most: int | None = None,
    seed: int = 0,
    doses: Sequence[float] = DOSES,
) -> Causal:
    """Change the stream of held-out decisions along directions fitted without them.

    Args:
        found: Decisions of one player in one game, all with the prompt of the move or of the probe.
        streams: Their activations: decisions x layers x width.
        score: Function that scores the options of a prompt under changes of the stream.
        model: The name of the network.
        about: The meaning of the labels: a probe, `own_move` or `own_forecast`.
        at: The prompt in which the stream is changed: move or probe.
        kind: The kind of label.
        layers: The layers that are changed, one at a time.
        most: The maximum number of decisions changed; directions are fitted to all training rows.
        seed: The seed of folds, draws and random directions.
        doses: Lengths of the changes.

    Raises:
        BadInput: Fewer than two classes or instances are left.
    """
    y = np.array([code(one.decision, one.decision.value, kind) for one in found], np.intp)
    kept: list[int] = np.flatnonzero(y != NONE).tolist()
    found, streams, y = [found[row] for row in kept], streams[kept], y[kept]
    classes = int(y.max(initial=-1)) + 1
    if len(set(y.tolist())) < 2:
        raise BadInput(f"All {len(y)} decisions have the same label; steering needs two.")
    rows = [one.decision for one in found]
    instances = [one.instance for one in rows]
    units = units_of(instances, [one.letters for one in rows])
    folds = crossed_folds([one.partner for one in rows], units, seed, BLOCKS)
    chosen = set(drawn(range(len(found)), found, most, seed))
    parts: list[_Part] = []
    for number, fold in enumerate(folds):
        test = [row for row in fold.test.tolist() if row in chosen]
        if test:
            parts.append(
                _steer(found, streams, y, classes, kind, fold, test, layers, score, doses,
                       [seed, number], instances)
            )  # fmt: skip
    tested = [row for part in parts for row in part.rows]
    return Causal(
        model=model,
        game=rows[0].game,
        player=rows[0].player,
        about=about,
        at=at,
        kind=kind,
        classes=classes,
        decisions=len(tested),
        trained=round(float(np.mean([part.trained for part in parts]))) if parts else 0,
        instances=len({instances[row] for row in tested}),
        partners=len({one.partner for one in rows}),
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
        patched=_patch(found, streams, sorted(tested), layers, score),
    )


class _Part(msgspec.Struct):
    """The effects of steering the test rows of one fold, by layer and kind of direction: rows x
    doses x measures."""

    rows: list[int]
    trained: int
    lengths: dict[int, float]
    values: dict[tuple[int, Kind], Floats]


MEASURES = ("shift", "changed", "distance", "mass")


def _steer(
    found: Sequence[Case],
    streams: NDArray[Any],
    y: NDArray[np.intp],
    classes: int,
    kind: As,
    fold: Fold,
    test: list[int],
    layers: Sequence[int],
    score: Score,
    doses: Sequence[float],
    seed: list[int],
    instances: Sequence[str],
) -> _Part:
    """Return how the test rows of a fold respond when they are steered along directions fitted to
    its training rows."""
    lengths, edits = dict[int, float](), list[Edit | None]([None])
    plan: list[tuple[int, Kind, int, int]] = []  # layer, kind, class, place of the dose
    rng = np.random.default_rng([*seed, 46])
    for layer in layers:
        train = np.asarray(streams[fold.train, layer], float)
        lengths[layer] = float(np.sqrt(train.var(axis=0).sum()))
        for name, vectors in _directions(train, y[fold.train], classes, fold, instances, rng):
            for label, vector in enumerate(vectors):
                for place, dose in enumerate(doses):
                    edits.append(Edit(layer, dose * lengths[layer] * vector))
                    plan.append((layer, name, label, place))
    asked = [
        EditedPrompt(found[row].decision.prompt, found[row].decision.candidates, tuple(edits))
        for row in test
    ]
    values: dict[tuple[int, Kind], Floats] = {
        (layer, name): np.full((len(test), len(doses), len(MEASURES)), np.nan)
        for layer in layers
        for name in KINDS
    }
    for at, (row, logs) in enumerate(zip(test, score(asked), strict=True)):
        sets = [found[row].options_of(label, kind) for label in range(classes)]
        gathered: dict[tuple[int, Kind, int], list[tuple[float, ...]]] = {}
        for (layer, name, label, place), log in zip(plan, logs[1:], strict=True):
            measured = _measured(logs[0], log, sets[label])
            if measured is not None:
                gathered.setdefault((layer, name, place), []).append(measured)
        for (layer, name, place), each in gathered.items():
            values[layer, name][at, place] = np.mean(each, axis=0)
    return _Part(test, len(fold.train), lengths, values)


def _directions(
    train: Floats,
    y: NDArray[np.intp],
    classes: int,
    fold: Fold,
    instances: Sequence[str],
    rng: np.random.Generator,
) -> Iterator[tuple[Kind, Floats]]:
    """Yield the unit-length directions of the probe and of its controls, one per class."""
    yield "probe", _unit(probes.directions(train, y, classes, PENALTY))
    homes = [instances[row] for row in fold.train]
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
    found = [exchanged[name][label] for name, label in zip(instances, y.tolist(), strict=True)]
    return np.array(found, np.intp)


def _unit(vectors: NDArray[Any]) -> Floats:
    whole = np.asarray(vectors, float)
    norms = np.linalg.norm(whole, axis=1, keepdims=True)
    found: Floats = whole / np.where(norms > 0, norms, 1.0)
    return found


def _measured(
    before: Floats, after: Floats, options: Sequence[int]
) -> tuple[float, float, float, float] | None:
    """Return four effects of a change; None if `options` is empty or contains all options.

    The effects are the shift of these options' log-odds, whether the likeliest option changed, the
    total variation distance between the odds before and after, and the ratio of the total
    probability of all options after the change to that before.
    """
    if not 0 < len(options) < len(before):
        return None
    odds = [np.exp(logs - np.logaddexp.reduce(logs)) for logs in (before, after)]
    mass = float(np.exp(np.logaddexp.reduce(after) - np.logaddexp.reduce(before)))
    return (
        log_odds(after, options) - log_odds(before, options),
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
    found = []
    for layer in layers:
        slopes: dict[str, Floats] = {}
        for kind in KINDS:
            values = np.concatenate([part.values[layer, kind] for part in parts])
            slopes[kind] = values[:, :, 0] @ scale
            found.append(
                Steered(
                    layer,
                    kind,
                    [
                        DoseEffect(dose, *(_over(values[:, place, n], clusters, name)
                                     for n, name in enumerate(MEASURES)))
                        for place, dose in enumerate(doses)
                    ],
                    _over(slopes[kind], clusters),
                    None if kind == "probe" else _over(slopes["probe"] - slopes[kind], clusters),
                )
            )  # fmt: skip
    return found


def _over(values: Floats, clusters: Sequence[str], measure: str = "") -> Estimate:
    """Return the mean over decisions, without missing values, and an interval over instances."""
    there: list[int] = np.flatnonzero(~np.isnan(values)).tolist()
    bounds = SHARE if measure in ("changed", "distance") else None
    return mean_by_rule(values[there], [clusters[row] for row in there], bounds)


# --- patching -------------------------------------------------------------------------------------


def pairs(found: Sequence[Case], rows: Sequence[int]) -> dict[int, tuple[int, int | None]]:
    """Return, for each row, two rows of the same instance and round, but with another partner.

    In the first, the partner acts differently; in the second, which may be None, it acts in the
    same way. Rows without the first are left out.
    """
    places: dict[Any, list[int]] = {}
    for row, case in enumerate(found):
        places.setdefault(_place(case), []).append(row)
    chosen: dict[int, tuple[int, int | None]] = {}
    for row in rows:
        own = found[row].decision
        near = [
            other
            for other in places[_place(found[row])]
            if found[other].decision.partner != own.partner
            and found[other].decision.candidates == own.candidates
        ]
        other = [n for n in near if found[n].decision.value != own.value]
        same = [n for n in near if found[n].decision.value == own.value]
        if other:
            # The pair rotates with the round, so that no partner is always the donor.
            chosen[row] = (
                other[own.turn % len(other)],
                same[own.turn % len(same)] if same else None,
            )
    return chosen


def _place(case: Case) -> tuple[Any, ...]:
    one = case.decision
    return one.game, one.player, one.instance, one.turn, one.seat, one.about


def _patch(
    found: Sequence[Case],
    streams: NDArray[Any],
    rows: Sequence[int],
    layers: Sequence[int],
    score: Score,
) -> list[Patched]:
    """Return the effects of replacing the residual stream of each row with that of a paired
    decision."""
    paired = {
        row: both
        for row, both in pairs(found, rows).items()
        if _against(found[row], found[row], found[both[0]]) is not None
    }
    if not paired:
        return []
    donors = sorted({other for other, _ in paired.values()})
    asked = []
    for row, (other, same) in paired.items():
        edits: list[Edit | None] = [None]
        for donor in (other, same):
            edits += [
                None if donor is None else Edit(layer, streams[donor, layer], replace=True)
                for layer in layers
            ]
        one = found[row].decision
        asked.append(EditedPrompt(one.prompt, one.candidates, tuple(edits)))
    for row in donors:
        one = found[row].decision
        asked.append(EditedPrompt(one.prompt, one.candidates, (None,)))
    scores = score(asked)
    natural = dict(zip(donors, (logs[0] for logs in scores[len(paired) :]), strict=True))
    shifts = np.full((len(paired), len(layers), 3), np.nan)
    for at, ((row, (other, same)), logs) in enumerate(
        zip(paired.items(), scores[: len(paired)], strict=True)
    ):
        options = _against(found[row], found[row], found[other])
        theirs = _against(found[other], found[row], found[other])
        assert options is not None
        base = _contrast(logs[0], options)
        for place in range(len(layers)):
            shifts[at, place, 0] = _contrast(logs[1 + place], options) - base
            if same is not None:
                shifts[at, place, 1] = _contrast(logs[1 + len(layers) + place], options) - base
            if theirs is not None:
                shifts[at, place, 2] = _contrast(natural[other], theirs) - base
    clusters = [found[row].decision.instance for row in paired]
    result = []
    for place, layer in enumerate(layers):
        other_, same_, natural_ = (shifts[:, place, n] for n in range(3))
        both = bool((~np.isnan(same_)).any())
        result.append(
            Patched(
                layer,
                _over(other_, clusters),
                _over(same_, clusters) if both else None,
                _over(other_ - same_, clusters) if both else None,
                _over(natural_, clusters),
            )
        )
    return result


Sides = tuple[tuple[int, ...], tuple[int, ...]]


def _against(page: Case, own: Case, other: Case) -> Sides | None:
    """Return two groups of the options of `page`: those that match the other player's move at the
    decision `other`, and those that match its move at the decision `own`. An option matches a move
    if it names the move or is a best reply to it.

    Return None if the groups overlap, or if a move is not among the choices of `page`.
    """
    choices = page.decision.choices
    if other.decision.value not in choices or own.decision.value not in choices:
        return None
    theirs, mine = (page.options[choices.index(case.decision.value)] for case in (other, own))
    return None if set(theirs) & set(mine) else (theirs, mine)


def _contrast(logs: Floats, sides: Sides) -> float:
    theirs, mine = (np.logaddexp.reduce(logs[list(side)]) for side in sides)
    return float(theirs - mine)


# --- groups ---------------------------------------------------------------------------------------


def by_player(found: Iterable[Case]) -> Mapping[tuple[str, str], list[Case]]:
    """Return the cases by game and player, without prompts that describe the other player as a
    mechanism instead of a mind (twins)."""
    groups: dict[tuple[str, str], list[Case]] = {}
    for case in found:
        if not case.decision.twin:
            groups.setdefault((case.decision.game, case.decision.player), []).append(case)
    return groups


def spaced(count: int, most: int = 4) -> list[int]:
    """Return evenly spaced layers of a network, without the embeddings and the last layer.

    >>> spaced(25)
    [5, 10, 14, 19]
    """
    last = count - 1
    if last <= most:
        return list(range(1, last)) or [last]
    return sorted({round(last * n / (most + 1)) for n in range(1, most + 1)})
