"""The board of the game Speak or Wait: the map as one seat knows it."""

from __future__ import annotations

from sally.core.match.seat_context import SeatContext
from sally.core.rules.board import (
    Board,
    Cell,
    Grid,
    Note,
    Notes,
    Part,
    Progress,
    Reveal,
    Row,
    Saying,
    Square,
    Table,
    Talk,
)
from sally.core.rules.replay import Trajectory
from sally.games.toma.sw.rules import (
    EAVESDROPPER,
    GUIDE,
    SIDE,
    Action,
    SpeakOrWait,
    State,
    View,
)


def board(context: SeatContext, view: View) -> Board:
    """Return the landmarks, by name or as unnamed objects, with B and the treasure if the seat
    knows them."""
    say = context.words.say
    squares = [Square(*cell, name, "a landmark") for name, cell in view.landmarks]
    squares += [Square(*cell, "?", "a landmark, name unknown", "hidden") for cell in view.objects]
    squares += [
        Square(g.guess.row, g.guess.col, "×", say(f"board.wrong.{g.guess.target}"), "bad")
        for g in view.guesses
        if g.guess is not None and not g.right
    ]
    if view.treasure is not None:
        squares.append(Square(*view.treasure, "Treasure", "the treasure", "goal"))
    if view.cell is not None:
        squares.append(Square(*view.cell, say("board.you"), say("board.you.long"), "yours"))
    grid = Grid(CAPTION, SIDE, SIDE, tuple(squares))
    notes, game = _notes(view), context.game
    assert isinstance(game, SpeakOrWait)
    progress = Progress(min(len(view.radio) + 1, game.turns), game.turns, "turn")
    return Board((grid, Notes("What you know", notes)) if notes else (grid,), progress=progress)


TARGETS = {"B": "the explorer", "TREASURE": "the treasure"}
CAPTION = "The map: north is up, west is left"
GUESS = ("what", "row", "column", "it was")
OUTCOMES = {
    "win": "The explorer reached the treasure before the listener found out where it was.",
    "loss": "The listener guessed right, so the guide and the explorer lost.",
    "draw": "Time ran out before anybody won.",
    "": "The game stopped early.",
}


def REVEAL(context: SeatContext, replay: Trajectory[State, Action, View]) -> Reveal:
    """Return the whole map with treasure, explorer and guesses, the password, and who won."""
    game, state = replay.rules(SpeakOrWait), replay.present
    world = state.world
    if world is None:
        return Reveal(OUTCOMES[state.outcome])
    named_landmarks = tuple(zip(game.landmarks, world.landmarks, strict=True))
    squares = [Square(*cell, name, "a landmark") for name, cell in named_landmarks]
    squares += [
        Square(
            g.guess.row,
            g.guess.col,
            "✔" if g.right else "×",
            "guessed",
            "good" if g.right else "bad",
        )
        for g in state.guesses
        if g.guess is not None
    ]
    squares.append(Square(*world.treasure, "Treasure", "the treasure", "goal"))
    squares.append(Square(*state.cell, "Explorer", "the explorer", "yours"))
    row, column = world.treasure
    hidden = (
        Note("Treasure", f"row {row}, column {column}", "goal"),
        Note("Password", world.password),
        Note("Box", f"opened in turn {state.opened_in}" if state.opened_in else "never opened"),
    )
    rows = tuple(
        Row(
            str(g.turn),
            (
                Cell(TARGETS[g.guess.target]),
                Cell(str(g.guess.row)),
                Cell(str(g.guess.col)),
                Cell("right" if g.right else "wrong", "good" if g.right else "bad"),
            ),
        )
        for g in state.guesses
        if g.guess is not None
    )
    grid = Grid(f"{CAPTION}; × where the listener guessed", SIDE, SIDE, tuple(squares))
    guesses = Table("What the listener guessed", GUESS, rows, corner="turn")
    return Reveal(OUTCOMES[state.outcome], hidden, (grid, guesses) if rows else (grid,))


def _notes(view: View) -> tuple[Note, ...]:
    if view.seat == EAVESDROPPER:
        wrong = [
            f"turn {g.turn}: {TARGETS[g.guess.target]} at ({g.guess.row}, {g.guess.col})"
            for g in view.guesses
            if g.guess is not None
        ]
        return (Note("Your guesses", "; ".join(wrong), "bad"),) if wrong else ()
    if view.seat == GUIDE:
        locked = (
            "locked; the explorer tells you the password. Your map shows neither the explorer nor "
            "the treasure."
        )
        is_open = "open; your map shows the treasure, but not the explorer"
        return (Note("Box", locked if view.treasure is None else is_open, "goal"),)
    return (Note("Password", view.password, "goal"),) if view.password else ()


def EXAMPLE(context: SeatContext) -> tuple[Part, ...]:
    """Return the picture beside the rules: what is said and done, turn by turn, or for the listener
    the squares that a message may mean."""
    if context.seat != EAVESDROPPER:
        is_guide = context.seat == GUIDE
        guide, explorer = ("You", "The explorer") if is_guide else ("The guide", "You")
        opening = "open" if is_guide else "opens"
        landmark = "The treasure is south of the Red Barn"
        turns = (
            (explorer, "“The password is 5274”"),
            (guide, f"({opening} the box with 5274, which shows the treasure)"),
            (guide, f"“{landmark}”"),
            (explorer, f"({'goes' if is_guide else 'go'} there: you both win)"),
        )
        steps = tuple(
            Saying(name, text, f"turn {turn}", "yours" if name == "You" else "")
            for turn, (name, text) in enumerate(turns, 1)
        )
        return (Talk("Example: the listener hears this too, but cannot find the Red Barn", steps),)
    squares = (
        Square(0, 0, "?", "a landmark"),
        Square(0, 2, "?", "a landmark"),
        Square(1, 0, "here?", "south of a landmark", "goal"),
        Square(1, 2, "here?", "south of a landmark", "goal"),
    )
    caption = "Example: “The treasure is south of the Red Barn”, but which ? is the Red Barn"
    return (Grid(caption, 2, 3, squares),)


BOARD = board
