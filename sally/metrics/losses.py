"""Where a decision's loss comes from: not foreseen, not acted on, not readable, not far-sighted.

Per decision: best reply to the truth, to one's own prediction, and what was done; the first
difference is the inference loss, the second the translation loss. A forfeited decision is a
format loss. What looking ahead changes over a whole episode is the horizon term, with its sign.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from sally.core.game import Seat
from sally.core.metric import Played
from sally.metrics import repeated_play
from sally.metrics.answers import Answered

RIGHT_OR_WRONG: Mapping[str, float] = {"toma_po": 1.0, "toma_mg": 1.0, "pick_the_right_stuff": 100}
"""Families whose decisions are right or wrong by themselves, and what a right one counts."""


class Terms(msgspec.Struct, frozen=True):
    """The mean loss of an episode's decisions by where it arose, in the unit of doing."""

    inference: float | None = None
    translation: float | None = None
    format: float | None = None
    horizon: float | None = None


def terms(played: Played, seat: Seat, answers: Sequence[Answered]) -> Terms:
    """The terms that are defined for this seat of this episode; without a result, none."""
    if played.episode.payoffs is None:
        return Terms()
    family = played.spec.family or played.spec.name
    if family == "repeated_games":
        return _of_rounds(played, seat)
    if family in RIGHT_OR_WRONG:
        return _of_choices(played, seat, answers, RIGHT_OR_WRONG[family])
    return Terms()


def _of_rounds(played: Played, seat: Seat) -> Terms:
    split = repeated_play.losses(played, seat)
    n = len(split)
    return Terms(
        inference=sum(each.inference for each in split) / n if n else None,
        translation=sum(each.translation for each in split) / n if n else None,
        format=repeated_play.format_loss(played, seat),
        horizon=repeated_play.horizon_term(played, seat),
    )


def _of_choices(played: Played, seat: Seat, answers: Sequence[Answered], worth: float) -> Terms:
    """Decisions that are right or wrong, each alone: none has a horizon."""
    replay = played.replay
    due = [step for step in replay.steps() if seat in replay.game.to_move(step.before)]
    lost = sum(seat in step.forfeited for step in due)
    split = []
    for step in due:
        mine, here = step.moves.get(seat), [a for a in answers if a.turn == step.turn]
        if mine is not None and here and (found := _split(played, seat, here, mine)):
            split.append(found)
    n = len(split)
    return Terms(
        inference=worth * sum(inferred for inferred, _ in split) / n if n else None,
        translation=worth * sum(done - inferred for inferred, done in split) / n if n else None,
        format=worth * lost / len(due) if due else None,
    )


def _split(
    played: Played, seat: Seat, answers: Sequence[Answered], mine: Any
) -> tuple[float, float] | None:
    """What the best reply to the prediction misses, and what was missed; None if unpredicted.

    Where several moves are best replies to the prediction, the one that was done counts if it
    is among them, else their mean.
    """
    if any(a.truth is None or a.report.value is None for a in answers):
        return None
    believed = _replies(played, seat, answers, [a.report.value for a in answers])
    right = _replies(played, seat, answers, [a.truth for a in answers])
    if not believed or not right:
        return None
    made = (mine,) if mine in believed else believed
    return sum(m not in right for m in made) / len(made), float(mine not in right)


def _replies(
    played: Played, seat: Seat, answers: Sequence[Answered], values: Sequence[Any]
) -> tuple[Any, ...] | None:
    """The best replies to these answers: one mind's state, or what each of the others does."""
    rational, replay, turn = played.spec.best_replies, played.replay, answers[0].turn
    alone = (played.spec.family or played.spec.name) == "pick_the_right_stuff"
    about = dict(zip((a.report.about for a in answers), values, strict=True))
    belief = values[0] if alone else about
    return None if rational is None else rational(replay.game, replay.view(turn, seat), belief)
