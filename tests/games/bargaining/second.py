"""The rules of bargaining once more, from the protocol alone; nothing of the game is imported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass
class Books:
    """A referee's books: value, cost and running totals."""

    value: int
    cost: int
    buyer: int = 0
    seller: int = 0

    def round(self, bid: int, ask: int, up: bool) -> int | None:
        """Clear one round: the price, or None; a half goes up or down as the coin says."""
        if bid < ask:
            return None
        total = bid + ask
        price = total // 2 + (1 if total % 2 == 1 and up else 0)
        self.buyer += self.value - price
        self.seller += price - self.cost
        return price


def cleared(
    value: int, cost: int, rounds: Sequence[tuple[int, int, bool]]
) -> tuple[list[int | None], int, int]:
    """The prices of rounds of (bid, ask, coin) and both totals."""
    books = Books(value, cost)
    prices = [books.round(*current_round) for current_round in rounds]
    return prices, books.buyer, books.seller
