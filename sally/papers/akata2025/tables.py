"""akata2025 again: the published figures from imported play, by the authors' conventions.

Their slips are kept where a figure rests on them, and named in its flag: the label of a person's
opponent tells the last round only, and a score of 5 in the dilemma is joint defection.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import sqrt

from sally.core.log.events import PlayerSpec
from sally.core.rules.metric import Played
from sally.games.repeated_games.recorded import followed, rounds_of
from sally.games.repeated_games.rounds import rewards, rounds
from sally.games.repeated_games.rules import AGENT, PARTNER
from sally.output.tables.reproduce import Conditions, Effort, Engine, Known
from sally.papers.akata2025.importer import BOTS
from sally.papers.akata2025.people_tables import people_figure
from sally.papers.akata2025.reading import SOURCE
from sally.stats.cluster_interval import lone_by_rule
from sally.stats.effects import cohens_d
from sally.stats.intervals import Estimate, without_interval

GAMES = {"experiment_pd": "PD", "experiment_bos": "BoS"}
OTHERS = "all others"
BEST = 40  # the most that ten rounds of an ordinal game pay
SEATS = (AGENT, PARTNER)

Games = Sequence[tuple[Conditions, Played]]


def facts(played: Played) -> Conditions | None:
    """What an imported episode is; None for what was not imported from the paper's files."""
    source = played.episode.used.get("source")
    if not isinstance(source, Mapping) or source.get("source") != SOURCE:
        return None
    cell, lineup = played.episode.cell, played.episode.setup.lineup
    if cell.startswith("human_experiment "):
        return {"file": "people", "game": cell.removeprefix("human_experiment ")}
    family = cell.removeprefix("all_games ") if cell.startswith("all_games ") else ""
    return {
        "file": "all_games" if family else cell,
        "family": family,
        "one": published_name(lineup[AGENT]),
        "two": published_name(lineup[PARTNER]),
    }


def published_name(who: PlayerSpec) -> str:
    """Somebody by the name that the files have for it."""
    for name, (partner, params) in BOTS.items():
        if who.player == partner and who.params == params:
            return name
    return str(who.params.get("name", who.player))


# --- models in the two games ----------------------------------------------------------------------


def _as_in_the_script(games: Games) -> dict[str, list[float]]:
    """Points by player: all rounds as player 1, and the last as player 2."""
    points: dict[str, list[float]] = {}
    for facts, played in games:
        points.setdefault(str(facts["one"]), []).extend(rewards(played, AGENT))
        points.setdefault(str(facts["two"]), []).append(rewards(played, PARTNER)[-1])
    return points


def _points(row: Conditions, metric: str, games: Games) -> Estimate | None:
    if metric == "points_both_seats":
        mine = [x for f, p in games for x in _of(str(row["player"]), f, p)]
        return lone_by_rule(mine) if mine else None
    points = _as_in_the_script(games)
    one = points.get("gpt4", [])
    rest = [x for name, xs in points.items() if name != "gpt4" for x in xs]
    if min(len(one), len(rest)) < 2:
        return None
    mine = one if row.get("player") == "gpt4" else rest
    if metric == "points":
        return lone_by_rule(mine)
    if metric == "n":
        return _count(len(mine))
    if metric == "d":
        return _number(cohens_d(one, rest), len(one) + len(rest), "Cohen's d")
    t, degrees = welch(one, rest)
    return _number(t if metric == "t" else degrees, len(one) + len(rest), "Welch")


def _of(name: str, facts: Conditions, played: Played) -> list[float]:
    seats = [seat for seat, key in zip(SEATS, ("one", "two"), strict=True) if facts[key] == name]
    return [x for seat in seats for x in rewards(played, seat)]


