"""Exact beliefs about a hand that a seat cannot see.

There are two levels: `counted` uses hints and card counting; `read` also uses the other seats'
moves if their policies are declared. Cards are drawn without replacement, so slots depend on one
another; weights are integers and nothing is rounded.

Second-order beliefs: another seat also counts the cards in the reasoning seat's hand, which the
reasoning seat cannot see. The reasoning seat therefore estimates the other seat's posterior by
averaging it over the hands that it may hold itself.

Inference from moves: of the cards that another seat saw at an earlier turn, the reasoning seat has
by now seen all except those in its own hand. So each possible hand determines the whole past, and
the probability of the others' moves in that past is the likelihood of the hand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property, lru_cache
from math import prod

import msgspec
from msgspec.structs import replace

from sally.core.rules.chance import Stream
from sally.games.hanabi.rules import Hanabi
from sally.games.hanabi.state import Card, Policy, State, View, revealed_faces

# --- by hints and counting ------------------------------------------------------------------------


Hand = tuple[Card, ...]
Odds = tuple[tuple[float, ...], ...]  # probability of every card in every slot


class Posterior(msgspec.Struct, frozen=True):
    """Weights of every card in every slot; each slot's weights sum to `total`."""

    total: int
    weights: tuple[tuple[int, ...], ...]

    def chance(self, slot: int, card: Card) -> Fraction:
        """Return the probability that a slot holds a card."""
        return Fraction(self.weights[slot][card], self.total)

    def odds(self, slot: int) -> tuple[float, ...]:
        """Return the probabilities of all cards in one slot."""
        return tuple(weight / self.total for weight in self.weights[slot])

    @property
    def all_odds(self) -> Odds:
        """The probabilities of all cards in every slot."""
        return tuple(map(self.odds, range(len(self.weights))))


def count_seen(game: Hanabi, table: State | View, seat: int) -> tuple[int, ...]:
    """Count the cards that `seat` sees: on piles, discarded and in the other hands."""
    counts = list(table.gone)
    for colour, height in enumerate(table.piles):
        for rank in range(height):
            counts[colour * game.ranks + rank] += 1
    for other_seat, hand in enumerate(table.hands):
        if other_seat != seat:
            for card in hand:
                counts[card] += 1
    return tuple(counts)


def unseen(game: Hanabi, table: State | View, seat: int) -> tuple[int, ...]:
    """Count the cards that `seat` does not see: those in its own hand or in the deck."""
    copies, ranks = game.copies_of, game.ranks
    counts = count_seen(game, table, seat)
    return tuple(copies[card % ranks] - n for card, n in enumerate(counts))


def count_own_hand(game: Hanabi, view: View) -> Posterior:
    """Return the posterior over the seat's own hand from hints and card counting."""
    return posterior(game, view.marks[view.me], unseen(game, view, view.me))


def counted_by(game: Hanabi, state: State, seat: int) -> Posterior:
    """Return the posterior of `seat` over its own hand, computed from the full state."""
    return posterior(game, state.marks[seat], unseen(game, state, seat))


def posterior(game: Hanabi, marks: tuple[int, ...], cards_left: tuple[int, ...]) -> Posterior:
    """Return the posterior over a hand with these hint marks, drawn from the unseen cards
    `cards_left`."""
    return Hidden(game, marks, cards_left).posterior


