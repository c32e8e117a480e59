"""Where a round's loss comes from: the others were not foreseen, or what was foreseen not used."""

from __future__ import annotations

from sally.core.rules.game import Seat
from sally.core.rules.metric import Played, Terms, terms_of
from sally.games.level_k.metrics import Round, game_of, rounds
from sally.games.level_k.rules import LevelGame
from sally.games.level_k.solvers import worths
from sally.games.level_k.spec import best_replies


def LOSSES(played: Played, seat: Seat) -> Terms:
    """The mean losses of the rounds that were predicted, against what the others really did."""
    split = [found for each in rounds(played, seat) if (found := _split(played, seat, each))]
    return terms_of(split, _format_loss(played, seat))


def _split(played: Played, seat: Seat, each: Round) -> tuple[float, float, float] | None:
    """Inference and translation loss of one round, and all of it; None if nothing was predicted.

    Where several moves are best replies to the prediction, the one that was made counts if it is
    among them, else their mean. Translation is what the move gave up by the prediction itself.
    """
    game = game_of(played)
    said = [
        report.value
        for report in played.replay.reports.values()
        if (report.turn, report.seat, report.probe) == (each.turn, seat, "their_move")
    ]
    if not said or not isinstance(said[0], int):
        return None
    replies = best_replies(game, each.view, said[0])
    loss = _lost(played, game, seat, each.turn)
    hoped = worths(game, seat, [{said[0]: 1.0}] * len(game.others(seat)))
    if not replies or loss is None or hoped is None:
        return None
    inferred = loss[each.mine] if each.mine in replies else _mean(loss, replies)
    given_up = max(hoped) - hoped[game.menu(seat).index(each.mine)]
    return inferred, given_up, loss[each.mine]


def _mean(loss: dict[int, float], moves: tuple[int, ...]) -> float:
    return sum(loss[move] for move in moves) / len(moves)


def _lost(played: Played, game: LevelGame, seat: Seat, turn: int) -> dict[int, float] | None:
    """By move, what the best reply to the others' actual moves pays beyond it."""
    theirs = [played.replay.move(turn, other) for other in game.others(seat)]
    worth = worths(game, seat, [{move: 1.0} for move in theirs if move is not None])
    if worth is None or None in theirs:
        return None
    return {move: max(worth) - w for move, w in zip(game.menu(seat), worth, strict=True)}


def _format_loss(played: Played, seat: Seat) -> float | None:
    """Per round: what the best reply would have paid where this seat alone said nothing usable."""
    game, steps = game_of(played), list(played.replay.steps())
    missed = 0.0
    for step in steps:
        if step.forfeited == (seat,):
            odds = [{step.moves[other]: 1.0} for other in game.others(seat)]
            missed += max(worths(game, seat, odds) or [0.0])
    return missed / len(steps) if steps else None
