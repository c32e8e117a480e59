"""A written trading policy: values of goods, and thresholds for offers.

The policy is checked and followed, never executed as code. It does not cover crafts, which follow
the shortest path to the target that the hand allows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import msgspec

from sally.core.errors import Unreadable
from sally.core.log.events import Moved
from sally.core.rules.game import Seat
from sally.core.rules.metric import Metric, Played
from sally.core.rules.words import as_tuples, objects_in
from sally.games.tradecraft.actions import NO, PASS, SEATS, YES, Action, Answer, Propose, goods
from sally.games.tradecraft.partners import crafting
from sally.games.tradecraft.rules import CRAFTING, DECIDING, View
from sally.games.tradecraft.speech import item_meant, item_said

HIGHEST, MOST_RATIO = 10.0, 10.0  # upper bounds of values and of thresholds


class Thresholds(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A trading policy: the value of each good, the lowest ratio of value received to value given
    at which the player accepts an offer, and the highest ratio of value given to value requested in
    its own offers."""

    worth: dict[str, float]  # goods that are not named are worth nothing
    accept: float  # value received over value given
    offer: float  # maximum of value given over value requested
    want: tuple[str, ...] = ()  # what to ask for, in this order


def read_thresholds(reply: str, items: Sequence[str]) -> Thresholds:
    """Return the policy in a reply, checked against the goods in play; raise Unreadable if it is
    invalid."""
    objects = [json_object for json_object in objects_in(reply) if "accept" in json_object]
    if len(objects) != 1:
        raise Unreadable('Answer with exactly one JSON object that has "worth" and "accept".')
    return checked_thresholds(objects[0], items)


def checked_thresholds(plain: Mapping[str, Any], items: Sequence[str]) -> Thresholds:
    """Return the policy described by plain data; raise Unreadable for unknown goods or invalid
    numbers."""
    fields: dict[str, Any] = dict(plain)
    item_values, want = fields.get("worth"), fields.get("want", ())
    if isinstance(item_values, Mapping):
        fields["worth"] = {_item(name, items): value for name, value in item_values.items()}
    if isinstance(want, list | tuple):
        fields["want"] = [_item(name, items) for name in want]
    try:
        policy = msgspec.convert(as_tuples(fields), Thresholds)
    except msgspec.ValidationError as error:
        raise Unreadable(f"{error}.") from None
    for name, value in policy.worth.items():
        if not 0 <= value <= HIGHEST:
            raise Unreadable(f"{item_said(name)} must be worth 0 to {HIGHEST:g}, not {value:g}.")
    for name, value in (("accept", policy.accept), ("offer", policy.offer)):
        if not 0 <= value <= MOST_RATIO:
            raise Unreadable(f'"{name}" must be from 0 to {MOST_RATIO:g}, not {value:g}.')
    return policy


def _item(name: Any, items: Sequence[str]) -> str:
    meant = item_meant(str(name), frozenset(items))
    if meant not in items:
        raise Unreadable(f"{name!r} is none of the goods on the table.")
    return meant


def follow_policy(policy: Thresholds, view: View) -> Action:
    """Return the policy's action: an answer, an offer or a pass, or the next craft."""
    if view.phase == CRAFTING:
        return crafting(view)
    if view.phase == DECIDING:
        assert view.proposal is not None
        gets, gives = (
            _lot_value(policy, lot) for lot in (view.proposal.offer, view.proposal.request)
        )
        return YES if gets > 0 and gets >= policy.accept * gives else NO
    refused = set(_refused_lots(view))
    return next((offer for offer in _offers(policy, view) if _lots(offer) not in refused), PASS)


def _offers(policy: Thresholds, view: View) -> Iterator[Propose]:
    """Yield one-for-one offers: for each wanted good, the acceptable goods to give, most valuable
    first."""
    others = [n for n in range(len(view.hands)) if n != view.number]
    for want in policy.want:
        holders = [n for n in others if view.hands[n].get(want, 0) >= 1]
        limit = policy.offer * policy.worth.get(want, 0.0)
        spare = [
            item
            for item, amount in view.hand.items()
            if amount >= 1 and item not in policy.want and policy.worth.get(item, 0.0) <= limit
        ]
        for item in sorted(spare, key=lambda i: (-policy.worth.get(i, 0.0), i)):
            for holder in holders:
                yield Propose(SEATS[holder], ((item, "1"),), ((want, "1"),))


def _refused_lots(view: View) -> Iterator[tuple[Any, ...]]:
    for entry in view.story:
        if entry.kind == "rejected" and entry.proposal is not None and entry.who != view.seat:
            yield _lots(entry.proposal)


def _lots(proposal: Propose) -> tuple[Any, ...]:
    return proposal.to, tuple(sorted(proposal.offer)), tuple(sorted(proposal.request))


def _lot_value(policy: Thresholds, lot: tuple[tuple[str, str], ...]) -> float:
    return sum(policy.worth.get(item, 0.0) * float(Fraction(n)) for item, n in goods(lot).items())


# --- does it trade as it would prescribe? ---------------------------------------------------------


def written_by(played: Played, seat: Seat) -> Thresholds | None:
    """Return the policy that a seat wrote in this episode; None if it wrote none."""
    for event in played.episode.events:
        if isinstance(event, Moved) and event.seat == seat and isinstance(event.memory, Mapping):
            plain = event.memory.get("policy")
            if isinstance(plain, Mapping) and "accept" in plain:
                return msgspec.convert(as_tuples(dict(plain)), Thresholds)
    return None


def _follows(played: Played, seat: Seat) -> float | None:
    """Return the share of a seat's answers and offers that its own written policy prescribes;
    messages are ignored."""
    policy = written_by(played, seat)
    if policy is None:
        return None
    matches = []
    for turn in range(len(played.replay)):
        move: Any = played.replay.move(turn, seat)
        view: View = played.replay.view(turn, seat)
        if move is not None and view.phase != CRAFTING:
            matches.append(_silent(move) == _silent(follow_policy(policy, view)))
    return sum(matches) / len(matches) if matches else None


def _silent(action: Action) -> Any:
    """Return an action without its message."""
    if isinstance(action, Propose):
        return _lots(action)
    return action.answer if isinstance(action, Answer) else action


FOLLOWS = Metric(
    name="follows_policy",
    about="share of offers and answers prescribed by the player's own policy, written at the start",
    measure=_follows,
    better="higher",
    bounds=(0, 1),
)
