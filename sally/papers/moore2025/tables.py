"""Tables of moore2025: counts and random play are computed; other values come from games.

Some of the paper's measures look ahead in a game or average over its prefixes. Rows with `data =
paper` follow these definitions; rows with `data = released` apply our own definitions to the
released games.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from statistics import fmean
from typing import Any

from sally.analysis.episodes.paper_store import pool_mean
from sally.core.log.events import Instance, PlayerSpec, Setup
from sally.core.rules.metric import Played
from sally.games.mindgames import frozen, metrics
from sally.games.mindgames.matrices import all_matrices, count_with_persuader, symmetry_classes
from sally.games.mindgames.rules import MESSAGES, PERSUADER, MindGame
from sally.games.mindgames.target import (
    Memory,
    random_success_formula,
)
from sally.output.tables.reproduce import Conditions, Effort, Engine, Known
from sally.papers.moore2025.figures import FIGURES, cluster, estimate_mean, is_won
from sally.papers.moore2025.hypotheses import CHANCE, O1, TESTS, Game, hypothesis, marginal
from sally.papers.moore2025.layout import LAYOUTS
from sally.papers.moore2025.published_layout import is_superseded
from sally.papers.moore2025.released_games import (
    NOT_KEPT,
    exclusion_reason,
    participant,
    released_count,
)
from sally.runner.local import play
from sally.runner.seating import resolve_setup
from sally.stats.cluster_interval import gap_by_rule
from sally.stats.intervals import Estimate, exact

MEDIAN = "story and participant"
POPULATION = "none, errors by participant"
ROUNDING = 0.0005  # figures are printed to three decimals
PLANS = {
    "revealed planner": "revealed",
    "hidden planner": "hidden",
    "tells everything": "tell_all",
    "talks about the goal only": "goal_only",
}
RANDOM = "random-baseline-8"  # eight random disclosures, as the released files call them
# published name -> part of the model's name
MODELS = {
    O1: "o1-preview",
    "gpt-4o": "gpt-4o",
    "llama-3.1-405b": "llama-3.1-405b",
    "llama-3.1-8b": "llama-3.1-8b",
    "deepseek-r1": "deepseek-r1",
}


# --- what needs no games --------------------------------------------------------------------------


def computes(row: Conditions, metric: str, effort: Effort) -> Estimate | None:
    """Return a table value that is a count, a setting or a result of random play; None for values
    that need games."""
    if metric in ("instances", "cells"):
        return exact(counts()[int(row["attributes"]), str(row["counted"])])
    if "plan" in row:
        return planner_success(PLANS[str(row["plan"])])
    if metric == "win_probability":
        if "memory" not in row:
            return exact(CHANCE)
        memory: Memory = "frozen" if row["memory"] == "frozen" else "sequential"
        chance = float(random_success_formula(int(row["disclosures"]), memory))
        return Estimate(chance, chance - ROUNDING, chance + ROUNDING, 1, "exact, up to rounding")
    if metric == "messages":
        return exact(MESSAGES)
    return None


@cache
def counts() -> dict[tuple[int, str], int]:
    """Return the counts of puzzles that the paper reports, by size of the puzzle and name of the
    count."""
    three, two = all_matrices(3), all_matrices(2)
    hidden = {int(n) for n in three.hidden.sum(axis=(1, 2))}
    winning = {int(n) for n in three.winning.sum(axis=(1, 2))}
    return {
        (3, "with persuader values and winning set"): count_with_persuader(three),
        (3, "distinct utilities, target values and hidden cells"): len(three),
        (3, "up to attribute order and sign"): int(symmetry_classes(three).max()) + 1,
        (2, "with persuader values and winning set"): count_with_persuader(two),
        (2, "distinct utilities, target values and hidden cells"): len(two),
        (3, "with at most three hidden cells"): len(all_matrices(3, 3)),
        (3, "hidden cells of every instance"): min(hidden) if len(hidden) == 1 else -1,
        (3, "winning set of every instance"): min(winning) if len(winning) == 1 else -1,
    }


@cache
def planner_success(persuader: str) -> Estimate:
    """Return the share of games that a planner wins. Each stored puzzle is played twice: with a
    target that has a frozen memory, and with one that has a sequential memory."""
    condition = "revealed" if persuader == "revealed" else "hidden"
    games = [
        (number, memory)
        for number in range(len(frozen.frozen("standard").puzzles))
        for memory in ("sequential", "frozen")
    ]
    results = [
        float(
            _play_and_judge(persuader, {"number": number, "memory": memory, "condition": condition})
        )
        for number, memory in games
    ]
    return pool_mean(results, [str(number) for number, _ in games], (0, 1))


def _play_and_judge(persuader: str, params: dict[str, Any]) -> bool:
    """Play one game of scripted players; return whether the goal was chosen."""
    lineup = {str(PERSUADER): PlayerSpec(persuader)}
    setup = Setup(Instance("plan", "mindgames", params), 1, lineup)
    return play(resolve_setup(setup)).payoffs == {PERSUADER: 1.0}


# --- what games are -------------------------------------------------------------------------------


def facts(played: Played) -> Conditions | None:
    """Return an episode's persuader and condition; None for conditions outside the paper."""
    game = played.replay.game
    persuader_spec = played.episode.setup.lineup.get(PERSUADER)
    if not isinstance(game, MindGame) or persuader_spec is None or game.problem.kind != "standard":
        return None
    if game.lying or game.target == "free":
        return None  # the paper has none
    if is_superseded(played.episode.setup.instance.id):
        return None  # its authors played it again
    if exclusion_reason(played) is not None:
        return None
    name_field = {"recorded": "name", "language": "model"}.get(persuader_spec.player)
    persuader = named_as_published(
        str(persuader_spec.params[name_field]) if name_field else persuader_spec.player
    )
    person = participant(played)
    persuader = persuader if person is None else "human"
    return {
        "persuader": persuader,
        "condition": game.condition,
        "variant": "default" if game.variant == "plain" else game.variant,
        "story": game.tale.name,
        "participant": "" if person is None else person.name,
    }


