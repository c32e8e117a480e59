"""The board of elicitation: what there is to choose, and whom the questions are about."""

from __future__ import annotations

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
    then = Notes(
        "Then", (Note("The other, who sees your choice, sends", sends), Note("You get", get))
    )
    return Board((Table("What each choice means", columns, rows), then))


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
    best = max(values)
    how = "no choice paid more" if values[chosen] == best else f"the best choice paid {best:.4g}"
    name = game.menu[chosen]
    replies = {question.ask: question.truth for question in game.questions}
    reply = replies.get(f"{REPLY}{name}") if isinstance(game.pays, SequentialTransfer) else None
    sums = ""
    if isinstance(pays := game.pays, SequentialTransfer) and isinstance(reply, str):
        sent, back = pays.steps[chosen], pays.steps[game.menu.index(reply)]
        other = pays.endowment - back + pays.factor * sent
        sums = (
            f" You sent {sent:g} and kept {pays.endowment - sent:g}; the other then chose {reply} "
            f"and sent {back:g}, which reached you as {pays.factor * back:g}. The other got "
            f"{other:.4g}."
        )
    why = f"You chose {name} and got {values[chosen]:.4g} points; {how}.{sums}"
    return Reveal(why, truths, (Table("What each choice paid you", ("points",), rows, "choice"),))


def _describe(ask: str) -> str:
    """Return what a question is about, as the end of the game names it."""
    if ask.startswith(REPLY):
        return f"The other's answer to {ask.removeprefix(REPLY)}"
    named = {"same_move": "Sending first, the other would have chosen"}
    return named.get(ask, ask.replace("_", " "))


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
