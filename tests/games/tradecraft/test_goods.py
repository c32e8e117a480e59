"""Goods through the match: conserved but for recipes and flooring, to the last fraction."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from sally.core.errors import IllegalMove
from sally.core.match.player import Decision
from sally.core.rules.chance import Stream
from sally.core.rules.menu import example
from sally.games.tradecraft.actions import Answer, Craft, Propose, goods
from sally.games.tradecraft.crafting import matching
from sally.games.tradecraft.hands import Hand
from tests.games.tradecraft.table import THREE, match_of

AMOUNTS = ("1", "2", "1/2", "2/3", "0.5", "0", "-1", "nan", "1/0", "1e9", "999999999", "")
ITEMS = ("coal", "raw_iron", "oak_planks", "stick", "nonsense", "birch_planks")


def total(hands: Any) -> Counter[str]:
    table: Counter[str] = Counter()
    for hand in hands:
        table.update({item: Fraction(amount) for item, amount in hand.items()})
    return Counter({item: amount for item, amount in table.items() if amount})


def wild(draws: Stream) -> tuple[tuple[str, str], ...]:
    return tuple((draws.pick(ITEMS), draws.pick(AMOUNTS)) for _ in range(draws.below(3)))


def try_anything(turn: Any, draws: Stream) -> Any:
    """A legal move, a wild one, or rubbish."""
    if draws() < 0.5:
        return example(turn.options, draws)
    if turn.view.phase == "propose":
        return Propose(draws.pick(("p1", "p2", "p3", "p4")), wild(draws), wild(draws))
    if turn.view.phase == "craft":
        return Craft(wild(draws), draws.pick((*ITEMS, "torch")), draws.below(6) - 1)
    return Answer(draws.pick(("accept", "reject", "perhaps")))


def compute_expected(match: Any, before: Any, moves: Any) -> Counter[str]:
    """All goods after a step, worked out from the recipes alone."""
    table = total(before.hands)
    for seat, action in moves.items():
        if not isinstance(action, Craft):
            continue
        hand = before.hands[match.game.number[seat]]
        hand_after = match.game.crafting(hand, action)
        if isinstance(hand_after, Hand):
            inputs = goods(action.inputs)
            assert matching(match.game.rules, inputs, action.output, action.amount) is not None
            table.subtract({i: Fraction(a) for i, a in inputs.items()})
            table.update({action.output: Fraction(action.amount)})
    return Counter({item: amount for item, amount in table.items() if amount})


@given(seed=st.integers(0, 2**40))
@settings(max_examples=40, deadline=None)
def test_goods_change_only_by_recipes_and_flooring(seed: int) -> None:
    match = match_of(THREE, max_turns=4)
    draws, refused = Stream("goods", seed), 0
    while asks := match.asks():
        turn = asks[0]
        state_before = match.state
        try:
            match.answer(turn.id, Decision(try_anything(turn, draws)))
        except (IllegalMove, ValueError):
            refused += 1
            assert match.state is state_before  # bad input changes nothing
    for step in match.replay.steps():
        table = compute_expected(match, step.before, step.moves)
        counts = total(step.after.hands)
        if step.before.phase == "craft" and step.after.phase != "craft":
            assert all(amount.denominator == 1 for amount in counts.values())
            assert all(0 <= table[item] - counts[item] < len(THREE) for item in table)
            assert set(counts) <= set(table)
        else:
            assert counts == table
        for hand in step.after.hands:
            assert all(amount > 0 for amount in hand.values())
