"""The board of Codenames: the cards as a grid, coloured if the seat may know the colour."""

from __future__ import annotations

from sally.core.match.seat_context import SeatContext
from sally.core.rules.board import Board, Grid, Mark, Note, Notes, Part, Progress, Reveal, Square
from sally.core.rules.replay import Trajectory
from sally.games.codenames.instances import Colour
from sally.games.codenames.rules import (
    GIVER,
    Action,
    Codenames,
    GivenClue,
    Over,
    State,
    Turned,
    View,
)

MARKS: dict[str, Mark] = {"own": "good", "other": "bad", "neutral": "hidden", "assassin": "goal"}
SIGNS = {"own": "✔", "other": "✘", "neutral": "", "assassin": "☠"}
NAMES = {
    "own": "yours",
    "other": "the rival's",
    "neutral": "nobody's",
    "assassin": "the assassin",
}


def board(context: SeatContext, view: View) -> Board:
    """Return the current board, the clue, and the points of earlier boards."""
    game = context.game
    assert isinstance(game, Codenames)
    parts: list[Part] = []
    if not view.over:
        parts.append(_grid(view))
    notes = []
    if view.clue is not None:
        notes.append(Note("The clue", f"{view.clue.word}, for {view.clue.number}", "last"))
        notes.append(Note("Cards left to turn over", str(view.left)))
    ends = [event for event in view.log if isinstance(event, Over)]
    notes += [
        Note(f"Board {n}", f"{end.paid:g} point{'' if end.paid == 1 else 's'}: {ENDS[end.how]}")
        for n, end in enumerate(ends, 1)
    ]
    if notes:
        parts.append(Notes("On the table", tuple(notes)))
    found_count = (
        0 if view.over else sum(colour == "own" for colour in view.turned_colours.values())
    )
    score = f"{sum(end.paid for end in ends) + found_count:g}"
    progress = Progress(len(view.boards), game.boards, "board", score)
    return Board(tuple(parts), progress=progress)


ENDS = {
    "won": "all of your cards were found",
    "assassin": "the assassin was turned over",
    "rival": "the rival team found all its cards first",
}


def REVEAL(context: SeatContext, replay: Trajectory[State, Action, View]) -> Reveal:
    """Return every board with the colours of all cards, and how it ended."""
    game, state = replay.rules(Codenames), replay.present
    ends = [event for event in state.log if isinstance(event, Over)]
    end_texts = [f"on board {n}, {ENDS[end.how]}" for n, end in enumerate(ends, 1)]
    explanation = (
        f"{'; '.join(end_texts)}. Each of your cards that was found is 1 point, but none if the "
        f"assassin was turned over. Finding all of yours wins a board: "
        f"{game.bonus:g} more for each card of the rival that is still covered."
    )
    turned = _turned_by_board(state)
    parts = tuple(
        _open_grid(n, problem.words, problem.key, turned[n])
        for n, problem in enumerate(game.row[: len(ends)])
    )
    clues = [event for event in state.log if isinstance(event, GivenClue)]
    clue_text = ", ".join(f"{clue.word} ({clue.number})" for clue in clues)
    return Reveal(
        explanation[:1].upper() + explanation[1:],
        parts=(
            *parts,
            Notes("What you and your partner did", (Note("The clues", clue_text or "none"),)),
        ),
    )


def _turned_by_board(state: State) -> list[set[str]]:
    turned: list[set[str]] = [set()]
    for event in state.log:
        if isinstance(event, Turned):
            turned[-1].add(event.word)
        elif isinstance(event, Over):
            turned.append(set())
    return turned


def _open_grid(
    number: int, words: tuple[str, ...], key: tuple[Colour, ...], turned: set[str]
) -> Grid:
    columns = 4 if len(words) <= 16 else 5
    squares = tuple(
        Square(
            n // columns,
            n % columns,
            f"{SIGNS[colour]} {f'({word})' if word in turned else word}".strip(),
            f"{NAMES[colour]}, {'open' if word in turned else 'covered'}",
            MARKS[colour],
            word,
        )
        for n, (word, colour) in enumerate(zip(words, key, strict=True))
    )
    legend = "✔ yours, ✘ the rival's, ☠ assassin, grey: nobody's; (in brackets): turned over"
    return Grid(f"Board {number + 1}: {legend}", -(-len(words) // columns), columns, squares)


def _grid(view: View) -> Grid:
    words, turned = view.boards[-1], view.turned_colours
    columns = 4 if len(words) <= 16 else 5
    squares = tuple(
        _square(view, word, n // columns, n % columns, word in turned)
        for n, word in enumerate(words)
    )
    rows = -(-len(words) // columns)
    legend = (
        ": ✔ yours, ✘ the rival's, ☠ assassin, grey: nobody's" if view.colours or turned else ""
    )
    legend += "; (in brackets): turned over" if turned else ""
    return Grid(f"Board {len(view.boards)}{legend}", rows, columns, squares)


def _square(view: View, word: str, row: int, col: int, is_open: bool) -> Square:
    colour = view.turned_colours.get(word) or view.colours.get(word)
    if colour is None:
        return Square(row, col, word, "covered", option=word)
    state = "open" if is_open else "covered"
    text = f"{SIGNS[colour]} {f'({word})' if is_open else word}".strip()
    return Square(row, col, text, f"{NAMES[colour]}, {state}", MARKS[colour], word)


EXAMPLE_KEY: tuple[tuple[str, Colour], ...] = (
    ("apple", "own"),
    ("train", "other"),
    ("pear", "own"),
    ("ghost", "assassin"),
    ("desk", "neutral"),
    ("moon", "other"),
)


def EXAMPLE(context: SeatContext) -> tuple[Part, ...]:
    """Return the picture beside the rules: a clue and the cards that it fits."""
    gives = context.seat == GIVER
    squares = tuple(
        Square(
            n // 3,
            n % 3,
            f"{SIGNS[colour]} {word}".strip() if gives or colour == "own" else word,
            NAMES[colour] if gives else "",
            MARKS[colour] if gives or colour == "own" else "",
            word,
        )
        for n, (word, colour) in enumerate(EXAMPLE_KEY)
    )
    speaker = "you say" if gives else "your partner says"
    return (Grid(f"Example: {speaker} “fruit, 2”", 2, 3, squares),)


BOARD = board
