"""Single decisions in an episode of Hanabi: losses, and moves that contradict reported beliefs."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from sally.core.rules.game import Seat
from sally.core.rules.metric import Played, Terms
from sally.games.hanabi.probes import PERCENT
from sally.games.hanabi.rules import Hanabi
from sally.metrics.consistency import DecisionFit

EVEN = 0.5


class HanabiTurn(msgspec.Struct, frozen=True):
    """One turn of a seat."""

    turn: int
    action: int | None  # None: forfeited
    plays: int | None  # the slot it played, if any
    scores: bool  # whether that card went onto a pile
    believed: dict[int, float] | None  # reported probability that each slot is playable, if asked


def turns_of(played: Played, seat: Seat) -> Iterator[HanabiTurn]:
    """Yield every turn of a seat in order."""
    game = played.replay.rules(Hanabi)
    for step in played.replay.steps():
        if seat not in (*step.moves, *step.forfeited):
            continue
        action = step.moves.get(seat)
        slot, scores = None, False
        if action is not None and game.hand_size <= action < 2 * game.hand_size:
            slot = action - game.hand_size
            scores = game.is_next(step.before, step.before.hands[step.before.mover][slot])
        report = played.replay.report(step.turn, seat, "own_playable")
        believed = None
        if report is not None and isinstance(report.value, dict):
            believed = {int(slot) - 1: p / PERCENT for slot, p in report.value.items()}
        yield HanabiTurn(step.turn, action, slot, scores, believed)


def LOSSES(played: Played, seat: Seat) -> Terms:
    """Return misplays and forfeits per turn, over the turns in which the seat reported which of its
    cards are playable.

    A misplayed card is an inference loss if the seat had called it playable, and a translation loss
    if not. Losses are counted in cards on the piles: a lost life has no separate cost.
    """
    turns = [turn for turn in turns_of(played, seat) if turn.believed is not None]
    if not turns:
        return Terms()
    wrong = [
        turn.believed.get(turn.plays, EVEN)
        for turn in turns
        if turn.believed is not None and turn.plays is not None and not turn.scores
    ]
    believed = sum(p >= EVEN for p in wrong)
    return Terms(
        inference=believed / len(turns),
        translation=(len(wrong) - believed) / len(turns),
        format=sum(turn.action is None for turn in turns) / len(turns),
    )


def ACTING(played: Played, seat: Seat) -> list[DecisionFit]:
    """Return, for each card played, whether the seat itself had called it playable.

    Hints and discards are left out, because a prediction of which cards are playable does not
    determine the best hint or discard.
    """
    return [
        DecisionFit(turn.turn, turn.believed.get(turn.plays, EVEN) >= EVEN, None)
        for turn in turns_of(played, seat)
        if turn.believed is not None and turn.plays is not None
    ]
