"""Registry entry of Pick the Right Stuff: rules, words and probes."""

from __future__ import annotations

from collections.abc import Mapping

from sally.core.rules.game import Doing, GameSpec, MeasureSpec, PeopleSpec, Seat
from sally.core.rules.probe import At, Probe, Question
from sally.core.rules.replay import Trajectory
from sally.games.pick_the_right_stuff import locker
from sally.games.pick_the_right_stuff.locker import View
from sally.games.pick_the_right_stuff.rules import MANAGER, Action, LockerGame, State
from sally.games.pick_the_right_stuff.tracker import where_user_will_look_from
from sally.games.pick_the_right_stuff.words import PEOPLE, TEXTS, LockerWords

STATE_LAST_SEEN, TRUE_BOX = "state_last_seen", "true_box"


def _which_state(game: LockerGame, view: View, seat: Seat) -> tuple[Question, ...]:
    back = tuple(range(1, len(view.states) + 1))
    return (Question(STATE_LAST_SEEN, "choice", back, about=str(view.asked)),)


def _which_box(game: LockerGame, view: View, seat: Seat) -> tuple[Question, ...]:
    return (Question(TRUE_BOX, "choice", tuple(range(view.users)), about=str(view.asked)),)


def state_last_seen(replay: Trajectory[State, Action, View], place: At) -> int:
    """Return how far back the state is that the waiting user saw last; 1 is the current state."""
    now = replay.state(place.turn).locker
    return len(now.states) - now.seen[int(place.about)]


def true_box(replay: Trajectory[State, Action, View], place: At) -> int:
    """Return the box that holds the waiting user's item."""
    return locker.true_box(replay.state(place.turn).locker, int(place.about))


PROBES = (
    Probe(
        STATE_LAST_SEEN,
        "how far back the state lies that the waiting user saw last",
        "before",
        "choice",
        (MANAGER,),
        _which_state,
        state_last_seen,
    ),
    Probe(
        TRUE_BOX,
        "where the item of the waiting user really is",
        "before",
        "choice",
        (MANAGER,),
        _which_box,
        true_box,
        of_mind=False,  # where the item really is
    ),
)


def best_replies(game: LockerGame, view: View, belief: Mapping[str, int]) -> tuple[int, ...] | None:
    """Return the boxes to name if the waiting user last saw the state given in `belief`."""
    if not belief:
        return None
    (state_number,) = belief.values()
    return where_user_will_look_from(view, len(view.states) - state_number)


GAME: GameSpec[State, Action, View] = GameSpec(
    name="pick_the_right_stuff",
    about="name the box where a user believes its item to be (tang2024); zero, finite, infinite",
    game=LockerGame,
    words=LockerWords,
    texts=TEXTS,
    action=Action,
    probes=PROBES,
    words_version=2,
    people=PeopleSpec.read(
        __package__,
        texts=PEOPLE,
        fresh=lambda draws, name: {"generator": "balanced_2", "generator_seed": draws.below(2**31)},
        settings={"users": (2, 8), "number": (0, 999)},
    ),
    measured=MeasureSpec(
        best_replies=best_replies,
        doing=Doing("score", right=100.0, decisions=lambda game: game.users),
        pays=lambda game, seat: (0.0, float(game.instance.users)),
        reference="tracker",
    ),
)
