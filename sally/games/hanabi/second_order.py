"""What another seat can know of its hand, as far as one can tell without seeing one's own.

The other counts cards that I hold and cannot see, so its posterior is mine to guess: the mean of it
over the hands that I may hold.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import prod

import msgspec

from sally.core.rules.chance import Stream
from sally.games.hanabi.belief import Hand, Hidden, Posterior, hidden, posterior, unseen
from sally.games.hanabi.rules import Hanabi
from sally.games.hanabi.table import View

MOST_HANDS = 1_000  # up to so many of one's own hands are gone through one by one
DRAWS = 50  # otherwise so many are drawn


def next_cards(game: Hanabi, piles: tuple[int, ...]) -> list[int]:
    """The cards that can be played now."""
    return [c * game.ranks + height for c, height in enumerate(piles) if height < game.ranks]


def is_known_playable(game: Hanabi, piles: tuple[int, ...], known: Posterior, slot: int) -> bool:
    """Whether a slot can only hold a card that can be played."""
    return sum(known.weights[slot][card] for card in next_cards(game, piles)) == known.total


def with_hand(view: View, hand: Hand) -> View:
    """A view in which one sees one's own hand, as if it were this."""
    return msgspec.structs.replace(
        view, hands=(*view.hands[: view.me], hand, *view.hands[view.me + 1 :])
    )


def own_hands(game: Hanabi, view: View, draws: Stream) -> list[tuple[Hand, Fraction]]:
    """The hands that one may hold with their chances: all of them, or a fair sample if too many.

    Hands are sorted: what another seat sees of them does not depend on their order.
    """
    own = hidden(game, view)
    few = _are_few(own, view)
    found: dict[Hand, int] = {}
    for hand, weight in own.hands() if few else ((own.draw(draws), 1) for _ in range(DRAWS)):
        key = tuple(sorted(hand))
        found[key] = found.get(key, 0) + weight
    total = sum(found.values())
    return [(hand, Fraction(weight, total)) for hand, weight in found.items()]


def _are_few(own: Hidden, view: View) -> bool:
    """Whether all hands that one may hold are gone through."""
    return (
        prod(sum(fit >> slot & 1 for fit in own.fits) for slot in range(view.slots)) <= MOST_HANDS
    )


def their_posteriors(
    game: Hanabi, view: View, seat: int, draws: Stream
) -> list[tuple[Posterior, Fraction]]:
    """What `seat` would know of its hand with each hand that I may hold, and how likely that is."""
    if _are_few(hidden(game, view), view):
        return _all_posteriors(game, view, seat)
    return _posteriors(game, view, seat, draws)


@lru_cache(maxsize=4)  # every slot of a turn is asked about, and nothing is drawn
def _all_posteriors(game: Hanabi, view: View, seat: int) -> list[tuple[Posterior, Fraction]]:
    return _posteriors(game, view, seat, Stream("hanabi posteriors"))


def _posteriors(
    game: Hanabi, view: View, seat: int, draws: Stream
) -> list[tuple[Posterior, Fraction]]:
    marks = view.marks[seat]
    return [
        (posterior(game, marks, unseen(game, with_hand(view, hand), seat)), chance)
        for hand, chance in own_hands(game, view, draws)
    ]


def their_odds(game: Hanabi, view: View, seat: int, slot: int, draws: Stream) -> list[float]:
    """How likely `seat` holds each card to be in a slot, on the mean."""
    odds = [0.0] * game.highest
    for known, chance in their_posteriors(game, view, seat, draws):
        for card, p in enumerate(known.odds(slot)):
            odds[card] += float(chance) * p
    return odds


def public_counts(game: Hanabi, view: View, seat: int) -> Posterior:
    """What `seat` could know if it saw no hand at all: the mindless answer."""
    blank = msgspec.structs.replace(view, hands=((),) * game.players)
    return Hidden(game, view.marks[seat], unseen(game, blank, seat)).posterior
