"""Rock, paper, scissors as a circle: transitions, outcomes, and who may play on it."""

from __future__ import annotations

from collections.abc import Sequence

from sally.core.errors import BadInput, unknown
from sally.core.rules.game import Seat
from sally.games.repeated_games.partners.basis import check_move
from sally.games.repeated_games.rules import RepeatedGame

SOURCE = "Brockbank and Vul, Cognitive Psychology 151 (2024)"
MOVES = (0, 1, 2)  # each is beaten by the next
UP, SAME, DOWN = 1, 0, -1  # to the move that beats it, to itself, to the one that loses to it


def shifted(move: int, transition: int) -> int:
    """The move that a transition leads to."""
    return (move + transition) % 3


def transition(earlier: int, later: int) -> int:
    """How a move relates to an earlier one: UP, SAME or DOWN."""
    return (later - earlier + 1) % 3 - 1


def outcome(mine: int, theirs: int) -> int:
    """1 for a win, 0 for a tie, -1 for a loss."""
    return transition(theirs, mine)


VOIDS = ("skip", "published")  # how a bot of theirs takes a round in which the other did not move


def check_void(void: str) -> None:
    """`skip` joins what lies on either side of a void round; `published` does as the authors' do.

    Their bots remember their own move of such a round, do not count across it, and draw evenly
    where they would need the move that was not made.
    """
    if void not in VOIDS:
        raise unknown("way with void rounds", void, VOIDS)


def check_rps(game: RepeatedGame) -> None:
    """The bots know one circle: three moves, each beaten by the next."""
    circle = len(game.matrix) == 3 == len(game.matrix[0]) and all(
        game.best_replies(seat, move) == (shifted(move, UP),)
        for seat in game.seats
        for move in MOVES
    )
    if not circle:
        raise BadInput(
            "the bots of Brockbank and Vul play rock, paper, scissors only: three moves, where "
            "move 1 beats 0, 2 beats 1 and 0 beats 2"
        )


def check_opening(game: RepeatedGame, seat: Seat, opening: Sequence[int], most: int) -> None:
    """Moves to begin with in place of drawn ones, not longer than there are drawn ones."""
    for move in opening:
        check_move(game, seat, "opening", move)
    if len(opening) > most:
        raise BadInput(f"opening has {len(opening)} moves; at most {most} fit here")
