"""Pairs of bargaining: the same bids and results, after which the seller's next ask differs.

The seller changes its ask after each round; the change depends on whether a unit was traded and on
whether the buyer had raised its bid (order 1: on one of the two, order 2: on both). Both members
have the same bids, the same asks in another order, the same number of trades, the same earnings and
the same last round. Prices are even, so no coin is tossed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import combinations, pairwise, product
from typing import Any

import numpy as np
import numpy.typing as npt

from sally.core.errors import BadInput
from sally.core.log.events import PlayerSpec
from sally.core.rules.chance import Stream
from sally.core.rules.pair import MOST_TRIES, Member, PairRecipe, QuestionKind
from sally.games.bargaining.partners import CASES, case_of
from sally.games.bargaining.rules import BUYER, SELLER, Bargaining, State, View
from sally.games.bargaining.solver import rule_of
from sally.games.bargaining.spec import best_replies
from sally.games.bargaining.values import GAP, HIGHEST

ROUNDS = 8  # before the one that is asked about
PRICE_STEP = 4  # all prices of a pair differ by multiples of it
CHANGES_1 = (-16, -12, -8, -4, 0, 4, 8, 12, 16)  # of the ask, at order 1
CHANGES_2 = (-8, -4, 0, 4, 8)
LOWEST, HIGHEST_ASK = 20, 80  # the asks are from here to there
BID_LEVELS = 7
FIRST_STEPS = 5  # between the first bid and the first ask, at most

Prices = tuple[int, ...]
Ints = npt.NDArray[np.int64]
ASK_CODES: Ints = np.array([(ask + 17) ** 7 for ask in range(HIGHEST + 1)])


# --- what happened --------------------------------------------------------------------------------


def cases_of(bids: Sequence[int], asks: Sequence[int]) -> list[tuple[bool, bool]]:
    """Return for each round whether a unit was traded, and whether the bid had been raised."""
    return [
        case_of(bids[index - 1] if index else None, bids[index], asks[index])
        for index in range(len(asks))
    ]


def changes_after(
    bids: Sequence[int], asks: Sequence[int], by_trade: bool, by_raise: bool
) -> list[int]:
    """Return the changes that followed earlier rounds like the last one, the latest first.

    Rounds are alike if both had a trade or none (`by_trade`), and if the bid was raised in both or
    in none (`by_raise`).
    """
    cases = cases_of(bids, asks)
    last = cases[-1]
    return [
        asks[index + 1] - asks[index]
        for index in range(len(asks) - 2, -1, -1)
        if (not by_trade or cases[index][0] == last[0])
        and (not by_raise or cases[index][1] == last[1])
    ]


def depends_on(bids: Sequence[int], asks: Sequence[int], by_trade: bool, by_raise: bool) -> bool:
    """Return whether all changes of the ask follow from the named parts of a round."""
    outcomes: dict[tuple[bool, bool], int] = {}
    cases = cases_of(bids, asks)
    return all(
        outcomes.setdefault((by_trade and case[0], by_raise and case[1]), ask_after - ask_before)
        == ask_after - ask_before
        for case, ask_before, ask_after in zip(cases, asks, asks[1:], strict=False)
    )


SINGLE = ((True, False), (False, True))


def order_of(bids: Sequence[int], asks: Sequence[int]) -> int | None:
    """Return how many parts of a round the changes depend on; None if others matter."""
    if depends_on(bids, asks, False, False):
        return 0
    if any(depends_on(bids, asks, *parts) for parts in SINGLE):
        return 1
    return 2 if depends_on(bids, asks, True, True) else None


# --- construction ---------------------------------------------------------------------------------


@cache
def _tables(order: int) -> Ints:
    """Return the changes of all sellers of an order, one row for each, one column for each case."""
    if order == 2:
        return np.array(list(product(CHANGES_2, repeat=len(CASES))))
    return np.array(
        [
            [if_so if case[part] else if_not for case in CASES]
            for part, (if_not, if_so) in product((0, 1), product(CHANGES_1, repeat=2))
        ]
    )


def _all_asks(bids: Prices, order: int) -> Ints:
    """Return the asks of all sellers of an order against a row of bids, with the ask after them.

    Asks stay within bounds, and the last case occurred before, so the next change is known.
    """
    starts = bids[0] + PRICE_STEP * np.arange(-FIRST_STEPS, FIRST_STEPS + 1)
    tables = np.repeat(_tables(order), len(starts), axis=0)
    asks = [np.tile(starts, len(tables) // len(starts))]
    cases = []
    rows = np.arange(len(tables))
    for index, bid in enumerate(bids):
        is_raised = index > 0 and bid > bids[index - 1]
        cases.append(2 * (bid >= asks[-1]) + is_raised)  # the index in CASES
        asks.append(asks[-1] + tables[rows, cases[-1]])
    all_asks, all_cases = np.array(asks).T, np.array(cases).T
    is_allowed = (
        (all_asks.min(axis=1) >= LOWEST)
        & (all_asks.max(axis=1) <= HIGHEST_ASK)
        & (all_cases[:, :-1] == all_cases[:, -1:]).any(axis=1)
    )
    allowed: Ints = all_asks[is_allowed]
    return allowed


def _match(bids: Prices, all_asks: Ints) -> Iterator[list[Prices]]:
    """Yield groups of sellers that probably have the same asks in another order, the same number of
    trades, the same earnings and the same last two asks; `_are_pair` makes sure."""
    past = all_asks[:, :-1]
    is_traded = past <= np.array(bids)
    earned = np.where(is_traded, past + np.array(bids), 0).sum(axis=1)
    keys = (
        ASK_CODES[past].sum(axis=1)
        + 1_000_003 * is_traded.sum(axis=1)
        + 1_000_000_007 * earned
        + 998_244_353 * past[:, -1]
        + 777_767_777 * past[:, -2]
    )
    rows = np.argsort(keys, kind="stable")
    next_asks, keys = all_asks[rows, -1], keys[rows]
    is_same = keys[1:] == keys[:-1]
    differs = np.flatnonzero(is_same & (next_asks[1:] != next_asks[:-1]))
    for key in np.unique(keys[differs]):
        group = rows[np.searchsorted(keys, key) : np.searchsorted(keys, key, "right")]
        yield sorted({tuple(map(int, all_asks[row])) for row in group})


def _draw_bids(chance: Stream) -> Prices:
    lowest = 38 + chance.below(PRICE_STEP)
    return tuple(lowest + PRICE_STEP * chance.below(BID_LEVELS) for _ in range(ROUNDS))


def _draw(chance: Stream, order: int) -> tuple[Member, Member]:
    for _ in range(MOST_TRIES):
        bids = _draw_bids(chance)
        choices = [
            (first, second)
            for members in _match(bids, _all_asks(bids, order))
            for first, second in combinations(members, 2)
            if _are_pair(bids, first, second, order)
        ]
        if choices:
            return _members(chance, bids, chance.pick(choices))
    raise BadInput(f"No pair of bargaining of order {order} was found in {MOST_TRIES} tries.")


def _results(bids: Prices, asks: Prices) -> tuple[Any, ...]:
    """Return the asks, the number of trades, the sum of their prices, and the last round."""
    past = asks[:-1]
    prices = [(bid + ask) // 2 for bid, ask in zip(bids, past, strict=True) if bid >= ask]
    return sorted(past), len(prices), sum(prices), past[-1]


def _are_pair(bids: Prices, first: Prices, second: Prices, order: int) -> bool:
    """Return whether two rows of asks need the order, and mindless predictions do not tell them
    apart."""
    if first[-1] == second[-1] or _results(bids, first) != _results(bids, second):
        return False
    if {order_of(bids, asks[:-1]) for asks in (first, second)} != {order}:
        return False
    right = {first[-1], second[-1]}
    return all(
        predict(bids, first[:-1]) == predict(bids, second[:-1])
        for predict in _predictors(order).values()
    ) and not any(
        predict(bids, asks[:-1]) in right
        for predict in FROM_THE_START.values()
        for asks in (first, second)
    )


def _members(
    chance: Stream, bids: Prices, histories: tuple[Prices, Prices]
) -> tuple[Member, Member]:
    highest = max(*bids, *histories[0], *histories[1])
    lowest = min(min(histories[0]), min(histories[1]))
    value = highest + 10 + chance.below(HIGHEST - highest - 10)  # trades earn two digits
    params = {
        "rounds": ROUNDS + 1,
        "talk": "none",
        "prior_told": False,
        "value": value,
        "cost": min(value - GAP, chance.below(lowest)),
    }
    first, second = (
        Member(
            params,
            tuple({BUYER: bid, SELLER: ask} for bid, ask in zip(bids, asks, strict=False)),
            {SELLER: PlayerSpec("haggler", _haggler(bids, asks))},
        )
        for asks in histories
    )
    return first, second


def _haggler(bids: Prices, asks: Prices) -> dict[str, Any]:
    """Return the parameters of the seller: what was seen, and no change in unseen cases."""
    changes = dict.fromkeys(CASES, 0)
    for case, ask_before, ask_after in zip(cases_of(bids, asks[:-1]), asks, asks[1:], strict=False):
        changes[case] = ask_after - ask_before
    return {"start": asks[0], "changes": [changes[case] for case in CASES]}


# --- answers --------------------------------------------------------------------------------------


def _history(view: View) -> tuple[list[int], list[int]]:
    rounds = [(past.bid, past.ask) for past in view.past]
    return [bid for bid, _ in rounds if bid is not None], [
        ask for _, ask in rounds if ask is not None
    ]


def _truth(game: Bargaining, state: State, others: Mapping[str, PlayerSpec]) -> int:
    """Return the last ask with the seller's declared change."""
    rounds = list(state.past)
    bids = [past.bid for past in rounds if past.bid is not None]
    last_ask = rounds[-1].ask
    assert last_ask is not None
    case = case_of(bids[-2], bids[-1], last_ask)
    return int(last_ask + others[SELLER].params["changes"][CASES.index(case)])


