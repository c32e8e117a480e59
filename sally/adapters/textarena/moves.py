"""The legal moves of TextArena's games, for opponents without a model.

Each function takes an environment and returns the texts that it accepts from the player to move.
Only games in this table have a random opponent; a game that is missing can be played by two models.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

ListMoves = Callable[[Any], list[str]]


def listed_moves(env: Any) -> tuple[tuple[str, ...], bool]:
    """Return the legal moves now, or none if the game is not in the table; and whether TextArena
    would silently take any other text for a move, so that Sally has to refuse it."""
    name = type(env).__name__.removesuffix("Env")
    moves = tuple(MOVES[name](env)) if name in MOVES else ()
    return moves, name in TAKES_ANY_TEXT and moves != SILENCE


SILENCE = ("I have nothing to say.",)  # in the conversation before a decision
TAKES_ANY_TEXT = {"IteratedPrisonersDilemma"}  # cooperation, if the text holds no move


def _empty_cells(env: Any) -> list[int]:
    board = env.state.game_state["board"]
    cells = [cell for row in board for cell in row]
    return [number for number, cell in enumerate(cells) if cell == ""]


def _cells(env: Any) -> list[str]:
    return [f"[{cell}]" for cell in _empty_cells(env)]


def _wild_cells(env: Any) -> list[str]:
    return [f"[{mark} {cell}]" for cell in _empty_cells(env) for mark in "XO"]


def _ultimate_cells(env: Any) -> list[str]:
    state = env.state.game_state
    forced = state["next_micro_board"]
    boards = range(9) if forced is None else [forced]
    return [
        f"[{board} {3 * row + column}]"
        for board in boards
        if state["macro_board"][board // 3][board % 3] == " "
        for row in range(3)
        for column in range(3)
        if state["board"][board][row][column] == " "
    ]


def _columns(env: Any) -> list[str]:
    top = env.state.game_state["board"][0]
    return [f"[col {column}]" for column, cell in enumerate(top) if cell == "."]


def _othello(env: Any) -> list[str]:
    stone = "B" if env.state.current_player_id == 0 else "W"
    squares = env._valid_moves(stone)
    return [f"[{row}, {column}]" for row, column in squares] or ["[skip]"]


def _breakthrough(env: Any) -> list[str]:
    player, size = env.state.current_player_id, env.board_size
    step = 1 if player == 0 else -1
    return [
        f"[{env._col_to_file[column]}{row + 1}{env._col_to_file[to]}{row + step + 1}]"
        for row in range(size)
        for column in range(size)
        for to in (column - 1, column, column + 1)
        if env._is_on_board(row + step, to)
        and env._is_valid_move(player, row, column, row + step, to)
    ]


def _chess(env: Any) -> list[str]:
    return [f"[{move.uci()}]" for move in env.state.game_state["board"].legal_moves]


def _nim(env: Any) -> list[str]:
    piles = env.state.game_state["piles"]
    return [f"[{n} {count}]" for n, pile in enumerate(piles) for count in range(1, pile + 1)]


def _kuhn_poker(env: Any) -> list[str]:
    return [f"[{move}]" for move in env.state.game_state["current_legal_action_tree"]]


def _chopsticks(env: Any) -> list[str]:
    player = env.state.current_player_id
    own_hands, other_hands = (env.state.game_state["hands"][seat] for seat in (player, 1 - player))
    attacks = [
        f"[attack {m} {o}]" for m in (0, 1) for o in (0, 1) if own_hands[m] and other_hands[o]
    ]
    total = sum(own_hands)
    splits = [f"[split {n} {total - n}]" for n in range(total + 1) if [n, total - n] != own_hands]
    return attacks + splits


def _pure_strategy(env: Any) -> list[str]:
    hand = env.state.game_state["player_hands"][env.state.current_player_id]
    return [f"[{env._val_to_face(card)}]" for card in hand]


def _dilemma(env: Any) -> list[str]:
    is_decision = env.state.game_state["phase"] == "decision"
    return ["[Cooperate]", "[Defect]"] if is_decision else list(SILENCE)


MOVES: Mapping[str, ListMoves] = {
    "Breakthrough": _breakthrough,
    "Chess": _chess,
    "Chopsticks": _chopsticks,
    "ConnectFour": _columns,
    "GameOfPureStrategy": _pure_strategy,
    "IteratedMatchingPennies": lambda env: ["[heads]", "[tails]"],
    "IteratedPrisonersDilemma": _dilemma,
    "IteratedRockPaperScissors": lambda env: ["[rock]", "[paper]", "[scissors]"],
    "KuhnPoker": _kuhn_poker,
    "Nim": _nim,
    "Othello": _othello,
    "PigDice": lambda env: ["[roll]", "[hold]"],
    "ReverseTicTacToe": _cells,
    "SimpleTak": _cells,
    "TicTacToe": _cells,
    "UltimateTicTacToe": _ultimate_cells,
    "WildTicTacToe": _wild_cells,
}
"""By the name of the environment's class, without `Env`."""
