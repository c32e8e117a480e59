"""Registry entry of Codenames: the game, its probes, and their true values."""

from __future__ import annotations

from sally.core.rules.game import Doing, GameSpec, MeasureSpec, PeopleSpec, Seat
from sally.core.rules.probe import At, Probe, Question
from sally.core.rules.replay import Trajectory
from sally.games.association.speech import NO_SPLIT, closeness_probe
from sally.games.codenames.rules import (
    GIVER,
    GUESSER,
    Action,
    Codenames,
    Guess,
    State,
    Turned,
    View,
)
from sally.games.codenames.words import TEXTS, CodenamesWords

Past = Trajectory[State, Action, View]


def _pick(game: Codenames, view: View, seat: Seat) -> tuple[Question, ...]:
    return () if view.over else (Question("their_pick", "odds", view.covered_words),)


def true_pick(replay: Past, place: At) -> str | None:
    """Return the first card turned over after the clue; None if no card was turned over or the
    clue was rejected."""
    move = replay.move(place.turn + 1, GUESSER) if place.turn + 1 < len(replay) else None
    return move.word if isinstance(move, Guess) else None


def _run(game: Codenames, view: View, seat: Seat) -> tuple[Question, ...]:
    if view.over:
        return ()
    own_count = sum(view.colours[word] == "own" for word in view.covered_words)
    return (Question("their_run", "choice", tuple(range(own_count + 1)), numeric=True),)


def true_run(replay: Past, place: At) -> int | None:
    """Return how many of the team's own cards the guesser turned over after this clue; None if it
    turned over no card at all."""
    if true_pick(replay, place) is None:
        return None
    found_count = 0
    for turn in range(place.turn + 1, len(replay)):
        if GUESSER not in replay.moves[turn] or replay.state(turn).clue is None:
            break
        event = replay.states[turn + 1].log[len(replay.state(turn).log)]
        found_count += isinstance(event, Turned) and event.colour == "own"
    return found_count


def _own_cards(game: Codenames, view: View, seat: Seat) -> tuple[Question, ...]:
    return (
        () if view.over else (Question("own_cards", "values", view.covered_words, low=0, high=100),)
    )


def true_own(replay: Past, place: At) -> dict[str, float]:
    """Return 100 for each covered card of the team's own, and 0 for every other covered card."""
    colours = replay.view(place.turn, GIVER).colours
    covered = replay.view(place.turn, GUESSER).covered_words
    return {word: 100.0 * (colours[word] == "own") for word in covered}


def _new_board(game: Codenames, view: View) -> int | None:
    return None if view.over or len(view.log) > view.began else len(view.boards) - 1


PROBES = (
    Probe(
        "their_pick",
        "which card the guesser will turn over first, as odds, asked after the clue",
        "after",
        "odds",
        (GIVER,),
        _pick,
        true_pick,
    ),
    Probe(
        "their_run",
        "how many own cards the guesser will turn over in this turn, asked after the clue",
        "after",
        "choice",
        (GIVER,),
        _run,
        true_run,
    ),
    Probe(
        "own_cards",
        "how likely each covered card is to be the team's own",
        "before",
        "values",
        (GUESSER,),
        _own_cards,
        true_own,
    ),
    closeness_probe(GIVER, GUESSER, _new_board),
)

GAME: GameSpec[State, Action, View] = GameSpec(
    name="codenames",
    about="one word and a number for several cards, board after board with one partner (appendix A "
    "of riemer2025)",
    game=Codenames,
    words=CodenamesWords,
    texts=TEXTS,
    action=Action,
    probes=PROBES,
    people=PeopleSpec.read(
        __package__,
        fresh=lambda draws, name: {"number": draws.below(100)},
        settings={"boards": (1, 5)},
    ),
    measured=MeasureSpec(
        reference="adapts",
        doing=Doing(
            "codenames_points",
            no_split=NO_SPLIT,
        ),
        pays=lambda game, seat: (0.0, game.boards * game.best_score),
    ),
)
