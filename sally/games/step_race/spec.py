"""Registry entry of the step race: the game, its probes after the messages, and their true
values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from sally.core.log.events import Value
from sally.core.rules.game import Doing, GameSpec, LearnerSpec, MeasureSpec, PeopleSpec, Seat
from sally.core.rules.probe import At, Kind, Probe, Question
from sally.core.rules.replay import Trajectory
from sally.games.step_race.rules import (
    MOVES,
    SEATS,
    STAYS,
    Action,
    State,
    StepRace,
    Triple,
    View,
    others_of,
    triple,
)
from sally.games.step_race.solver import best, weigh_moves
from sally.games.step_race.talk import last_announcements
from sally.games.step_race.words import BOTH, TEXTS, StepWords

Past = Trajectory[State, Action, View]
YES, NO = "yes", "no"
PAIRS = tuple(f"{first}-{second}" for first, second in product(MOVES, MOVES))


def missing_of(game: StepRace, positions: Triple) -> Triple:
    """Return the number of steps that each seat still needs to reach the target."""
    return triple(game.target - position for position in positions)


def _others(view: View) -> tuple[Seat, Seat]:
    first, second = others_of(view.number)
    return SEATS[first], SEATS[second]


# --- what is asked --------------------------------------------------------------------------------


def _announcing(view: View) -> Iterator[Seat]:
    """Yield the other seats that announced a move in this turn."""
    announcements = last_announcements(view.talk, view.turn)
    yield from (
        SEATS[number] for number in others_of(view.number) if announcements[number] is not None
    )


def _probe(
    name: str,
    about: str,
    kind: Kind,
    choices: tuple[int | str, ...],
    truth: Callable[[Any, At], Value | None],
    of: Callable[[View], Iterable[str]] = _others,
    of_mind: bool = True,
) -> Probe:
    """Return a probe that is asked before the move, once for each subject in `of`."""

    def asks(game: StepRace, view: View, seat: Seat) -> tuple[Question, ...]:
        subjects = of(view) if view.moving else ()
        return tuple(Question(name, kind, choices, subject) for subject in subjects)

    return Probe(name, about, "before", kind, SEATS, asks, truth, of_mind)


def _next_pick(game: StepRace, view: View, seat: Seat) -> tuple[Question, ...]:
    if game.talks or not view.moving:
        return ()
    return (Question("next_pick", "choice", MOVES, SEATS[(view.number + 1) % len(SEATS)]),)


# --- what was true --------------------------------------------------------------------------------


def move_in_turn(replay: Past, turn: int, seat: Seat) -> int | None:
    """Return a seat's choice in a turn of the log; None if it made no move."""
    move = replay.move(turn, seat)
    return move if isinstance(move, int) else None


def true_move(replay: Past, place: At) -> int | None:
    """Return the move that the other seat chose in this turn."""
    return move_in_turn(replay, place.turn, Seat(place.about))


def true_keeping(replay: Past, place: At) -> str | None:
    """Return whether the other seat moved as it had last announced."""
    other_seat = Seat(place.about)
    move = move_in_turn(replay, place.turn, other_seat)
    view = replay.view(place.turn, place.seat)
    announced = last_announcements(view.talk, view.turn)[SEATS.index(other_seat)]
    return None if move is None or announced is None else (YES if move == announced else NO)


def true_pair(replay: Past, place: At) -> str | None:
    """Return the moves of both other seats, the lower seat's first."""
    moves = [move_in_turn(replay, place.turn, SEATS[n]) for n in others_of(SEATS.index(place.seat))]
    return None if None in moves else f"{moves[0]}-{moves[1]}"


def their_guess(replay: Past, place: At) -> int | None:
    """Return the move that the other seat predicted for this seat; None if the other seat was not
    asked."""
    report = replay.report(place.turn, Seat(place.about), "their_move", str(place.seat))
    return report.value if report is not None and isinstance(report.value, int) else None


def true_arrival(replay: Past, place: At) -> str | None:
    """Return whether a seat can reach the target with one move."""
    game, state = replay.rules(StepRace), replay.state(place.turn)
    missing = game.target - state.positions[SEATS.index(Seat(place.about))]
    return YES if missing <= MOVES[-1] else NO