def _best_moves(game: Bargaining, view: View, predicted: int) -> tuple[int, ...]:
    return best_replies(game, view, predicted) or ()


def _minds(game: Bargaining, view: View, order: int) -> Iterator[int]:
    """Yield the next ask of every seller that fits: those whose change depends on trades and raised
    bids, and the declared rules with any cost."""
    bids, asks = _history(view)
    if depends_on(bids, asks, True, True):
        changes = changes_after(bids, asks, True, True)
        yield from [asks[-1] + changes[0]] if changes else range(HIGHEST + 1)
    for rule in _declared_rules(asks[0]):
        for cost in range(asks[0] + 1):
            if rule.first(cost) == asks[0] and all(
                rule.next_ask(cost, ask, bid) == ask_after
                for bid, ask, ask_after in zip(bids, asks, asks[1:], strict=False)
            ):
                yield rule.next_ask(cost, asks[-1], bids[-1])


def _declared_rules(first: int) -> Iterator[Any]:
    """Yield the declared rules that begin with an ask, with other parameters of the usual size."""
    yield rule_of("constant", {"q": first})
    yield rule_of("grim", {"q": first})
    yield rule_of("splitter", {"start": first})
    for step in range(1, 11):
        yield rule_of("clock", {"start": first, "step": step})
    for down, rise in product(range(11), repeat=2):
        yield rule_of("responsive", {"start": first, "down": down, "up": rise})


