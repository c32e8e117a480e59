"""Exact expected payoffs, best replies and equilibria of level-k games."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import floor, prod
from typing import TYPE_CHECKING

from sally.core.errors import BadInput
from sally.core.rules.game import Seat
from sally.games.level_k.payoffs import Contest, Request
from sally.games.level_k.rules import LevelGame

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Odds = Mapping[int, float]  # moves in rising order, none with chance 0: equal odds give equal draws
SAME = 1e-9  # expected payoffs closer than this are tied
MOST_CASES = 50_000  # combinations of the others' moves that are gone through


def evenly(moves: Iterable[int]) -> Odds:
    """Return equal probabilities for these moves."""
    listed = sorted(moves)
    return {move: 1 / len(listed) for move in listed}


def mix_odds(parts: Sequence[tuple[float, Odds]]) -> Odds:
    """Return the weighted mixture of distributions; the weights need not sum to 1."""
    total = sum(weight for weight, _ in parts)
    chances: dict[int, float] = {}
    for weight, odds in parts:
        for move, p in odds.items():
            chances[move] = chances.get(move, 0.0) + weight * p / total
    return {move: chances[move] for move in sorted(chances) if chances[move] > 0}


def mean(odds: Odds) -> float:
    """Return the expected value of a move, where moves are numbers."""
    return sum(move * p for move, p in odds.items())


@lru_cache(maxsize=256)
def pay_table(game: LevelGame, seat: Seat) -> NDArray[np.float64]:
    """Return a seat's payoffs in a two-player game, indexed by the menu positions (own,
    other's)."""
    import numpy as np  # heavy, and not needed to list or play the game

    n = game.number[seat]
    (them,) = game.others(seat)
    rows = [
        [
            game.pays.pay((own_move, their) if n == 0 else (their, own_move))[n]
            for their in game.menu(them)
        ]
        for own_move in game.menu(seat)
    ]
    return np.array(rows, dtype=float)


def worths(game: LevelGame, seat: Seat, others: Sequence[Odds]) -> list[float] | None:
    """Return each move's expected payoff if the others draw their moves from `others`.

    None if the others have too many combinations of moves to enumerate.
    """
    if len(others) == 1:
        (them,) = game.others(seat)
        chances = [others[0].get(move, 0.0) for move in game.menu(them)]
        return [float(value) for value in pay_table(game, seat) @ chances]
    if prod(len(odds) for odds in others) > MOST_CASES // len(game.menu(seat)):
        return None
    n, menu = game.number[seat], game.menu(seat)
    total = [0.0] * len(menu)
    for case in product(*(odds.items() for odds in others)):
        moves, chance = tuple(move for move, _ in case), prod(p for _, p in case)
        for i, own_move in enumerate(menu):
            total[i] += chance * game.pays.pay((*moves[:n], own_move, *moves[n:]))[n]
    return total


def best_replies(game: LevelGame, seat: Seat, others: Sequence[Odds]) -> tuple[int, ...] | None:
    """Return the moves with the highest expected payoff against these probabilities; None if the
    others have too many combinations of moves to enumerate."""
    return _best(game, seat, tuple(tuple(odds.items()) for odds in others))


@lru_cache(maxsize=4096)
def _best(
    game: LevelGame, seat: Seat, others: tuple[tuple[tuple[int, float], ...], ...]
) -> tuple[int, ...] | None:
    values = worths(game, seat, [dict(odds) for odds in others])
    if values is None:
        return None
    top = max(values) - SAME
    return tuple(move for move, w in zip(game.menu(seat), values, strict=True) if w >= top)


def nearest(number: float | Fraction, menu: Sequence[int]) -> int:
    """Return the move nearest to a number; if two are equally near, the larger."""
    return min(max(floor(number + Fraction(1, 2)), menu[0]), menu[-1])


# --- equilibria -----------------------------------------------------------------------------------


def request_equilibrium(pays: Request) -> Odds:
    """Return the symmetric equilibrium of the request game.

    Starting at the highest number and descending in steps of the gap, each number x gets the
    probability (high - x + gap) / bonus, which makes requesting x - gap pay as much as requesting
    the highest number. The descent ends when the probabilities sum to 1.
    """
    chances: dict[int, float] = {}
    chance_left = 1.0
    for x in range(pays.high, pays.low - 1, -pays.gap):
        last = x - pays.gap < pays.low
        chances[x] = (
            chance_left if last else min(chance_left, (pays.high - x + pays.gap) / pays.bonus)
        )
        chance_left -= chances[x]
        if chance_left <= SAME:
            break
    return {x: chances[x] for x in sorted(chances)}


@lru_cache(maxsize=256)
def equilibrium(game: LevelGame, seat: Seat) -> Odds:
    """Return a seat's equilibrium move probabilities; in a contest, the lowest equilibrium
    number."""
    if isinstance(game.pays, Request):
        return request_equilibrium(game.pays)
    if isinstance(game.pays, Contest):
        agreed = agreements(game)
        if not agreed:
            raise BadInput(
                "this contest has no symmetric equilibrium in which all players name the same "
                "number"
            )
        return {agreed[0]: 1.0}
    from sally.stats.zero_sum import maximin_odds  # loads numpy, which playing does not need

    menu = game.menu(seat)
    return {menu[place]: p for place, p in maximin_odds(pay_table(game, seat)).items()}


def agreements(game: LevelGame) -> tuple[int, ...]:
    """Return every number of a contest that is a best reply if all others name the same number."""
    seat, numbers = game.seats[0], []
    for number in game.menu(seat):
        replies = best_replies(game, seat, [{number: 1.0}] * (len(game.seats) - 1))
        if replies is not None and number in replies:
            numbers.append(number)
    return tuple(numbers)
