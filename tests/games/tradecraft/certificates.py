"""The claims of a certificate, replayed by the exact rules."""

from __future__ import annotations

from collections.abc import Sequence

from sally.games.tradecraft.craft_plan import replay
from sally.games.tradecraft.hands import Hand, exchange_goods, holds, union
from sally.games.tradecraft.rulesets import Ruleset
from sally.games.tradecraft.solver import Certificate, Goods


def verify(
    rules: Ruleset, hands: Sequence[Goods], targets: Sequence[Goods], certificate: Certificate
) -> list[str]:
    """Replay every plan of a certificate by the exact rules; return the claims that do not hold."""
    table, wrong = union(hands), []
    plans = [
        (f"player {n + 1}, shortest", table, s.shortest, targets[n])
        for n, s in enumerate(certificate.seats)
        if s.chain is not None
    ]
    for number, seat in enumerate(certificate.seats):
        others = union(hand for index, hand in enumerate(hands) if index != number)
        if seat.chain is None:
            continue
        if seat.chain != len(seat.shortest):
            wrong.append(f"Player {number + 1}: the chain is not as long as it says.")
        if (sum(seat.needs.values()), len(seat.needs)) != (seat.units, seat.kinds):
            wrong.append(f"Player {number + 1}: units or kinds differ from the goods listed.")
        if not holds(others, seat.needs):
            wrong.append(f"Player {number + 1}: the others do not hold what is needed.")
        own_hand = exchange_goods(Hand(hands[number]), {}, seat.needs)
        plans.append(
            (f"player {number + 1}, after trade", own_hand, seat.after_trade, targets[number])
        )
    if certificate.joint:
        plans.append(("all players", table, certificate.together, union(targets)))
    for player, start, crafts, target in plans:
        try:
            end = replay(rules, start, crafts)
        except ValueError as problem:
            wrong.append(f"Plan of {player}: {problem}")
        else:
            if not holds(end, target):
                wrong.append(f"Plan of {player}: it does not end with the target.")
    return wrong
