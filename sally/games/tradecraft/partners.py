"""Traders of TradeCraft by order of theory of mind, and two that do not bargain."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from sally.core.match.partner import Answerer, Partner, Script
from sally.core.match.player import NoAnswer, Turn
from sally.core.rules.game import Seat
from sally.core.rules.probe import ProbeReport, Question
from sally.games.tradecraft.actions import (
    DONE,
    NO,
    PASS,
    SEATS,
    YES,
    Action,
    Craft,
    Propose,
    as_action_goods,
    goods,
)
from sally.games.tradecraft.amounts import Amount, read_amount
from sally.games.tradecraft.craft_plan import Plan, Undecided, best_plan
from sally.games.tradecraft.hands import Hand, holds, lacking, trade_hands, union
from sally.games.tradecraft.relevance import relevant
from sally.games.tradecraft.rules import Entry, TradeCraft, View
from sally.games.tradecraft.rulesets import Ruleset
from sally.games.tradecraft.spec import candidates, useful

SLIP = 0.1
SURPLUS = 0.5  # the chance that an offer is uninformative: a player may have more than it needs
Beliefs = Mapping[str, float]  # the chance of each possible target


# --- plans ----------------------------------------------------------------------------------------


@lru_cache(maxsize=1 << 14)
def trade_plan(rules: Ruleset, own_hand: Hand, others: Hand, target: Hand) -> Plan | None:
    """Return the plan that takes the fewest goods from others, then has the fewest crafts; None
    if the target is out of reach."""
    try:
        return best_plan(rules, own_hand, others, target, "goods")
    except Undecided:
        return None


@lru_cache(maxsize=1 << 14)
def craft_plan(rules: Ruleset, own_hand: Hand, target: Hand) -> Plan | None:
    """Return the plan with the fewest crafts from the trader's own hand; None if the target is
    out of reach."""
    if relevant(rules, own_hand, frozenset(target)) is None:
        return None
    try:
        return best_plan(rules, own_hand, {}, target, "crafts")
    except Undecided:
        return None


def others_of(view: View) -> Hand:
    """Return all goods of the other players."""
    return union(hand for n, hand in enumerate(view.hands) if n != view.number)


def lack(rules: Ruleset, own_hand: Hand, others: Hand, target: Hand) -> int | None:
    """Return how many units a trader still needs from others; None if the target is out of
    reach."""
    plan = trade_plan(rules, own_hand, others, target)
    return None if plan is None else sum(plan.goods_taken.values())


def spare(own_hand: Hand, plan: Plan | None) -> dict[str, int]:
    """Return the whole units that a plan leaves in the hand; everything if there is no plan."""
    used: dict[str, Amount] = {}
    for craft in plan.crafts if plan else ():
        for item, text in craft.inputs.items():
            used[item] = used.get(item, 0) + read_amount(text)
        used[craft.output] = used.get(craft.output, 0) - craft.amount
    for item, units in plan.goods_taken.items() if plan else ():
        used[item] = used.get(item, 0) - units
    units_left = {
        item: int(amount - max(used.get(item, 0), 0)) for item, amount in own_hand.items()
    }
    return {item: n for item, n in sorted(units_left.items()) if n > 0}


class Outcome(NamedTuple):
    """A trade from the decider's perspective: the units still needed before and after it."""

    lack_before: int | None
    lack_after: int | None
    own_hand: Hand
    other_hand: Hand
    received: int
    units_given: int

    @property
    def helps(self) -> bool:
        """Whether the trade reduces the number of units still needed, or leaves that number
        unchanged and brings in more units than it gives away."""
        if self.lack_after is None:
            return False
        if self.lack_before is None or self.lack_after < self.lack_before:
            return True
        return self.lack_after == self.lack_before and self.received > self.units_given


def outcome(view: View, proposal: Propose) -> Outcome:
    """Return the outcome of accepting a proposal for the player who is asked."""
    p, q = SEATS.index(view.proposer), view.number
    offer, request = goods(proposal.offer), goods(proposal.request)
    other_hand, own_hand = trade_hands(view.hands[p], view.hands[q], offer, request)
    other_hands = [h for n, h in enumerate(view.hands) if n not in (p, q)]
    lack_before = lack(view.rules, view.hand, others_of(view), view.target)
    lack_after = lack(view.rules, own_hand, union([other_hand, *other_hands]), view.target)
    received, units_given = sum(map(int, offer.values())), sum(map(int, request.values()))
    return Outcome(lack_before, lack_after, own_hand, other_hand, received, units_given)


# --- beliefs --------------------------------------------------------------------------------------


