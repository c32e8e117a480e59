"""The board of Taboo: the secret and banned words, if visible to the seat, and the hints."""

from __future__ import annotations

from sally.core.match.seat_context import SeatContext
from sally.core.rules.board import Board, Cell, Note, Notes, Part, Progress, Reveal, Row, Table
from sally.core.rules.replay import Trajectory
from sally.games.taboo.rules import GIVER, Action, State, Taboo, View


def board(context: SeatContext, view: View) -> Board:
    """Return this round, its hints and guesses, and the rounds before it."""
    game = context.game
    assert isinstance(game, Taboo)
    parts: list[Part] = []
    notes = []
    if view.cue:
        notes.append(Note("Think of", view.cue, "last"))
    elif not view.over:
        notes.append(Note("Hint", f"number {len(view.tries) + 1} of {game.hints}"))
    if view.target:
        notes.append(Note("Secret word", view.target, "goal"))
        notes.append(Note("Forbidden", ", ".join(view.banned), "bad"))
    if view.hint is not None:
        notes.append(Note("The hint", view.hint, "last"))
    if notes:
        parts.append(Notes("On the table", tuple(notes)))
    if view.tries:
        rows = tuple(Row(str(n), _cells(*try_pair)) for n, try_pair in enumerate(view.tries, 1))
        parts.append(Table("This round", ("hint", "guess"), rows, corner="number"))
    if view.past:
        done = tuple(
            Row(
                str(n),
                _cells(past_round.target, str(len(past_round.tries)), str(past_round.points)),
            )
            for n, past_round in enumerate(view.past, 1)
        )
        parts.append(Table("Rounds so far", ("word", "hints", "points"), done, corner="round"))
    number = min(len(view.past) + 1, game.rounds)
    score = str(sum(past_round.points for past_round in view.past))
    return Board(tuple(parts), progress=Progress(number, game.rounds, score=score))


def REVEAL(context: SeatContext, replay: Trajectory[State, Action, View]) -> Reveal:
    """Return every secret word with its forbidden words, and how many hints it took."""
    game = replay.rules(Taboo)
    view = game.observe(replay.present, context.seat)
    found_count = sum(past_round.found for past_round in view.past)
    explanation = (
        f"{found_count} of {len(view.past)} words were found; a word pays 1 point and 1 more for "
        "every hint that was not needed."
    )
    rows = tuple(
        Row(
            past_round.target,
            (
                Cell(", ".join(problem.banned)),
                Cell(", ".join(_attempt(hint, guess) for hint, guess in past_round.tries)),
                Cell(str(past_round.points), "good" if past_round.found else "bad"),
            ),
        )
        for problem, past_round in zip(game.row, view.past, strict=False)
    )
    columns = ("forbidden", "hints and guesses", "points")
    return Reveal(explanation, parts=(Table("All words", columns, rows, corner="secret word"),))


def _attempt(hint: str | None, guess: str | None) -> str:
    return f"{hint} → {guess or 'no guess'}" if hint else "no allowed hint"


def _cells(*facts: str | None) -> tuple[Cell, ...]:
    return tuple(Cell("none" if fact is None else fact) for fact in facts)


def EXAMPLE(context: SeatContext) -> tuple[Part, ...]:
    """Return the picture beside the rules: a word that is found with the second hint."""
    notes = (Note("Secret word", "igloo", "goal"), Note("Forbidden", "ice, snow", "bad"))
    rows = (
        Row("1", (Cell("cold"), Cell("winter", "bad"))),
        Row("2", (Cell("house"), Cell("igloo", "good"))),
    )
    return (
        Notes("Example", notes if context.seat == GIVER else notes[:1]),
        Table("Found with the second hint", ("hint", "guess"), rows, corner="number"),
    )


BOARD = board
