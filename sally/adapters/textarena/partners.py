"""Scripted opponents in TextArena's games. They read the texts that a player is shown."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import reduce
from operator import xor
from typing import Any

from sally.adapters.textarena.moves import SILENCE
from sally.adapters.textarena.submission import SEATS, Submission, View
from sally.core.errors import BadInput, join_names
from sally.core.match.partner import Partner, Script, by_name
from sally.core.match.player import Turn
from sally.core.rules.game import Seat
from sally.core.rules.menu import Text

PILE = re.compile(r"pile (\d+): (\d+)")
BEATEN_BY = {"rock": "paper", "paper": "scissors", "scissors": "rock"}


def listed_moves_of(turn: Turn[Any, View]) -> tuple[str, ...]:
    """Return the legal moves that the game lists for this turn."""
    ((_, field),) = turn.options[0].fields
    return field.samples if isinstance(field, Text) else ()


def _last_dilemma_move(texts: list[str], player: int) -> str | None:
    """Return the other player's last move in the prisoner's dilemma."""
    outcomes = [text for text in texts if re.match(r"Round \d+ results:", text)]
    if not outcomes:
        return None
    if "Both players" in outcomes[-1]:
        has_defected = "Both players defected" in outcomes[-1]
    else:
        has_defected = f"Player {1 - player} defected" in outcomes[-1]
    return "[Defect]" if has_defected else "[Cooperate]"


def _last_pennies_move(texts: list[str], player: int) -> str | None:
    other_moves = re.findall(rf"Player {1 - player} picked (\w+)", "\n".join(texts))
    return f"[{other_moves[-1]}]" if other_moves else None


def _last_rps_move(texts: list[str], player: int) -> str | None:
    """Return the other player's last move, which the game tells only through the result."""
    own_moves = re.findall(rf"Player {player} selects move (\w+)\.", "\n".join(texts))
    results = re.findall(r"Round result: (Draw|Player [01] wins)", "\n".join(texts))
    if not results:
        return None
    own_move = own_moves[len(results) - 1]
    if results[-1] == "Draw":
        return f"[{own_move}]"
    is_won = results[-1] == f"Player {player} wins"
    beaten = next(move for move, better in BEATEN_BY.items() if better == own_move)
    return f"[{beaten}]" if is_won else f"[{BEATEN_BY[own_move]}]"


LAST_MOVES: dict[str, Callable[[list[str], int], str | None]] = {
    "IteratedMatchingPennies": _last_pennies_move,
    "IteratedPrisonersDilemma": _last_dilemma_move,
    "IteratedRockPaperScissors": _last_rps_move,
}


def _game_name(game: Any, names: tuple[str, ...], partner: str) -> str:
    """Return the name of a game without its version; raises BadInput if the partner cannot play
    it."""
    name = str(game.env).split("-v")[0]
    if name not in names:
        raise BadInput(f"{partner} plays {join_names(names, 'or')}, not {game.env}.")
    return name


def _tit_for_tat(game: Any, seat: Seat) -> Script:
    last_move = LAST_MOVES[_game_name(game, tuple(LAST_MOVES), "tit_for_tat")]

    def act(turn: Turn[Any, View]) -> Submission:
        legal = listed_moves_of(turn)
        if legal == SILENCE:
            return Submission(SILENCE[0])
        texts = [message.text for message in turn.view.messages if message.sender == "GAME"]
        if game.env.startswith("IteratedRock"):  # its own moves come under its own name
            texts = [message.text for message in turn.view.messages]
        return Submission(last_move(texts, SEATS.index(seat)) or legal[0])

    return act


def nim_move(piles: list[int]) -> tuple[int, int]:
    """Return the pile and the number to take by Bouton's rule: make the binary sum of the piles
    zero, or take one from the largest pile if it is zero already.

    >>> nim_move([3, 4, 5]), nim_move([1, 1])
    ((0, 2), (0, 1))
    """
    total = reduce(xor, piles)
    for number, pile in enumerate(piles):
        if pile ^ total < pile:
            return number, pile - (pile ^ total)
    return piles.index(max(piles)), 1


def _nim_sum(game: Any, seat: Seat) -> Script:
    _game_name(game, ("Nim",), "nim_sum")

    def act(turn: Turn[Any, View]) -> Submission:
        boards = [message.text for message in turn.view.messages if PILE.search(message.text)]
        pile, count = nim_move([int(size) for _, size in PILE.findall(boards[-1])])
        return Submission(f"[{pile} {count}]")

    return act


PARTNERS = by_name(
    Partner(
        "tit_for_tat",
        "copies the other player's last move in TextArena's matrix games, and begins with the "
        "first move that the game lists",
        "Anatol Rapoport, in Axelrod 1984",
        _tit_for_tat,
        memory=1,
    ),
    Partner("nim_sum", "plays Nim perfectly", "Bouton 1901", _nim_sum, memory=0),
)
