"""The board of Cipher: keywords and code if the seat may see them, hints by digit, past rounds."""

from __future__ import annotations

from sally.core.errors import join_names
from sally.core.match.seat_context import SeatContext
from sally.core.rules.board import (
    Board,
    Cell,
    Mark,
    Note,
    Notes,
    Part,
    Progress,
    Reveal,
    Row,
    Table,
)
from sally.core.rules.replay import Trajectory
from sally.games.cipher.listeners import DIGITS, digits
from sally.games.cipher.rules import (
    INTERCEPTOR,
    Action,
    Cipher,
    Hinted,
    Over,
    Revealed,
    State,
    View,
    Void,
)
from sally.games.cipher.words import count_times

ENDS = {
    "survived": "won by encoder and decoder",
    "miscommunication": "lost: the decoder guessed wrong too often",
    "interception": "lost: the interceptor guessed right too often",
    "both": "lost: the decoder guessed wrong, and the interceptor right, too often",
}


def BOARD(context: SeatContext, view: View) -> Board:
    """Return the board of the current game as one seat sees it."""
    parts: list[Part] = []
    if not view.over:
        game = context.game
        assert isinstance(game, Cipher)
        parts.append(Notes("On the table", tuple(_notes(game, view))))
        parts.append(_by_digit(view))
        if rows := _rounds(view):
            parts.append(Table("Rounds of this game", COLUMNS, rows, corner="round"))
    ends = [ENDS[event.how] for event in view.log if isinstance(event, Over)]
    if ends:
        end_notes = tuple(Note(f"Game {n}", end_text) for n, end_text in enumerate(ends, 1))
        parts.append(Notes("Games so far", end_notes))
    return Board(tuple(parts), progress=None if view.over else _progress(context, view))


def _progress(context: SeatContext, view: View) -> Progress:
    game = context.game
    assert isinstance(game, Cipher)
    rounds_before = len(view.pasts[-1])
    return Progress(rounds_before + view.record.played + 1, rounds_before + game.rounds)


def REVEAL(context: SeatContext, replay: Trajectory[State, Action, View]) -> Reveal:
    """Return the keywords of every game, the codes with all guesses, and how each game ended."""
    game, state = replay.rules(Cipher), replay.present
    ends = [event.how for event in state.log if isinstance(event, Over)]
    games = {
        end_name: [str(n) for n, end in enumerate(ends, 1) if end == end_name] for end_name in ENDS
    }
    explanation = "; ".join(
        f"{'game' if len(numbers) == 1 else 'games'} {join_names(numbers, 'and')} "
        f"{'was' if len(numbers) == 1 else 'were'} {ENDS[end_name]}"
        for end_name, numbers in games.items()
        if numbers
    )
    if set(ends) - {"survived"}:
        explanation += f". Too often means {count_times(game.tokens)} in a game"
    hidden = tuple(
        Note(f"Keywords of game {n}", ", ".join(problem.keywords))
        for n, problem in enumerate(game.row[: len(ends)], 1)
    )
    rows, hints, number, played = list[Row](), "", 1, 0
    for event in state.log:
        if isinstance(event, Hinted):
            hints = ", ".join(event.hints)
        elif isinstance(event, Revealed):
            played += 1
            label = f"Game {number}, round {played}"
            rows.append(Row(label, _revealed_cells(hints, event)))
        elif isinstance(event, Over):
            number, played = number + 1, 0
    table = Table("All rounds", COLUMNS, tuple(rows), corner="round")
    return Reveal(f"{explanation[:1].upper()}{explanation[1:]}.", hidden, (table,))


COLUMNS = ("hints", "code", "decoder", "interceptor")


PLACES = ("first", "second", "third")  # of the hints


def _code_text(code: int) -> str:
    return "-".join(map(str, digits(code))) if code else "none"


def _notes(game: Cipher, view: View) -> list[Note]:
    record = view.record
    notes = [
        Note("Game", f"{view.game} of {game.games}"),
        Note("Miscommunications (decoder wrong)", f"{record.miscommunications} of {game.tokens}"),
        Note("Interceptions (interceptor right)", f"{record.interceptions} of {game.tokens}"),
    ]
    if view.code:
        notes.append(Note("The code", _code_text(view.code), "goal"))
    if view.hints:
        notes.append(Note("The hints", ", ".join(view.hints), "last"))
    if view.reading:
        notes.append(Note("The line shows", _code_text(view.reading), "last"))
    return notes


def _by_digit(view: View) -> Table:
    """Return the keyword of each digit, if known, and the hints filed under it."""
    filed = view.record.filed
    words = view.keywords[-1] if view.keywords else ()
    rows = []
    for n in range(DIGITS):
        place = str(view.code).find(str(n + 1)) if view.code else -1
        mark: Mark = "goal" if place >= 0 else ""
        cells = [Cell(words[n], mark)] if words else []
        cells += [Cell(PLACES[place] if place >= 0 else "–", mark)] if view.code else []
        rows.append(Row(str(n + 1), (*cells, Cell(", ".join(filed[n]) or "none"))))
    columns = [
        *(["keyword"] if words else []),
        *(["your hint now"] if view.code else []),
        "hints so far",
    ]
    return Table("The four digits", tuple(columns), tuple(rows), corner="digit")


def _rounds(view: View) -> tuple[Row, ...]:
    rows: list[Row] = []
    for past_round in view.pasts[-1]:
        cells = (", ".join(past_round.hints), _code_text(past_round.code), "", "")
        rows.append(Row(str(len(rows) + 1), tuple(map(Cell, cells))))
    hints = ""
    for event in view.log[view.began :]:
        if isinstance(event, Hinted):
            hints = ", ".join(event.hints)
        elif isinstance(event, Void):
            rows.append(
                Row("void", (Cell("none"), Cell(_code_text(event.code)), Cell(""), Cell("")))
            )
        elif isinstance(event, Revealed):
            number = 1 + sum(row.label != "void" for row in rows)
            rows.append(Row(str(number), _revealed_cells(hints, event)))
    return tuple(rows)


def _revealed_cells(hints: str, event: Revealed) -> tuple[Cell, ...]:
    right, caught = event.decoder == event.code, event.interceptor == event.code
    return (
        Cell(hints),
        Cell(_code_text(event.code)),
        Cell(_code_text(event.decoder), "good" if right else "bad", _says(right)),
        Cell(_code_text(event.interceptor), "bad" if caught else "", _says(caught)),
    )


def _says(right: bool) -> str:
    return "right" if right else "wrong"


def EXAMPLE(context: SeatContext) -> tuple[Part, ...]:
    """Return the picture beside the rules: hints for two digits, which are never a whole code."""
    knows = context.seat != INTERCEPTOR
    examples = ((4, "moon", "night"), (1, "tiger", "stripes"))  # in the order of the code
    rows = tuple(
        Row(str(digit), (Cell(keyword if knows else "?"), Cell(hint)))
        for digit, keyword, hint in examples
    )
    return (Table("Example: a code of two digits, 4-1", ("keyword", "hint"), rows, corner="digit"),)
