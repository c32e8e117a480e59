"""The board of Wavelength: the dial between its poles, with the target if the seat may see it."""

from __future__ import annotations

from sally.core.match.seat_context import SeatContext
from sally.core.rules.board import (
    Board,
    Cell,
    Note,
    Notes,
    Part,
    Progress,
    Reveal,
    Row,
    Scale,
    Spot,
    Table,
)
from sally.core.rules.replay import Trajectory
from sally.games.wavelength.rules import DIAL, PSYCHIC, Action, Seen, State, View, Wavelength


def board(context: SeatContext, view: View) -> Board:
    """Return the current round as a dial and the earlier rounds as a table."""
    game = context.game
    assert isinstance(game, Wavelength)
    parts: list[Part] = []
    if view.left:
        target = view.target
        spots = () if target is None else (Spot(target, "the target", "goal"),)
        ends = (view.left, view.right)
        parts.append(Scale(f"Round {len(view.past) + 1}", DIAL[0], DIAL[-1], ends, spots))
        if view.clue is not None:
            parts.append(Notes("On the table", (Note("The clue", view.clue, "last"),)))
    if view.past:
        columns = ("from 0 to 100", "clue", "dial", "target", "points")
        rows = tuple(Row(str(n), _cells(past_round)) for n, past_round in enumerate(view.past, 1))
        caption = "Rounds so far" if view.left else "All rounds"
        parts.append(Table(caption, columns, rows, corner="round"))
    score = str(sum(past_round.points for past_round in view.past))
    number = min(len(view.past) + 1, game.rounds)
    return Board(tuple(parts), progress=Progress(number, game.rounds, score=score))


def REVEAL(context: SeatContext, replay: Trajectory[State, Action, View]) -> Reveal:
    """Return all rounds with their targets, and how far the dial was off."""
    game = replay.rules(Wavelength)
    view = game.observe(replay.present, context.seat)
    errors = [
        abs(past_round.target - past_round.dial)
        for past_round in view.past
        if past_round.dial is not None
    ]
    error_text = f"{sum(errors) / len(errors):.0f}" if errors else "not set at all"
    bands = "; ".join(
        context.words.say("band", points=points, width=width) for width, points in game.bands
    )
    explanation = (
        f"On average the dial stood {error_text} from the target. Points of a round: {bands}."
    )
    return Reveal(explanation, parts=BOARD(context, view).parts)


def _cells(past_round: Seen) -> tuple[Cell, ...]:
    facts = (
        f"{past_round.left} – {past_round.right}",
        past_round.clue,
        past_round.dial,
        past_round.target,
        past_round.points,
    )
    return tuple(Cell("none" if fact is None else str(fact)) for fact in facts)


def EXAMPLE(context: SeatContext) -> tuple[Part, ...]:
    """Return the picture beside the rules: a clue, the target and the dial."""
    spots = (Spot(80, "the target", "goal"), Spot(74, "the dial", "yours"))
    speaker = "you say" if context.seat == PSYCHIC else "your partner says"
    caption = f"Example: {speaker} “coffee”"
    return (Scale(caption, DIAL[0], DIAL[-1], ("cold", "hot"), spots),)


BOARD = board
