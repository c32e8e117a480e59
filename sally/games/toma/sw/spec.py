"""Registry entry of the game Speak or Wait: rules, words, and the probe for the ally's next act."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sally.core.rules.game import Doing, GameSpec, MeasureSpec, PeopleSpec, Seat
from sally.core.rules.probe import At, Probe, Question
from sally.core.rules.replay import Trajectory
from sally.games.toma.sw.rules import (
    EAVESDROPPER,
    EXPLORER,
    GUIDE,
    READER,
    Action,
    SpeakOrWait,
    State,
    View,
    consistent,
    kind_of_act,
)
from sally.games.toma.sw.words import TEXTS, RadioWords

KINDS = {GUIDE: ("SPEAK", "OPEN", "WAIT"), EXPLORER: ("SPEAK", "MOVE", "WAIT")}


def ally_of(seat: Seat) -> Seat:
    """Return the other member of the team."""
    return EXPLORER if seat == GUIDE else GUIDE


def asks(game: SpeakOrWait, view: View, seat: Seat) -> tuple[Question, ...]:
    """Return the question about the kind of act that the ally performs in this turn."""
    ally = ally_of(seat)
    return (Question("ally_action", "choice", KINDS[ally], about=ally),)


def truth(replay: Trajectory[State, Action, View], place: At) -> str | None:
    """Return the kind of the ally's act in the same turn; None if it forfeited."""
    return kind_of_act(replay.move(place.turn, Seat(place.about)))


def best_replies(
    game: SpeakOrWait, view: View, belief: Mapping[str, str]
) -> Callable[[Action], bool] | None:
    """Return a predicate for acts that are rational given the expected act of the ally."""
    if not belief:
        return None
    return lambda act: all(consistent(kind, act) for kind in belief.values())


GAME: GameSpec[State, Action, View] = GameSpec(
    name="toma_sw",
    about="a guide and an explorer share one radio channel with an eavesdropper (kang2026)",
    game=SpeakOrWait,
    words=RadioWords,
    texts=TEXTS,
    action=Action,
    probes=(
        Probe(
            "ally_action",
            "whether the ally speaks, waits, or moves or opens the box in this turn",
            "before",
            "choice",
            (GUIDE, EXPLORER),
            asks,
            truth,
        ),
    ),
    occupants={READER: "noter"},
    words_version=2,
    people=PeopleSpec.read(__package__, settings={"turns": (1, 30)}),
    measured=MeasureSpec(
        best_replies=best_replies,
        doing=Doing("radio_won", by_seat={EAVESDROPPER: "radio_caught"}),
        pays=lambda game, seat: (-1.0, 1.0),
        reference="turn_taker",
    ),
)
