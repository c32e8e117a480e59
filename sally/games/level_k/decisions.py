"""Single decisions of level-k games: losses, costs, scores that include forfeited decisions,
training tasks, and depths of reasoning."""

from __future__ import annotations

from collections.abc import Iterator

from sally.core.log.events import PlayerSpec
from sally.core.registry import registry
from sally.core.rules.depth import DepthDecision, Depths, Reasoned
from sally.core.rules.game import Seat
from sally.core.rules.metric import Cost, Played, Terms, inference_loss, terms_of
from sally.games.level_k.metrics import Round, game_of, rounds
from sally.games.level_k.minds import level_odds
from sally.games.level_k.payoffs import Boxes, Request
from sally.games.level_k.rules import LevelGame
from sally.games.level_k.solvers import SAME, Odds, worths
from sally.games.level_k.solvers import best_replies as best_replies_to
from sally.games.level_k.spec import a_round, best_replies, minds_of_others
from sally.parts.training import Split, Training, by_partner

# --- losses ---------------------------------------------------------------------------------------


def LOSSES(played: Played, seat: Seat) -> Terms:
    """Return the mean losses over the rounds with a prediction, given the others' actual moves."""
    split = [
        parts for past_round in rounds(played, seat) if (parts := _split(played, seat, past_round))
    ]
    return terms_of(split, _format_loss(played, seat))


def _split(played: Played, seat: Seat, past_round: Round) -> tuple[float, float, float] | None:
    """Return one round's inference, translation and total loss; None if the seat made no
    prediction.

    The translation loss is the payoff that the move gives up if the prediction is right.
    """
    game = game_of(played)
    predicted = next(
        (
            report.value
            for report in played.replay.reports.values()
            if (report.turn, report.seat, report.probe) == (past_round.turn, seat, "their_move")
        ),
        None,
    )
    if not isinstance(predicted, int):
        return None
    replies = best_replies(game, past_round.view, predicted)
    loss = _loss_by_move(played, game, seat, past_round.turn)
    expected = worths(game, seat, [{predicted: 1.0}] * len(game.others(seat)))
    if not replies or loss is None or expected is None:
        return None
    inference = inference_loss(past_round.own_move, replies, loss.__getitem__)
    translation = max(expected) - expected[game.menu(seat).index(past_round.own_move)]
    return inference, translation, loss[past_round.own_move]


def _loss_by_move(
    played: Played, game: LevelGame, seat: Seat, turn: int
) -> dict[int, float] | None:
    """Return how much less each move pays than the best reply, given the others' actual moves."""
    other_moves = [played.replay.move(turn, other_seat) for other_seat in game.others(seat)]
    values = worths(game, seat, [{move: 1.0} for move in other_moves if move is not None])
    if values is None or None in other_moves:
        return None
    return {move: max(values) - w for move, w in zip(game.menu(seat), values, strict=True)}


def _format_loss(played: Played, seat: Seat) -> float | None:
    """Return the payoff that this seat lost by its forfeits, compared with best replies, as a mean
    over rounds."""
    game, steps = game_of(played), list(played.replay.steps())
    missed = 0.0
    for step in steps:
        if step.forfeited == (seat,):
            odds = [{step.moves[other_seat]: 1.0} for other_seat in game.others(seat)]
            missed += max(worths(game, seat, odds) or [0.0])
    return missed / len(steps) if steps else None


# --- costs ----------------------------------------------------------------------------------------

DECLARED = "the others' declared odds, exactly"
DONE = "what the others did in this round"


def COSTS(played: Played, seat: Seat) -> list[Cost]:
    """Return the cost of every round in which no other seat forfeited."""
    game, costs = game_of(played), []
    for step in played.replay.steps():
        if step.forfeited not in ((), (seat,)):
            continue
        odds, criterion = _odds(played, seat, step.turn)
        values = worths(game, seat, odds)
        if values is None:
            continue
        own_move, menu = step.moves.get(seat), game.menu(seat)
        value = 0.0 if own_move is None else values[menu.index(own_move)]
        best = tuple(m for m, w in zip(menu, values, strict=True) if w >= max(values) - SAME)
        loss = max(values) - value
        costs.append(Cost(step.turn, 0.0 if loss <= SAME else loss, best, criterion))
    return costs