def welch(one: Sequence[float], two: Sequence[float]) -> tuple[float, float]:
    """Welch's t and its degrees of freedom."""
    means = [sum(xs) / len(xs) for xs in (one, two)]
    errors = [
        sum((x - mean) ** 2 for x in xs) / (len(xs) - 1) / len(xs)
        for xs, mean in zip((one, two), means, strict=True)
    ]
    degrees = sum(errors) ** 2 / sum(
        e**2 / (len(xs) - 1) for e, xs in zip(errors, (one, two), strict=True)
    )
    return (means[0] - means[1]) / sqrt(sum(errors)), degrees


def _total(row: Conditions, metric: str, games: Games) -> Estimate | None:
    found = [p for f, p in games if (f["one"], f["two"]) == (row["player"], row["against"])]
    if not found:
        return None
    played = found[0]
    if metric == "met":
        return _count(sum(r.mine == r.theirs for r in rounds(played, AGENT)))
    return _count(sum(rewards(played, AGENT if metric == "total" else PARTNER)))


def _grudge(row: Conditions, metric: str, games: Games) -> Estimate | None:
    """What GPT-4 does once the other has defected, and where nobody ever did, in both seats."""
    counts: Counter[str] = Counter()
    for facts, played in games:
        for seat, key in zip(SEATS, ("one", "two"), strict=True):
            if facts[key] != row["player"]:
                continue
            every = rounds(played, seat)
            first = next((n for n, r in enumerate(every) if r.theirs == 1), len(every))
            if first >= len(every) - 1:
                if first == len(every):
                    counts["never_defected_upon"] += 1
                    counts["all_cooperations"] += all(r.mine == 0 for r in every)
                continue
            later = [r.mine == 1 for r in every[first + 1 :]]
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
            for seat, key in zip(SEATS, ("one", "two"), strict=True)
            if facts[key] == name and family in ("all", facts["family"])
        ]
        return lone_by_rule(shares, (0, 1)) if len(shares) > 1 else None
    gaps = _between(games, name, str(row["less"]))
    if len(gaps) < 2:
        return None
    found = lone_by_rule(gaps)
    if metric == "difference":
        return found
    mean = sum(gaps) / len(gaps)
    error = sqrt(sum((gap - mean) ** 2 for gap in gaps) / (len(gaps) - 1) / len(gaps))
    return _number(mean / error if error else None, len(gaps), "paired t")


def _between(games: Games, name: str, rival: str) -> list[float]:
    """One player's total less its rival's, in the games between the two."""
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
                found = followed(setup, seat, setup.lineup[seat], rounds_of(played.episode))
                fit, total = fit + found.certain[0], total + found.certain[1]
    return _count(fit if metric == "as_recorded" else total) if total else None


# --- from a row to its figure ---------------------------------------------------------------------


def _count(n: float) -> Estimate:
    return Estimate(float(n), float(n), float(n), 1, "count")


def _number(value: float | None, n: int, how: str) -> Estimate:
    return without_interval(value, n, how, "a test's statistic is no estimate")


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
    """The table that a row stands in; each has conditions of its own."""
    if "partner" in row:
        return "bots"
    if "against" in row:
        return "totals"
    if "family" in row or "less" in row:
        return "all_games"
    if metric.endswith(("_first", "_upon", "defections", "cooperations")):
        return "grudge"
    return "models" if "player" in row or "all others" in str(row.get("contrast")) else "people"


def tabulates(row: Conditions, metric: str, known: Known, model: str | None) -> Estimate | None:
    """A figure from imported play."""
    table = table_of(row, metric)
    files = {name for name, game in GAMES.items() if game == row.get("game")}
    wanted = {"people": {"people"}, "all_games": {"all_games"}, "bots": set(WITH_BOTS)}
    there = [(f, p) for f, p in known if f["file"] in wanted.get(table, files)]
    return BY_FILE[table](row, metric, there) if there else None


def computes(row: Conditions, metric: str, effort: Effort) -> Estimate | None:
    """Nothing here can be had without recorded play."""
    return None


def brings(table: str, row: Conditions) -> str | None:
    return "sally import akata2025 PATH"


ENGINE = Engine(computes, {}, AGENT, facts, tabulates, brings=brings, of_setup=True)
