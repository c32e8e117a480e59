"""Pairs of bargaining: what the haggler does, what the members share, and what is refused."""

from __future__ import annotations

import msgspec
import pytest

import sally
from sally.analysis.pairs.certificate import certify
from sally.core.errors import BadInput
from sally.core.log.events import Moved, PlayerSpec
from sally.core.rules.pair import Member, draw_pair
from sally.games.bargaining.pairs import PAIRS, changes_after, depends_on, order_of
from sally.games.bargaining.partners import CASES, case_of

(RECIPE,) = PAIRS


def quotes_of(member: Member) -> tuple[list[int], list[int]]:
    return [moves["buyer"] for moves in member.past], [moves["seller"] for moves in member.past]


def play_haggler(quote: int, rounds: int, seat: str = "seller") -> list[int]:
    """Return the quotes of a haggler against a constant quote, in the seller's frame."""
    other_seat = "buyer" if seat == "seller" else "seller"
    episode = sally.play(
        "bargaining",
        {other_seat: PlayerSpec("constant", {"q": quote}), seat: "haggler"},
        rounds=rounds,
        talk="none",
        value=90,
        cost=10,
    )
    return [
        event.action
        for event in episode.events
        if isinstance(event, Moved) and event.seat == seat and isinstance(event.action, int)
    ]


def follow_changes(changes: tuple[int, ...], first: int, bids: list[int]) -> list[int]:
    """Return the asks in the rounds of these bids."""
    by_case = dict(zip(CASES, changes, strict=True))
    asks = [first]
    for index, bid in enumerate(bids[:-1]):
        case = case_of(bids[index - 1] if index else None, bid, asks[-1])
        asks.append(asks[-1] + by_case[case])
    return asks


def test_haggler_concedes_until_a_trade_and_then_takes_more() -> None:
    """Changes are -2 without a trade and 2 with one, as the buyer never raises its bid."""
    assert play_haggler(44, 5) == [60, 58, 56, 58, 56]


def test_haggler_in_the_other_seat_is_mirrored() -> None:
    assert play_haggler(44, 5, "buyer") == [40, 42, 44, 42, 44]


def test_changes_must_be_four() -> None:
    with pytest.raises(BadInput, match="changes must be 4 amounts"):
        sally.play(
            "bargaining",
            {"buyer": "half", "seller": PlayerSpec("haggler", {"changes": [1]})},
            talk="none",
        )


def test_order_is_the_number_of_parts_that_matter() -> None:
    bids = [50, 54, 50, 54, 54, 50, 58]
    assert order_of(bids, follow_changes((4, 4, 4, 4), 40, bids)) == 0
    by_trade = follow_changes((-4, -4, 8, 8), 52, bids)
    assert order_of(bids, by_trade) == 1 and depends_on(bids, by_trade, True, False)
    assert order_of(bids, follow_changes((-4, 4, 8, -8), 52, bids)) == 2


@pytest.mark.parametrize("order", RECIPE.orders)
def test_members_share_bids_asks_and_earnings(order: int) -> None:
    for number in range(5):
        pair = draw_pair(RECIPE, order, 3, number)
        assert pair.members[0].params == pair.members[1].params
        (bids, asks), (other_bids, other_asks) = (quotes_of(member) for member in pair.members)
        assert bids == other_bids and asks != other_asks
        assert sorted(asks) == sorted(other_asks) and asks[-2:] == other_asks[-2:]
        for member_asks in (asks, other_asks):
            assert order_of(bids, member_asks) == order
            assert len(set(changes_after(bids, member_asks, True, True))) == 1


def test_seller_outside_the_declared_class_has_no_certificate() -> None:
    pair = draw_pair(RECIPE, 2, 3, 0)
    members = []
    for member in pair.members:
        bids, _ = quotes_of(member)
        asks = [bid + 4 for bid in bids[:-1]] + [bids[-1]]
        past = tuple({"buyer": b, "seller": a} for b, a in zip(bids, asks, strict=True))
        members.append(Member(member.params, past, member.others))
    changed = msgspec.structs.replace(pair, members=(members[0], members[1]))
    assert certify(pair).holds
    assert any(problem.startswith("C3") for problem in certify(changed).problems)