class Sign(NamedTuple):
    """An observed action that reveals something about a player's target."""

    wanted_items: frozenset[str]  # asked for, or crafted
    spared: frozenset[str]  # offered
    wantable: frozenset[str]  # what could have been asked for
    sparable: frozenset[str]  # what could have been offered


def signs(view: View, player: Seat, start: tuple[Hand, ...]) -> Iterator[Sign]:
    """Yield the actions of player `player` that hint at its target, as far as a seat has observed
    them
    in its own history."""
    shown_hands = start
    n = SEATS.index(player)
    for entry in view.story:
        others_goods = frozenset(i for m, hand in enumerate(shown_hands) if m != n for i in hand)
        proposal = entry.proposal
        if (
            proposal is not None
            and _proposer(entry, view) == player
            and _is_news(entry, proposal, view)
        ):
            yield Sign(
                _items(proposal.request),
                _items(proposal.offer),
                others_goods,
                frozenset(shown_hands[n]),
            )
        if entry.kind == "accepted" and proposal is not None:
            shown_hands = _hands_after(shown_hands, SEATS.index(_proposer(entry, view)), proposal)
        if entry.kind == "revealed":
            gained = {i for i, a in entry.hands[n].items() if a > shown_hands[n].get(i, 0)}
            if gained:
                yield Sign(frozenset(gained), frozenset(), frozenset(gained), frozenset())
            shown_hands = entry.hands


def _proposer(entry: Entry, view: View) -> Seat:
    now = SEATS.index(view.proposer) - view.turn  # the same in every turn, round the table
    return SEATS[(entry.turn + now) % len(view.hands)]


def _is_news(entry: Entry, proposal: Propose, view: View) -> bool:
    """Return whether this log entry is the first from which the seat learns of the proposal."""
    party = view.seat in (proposal.to, _proposer(entry, view))
    return entry.kind == ("proposed" if party else "accepted")


def _items(listed: Iterable[tuple[str, str]]) -> frozenset[str]:
    return frozenset(item for item, _ in listed)


def _hands_after(shown_hands: tuple[Hand, ...], p: int, proposal: Propose) -> tuple[Hand, ...]:
    q = SEATS.index(Seat(proposal.to))
    offer, request = goods(proposal.offer), goods(proposal.request)
    if lacking(shown_hands[p], offer) or lacking(shown_hands[q], request):
        return shown_hands
    hands = list(shown_hands)
    hands[p], hands[q] = trade_hands(shown_hands[p], shown_hands[q], offer, request)
    return tuple(hands)


def likelihood(sign: Sign, uses: frozenset[str]) -> float:
    """Return the probability that a player whose target needs the goods `uses` acts as observed in
    `sign`."""
    chance = 1.0
    for item in sign.wanted_items:
        chance *= _naming_odds(item, sign.wantable, uses & sign.wantable, SLIP)
    for item in sign.spared:
        chance *= _naming_odds(item, sign.sparable, sign.sparable - uses, SURPLUS)
    return chance


def _naming_odds(
    item: str, everything: frozenset[str], fitting: frozenset[str], slip: float
) -> float:
    """Return the probability that a player names an item: with probability `slip` any item,
    otherwise one of the fitting items; any item if none fits."""
    if not fitting:
        return 1 / len(everything)
    return slip / len(everything) + ((1 - slip) / len(fitting) if item in fitting else 0)


def infer_target(
    rules: Ruleset, start: tuple[Hand, ...], signs_seen: Iterable[Sign]
) -> dict[str, float]:
    """Return the probability of each possible target of a player, given which goods the player has
    asked for, offered and crafted; uniform if nothing has been observed.

    A repeated request or offer adds no evidence, because a player that was refused asks for the
    same goods again.
    """
    table = union(start)
    targets = candidates(rules, frozenset(table))
    weights = dict.fromkeys(targets, 1.0)
    for sign in {
        (sign_seen.wanted_items, sign_seen.spared): sign_seen for sign_seen in signs_seen
    }.values():
        for target in targets:
            weights[target] *= likelihood(sign, useful(rules, table, frozenset({target})))
    total = sum(weights.values())
    return {target: weight / total for target, weight in weights.items()}


def beliefs_about(view: View, player: Seat, start: tuple[Hand, ...]) -> dict[str, float]:
    """Return a seat's belief about another player's target (first order)."""
    return infer_target(view.rules, start, signs(view, player, start))


def expected_use(
    rules: Ruleset, start: tuple[Hand, ...], beliefs: Beliefs, items: Iterable[str]
) -> dict[str, float]:
    """Return the probability that each item is on a path to the player's target, given the
    beliefs."""
    table = union(start)
    uses = {t: useful(rules, table, frozenset({t})) for t, p in beliefs.items() if p > 1e-6}
    return {i: sum(beliefs[t] for t, used in uses.items() if i in used) for i in items}


