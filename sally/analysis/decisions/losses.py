"""Where a decision's loss comes from: not foreseen, not acted on, not readable; the rest is luck.

The inference loss is what the best reply to one's own prediction misses. The translation loss is
what the move gave up *by that prediction*, whether or not it was right: so it does not shrink when
a player knows less. What a move against one's own prediction happens to gain is luck, with its
sign; inference, translation and luck add up to what was missed. A forfeited decision is a format
loss.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.core.rules.metric import Judged, Losses, Played, Terms, terms_of


def terms(played: Played, seat: Seat, answers: Sequence[Judged]) -> Terms:
    """The terms that are defined for this seat of this episode; without a result, none."""
    if played.episode.payoffs is None:
        return Terms()
    own: Losses | None = registry.part(played.spec.name, "losses")
    if own is not None:
        return own(played, seat)
    worth = played.spec.doing.right
    return Terms() if worth is None else _of_choices(played, seat, answers, worth)


def _of_choices(played: Played, seat: Seat, answers: Sequence[Judged], worth: float) -> Terms:
    """Decisions that are right or wrong, each alone."""
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
    played: Played, seat: Seat, answers: Sequence[Judged], mine: Any
) -> tuple[float, float, float] | None:
    """What the best reply to the prediction misses, what the move gave up by it, what it missed.

    Where several moves are best replies to the prediction, the one that was done counts if it
    is among them, else their mean. None where nothing was predicted.
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
    played: Played, seat: Seat, answers: Sequence[Judged], values: Sequence[Any]
) -> tuple[Any, ...] | None:
    """The best replies to these answers: one mind's state, or what each of the others does."""
    rational, replay, turn = played.spec.best_replies, played.replay, answers[0].turn
    belief = dict(zip((a.report.about for a in answers), values, strict=True))
    replies = rational and rational(replay.game, replay.view(turn, seat), belief)
    return replies if isinstance(replies, tuple) else None
