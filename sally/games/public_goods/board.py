"""The board of public goods: the return of a token, and the rounds so far."""

from __future__ import annotations

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
from sally.core.rules.simultaneous import (
    State,
    View,
    compare_points,
    name_others,
    others_of,
    progress_of,
)
from sally.games.public_goods.rules import PublicGoods

SHOWN = 10  # rounds drawn; the history beside the board has them all
MOST_ROWS = 4  # other players that have a row of their own; of more, the mean is shown


def BOARD(context: SeatContext, view: View) -> Board:
    """Return the board: the return of a token, and the latest rounds side by side."""
    game = context.game
    assert isinstance(game, PublicGoods)
    parts: list[Part] = [
        Notes(
            "The pot",
            (
                Note("Players", str(game.players)),
                Note("Your tokens", f"{game.tokens} in every round"),
                Note("The pot is multiplied by", f"{game.ratio:g}"),
                Note("A token given returns", f"{game.back:.3g} to each player"),
            ),
        )
    ]
    if len(view.past):
        parts.append(_rounds(game, view))
    return Board(tuple(parts), progress=progress_of(game, view))


def REVEAL(context: SeatContext, replay: Trajectory[State, int, View]) -> Reveal:
    """Return the latest rounds and, in one sentence, who gave and who got how much."""
    game = replay.rules(PublicGoods)
    view = game.observe(replay.present, context.seat)
    played = [moves for moves in view.rounds() if moves is not None]
    tokens_given = sum(moves[view.number] for moves in played)
    others = sum(sum(others_of(moves, view.number)) for moves in played) / (game.players - 1)
    explanation = f"You gave {tokens_given} tokens in all, the others {others:.3g} on average. "
    return Reveal(explanation + compare_points(game, view), parts=BOARD(context, view).parts)


def _rounds(game: PublicGoods, view: View) -> Table:
    first = max(0, len(view.past) - SHOWN)
    latest = list(view.rounds(first))
    void = Cell("–", "hidden", "not played")
    own_cells = [void if g is None else Cell(str(g[view.number])) for g in latest]
    rows = [Row("You", tuple(own_cells), "yours")]
    if game.players - 1 <= MOST_ROWS:
        for i in range(game.players - 1):
            cells = [void if g is None else Cell(str(others_of(g, view.number)[i])) for g in latest]
            rows.append(Row(name_others(game, view.number)[i], tuple(cells)))
    else:
        means = [
            void
            if g is None
            else Cell(f"{sum(others_of(g, view.number)) / (game.players - 1):.1f}")
            for g in latest
        ]
        rows.append(Row("Others' mean", tuple(means)))
    rows.append(Row("Pot", tuple(void if g is None else Cell(str(sum(g))) for g in latest), "goal"))
    payoff_cells = [
        void if g is None else Cell(f"{game.round_payoffs(g)[view.number]:.4g}") for g in latest
    ]
    rows.append(Row("You got", tuple(payoff_cells), "goal"))
    numbers = tuple(str(first + i + 1) for i in range(len(latest)))
    return Table("The latest rounds", numbers, tuple(rows), "Round")


def EXAMPLE(context: SeatContext) -> tuple[Part, ...]:
    """Return the picture beside the rules: a round in which one player gave nothing."""
    game = context.game
    assert isinstance(game, PublicGoods)
    if game.players - 1 > MOST_ROWS:
        return ()
    gifts = (game.tokens // 2, *(0,) * (game.players > 2), *(game.tokens,) * (game.players - 2))
    gifts = gifts if game.players > 2 else (game.tokens // 2, 0)
    paid = game.round_payoffs(gifts)
    names = ("You", *name_others(game, 0))
    sides = tuple(
        Side(name, f"gives {gift}", f"gets {pay:.4g}", "yours" if name == "You" else "")
        for name, gift, pay in zip(names, gifts, paid, strict=True)
    )
    return (Showdown(f"Example: the pot holds {sum(gifts)} times {game.ratio:g}", sides),)
