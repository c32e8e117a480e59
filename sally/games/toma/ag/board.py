"""The board of the ambiguity game: the word, the hints and the clue that a seat knows."""

from __future__ import annotations

from sally.core.match.seat_context import SeatContext
from sally.core.rules.board import Board, Note, Notes, Part, Reveal
from sally.core.rules.replay import Trajectory
from sally.games.toma.ag.game import (
    OPPONENT,
    SPEAKER,
    TEAMMATE,
    Action,
    Ambiguity,
    State,
    View,
)


def board(context: SeatContext, view: View) -> Board:
    """Return the speaker's word and both hints, or a listener's own hint; and the clue, once it
    is given."""
    if view.seat == SPEAKER:
        notes = [
            Note("Secret word", view.word, "goal"),
            Note("Teammate B's hint", view.b_hint, "good"),
            Note("Opponent C's hint", view.c_hint, "bad"),
        ]
    else:
        notes = [Note("Your private hint", view.b_hint or view.c_hint, "yours")]
    if view.clue is not None:
        notes.append(Note("The clue", view.clue, "last"))
    return Board((Notes("On the table", tuple(notes)),))


ENDS = {
    "win": "Your teammate found the word and the opponent did not: 1 point for each of you.",
    "leak": "Both found the word: 1 point for the opponent only.",
    "loss": "Only the opponent found the word: 1 point for the opponent, and the team loses 1.",
    "miss": "Nobody found the word.",
    None: "No clue was given.",
}


def REVEAL(context: SeatContext, replay: Trajectory[State, Action, View]) -> Reveal:
    """Return the word, both hints, the clue and both guesses."""
    game, state = replay.rules(Ambiguity), replay.present
    guesses, problem = dict(state.guesses), game.problem
    notes = (
        Note("Secret word", problem.word, "goal"),
        Note("The clue", state.clue or "none", "last"),
        Note("Teammate B's hint", problem.b_hint),
        Note("Teammate B guessed", guesses.get(TEAMMATE, "nothing"), "good"),
        Note("Opponent C's hint", problem.c_hint),
        Note("Opponent C guessed", guesses.get(OPPONENT, "nothing"), "bad"),
    )
    explanation = ENDS[game.outcome(state)]
    if context.seat != SPEAKER:
        explanation = explanation.replace("Your teammate", "The teammate")
    return Reveal(explanation, parts=(Notes("Everything on the table", notes),))


def EXAMPLE(context: SeatContext) -> tuple[Part, ...]:
    """Return the picture beside the rules: a clue that fits one hint and not the other."""
    notes = (
        Note("Secret word", "Amazon", "goal"),
        Note("Teammate's hint", "a river", "good"),
        Note("Opponent's hint", "a shop", "bad"),
        Note("A good clue", "rainforest", "last"),
    )
    return (Notes("Example", notes),)


BOARD = board
