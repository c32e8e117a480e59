"""What the others' moves say of one's own hand, when it is known by which policy they play.

All that is hidden from a seat and was in another's view at some past turn is the seat's own hand of
that turn: cards since shown, and cards it still holds. So each hand it may hold now makes the whole
past into one game, and the chance of the others' moves in that game is the likelihood of the hand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from sally.core.rules.chance import Stream
from sally.games.hanabi.belief import Hand, hidden
from sally.games.hanabi.bots.memory import Policy
from sally.games.hanabi.rules import Hanabi
from sally.games.hanabi.seen import revealed
from sally.games.hanabi.table import State, View

MOST_HANDS = 5_000  # up to so many possible hands are gone through one by one
DRAWS = 2_000  # otherwise so many are drawn
LEAST_EFFECTIVE = 100.0  # fewer effective draws than this say too little


class Reading(msgspec.Struct, frozen=True):
    """Odds of every card in every slot, and how they were found."""

    odds: tuple[tuple[float, ...], ...]
    exact: bool
    effective: float  # draws that the weighted ones are worth; the number of hands, if exact


def read(
    game: Hanabi,
    view: View,
    policies: Mapping[int, Policy],
    draws: Stream | None = None,
    most_hands: int = MOST_HANDS,
) -> Reading | None:
    """One's own hand by hints, counting and the others' moves.

    None if no hand explains the moves, or if too few of the drawn ones do.
    """
    weighed = _all_hands(game, view, policies, most_hands)
    exact = weighed is not None
    if weighed is None:
        weighed = _drawn_hands(game, view, policies, draws or Stream("hanabi reading"))
    total = sum(weight for _, weight in weighed)
    if not total:
        return None
    effective = total**2 / sum(weight**2 for _, weight in weighed)
    if not exact and effective < LEAST_EFFECTIVE:
        return None
    odds = [[0.0] * game.highest for _ in range(view.slots)]
    for hand, weight in weighed:
        for slot, card in enumerate(hand):
            odds[slot][card] += weight / total
    return Reading(
        tuple(tuple(slot) for slot in odds), exact, float(len(weighed)) if exact else effective
    )


def likelihood(game: Hanabi, view: View, hand: Hand, policies: Mapping[int, Policy]) -> float:
    """The chance that seats with declared policies moved as they did, if one held this hand."""
    return likelihoods(game, view, [hand], policies)[0]


def likelihoods(
    game: Hanabi, view: View, hands: Sequence[Hand], policies: Mapping[int, Policy]
) -> list[float]:
    """The same for each of the hands that one may hold.

    They make for one past but for what the others saw of one's own hand: moves are gone through
    once, and hands that looked the same before a move are tried as one.
    """
    if not hands:
        return []
    shown, me = revealed(view), view.me
    slots = {id: slot for slot, id in enumerate(view.ids[me])}
    moves = [
        (policies[seat], seen, action, [(slots.get(id), shown.get(id, -1)) for id in seen.ids[me]])
        for seat, seen, action in past_views(game, view, hands[0])
        if seat in policies
    ]
    tried: list[dict[Hand, float]] = [{} for _ in moves]
    chances = []
    for hand in hands:
        chance = 1.0
        for (policy, seen, action, held), known in zip(moves, tried, strict=True):
            then = tuple([card if slot is None else hand[slot] for slot, card in held])
            if then not in known:
                seeing = replace(seen, hands=(*seen.hands[:me], then, *seen.hands[me + 1 :]))
                known[then] = policy(seeing).get(action, 0.0)
            chance *= known[then]
            if not chance:
                break
        chances.append(chance)
    return chances


def past_views(game: Hanabi, view: View, hand: Hand) -> Iterator[tuple[int, View, int]]:
    """Every move of another seat, with what that seat saw before it if one's hand was this."""
    state = supposed(game, view, hand, revealed(view))
    for event in view.past:
        seat = game.seats[event.by]
        action = game.action_of(event)
        if action is None:
            state = game.forfeit(state, {}, (seat,))
            continue
        if event.by != view.me:
            yield event.by, game.observe(state, seat), action
        state = game.step(state, {seat: action})


def supposed(game: Hanabi, view: View, hand: Hand, shown: Mapping[int, int]) -> State:
    """The deal as it would have been; the order of cards not yet drawn is in no view."""
    faces = {**shown, **dict(zip(view.ids[view.me], hand, strict=True))}
    drawn = [faces[id] for id in range(len(game.cards) - view.left)]
    rest = list(game.cards)
    for card in drawn:
        rest.remove(card)
    return game.dealt((*drawn, *rest))


def _all_hands(
    game: Hanabi, view: View, policies: Mapping[int, Policy], most: int
) -> list[tuple[Hand, float]] | None:
    """Every possible hand by prior and likelihood; None if there are too many."""
    hands, weights = list[Hand](), list[int]()
    for hand, weight in hidden(game, view).hands():
        hands.append(hand)
        weights.append(weight)
        if len(hands) > most:
            return None
    chances = likelihoods(game, view, hands, policies)
    return [(h, weight * p) for h, weight, p in zip(hands, weights, chances, strict=True)]


def _drawn_hands(
    game: Hanabi, view: View, policies: Mapping[int, Policy], draws: Stream
) -> list[tuple[Hand, float]]:
    """Hands drawn by counting, each with its likelihood."""
    own = hidden(game, view)
    drawn = [own.draw(draws) for _ in range(DRAWS)]
    return list(zip(drawn, likelihoods(game, view, drawn, policies), strict=True))
