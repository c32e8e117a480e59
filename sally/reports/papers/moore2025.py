"""moore2025 again: counts and random play computed, everything else from played or imported games.

Where the paper's convention looks ahead or averages over prefixes (`data = paper`), that figure
is computed by its convention; beside `data = released` stands ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from sally.core.chance import Stream
from sally.core.drive import play_bots
from sally.core.log import Instance, Setup, Sitter
from sally.core.match import Match
from sally.core.metric import Played
from sally.core.partner import Scripted
from sally.games.mindgames import GAME, frozen
from sally.games.mindgames.matrices import all_matrices, count_with_persuader, symmetry_classes
from sally.games.mindgames.rules import MESSAGES, PERSUADER, MindGame
from sally.games.mindgames.target import (
    Memory,
    choice_of,
    first_mind,
    random_success_formula,
    told,
)
from sally.metrics import persuasion
from sally.partners.mindgames import PARTNERS
from sally.reports.papers.moore2025_hypotheses import CHANCE, O1, Game, hypothesis
from sally.reports.reproduce import Conditions, Effort, Engine, Known
from sally.stats.intervals import Estimate, mean_interval, share_interval

ROUNDING = 0.0005  # figures are printed to three decimals
PLANS = {
    "revealed planner": "revealed",
    "hidden planner": "hidden",
    "tells everything": "tell_all",
    "talks about the goal only": "goal_only",
}
# published name -> what the name of the model contains
MODELS = {
    O1: "o1-preview",
    "gpt-4o": "gpt-4o",
    "llama-3.1-405b": "llama-3.1-405b",
    "llama-3.1-8b": "llama-3.1-8b",
    "deepseek-r1": "deepseek-r1",
}


# --- what needs no games --------------------------------------------------------------------------


def computes(row: Conditions, metric: str, effort: Effort) -> Estimate | None:
    """Counts, settings and random play."""
    if metric in ("instances", "cells"):
        return _exact(counts()[int(row["attributes"]), str(row["counted"])])
    if metric == "win_probability":
        if "memory" not in row:
            return _exact(CHANCE)
        memory: Memory = "frozen" if row["memory"] == "frozen" else "sequential"
        chance = float(random_success_formula(int(row["disclosures"]), memory))
        return Estimate(chance, chance - ROUNDING, chance + ROUNDING, 1, "exact, up to rounding")
    if "plan" in row:
        return planned(PLANS[str(row["plan"])])
    if metric == "success" and row.get("persuader") == "random":
        return random_play(effort)
    if metric == "messages":
        return _exact(MESSAGES)
    return None


def _exact(value: float) -> Estimate:
    return Estimate(float(value), float(value), float(value), 1, "exact")


@cache
def counts() -> dict[tuple[int, str], int]:
    """How many puzzles there are, counted in every way that is reported."""
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


def random_play(effort: Effort) -> Estimate:
    """Eight random disclosures a game under frozen memory, as the published baseline has them."""
    puzzles = frozen.frozen("standard").puzzles
    wins = 0
    for game in range(effort.repeats):
        puzzle, draws = puzzles[game % len(puzzles)], Stream(effort.seed, "random play", game)
        mind = first_mind(puzzle)
        for _ in range(MESSAGES):
            mind = told(puzzle, mind, [draws.pick(puzzle.cells)], "frozen")
        wins += choice_of(puzzle, mind) == puzzle.goal
    return share_interval(wins, effort.repeats)


@cache
def planned(persuader: str) -> Estimate:
    """How often a planner wins on the frozen puzzles, under both memories."""
    condition = "revealed" if persuader == "revealed" else "hidden"
    results = [
        _won(persuader, {"number": number, "memory": memory, "condition": condition})
        for number in range(len(frozen.frozen("standard").puzzles))
        for memory in ("sequential", "frozen")
    ]
    return share_interval(sum(results), len(results))


def _won(persuader: str, params: dict[str, Any]) -> bool:
    """One game of scripted players."""
    lineup = {PERSUADER: persuader, **GAME.occupants}
    sitters = {str(seat): Sitter(name) for seat, name in lineup.items()}
    match = Match(GAME, Setup(Instance("plan", GAME.name, params), 1, sitters))
    play_bots(
        match,
        {str(s): Scripted(PARTNERS[name].make(match.game, s)) for s, name in lineup.items()},
    )
    return match.episode().payoffs == {PERSUADER: 1.0}


# --- what games are -------------------------------------------------------------------------------


def facts(played: Played) -> Conditions | None:
    """Who persuaded whom under which condition; None for what the paper does not have."""
    game = played.replay.game
    who = played.episode.setup.lineup.get(PERSUADER)
    if not isinstance(game, MindGame) or who is None or game.problem.kind != "standard":
        return None
    named = {"recorded": "name", "language": "model"}.get(who.player)
    persuader = named_as_published(str(who.params[named]) if named else who.player)
    return {
        "persuader": persuader,
        "condition": game.condition,
        "variant": "default" if game.variant == "plain" else game.variant,
        "story": game.tale.name,
        "participant": _participant(played) if persuader == "human" else "",
    }


def _participant(played: Played) -> str:
    """Whose game it is: an imported instance is named by file, line and place in the line."""
    return played.episode.setup.instance.id.rpartition(":")[0]


def named_as_published(model: str) -> str:
    """A model under the name it has in the paper's tables, or under its own."""
    found = [name for name, part in MODELS.items() if part in model.casefold()]
    return found[0] if found else model