def named_as_published(model: str) -> str:
    """Return a model's name in the paper's tables, or its own name if it is not listed."""
    if model == RANDOM:
        return "random"
    names = [name for name, part in MODELS.items() if part in model.casefold()]
    return names[0] if names else model


# --- figures from games -----------------------------------------------------------------------


def tabulates(
    row: Conditions, metric: str, known_games: Known, model: str | None
) -> Estimate | None:
    """Return a table value computed from stored games; None if there are no such games."""
    done = [(facts, played) for facts, played in known_games if metrics.is_finished(played)]
    if "hypothesis" in row:
        name, games = str(row["hypothesis"]), _games(done, model)
        if row.get("intercepts") == POPULATION:
            return marginal(name, metric, games)
        people = row.get("intercepts") == MEDIAN
        return hypothesis(name, metric, games, people)
    if metric == "success_difference":
        return _difference(row, done, model)
    if not _has_value(row, metric, model):
        return None
    anywhere = [(f, p) for f, p in done if _is(f, row, model)]
    if (count := released_count(metric, anywhere)) is not None:
        return count
    chosen = [(f, p) for f, p in anywhere if _meets(f, row, model)]
    return _measure_row(row, metric, chosen) if chosen else None


def _has_value(row: Conditions, metric: str, model: str | None) -> bool:
    """Return whether a table has a value for this metric and persuader.

    Success and the number of games are given for the paper's persuaders and the released data,
    other metrics only for people, pooled rows, o1, random play and `model`.
    """
    persuader = row.get("persuader", "all")
    if metric in ("success", "games"):
        return persuader in (*MODELS, "human", "random") or row.get("data") == "released"
    return persuader in ("human", "models", "all", "random", O1, model)


def _is(facts: Conditions, row: Conditions, model: str | None) -> bool:
    """Return whether a game with these conditions was played by the row's persuader."""
    persuader = str(row.get("persuader", "all"))
    if model is not None and persuader in MODELS:
        persuader = named_as_published(model)
    is_model = facts["persuader"] in MODELS or facts["persuader"] == model
    return {"all": True, "models": is_model}.get(persuader, facts["persuader"] == persuader)


def _meets(facts: Conditions, row: Conditions, model: str | None) -> bool:
    variant = row.get("variant", "default")
    # the variants are variants of hidden
    condition = row.get("condition", "hidden" if "variant" in row else facts["condition"])
    return _is(facts, row, model) and (facts["condition"], facts["variant"]) == (condition, variant)


