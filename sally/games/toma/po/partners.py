"""The scripted players of the partially observable game: the exact solver and shortcuts."""

from __future__ import annotations

from sally.core.match.partner import Answerer, Partner, Script
from sally.core.match.player import Turn
from sally.core.rules.game import Seat
from sally.games.toma.one_shot import check_depth, exact_partners, reports
from sally.games.toma.po.depths import answer_at, predictions_at
from sally.games.toma.po.game import PartlySeen, View
from sally.games.toma.po.rules import TASKS
from sally.games.toma.po.shortcuts import SHORTCUTS

OURS = "ours; the shortcuts that a score on kang2026's game must be read against"
# Rules that use only rows that the player's role knows.
KNOWN_ROWS_ONLY = {
    "own_min",
    "own_max",
    "own_second",
    "own_third",
    "middle_cost",
    "extreme_cost",
    "most_popular_known",
    "least_popular_known",
    "mission_failure",
}
ABOUT = {
    "own_min": "its own cheapest task",
    "own_max": "its own dearest task",
    "own_second": "its own second cheapest task",
    "own_third": "its own third cheapest task",
    "middle_cost": "the task whose own cost is nearest to the mean of its own costs",
    "extreme_cost": "the task whose own cost is farthest from the mean of its own costs",
    "smallest_cost": "the task with the smallest cost on the page",
    "largest_cost": "the task with the largest cost on the page",
    "most_popular": "the task that is cheapest for the four together",
    "least_popular": "the task that is dearest for the four together",
    "most_popular_known": "the task that is cheapest over the rows its role knows",
    "least_popular_known": "the task that is dearest over the rows its role knows",
    "stranger_min": "the cheapest task of an agent that it cannot predict",
    "stranger_max": "the dearest task of an agent that it cannot predict",
    "spare_task": "its cheapest task among those that are the fewest others' first choice",
    "best_placed": "the task where it is cheapest compared with the others",
    "worst_placed": "the task where it is dearest compared with the others",
    "mission_failure": "always that failure is inevitable",
}


def _reasoner(game: PartlySeen, seat: Seat, depth: int) -> Script:
    check_depth(depth)
    return lambda turn: answer_at(game.as_seen(turn.view), depth)


def _answer_at_depth(game: PartlySeen, seat: Seat, depth: int) -> Answerer:
    """Return a function that answers probes with the predictions of a reasoner of this depth.

    A reasoner of depth 0 makes no predictions, so it reports those of depth 1.
    """
    check_depth(depth)
    return reports(
        game, lambda turn, agent: predictions_at(game.as_seen(turn.view), max(depth, 1))[agent]
    )


def _greedy_report(game: PartlySeen, seat: Seat) -> Answerer:
    """Return a function that answers probes with the prediction that every agent takes its own
    cheapest task."""

    def cheapest(turn: Turn[int, View], agent: int) -> int:
        row = game.as_seen(turn.view).costs[agent]
        return row.index(min(row))

    return reports(game, cheapest)


def _shortcut(name: str) -> Partner:
    rule = SHORTCUTS[name]

    def make(game: PartlySeen, seat: Seat) -> Script:
        def act(turn: Turn[int, View]) -> int:
            view = turn.view
            hidden = None in view.costs
            picked = None
            if not hidden or name in KNOWN_ROWS_ONLY:
                picked = rule(game.as_seen(view))
            # a random task where the rule does not apply
            return turn.draws.pick(tuple(TASKS)) if picked is None else picked

        return act

    return Partner(name, ABOUT[name], OURS, make, answers=_greedy_report)


PARTNERS = {
    **exact_partners(
        "exact: computes what every agent does and takes the cheapest task that is left",
        "Kang et al. 2026, with the decision rules of our protocol",
    ),
    "reasoner": Partner(
        "reasoner",
        "predicts the others as reasoners of depth `depth` - 1; depth 0 takes its cheapest task",
        "ours; level-k reasoning (Stahl and Wilson 1995) with what each agent knows",
        _reasoner,
        params={"depth": 1},
        answers=_answer_at_depth,
    ),
    **{name: _shortcut(name) for name in SHORTCUTS},
}
