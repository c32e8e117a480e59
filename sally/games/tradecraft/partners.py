"""Traders of TradeCraft: by order of theory of mind, and two that do not bargain at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from sally.core.match.player import Silence, Turn
from sally.core.rules.game import Seat
from sally.core.rules.partner import Answerer, Partner, Script
from sally.core.rules.probe import Question, Report
from sally.games.tradecraft.actions import DONE, NO, PASS, SEATS, YES, Action, Craft, Propose
from sally.games.tradecraft.hands import Hand, holds, union
from sally.games.tradecraft.planning import Plan
from sally.games.tradecraft.rules import TradeCraft, View
from sally.games.tradecraft.spec import useful
from sally.games.tradecraft.trading import (
    Beliefs,
    Sign,
    beliefs_about,
    believed,
    can_finish,
    craft_plan,
    expected_use,
    others_of,
    outcome,
    signs,
    spare,
    trade_plan,
)

OURS = "ours; orders of theory of mind as in tradecraft2026"
Start = tuple[Hand, ...]


def crafting(view: View) -> Action:
    """The next craft on the shortest way to the target, if one's own hand is enough for it."""
    if holds(view.hand, view.target):
        return DONE
    plan = craft_plan(view.rules, view.hand, view.target)
    if plan is None or not plan.crafts:
        return DONE
    step = plan.crafts[0]
    return Craft(tuple(step.inputs.items()), step.output, step.amount)


def _wanted(view: View, plan: Plan) -> tuple[Seat, dict[str, int]]:
    """Whom to ask, and for what: whoever holds most of what is lacking."""
    best, lot = view.seat, dict[str, int]()
    for n, hand in enumerate(view.hands):
        part = {i: min(a, int(hand.get(i, 0))) for i, a in plan.taken.items() if hand.get(i, 0)}
        if n != view.number and sum(part.values()) > sum(lot.values()):
            best, lot = SEATS[n], part
    return best, lot


def _refusals(view: View) -> int:
    """How often one's own proposals were rejected."""
    return sum(
        entry.kind == "rejected" and entry.proposal is not None and entry.who != view.seat
        for entry in view.story
    )


def _lot(left: Mapping[str, int], units: int, order: Iterable[str]) -> dict[str, int]:
    """Some units of what can be spared, in an order of preference."""
    lot: dict[str, int] = {}
    for item in order:
        amount = min(left[item], units)
        if amount > 0:
            lot[item] = amount
            units -= amount
    return lot


def _proposal(to: str, offer: Mapping[str, int], request: Mapping[str, int]) -> Action:
    def texts(lot: Mapping[str, int]) -> tuple[tuple[str, str], ...]:
        return tuple((item, str(n)) for item, n in lot.items())

    return Propose(to, texts(offer), texts(request)) if offer or request else PASS


def _turned(items: list[str], by: int) -> list[str]:
    """The items in an order that starts further on, so that a refused offer is not repeated."""
    by %= len(items) or 1
    return items[by:] + items[:by]


class Trader:
    """Zero order: knows what it wants itself, and has no idea of what others want."""

    order = 0

    def __init__(self, game: TradeCraft, seat: Seat) -> None:
        self.start: Start = tuple(Hand(hand) for hand in game.hands)

    def __call__(self, turn: Turn[Any, Any]) -> Action:
        view: View = turn.view
        if view.phase == "craft":
            return crafting(view)
        return self.decide(view) if view.phase == "decide" else self.propose(view)

    def propose(self, view: View) -> Action:
        plan = trade_plan(view.rules, view.hand, others_of(view), view.target)
        if plan is None or not plan.taken:
            return PASS
        to, request = _wanted(view, plan)
        left, tried = spare(view.hand, plan), _refusals(view)
        units = sum(request.values()) + tried // 3  # stubborn partners are offered more
        return self.bargain(view, to, request, left, units, tried)

    def bargain(
        self,
        view: View,
        to: Seat,
        request: dict[str, int],
        left: dict[str, int],
        units: int,
        tried: int,
    ) -> Action:
        return _proposal(to, _lot(left, units, _turned(list(left), tried)), request)

    def decide(self, view: View) -> Action:
        assert view.proposal is not None
        return YES if outcome(view, view.proposal).helps else NO

    # --- reports ------------------------------------------------------------------------------

    def report(self, turn: Turn[Any, Any]) -> Report | Silence:
        view, question = turn.view, turn.question
        assert question is not None
        if question.probe == "v0":
            return Report(self.v0(view))
        return self.of_others(view, question)

    def v0(self, view: View) -> dict[str, float]:
        """10 for what the plan takes or uses, 4 for what could serve, 0 for the rest."""
        plan = trade_plan(view.rules, view.hand, others_of(view), view.target)
        used = {i for craft in plan.crafts for i in craft.inputs} if plan else set()
        table = union(view.hands)
        serves = useful(view.rules, table, frozenset(view.target))
        return {i: 10.0 if i in used else 4.0 if i in serves else 0.0 for i in view.items}

    def of_others(self, view: View, question: Question) -> Report | Silence:
        return Silence("a zero-order trader has no idea of others' minds")