def can_finish(view: View, beliefs: Beliefs, hand: Hand, limit: int = 4) -> float:
    """Return the probability that a hand suffices to make its owner's target immediately."""
    likely = sorted(beliefs, key=lambda t: (-beliefs[t], t))[:limit]
    return sum(
        beliefs[target]
        for target in likely
        if craft_plan(view.rules, hand, Hand({target: 1})) is not None
    )


OURS = "ours; orders of theory of mind as in tradecraft2026"
Start = tuple[Hand, ...]


def crafting(view: View) -> Action:
    """Return the next craft on the shortest path to the target if the hand suffices, else stop."""
    if holds(view.hand, view.target):
        return DONE
    plan = craft_plan(view.rules, view.hand, view.target)
    if plan is None or not plan.crafts:
        return DONE
    step = plan.crafts[0]
    return Craft(tuple(step.inputs.items()), step.output, step.amount)


def _choose_request(view: View, plan: Plan) -> tuple[Seat, dict[str, int]]:
    """Return the player who holds most of the missing units, and the goods to request from that
    player."""
    best, lot = view.seat, dict[str, int]()
    for n, hand in enumerate(view.hands):
        part = {
            i: min(a, int(hand.get(i, 0))) for i, a in plan.goods_taken.items() if hand.get(i, 0)
        }
        if n != view.number and sum(part.values()) > sum(lot.values()):
            best, lot = SEATS[n], part
    return best, lot


def _refusals(view: View) -> int:
    """Return how often the trader's proposals were rejected."""
    return sum(
        entry.kind == "rejected" and entry.proposal is not None and entry.who != view.seat
        for entry in view.story
    )


def _lot(units_left: Mapping[str, int], units: int, order: Iterable[str]) -> dict[str, int]:
    """Return up to `units` units of the spare goods, in this order of preference."""
    lot: dict[str, int] = {}
    for item in order:
        amount = min(units_left[item], units)
        if amount > 0:
            lot[item] = amount
            units -= amount
    return lot


def _proposal(to: str, offer: Mapping[str, int], request: Mapping[str, int]) -> Action:
    return (
        Propose(to, as_action_goods(offer), as_action_goods(request)) if offer or request else PASS
    )


def _rotate(items: list[str], by: int) -> list[str]:
    """Return the items rotated by `by` positions, so that a refused offer is not repeated."""
    by %= len(items) or 1
    return items[by:] + items[:by]


class Trader:
    """A zero-order trader, which knows its own target and has no model of the others' targets."""

    def __init__(self, game: TradeCraft, seat: Seat) -> None:
        self.start: Start = tuple(Hand(hand) for hand in game.hands)

    def __call__(self, turn: Turn) -> Action:
        view: View = turn.view
        if view.phase == "craft":
            return crafting(view)
        return self.decide(view) if view.phase == "decide" else self.propose(view)

    def propose(self, view: View) -> Action:
        plan = trade_plan(view.rules, view.hand, others_of(view), view.target)
        if plan is None or not plan.goods_taken:
            return PASS
        to, request = _choose_request(view, plan)
        units_left, tried = spare(view.hand, plan), _refusals(view)
        units = sum(request.values()) + tried // 3  # stubborn partners are offered more
        offer = _lot(units_left, units, self.prefer(view, to, units_left, tried))
        return _proposal(to, offer, self.disguise(view, to, request))

    def prefer(self, view: View, to: Seat, units_left: Mapping[str, int], tried: int) -> list[str]:
        """Return the spare goods that the trader would give to a player, best first."""
        return _rotate(list(units_left), tried)

    def disguise(self, view: View, to: Seat, request: dict[str, int]) -> dict[str, int]:
        """Return the request in the form in which it is made."""
        return request

    def decide(self, view: View) -> Action:
        assert view.proposal is not None
        return YES if outcome(view, view.proposal).helps else NO

    # --- reports ------------------------------------------------------------------------------

    def report(self, turn: Turn) -> ProbeReport | NoAnswer:
        view, question = turn.view, turn.question
        assert question is not None
        if question.probe == "v0":
            return ProbeReport(self.v0(view))
        return self.of_others(view, question)

    def v0(self, view: View) -> dict[str, float]:
        """Return the trader's value of each item: 10 if its plan needs the item, 4 if the item
        is on another path to the target, else 0."""
        plan = trade_plan(view.rules, view.hand, others_of(view), view.target)
        used = {i for craft in plan.crafts for i in craft.inputs} if plan else set()
        table = union(view.hands)
        serves = useful(view.rules, table, frozenset(view.target))
        return {i: 10.0 if i in used else 4.0 if i in serves else 0.0 for i in view.items}

    def of_others(self, view: View, question: Question) -> ProbeReport | NoAnswer:
        return NoAnswer("a zero-order trader has no idea of others' minds")