def _odds(played: Played, seat: Seat, turn: int) -> tuple[list[Odds], str]:
    """Return the other seats' declared move probabilities in a round or, failing that, their actual
    moves."""
    replay, game = played.replay, game_of(played)
    others, minds = game.others(seat), minds_of_others(replay, seat)
    declared = [
        mind.does(replay.view(turn, other_seat))
        for other_seat, mind in zip(others, minds, strict=True)
        if mind is not None
    ]
    if len(declared) == len(others):
        return declared, DECLARED
    return [{replay.moves[turn][other_seat]: 1.0} for other_seat in others], DONE


# --- intention to treat ---------------------------------------------------------------------------


def INTENDED(played: Played, seat: Seat) -> tuple[float, float, float | None]:
    """Return two payoffs per round, which differ in the rounds that this seat forfeited or that
    were never played: they count as 0 in the first payoff and as the maximum in the second."""
    game, steps = game_of(played), list(played.replay.steps())
    earned = 0.0
    for step in steps:
        if not step.forfeited:
            moves = tuple(step.moves[other_seat] for other_seat in game.seats)
            earned += float(game.pays.pay(moves)[game.seats.index(seat)])
    due = len(steps) if played.episode.payoffs is not None else game.rounds
    forfeits = sum(seat in step.forfeited for step in steps)
    missed = a_round(game, seat)[1] * (forfeits + due - len(steps))
    return earned / due, (earned + missed) / due, None


# --- training -------------------------------------------------------------------------------------

_PARTNERS = {
    "train": (PlayerSpec("level", {"k": 0}), PlayerSpec("level", {"k": 1})),
    "validation": (PlayerSpec("level", {"k": 2}),),
    "held_out": (PlayerSpec("level", {"k": 3}), PlayerSpec("cognitive_hierarchy", {"k": 4})),
}


def _training_tasks(game: str) -> Split:
    """Return training tasks for the first seat: shallow partners to train on, deeper ones to test
    on."""
    about = "partners held out by how many steps they think"
    return by_partner(game, about, registry.game(game).build().seats, _PARTNERS)


TRAINING = Training(_training_tasks)

# --- depths of reasoning --------------------------------------------------------------------------

ABOUT = (
    "depth 0 does what stands out; depth k replies best to depth k - 1; against a partner of level "
    "k the reasoner of depth k + 1 is right"
)
NOTES = (
    "Depth here is that of the partner at hand plus one, which only the past reveals; deeper "
    "reasoners think too far and are wrong too, so depths beyond it are left out.",
    "Shallower reasoners are never right in the request game (a guess: one in ten).",
)
LEVELS = range(4)  # of partners


def _reason_about(game: LevelGame, seat: Seat, k: int, group: str = "") -> Reasoned | None:
    """Return a round against a partner of level k with the moves of reasoners of every depth; None
    if several moves are best.

    Several moves can be best if the partner draws among equally good replies.
    """
    if not isinstance(game.pays, Request | Boxes):
        return None
    (other_seat,) = game.others(seat)
    right = best_replies_to(game, seat, [level_odds(game, other_seat, k)])
    if right is None or len(right) > 1:
        return None
    by_depth = tuple(tuple(level_odds(game, seat, depth)) for depth in range(k + 2))
    # among few boxes levels come round again, so a shallow reasoner may be right
    block = k + 1 if isinstance(game.pays, Request) else None
    return Reasoned(by_depth, right, 1 / len(game.menu(seat)), block, group)


def _questions() -> Iterator[Reasoned]:
    for name in ("eleven_twenty", "hide_and_seek"):
        game = registry.game(name).build()
        assert isinstance(game, LevelGame)
        for seat in game.seats:
            for k in LEVELS:
                decision = _reason_about(game, seat, k, f"{name}, {seat} against level {k}")
                if decision is not None:
                    yield decision


def _judge_moves(played: Played, seat: Seat) -> Iterator[DepthDecision]:
    game = game_of(played)
    others = [played.episode.setup.lineup[str(other_seat)] for other_seat in game.others(seat)]
    if len(others) != 1 or others[0].player != "level" or others[0].params.get("base"):
        return
    decision = _reason_about(game, seat, int(others[0].params.get("k", 1)))
    if decision is not None:
        for step in played.replay.steps():
            if step.forfeited in ((), (seat,)):
                yield DepthDecision(decision, step.moves.get(seat) in decision.right)


DEPTHS = Depths(ABOUT, _questions, _judge_moves, NOTES)