def _reason(game: Bargaining, view: View, order: int) -> int:
    """Return the prediction of a reasoner that considers sellers up to an order.

    If no seller of that order fits, it expects the last ask again.
    """
    bids, asks = _history(view)
    needed = order_of(bids, asks)
    if needed == 0 and len(asks) > 1:
        return asks[-1] + asks[-1] - asks[-2]
    if needed is None or needed > order:
        return asks[-1]
    for parts in (*SINGLE, (True, True)):
        changes = changes_after(bids, asks, *parts)
        if depends_on(bids, asks, *parts) and changes:
            return asks[-1] + changes[0]
    return asks[-1]


# --- rules that do not ask what the seller reacts to ----------------------------------------------

Predict = Callable[[Sequence[int], Sequence[int]], int | None]


def _predictors(order: int) -> Mapping[str, Predict]:
    """Return the mindless predictions that must be the same in both members of a pair."""
    rules: dict[str, Predict] = {
        "its last ask": lambda bids, asks: asks[-1],
        "our last bid": lambda bids, asks: bids[-1],
        "our highest bid": lambda bids, asks: max(bids),
        "halfway between the last bid and ask": lambda bids, asks: (bids[-1] + asks[-1] + 1) // 2,
        "its ask before the last": lambda bids, asks: asks[-2],
        "its last change again": lambda bids, asks: 2 * asks[-1] - asks[-2],
        "its last change undone": lambda bids, asks: asks[-2],
        "its lowest ask": lambda bids, asks: min(asks),
        "its highest ask": lambda bids, asks: max(asks),
        "its mean ask": lambda bids, asks: round(sum(asks) / len(asks)),
        "its most frequent ask": lambda bids, asks: _commonest(asks),
        "its most frequent change": lambda bids, asks: asks[-1] + _commonest(_changes(asks)),
        "its largest concession": lambda bids, asks: asks[-1] + min(_changes(asks)),
        "its largest rise": lambda bids, asks: asks[-1] + max(_changes(asks)),
        "our last change": lambda bids, asks: asks[-1] + bids[-1] - bids[-2],
        "our last change, the other way round": lambda bids, asks: asks[-1] - bids[-1] + bids[-2],
    }
    if order == 2:
        rules["what followed a round with the same result"] = partial(_change_after, True, False)
        rules["what followed a bid changed alike"] = partial(_change_after, False, True)
    return rules


