"""The board of the step race: the track, the turns so far, and the current turn's messages."""

from __future__ import annotations

from sally.core.errors import join_names
from sally.core.match.seat_context import SeatContext
from sally.core.rules.board import (
    Board,
    Cell,
    Limit,
    Mark,
    Note,
    Notes,
    Part,
    Reveal,
    Row,
    Saying,
    Scale,
    Showdown,
    Side,
    Spot,
    Table,
    Talk,
)
from sally.core.rules.replay import Trajectory
from sally.games.step_race.rules import SEATS, STAYS, Action, State, StepRace, View, prize
from sally.games.step_race.words import StepWords

SHOWN = 10  # turns drawn; the history beside the board has them all


def BOARD(context: SeatContext, view: View) -> Board:
    """Return the board; the track comes first, so that people find it on a small screen."""
    game, words = context.game, context.words
    assert isinstance(game, StepRace) and isinstance(words, StepWords)
    parts: list[Part] = [_track(game, words, view, f"turn {view.turn}")]
    if len(view.past):  # before the first move the track shows everything
        parts.append(_steps_needed(game, words, view))
    if view.talk:
        parts.append(_messages(words, view))
    if len(view.past):
        parts.append(_turns(words, view))
    return Board(tuple(parts), {"text": Limit(game.letters)} if view.speaks else {})


def REVEAL(context: SeatContext, replay: Trajectory[State, Action, View]) -> Reveal:
    """Return the track, all moves with their collisions, and who arrived."""
    game, words, state = replay.rules(StepRace), context.words, replay.present
    assert isinstance(words, StepWords)
    view = game.observe(state, context.seat)
    shares = prize(state.positions, game.target)
    if shares is None:
        explanation = f"Nobody reached step {game.target}, so nobody got the point."
    else:
        first = join_names([_name_player(words, view, n) for n in range(3) if shares[n]], "and")
        arrivals = sum(position >= game.target for position in state.positions)
        explanation = (
            f"{first} reached the end, step {game.target}, first."
            if arrivals == 1
            else f"{first} won, at step {max(state.positions)}; the end is at step {game.target}."
        )
    collisions = sum(not gain for turn in state.past for gain in turn.gains)
    explanation += (
        f" {collisions} moves did not count, because another player chose the same number."
    )
    moment = f"after turn {len(view.past)}"
    parts = (_track(game, words, view, moment), _turns(words, view)) if len(view.past) else ()
    return Reveal(explanation, parts=parts)


def _name_player(words: StepWords, view: View, number: int) -> str:
    return "You" if number == view.number else words.player_name(number)


def _mark(view: View, number: int) -> Mark:
    return "yours" if number == view.number else ""


def _track(game: StepRace, words: StepWords, view: View, moment: str) -> Scale:
    spots = [
        Spot(min(position, game.target), _name_player(words, view, n), _mark(view, n))
        for n, position in enumerate(view.positions)
    ]
    return Scale(f"The track, {moment}", 0, game.target, ("start", "the end"), tuple(spots))


def _steps_needed(game: StepRace, words: StepWords, view: View) -> Notes:
    notes = tuple(
        Note(
            _name_player(words, view, n),
            f"{position} of {game.target}",
            "goal" if game.target - position <= 5 else _mark(view, n),
        )
        for n, position in enumerate(view.positions)
    )
    return Notes("Steps so far; marked if one move can be enough", notes)


def _messages(words: StepWords, view: View) -> Talk:
    sayings = tuple(
        Saying(
            _name_player(words, view, message.number),
            message.text or "(nothing)",
            f"message {n // 3 + 1}",
            _mark(view, message.number),
        )
        for n, message in enumerate(view.talk)
    )
    return Talk("Said in this turn", sayings)


def _turns(words: StepWords, view: View) -> Table:
    """Return the latest turns, one per column: the number chosen, struck out if it collided."""
    first = max(0, len(view.past) - SHOWN)
    latest = view.past[first:]
    rows = []
    for n in range(3):
        cells = []
        for turn in latest:
            if turn.moves[n] == STAYS:
                cells.append(Cell("–", "hidden", "no move"))
            elif turn.gains[n]:
                cells.append(Cell(str(turn.moves[n]), "good", "moved"))
            else:
                cells.append(Cell(f"{turn.moves[n]}×", "bad", "did not move"))
        rows.append(Row(_name_player(words, view, n), tuple(cells), _mark(view, n)))
    numbers = tuple(str(first + i + 1) for i in range(len(latest)))
    return Table("Numbers chosen in the latest turns; × did not move", numbers, tuple(rows), "Turn")


def EXAMPLE(context: SeatContext) -> tuple[Part, ...]:
    """Return the picture beside the rules: a turn in which two players chose the same number."""
    words = context.words
    assert isinstance(words, StepWords)
    name_2, name_3 = (words.player_name(seat) for seat in SEATS if seat != context.seat)
    sides = (
        Side("You", "5 steps", "no move", "yours"),
        Side(name_2, "5 steps", "no move"),
        Side(name_3, "3 steps", "3 forward"),
    )
    return (Showdown("Example: two chose the same number", sides),)
