"""Players of the minority game: the exact solver, and rules that count instead of reasoning."""

from __future__ import annotations

from collections.abc import Callable

from sally.core.match.partner import Answerer, Partner, Script, by_name, describe_rule
from sally.core.rules.game import Seat
from sally.games.toma.mg.depths import emptiest_at, places_at
from sally.games.toma.mg.game import Minority
from sally.games.toma.mg.rules import PLACES, best_places, profiles
from sally.games.toma.mg.shortcuts import (
    BALANCED,
    EVEN,
    PARTIAL,
    Counter,
    Counts,
    greatest,
    no_relations,
    one_step,
    smallest_counts,
)
from sally.games.toma.one_shot import check_depth, exact_partners, reports

OURS = "ours; the shortcuts that a score on kang2026's game must be read against"
COUNTERS: dict[str, Counter] = {
    **EVEN,
    **BALANCED,
    "no_relations": no_relations,
    "one_step": one_step,
    **PARTIAL,
}
Picked = Callable[[Counts], list[int]]


def _reasoner(game: Minority, seat: Seat, depth: int) -> Script:
    check_depth(depth)
    places = emptiest_at(profiles(game.problem), depth)
    return lambda turn: turn.draws.pick(places)


def _answer_at_depth(game: Minority, seat: Seat, depth: int) -> Answerer:
    """Return a function that answers probes with the predictions of a reasoner of this depth.

    A reasoner of depth 0 makes no predictions, so it reports those of depth 1.
    """
    check_depth(depth)
    predicted = places_at(profiles(game.problem), max(depth, 1) - 1)
    return reports(game, lambda turn, agent: turn.draws.pick(predicted[agent]))


def _loner_report(game: Minority, seat: Seat) -> Answerer:
    """Return a function that answers probes by predicting every agent from its likes and dislikes
    only; ties are broken at random."""
    places = [best_places(profile, {}) or tuple(PLACES) for profile in profiles(game.problem)]
    return reports(game, lambda turn, agent: turn.draws.pick(places[agent]))


def _shortcut(name: str, count: Counter, end: str, picked: Picked) -> Partner:
    def make(game: Minority, seat: Seat) -> Script:
        places = picked(count(profiles(game.problem)))
        return lambda turn: turn.draws.pick(places)  # a tie is a guess among the tied

    extreme = {"least": "smallest", "most": "largest"}[end]
    count_text = describe_rule(count).removeprefix("return ")
    about = f"the place with the {extreme} count, where the count is {count_text}"
    return Partner(f"{end}_{name}", about, OURS, make, answers=_loner_report)


_MADE = [
    _shortcut(name, count, end, picked)
    for name, count in COUNTERS.items()
    for end, picked in (("least", smallest_counts), ("most", greatest))
]

PARTNERS = {
    **exact_partners(
        "exact: computes where every agent goes and takes the emptiest place",
        "Kang et al. 2026, with the decision rule of our protocol",
    ),
    "reasoner": Partner(
        "reasoner",
        "predicts every agent at depth `depth` - 1, where depth 0 ignores relations; a player of "
        "depth 0 picks any place",
        "ours; level-k reasoning (Stahl and Wilson 1995)",
        _reasoner,
        params={"depth": 1},
        answers=_answer_at_depth,
    ),
    **by_name(*_MADE),
}
