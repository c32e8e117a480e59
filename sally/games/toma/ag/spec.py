"""Registry entry of the ambiguity game."""

from __future__ import annotations

from sally.core.rules.game import Doing, GameSpec, MeasureSpec, PeopleSpec, Seat
from sally.core.rules.probe import At, Probe, Question
from sally.core.rules.replay import Trajectory
from sally.games.toma.ag.game import (
    LISTENERS,
    OPPONENT,
    SPEAKER,
    TEAMMATE,
    Action,
    Ambiguity,
    Guess,
    State,
    View,
)
from sally.games.toma.ag.rules import is_right, items
from sally.games.toma.ag.words import TEXTS, AmbiguityWords

# --- probes: the effect of the speaker's clue -----------------------------------------------------


def asks_hints(game: Ambiguity, view: View, seat: Seat) -> tuple[Question, ...]:
    """Return the questions about which of the two hints each listener has."""
    return tuple(
        Question("has_hint", "choice", ("b", "c"), about=listener) for listener in LISTENERS
    )


def true_hint(replay: Trajectory[State, Action, View], place: At) -> str:
    """Return the listener's hint; the speaker's prompt states it, so the probe only checks
    reading."""
    return "b" if place.about == TEAMMATE else "c"


def asks_outcome(game: Ambiguity, view: View, seat: Seat) -> tuple[Question, ...]:
    """Return the questions about whether each listener will find the word."""
    return tuple(
        Question("finds_it", "choice", ("right", "wrong"), about=listener) for listener in LISTENERS
    )


def true_outcome(replay: Trajectory[State, Action, View], place: At) -> str | None:
    """Return whether the listener's guess was right; None if the clue was rejected."""
    guess = replay.move(place.turn + 1, Seat(place.about)) if place.turn + 1 < len(replay) else None
    if not isinstance(guess, Guess):
        return None
    assert isinstance(replay.game, Ambiguity)
    return "right" if is_right(replay.game.problem, guess.word) else "wrong"


GAME: GameSpec[State, Action, View] = GameSpec(
    name="toma_ag",
    about="one clue for a word with two senses: the teammate should find it, the opponent not "
    "(kang2026)",
    game=Ambiguity,
    words=AmbiguityWords,
    texts=TEXTS,
    action=Action,
    probes=(
        Probe(
            "has_hint",
            "which of the two hints each listener has: what a clue will be read together with",
            "before",
            "choice",
            (SPEAKER,),
            asks_hints,
            true_hint,
        ),
        Probe(
            "finds_it",
            "whether each listener will find the word, asked after the clue",
            "after",
            "choice",
            (SPEAKER,),
            asks_outcome,
            true_outcome,
        ),
    ),
    people=PeopleSpec.read(
        __package__,
        texts={"field.text": "your clue", "now.speaker": ""},  # the board shows it
        fresh=lambda draws, name: {"word": draws.pick([item.word for item in items()])},
        settings={"word": None},
    ),
    measured=MeasureSpec(
        doing=Doing(
            "clue_won",
            no_split="a clue may be any word, and the speaker was not asked how the listeners "
            "would understand other words",
        ),
        pays=lambda game, seat: (0.0, 1.0) if seat == OPPONENT else (-1.0, 1.0),
        reference="margin",
    ),
)
