"""Certificates: what the players of an instance need to reach their targets, computed before play.

A certificate concerns one craft phase with all hands combined. Units are whole: taking a fraction
from a hand costs its owner the whole unit, because fractions are lost.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations

import msgspec

from sally.games.tradecraft.amounts import Amount
from sally.games.tradecraft.craft_plan import Craft
from sally.games.tradecraft.hands import holds, union

Goods = Mapping[str, Amount]


class SeatCertificate(msgspec.Struct, frozen=True):
    """What one player needs to reach its target; fields are None if the target is out of reach."""

    chain: int | None  # fewest crafts from all hands together
    units: int | None  # fewest goods from others; 0: the player's own hand is enough
    kinds: int | None  # fewest kinds among those goods
    needs: dict[str, int]  # one set of goods from others that reaches both minima
    shortest: tuple[Craft, ...]  # crafts from all hands together, as few as possible
    after_trade: tuple[Craft, ...]  # crafts from the player's own hand and `needs`


class Certificate(msgspec.Struct, frozen=True):
    """The solver's results for an instance, with plans that can be replayed."""

    seats: tuple[SeatCertificate, ...]
    joint: bool  # whether all targets can be made at once from all hands together
    together: tuple[Craft, ...]  # crafts that do so


def trades_needed(hands: Sequence[Goods], seat: int, certificate: SeatCertificate) -> int | None:
    """Return the smallest number of trades that give a player the goods it needs from others to
    reach its target, as computed in its certificate, or None if the target is out of reach.

    A trade is with one player and may include any amount of goods, so this is the smallest number
    of other players who together hold the goods.
    """
    if certificate.chain is None:
        return None
    others = [hand for number, hand in enumerate(hands) if number != seat]
    for n_trades in range(len(others) + 1):
        for partner_hands in combinations(others, n_trades):
            if holds(union(partner_hands), certificate.needs):
                return n_trades
    raise ValueError(
        "The other players do not hold the goods that the certified plan takes from them."
    )