class FirstOrder(Trader):
    """Infers the other's target: offers what it can use, refuses what would let it win alone."""

    order = 1

    def bargain(
        self,
        view: View,
        to: Seat,
        request: dict[str, int],
        left: dict[str, int],
        units: int,
        tried: int,
    ) -> Action:
        beliefs = beliefs_about(view, to, self.start)
        use = expected_use(view.rules, self.start, beliefs, left)
        held = view.hands[SEATS.index(to)]
        # What the other may use and does not have is worth most to it.
        order = sorted(left, key=lambda i: (-use[i] * (1 if held.get(i) else 2), i))
        offer = _lot(left, units, _turned(order, tried % 3))
        request = self.disguised(view, to, request)
        return _proposal(to, offer, request)

    def disguised(self, view: View, to: Seat, request: dict[str, int]) -> dict[str, int]:
        return request

    def decide(self, view: View) -> Action:
        assert view.proposal is not None
        after = outcome(view, view.proposal)
        if not after.helps:
            return NO
        if craft_plan(view.rules, after.mine, view.target) is not None:
            return YES  # at worst a joint win
        beliefs = beliefs_about(view, view.proposer, self.start)
        return NO if can_finish(view, beliefs, after.theirs) > 0.5 else YES

    def of_others(self, view: View, question: Question) -> Report | Silence:
        about = Seat(question.about)
        beliefs = beliefs_about(view, about, self.start)
        if question.probe == "v1":
            return Report(self._worth(view, beliefs))
        if question.probe == "their_target":
            odds = tuple(beliefs[str(choice)] for choice in question.choices)
            return Report(max(beliefs, key=lambda t: (beliefs[t], t)), odds)
        return self.second(view, about)

    def _worth(self, view: View, beliefs: Beliefs) -> dict[str, float]:
        use = expected_use(view.rules, self.start, beliefs, view.items)
        return {item: round(10 * share, 3) for item, share in use.items()}

    def second(self, view: View, about: Seat) -> Report | Silence:
        return Silence("a first-order trader does not ask what others think of it")


class SecondOrder(FirstOrder):
    """Knows that it is read, too: asks for something it does not need to hide what it does."""

    order = 2

    def _seen_as(self, view: View, more: tuple[Sign, ...] = ()) -> dict[str, float]:
        """What somebody at the table can infer of this trader's own target."""
        return believed(view.rules, self.start, (*signs(view, view.seat, self.start), *more))

    def disguised(self, view: View, to: Seat, request: dict[str, int]) -> dict[str, int]:
        """The request, or the request with one good more, whichever gives less away."""
        if len(view.target) != 1:
            return request
        (target,) = view.target
        hand = view.hands[SEATS.index(to)]
        there = frozenset(others_of(view))
        best, told = request, 2.0
        for decoy in (None, *sorted(set(hand) - set(request))):
            lot = request if decoy is None else {**request, decoy: 1}
            sign = Sign(frozenset(lot), frozenset(), there, frozenset(view.hand))
            seen = self._seen_as(view, (sign,)).get(target, 0.0)
            if seen < told - 1e-9:
                best, told = lot, seen
        return best

    def second(self, view: View, about: Seat) -> Report | Silence:
        return Report(self._worth(view, self._seen_as(view)))


class Hoarder(Trader):
    """Demands what it lacks and gives nothing, whatever is offered; takes gifts."""

    def bargain(self, view: View, to: Seat, request: dict[str, int], *_: Any) -> Action:
        return _proposal(to, {}, request)

    def decide(self, view: View) -> Action:
        assert view.proposal is not None
        return NO if view.proposal.request else YES


class Generous(Trader):
    """Gives away what it can spare, asks for nothing, and accepts whatever it is asked for."""

    def propose(self, view: View) -> Action:
        plan = trade_plan(view.rules, view.hand, others_of(view), view.target)
        left = spare(view.hand, plan)
        others = [s for s in SEATS[: len(view.hands)] if s != view.seat]
        to = others[(view.turn // len(view.hands)) % len(others)]
        items = _turned(list(left), view.turn)
        return _proposal(to, {i: left[i] for i in items[:1]}, {})

    def decide(self, view: View) -> Action:
        return YES


def _partner(name: str, kind: type[Trader], about: str) -> Partner:
    def make(game: TradeCraft, seat: Seat) -> Script:
        return kind(game, seat)

    def answers(game: TradeCraft, seat: Seat) -> Answerer:
        report: Callable[[Turn[Any, Any]], Any] = kind(game, seat).report
        return report

    return Partner(name, about, OURS, make, answers=answers)


PARTNERS = {
    name: _partner(name, kind, about)
    for name, kind, about in (
        ("zero_order", Trader, "asks for what it lacks, gives what it can spare, takes what helps"),
        (
            "first_order",
            FirstOrder,
            "infers the other's target from proposals and hands, offers what serves it, and "
            "refuses what would let it win alone",
        ),
        (
            "second_order",
            SecondOrder,
            "first order, and hides its own target by asking for something it does not need",
        ),
        ("hoarder", Hoarder, "demands what it lacks and gives nothing"),
        ("generous", Generous, "gives what it can spare and accepts everything"),
    )
}
