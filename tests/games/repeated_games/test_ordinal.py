"""The 144 ordinal games: all of them, each once, and the famous ones under their names."""

from __future__ import annotations

from itertools import permutations

import pytest

from sally.core.errors import BadInput
from sally.core.registry import registry
from sally.games.repeated_games.ordinal import (
    FAMOUS,
    canonical,
    game_id,
    is_symmetric,
    ordinal_game,
    ordinal_games,
    ordinal_instances,
    with_seats_swapped,
)

GAMES = ordinal_games()


def test_there_are_144_games_each_with_every_rank_once() -> None:
    assert len(GAMES) == 144
    for name, matrix in GAMES.items():
        for seat in (0, 1):
            assert sorted(cell[seat] for row in matrix for cell in row) == [1, 2, 3, 4]
        assert game_id(matrix) == name


def test_each_game_corresponds_to_four_of_the_576_matrices() -> None:
    """Counted by hand over swaps of rows and columns, without `canonical`."""
    counts: dict[frozenset[object], int] = {}
    for a in permutations((1, 2, 3, 4)):
        for p in permutations((1, 2, 3, 4)):
            cells = list(zip(a, p, strict=True))  # cells 00 01 10 11
            orbit = frozenset(
                tuple(cells[i] for i in order)
                for order in ((0, 1, 2, 3), (2, 3, 0, 1), (1, 0, 3, 2), (3, 2, 1, 0))
            )
            counts[orbit] = counts.get(orbit, 0) + 1
            assert canonical(((cells[0], cells[1]), (cells[2], cells[3]))) in GAMES.values()
    assert set(counts.values()) == {4}
    ours = {tuple(cell for row in matrix for cell in row) for matrix in GAMES.values()}
    assert all(len(orbit & ours) == 1 for orbit in counts)


def test_swapping_the_seats_permutes_the_games() -> None:
    swapped = [with_seats_swapped(matrix) for matrix in GAMES.values()]
    assert sorted(swapped) == sorted(GAMES.values())
    assert [with_seats_swapped(m) for m in swapped] == list(GAMES.values())


def test_twelve_games_are_symmetric_and_78_differ_up_to_seat_swap() -> None:
    """The counts of Rapoport and Guyer 1966."""
    assert sum(map(is_symmetric, GAMES.values())) == 12
    assert len({min(m, with_seats_swapped(m)) for m in GAMES.values()}) == 78


def test_moves_of_a_symmetric_game_are_in_the_same_order_for_both() -> None:
    for matrix in filter(is_symmetric, GAMES.values()):
        assert all(matrix[r][c] == matrix[c][r][::-1] for r in (0, 1) for c in (0, 1))


@pytest.mark.parametrize(
    ("name", "matrix"),
    [
        ("prisoners_dilemma", (((3, 3), (1, 4)), ((4, 1), (2, 2)))),
        ("stag_hunt", (((4, 4), (1, 3)), ((3, 1), (2, 2)))),
        ("chicken", (((3, 3), (2, 4)), ((4, 2), (1, 1)))),
        ("deadlock", (((2, 2), (1, 4)), ((4, 1), (3, 3)))),
    ],
)
def test_well_known_games_have_their_matrices(name: str, matrix: object) -> None:
    assert ordinal_game(name) == matrix
    assert ordinal_game(FAMOUS[name]) == matrix


def test_every_ordinal_game_can_be_played() -> None:
    instances = ordinal_instances(rounds=7)
    assert [i.id for i in instances] == list(GAMES)
    for instance in instances:
        game = registry.game(instance.game).build(instance.params)
        assert game.matrix == GAMES[instance.id]  # type: ignore[attr-defined]


def test_unknown_game_suggests_the_nearest() -> None:
    with pytest.raises(BadInput, match="did you mean chicken"):
        ordinal_game("chickens")
