"""Sets of cards as bits, and a memory that keeps for every card in a hand what it may be."""

from __future__ import annotations

from collections.abc import Sequence

from sally.games.hanabi.bots.memory import Memory, of_the_table
from sally.games.hanabi.rules import Hanabi
from sally.games.hanabi.table import Discarded, Played

Cards = int  # a set of cards, one bit each


def is_one(cards: Cards) -> bool:
    """Whether a set holds exactly one card."""
    return cards != 0 and cards & (cards - 1) == 0


def within(cards: Cards, others: Cards) -> bool:
    """Whether all of a set lie in another, and there are any."""
    return cards != 0 and not cards & ~others


class IdentityMemory(Memory):
    """What every card may be, by what all have seen and heard."""

    def __init__(self, game: Hanabi, me: int) -> None:
        ranks, colours = game.ranks, game.colours
        self.everything: Cards = (1 << game.highest) - 1
        by_colour = [((1 << ranks) - 1) << c * ranks for c in range(colours)]
        by_rank = [sum(1 << c * ranks + r for c in range(colours)) for r in range(ranks)]
        self.values = (*by_colour, *by_rank)  # the cards a hint fits, by its value
        self.copies = [game.copies_of[card % ranks] for card in range(game.highest)]
        self.may_be: dict[int, Cards] = {}
        self.hints: dict[int, Cards] = {}  # what the hints alone leave open
        super().__init__(game, me)

    def met(self, id: int) -> None:
        self.may_be[id] = self.hints[id] = self.everything

    def settled(self, event: Played | Discarded) -> None:
        del self.may_be[event.id], self.hints[event.id]

    def narrow(self, id: int, cards: Cards) -> None:
        """Keep only these identities of a card; what contradicts itself falls back on the hints."""
        self.may_be[id] = (self.may_be[id] & cards) or self.hints[id]

    def hear(self, id: int, value: int, fits: bool) -> None:
        """Take in what a hint says of one card."""
        cards = self.values[value] if fits else ~self.values[value]
        self.hints[id] &= cards
        self.narrow(id, cards)

    def rank_of(self, cards: Cards) -> int:
        """The rank that all of a set have, or -1."""
        return self._common(cards, range(self.game.colours, self.game.colours + self.game.ranks))

    def colour_of(self, cards: Cards) -> int:
        """The colour that all of a set have, or -1."""
        return self._common(cards, range(self.game.colours))

    def _common(self, cards: Cards, values: Sequence[int]) -> int:
        for n, value in enumerate(values):
            if within(cards, self.values[value]):
                return n
        return -1

    def exhausted(self) -> Cards:
        """The cards of which every copy is gone or known to be in some hand."""
        found, known = self.all_gone(), dict[Cards, int]()
        for cards in self.may_be.values():
            if not cards & (cards - 1):  # one card, or none
                known[cards] = known.get(cards, 0) + 1
        known.pop(0, None)
        for cards, n in known.items():
            card = cards.bit_length() - 1
            if self.gone[card] + n >= self.copies[card]:
                found |= cards
        return found

    @of_the_table
    def all_gone(self) -> Cards:
        """The cards of which every copy is gone."""
        return sum(1 << card for card, n in enumerate(self.gone) if n >= self.copies[card])

    @of_the_table
    def on_piles(self) -> Cards:
        """The cards that have been played."""
        ranks = self.game.ranks
        return sum(((1 << height) - 1) << c * ranks for c, height in enumerate(self.piles))

    @of_the_table
    def last_copies(self) -> Cards:
        """The cards of which one copy is left."""
        return sum(1 << c for c, n in enumerate(self.gone) if n == self.copies[c] - 1)
