"""Single decisions of the step race: costs, losses by cause, and training tasks."""

from __future__ import annotations

from sally.core.log.events import Instance, PlayerSpec
from sally.core.rules.game import Seat
from sally.core.rules.metric import Cost, Played, Terms, terms_of
from sally.core.rules.training import Split, Task, Training
from sally.games.step_race.metrics import Decided, decided, game_of, solution
from sally.games.step_race.rules import MOVES, SEATS, View, others_of
from sally.games.step_race.solver import (
    SAME,
    Solved,
    best,
    hindsight,
    mind_of,
    standing,
    weighed,
)
from sally.games.step_race.spec import joint_odds, missing_of, moved

# --- costs ----------------------------------------------------------------------------------------

SOLVED = "the best reply to these partners, solved to the end of the race"
DECLARED = "the others' declared odds in this turn, then uniform play"
DONE = "what the others did in this turn, then uniform play"


def COSTS(played: Played, seat: Seat) -> list[Cost]:
    """Return the cost of every move of the seat, and of every forfeited move."""
    found = solution(played, seat)
    costs = [_cost(played, seat, each, found) for each in decided(played, seat)]
    return sorted([*costs, *_forfeited_costs(played, seat)], key=lambda cost: cost.turn)


def _cost(played: Played, seat: Seat, each: Decided, found: Solved | None) -> Cost:
    worths, how = _worths(played, seat, each, found)
    lost = max(worths) - worths[MOVES.index(each.mine)]
    return Cost(each.turn, 0.0 if lost <= SAME else lost, best(worths), how)


def _worths(
    played: Played, seat: Seat, each: Decided, found: Solved | None
) -> tuple[tuple[float, float, float], str]:
    view = each.view
    if found is not None:
        return found.worths(each.missing, view.turn, each.said), SOLVED
    lineup = played.episode.setup.lineup
    odds = []
    for other in others_of(view.number):
        who = lineup[SEATS[other]]
        mind = mind_of(who.player, who.params)
        if mind is None:
            return each.worths, DONE
        moves = mind.moves(each.missing, other, view.turn, each.said)
        odds.append(dict(zip(MOVES, moves, strict=True)))
    return weighed(each.missing, view.number, joint_odds(*odds)), DECLARED


def _forfeited_costs(played: Played, seat: Seat) -> list[Cost]:
    """Return the cost of the turns that the seat forfeited, in which it stood still."""
    replay, game = played.replay, game_of(played)
    number = SEATS.index(seat)
    costs = []
    for turn, forfeited in sorted(replay.forfeited.items()):
        view: View = replay.view(turn, seat)
        if seat not in forfeited or not view.moving:
            continue
        one, two = (moved(replay, turn, SEATS[other]) or 0 for other in others_of(number))
        worths = hindsight(missing_of(game, view.positions), number, (one, two))
        stayed = standing(missing_of(game, replay.state(turn + 1).positions), number)
        costs.append(Cost(turn, max(max(worths) - stayed, 0.0), best(worths), DONE))
    return costs


# --- losses ---------------------------------------------------------------------------------------


def LOSSES(played: Played, seat: Seat) -> Terms:
    """Return the mean losses of turns in which both others were predicted, in points by
    hindsight."""
    turns = decided(played, seat)
    split = [found for each in turns if (found := _split(played, seat, each))]
    missed = _forfeited_costs(played, seat)
    due = len(turns) + len(missed)
    return terms_of(split, sum(cost.loss for cost in missed) / due if due else None)


def _split(played: Played, seat: Seat, each: Decided) -> tuple[float, float, float] | None:
    """Return inference, translation and total loss of a turn; None if a player was not predicted.

    If several moves are best replies to the prediction, the move made counts if it is among them,
    else their mean.
    """
    odds: list[dict[int, float]] = []
    for other in others_of(each.view.number):
        said = played.replay.report(each.turn, seat, "their_move", SEATS[other])
        if said is None or said.odds is None:
            return None
        odds.append(dict(zip(MOVES, said.odds, strict=True)))
    hoped = weighed(each.missing, each.view.number, joint_odds(*odds))
    true = dict(zip(MOVES, each.worths, strict=True))
    lost = {move: max(true.values()) - worth for move, worth in true.items()}
    replies = best(hoped)
    made = (each.mine,) if each.mine in replies else replies
    inferred = sum(lost[move] for move in made) / len(made)
    return inferred, max(hoped) - hoped[MOVES.index(each.mine)], lost[each.mine]


# --- training -------------------------------------------------------------------------------------

_PAIRS = {
    "train": (
        (PlayerSpec("always", {"move": 5}), PlayerSpec("always", {"move": 5})),
        (PlayerSpec("uniform"), PlayerSpec("uniform")),
        (PlayerSpec("keeper", {"p": 1.0}), PlayerSpec("keeper", {"p": 1.0})),
    ),
    "validation": ((PlayerSpec("stage_equilibrium"), PlayerSpec("stage_equilibrium")),),
    "held_out": (
        (PlayerSpec("blocker"), PlayerSpec("blocker")),
        (PlayerSpec("keeper", {"p": 0.2}), PlayerSpec("keeper", {"p": 0.8})),
        (PlayerSpec("follower"), PlayerSpec("listener")),
    ),
}


def split(game: str) -> Split:
    """Return habits and truthful partners to train on, and blockers and liars to test on."""
    parts = {
        part: tuple(
            Task(Instance(game, game, {}), "player_1", {"player_2": one, "player_3": two})
            for one, two in pairs
        )
        for part, pairs in _PAIRS.items()
    }
    return Split(game, "partners held out by the kind of their rule", parts)


TRAINING = Training(split)
