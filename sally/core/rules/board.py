"""What a browser can draw: a board is a few parts, and a part is data without a word of HTML."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from sally.core.match.seat_context import SeatContext
from sally.core.registry import registry

Mark = Literal[
    "", "yours", "goal", "last", "hidden", "ready", "good", "bad"
]  # how a thing stands out


class Part(msgspec.Struct, frozen=True, tag_field="kind", tag=str.lower):
    """The base of everything that can be drawn."""


class Cell(msgspec.Struct, frozen=True):
    """One field of a table or a grid; `note` says in words what a colour or a sign means."""

    text: str
    mark: Mark = ""
    note: str = ""


class Row(msgspec.Struct, frozen=True):
    """One line of a table."""

    label: str
    cells: tuple[Cell, ...]
    mark: Mark = ""


class Table(Part, frozen=True):
    """Named rows and columns: payoffs, costs, effects."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    corner: str = ""


class Box(msgspec.Struct, frozen=True):
    """One box of a locker; it holds nothing where `holds` is empty."""

    label: str
    holds: str = ""
    mark: Mark = ""


class Lockers(Part, frozen=True):
    """Boxes side by side."""

    caption: str
    boxes: tuple[Box, ...]


class Square(msgspec.Struct, frozen=True):
    """Something on one square of a grid."""

    row: int
    col: int
    text: str
    note: str
    mark: Mark = ""


class Grid(Part, frozen=True):
    """A map; squares that are not listed are empty."""

    caption: str
    rows: int
    cols: int
    squares: tuple[Square, ...]


class Good(msgspec.Struct, frozen=True):
    """Some of an item; `glyph` names the kind of thing that is drawn beside it."""

    item: str
    amount: str
    glyph: str = ""


class Hand(msgspec.Struct, frozen=True):
    """What somebody holds, or is after."""

    label: str
    goods: tuple[Good, ...]
    mark: Mark = ""


class Hands(Part, frozen=True):
    """Hands side by side."""

    caption: str
    hands: tuple[Hand, ...]


class Recipe(msgspec.Struct, frozen=True):
    """Inputs that make an output; `ready` if one's own hand is enough, and then `fill` is one run.

    `fill` gives the fields of a form as they are sent, so nothing in it is there to be read.
    """

    text: str
    fuel: str = ""
    ready: bool = False
    makes: str = ""
    uses: tuple[str, ...] = ()
    glyph: str = ""
    fill: dict[str, Any] | None = None


class Recipes(Part, frozen=True):
    """A book of recipes that can be searched."""

    caption: str
    recipes: tuple[Recipe, ...]


class Note(msgspec.Struct, frozen=True):
    """A fact under a label."""

    label: str
    text: str
    mark: Mark = ""


class Notes(Part, frozen=True):
    """Facts as cards: a secret word, a hint, a password."""

    caption: str
    notes: tuple[Note, ...]


class Saying(msgspec.Struct, frozen=True):
    """What somebody wrote, and to whom or when."""

    who: str
    text: str
    note: str = ""
    mark: Mark = ""


class Talk(Part, frozen=True):
    """What was written so far, drawn beside the table."""

    caption: str
    said: tuple[Saying, ...]


class Spot(msgspec.Struct, frozen=True):
    """Something that stands at a place of a scale."""

    at: float
    text: str
    mark: Mark = ""


class Scale(Part, frozen=True):
    """A line between two ends, with what stands on it."""

    caption: str
    low: float
    high: float
    ends: tuple[str, str]
    spots: tuple[Spot, ...]


class Picture(Part, frozen=True):
    """Characters in fixed width, as the words draw them."""

    text: str


class Shape(msgspec.Struct, frozen=True, omit_defaults=True):
    """One shape of a drawing; coordinates are those of the drawing, from its top left corner."""

    shape: Literal["rect", "circle", "line", "text"]
    x: float
    y: float
    width: float = 0.0  # of a rect; the diameter of a circle; the x distance to a line's end
    height: float = 0.0  # of a rect; the y distance to a line's end
    text: str = ""
    tone: int = 0  # one of seven colours that colour-blind people tell apart
    filled: bool = False


class Drawing(Part, frozen=True):
    """Shapes as data, for boards that no other part can show; `about` is read aloud."""

    caption: str
    about: str
    width: float
    height: float
    shapes: tuple[Shape, ...]


class Limit(msgspec.Struct, frozen=True):
    """How much of a text reaches others: so many characters, behind a line of its own if any."""

    limit: int
    after: str = ""


class Board(msgspec.Struct, frozen=True):
    """All that is drawn for one seat at one moment."""

    parts: tuple[Part, ...]
    limits: dict[str, Limit] = {}  # by the name of a form's field


def board_of(context: SeatContext, view: Any) -> Board | None:
    """What is drawn for a seat's own view: the game's board, or what its words draw in text.

    A board is made from the view alone; of the desk it takes names and public parameters.
    """
    draw = registry.part(context.spec.name, "board")
    if draw is not None:
        drawn: Board = draw(context, view)
        return drawn
    picture = context.words.drawn(view)
    return Board((Picture(picture),)) if picture else None
