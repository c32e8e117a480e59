"""What a trader works out: what it lacks, what it can spare, and what the other is after.

Inference is Bayes over every item that can be made from the goods on the table at the start.
Somebody who asks for a good, or crafts it, mostly does so because it lies on a way to the target;
somebody who offers a good can often do without it. `SLIP` and `SURPLUS` are the chances that such
a sign has nothing to do with the target.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from sally.core.rules.game import Seat
from sally.games.tradecraft.actions import SEATS, Propose, goods
from sally.games.tradecraft.amounts import Amount, read_amount
from sally.games.tradecraft.hands import Hand, lacking, traded, union
from sally.games.tradecraft.planning import Plan, Undecided, best_plan
from sally.games.tradecraft.relevance import relevant
from sally.games.tradecraft.rules import Entry, View
from sally.games.tradecraft.rulesets import Ruleset
from sally.games.tradecraft.spec import candidates, useful

SLIP = 0.1
SURPLUS = 0.5  # the chance that an offer tells nothing: one may have more than one needs
Beliefs = Mapping[str, float]  # the chance of each possible target


# --- plans ----------------------------------------------------------------------------------------


@lru_cache(maxsize=1 << 14)
def trade_plan(rules: Ruleset, own: Hand, others: Hand, target: Hand) -> Plan | None:
    """The fewest goods from others, then crafts, that end with the target; None if out of reach."""
    try:
        return best_plan(rules, own, others, target, "goods")
    except Undecided:
        return None


@lru_cache(maxsize=1 << 14)
def craft_plan(rules: Ruleset, own: Hand, target: Hand) -> Plan | None:
    """The fewest crafts from one's own hand to the target; None if it is out of reach."""
    if relevant(rules, own, frozenset(target)) is None:
        return None
    try:
        return best_plan(rules, own, {}, target, "crafts")
    except Undecided:
        return None


def others_of(view: View) -> Hand:
    """All that the others hold."""
    return union(hand for n, hand in enumerate(view.hands) if n != view.number)


def lack(rules: Ruleset, own: Hand, others: Hand, target: Hand) -> int | None:
    """How many units a trader still needs from others; None if the target is out of reach."""
    plan = trade_plan(rules, own, others, target)
    return None if plan is None else sum(plan.taken.values())


def spare(own: Hand, plan: Plan | None) -> dict[str, int]:
    """Whole units that a plan leaves in the hand; without a plan, everything."""
    used: dict[str, Amount] = {}
    for craft in plan.crafts if plan else ():
        for item, text in craft.inputs.items():
            used[item] = used.get(item, 0) + read_amount(text)
        used[craft.output] = used.get(craft.output, 0) - craft.amount
    for item, units in plan.taken.items() if plan else ():
        used[item] = used.get(item, 0) - units
    left = {item: int(amount - max(used.get(item, 0), 0)) for item, amount in own.items()}
    return {item: n for item, n in sorted(left.items()) if n > 0}


class Outcome(NamedTuple):
    """A trade from the side of one who decides: what it lacked before and lacks after."""

    before: int | None
    after: int | None
    mine: Hand
    theirs: Hand
    received: int
    given: int

    @property
    def helps(self) -> bool:
        """Whether the target comes nearer, or comes as near for less."""
        if self.after is None:
            return False
        if self.before is None or self.after < self.before:
            return True
        return self.after == self.before and self.received > self.given


def outcome(view: View, made: Propose) -> Outcome:
    """What accepting a proposal would do to the one who is asked."""
    p, q = SEATS.index(view.proposer), view.number
    offer, request = goods(made.offer), goods(made.request)
    theirs, mine = traded(view.hands[p], view.hands[q], offer, request)
    rest = [h for n, h in enumerate(view.hands) if n not in (p, q)]
    before = lack(view.rules, view.hand, others_of(view), view.target)
    after = lack(view.rules, mine, union([theirs, *rest]), view.target)
    received, given = sum(map(int, offer.values())), sum(map(int, request.values()))
    return Outcome(before, after, mine, theirs, received, given)


# --- beliefs --------------------------------------------------------------------------------------


class Sign(NamedTuple):
    """Something a player did that tells of its target."""

    wanted: frozenset[str]  # asked for, or crafted
    spared: frozenset[str]  # offered
    wantable: frozenset[str]  # what could have been asked for
    sparable: frozenset[str]  # what could have been offered