PROBES = (
    _probe(
        "their_move",
        "the move of each other, as odds, asked after the talk",
        "odds",
        MOVES,
        true_move,
    ),
    _probe(
        "their_pick",
        "the move of each other, as one number, asked after the talk",
        "choice",
        MOVES,
        true_move,
    ),
    Probe(
        "next_pick",
        "the move of the next seat alone, as one number, in a silent race",
        "before",
        "choice",
        SEATS,
        _next_pick,
        true_move,
    ),
    _probe(
        "will_keep",
        "whether an announced move will be made",
        "choice",
        (YES, NO),
        true_keeping,
        _announcing,
    ),
    _probe(
        "joint",
        "both others' moves together, as odds over nine pairs",
        "odds",
        PAIRS,
        true_pair,
        lambda view: (BOTH.join(_others(view)),),
    ),
    _probe(
        "their_guess_of_me",
        "the move that each other expects of this seat; judged by that seat's own report",
        "choice",
        MOVES,
        their_guess,
    ),
    _probe(
        "who_can_win_now",
        "who is within one move of the target: a fact, asked as a control",
        "choice",
        (YES, NO),
        true_arrival,
        lambda view: SEATS,
        of_mind=False,
    ),
)


# --- best replies ---------------------------------------------------------------------------------


def _odds_of(belief: Any) -> dict[int, float]:
    """Return move probabilities from a prediction, which is either a single move or a probability
    for each move."""
    if isinstance(belief, int):
        return {belief: 1.0}
    return dict(zip(MOVES, belief, strict=True))


def joint_odds(
    first: Mapping[int, float], second: Mapping[int, float]
) -> dict[tuple[int, int], float]:
    """Return the joint probabilities of the moves of two seats that move independently."""
    return {(a, b): p * q for a, p in first.items() for b, q in second.items()}


def best_replies(
    game: StepRace, view: View, belief: Mapping[str, int | Sequence[float]]
) -> tuple[int, ...] | None:
    """Return the moves that lead to the best position if the others move as believed.

    Positions are valued by uniform play afterwards. The result is None during talk, or if either of
    the others was not predicted.
    """
    first, second = _others(view)
    if not view.moving or first not in belief or second not in belief:
        return None
    joint = joint_odds(_odds_of(belief[first]), _odds_of(belief[second]))
    return best(weigh_moves(missing_of(game, view.positions), view.number, joint))


def numbers(game: StepRace, view: View) -> tuple[float, ...]:
    """Return features for learners, scaled to 0..1: the steps that each seat still needs, the
    announcements, and the last moves. The player's own seat comes first in each group.

    An announcement of 1, 3 or 5 is encoded as 1/3, 2/3 or 1; 0 means that there was none.
    """
    order = (view.number, *others_of(view.number))
    announcements = last_announcements(view.talk, view.turn)
    missing = [(game.target - view.positions[n]) / game.target for n in order]
    words = [
        0.0 if announcements[n] is None else (MOVES.index(announcements[n] or STAYS) + 1) / 3
        for n in order
    ]
    last = view.past.last
    moves = [0.0 if last is None else last.moves[n] / MOVES[-1] for n in order]
    return (*missing, *words, *moves)


GAME: GameSpec[State, Action, View] = GameSpec(
    name="step_race",
    about="three talk, then each secretly moves 1, 3 or 5 steps; equal numbers move nobody, the "
    "first to arrive wins (after the public step game of Mazur 2025)",
    game=StepRace,
    words=StepWords,
    texts=TEXTS,
    action=Action,
    probes=PROBES,
    usual="listener",
    people=PeopleSpec.read(
        __package__,
        texts={
            "question.talk": "What do you say? The message may be empty if you end your talk.",
            "now.talk": "Turn {turn}, message {round} of {talks} before the move. The order is "
            "{speakers}.",
            "field.text": "your message",
            "field.done": "end my talk",
            "field.done.text": "last words, or nothing",
        },
        settings={"target": (5, 40), "talks": (0, 4)},
    ),
    measured=MeasureSpec(
        best_replies=best_replies,
        acts_on=("their_move", "their_pick"),
        doing=Doing("points", regret="step_regret"),
        pays=lambda game, seat: (0.0, 1.0),
        reference="listener",
    ),
    learners=LearnerSpec(numbers=numbers),
)
