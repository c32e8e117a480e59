"""The board of elicitation: what there is to choose, and whom the questions are about."""

from __future__ import annotations

from collections.abc import Sequence

from sally.core.errors import join_names
from sally.core.match.seat_context import SeatContext
from sally.core.rules.board import (
    Board,
    Cell,
    Note,
    Notes,
    Part,
    Reveal,
    Row,
    Showdown,
    Side,
    Table,
)
from sally.core.rules.replay import Trajectory
from sally.games.elicitation.payoffs import REPLY, SequentialTransfer
from sally.games.elicitation.rules import Elicitation, State, View


def BOARD(context: SeatContext, view: View) -> Board:
    """Return the board: the actions with what each sends, if they are transfers, and the questions
    by whom they are about."""
    game = context.game
    assert isinstance(game, Elicitation)
    notes = [Note("You choose", join_names(game.menu, "or") if game.menu else "nothing")]
    about = dict.fromkeys(question.about for question in game.questions if question.about)
    if about:
        notes.append(Note("Questions about", join_names(about)))
    if not isinstance(pays := game.pays, SequentialTransfer):
        return Board((Notes("Your decision", tuple(notes)),))
    rows = tuple(
        Row(
            name,
            tuple(Cell(f"{n:g}") for n in (step, pays.endowment - step, pays.factor * step)),
            "yours",
        )
        for name, step in zip(game.menu, pays.steps, strict=True)
    )
    columns = ("you send", "you keep", "the other receives")
    sends = f"one of the same amounts; you receive it times {pays.factor:g}"
    get = f"what you keep plus {pays.factor:g} times what the other sends"
    reply_notes = Notes(
        "Then", (Note("The other, who sees your choice, sends", sends), Note("You get", get))
    )
    return Board((Table("What each choice means", columns, rows), reply_notes))


def REVEAL(context: SeatContext, replay: Trajectory[State, int, View]) -> Reveal:
    """Return what the others did and what each choice would have paid."""
    game, chosen = replay.rules(Elicitation), replay.present.move
    values = game.true_values
    truths = tuple(
        Note(_describe(question.ask), str(question.truth))
        for question in game.questions
        if isinstance(question.truth, str | float | int)
    )
    if values is None or chosen is None:
        return Reveal("What the others did is not known, so no choice has a payoff.", truths)
    rows = tuple(
        Row(
            name,
            (Cell(f"{value:.4g}", "last" if n == chosen else ""),),
            "yours" if n == chosen else "",
        )
        for n, (name, value) in enumerate(zip(game.menu, values, strict=True))
    )
    table = Table("What each choice paid you", ("points",), rows, "choice")
    return Reveal(_account(game, chosen, values), truths, (table,))


def _account(game: Elicitation, chosen: int, values: Sequence[float]) -> str:
    """Return how the points came about, and what the best choice would have paid."""
    name, best = game.menu[chosen], max(range(len(values)), key=values.__getitem__)
    replies = {question.ask: question.truth for question in game.questions}
    reply = replies.get(f"{REPLY}{name}")
    if isinstance(pays := game.pays, SequentialTransfer) and isinstance(reply, str):
        sent, back = pays.steps[chosen], pays.steps[game.menu.index(reply)]
        paid = (
            f"You kept {pays.endowment - sent:g}. The other answered {name} with {reply}, which "
            f"gave you {pays.factor:g} times {back:g}: {values[chosen]:.4g} points in all."
        )
        other_text = f" The other got {pays.endowment - back + pays.factor * sent:.4g}."
        reason = f", because the other answers it with {replies.get(REPLY + game.menu[best])}"
    else:
        paid, other_text, reason = f"You chose {name} and got {values[chosen]:.4g} points.", "", ""
    if values[best] == values[chosen]:
        return f"{paid} No choice paid more.{other_text}"
    return f"{paid} {game.menu[best]} would have paid {values[best]:.4g}{reason}.{other_text}"


def _describe(ask: str) -> str:
    """Return what a question is about, as the end of the game names it."""
    if ask.startswith(REPLY):
        return f"The other's answer to {ask.removeprefix(REPLY)}"
    subject_names = {"same_move": "Sending first, the other would have chosen"}
    return subject_names.get(ask, ask.replace("_", " "))


def EXAMPLE(context: SeatContext) -> tuple[Part, ...]:
    """Return the picture beside the rules: the highest transfer and the middle reply to it."""
    game = context.game
    assert isinstance(game, Elicitation)
    if not isinstance(pays := game.pays, SequentialTransfer):
        return ()
    steps = sorted(pays.steps)
    sent, back = steps[-1], steps[len(steps) // 2]
    sides = (
        Side(
            "You",
            f"send {sent:g}",
            f"{pays.endowment - sent:g} + {pays.factor * back:g} points",
            "yours",
        ),
        Side(
            "Other", f"sends {back:g}", f"{pays.endowment - back:g} + {pays.factor * sent:g} points"
        ),
    )
    return (Showdown(f"Example: points kept + {pays.factor:g} times what the other sends", sides),)
