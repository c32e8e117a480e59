"""The published figures of akata2025, computed from imported play as the authors compute them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import log, sqrt
from statistics import fmean

import numpy as np

from sally.core.log.events import PlayerSpec
from sally.core.rules.game import Seat
from sally.core.rules.metric import Played
from sally.games.repeated_games.recorded_play import agreement_with_bot, rounds_of
from sally.games.repeated_games.rounds import rewards, rounds
from sally.games.repeated_games.rules import AGENT, PARTNER
from sally.output.tables.reproduce import Conditions, Engine, Known
from sally.papers.akata2025.importer import BOTS
from sally.papers.akata2025.reader import SOURCE
from sally.stats.cluster_interval import lone_by_rule
from sally.stats.effects import cohens_d, cohens_dz
from sally.stats.intervals import Estimate, exact, without_interval
from sally.stats.paired_differences import bayes_factor, unpaired_difference, welch_error

BASE, PROMPTED = "Base", "Prompted"
BOTH = "both"
Games = Sequence[tuple[Conditions, Played]]
Measure = Callable[[Played], float]


def _scores(played: Played) -> list[float]:
    """Return the recorded scores, even those that match no cell of the matrix."""
    return [float(score) for score in played.episode.used["scores"]]


def _mean_score(played: Played) -> float:
    scores = _scores(played)
    return sum(scores) / len(scores)


def _share(*counted_scores: float) -> Measure:
    def share(played: Played) -> float:
        scores = _scores(played)
        return sum(score in counted_scores for score in scores) / len(scores)

    return share


def _guess(played: Played) -> float:
    return float(played.episode.used["guess"] == "Human")


MEASURES: Mapping[str, Measure] = {
    "score": _mean_score,
    "score_difference": _mean_score,
    "t": _mean_score,
    "bayes_factor": _mean_score,
    "guessed_human": _guess,
    "guess_bayes_factor": _guess,
    "success": _share(7.0, 10.0),
    "success_bayes_factor": _share(7.0, 10.0),
    "joint_defection": _share(5.0),
    "joint_defection_logit": _share(5.0),
    "joint_cooperation": _share(8.0),
}


def people_figure(row: Conditions, metric: str, games: Games) -> Estimate | None:
    """Return a table value for people: the mean of the games with one label (Base or Prompted), or
    the difference between the labels."""
    if metric not in MEASURES:
        return None
    label_games = [played for facts, played in games if row["game"] in (BOTH, facts["game"])]
    base, prompted = (
        _by_person(label_games, label, MEASURES[metric]) for label in (BASE, PROMPTED)
    )
    if min(len(base), len(prompted)) < 2:
        return None
    n = len(base) + len(prompted)
    if "label" in row:
        label_means = base if row["label"] == BASE else prompted
        if metric == "joint_defection_logit":
            return without_interval(
                _logit(label_means), len(label_means), "logit", "it is a transform"
            )
        return lone_by_rule(label_means, None if MEASURES[metric] is _mean_score else (0, 1))
    if metric == "joint_defection_logit":
        gap = _logit(prompted) - _logit(base)
        return without_interval(gap, n, "difference of logits", "it is a transform")
    t, first, second = pooled_t(prompted, base), len(prompted), len(base)
    if metric == "t":
        return without_interval(t, n, "two-sample t", "a test's statistic is not an estimate")
    if metric.endswith("bayes_factor"):
        factor = bayes_factor(t, first, second)
        return without_interval(factor, n, "JZS, one-sided", "a Bayes factor is not an estimate")
    return unpaired_difference(prompted, base)


def _by_person(label_games: Sequence[Played], label: str, measure: Measure) -> list[float]:
    """Return each person's mean over the games labelled Base or Prompted, as `label` says."""
    values_by_person: dict[str, list[float]] = {}
    for played in label_games:
        if played.episode.used["label"] == label:
            person = played.episode.setup.instance.id.rpartition(":")[0]
            values_by_person.setdefault(person, []).append(measure(played))
    return [sum(values) / len(values) for values in values_by_person.values()]


def pooled_t(first: Sequence[float], two: Sequence[float]) -> float:
    """Return Student's t of two groups, with pooled variance."""
    effect = cohens_d(first, two)
    return 0.0 if effect is None else effect / sqrt(1 / len(first) + 1 / len(two))


