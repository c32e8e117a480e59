"""The board of Pick the Right Stuff: the current contents of the locker."""

from __future__ import annotations

from sally.core.match.seat_context import SeatContext
from sally.core.rules.board import Board, Box, Lockers
from sally.games.pick_the_right_stuff.locker import View
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
    waits = "" if view.asked is None else f" {words.person(view.asked)} comes to collect."
    return Board((Lockers(f"The monitor now.{waits}", boxes),))


def _capital(name: str) -> str:
    return name[:1].upper() + name[1:]


BOARD = board
