"""What a seat can know of a hand it cannot see, exactly.

Two nested states of knowledge: by hints and counting (`counted`), and by reading the others' moves
as well, where their policies are declared (`read`, in reading.py). Slots are drawn without
replacement, so they depend on one another; weights are whole numbers, and nothing is rounded.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property

import msgspec

from sally.core.rules.chance import Stream
from sally.games.hanabi.cards import Card
from sally.games.hanabi.rules import Hanabi
from sally.games.hanabi.table import State, View

Hand = tuple[Card, ...]


class Posterior(msgspec.Struct, frozen=True):
    """Weights of every card in every slot; each slot's weights sum to `total`."""

    total: int
    weights: tuple[tuple[int, ...], ...]

    def chance(self, slot: int, card: Card) -> Fraction:
        """How likely a slot holds a card."""
        return Fraction(self.weights[slot][card], self.total)

    def odds(self, slot: int) -> tuple[float, ...]:
        """The chances of all cards in one slot."""
        return tuple(weight / self.total for weight in self.weights[slot])


def seen(game: Hanabi, table: State | View, seat: int) -> tuple[int, ...]:
    """The cards that `seat` sees, counted: on piles, discarded, and in the other hands shown."""
    counts = list(table.gone)
    for colour, height in enumerate(table.piles):
        for rank in range(height):
            counts[colour * game.ranks + rank] += 1
    for other, hand in enumerate(table.hands):
        if other != seat:
            for card in hand:
                counts[card] += 1
    return tuple(counts)


def unseen(game: Hanabi, table: State | View, seat: int) -> tuple[int, ...]:
    """How many cards of each kind `seat` does not see: they are in its hand or in the deck."""
    copies, ranks = game.copies_of, game.ranks
    counts = seen(game, table, seat)
    return tuple(copies[card % ranks] - n for card, n in enumerate(counts))


def counted(game: Hanabi, view: View) -> Posterior:
    """One's own hand, by hints and card counting."""
    return posterior(game, view.marks[view.me], unseen(game, view, view.me))


def counted_by(game: Hanabi, state: State, seat: int) -> Posterior:
    """What `seat` can know of its hand by hints and counting, as the referee sees it."""
    return posterior(game, state.marks[seat], unseen(game, state, seat))


def posterior(game: Hanabi, marks: tuple[int, ...], left: tuple[int, ...]) -> Posterior:
    """The cards of a hand with these marks, drawn from what is left."""
    return Hidden(game, marks, left).posterior


class Hidden:
    """A hidden hand: slots that hints have marked, and the cards that may be in them.

    Cards that fit the same slots form a pool. The number of ways to fill k slots from a pool of m
    cards is m(m-1)...(m-k+1), so sums over all hands run over pools and sets of slots only.
    """

    def __init__(self, game: Hanabi, marks: tuple[int, ...], left: tuple[int, ...]) -> None:
        self.game, self.marks, self.left = game, marks, left
        pools: dict[int, int] = {}
        self.fits = [0] * len(left)
        for card, n in enumerate(left):
            if n > 0:
                slots = sum(1 << i for i, mark in enumerate(marks) if game.allows(mark, card))
                self.fits[card] = slots
                if slots:
                    pools[slots] = pools.get(slots, 0) + n
        self.pools = list(pools.items())

    @cached_property
    def _behind(self) -> list[dict[int, int]]:
        """For each pool, the ways to fill the rest from it and later ones, by slots filled."""
        full = (1 << len(self.marks)) - 1
        table = [{full: 1}]
        for slots, cards in reversed(self.pools):
            later = table[-1]
            here: dict[int, int] = {}
            for filled, ways in later.items():
                for taken in _subsets(filled & slots):
                    weight = ways * _falling(cards, taken.bit_count())
                    if weight:
                        here[filled ^ taken] = here.get(filled ^ taken, 0) + weight
            table.append(here)
        return table[::-1]

    @property
    def total(self) -> int:
        """The number of ways to fill the hand."""
        return self._behind[0].get(0, 0)

    @cached_property
    def posterior(self) -> Posterior:
        """Weights by slot and card."""
        n = len(self.marks)
        by_pool = [dict.fromkeys((slots for slots, _ in self.pools), 0) for _ in range(n)]
        ahead = {0: 1}
        for (slots, cards), behind in zip(self.pools, self._behind[1:], strict=True):
            after: dict[int, int] = {}
            for filled, ways in ahead.items():
                for taken in _subsets(slots & ~filled):
                    weight = ways * _falling(cards, taken.bit_count())
                    now = filled | taken
                    after[now] = after.get(now, 0) + weight
                    whole = weight * behind.get(now, 0)
                    for slot in range(n):
                        if taken >> slot & 1:
                            by_pool[slot][slots] += whole
            ahead = after
        sizes = dict(self.pools)
        return Posterior(
            self.total,
            tuple(
                tuple(
                    by_pool[slot].get(fit, 0) * count // sizes[fit] if fit else 0
                    for fit, count in zip(self.fits, self.left, strict=True)
                )
                for slot in range(n)
            ),
        )

    def draw(self, draws: Stream) -> Hand:
        """A hand, each with its exact chance."""
        hand = [-1] * len(self.marks)
        filled = 0
        for (slots, cards), behind in zip(self.pools, self._behind[1:], strict=True):
            ways = {
                taken: _falling(cards, taken.bit_count()) * behind.get(filled | taken, 0)
                for taken in _subsets(slots & ~filled)
            }
            most = max(ways.values())  # whole numbers beyond the reach of a float
            taken = draws.draw({t: w / most for t, w in ways.items()})
            pool = [
                c for c, fit in enumerate(self.fits) if fit == slots for _ in range(self.left[c])
            ]
            for slot in range(len(hand)):
                if taken >> slot & 1:
                    hand[slot] = pool.pop(draws.below(len(pool)))
            filled |= taken
        return tuple(hand)

    def hands(self) -> Iterator[tuple[Hand, int]]:
        """Every possible hand with its weight."""
        return self._fill((), 1, list(self.left))

    def _fill(self, hand: Hand, weight: int, left: list[int]) -> Iterator[tuple[Hand, int]]:
        slot = len(hand)
        if slot == len(self.marks):
            yield hand, weight
            return
        for card, n in enumerate(left):
            if n > 0 and self.fits[card] >> slot & 1:
                left[card] -= 1
                yield from self._fill((*hand, card), weight * n, left)
                left[card] += 1


def hidden(game: Hanabi, view: View) -> Hidden:
    """One's own hand as far as one knows it."""
    return Hidden(game, view.marks[view.me], unseen(game, view, view.me))


def playable_chance(game: Hanabi, view: View, known: Posterior, slot: int) -> Fraction:
    """How likely a slot can be played now."""
    ranks = game.ranks
    nexts = [c * ranks + height for c, height in enumerate(view.piles) if height < ranks]
    return Fraction(sum(known.weights[slot][card] for card in nexts), known.total)


def _subsets(slots: int) -> Iterator[int]:
    """Every set within a set of slots, the whole first."""
    subset = slots
    while True:
        yield subset
        if not subset:
            return
        subset = (subset - 1) & slots


def _falling(n: int, k: int) -> int:
    """n (n-1) ... (n-k+1), the ways to draw k of n in order."""
    ways = 1
    for i in range(k):
        ways *= n - i
    return ways