def _measure_row(row: Conditions, metric: str, chosen: Known) -> Estimate | None:
    turn, published = int(row.get("turn", MESSAGES)) - 1, row.get("data") == "paper"
    counted = row.get("inferential") == "counted"
    measures: dict[str, Callable[[Played], float]] = {
        "success": is_won,
        "success_by_turn": lambda p: (metrics.won_with_look_ahead if published
                                      else metrics.would_win)(p)[turn],
        "sink_state": lambda p: metrics.sunk(p)[-1],
        "appealed_to_all": lambda p: (_appealed_over_prefixes if published
                                      else metrics.appealed_to_all)(p, counted),
        "disclosures": lambda p: metrics.disclosures(p)[turn],
        "motivational_appeals": lambda p: len(metrics.new_appeals(p, True)[turn].likes),
        "informational_appeals": lambda p: len(metrics.new_appeals(p, True)[turn].cells),
    }  # fmt: skip
    if metric == "games":
        return exact(len(chosen))
    long_enough = [(f, p) for f, p in chosen if len(metrics.choices(p)) > turn]
    if metric == "appealed_to_all_at_most":
        return _most_appeals(long_enough)
    return estimate_mean(long_enough, measures[metric]) if metric in measures else None


def _most_appeals(games: Known) -> Estimate | None:
    """Return the highest bar of the paper's chart; a bar is a mean over the games of one persuader
    in one condition.

    Each game contributes the share of its prefixes (its first 1, 2, ... messages) in which the
    persuader has asked about everything that the target may like or know.
    """
    groups: dict[tuple[object, object], list[tuple[Conditions, Played]]] = {}
    for facts, played in games:
        groups.setdefault((facts["persuader"], facts["condition"]), []).append((facts, played))
    bars = [estimate_mean(g, lambda p: _appealed_over_prefixes(p, True)) for g in groups.values()]
    return max(bars, key=lambda bar: bar.value or 0.0, default=None)


def _appealed_over_prefixes(played: Played, inferential: bool) -> float:
    """Return the share of a game's prefixes (its first 1, 2, ... messages) in which every like and
    every cell is asked about."""
    return fmean(metrics.asked_all(played, inferential))


def _difference(row: Conditions, done: Known, model: str | None) -> Estimate | None:
    """Return the difference between two shares, with errors clustered by person or puzzle."""
    if row["persuader"] not in (O1, f"human minus {O1}"):
        return None
    if row["contrast"] == "hidden":
        first, second = (
            {"persuader": persuader, "condition": "hidden"} for persuader in ("human", O1)
        )
    else:
        persuader = str(row["persuader"])
        first, second = ({"persuader": persuader, "condition": c} for c in ("revealed", "hidden"))
    sides = [[(f, p) for f, p in done if _meets(f, side, model)] for side in (first, second)]
    if min(map(len, sides)) < 2:
        return None
    first_wins, two = ([float(is_won(played)) for _, played in games] for games in sides)
    together = [cluster(facts, played) for games in sides for facts, played in games]
    return gap_by_rule(first_wins, two, together, (-1, 1))


def _games(done: Known, model: str | None) -> list[Game]:
    """Return the default-variant games of people and of the model that people are compared with."""
    games = []
    for facts, played in done:
        persuader = facts["persuader"]
        is_o1 = persuader == (named_as_published(model) if model else O1)
        if facts["variant"] == "default" and (persuader == "human" or is_o1):
            story, person = str(facts["story"]), str(facts["participant"])
            is_revealed = facts["condition"] == "revealed"
            games.append(Game(is_o1, is_revealed, is_won(played), story, person))
    return games


def cannot(row: Conditions, metric: str) -> str | None:
    """Return why a table value cannot be computed from games; None if it can."""
    return NOT_KEPT.get(metric)


def brings(table: str, row: Conditions) -> str | None:
    """Return the command that imports a row's games if they exist only in the published release,
    else None."""
    persuader = str(row.get("persuader", ""))
    people = persuader.startswith(("human", "all", "random")) or table == "figure8"
    if "hypothesis" in row:
        people = TESTS[str(row["hypothesis"])].o1 is not True
    return "sally import mindgames PATH" if people or table == "replay" else None


# Not in the paper: plans follow from its rules, and games of one person are not independent.
# An intercept by person tests the median person; the population is tested without one.
BESIDE: Mapping[str, Sequence[tuple[Conditions, str]]] = {
    "baseline": [({"plan": plan}, "win_probability") for plan in PLANS],
    "hypotheses": [
        ({"hypothesis": name, "data": "released", "intercepts": intercepts}, metric)
        for name, test in TESTS.items()
        if test.o1 is False  # a model does not play five games as one person does
        for intercepts in (MEDIAN, POPULATION)
        for metric in ("z", "p", "confirmed")
    ],
}
ENGINE = Engine(
    computes,
    {},
    PERSUADER,
    facts,
    tabulates,
    cannot=cannot,
    model_condition="persuader",
    layouts=LAYOUTS,
    figures=FIGURES,
    beside=BESIDE,
    brings=brings,
)
