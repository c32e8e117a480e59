"""Registry entry of Taboo: the game, its probes and their true answers."""

from __future__ import annotations

from functools import lru_cache

from sally.core.rules.chance import Stream
from sally.core.rules.game import Doing, GameSpec, MeasureSpec, PeopleSpec, Seat
from sally.core.rules.probe import At, Probe, Question
from sally.core.rules.replay import Trajectory
from sally.games.association.lexicon import plain
from sally.games.association.speech import NO_SPLIT, closeness_probe
from sally.games.taboo.rules import (
    GIVER,
    GUESSER,
    Action,
    Guess,
    State,
    Taboo,
    View,
    is_right,
)
from sally.games.taboo.words import TEXTS, TabooWords

Past = Trajectory[State, Action, View]
NEAR = 6  # near words among the choices of `their_guess`
OTHER = ""  # any word that is not among the choices


@lru_cache(maxsize=4096)
def near_words(target: str) -> tuple[str, ...]:
    """Return a target and six of its nearest nouns, in an order that does not reveal the target."""
    from sally.games.association.nouns import (
        nearest_nouns,  # slow to import, and not needed to list or play the game
    )

    neighbours = nearest_nouns(target)[:20]
    draws = Stream("near", target)
    return tuple(draws.shuffled([target, *draws.shuffled(neighbours)[:NEAR]]))


def _guess(game: Taboo, view: View, seat: Seat) -> tuple[Question, ...]:
    if not view.target:
        return ()
    tried = {plain(word) for hint_and_guess in view.tries for word in hint_and_guess if word}
    choices = tuple(word for word in near_words(view.target) if word not in tried)
    return (Question("their_guess", "choice", (*choices, OTHER)),)


def next_guess(replay: Past, place: At) -> str | None:
    """Return the guesser's next word; None if it named none or the hint was rejected."""
    if place.turn + 1 >= len(replay):
        return None
    move = replay.move(place.turn + 1, GUESSER)
    return plain(move.word) if isinstance(move, Guess) else None


def true_guess(replay: Past, place: At) -> str | None:
    """Return the guess if it is among the choices, else the choice "another word"."""
    guess, view = next_guess(replay, place), replay.view(place.turn, GIVER)
    if guess is None:
        return None
    if is_right(view.target, guess):
        return view.target
    return guess if guess in _guess(replay.rules(Taboo), view, GIVER)[0].choices else OTHER


def _find(game: Taboo, view: View, seat: Seat) -> tuple[Question, ...]:
    return (Question("will_find", "choice", ("yes", "no")),) if view.target else ()


def true_find(replay: Past, place: At) -> str | None:
    """Return whether the next guess was the target."""
    guess = next_guess(replay, place)
    if guess is None:
        return None
    return "yes" if is_right(replay.view(place.turn, GIVER).target, guess) else "no"


def _round(game: Taboo, view: View) -> int | None:
    return None if view.over or len(view.cues) < game.cues else len(view.past)


PROBES = (
    Probe(
        "their_guess",
        "which word the guesser will name next, among near ones, asked after the hint",
        "after",
        "choice",
        (GIVER,),
        _guess,
        true_guess,
    ),
    Probe(
        "will_find",
        "whether the guesser will find the word next, asked after the hint",
        "after",
        "choice",
        (GIVER,),
        _find,
        true_find,
    ),
    closeness_probe(GIVER, GUESSER, _round),
)

GAME: GameSpec[State, Action, View] = GameSpec(
    name="taboo",
    about="one-word hints for a word while others are banned, round after round with one partner "
    "(appendix A of riemer2025)",
    game=Taboo,
    words=TabooWords,
    texts=TEXTS,
    action=Action,
    probes=PROBES,
    people=PeopleSpec.read(
        __package__,
        fresh=lambda draws, name: {"number": draws.below(100)},
        settings={"rounds": (1, 10)},
    ),
    measured=MeasureSpec(
        reference="adapts",
        doing=Doing(
            "taboo_points",
            regret="taboo_regret",
            no_split=NO_SPLIT,
        ),
        pays=lambda game, seat: (0.0, float(game.rounds * game.hints)),
    ),
)
