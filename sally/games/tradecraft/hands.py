"""Hands: the goods of a player, as immutable mappings from item to a positive exact amount."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from sally.games.tradecraft.amounts import Amount, BadAmount, plain, read_amount
from sally.games.tradecraft.speech import amount_said, good_said, item_said

Goods = Mapping[str, Amount]


class Hand(Mapping[str, Amount]):
    """An immutable hand of goods; every trade or craft makes a new hand."""

    __slots__ = ("_hash", "goods")
    goods: Final[dict[str, Amount]]  # read it where speed counts, never write to it

    def __init__(self, goods: Goods | Iterable[tuple[str, Amount]] = ()) -> None:
        """Store the positive amounts; raise BadAmount if an amount is negative."""
        amounts = {item: plain(amount) for item, amount in dict(goods).items() if amount}
        for item, amount in amounts.items():
            if amount < 0:
                raise BadAmount(f"A hand cannot hold {amount} {item}.")
        self.goods = amounts
        self._hash: int | None = None

    @classmethod
    def _of(cls, goods: dict[str, Amount]) -> "Hand":
        """Wrap a dictionary that is known to contain only positive, plain amounts, without copying
        it."""
        hand = cls.__new__(cls)
        hand.goods = goods  # type: ignore[misc]
        hand._hash = None
        return hand

    def __getitem__(self, item: str) -> Amount:
        return self.goods[item]

    def __iter__(self) -> Iterator[str]:
        return iter(self.goods)

    def __len__(self) -> int:
        return len(self.goods)

    def __contains__(self, item: object) -> bool:
        return item in self.goods

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Hand):
            return self.goods == other.goods
        return NotImplemented

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset(self.goods.items()))
        return self._hash

    def __repr__(self) -> str:
        return f"Hand({show_goods(self.goods)})"


def show_goods(goods: Goods) -> str:
    """Return goods as text: "2 sticks + 1/2 coal", or "nothing"."""
    return " + ".join(good_said(item, amount) for item, amount in goods.items()) or "nothing"


def read_goods(raw: Mapping[str, object] | Iterable[tuple[str, object]]) -> dict[str, Amount]:
    """Return the goods that a player wrote; if an item is named twice, its amounts are added."""
    goods: dict[str, Amount] = {}
    for item, written in raw.items() if isinstance(raw, Mapping) else raw:
        try:
            amount = read_amount(written)
        except BadAmount as problem:
            raise BadAmount(f"{item}: {problem}") from None
        goods[item] = plain(goods[item] + amount) if item in goods else amount
    return goods


def lacking(hand: Hand, goods: Goods) -> str | None:
    """Return the first reason why the hand cannot give these goods, or None if it can."""
    amounts = hand.goods
    for item, amount in goods.items():
        have = amounts.get(item, 0)
        if amount.numerator <= 0:
            return f"the amount of {item_said(item)} must be more than zero, not {amount}"
        if have.numerator * amount.denominator < amount.numerator * have.denominator:
            needed_text, held_text = good_said(item, amount), amount_said(have) if have else "none"
            return f"{needed_text} would be needed, and the hand holds {held_text}"
    return None


def exchange_goods(hand: Hand, minus: Goods, plus: Goods) -> Hand:
    """Return the hand after giving goods, which it must hold, and receiving others."""
    goods = hand.goods.copy()
    for item, amount in minus.items():
        amount_left = goods.get(item, 0) - amount
        # Numerators carry the sign, and comparing them is quicker than comparing Fractions.
        if amount_left.numerator < 0 or amount.numerator <= 0:
            raise BadAmount(f"Cannot give {amount} {item} out of {hand!r}.")
        if amount_left:
            goods[item] = plain(amount_left)
        else:
            del goods[item]
    for item, amount in plus.items():
        if amount.numerator <= 0:
            raise BadAmount(f"Cannot receive {amount} {item}.")
        goods[item] = plain(goods[item] + amount) if item in goods else plain(amount)
    return Hand._of(goods)


def trade_hands(proposer: Hand, partner: Hand, offer: Goods, request: Goods) -> tuple[Hand, Hand]:
    """Return both hands after the proposer gives the offer and the partner gives the request."""
    return exchange_goods(proposer, offer, request), exchange_goods(partner, request, offer)


def round_down(hand: Hand) -> Hand:
    """Return the hand at the end of a craft phase: amounts rounded down to whole numbers, without
    zeros."""
    if set(map(type, hand.goods.values())) <= {int}:
        return hand
    # int() rounds towards zero, which is down for the positive amounts of a hand.
    whole_amounts = {item: int(amount) for item, amount in hand.goods.items()}
    return Hand._of({item: amount for item, amount in whole_amounts.items() if amount})


def holds(hand: Hand, target: Goods) -> bool:
    """Return whether the hand holds at least the target."""
    amounts = hand.goods
    return all(amounts.get(item, 0) >= amount for item, amount in target.items())


def union(hands: Iterable[Goods]) -> Hand:
    """Return all hands combined."""
    total: dict[str, Amount] = {}
    for hand in hands:
        for item, amount in hand.items():
            total[item] = plain(total.get(item, 0) + amount)
    return Hand._of(total)
