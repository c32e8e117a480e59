"""Single decisions of Wavelength: points lost by clues and dial positions, the parts of the loss,
and problems for training."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sally.core.rules.game import Seat
from sally.core.rules.metric import Cost, Played, Terms
from sally.games.association.conditions import series_training
from sally.games.association.lexicon import plain
from sally.games.association.measures import mean_terms
from sally.games.wavelength.dials import (
    best_clue,
    best_points,
    expected_points,
    set_for,
    targets_behind,
)
from sally.games.wavelength.instances import frozen
from sally.games.wavelength.metrics import declared_dial, rounds, split
from sally.games.wavelength.rules import GUESSER, PSYCHIC, Clue, State, View, Wavelength

EXACT = "the partner's declared dial, by trying every word of the list"
POSTERIOR = "the targets for which this partner gives this clue, all equally likely"


def COSTS(played: Played, seat: Seat) -> list[Cost]:
    """Return the points lost by each clue or dial position. The list is empty unless the partner is
    scripted with a known dial, which gives every word a position between the poles."""
    return list(_clues(played) if seat == PSYCHIC else _dials(played))


def _clues(played: Played) -> Iterator[Cost]:
    game = played.replay.rules(Wavelength)
    for step in played.replay.steps():
        if PSYCHIC not in (*step.moves, *step.forfeited):
            continue
        state_before: State = played.replay.state(step.turn)
        state_after: State = played.replay.state(step.turn + 1)
        number = len(state_before.past)
        dial = declared_dial(played, GUESSER, number)
        clue = step.moves.get(PSYCHIC)
        rejected = isinstance(clue, Clue) and len(state_after.refused) > len(state_before.refused)
        if dial is None or rejected:
            continue
        now = game.row[number]
        points = 0
        if isinstance(clue, Clue):
            points = game.points(now.target, set_for(dial, clue.word, now.left, now.right))
        best = best_points(game, dial, now.left, now.right, now.target)
        word = best_clue(dial, now.left, now.right, now.target)
        yield Cost(step.turn, float(max(best - points, 0)), (Clue(word),), EXACT)


def _dials(played: Played) -> Iterator[Cost]:
    game = played.replay.rules(Wavelength)
    for step in played.replay.steps():
        if GUESSER not in (*step.moves, *step.forfeited):
            continue
        view: View = played.replay.view(step.turn, GUESSER)
        dial = declared_dial(played, PSYCHIC, len(view.past))
        if dial is None or view.clue is None:
            continue
        behind = targets_behind(dial, view.left, view.right, plain(view.clue))
        if not behind:
            continue
        values = expected_points(game, behind)
        own_dial = step.moves.get(GUESSER)
        value = float(values[own_dial]) if isinstance(own_dial, int) else 0.0
        best = tuple(int(position) for position in np.flatnonzero(values >= values.max() - 1e-9))
        yield Cost(step.turn, float(values.max()) - value, best, POSTERIOR)


def LOSSES(played: Played, seat: Seat) -> Terms:
    """Return the mean losses over the rounds with a prediction.

    Rounds are independent: a decision can cost points in its own round only.
    """
    void = [
        scored_round.best
        for scored_round in rounds(played, seat)
        if scored_round.dial is None and scored_round.best
    ]
    due = len(rounds(played, seat))
    return mean_terms(split(played, seat), sum(void) / due if due else None)


TRAINING = series_training(lambda: frozen(Wavelength().set), PSYCHIC, {GUESSER: "own_dial"})
