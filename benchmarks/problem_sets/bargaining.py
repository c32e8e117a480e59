"""Generator of the stored set: problems of each depth for both seats, solved exactly.

`python -m benchmarks.problem_sets.bargaining` prints the set as JSON.
"""

from __future__ import annotations

import sys
from typing import Any

import msgspec
import numpy as np

from sally.core.rules.chance import Stream
from sally.games.bargaining.instances import ENOUGH, TOO_LITTLE, Frozen, Problem
from sally.games.bargaining.solver import SIZE, Rule, mirror_price, rule_of, solve_known_limit
from sally.games.bargaining.values import cost_odds, value_odds

SEED, ROUNDS, EACH = 2026, 20, 20  # EACH problems for each depth and seat
MOST = 10  # at most this many with one partner, so that no depth depends on a single partner
LEAST = 3.0  # the optimum per round is at least this, and this much above random quotes
PARTNERS = ("constant", "truthful", "liar", "grim", "clock", "responsive", "splitter")


def held_worth(rule: Rule, value: int, cost: int, rounds: int) -> float:
    """Return the total earnings of the best fixed quote."""
    return max(
        _play_bids(rule, value, cost, rounds, lambda ask, fixed_bid=bid: fixed_bid)
        for bid in range(SIZE)
    )


def followed_worth(rule: Rule, value: int, cost: int, rounds: int) -> float:
    """Return the total earnings of a player that matches each profitable quote exactly and
    quotes 0 otherwise."""
    return _play_bids(rule, value, cost, rounds, lambda ask: ask if ask < value else 0)


def _play_bids(rule: Rule, value: int, cost: int, rounds: int, bids: Any) -> float:
    ask, total = rule.first(cost), 0.0
    for _ in range(rounds):
        bid = bids(ask)
        total += value - (bid + ask) / 2 if bid >= ask else 0.0
        ask = rule.next_ask(cost, ask, bid)
    return total


def certify(seat: str, value: int, cost: int, partner: str, params: dict[str, Any],
              rounds: int = ROUNDS) -> Problem | None:  # fmt: skip
    """Return the problem with its depth; None if optimal play earns too little, in total or
    compared with random quotes, or if the earnings of simpler strategies do not clearly indicate a
    depth.

    >>> certified("buyer", 70, 30, "constant", {"q": 80}) is None
    True
    """
    rule, is_buyer = rule_of(partner, params), seat == "buyer"
    assert rule is not None
    own_limit = value if is_buyer else mirror_price(True, cost)
    other_limit = cost if is_buyer else mirror_price(True, value)
    solved = solve_known_limit(rule, own_limit, other_limit, rounds)
    held_total = held_worth(rule, own_limit, other_limit, rounds)
    followed = followed_worth(rule, own_limit, other_limit, rounds)
    best, random = solved.optimum, solved.random_worth
    if best < LEAST * rounds or best - random < LEAST * rounds:
        return None
    enough, short = ENOUGH * best, TOO_LITTLE * best
    if held_total >= enough:
        depth = 0
    elif held_total <= short and followed >= enough:
        depth = 1
    elif held_total <= short and followed <= short:
        depth = 2
    else:
        return None
    return Problem("", seat, value, cost, rounds, partner, params, depth, held_total, followed,
                   best, float(np.round(random, 9)))  # fmt: skip


def _params(partner: str, draws: Stream) -> dict[str, Any]:
    """Draw the parameters of a partner one after another, in a fixed order."""
    spans = {
        "constant": {"q": (20, 80)},
        "truthful": {},
        "liar": {"shade": (5, 30)},
        "grim": {"q": (30, 80)},
        "clock": {"start": (70, 100), "step": (1, 6), "margin": (0, 10)},
        "responsive": {"start": (60, 100), "down": (1, 10), "up": (1, 6), "margin": (0, 10)},
        "splitter": {"start": (60, 100), "margin": (0, 10)},
    }[partner]
    return {name: low + draws.below(high - low + 1) for name, (low, high) in spans.items()}


def make(seed: int = SEED, each: int = EACH) -> Frozen:
    """Draw problems, with each partner in turn, until each seat has `each` problems of every
    depth."""
    problems: dict[tuple[int, str], list[Problem]] = {}
    for number in range(100_000):
        draws = Stream(seed, "bargaining", number)
        partner = PARTNERS[number % len(PARTNERS)]
        value = draws.draw(value_odds("uniform"))
        cost = draws.draw(cost_odds("uniform", value))
        seat = ("buyer", "seller")[draws.below(2)]
        problem = certify(seat, value, cost, partner, _params(partner, draws))
        if problem is None:
            continue
        same_kind = problems.setdefault((problem.depth, seat), [])
        if (
            len(same_kind) < each
            and sum(candidate.partner == partner for candidate in same_kind) < MOST
        ):
            same_kind.append(problem)
        if len(problems) == 6 and all(len(group) == each for group in problems.values()):
            break
    ordered = [
        msgspec.structs.replace(member, id=f"d{depth}-{seat}-{n}")
        for (depth, seat), group in sorted(problems.items())
        for n, member in enumerate(group)
    ]
    return Frozen("certified", 1, seed, tuple(ordered))


if __name__ == "__main__":
    encoded = msgspec.json.encode(make())
    sys.stdout.write(msgspec.json.format(encoded, indent=1).decode() + "\n")
