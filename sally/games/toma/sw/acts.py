"""What can be done in speak or wait: seats, cells, and every act and claim as a value."""

from __future__ import annotations

from typing import Literal

from sally.core.rules.game import Seat
from sally.core.rules.menu import Act

GUIDE, EXPLORER, EAVESDROPPER = Seat("guide"), Seat("explorer"), Seat("eavesdropper")
READER = Seat("reader")
LETTERS = {GUIDE: "A", EXPLORER: "B", EAVESDROPPER: "C"}
SIDE = 4
CELLS = tuple((row, col) for row in range(SIDE) for col in range(SIDE))
STEPS = {"NORTH": (-1, 0), "SOUTH": (1, 0), "WEST": (0, -1), "EAST": (0, 1)}
TARGETS = ("B", "TREASURE")
LONGEST = 300  # characters of one message
DIGITS = 4

CellOf = tuple[int, int]  # (row, col), counted from the north-west corner
Outcome = Literal["", "win", "loss", "draw"]


class Speak(Act, frozen=True):
    """A message on the one channel."""

    text: str


class Open(Act, frozen=True):
    """The guide tries a password on the box."""

    password: str


class Move(Act, frozen=True):
    """The explorer goes one cell."""

    direction: str


class Wait(Act, frozen=True):
    """Nothing done."""


class Guess(Act, frozen=True):
    """Where the eavesdropper thinks that B, or the treasure, is."""

    target: str
    row: int
    col: int


class Pass(Act, frozen=True):
    """No guess, where the rules allow that."""


class CellClaim(Act, frozen=True, tag="cell"):
    """A message puts B or the treasure on a cell."""

    about: str
    row: int
    col: int


class LandmarkClaim(Act, frozen=True, tag="landmark"):
    """A message puts B or the treasure so many rows and columns from a landmark."""

    about: str
    landmark: str
    rows: int = 0
    cols: int = 0


class Reading(Act, frozen=True):
    """What a message claims; nothing at all if every field is empty."""

    cells: tuple[CellClaim, ...] = ()
    landmarks: tuple[LandmarkClaim, ...] = ()
    directions: tuple[str, ...] = ()
    passwords: tuple[str, ...] = ()


Action = int | Speak | Open | Move | Wait | Guess | Pass | Reading
WAIT, PASS, NOTHING = Wait(), Pass(), Reading()