def _logit(shares: Sequence[float]) -> float:
    mean = sum(shares) / len(shares)
    return log(mean / (1 - mean))


GAMES = {"experiment_pd": "PD", "experiment_bos": "BoS"}
OTHERS = "all others"
BEST = 40  # the most that ten rounds of an ordinal game pay
SEATS = (AGENT, PARTNER)


def facts(played: Played) -> Conditions | None:
    """Return the conditions of an imported episode; None if it is not from the paper's files."""
    source = played.episode.used.get("source")
    if not isinstance(source, Mapping) or source.get("source") != SOURCE:
        return None
    cell, lineup = played.episode.cell, played.episode.setup.lineup
    if cell.startswith("human_experiment "):
        return {"file": "people", "game": cell.removeprefix("human_experiment ")}
    family = cell.removeprefix("all_games ") if cell.startswith("all_games ") else ""
    family = family.removesuffix(" Family")  # the record says `PD Family`, the paper PD
    return {
        "file": "all_games" if family else cell,
        "family": family,
        "one": published_name(lineup[AGENT]),
        "two": published_name(lineup[PARTNER]),
    }


def published_name(player: PlayerSpec) -> str:
    """Return a player's name as the published files write it."""
    for name, (partner, params) in BOTS.items():
        if player.player == partner and player.params == params:
            return name
    return str(player.params.get("name", player.player))


# --- models in the two games ----------------------------------------------------------------------


def _as_in_the_script(games: Games) -> dict[str, list[float]]:
    """Return points by player as the authors' script counts them.

    For player 1 the points of all rounds count, for player 2 only those of the last round.
    """
    points: dict[str, list[float]] = {}
    for facts, played in games:
        points.setdefault(str(facts["one"]), []).extend(rewards(played, AGENT))
        points.setdefault(str(facts["two"]), []).append(rewards(played, PARTNER)[-1])
    return points


def _points(row: Conditions, metric: str, games: Games) -> Estimate | None:
    if metric == "points_both_seats":
        seats = [(p, seat) for f, p in games for seat in _seats(f, row["player"])]
        own_points = [x for played, seat in seats for x in rewards(played, seat)]
        return lone_by_rule(own_points) if own_points else None
    points = _as_in_the_script(games)
    gpt4_points = points.get("gpt4", [])
    other_points = [x for name, xs in points.items() if name != "gpt4" for x in xs]
    if min(len(gpt4_points), len(other_points)) < 2:
        return None
    own_points = gpt4_points if row.get("player") == "gpt4" else other_points
    if metric == "points":
        return lone_by_rule(own_points)
    if metric == "n":
        return _count(len(own_points))
    if metric == "d":
        return _number(
            cohens_d(gpt4_points, other_points), len(gpt4_points) + len(other_points), "Cohen's d"
        )
    t, degrees = welch(gpt4_points, other_points)
    return _number(t if metric == "t" else degrees, len(gpt4_points) + len(other_points), "Welch")


def _seats(facts: Conditions, name: object) -> list[Seat]:
    """Return the seats in which a player played."""
    return [seat for seat, key in zip(SEATS, ("one", "two"), strict=True) if facts[key] == name]


def welch(first: Sequence[float], two: Sequence[float]) -> tuple[float, float]:
    """Return Welch's t and its degrees of freedom."""
    error, degrees = welch_error(np.asarray(first), np.asarray(two))
    return (fmean(first) - fmean(two)) / error, degrees


def _total(row: Conditions, metric: str, games: Games) -> Estimate | None:
    pair_games = [p for f, p in games if (f["one"], f["two"]) == (row["player"], row["against"])]
    if not pair_games:
        return None
    played = pair_games[0]
    if metric == "met":
        return _count(sum(r.own_move == r.other_move for r in rounds(played, AGENT)))
    return _count(sum(rewards(played, AGENT if metric == "total" else PARTNER)))


