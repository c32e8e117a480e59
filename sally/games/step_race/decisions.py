"""Single decisions of the step race: costs, losses by cause, training tasks, and depths."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sally.core.log.events import Instance, PlayerSpec
from sally.core.rules.chance import Stream
from sally.core.rules.depth import DepthDecision, Depths, Reasoned
from sally.core.rules.game import Seat
from sally.core.rules.metric import Cost, Played, Terms, inference_loss, terms_of
from sally.games.step_race.certified import CertifiedProblem, certified
from sally.games.step_race.metrics import ObservedMove, decided, game_of, known_others, solution
from sally.games.step_race.rules import MOVES, SEATS, StepRace, Triple, View, others_of
from sally.games.step_race.solver import (
    NOBODY,
    SAME,
    Said,
    Solved,
    after,
    best,
    hindsight,
    mind_of,
    solved_against,
    standing,
    weighed,
)
from sally.games.step_race.spec import joint_odds, missing_of, moved
from sally.parts.training import Split, Task, Training

# --- costs ----------------------------------------------------------------------------------------

SOLVED = "the best reply to these partners, solved to the end of the race"
DECLARED = "the others' declared odds in this turn, then uniform play"
DONE = "what the others did in this turn, then uniform play"


def COSTS(played: Played, seat: Seat) -> list[Cost]:
    """Return the cost of every move of the seat, including forfeited moves."""
    found = solution(played, seat)
    costs = [_cost(played, seat, each, found) for each in decided(played, seat)]
    return sorted([*costs, *_forfeited_costs(played, seat)], key=lambda cost: cost.turn)


def _cost(played: Played, seat: Seat, each: ObservedMove, found: Solved | None) -> Cost:
    worths, how = _worths(played, seat, each, found)
    lost = max(worths) - worths[MOVES.index(each.mine)]
    return Cost(each.turn, 0.0 if lost <= SAME else lost, best(worths), how)


def _worths(
    played: Played, seat: Seat, each: ObservedMove, found: Solved | None
) -> tuple[tuple[float, float, float], str]:
    view = each.view
    if found is not None:
        return found.worths(each.missing, view.turn, each.said), SOLVED
    odds = []
    known = known_others(played.episode.setup.lineup, view.number)
    for other, who in zip(others_of(view.number), known, strict=True):
        mind = mind_of(*who)
        if mind is None:
            return each.worths, DONE
        moves = mind.moves(each.missing, other, view.turn, each.said)
        odds.append(dict(zip(MOVES, moves, strict=True)))
    return weighed(each.missing, view.number, joint_odds(*odds)), DECLARED


def _forfeited_costs(played: Played, seat: Seat) -> list[Cost]:
    """Return the costs of the turns that the seat forfeited, in which it therefore stayed in
    place."""
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
    """Return the seat's mean losses by cause, in points.

    The inference and translation losses are means over the turns in which the seat predicted both
    opponents; they are computed in hindsight, from the moves that the opponents really made. The
    loss from forfeits is averaged over all turns.
    """
    turns = decided(played, seat)
    split = [found for each in turns if (found := _split(played, seat, each))]
    missed = _forfeited_costs(played, seat)
    due = len(turns) + len(missed)
    return terms_of(split, sum(cost.loss for cost in missed) / due if due else None)


def _split(played: Played, seat: Seat, each: ObservedMove) -> tuple[float, float, float] | None:
    """Return the inference, translation and total loss of a turn; None without a prediction."""
    odds: list[dict[int, float]] = []
    for other in others_of(each.view.number):
        said = played.replay.report(each.turn, seat, "their_move", SEATS[other])
        if said is None or said.odds is None:
            return None
        odds.append(dict(zip(MOVES, said.odds, strict=True)))
    hoped = weighed(each.missing, each.view.number, joint_odds(*odds))
    true = dict(zip(MOVES, each.worths, strict=True))
    lost = {move: max(true.values()) - worth for move, worth in true.items()}
    inferred = inference_loss(each.mine, best(hoped), lost.__getitem__)
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
    """Return training tasks: partners with fixed habits and truthful partners to train on, blockers
    and liars to test on."""
    parts = {
        part: tuple(
            Task(Instance(game, game, {}), "player_1", {"player_2": one, "player_3": two})
            for one, two in pairs
        )
        for part, pairs in _PAIRS.items()
    }
    return Split(game, "partners held out by the kind of their rule", parts)


TRAINING = Training(split)

# --- depths of reasoning --------------------------------------------------------------------------

ABOUT = (
    "depth 0 thinks of no other player and takes any number; depth 1 replies best, to the end of "
    "the race, to players that do not look at the others (a blocker is one that moves at random); "
    "depth 2 knows that a blocker predicts how the leader arrives; right: a best move against the "
    "true partners"
)
NOTES = (
    "Decisions of the certified tables in races of the best reply, twenty per table, where some "
    "move is not best; a decision whose answer depth 1 finds is in block 1, one that it misses in "
    "block 2, so depth 1 has 0 there, not chance. Where depth 1 finds some of the best moves and "
    "others too, the decision is in no block.",
    "Chance is the best constant number: always 5 in block 1, always 3 in block 2. It is high, so "
    "a score in block 2 says little unless it is well above it.",
)
# share of the decisions of `_questions` in which the best constant number is right, by block
CHANCE = {1: 0.647, 2: 0.715, None: 0.994}
LOOKS_AT_OTHERS = ("blocker",)  # partners whose moves depend on where the other seats are
RACES, MOST_TURNS = 20, 60
Others = Sequence[tuple[str, Mapping[str, object]]]


def reasoned(
    target: int, number: int, others: Others, talk: bool, missing: Triple, turn: int, said: Said
) -> Reasoned | None:  # fmt: skip
    """Return a decision with the moves of reasoners of every depth; None if all three moves are
    equally good.

    The result is also None if play against these partners cannot be solved exactly.
    """
    blind = [("uniform", {}) if who in LOOKS_AT_OTHERS else (who, params) for who, params in others]
    found = [solved_against(target, number, model, talk) for model in (blind, others)]
    if found[0] is None or found[1] is None:
        return None
    first, true = (best(each.worths(missing, turn, said)) for each in found if each is not None)
    if len(true) == len(MOVES):
        return None
    block = 1 if set(first) <= set(true) else None if set(first) & set(true) else 2
    name = "no block" if block is None else f"certified {block}"
    return Reasoned((MOVES, first, true), true, CHANCE[block], block, name)


def _questions() -> Iterator[Reasoned]:
    for one in certified():
        for race in range(RACES):
            yield from _raced(one, Stream(race, "step_race", one.id))


def _raced(one: CertifiedProblem, draws: Stream) -> Iterator[Reasoned]:
    """Yield the decisions of one simulated race between the evaluated seat, which always plays a
    best reply, and the two partners of a certified table (one at which modelling the partners
    pays)."""
    game, number = StepRace(**one.params), SEATS.index(Seat(one.seat))
    places, others = others_of(number), known_others(one.others, number)
    minds = [mind_of(*who) for who in others]
    talk, missing, turn = game.talks > 0, missing_of(game, game.positions), 0
    while min(missing) > 0 and turn < MOST_TURNS:
        turn += 1
        said = list(NOBODY)
        for place, mind in zip(places, minds, strict=True):
            assert mind is not None
            said[place] = draws.draw(dict(mind.announces)) if talk else None
        heard: Said = (said[0], said[1], said[2])
        theirs = []
        for place, mind in zip(places, minds, strict=True):
            assert mind is not None
            odds = mind.moves(missing, place, turn, heard)
            theirs.append(draws.draw(dict(zip(MOVES, odds, strict=True))))
        solution_here = solved_against(game.target, number, others, talk)
        assert solution_here is not None
        mine = draws.pick(best(solution_here.worths(missing, turn, heard)))
        if found := reasoned(game.target, number, others, talk, missing, turn, heard):
            yield found
        missing = after(missing, number, mine, theirs[0], theirs[1])


def _answered(played: Played, seat: Seat) -> Iterator[DepthDecision]:
    """Yield a judgement of every move of an episode; nothing if its seat, target and partners are
    not among the certified combinations (those at which modelling the partners pays)."""
    game, number, lineup = game_of(played), SEATS.index(seat), played.episode.setup.lineup
    known, target = known_others(lineup, number), game.target
    tables = [
        known_others(one.others, number)
        for one in certified()
        if one.seat == seat and one.params["target"] == target
    ]
    if known not in tables:
        return
    for each in decided(played, seat):
        found = reasoned(
            target, number, known, game.talks > 0, each.missing, each.view.turn, each.said
        )
        if found is not None:
            yield DepthDecision(found, each.mine in found.right)


DEPTHS = Depths(ABOUT, _questions, _answered, NOTES)
