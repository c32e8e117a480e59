"""Sources of a decision's loss: inference, translation, format and luck.

The inference loss is what the player would have lost by playing the best reply to its own
prediction. The translation loss is what the player's move loses *according to that prediction*,
right or wrong, so it does not shrink when a player knows less. Luck, which can have either sign, is
the gain or loss that results by chance from a move that does not follow the prediction; inference,
translation and luck add up to the total loss. A forfeited decision is a format loss.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.core.rules.metric import JudgedReport, Losses, Played, Terms, terms_of


def terms(played: Played, seat: Seat, answers: Sequence[JudgedReport]) -> Terms:
    """Return the loss terms of a seat in an episode; terms that are not defined are None."""
    if played.episode.payoffs is None:
        return Terms()
    game_losses: Losses | None = registry.part(played.spec.name, "losses")
    if game_losses is not None:
        return game_losses(played, seat)
    value_if_right = played.spec.measured.doing.right
    return Terms() if value_if_right is None else _of_choices(played, seat, answers, value_if_right)


def _of_choices(
    played: Played, seat: Seat, answers: Sequence[JudgedReport], value_if_right: float
) -> Terms:
    """Return the loss terms if decisions are independent and each is either right or wrong."""
    replay = played.replay
    due = [step for step in replay.steps() if seat in replay.game.to_move(step.before)]
    forfeits = sum(seat in step.forfeited for step in due)
    split = []
    for step in due:
        move, turn_answers = step.moves.get(seat), [a for a in answers if a.turn == step.turn]
        if (
            move is not None
            and turn_answers
            and (losses := _split(played, seat, turn_answers, move))
        ):
            split.append(losses)
    parts = [
        (value_if_right * inferred, value_if_right * given_up, value_if_right * all)
        for inferred, given_up, all in split
    ]
    return terms_of(parts, value_if_right * forfeits / len(due) if due else None)


def _split(
    played: Played, seat: Seat, answers: Sequence[JudgedReport], move: Any
) -> tuple[float, float, float] | None:
    """Return inference loss, translation loss and total loss; None without a prediction.

    If several moves are best replies to the prediction, the inference loss is the loss of the move
    made if that is one of them, otherwise the mean of their losses.
    """
    if any(a.truth is None or a.report.value is None for a in answers):
        return None
    believed = _replies(played, seat, answers, [a.report.value for a in answers])
    right = _replies(played, seat, answers, [a.truth for a in answers])
    if not believed or not right:
        return None
    believed_moves = (move,) if move in believed else believed
    inferred = sum(m not in right for m in believed_moves) / len(believed_moves)
    return inferred, float(move not in believed), float(move not in right)


def _replies(
    played: Played, seat: Seat, answers: Sequence[JudgedReport], values: Sequence[Any]
) -> tuple[Any, ...] | None:
    """Return the best replies to the moves that these answers predict for the other players."""
    rational, replay, turn = played.spec.measured.best_replies, played.replay, answers[0].turn
    belief = dict(zip((a.report.about for a in answers), values, strict=True))
    replies = rational and rational(replay.game, replay.view(turn, seat), belief)
    return replies if isinstance(replies, tuple) else None