# --- figures from games -----------------------------------------------------------------------


def tabulates(row: Conditions, metric: str, known: Known, model: str | None) -> Estimate | None:
    """A figure from stored games."""
    done = [(facts, played) for facts, played in known if persuasion.finished(played)]
    if "hypothesis" in row:
        people = row.get("intercepts") == "story and participant"
        return hypothesis(str(row["hypothesis"]), metric, _games(done, model), people)
    if metric == "success_difference":
        return _difference(row, done, model)
    chosen = [played for facts, played in done if _meets(facts, row, model)]
    if not chosen:
        return None
    if metric in ("participants", "games_per_participant", "games_at_most"):
        return _people(metric, [f for f, p in done if _meets(f, row, model)])
    if metric == "games":
        return _exact(len(chosen))
    return _measured(row, metric, chosen)


def _meets(facts: Conditions, row: Conditions, model: str | None) -> bool:
    wanted = str(row.get("persuader", "all"))
    if model is not None and wanted in MODELS:
        wanted = named_as_published(model)
    is_model = facts["persuader"] in MODELS or facts["persuader"] == model
    who = {"all": True, "models": is_model}.get(wanted, facts["persuader"] == wanted)
    variant = row.get("variant", "default")
    # the variants are variants of hidden
    condition = row.get("condition", "hidden" if "variant" in row else facts["condition"])
    return who and (facts["condition"], facts["variant"]) == (condition, variant)


def _measured(row: Conditions, metric: str, chosen: Sequence[Played]) -> Estimate | None:
    turn, published = int(row.get("turn", MESSAGES)) - 1, row.get("data") == "paper"
    if metric == "success":
        return _share(persuasion.won(p)[-1] for p in chosen)
    if metric == "success_by_turn":
        curve = persuasion.won_with_look_ahead if published else persuasion.won
        return _share(curve(p)[turn] for p in chosen if len(curve(p)) > turn)
    if metric == "sink_state":
        return _share(persuasion.sunk(p)[-1] for p in chosen)
    if metric == "appealed_to_all":
        counted = row.get("inferential") == "counted"
        if published:
            return mean_interval([_appealed_over_prefixes(p, counted) for p in chosen])
        return _share(persuasion.appealed_to_all(p, counted) for p in chosen)
    if "turn" not in row:
        return None
    if metric == "disclosures":
        return mean_interval([persuasion.disclosures(p)[turn] for p in chosen])
    asked = [persuasion.new_appeals(p, inferential=True)[turn] for p in chosen]
    if metric == "motivational_appeals":
        return mean_interval([len(a.likes) for a in asked])
    if metric == "informational_appeals":
        return mean_interval([len(a.cells) for a in asked])
    return None


def _share(outcomes: Iterable[bool]) -> Estimate:
    found = list(outcomes)
    return share_interval(sum(found), len(found))


def _appealed_over_prefixes(played: Played, inferential: bool) -> float:
    """The share of prefixes of the game by whose end everything had been asked for."""
    names, cells = persuasion.game_of(played).names, persuasion.game_of(played).problem.cells
    missing, done = len(names.attributes) + len(cells), []
    for asked in persuasion.new_appeals(played, inferential):
        missing -= len(asked.likes) + len(asked.cells)
        done.append(missing == 0)
    return sum(done) / len(done)


def _people(metric: str, facts: Sequence[Conditions]) -> Estimate | None:
    """How many took part, and how many games each of them played."""
    names = [str(f["participant"]) for f in facts if f["participant"]]
    each = [names.count(name) for name in sorted(set(names))]
    if not each:
        return None
    if metric == "participants":
        return _exact(len(each))
    return _exact(max(each)) if metric == "games_at_most" else mean_interval(each)


def _difference(row: Conditions, done: Known, model: str | None) -> Estimate | None:
    """A difference of two shares, as the text states them."""
    if row["contrast"] == "hidden":
        first, second = ({"persuader": who, "condition": "hidden"} for who in ("human", O1))
    else:
        who = str(row["persuader"])
        first, second = ({"persuader": who, "condition": c} for c in ("revealed", "hidden"))
    one, two = (
        [float(persuasion.won(p)[-1]) for f, p in done if _meets(f, each, model)]
        for each in (first, second)
    )
    if len(one) < 2 or len(two) < 2:
        return None
    a, b = mean_interval(one), mean_interval(two)
    assert a.value is not None and b.value is not None
    if a.low is None or b.low is None:
        return Estimate(a.value - b.value, None, None, len(one) + len(two), "difference of shares")
    half = ((a.value - a.low) ** 2 + (b.value - b.low) ** 2) ** 0.5
    gap = a.value - b.value
    return Estimate(gap, gap - half, gap + half, len(one) + len(two), "difference of shares")


def _games(done: Known, model: str | None) -> list[Game]:
    """Games of people and of the model that is compared with them, without variants."""
    found = []
    for facts, played in done:
        who = facts["persuader"]
        is_o1 = who == (named_as_published(model) if model else O1)
        if facts["variant"] == "default" and (who == "human" or is_o1):
            story, person = str(facts["story"]), str(facts["participant"])
            shown = facts["condition"] == "revealed"
            found.append(Game(is_o1, shown, persuasion.won(played)[-1], story, person))
    return found


ENGINE = Engine(computes, {}, PERSUADER, facts, tabulates)
