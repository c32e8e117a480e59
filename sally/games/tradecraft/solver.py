"""Certificates: what the players of an instance need to reach their targets, computed before play.

A certificate concerns one craft phase with all hands combined. Units are whole: taking a fraction
from a hand costs its owner the whole unit, because fractions are lost.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import combinations

import msgspec

from sally.games.tradecraft.amounts import Amount
from sally.games.tradecraft.craft_plan import Craft, Plan, best_plan, replay
from sally.games.tradecraft.hands import Hand, holds, union
from sally.games.tradecraft.rulesets import Ruleset

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


def certify(rules: Ruleset, hands: Sequence[Goods], targets: Sequence[Goods]) -> Certificate:
    """Return the certificate of an instance: what each player needs to reach its target, computed
    before play."""
    if len(hands) != len(targets) or len(hands) < 2:
        raise ValueError(
            f"{len(hands)} hands, {len(targets)} targets: give a hand and a target to each of at "
            "least two players."
        )
    table = union(hands)
    seats = []
    for seat, target in enumerate(targets):
        others = union(hand for other_seat, hand in enumerate(hands) if other_seat != seat)
        plan = partial(best_plan, rules, target=target)
        shortest = plan(table, {}, aim="crafts")
        trade = None if shortest is None else plan(hands[seat], others, aim="goods")
        seats.append(_seat(shortest, trade))
    together = _together(rules, table, seats, union(targets))
    return Certificate(tuple(seats), together is not None, together or ())


def _together(
    rules: Ruleset, table: Hand, seats: Sequence[SeatCertificate], targets: Hand
) -> tuple[Craft, ...] | None:
    """Return crafts that make all targets at once, or None; the seats' own plans are tried
    first."""
    if any(seat.chain is None for seat in seats):
        return None
    chains = tuple(step for seat in seats for step in seat.shortest)
    with suppress(ValueError):
        if holds(replay(rules, table, chains), targets):
            return chains
    plan = best_plan(rules, table, {}, targets, "any")
    return None if plan is None else plan.crafts


def _seat(shortest: Plan | None, trade: Plan | None) -> SeatCertificate:
    if shortest is None or trade is None:
        return SeatCertificate(None, None, None, {}, (), ())
    return SeatCertificate(
        chain=len(shortest.crafts),
        units=sum(trade.taken.values()),
        kinds=len(trade.taken),
        needs=dict(sorted(trade.taken.items())),
        shortest=shortest.crafts,
        after_trade=trade.crafts,
    )


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


def refusals(certificate: Certificate) -> list[str]:
    """Return the reasons why an instance may not be used; an empty list means that it may be
    used."""
    reasons = []
    for number, seat in enumerate(certificate.seats, 1):
        if seat.chain is None:
            reasons.append(f"Player {number}'s target cannot be made from all hands together.")
        elif seat.chain == 0:
            reasons.append(f"Player {number}'s target lies ready in a hand.")
        elif seat.units == 0:
            reasons.append(f"Player {number} needs nothing from the others.")
    return reasons
