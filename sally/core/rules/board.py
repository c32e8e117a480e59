"""Boards as data that a browser can draw: a few kinds of parts, without HTML."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

# how an element is highlighted
Mark = Literal["", "yours", "goal", "last", "hidden", "ready", "good", "bad"]


class Part(msgspec.Struct, frozen=True, tag_field="kind", tag=str.lower):
    """Base class of everything that can be drawn."""


class Cell(msgspec.Struct, frozen=True):
    """One cell of a table or grid; `note` explains in words what a colour or sign means."""

    text: str
    mark: Mark = ""
    note: str = ""


class Row(msgspec.Struct, frozen=True):
    """One row of a table."""

    label: str
    cells: tuple[Cell, ...]
    mark: Mark = ""


class Table(Part, frozen=True):
    """A table with named rows and columns, for payoffs, costs or effects."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    corner: str = ""


class Box(msgspec.Struct, frozen=True):
    """One box of a locker; empty if `holds` is empty."""

    label: str
    holds: str = ""
    mark: Mark = ""


class Lockers(Part, frozen=True):
    """Boxes drawn side by side."""

    caption: str
    boxes: tuple[Box, ...]


class Square(msgspec.Struct, frozen=True):
    """An object on one square of a grid; `option` is the label of the option that it represents."""

    row: int
    col: int
    text: str
    note: str
    mark: Mark = ""
    option: str = ""


class Grid(Part, frozen=True):
    """A grid map; squares that are not listed are empty."""

    caption: str
    rows: int
    cols: int
    squares: tuple[Square, ...]


class CardAct(msgspec.Struct, frozen=True):
    """A button on a card: its text, and the label of the option that it represents."""

    text: str
    option: str


class PlayingCard(msgspec.Struct, frozen=True):
    """A card with a rank and a colour; a shape also shows the colour, for colour-blind readers.

    Each of its buttons appears while the button's option may be chosen.
    """

    text: str  # rank; "?" if it is face down
    note: str  # the card in words, for screen readers
    tone: int = 0  # one of seven colours, with a shape each; 0: none
    told: tuple[str, ...] = ()  # hints about the card
    acts: tuple[CardAct, ...] = ()
    mark: Mark = ""


class CardRow(msgspec.Struct, frozen=True):
    """The cards of a player or of a pile."""

    label: str
    cards: tuple[PlayingCard, ...]
    mark: Mark = ""


class Cards(Part, frozen=True):
    """Rows of playing cards, as drawn on the board."""

    caption: str
    rows: tuple[CardRow, ...]


class Good(msgspec.Struct, frozen=True):
    """An amount of an item; `glyph` names the icon drawn beside it."""

    item: str
    amount: str
    glyph: str = ""


class Hand(msgspec.Struct, frozen=True):
    """The items that a seat holds or aims for."""

    label: str
    goods: tuple[Good, ...]
    mark: Mark = ""


class Hands(Part, frozen=True):
    """Hands drawn side by side."""

    caption: str
    hands: tuple[Hand, ...]


class Recipe(msgspec.Struct, frozen=True):
    """A recipe: inputs that make an output; `ready` is set if the hand holds all the inputs.

    `fill` holds the form fields that craft one output, in the form in which they are sent.
    """

    text: str
    fuel: str = ""
    ready: bool = False
    makes: str = ""
    uses: tuple[str, ...] = ()
    glyph: str = ""
    fill: dict[str, Any] | None = None


class Recipes(Part, frozen=True):
    """A searchable book of recipes."""

    caption: str
    recipes: tuple[Recipe, ...]


class Note(msgspec.Struct, frozen=True):
    """A labelled fact."""

    label: str
    text: str
    mark: Mark = ""


class Notes(Part, frozen=True):
    """Facts as cards, such as a secret word, a hint or a password."""

    caption: str
    notes: tuple[Note, ...]


class Saying(msgspec.Struct, frozen=True):
    """One message: its sender, its text, and a note, such as its recipient or time."""

    who: str
    text: str
    note: str = ""
    mark: Mark = ""


class Talk(Part, frozen=True):
    """The messages so far, drawn beside the board."""

    caption: str
    said: tuple[Saying, ...]


class Spot(msgspec.Struct, frozen=True):
    """A marker on a scale."""

    at: float
    text: str
    mark: Mark = ""


class Scale(Part, frozen=True):
    """A line between two ends, with markers."""

    caption: str
    low: float
    high: float
    ends: tuple[str, str]
    spots: tuple[Spot, ...]


class Picture(Part, frozen=True):
    """A text drawing in a fixed-width font, made from the game's words."""

    text: str


class Shape(msgspec.Struct, frozen=True, omit_defaults=True):
    """One shape of a drawing, in the drawing's coordinates from its top left corner."""

    shape: Literal["rect", "circle", "line", "text"]
    x: float
    y: float
    width: float = 0.0  # of a rect; the diameter of a circle; the x distance to a line's end
    height: float = 0.0  # of a rect; the y distance to a line's end
    text: str = ""
    tone: int = 0  # one of seven colours that colour-blind readers can distinguish
    filled: bool = False


class Drawing(Part, frozen=True):
    """A drawing made of shapes, for boards that no other part can show; `about` is the text for
    screen readers."""

    caption: str
    about: str
    width: float
    height: float
    shapes: tuple[Shape, ...]


class Side(msgspec.Struct, frozen=True):
    """What one player chose in a round, and what it got for that."""

    who: str
    choice: str
    points: str = ""
    mark: Mark = ""


class Showdown(Part, frozen=True):
    """The choices of the round that was just played, face to face, with their points."""

    caption: str
    sides: tuple[Side, ...]


class Progress(msgspec.Struct, frozen=True):
    """How far a game is, and the seat's points so far.

    A board with a `Progress` shows everything that the game's sentence about the current position
    says, so that the page leaves the sentence out.
    """

    number: int  # of the current round, from 1
    total: int = 0  # rounds of the game; 0: the seat does not know
    unit: Literal["round", "turn", "board", "message"] = "round"
    score: str = ""  # the points so far


class Limit(msgspec.Struct, frozen=True):
    """The limit on how many characters of a text reach other seats.

    If the marker line `after` is given, only the text after that line is counted.
    """

    limit: int
    after: str = ""


class Face(msgspec.Struct, frozen=True):
    """How the button of an option is drawn: a headline, what it takes, and an icon."""

    text: str
    note: str = ""
    glyph: str = ""


class Board(msgspec.Struct, frozen=True):
    """Everything drawn for one seat at one moment."""

    parts: tuple[Part, ...]
    limits: dict[str, Limit] = {}  # by form field
    progress: Progress | None = None
    faces: dict[str, Face] = {}  # by the name of the option; other buttons show the name


class Reveal(msgspec.Struct, frozen=True):
    """The end of a game with everything open, as the game tells it to one seat."""

    why: str  # one sentence: how the result came about
    hidden: tuple[Note, ...] = ()  # what some seat could not see while the game was played
    parts: tuple[Part, ...] = ()  # the board with everything open; empty: the seat's own board
