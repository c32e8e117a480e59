"""Registry entry of Wavelength: the game, its probes and their true answers."""

from __future__ import annotations

from sally.core.rules.chance import Stream
from sally.core.rules.game import Doing, GameSpec, MeasureSpec, PeopleSpec, Seat
from sally.core.rules.probe import At, Probe, Question
from sally.core.rules.replay import Trajectory
from sally.games.association.lexicon import cards
from sally.games.association.speech import NO_SPLIT, number_question, own_answer
from sally.games.wavelength.rules import GUESSER, PSYCHIC, Action, State, View, Wavelength
from sally.games.wavelength.words import TEXTS, WavelengthWords

Past = Trajectory[State, Action, View]
TENTHS = tuple(range(10))


def tenth(target: int) -> int:
    """Return the tenth of the dial that contains a position; the last tenth includes 100."""
    return min(target // 10, 9)


def _dial(game: Wavelength, view: View, seat: Seat) -> tuple[Question, ...]:
    return (number_question("their_dial"),)


def true_dial(replay: Past, place: At) -> int | None:
    """Return the dial position that the guesser set next; None if it set none or the clue was
    rejected."""
    dial = replay.move(place.turn + 1, GUESSER) if place.turn + 1 < len(replay) else None
    return dial if isinstance(dial, int) else None


def _side(game: Wavelength, view: View, seat: Seat) -> tuple[Question, ...]:
    return (Question("their_side", "choice", ("left", "right")),)


def true_side(replay: Past, place: At) -> str | None:
    """Return the side of the target on which the dial was set; None if it was set on the target."""
    dial, target = true_dial(replay, place), replay.view(place.turn, PSYCHIC).target
    if dial is None or target is None or dial == target:
        return None
    return "left" if dial < target else "right"


def _target(game: Wavelength, view: View, seat: Seat) -> tuple[Question, ...]:
    return (Question("target", "odds", TENTHS),)


def true_tenth(replay: Past, place: At) -> int | None:
    """Return the tenth of the dial that contains the target."""
    target = replay.view(place.turn, PSYCHIC).target
    return None if target is None else tenth(target)


def asked_word(game: Wavelength, number: int) -> str:
    """Return the word that both seats are asked about in a round; the word depends on the
    problem only."""
    now = game.row[number]
    return Stream("placing", now.left, now.right, number).pick(cards())


def _placing(game: Wavelength, view: View, seat: Seat) -> tuple[Question, ...]:
    if not view.left:
        return ()
    return (number_question("placing", asked_word(game, len(view.past))),)


PROBES = (
    Probe(
        "their_dial",
        "where the guesser will set the dial for the clue, asked after it",
        "after",
        "choice",
        (PSYCHIC,),
        _dial,
        true_dial,
    ),
    Probe(
        "their_side",
        "on which side of the target the guesser will set the dial, asked after the clue",
        "after",
        "choice",
        (PSYCHIC,),
        _side,
        true_side,
    ),
    Probe(
        "target",
        "in which tenth of the dial the target lies, as odds",
        "before",
        "odds",
        (GUESSER,),
        _target,
        true_tenth,
    ),
    Probe(
        "placing",
        "where the guesser would set the dial for a given word; judged by its own answer",
        "start",
        "choice",
        (PSYCHIC, GUESSER),
        _placing,
        own_answer("placing", GUESSER),
    ),
)

GAME: GameSpec[State, Action, View] = GameSpec(
    name="wavelength",
    about="one word for a place on a dial between two opposites, round after round with one "
    "partner (appendix A of riemer2025)",
    game=Wavelength,
    words=WavelengthWords,
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
            "wavelength_points",
            regret="wavelength_regret",
            no_split=NO_SPLIT,
        ),
        pays=lambda game, seat: (0.0, float(game.rounds * game.best_score)),
    ),
)