def _grudge(row: Conditions, metric: str, games: Games) -> Estimate | None:
    """Return the count that `metric` names, over a player's games in both seats.

    Some metrics count what the player does after the other's first defection; the rest count games
    in which the other never defects.
    """
    counts: Counter[str] = Counter()
    for facts, played in games:
        for seat in _seats(facts, row["player"]):
            all_rounds = rounds(played, seat)
            first = next(
                (n for n, r in enumerate(all_rounds) if r.other_move == 1), len(all_rounds)
            )
            if first >= len(all_rounds) - 1:
                if first == len(all_rounds):
                    counts["never_defected_upon"] += 1
                    counts["all_cooperations"] += all(r.own_move == 0 for r in all_rounds)
                continue
            later = [r.own_move == 1 for r in all_rounds[first + 1 :]]
            counts["defected_upon"] += 1
            counts["rounds_after_first"] += len(later)
            counts["defections_after_first"] += sum(later)
            counts["all_defections"] += all(later)
    return _count(counts[metric]) if counts else None


# --- the 144 games --------------------------------------------------------------------------------


def _ordinal(row: Conditions, metric: str, games: Games) -> Estimate | None:
    name = str(row["player"])
    if metric == "share_of_maximum":
        family = row.get("family", "all")
        shares = [
            sum(rewards(played, seat)) / BEST
            for facts, played in games
            if family in ("all", facts["family"])
            for seat in _seats(facts, name)
        ]
        return lone_by_rule(shares, (0, 1)) if len(shares) > 1 else None
    gaps = _between(games, name, str(row["less"]))
    if len(gaps) < 2:
        return None
    estimate = lone_by_rule(gaps)
    if metric == "difference":
        return estimate
    effect = cohens_dz(gaps, [0.0] * len(gaps))
    t = None if effect is None else effect * sqrt(len(gaps))
    return _number(t, len(gaps), "paired t")


def _between(games: Games, name: str, rival: str) -> list[float]:
    """Return one player's total minus its rival's, over the games between the two."""
    gaps = []
    for facts, played in games:
        if {facts["one"], facts["two"]} == {name, rival}:
            gap = sum(rewards(played, AGENT)) - sum(rewards(played, PARTNER))
            gaps.append(gap if facts["one"] == name else -gap)
    return gaps


# --- bots on the recorded moves -------------------------------------------------------------------


def _bots(row: Conditions, metric: str, games: Games) -> Estimate | None:
    fit = total = 0
    for _, played in games:
        setup = played.episode.setup
        for seat in SEATS:
            if setup.lineup[seat].player == row["partner"]:
                agreement = agreement_with_bot(
                    setup, seat, setup.lineup[seat], rounds_of(played.episode)
                )
                fit, total = fit + agreement.certain[0], total + agreement.certain[1]
    return _count(fit if metric == "as_recorded" else total) if total else None


# --- from a row to its figure ---------------------------------------------------------------------


def _count(n: float) -> Estimate:
    return exact(n, method="count")


def _number(value: float | None, n: int, method: str) -> Estimate:
    return without_interval(value, n, method, "a test's statistic is not an estimate")


Figure = Callable[[Conditions, str, Games], Estimate | None]
WITH_BOTS = ("pd_base_gpt4_tfts", "pd_basic_gpt4_tfts", "pd_gpt4_1p")
BY_FILE: Mapping[str, Figure] = {
    "people": people_figure,
    "models": _points,
    "totals": _total,
    "grudge": _grudge,
    "all_games": _ordinal,
    "bots": _bots,
}


def table_of(row: Conditions, metric: str) -> str:
    """Return the name of the table that a row belongs to, which depends on its conditions."""
    if "partner" in row:
        return "bots"
    if "against" in row:
        return "totals"
    if "family" in row or "less" in row:
        return "all_games"
    if metric.endswith(("_first", "_upon", "defections", "cooperations")):
        return "grudge"
    return "models" if "player" in row or "all others" in str(row.get("contrast")) else "people"


def tabulates(row: Conditions, metric: str, games: Known, model: str | None) -> Estimate | None:
    """Return a table value computed from imported play; None if it cannot be computed."""
    table = table_of(row, metric)
    files = {name for name, game in GAMES.items() if game == row.get("game")}
    kinds = {"people": {"people"}, "all_games": {"all_games"}, "bots": set(WITH_BOTS)}
    table_games = [(f, p) for f, p in games if f["file"] in kinds.get(table, files)]
    return BY_FILE[table](row, metric, table_games) if table_games else None


def brings(table: str, row: Conditions) -> str | None:
    return "sally import akata2025 PATH"


ENGINE = Engine(None, {}, AGENT, facts, tabulates, brings=brings, of_setup=True)