class Hidden:
    """A hidden hand: its slots with their hints, and the cards that they may hold.

    Cards that may be in the same slots form a pool. The number of ways to fill k slots from a pool
    of m cards is m(m-1)...(m-k+1), so sums over all hands run over pools and sets of slots only.
    """

    def __init__(self, game: Hanabi, marks: tuple[int, ...], cards_left: tuple[int, ...]) -> None:
        self.game, self.marks, self.left = game, marks, cards_left
        pools: dict[int, int] = {}
        self.fits = [0] * len(cards_left)
        for card, n in enumerate(cards_left):
            if n > 0:
                slots = sum(1 << i for i, mark in enumerate(marks) if game.allows(mark, card))
                self.fits[card] = slots
                if slots:
                    pools[slots] = pools.get(slots, 0) + n
        self.pools = list(pools.items())

    @cached_property
    def _behind(self) -> list[dict[int, int]]:
        """For each pool of cards, a count of the ways to fill the remaining slots from this pool
        and the later ones, keyed by the set of slots already filled."""
        full = (1 << len(self.marks)) - 1
        table = [{full: 1}]
        for slots, cards in reversed(self.pools):
            later = table[-1]
            ways_here: dict[int, int] = {}
            for filled, ways in later.items():
                for taken_slots in _subsets(filled & slots):
                    weight = ways * _falling(cards, taken_slots.bit_count())
                    if weight:
                        ways_here[filled ^ taken_slots] = (
                            ways_here.get(filled ^ taken_slots, 0) + weight
                        )
            table.append(ways_here)
        return table[::-1]

    @property
    def total(self) -> int:
        """The number of ways to fill the hand."""
        return self._behind[0].get(0, 0)

    @cached_property
    def posterior(self) -> Posterior:
        """The exact posterior over the hand."""
        n = len(self.marks)
        by_pool = [dict.fromkeys((slots for slots, _ in self.pools), 0) for _ in range(n)]
        ahead = {0: 1}
        for (slots, cards), behind in zip(self.pools, self._behind[1:], strict=True):
            ways_after: dict[int, int] = {}
            for filled, ways in ahead.items():
                for taken_slots in _subsets(slots & ~filled):
                    weight = ways * _falling(cards, taken_slots.bit_count())
                    now = filled | taken_slots
                    ways_after[now] = ways_after.get(now, 0) + weight
                    total_weight = weight * behind.get(now, 0)
                    for slot in range(n):
                        if taken_slots >> slot & 1:
                            by_pool[slot][slots] += total_weight
            ahead = ways_after
        sizes = dict(self.pools)
        return Posterior(
            self.total,
            tuple(
                tuple(
                    by_pool[slot].get(fit, 0) * count // sizes[fit] if fit else 0
                    for fit, count in zip(self.fits, self.left, strict=True)
                )
                for slot in range(n)
            ),
        )

    def cards(self, slot: int) -> set[Card]:
        """Return the cards that a slot may hold: those to which the posterior gives a weight."""
        fitting = {card for card, fit in enumerate(self.fits) if fit >> slot & 1}
        slots = range(len(self.marks))
        choices = (sum(n for fit, n in self.pools if fit >> i & 1) for i in slots)
        if all(n >= len(slots) for n in choices):
            return fitting  # whatever the slot holds, enough cards fit each of the others
        others = tuple(i for i in slots if i != slot)
        pools = dict(self.pools)
        fillable = set()
        for pool in {self.fits[card] for card in fitting}:
            pools[pool] -= 1
            if _can_fill(others, pools):
                fillable.add(pool)
            pools[pool] += 1
        return {card for card in fitting if self.fits[card] in fillable}

    def draw(self, draws: Stream) -> Hand:
        """Draw a hand from the exact posterior."""
        hand = [-1] * len(self.marks)
        filled = 0
        for (slots, cards), behind in zip(self.pools, self._behind[1:], strict=True):
            ways = {
                subset: _falling(cards, subset.bit_count()) * behind.get(filled | subset, 0)
                for subset in _subsets(slots & ~filled)
            }
            largest = max(ways.values())  # integers that may exceed the range of a float
            taken_slots = draws.draw({t: w / largest for t, w in ways.items()})
            pool = [
                c for c, fit in enumerate(self.fits) if fit == slots for _ in range(self.left[c])
            ]
            for slot in range(len(hand)):
                if taken_slots >> slot & 1:
                    hand[slot] = pool.pop(draws.below(len(pool)))
            filled |= taken_slots
        return tuple(hand)

    def hands(self) -> Iterator[tuple[Hand, int]]:
        """Yield every possible hand with its weight."""
        return self._fill((), 1, list(self.left))

    def _fill(self, hand: Hand, weight: int, cards_left: list[int]) -> Iterator[tuple[Hand, int]]:
        slot = len(hand)
        if slot == len(self.marks):
            yield hand, weight
            return
        for card, n in enumerate(cards_left):
            if n > 0 and self.fits[card] >> slot & 1:
                cards_left[card] -= 1
                yield from self._fill((*hand, card), weight * n, cards_left)
                cards_left[card] += 1


def _can_fill(slots: tuple[int, ...], pools: dict[int, int]) -> bool:
    """Return whether there are cards for all these slots; `pools` is left as it was."""
    if not slots:
        return True
    for pool, cards in pools.items():
        if cards and pool >> slots[0] & 1:
            pools[pool] -= 1
            is_filled = _can_fill(slots[1:], pools)
            pools[pool] += 1
            if is_filled:
                return True
    return False


