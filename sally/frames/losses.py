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
    own: Losses | None = registry.part(played.spec.name, "losses")
    if own is not None:
        return own(played, seat)
    worth = played.spec.measured.doing.right
    return Terms() if worth is None else _of_choices(played, seat, answers, worth)


def _of_choices(played: Played, seat: Seat, answers: Sequence[JudgedReport], worth: float) -> Terms:
    """Return the loss terms if decisions are independent and each is either right or wrong."""
    replay = played.replay
    due = [step for step in replay.steps() if seat in replay.game.to_move(step.before)]
    lost = sum(seat in step.forfeited for step in due)
    split = []
    for step in due:
        mine, here = step.moves.get(seat), [a for a in answers if a.turn == step.turn]
        if mine is not None and here and (found := _split(played, seat, here, mine)):
            split.append(found)
    parts = [(worth * inferred, worth * given_up, worth * all) for inferred, given_up, all in split]
    return terms_of(parts, worth * lost / len(due) if due else None)


def _split(
    played: Played, seat: Seat, answers: Sequence[JudgedReport], mine: Any
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
    made = (mine,) if mine in believed else believed
    inferred = sum(m not in right for m in made) / len(made)
    return inferred, float(mine not in believed), float(mine not in right)


def _replies(
    played: Played, seat: Seat, answers: Sequence[JudgedReport], values: Sequence[Any]
) -> tuple[Any, ...] | None:
    """Return the best replies to the moves that these answers predict for the other players."""
    rational, replay, turn = played.spec.measured.best_replies, played.replay, answers[0].turn
    belief = dict(zip((a.report.about for a in answers), values, strict=True))
    replies = rational and rational(replay.game, replay.view(turn, seat), belief)
    return replies if isinstance(replies, tuple) else None
