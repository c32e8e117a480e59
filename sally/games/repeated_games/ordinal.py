"""The 144 strict ordinal 2x2 games of Robinson and Goforth (2005), generated.

Each seat ranks the four outcomes from 1 (worst) to 4 (best), which gives 24 x 24 = 576 matrices.
The order of rows and columns has no meaning, so four matrices each represent the same game, and 144
games remain.
"""

from __future__ import annotations

from functools import cache
from itertools import permutations

from sally.core.errors import unknown
from sally.core.log.events import Instance
from sally.core.registry.study import instance

Matrix = tuple[tuple[tuple[int, int], ...], ...]  # [agent's move][partner's move] -> payoffs

# The usual names of some of the twelve symmetric games; move 0 is the cooperative one.
FAMOUS = {
    "prisoners_dilemma": "ordinal-3142-3412",
    "stag_hunt": "ordinal-4132-4312",
    "chicken": "ordinal-3241-3421",
    "deadlock": "ordinal-2143-2413",
}


@cache
def ordinal_games() -> dict[str, Matrix]:
    """Return every game by id, with rows and columns in canonical order."""
    ranks = list(permutations((4, 3, 2, 1)))
    all_matrices = (_matrix(agent, partner) for agent in ranks for partner in ranks)
    games = {canonical(matrix) for matrix in all_matrices}
    return {game_id(matrix): matrix for matrix in sorted(games, reverse=True)}


def _matrix(agent: tuple[int, ...], partner: tuple[int, ...]) -> Matrix:
    """Return the matrix with these ranks, given in the order (0,0), (0,1), (1,0), (1,1)."""
    a, p = agent, partner
    return (((a[0], p[0]), (a[1], p[1])), ((a[2], p[2]), (a[3], p[3])))


def canonical(matrix: Matrix) -> Matrix:
    """Return the same game with rows and columns in canonical order.

    The agent's best outcome is in cell (0, 0). In a symmetric game, however, both seats' moves must
    be in the same order, so that a partner can copy the other's move; if the agent's best outcome
    is then off the diagonal, it is in cell (1, 0), as in the prisoner's dilemma.
    """
    orders = [matrix, matrix[::-1], _mirror_columns(matrix), _mirror_columns(matrix[::-1])]
    alike = [m for m in orders if _exchange_seats(m) == m]
    candidates = [(m, cell) for cell in ((0, 0), (1, 0)) for m in alike or orders]
    return next(m for m, (row, column) in candidates if m[row][column][0] == 4)


def _mirror_columns(matrix: Matrix) -> Matrix:
    """Return the matrix with its columns reversed."""
    return tuple(row[::-1] for row in matrix)


def _exchange_seats(matrix: Matrix) -> Matrix:
    """Return the matrix from the other seat's perspective."""
    return tuple(tuple((matrix[r][c][1], matrix[r][c][0]) for r in (0, 1)) for c in (0, 1))


def game_id(matrix: Matrix) -> str:
    """Return the id: the ranks of the two seats, cell by cell."""
    cells = [cell for row in matrix for cell in row]
    agent, partner = ("".join(str(cell[seat]) for cell in cells) for seat in (0, 1))
    return f"ordinal-{agent}-{partner}"


def with_seats_swapped(matrix: Matrix) -> Matrix:
    """Return the same game with the agent in the partner's place."""
    return canonical(_exchange_seats(matrix))


def is_symmetric(matrix: Matrix) -> bool:
    """Return whether the game looks the same from both seats."""
    return with_seats_swapped(matrix) == canonical(matrix)


def ordinal_instances(rounds: int = 100) -> tuple[Instance, ...]:
    """Return all 144 games as problems of `repeated_games`, ready for a study."""
    return tuple(
        instance(
            "repeated_games", name, matrix=[[list(c) for c in row] for row in m], rounds=rounds
        )
        for name, m in ordinal_games().items()
    )


def ordinal_game(name: str) -> Matrix:
    """Return the game with this id or common name."""
    games = ordinal_games()
    name = FAMOUS.get(name, name)
    if name not in games:
        raise unknown("ordinal game", name, (*games, *FAMOUS))
    return games[name]