FROM_THE_START: Mapping[str, Predict] = {
    "its first ask": lambda bids, asks: asks[0],
    "its mean change": lambda bids, asks: asks[-1] + round((asks[-1] - asks[0]) / (len(asks) - 1)),
}
"""Predictions that may differ between the members, but are right in neither."""


def _changes(asks: Sequence[int]) -> list[int]:
    return [ask_after - ask_before for ask_before, ask_after in pairwise(asks)]


def _commonest(numbers: Sequence[int]) -> int:
    counts = Counter(numbers)
    return max(sorted(counts), key=lambda number: counts[number])


def _change_after(
    by_trade: bool, by_raise: bool, bids: Sequence[int], asks: Sequence[int]
) -> int | None:
    changes = changes_after(bids, asks, by_trade, by_raise)
    return asks[-1] + changes[0] if changes else None


def _answer(predict: Predict, game: Bargaining, view: View, question: QuestionKind) -> int | None:
    predicted = predict(*_history(view))
    if predicted is None or question == "know":
        return predicted
    return next(iter(_best_moves(game, view, predicted)), None)


def _bid_share(quarters: int, game: Bargaining, view: View, question: QuestionKind) -> int:
    assert view.limit is not None
    return view.limit * quarters // 4


def _rules(order: int) -> Mapping[str, Callable[..., Any]]:
    rules: dict[str, Callable[..., Any]] = {
        name: partial(_answer, predict) for name, predict in _predictors(order).items()
    }
    for quarters in range(1, 5):
        rules[f"{quarters} quarters of our value"] = partial(_bid_share, quarters)
    return rules


PAIRS = (
    PairRecipe(
        name="haggler",
        title="bargaining",
        game="bargaining",
        about="the same bids and the same asks in another order, after which the ask changes "
        "differently",
        seat=BUYER,
        probe="their_quote",
        subject=SELLER,
        orders=(1, 2),
        draw=_draw,
        truth=_truth,
        best_moves=_best_moves,
        minds=_minds,
        minds_about="sellers whose change of the ask depends on whether a unit was traded and "
        "whether the bid was raised, and the constant, clock, responsive, splitter and grim ones",
        rules=_rules,
        reason=_reason,
    ),
)
