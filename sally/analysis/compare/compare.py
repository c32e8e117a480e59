"""Whether one player or model is better than another: differences on the same settings.

Two episodes form a pair if the seat met the same problem, seed and other players in both.
Intervals come from resampling clusters of pairs, p values from flipping the signs of whole
clusters. Players that never met the same setting are compared unpaired: a difference of two means,
each with a cluster-robust error, by Welch's t test. Holm's method bounds the probability of any
false difference, and that of any false equivalence, in the whole family of comparisons.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec
import numpy as np
import polars as pl
import scipy

from sally.analysis.bounds import PAID
from sally.core.errors import BadInput, join_names, unknown
from sally.core.grouping import group_by
from sally.core.registry import registry
from sally.core.rules.game import GameSpec
from sally.core.rules.metric import Metric
from sally.frames.clusters import pair_clusters, side_clusters
from sally.frames.frame import Frame
from sally.frames.measured_seat import doing_metric
from sally.stats.cluster_interval import FEWER
from sally.stats.columns import encode_labels, sums_by
from sally.stats.effects import cohens_d
from sally.stats.equivalence import equivalence_p
from sally.stats.intervals import FEW, Estimate, t_estimate, without_interval
from sally.stats.multiple_tests import holm_where_known
from sally.stats.paired_tests import default_margin, paired_tests

ALPHA, SEED = 0.05, 1
KNOWING = ("tom_percent", "brier")

By = Literal["game", "cell", "others", "strategy"]
Verdict = Literal["better", "worse", "different", "equivalent", "undecided"]
Design = Literal["paired", "unpaired"]


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """The difference of two players, first minus second, by one metric.

    In an unpaired comparison, `pairs` is the smaller of the two players' numbers of episodes, and
    `units` the smaller of their numbers of clusters.
    """

    game: str
    seat: str
    where: str  # the cell, other players or strategy, if comparisons are split by it
    metric: str
    better: str  # "higher" or "lower"; empty if neither is better
    first: float  # means over the pairs, or over all episodes if unpaired
    second: float
    difference: Estimate
    p: float | None
    p_holm: float | None = None
    effect: float | None  # Cohen's dz (of the differences), unpaired his d
    margin: float | None  # smaller differences count as equivalence
    p_equivalent: float | None
    p_equivalent_holm: float | None = None
    verdict: Verdict = "undecided"
    pairs: int  # at most the episodes of either player: people may share those of the other
    alone: tuple[int, int] = (0, 0)  # settings that only the first or only the second player met
    clusters: str
    units: int  # number of clusters
    company: int  # number of pooled lineups of other players
    alike: bool = False  # whether every pair has the same difference
    design: Design = "paired"
    decidable: bool = True  # whether there are clusters enough for any claim in this family
    missing: tuple[int, int] = (0, 0)  # episodes of either player without a result


class Pair(msgspec.Struct, frozen=True):
    """The scores of both players in one setting."""

    instance: str
    repeat: int
    setting: bytes
    strategy: str
    person: str
    first: float
    second: float


class PlayerComparison(msgspec.Struct, frozen=True):
    """The comparisons of two players or models, each list adjusted as one family.

    `by_strategy` is empty unless two models are compared that share several strategies.
    """

    comparisons: list[Comparison]
    by_strategy: list[Comparison]


def compare(
    frame: Frame,
    first: str,
    second: str,
    *,
    metrics: Sequence[str] = (),
    by: By = "game",
    margin: float | None = None,
    seed: int = SEED,
) -> PlayerComparison:
    """Return every comparison of two players, or two models, that the episodes allow.

    Models are compared over all strategies that both used, and then strategy by strategy: a pair is
    one setting met by both models with the same strategy.

    Raises:
        BadInput: If a player or metric is unknown, or the players share no game, seat and metric.
    """
    check(first, second, metrics, margin)
    if not are_models(frame, first, second):
        scores = scores_of(frame, (first, second), metrics, by)
        return PlayerComparison(family(scores, first, second, margin, seed), [])
    lines = by if by != "game" else "strategy"
    scores = scores_of(frame, (first, second), metrics, lines, of_models=True)
    if by != "game":
        return PlayerComparison(family(scores, first, second, margin, seed), [])
    pooled: Scores = {}
    for group, by_player in scores.items():
        players = pooled.setdefault(msgspec.structs.replace(group, where=""), {})
        for player, player_scores in by_player.items():
            players.setdefault(player, []).extend(player_scores)
    has_strategies = len({group.where for group in scores}) > 1
    by_strategy = family(scores, first, second, margin, seed) if has_strategies else []
    return PlayerComparison(family(pooled, first, second, margin, seed), by_strategy)


def are_models(frame: Frame, first: str, second: str) -> bool:
    """Return whether the two names are names of models; a name that belongs both to a model and to
    a player counts as a player.

    Raises:
        BadInput: If a name is unknown, or one is a model and the other a player.
    """
    names = frame.seats("player", "name").unique()
    players, models = set(names["player"]), set(names["name"])
    for name in (first, second):
        if name not in players | models:
            raise unknown("player", name, players | models)
    if {first, second} <= players:
        return False
    if {first, second} <= models:
        return True
    model = first if first not in players else second
    raise BadInput(
        f"{model!r} is a model, and the other name is a player; name two models, or two players."
    )


def check(first: str, second: str, metrics: Sequence[str], margin: float | None) -> None:
    """Raise BadInput if players, metrics or margin allow no comparison."""
    if first == second:
        raise BadInput(f"{first!r} cannot be compared with itself; name two players.")
    if margin is not None and not margin > 0:
        raise BadInput(f"The margin must be above 0, not {margin}.")
    metrics_by_name = registry.entries("metrics")
    for name in metrics:
        if name not in metrics_by_name:
            raise unknown("metric", name, metrics_by_name)


def family(
    scores: Scores,
    first: str,
    second: str,
    margin: float | None,
    seed: int,
    *,
    unpaired: bool = True,
) -> list[Comparison]:
    """Return every comparison that the scores allow, adjusted together.

    If no two episodes form a pair, the comparisons are unpaired, unless `unpaired` is False.
    """
    # unpaired only if nothing at all is paired
    for compare_sides in (_compare_paired, _compare_unpaired):
        comparisons = []
        for group, by_player in scores.items():
            sides = [by_player.get(name, []) for name in (first, second)]
            first_scores, second_scores = (
                [s for s in side if not math.isnan(s.value)] for side in sides
            )
            comparison = compare_sides(group, first_scores, second_scores, margin, seed)
            if comparison is not None:
                first_missing, second_missing = (sum(not s.result for s in side) for side in sides)
                comparisons.append(
                    msgspec.structs.replace(comparison, missing=(first_missing, second_missing))
                )
        if comparisons or not unpaired:
            break
    if not comparisons:
        raise BadInput(
            f"{first!r} and {second!r} never met the same setting (problem, seed and other "
            "players)" + (" nor the same game in the same seat" if unpaired else "") + ", so there "
            "is nothing to compare; run them in one study."
        )
    return adjust_p_values(comparisons)


# --- one comparison -------------------------------------------------------------------------------


def _compare_paired(
    group: Group,
    first_scores: Sequence[Score],
    second_scores: Sequence[Score],
    margin: float | None,
    seed: int,
) -> Comparison | None:
    first_settings, second_settings = _by_setting(first_scores), _by_setting(second_scores)
    shared = [key for key in first_settings if key in second_settings]
    if not shared:
        return None
    pairs = [
        pair for key in shared for pair in _pair_scores(first_settings[key], second_settings[key])
    ]
    a, b = np.array([pair.first for pair in pairs]), np.array([pair.second for pair in pairs])
    clusters, unit = pair_clusters(pairs)
    independent = min(
        len(pairs),
        *(sum(len(by[key]) for key in shared) for by in (first_settings, second_settings)),
    )
    tests = paired_tests(a, b, clusters, seed=seed, margin=margin, n=independent)
    metric: Metric = registry.entries("metrics")[group.metric]
    return Comparison(
        **msgspec.structs.asdict(group),
        better=_better(metric, group),
        first=tests.first,
        second=tests.second,
        difference=tests.difference,
        p=tests.p,
        effect=tests.effect,
        margin=tests.margin,
        p_equivalent=tests.p_equivalent,
        pairs=independent,
        alone=(len(first_settings) - len(shared), len(second_settings) - len(shared)),
        clusters=unit,
        units=tests.units,
        company=len({s.others for key in shared for s in first_settings[key]}),
        alike=len(pairs) > 1 and bool(np.ptp(a - b) == 0),
    )


def _compare_unpaired(
    group: Group,
    first_scores: Sequence[Score],
    second_scores: Sequence[Score],
    margin: float | None,
    seed: int,
) -> Comparison | None:
    """Return the difference of two means over different settings, each side with its clusters."""
    if not first_scores or not second_scores:
        return None
    sides = [np.array([s.value for s in scores]) for scores in (first_scores, second_scores)]
    side_units = [side_clusters(scores) for scores in (first_scores, second_scores)]
    units = [len(set(clusters)) for clusters, _ in side_units]
    a, b = sides
    away, n = float(a.mean() - b.mean()), int(a.size + b.size)
    method = f"unpaired, Welch's t over {units[0]} and {units[1]} clusters"
    difference, p = without_interval(away, n, method, FEWER), None
    wide, alike = default_margin(a, b) if margin is None else margin, None
    if min(units) >= FEW:
        errors = [_error(v, clusters) for v, (clusters, _) in zip(sides, side_units, strict=True)]
        error = math.hypot(*errors)
        if error:
            parts = sum(e**4 / (count - 1) for e, count in zip(errors, units, strict=True))
            degrees = error**4 / parts
            difference = t_estimate(away, error, degrees, n, 0.95, method)
            p = 2 * float(scipy.special.stdtr(degrees, -abs(away) / error))
            if wide is not None:
                alike = equivalence_p(away, error, degrees, (-wide, wide))
    metric: Metric = registry.entries("metrics")[group.metric]
    return Comparison(
        **msgspec.structs.asdict(group),
        better=_better(metric, group),
        first=float(a.mean()),
        second=float(b.mean()),
        difference=difference,
        p=p,
        effect=cohens_d(a, b),
        margin=wide,
        p_equivalent=alike,
        pairs=min(len(first_scores), len(second_scores)),
        clusters=join_names(dict.fromkeys(unit for _, unit in side_units), "and"),
        units=min(units),
        company=len({s.others for s in (*first_scores, *second_scores)}),
        design="unpaired",
    )


def _error(values: Floats, clusters: Sequence[Hashable]) -> float:
    """Return the cluster-robust standard error of a mean."""
    codes, count = encode_labels(clusters, values.size, "clusters")
    sums = sums_by(codes, count, values - values.mean())
    return math.sqrt(count / (count - 1) * float((sums**2).sum())) / values.size


def _better(metric: Metric, group: Group) -> str:
    """Return whether higher or lower values of a metric are better, or "" if this is not declared.
    For the metric that measures gains in the game, "higher" is assumed unless declared
    otherwise."""
    spec = registry.game(group.game)
    gain_metric = doing_metric(spec, group.seat)
    return metric.better or ("higher" if metric.name == gain_metric.name else "")


def _pair_scores(first_scores: Sequence[Score], second_scores: Sequence[Score]) -> list[Pair]:
    """Return the pairs of one setting: a single pair or, if people played it, one for each
    person."""
    people = (
        dict.fromkeys(s.person for s in first_scores) if any(s.person for s in first_scores) else {}
    )
    others = {} if people else dict.fromkeys(s.person for s in second_scores)
    setting = (
        first_scores[0].instance,
        first_scores[0].repeat,
        first_scores[0].setting,
        first_scores[0].strategy,
    )
    return [
        *(
            Pair(*setting, person, _mean(first_scores, person), _mean(second_scores))
            for person in people
        ),
        *(
            Pair(*setting, person, _mean(first_scores), _mean(second_scores, person))
            for person in others
        ),
    ]


def _mean(scores: Sequence[Score], person: str | None = None) -> float:
    return _mean_of([s.value for s in scores if person in (None, s.person)])


def _mean_of(values: Sequence[float]) -> float:
    return float(values[0] if len(values) == 1 else np.mean(values))  # one value is the usual case


def _by_setting(scores: Sequence[Score]) -> dict[tuple[bytes, str], list[Score]]:
    return group_by(scores, lambda score: (score.setting, score.strategy))


Floats = np.ndarray[tuple[int], np.dtype[np.float64]]


def adjust_p_values(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """Return the comparisons with verdicts and with p values adjusted over all comparisons."""
    needed = clusters_needed(len(comparisons))
    comparisons = [
        msgspec.structs.replace(c, decidable=c.units >= (FEW if c.design == "unpaired" else needed))
        for c in comparisons
    ]
    away, alike = (
        holm_where_known([c.p for c in comparisons]),
        holm_where_known([c.p_equivalent for c in comparisons]),
    )
    return [_judge(c, *p_values) for c, *p_values in zip(comparisons, away, alike, strict=True)]


def _judge(c: Comparison, p: float | None, p_alike: float | None) -> Comparison:
    gain = c.difference.value or 0.0
    verdict: Verdict = "undecided"
    if gain and p is not None and p < ALPHA:
        gained: Verdict = "better" if (gain > 0) == (c.better == "higher") else "worse"
        verdict = gained if c.better else "different"
    elif p_alike is not None and p_alike < ALPHA:
        verdict = "equivalent"
    return msgspec.structs.replace(c, p_holm=p, p_equivalent_holm=p_alike, verdict=verdict)


def clusters_needed(family: int) -> int:
    """Return the smallest number of clusters with which a sign-flip test can reach significance."""
    return math.floor(1 + math.log2(family / ALPHA)) + 1


# --- scores ---------------------------------------------------------------------------------------


class Group(msgspec.Struct, frozen=True):
    """The key of one comparison: game, seat, split and metric."""

    game: str
    seat: str
    where: str
    metric: str


class Score(msgspec.Struct, frozen=True):
    """The score of one player in one episode, by one metric."""

    setting: bytes
    instance: str
    others: str
    value: float  # NaN if the metric has no value and the episode has no result
    person: str = ""  # the participant, if a person played
    repeat: int = 0
    strategy: str = ""  # the strategy, if models are compared
    result: bool = True  # whether the episode has a result


Scores = dict[Group, dict[str, list[Score]]]


def scores_of(
    frame: Frame,
    players: tuple[str, str],
    metrics: Sequence[str],
    by: By,
    *,
    of_models: bool = False,
) -> Scores:
    """Return the scores of both players, or both models, for each comparison."""
    fields = ("game", "seat", "cell", "player", "name", *SCORED)
    rows = frame.seats(*fields).with_row_index("at")
    rows = rows.filter(pl.col("name" if of_models else "player").cast(pl.String).is_in(players))
    scores: Scores = {}
    for row, metric, score in seat_scores(frame, rows, metrics):
        player, strategy = row["player"], ""
        if of_models:
            player, strategy = row["name"], row["player"].removeprefix(row["name"]).strip()
        places = {"game": "", "cell": row["cell"], "others": row["others"], "strategy": strategy}
        group = Group(row["game"], row["seat"], places[by], metric)
        score = msgspec.structs.replace(score, strategy=strategy)
        scores.setdefault(group, {}).setdefault(player, []).append(score)
    return scores


SCORED = ("setting", "instance", "others", "person", "repeat", "why")  # columns of a score


def seat_scores(
    frame: Frame, rows: pl.DataFrame, metrics: Sequence[str]
) -> Iterator[tuple[dict[str, Any], str, Score]]:
    """Yield each row of seats with its score by each metric that has a value.

    An episode without a result is yielded for every metric, so that it is counted. If it is void,
    its payoff of 0 is not used, because nothing was played.
    """
    kinds = rows.select("game", "seat").unique(maintain_order=True).rows()
    measured = {kind: measures(registry.game(kind[0]), kind[1], metrics) for kind in kinds}
    names = list(dict.fromkeys(name for metric_names in measured.values() for name in metric_names))
    if not names:
        return
    values = frame.seats(*names)[rows["at"].to_numpy()]
    columns = {name: values[name].cast(pl.Float64).to_list() for name in names}
    for number, row in enumerate(rows.iter_rows(named=True)):
        has_result = not row["why"]
        score = (row["setting"], row["instance"], row["others"])
        for name in measured[row["game"], row["seat"]]:
            value = columns[name][number] if has_result or name not in PAID else None
            if value is not None or not has_result:
                person, repeat = row["person"] or "", row["repeat"]
                value = math.nan if value is None else value
                yield row, name, Score(*score, value, person, repeat, "", has_result)


def measures(spec: GameSpec, seat: str, metrics: Sequence[str]) -> list[str]:
    """Return the requested metrics that the game has. By default, return the metrics for the
    player's predictions of others and for its success."""
    if not metrics:
        return [*KNOWING, doing_metric(spec, seat).name]
    fitting = registry.metrics(spec.family or spec.name)
    return [name for name in metrics if name in fitting]


