"""The board of Pick the Right Stuff: the current contents of the locker."""

from __future__ import annotations

from sally.core.match.seat_context import SeatContext
from sally.core.rules.board import Board, Box, Cell, Lockers, Part, Reveal, Row, Table
from sally.core.rules.replay import Trajectory
from sally.games.pick_the_right_stuff.locker import Retrieval, View
from sally.games.pick_the_right_stuff.rules import Action, State
from sally.games.pick_the_right_stuff.words import LockerWords


def board(context: SeatContext, view: View) -> Board:
    """Return the current contents of the boxes; none is highlighted, because that would hint at an
    answer."""
    words = context.words
    assert isinstance(words, LockerWords)
    boxes = tuple(
        Box(_capital(words.box(number)), "" if user is None else words.person(user))
        for number, user in enumerate(view.states[-1])
    )
    return Board((Lockers("The monitor: whose item is in which box now", boxes),))


def REVEAL(context: SeatContext, replay: Trajectory[State, Action, View]) -> Reveal:
    """Return, for each person who came to collect, where they looked, why, and your answer."""
    words, story = context.words, replay.present.locker.story
    assert isinstance(words, LockerWords)
    rows = tuple(
        Row(
            words.person(event.user),
            (
                Cell(
                    "–" if event.answered is None else words.box(event.answered),
                    "good" if event.answered == event.believed else "bad",
                ),
                Cell(words.box(event.believed)),
                Cell(words.box(event.true)),
            ),
        )
        for event in story
        if isinstance(event, Retrieval)
    )
    right = replay.present.locker.correct
    explanation = (
        f"{right} of {len(rows)} answers were right. People open the box in which they last saw "
        "their own item, on the monitor or when they stored it; it may be elsewhere by now."
    )
    columns = ("you said", "they looked in", "it was in")
    return Reveal(explanation, parts=(Table("Who looked where", columns, rows, "person"),))


def _capital(name: str) -> str:
    return name[:1].upper() + name[1:]


def EXAMPLE(context: SeatContext) -> tuple[Part, ...]:
    """Return the picture beside the rules: a swap that a person did not see."""
    boxes_seen, boxes_now = (
        tuple(Box(f"Box {letter}", name) for letter, name in zip("AB", names, strict=True))
        for names in (("Ann", "Ben"), ("Ben", "Ann"))
    )
    return (
        Lockers("Example: Ann looks at the monitor, which shows", boxes_seen),
        Lockers("Then the items move. Ann opens box A", boxes_now),
    )


BOARD = board
