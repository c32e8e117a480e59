"""Machines: players whose next move depends on both last moves, their own and the other's.

Moves are numbers from 0. A machine of order 0 repeats one move, one of order 1 looks at one of the
two last moves, one of order 2 at both. Pairs of positions are built from them: two machines whose
past looks alike to simple rules and whose next moves differ.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any

from sally.core.rules.chance import Stream

MACHINES = 400  # drawn for one row of own moves, if there are too many to try them all
ALL_MACHINES = 100

Moves = tuple[int, ...]
Table = tuple[int, ...]  # the next move by the other's last move * number of moves + its last move
Predict = Callable[[Sequence[int], Sequence[int]], int | None]


def played_by(table: Table, first: int, own_moves: Moves, count: int) -> Moves:
    """Return the moves of a machine against a row of own moves, with its move after them."""
    moves = [first]
    for own_move in own_moves:
        moves.append(table[own_move * count + moves[-1]])
    return tuple(moves)


def what_followed(
    own_moves: Sequence[int], their: Sequence[int], by_own: bool, by_their: bool
) -> int | None:
    """Return the partner's move after the latest earlier round like the last one, or None.

    Rounds are alike if the own moves are equal (`by_own`), the partner's (`by_their`), or both.
    """
    for index in range(len(own_moves) - 2, -1, -1):
        is_like = (not by_own or own_moves[index] == own_moves[-1]) and (
            not by_their or their[index] == their[-1]
        )
        if is_like:
            return their[index + 1]
    return None


def fits_order(own_moves: Sequence[int], their: Sequence[int], order: int) -> bool:
    """Return whether a machine of that order may have made these moves.

    A machine of order 0 repeats one move, one of order 1 looks at one of the two last moves, one of
    order 2 at both.
    """
    if order == 0:
        return len(set(their)) == 1
    rounds = list(zip(own_moves, their, their[1:], strict=False))
    if order == 1:
        return is_function(
            ((own_move, next_move) for own_move, _, next_move in rounds)
        ) or is_function(((last, next_move) for _, last, next_move in rounds))
    return is_function((((own_move, last), next_move) for own_move, last, next_move in rounds))


def is_function(cases: Iterator[tuple[Any, int]]) -> bool:
    outcomes: dict[Any, int] = {}
    return all(outcomes.setdefault(case, outcome) == outcome for case, outcome in cases)


def expected_move(own_moves: Sequence[int], their: Sequence[int], order: int) -> int:
    """Return the prediction of a reasoner that considers machines up to an order.

    If none of them fits, it expects the last move again.
    """
    if order == 0 or fits_order(own_moves, their, 0):
        return their[-1]
    if fits_order(own_moves, their, 1):
        for by_own, by_their in ((True, False), (False, True)):
            rounds = list(zip(own_moves if by_own else their, their[1:], strict=False))
            next_move = what_followed(own_moves, their, by_own, by_their)
            if is_function(iter(rounds)) and next_move is not None:
                return next_move
    if order == 2 and (next_move := what_followed(own_moves, their, True, True)) is not None:
        return next_move
    return their[-1]


def mindless_predictions(count: int, order: int) -> Mapping[str, Predict]:
    """Return the mindless predictions that must be the same in both members of a pair."""
    rules: dict[str, Predict] = {}
    for shift in range(count):
        rules[f"always option {shift}"] = partial(_constant, shift)
        rules[f"{shift} after our last move"] = partial(_shifted_own, shift, count)
    rules["our first move"] = lambda own_moves, their: own_moves[0]
    if order == 0:
        return rules
    for shift in range(count):
        rules[f"{shift} after its last move"] = partial(_shifted_its, shift, count)
    rules["its most frequent move"] = partial(_most_frequent, count, 1)
    rules["its least frequent move"] = partial(_most_frequent, count, -1)
    rules["its move two rounds ago"] = lambda own_moves, their: their[-2]
    if order == 2:
        rules["what followed its last move"] = partial(what_followed, by_own=False, by_their=True)
        rules["what followed our last move"] = partial(what_followed, by_own=True, by_their=False)
    return rules


def _constant(option: int, own_moves: Sequence[int], their: Sequence[int]) -> int:
    return option


def _shifted_own(shift: int, count: int, own_moves: Sequence[int], their: Sequence[int]) -> int:
    return (own_moves[-1] + shift) % count


def _shifted_its(shift: int, count: int, own_moves: Sequence[int], their: Sequence[int]) -> int:
    return (their[-1] + shift) % count


def _most_frequent(count: int, sign: int, own_moves: Sequence[int], their: Sequence[int]) -> int:
    """Return the partner's most frequent move, or with sign -1 its least frequent one."""
    counts = Counter(their)
    return max(range(count), key=lambda move: (sign * counts[move], -move))


def distinct_histories(chance: Stream, own_moves: Moves, order: int, count: int) -> set[Moves]:
    """Return what machines of exactly this order play against a row of own moves, with the move
    that comes next."""
    tables = _tables(chance, order, count)
    histories = set()
    for table, first in tables:
        their = played_by(table, first, own_moves, count)
        is_right_order = fits_order(own_moves, their, order) and not (
            order and fits_order(own_moves, their, order - 1)
        )
        if is_right_order and what_followed(own_moves, their[:-1], True, True) is not None:
            histories.add(their)
    return histories


def _tables(chance: Stream, order: int, count: int) -> Iterator[tuple[Table, int]]:
    if order == 0:
        return (((move,) * count**2, move) for move in range(count))
    if order == 1:
        replies = list(product(range(count), repeat=count))
        by_own = (tuple(reply[i // count] for i in range(count**2)) for reply in replies)
        by_their = (tuple(reply[i % count] for i in range(count**2)) for reply in replies)
        return ((table, first) for table in (*by_own, *by_their) for first in range(count))
    if count ** (count**2) <= ALL_MACHINES:
        return product(product(range(count), repeat=count**2), range(count))
    return (
        (tuple(chance.below(count) for _ in range(count**2)), chance.below(count))
        for _ in range(MACHINES)
    )