# --- in words -------------------------------------------------------------------------------------


def conclusion(comparisons: Sequence[Comparison], first: str, second: str) -> str:
    """Return the verdicts as sentences: first on the players' gains ("doing"), then on their
    predictions of others ("knowing")."""
    parts: list[str] = []
    for (aspect, metric), aspect_comparisons in _aspects(comparisons).items():
        clauses: list[str] = []
        for verdict, (phrase, brief) in WORDS.items():
            places = dict.fromkeys(
                _place(c, comparisons) for c in aspect_comparisons if word_of(c) == verdict
            )
            words = brief if clauses else f"{first} is {phrase} {second}"
            clauses += [f"{words} in {join_names(places)}"] if places else []
        design = ", unpaired" if any(c.design == "unpaired" for c in aspect_comparisons) else ""
        parts.append(f"{aspect} ({metric}{design}): {', '.join(clauses)}.")
    return " ".join(parts)


Word = Verdict | Literal["too few"]
WORDS: Mapping[Word, tuple[str, str]] = {  # followed by the second player's name, and without
    "better": ("better than", "better"),
    "worse": ("worse than", "worse"),
    "different": ("different from", "different"),
    "equivalent": ("equivalent to", "equivalent"),
    "undecided": ("not told apart from", "not told apart"),
    "too few": ("met too seldom for a claim against", "too few for a claim"),
}


def _aspects(comparisons: Sequence[Comparison]) -> Mapping[tuple[str, str], list[Comparison]]:
    aspects: dict[tuple[str, str], list[Comparison]] = {}
    for c in sorted(comparisons, key=lambda c: c.metric in KNOWING):
        aspect = "Knowing" if c.metric in KNOWING else "Doing"
        aspects.setdefault((aspect, c.metric), []).append(c)
    return aspects


def word_of(c: Comparison) -> Word:
    """Return the verdict; "too few" if it is undecided because there are too few clusters."""
    return "too few" if c.verdict == "undecided" and not c.decidable else c.verdict


def game_and_seat(c: Comparison, among: Sequence[Comparison]) -> str:
    """Return the game of a comparison, with the seat if several seats of that game occur."""
    has_several_seats = (
        len({comparison.seat for comparison in among if comparison.game == c.game}) > 1
    )
    return f"{c.game} as {c.seat}" if has_several_seats else c.game


def _place(c: Comparison, among: Sequence[Comparison]) -> str:
    place = game_and_seat(c, among)
    return f"{place} ({c.where})" if c.where else place