def hidden(game: Hanabi, view: View) -> Hidden:
    """Return the hidden hand of the view's own seat."""
    return Hidden(game, view.marks[view.me], unseen(game, view, view.me))


def playable_chance(
    game: Hanabi, table: State | View, slot_posterior: Posterior, slot: int
) -> Fraction:
    """Return the probability that a slot can be played now."""
    return Fraction(
        sum(slot_posterior.weights[slot][c] for c in game.next_cards(table)), slot_posterior.total
    )


def _subsets(slots: int) -> Iterator[int]:
    """Yield every subset of a set of slots, starting with the full set."""
    subset = slots
    while True:
        yield subset
        if not subset:
            return
        subset = (subset - 1) & slots


def _falling(n: int, k: int) -> int:
    """Return n (n-1) ... (n-k+1), the number of ordered draws of k out of n."""
    ways = 1
    for i in range(k):
        ways *= n - i
    return ways


# --- what another seat can know -------------------------------------------------------------------


MOST_OWN_HANDS = 1_000  # up to this many own hands are enumerated
OWN_HANDS_DRAWN = 50  # otherwise this many are sampled


def is_known_playable(
    game: Hanabi, table: State | View, slot_posterior: Posterior, slot: int
) -> bool:
    """Return whether a slot is certain to hold a playable card."""
    return playable_chance(game, table, slot_posterior, slot) == 1


def with_hand(view: View, hand: Hand) -> View:
    """Return the view with the seat's own hand shown as `hand`."""
    return replace(view, hands=(*view.hands[: view.me], hand, *view.hands[view.me + 1 :]))


def movers_view(view: View, hand: Hand) -> View:
    """Return the mover's view, given a hand for the viewer."""
    hands = with_hand(view, hand).hands
    visible_hands = (*hands[: view.mover], (), *hands[view.mover + 1 :])
    return replace(view, me=view.mover, hands=visible_hands)


def own_hands(game: Hanabi, view: View, draws: Stream) -> list[tuple[Hand, Fraction]]:
    """Return the hands that the seat may hold with their probabilities, or a sample if there are
    too many.

    The cards of each hand are sorted, because the result is used for other seats' card counting, in
    which their order does not matter.
    """
    own_hand = hidden(game, view)
    few = _are_few(own_hand, view)
    weights: dict[Hand, int] = {}
    for hand, weight in (
        own_hand.hands() if few else ((own_hand.draw(draws), 1) for _ in range(OWN_HANDS_DRAWN))
    ):
        key = tuple(sorted(hand))
        weights[key] = weights.get(key, 0) + weight
    total = sum(weights.values())
    return [(hand, Fraction(weight, total)) for hand, weight in weights.items()]


def _are_few(own_hand: Hidden, view: View) -> bool:
    """Return whether the hands that the seat may hold are few enough to be enumerated."""
    return (
        prod(sum(fit >> slot & 1 for fit in own_hand.fits) for slot in range(view.slots))
        <= MOST_OWN_HANDS
    )


def their_posteriors(
    game: Hanabi, view: View, seat: int, draws: Stream
) -> list[tuple[Posterior, Fraction]]:
    """Return the posterior of `seat` for each hand that the viewer may hold, with the hand's
    probability."""
    if _are_few(hidden(game, view), view):
        return _all_posteriors(game, view, seat)
    return _posteriors(game, view, seat, draws)


@lru_cache(maxsize=4)  # each slot is asked about in one turn; nothing is sampled
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
    """Return the mean probability that `seat` assigns to each card in one of its slots."""
    odds = [0.0] * game.highest
    for slot_posterior, chance in their_posteriors(game, view, seat, draws):
        for card, p in enumerate(slot_posterior.odds(slot)):
            odds[card] += float(chance) * p
    return odds


def public_counts(game: Hanabi, view: View, seat: int) -> Posterior:
    """Return the posterior of `seat` as if it saw no other hand; this is the baseline without
    theory of mind."""
    blank = replace(view, hands=((),) * game.players)
    return posterior(game, view.marks[seat], unseen(game, blank, seat))


# --- by reading the moves of others as well -------------------------------------------------------