class FirstOrder(Trader):
    """A first-order trader, which infers the other player's target, offers goods useful to that
    player, and refuses trades that let that player win."""

    def prefer(self, view: View, to: Seat, units_left: Mapping[str, int], tried: int) -> list[str]:
        beliefs = beliefs_about(view, to, self.start)
        use = expected_use(view.rules, self.start, beliefs, units_left)
        other_hand = view.hands[SEATS.index(to)]
        # What the other may use and does not have is worth most to it.
        order = sorted(units_left, key=lambda i: (-use[i] * (1 if other_hand.get(i) else 2), i))
        return _rotate(order, tried % 3)

    def decide(self, view: View) -> Action:
        assert view.proposal is not None
        outcome_if_accepted = outcome(view, view.proposal)
        if not outcome_if_accepted.helps:
            return NO
        if craft_plan(view.rules, outcome_if_accepted.own_hand, view.target) is not None:
            return YES  # at worst a joint win
        beliefs = beliefs_about(view, view.proposer, self.start)
        return NO if can_finish(view, beliefs, outcome_if_accepted.other_hand) > 0.5 else YES

    def of_others(self, view: View, question: Question) -> ProbeReport | NoAnswer:
        about = Seat(question.about)
        beliefs = beliefs_about(view, about, self.start)
        if question.probe == "v1":
            return ProbeReport(self._item_values(view, beliefs))
        if question.probe == "their_target":
            odds = tuple(beliefs[str(choice)] for choice in question.choices)
            return ProbeReport(max(beliefs, key=lambda t: (beliefs[t], t)), odds)
        return self.second(view, about)

    def _item_values(self, view: View, beliefs: Beliefs) -> dict[str, float]:
        use = expected_use(view.rules, self.start, beliefs, view.items)
        return {item: round(10 * share, 3) for item, share in use.items()}

    def second(self, view: View, about: Seat) -> ProbeReport | NoAnswer:
        return NoAnswer("a first-order trader does not ask what others think of it")


class SecondOrder(FirstOrder):
    """A second-order trader, which knows that the others infer its target, and hides the target
    by also requesting a good that it does not need."""

    def _seen_as(self, view: View, further_signs: tuple[Sign, ...] = ()) -> dict[str, float]:
        """Return the other players' belief about this trader's target."""
        return infer_target(
            view.rules, self.start, (*signs(view, view.seat, self.start), *further_signs)
        )

    def disguise(self, view: View, to: Seat, request: dict[str, int]) -> dict[str, int]:
        """Return the request, or the request plus one extra good, whichever reveals less."""
        if len(view.target) != 1:
            return request
        (target,) = view.target
        hand = view.hands[SEATS.index(to)]
        others_goods = frozenset(others_of(view))
        best, lowest_belief = request, 2.0
        for decoy in (None, *sorted(set(hand) - set(request))):
            lot = request if decoy is None else {**request, decoy: 1}
            sign = Sign(frozenset(lot), frozenset(), others_goods, frozenset(view.hand))
            belief = self._seen_as(view, (sign,)).get(target, 0.0)
            if belief < lowest_belief - 1e-9:
                best, lowest_belief = lot, belief
        return best

    def second(self, view: View, about: Seat) -> ProbeReport | NoAnswer:
        return ProbeReport(self._item_values(view, self._seen_as(view)))


class Hoarder(Trader):
    """A trader that demands the goods it lacks, gives nothing, and accepts gifts."""

    def prefer(self, view: View, to: Seat, units_left: Mapping[str, int], tried: int) -> list[str]:
        return []

    def decide(self, view: View) -> Action:
        assert view.proposal is not None
        return NO if view.proposal.request else YES


class Generous(Trader):
    """A trader that gives away its spare goods, asks for nothing, and accepts every request."""

    def propose(self, view: View) -> Action:
        plan = trade_plan(view.rules, view.hand, others_of(view), view.target)
        units_left = spare(view.hand, plan)
        others = [s for s in SEATS[: len(view.hands)] if s != view.seat]
        to = others[(view.turn // len(view.hands)) % len(others)]
        items = _rotate(list(units_left), view.turn)
        return _proposal(to, {i: units_left[i] for i in items[:1]}, {})

    def decide(self, view: View) -> Action:
        return YES


def _partner(name: str, kind: type[Trader], about: str) -> Partner:
    def make(game: TradeCraft, seat: Seat) -> Script:
        return kind(game, seat)

    def answers(game: TradeCraft, seat: Seat) -> Answerer:
        report: Callable[[Turn], Any] = kind(game, seat).report
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
