"""Single decisions of the step race: costs, losses by cause, training tasks, and depths."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sally.core.log.events import Instance, PlayerSpec
from sally.core.rules.chance import Stream
from sally.core.rules.depth import DepthDecision, Depths, Reasoned
from sally.core.rules.game import Seat
from sally.core.rules.metric import Cost, Played, Terms, inference_loss, terms_of
from sally.games.step_race.certified_tables import CertifiedProblem, read_certified
from sally.games.step_race.metrics import ObservedMove, game_of, known_others, list_moves, solution
from sally.games.step_race.rules import MOVES, SEATS, StepRace, Triple, View, others_of
from sally.games.step_race.solver import (
    NOBODY,
    SAME,
    Said,
    Solved,
    best,
    hindsight,
    mind_of,
    missing_after,
    solved_against,
    standing,
    weigh_moves,
)
from sally.games.step_race.spec import joint_odds, missing_of, move_in_turn
from sally.parts.training import Split, Task, Training

# --- costs ----------------------------------------------------------------------------------------

SOLVED = "the best reply to these partners, solved to the end of the race"
DECLARED = "the others' declared odds in this turn, then uniform play"
DONE = "what the others did in this turn, then uniform play"


def COSTS(played: Played, seat: Seat) -> list[Cost]:
    """Return the cost of every move of the seat, including forfeited moves."""
    solved = solution(played, seat)
    costs = [_cost(played, seat, observed, solved) for observed in list_moves(played, seat)]
    return sorted([*costs, *_forfeited_costs(played, seat)], key=lambda cost: cost.turn)


def _cost(
    played: Played, seat: Seat, observed: ObservedMove, solution_found: Solved | None
) -> Cost:
    worths, criterion = _worths(played, seat, observed, solution_found)
    loss = max(worths) - worths[MOVES.index(observed.own_move)]
    return Cost(observed.turn, 0.0 if loss <= SAME else loss, best(worths), criterion)


def _worths(
    played: Played, seat: Seat, observed: ObservedMove, solution_found: Solved | None
) -> tuple[tuple[float, float, float], str]:
    view = observed.view
    if solution_found is not None:
        return solution_found.worths(observed.missing, view.turn, observed.announcements), SOLVED
    odds = []
    opponents = known_others(played.episode.setup.lineup, view.number)
    for opponent, player_and_params in zip(others_of(view.number), opponents, strict=True):
        mind = mind_of(*player_and_params)
        if mind is None:
            return observed.worths, DONE
        moves = mind.moves(observed.missing, opponent, view.turn, observed.announcements)
        odds.append(dict(zip(MOVES, moves, strict=True)))
    return weigh_moves(observed.missing, view.number, joint_odds(*odds)), DECLARED


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
        first_move, two = (
            move_in_turn(replay, turn, SEATS[opponent]) or 0 for opponent in others_of(number)
        )
        worths = hindsight(missing_of(game, view.positions), number, (first_move, two))
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
    turns = list_moves(played, seat)
    split = [parts for observed in turns if (parts := _split(played, seat, observed))]
    missed = _forfeited_costs(played, seat)
    due = len(turns) + len(missed)
    return terms_of(split, sum(cost.loss for cost in missed) / due if due else None)


def _split(played: Played, seat: Seat, observed: ObservedMove) -> tuple[float, float, float] | None:
    """Return the inference, translation and total loss of a turn; None without a prediction."""
    odds: list[dict[int, float]] = []
    for opponent in others_of(observed.view.number):
        report = played.replay.report(observed.turn, seat, "their_move", SEATS[opponent])
        if report is None or report.odds is None:
            return None
        odds.append(dict(zip(MOVES, report.odds, strict=True)))
    hoped = weigh_moves(observed.missing, observed.view.number, joint_odds(*odds))
    true = dict(zip(MOVES, observed.worths, strict=True))
    losses = {move: max(true.values()) - value for move, value in true.items()}
    inferred = inference_loss(observed.own_move, best(hoped), losses.__getitem__)
    return inferred, max(hoped) - hoped[MOVES.index(observed.own_move)], losses[observed.own_move]


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
            Task(Instance(game, game, {}), "player_1", {"player_2": first_partner, "player_3": two})
            for first_partner, two in pairs
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
    "Decisions of the stored tables in races of the best reply, twenty per table, where some "
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


def reason_about(
    target: int, number: int, others: Others, talk: bool, missing: Triple, turn: int,
    announcements: Said
) -> Reasoned | None:  # fmt: skip
    """Return a decision with the moves of reasoners of every depth; None if all three moves are
    equally good.

    The result is also None if play against these partners cannot be solved exactly.
    """
    blind = [
        ("uniform", {}) if player in LOOKS_AT_OTHERS else (player, params)
        for player, params in others
    ]
    solutions = [solved_against(target, number, model, talk) for model in (blind, others)]
    if solutions[0] is None or solutions[1] is None:
        return None
    first, true = (
        best(solution_of_depth.worths(missing, turn, announcements))
        for solution_of_depth in solutions
        if solution_of_depth is not None
    )
    if len(true) == len(MOVES):
        return None
    block = 1 if set(first) <= set(true) else None if set(first) & set(true) else 2
    name = "no block" if block is None else f"block {block}"
    return Reasoned((MOVES, first, true), true, CHANCE[block], block, name)


def _questions() -> Iterator[Reasoned]:
    for problem in read_certified():
        for race in range(RACES):
            yield from _simulate_race(problem, Stream(race, "step_race", problem.id))


def _simulate_race(problem: CertifiedProblem, draws: Stream) -> Iterator[Reasoned]:
    """Yield the decisions of one simulated race between the evaluated seat, which always plays a
    best reply, and the two partners of a stored table, at which modelling them pays."""
    game, number = StepRace(**problem.params), SEATS.index(Seat(problem.seat))
    places, others = others_of(number), known_others(problem.others, number)
    minds = [mind_of(*opponent) for opponent in others]
    talk, missing, turn = game.talks > 0, missing_of(game, game.positions), 0
    while min(missing) > 0 and turn < MOST_TURNS:
        turn += 1
        spoken = list(NOBODY)
        for place, mind in zip(places, minds, strict=True):
            assert mind is not None
            spoken[place] = draws.draw(dict(mind.announces)) if talk else None
        heard: Said = (spoken[0], spoken[1], spoken[2])
        other_moves = []
        for place, mind in zip(places, minds, strict=True):
            assert mind is not None
            odds = mind.moves(missing, place, turn, heard)
            other_moves.append(draws.draw(dict(zip(MOVES, odds, strict=True))))
        solution_here = solved_against(game.target, number, others, talk)
        assert solution_here is not None
        own_move = draws.pick(best(solution_here.worths(missing, turn, heard)))
        if decision := reason_about(game.target, number, others, talk, missing, turn, heard):
            yield decision
        missing = missing_after(missing, number, own_move, other_moves[0], other_moves[1])


def _judge_moves(played: Played, seat: Seat) -> Iterator[DepthDecision]:
    """Yield a judgement of every move of an episode; nothing if its seat, target and partners are
    not among the stored tables (those at which modelling the partners pays)."""
    game, number, lineup = game_of(played), SEATS.index(seat), played.episode.setup.lineup
    opponents, target = known_others(lineup, number), game.target
    tables = [
        known_others(problem.others, number)
        for problem in read_certified()
        if problem.seat == seat and problem.params["target"] == target
    ]
    if opponents not in tables:
        return
    for observed in list_moves(played, seat):
        decision = reason_about(
            target,
            number,
            opponents,
            game.talks > 0,
            observed.missing,
            observed.view.turn,
            observed.announcements,
        )
        if decision is not None:
            yield DepthDecision(decision, observed.own_move in decision.right)


DEPTHS = Depths(ABOUT, _questions, _judge_moves, NOTES)
