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
from sally.games.toma.sw.words import PEOPLE, TEXTS, RadioWords

KINDS = {GUIDE: ("SPEAK", "OPEN", "WAIT"), EXPLORER: ("SPEAK", "MOVE", "WAIT")}


def ally_of(seat: Seat) -> Seat:
    """Return the other member of the team."""
    return EXPLORER if seat == GUIDE else GUIDE


def asks(game: SpeakOrWait, view: View, seat: Seat) -> tuple[Question, ...]:
    """Return the question about the kind of act that the ally performs in this turn."""
    ally = ally_of(seat)
    return (Question("ally_action", "choice", KINDS[ally], about=ally),)


def truth(replay: Trajectory[State, Action, View], at: At) -> str | None:
    """Return the kind of the ally's act in the same turn; None if it forfeited."""
    return kind_of_act(replay.move(at.turn, Seat(at.about)))


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
    people=PeopleSpec(
        glyphs={"toma_sw": "gem"},
        minutes={"toma_sw": 10},
        briefs={
            "guide": "Lead the explorer to the treasure by radio. The explorer tells you the "
            "password: open the box with it, and see where the treasure is. Then tell the "
            "explorer where to go, so that a listener who hears everything, but does not know the "
            "landmarks by name, cannot tell. If you both speak at once, nobody understands.",
            "explorer": "Walk to the treasure. Only the guide can learn where it is: tell "
            "the guide the password by radio (that is safe), then be told where to go. A "
            "listener hears everything and wins by guessing your place or the treasure's; "
            "it does not know the landmarks by name.",
            "eavesdropper": "Listen to the guide and the explorer on the radio. You win if "
            "you guess the square of the explorer or of the treasure; they win if the "
            "explorer reaches it first. You see landmarks, but not their names. After a "
            "wrong guess you miss a turn.",
        },
        titles={"toma_sw": "The treasure and the listener"},
        sentences={
            "toma_sw": "A guide leads an explorer to a treasure by radio, while an eavesdropper "
            "listens, who must not learn where it is."
        },
        roles={
            "guide": "the guide",
            "explorer": "the explorer",
            "eavesdropper": "the listener",
        },
        texts=PEOPLE,
        settings={"turns": (1, 30)},
    ),
    measured=MeasureSpec(
        best_replies=best_replies,
        doing=Doing("radio_won", by_seat={EAVESDROPPER: "radio_caught"}),
        pays=lambda game, seat: (-1.0, 1.0),
        reference="turn_taker",
    ),
)