def signs(view: View, who: Seat, start: tuple[Hand, ...]) -> Iterator[Sign]:
    """The signs a seat has seen another give, from its own story."""
    shown = start
    n = SEATS.index(who)
    for entry in view.story:
        rest = frozenset(i for m, hand in enumerate(shown) if m != n for i in hand)
        made = entry.proposal
        if made is not None and _proposer(entry, view) == who and _is_news(entry, made, view):
            yield Sign(_items(made.request), _items(made.offer), rest, frozenset(shown[n]))
        if entry.kind == "accepted" and made is not None:
            shown = _after(shown, SEATS.index(_proposer(entry, view)), made)
        if entry.kind == "revealed":
            gained = {i for i, a in entry.hands[n].items() if a > shown[n].get(i, 0)}
            if gained:
                yield Sign(frozenset(gained), frozenset(), frozenset(gained), frozenset())
            shown = entry.hands


def _proposer(entry: Entry, view: View) -> Seat:
    now = SEATS.index(view.proposer) - view.turn  # the same in every turn, round the table
    return SEATS[(entry.turn + now) % len(view.hands)]


def _is_news(entry: Entry, made: Propose, view: View) -> bool:
    """Whether this entry is the first to tell its reader of a proposal."""
    party = view.seat in (made.to, _proposer(entry, view))
    return entry.kind == ("proposed" if party else "accepted")


def _items(listed: Iterable[tuple[str, str]]) -> frozenset[str]:
    return frozenset(item for item, _ in listed)


def _after(shown: tuple[Hand, ...], p: int, made: Propose) -> tuple[Hand, ...]:
    q = SEATS.index(Seat(made.to))
    offer, request = goods(made.offer), goods(made.request)
    if lacking(shown[p], offer) or lacking(shown[q], request):
        return shown
    hands = list(shown)
    hands[p], hands[q] = traded(shown[p], shown[q], offer, request)
    return tuple(hands)


def likelihood(sign: Sign, uses: frozenset[str]) -> float:
    """How likely a player whose target needs `uses` gives this sign."""
    chance = 1.0
    for item in sign.wanted:
        chance *= _named(item, sign.wantable, uses & sign.wantable, SLIP)
    for item in sign.spared:
        chance *= _named(item, sign.sparable, sign.sparable - uses, SURPLUS)
    return chance


def _named(item: str, everything: frozenset[str], fitting: frozenset[str], slip: float) -> float:
    """The chance of naming an item: a fitting one, but for slips; any, where none fits."""
    if not fitting:
        return 1 / len(everything)
    return slip / len(everything) + ((1 - slip) / len(fitting) if item in fitting else 0)


def believed(rules: Ruleset, start: tuple[Hand, ...], seen: Iterable[Sign]) -> dict[str, float]:
    """The chance of each possible target, after signs; even before any.

    A sign that is given again tells nothing new: whoever was refused asks for the same thing.
    """
    table = union(start)
    found = candidates(rules, frozenset(table))
    weights = dict.fromkeys(found, 1.0)
    for sign in {(each.wanted, each.spared): each for each in seen}.values():
        for target in found:
            weights[target] *= likelihood(sign, useful(rules, table, frozenset({target})))
    total = sum(weights.values())
    return {target: weight / total for target, weight in weights.items()}


def beliefs_about(view: View, who: Seat, start: tuple[Hand, ...]) -> dict[str, float]:
    """First order: what a seat can infer of another's target."""
    return believed(view.rules, start, signs(view, who, start))


def expected_use(
    rules: Ruleset, start: tuple[Hand, ...], beliefs: Beliefs, items: Iterable[str]
) -> dict[str, float]:
    """The chance that each item lies on a way to the believed target."""
    table = union(start)
    uses = {t: useful(rules, table, frozenset({t})) for t, p in beliefs.items() if p > 1e-6}
    return {i: sum(beliefs[t] for t, used in uses.items() if i in used) for i in items}


def can_finish(view: View, beliefs: Beliefs, hand: Hand, most: int = 4) -> float:
    """The chance that a hand makes its owner's target at once, over the likeliest targets."""
    likely = sorted(beliefs, key=lambda t: (-beliefs[t], t))[:most]
    return sum(
        beliefs[target]
        for target in likely
        if craft_plan(view.rules, hand, Hand({target: 1})) is not None
    )
