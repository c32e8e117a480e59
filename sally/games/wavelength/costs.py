"""What each clue and each setting of the dial gave up, where the partner's dial is declared."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sally.core.rules.game import Seat
from sally.core.rules.metric import Cost, Played
from sally.games.association.lexicon import plain
from sally.games.wavelength.dials import (
    Dial,
    best_clue,
    best_points,
    expected_points,
    set_for,
    targets_behind,
)
from sally.games.wavelength.partners import dials_of
from sally.games.wavelength.rules import GUESSER, PSYCHIC, Clue, State, View, Wavelength

EXACT = "the partner's declared dial, by trying every word of the list"
POSTERIOR = "the targets for which this partner gives this clue, all equally likely"


def COSTS(played: Played, seat: Seat) -> list[Cost]:
    """Every clue or dial of a seat whose partner has a declared dial."""
    return list(_clues(played) if seat == PSYCHIC else _dials(played))


def declared(played: Played, seat: Seat, number: int) -> Dial | None:
    """The dial of whoever sits there in a round; None for a person, a model, another bot."""
    player_spec = played.episode.setup.lineup[seat]
    if player_spec.player != "own_dial":
        return None
    dial, then, until = dials_of(dict(player_spec.params))
    return then if until and number >= until else dial


def _clues(played: Played) -> Iterator[Cost]:
    game = _game(played)
    for step in played.replay.steps():
        if PSYCHIC not in (*step.moves, *step.forfeited):
            continue
        before: State = played.replay.state(step.turn)
        after: State = played.replay.state(step.turn + 1)
        number = len(before.past)
        dial = declared(played, GUESSER, number)
        clue = step.moves.get(PSYCHIC)
        turned_down = isinstance(clue, Clue) and len(after.refused) > len(before.refused)
        if dial is None or turned_down:
            continue
        now = game.row[number]
        got = 0
        if isinstance(clue, Clue):
            got = game.points(now.target, set_for(dial, clue.word, now.left, now.right))
        best = best_points(game, dial, now.left, now.right, now.target)
        word = best_clue(dial, now.left, now.right, now.target)
        yield Cost(step.turn, float(max(best - got, 0)), (Clue(word),), EXACT)


def _dials(played: Played) -> Iterator[Cost]:
    game = _game(played)
    for step in played.replay.steps():
        if GUESSER not in (*step.moves, *step.forfeited):
            continue
        view: View = played.replay.view(step.turn, GUESSER)
        dial = declared(played, PSYCHIC, len(view.past))
        if dial is None or view.clue is None:
            continue
        behind = targets_behind(dial, view.left, view.right, plain(view.clue))
        if not behind:
            continue
        worth = expected_points(game, behind)
        mine = step.moves.get(GUESSER)
        got = float(worth[mine]) if isinstance(mine, int) else 0.0
        best = tuple(int(at) for at in np.flatnonzero(worth >= worth.max() - 1e-9))
        yield Cost(step.turn, float(worth.max()) - got, best, POSTERIOR)


def _game(played: Played) -> Wavelength:
    game = played.replay.game
    assert isinstance(game, Wavelength)
    return game