MOST_HANDS_READ = 5_000  # up to this many possible hands are enumerated
HANDS_DRAWN = 2_000  # otherwise this many are sampled
LEAST_EFFECTIVE = 100.0  # fewer effective samples give no estimate


class CardProbabilities(msgspec.Struct, frozen=True):
    """The probabilities of every card in every slot, and the method by which they were computed."""

    odds: Odds
    exact: bool
    effective: float  # effective sample size; the number of hands if exact


def read(
    game: Hanabi,
    view: View,
    policies: Mapping[int, Policy],
    draws: Stream | None = None,
    most_hands: int = MOST_HANDS_READ,
) -> CardProbabilities | None:
    """Return the belief about the seat's own hand from hints, counting and the others' moves.

    Return None if no hand explains the moves, or if too few of the sampled hands do.
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
    return CardProbabilities(
        tuple(tuple(slot) for slot in odds), exact, float(len(weighed)) if exact else effective
    )


def likelihoods(
    game: Hanabi, view: View, hands: Sequence[Hand], policies: Mapping[int, Policy]
) -> list[float]:
    """Return, for each hand, the probability of the moves of the seats with declared policies.

    The hands imply pasts that differ only in the seat's own cards. So the moves are replayed once,
    and hands with the same cards before a move are evaluated together.
    """
    if not hands:
        return []
    faces_shown, me = revealed_faces(view), view.me
    slots = {id: slot for slot, id in enumerate(view.ids[me])}
    moves = [
        (
            policies[seat],
            past,
            action,
            [(slots.get(id), faces_shown.get(id, -1)) for id in past.ids[me]],
        )
        for seat, past, action in past_views(game, view, hands[0])
        if seat in policies
    ]
    tried: list[dict[Hand, float]] = [{} for _ in moves]
    chances = []
    for hand in hands:
        chance = 1.0
        for (policy, past, action, past_cards), cached in zip(moves, tried, strict=True):
            past_hand = tuple([card if slot is None else hand[slot] for slot, card in past_cards])
            if past_hand not in cached:
                seeing = replace(past, hands=(*past.hands[:me], past_hand, *past.hands[me + 1 :]))
                cached[past_hand] = policy(seeing).get(action, 0.0)
            chance *= cached[past_hand]
            if not chance:
                break
        chances.append(chance)
    return chances


def past_views(game: Hanabi, view: View, hand: Hand) -> Iterator[tuple[int, View, int]]:
    """Yield (seat, its view before the move, action) for each move of another seat, given this
    hand."""
    state = suppose_deal(game, view, hand, revealed_faces(view))
    for event in view.past:
        seat = game.seats[event.by]
        action = game.action_of(event)
        if action is None:
            state = game.forfeit(state, {}, (seat,))
            continue
        if event.by != view.me:
            yield event.by, game.observe(state, seat), action
        state = game.step(state, {seat: action})


def suppose_deal(game: Hanabi, view: View, hand: Hand, faces_shown: Mapping[int, int]) -> State:
    """Return the deal implied by the view and a hand for its seat; undrawn cards are in
    arbitrary order."""
    faces = {**faces_shown, **dict(zip(view.ids[view.me], hand, strict=True))}
    drawn_cards = [faces[id] for id in range(len(game.cards) - view.left)]
    undrawn = list(game.cards)
    for card in drawn_cards:
        undrawn.remove(card)
    return game.dealt((*drawn_cards, *undrawn))


def _all_hands(
    game: Hanabi, view: View, policies: Mapping[int, Policy], limit: int
) -> list[tuple[Hand, float]] | None:
    """Return every possible hand, weighted by prior and likelihood; None if there are too many."""
    hands, weights = list[Hand](), list[int]()
    for hand, weight in hidden(game, view).hands():
        hands.append(hand)
        weights.append(weight)
        if len(hands) > limit:
            return None
    chances = likelihoods(game, view, hands, policies)
    return [(h, weight * p) for h, weight, p in zip(hands, weights, chances, strict=True)]


def _drawn_hands(
    game: Hanabi, view: View, policies: Mapping[int, Policy], draws: Stream
) -> list[tuple[Hand, float]]:
    """Return hands sampled from the posterior that card counting gives, each with the likelihood of
    the others' moves."""
    own_hand = hidden(game, view)
    sampled_hands = [own_hand.draw(draws) for _ in range(HANDS_DRAWN)]
    return list(zip(sampled_hands, likelihoods(game, view, sampled_hands, policies), strict=True))
