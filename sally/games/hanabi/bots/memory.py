"""Memory of a bot: the public history, summarised in one table that is updated move by move."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from sally.core.rules.history import History
from sally.games.hanabi.rules import Hanabi
from sally.games.hanabi.state import (
    Discarded,
    Event,
    Hinted,
    Passed,
    Played,
    Policy,
    View,
    revealed_faces,
)

SHARED = -1  # the seat of a memory that several seats share


M = TypeVar("M", bound="Memory")
T = TypeVar("T")


def of_the_table(count: Callable[[M], T]) -> Callable[[M], T]:
    """Cache the result of a method that depends only on piles and discards, until these change."""
    name = count.__name__

    def count_cached(memory: M) -> T:
        if name not in memory.counted:
            memory.counted[name] = count(memory)
        result: T = memory.counted[name]
        return result

    return count_cached


class Memory:
    """A memory of the public table; subclasses add the inferences of a convention about each
    card."""

    def __init__(self, game: Hanabi, me: int) -> None:
        self.game, self.me = game, me
        size = game.hand_size
        self.ids = [list(range(s * size, (s + 1) * size)) for s in range(game.players)]
        self.piles = [0] * game.colours
        self.gone = [0] * game.highest  # played or discarded
        self.tokens = game.hints
        self.left = len(game.cards) - size * game.players
        self.faces: Mapping[int, int] = {}  # what this seat saw, if the memory uses it
        self.counted: dict[str, Any] = {}  # see `of_the_table`
        for hand_ids in self.ids:
            for id in hand_ids:
                self.add_card(id)

    # --- hooks for bots ---------------------------------------------------------------------------

    def add_card(self, id: int) -> None:
        """Process a card that enters a hand (a hook for subclasses)."""

    def prepare_event(self, event: Event | None) -> None:
        """Prepare for an event (a hook for subclasses); called before each event is processed, and
        with None before the bot decides on its move."""

    def process_hint(self, event: Hinted) -> None:
        """Process a hint before its token is spent (a hook for subclasses)."""

    def process_parting(self, event: Played | Discarded) -> None:
        """Process a played or discarded card before the piles and discards are updated (a hook for
        subclasses)."""

    def process_outcome(self, event: Played | Discarded) -> None:
        """Process a played or discarded card after the piles and discards have been updated (a hook
        for subclasses)."""

    def card_memory(self, id: int) -> Hashable:
        """Return the memory of a card in a hand as a hashable value."""
        return None

    # --- the fold ---------------------------------------------------------------------------------

    def see(self, event: Event) -> None:
        """Update the memory with one event."""
        self.prepare_event(event)
        if isinstance(event, Passed):
            return
        if isinstance(event, Hinted):
            self.process_hint(event)
            self.tokens -= 1
            return
        self.process_parting(event)
        colour, rank = divmod(event.card, self.game.ranks)
        self.gone[event.card] += 1
        self.counted.clear()
        if isinstance(event, Discarded):
            self.tokens += self.tokens < self.game.hints
        elif event.scored:
            self.piles[colour] += 1
            self.tokens += rank + 1 == self.game.ranks and self.tokens < self.game.hints
        self.ids[event.by].remove(event.id)
        if event.drew >= 0:
            self.ids[event.by].append(event.drew)
            self.left -= 1
            self.add_card(event.drew)
        self.process_outcome(event)

    # --- public facts -----------------------------------------------------------------------------

    @of_the_table
    def next_cards(self) -> int:
        """Return the cards that can be played now, as a bit set."""
        ranks = self.game.ranks
        return sum(1 << c * ranks + h for c, h in enumerate(self.piles) if h < ranks)

    def is_tempo(self, hint: Hinted) -> bool:
        """Return whether a rank hint merely passes the turn: all tokens are available and the
        hint touches the previous seat's oldest card."""
        return (
            hint.value >= self.game.colours
            and self.tokens == self.game.hints
            and (hint.to + 1) % self.game.players == hint.by
            and 0 in hint.touched
        )


def touched_by(game: Hanabi, hand: Sequence[int]) -> list[list[int]]:
    """Return, for each hint value, the slots of a hand that the hint touches."""
    slots_by_value: list[list[int]] = [[] for _ in range(game.colours + game.ranks)]
    for slot, card in enumerate(hand):
        colour, rank = divmod(card, game.ranks)
        slots_by_value[colour].append(slot)
        slots_by_value[game.colours + rank].append(slot)
    return slots_by_value


class Recall(Generic[M]):
    """A memory built from a view's past and updated incrementally as long as the past only
    grows."""

    def __init__(self, game: Hanabi, make: Callable[[Hanabi, int], M]) -> None:
        self.game, self.make = game, make
        self._known: dict[int, tuple[M, History[Event]]] = {}

    def of(self, view: View, own: bool = False) -> M:
        """Return the memory of public events, shared by all seats, or, with `own`, the memory of
        the view's own seat, which also depends on the cards that this seat has seen."""
        whose, faces = (view.me, revealed_faces(view)) if own else (SHARED, {})
        memory, past = self._known.get(whose) or (None, view.past)
        continues = memory is not None and view.past.continues(past)
        if memory is None or not continues or not memory.faces.items() <= faces.items():
            memory, past = self.make(self.game, whose), History()
        memory.faces = faces
        for event in view.past.since(len(past)):
            memory.see(event)
        self._known[whose] = memory, view.past
        return memory


def remembering(
    game: Hanabi,
    make: Callable[[Hanabi, int], M],
    move: Callable[[Hanabi, View, M], int],
    sees_hands: bool = False,
) -> Policy:
    """Return a policy whose moves `move` chooses from a view and a memory.

    With `sees_hands`, the memory also depends on the cards that its seat has seen.
    """
    recall = Recall(game, make)

    def policy(view: View) -> Mapping[int, float]:
        memory = recall.of(view, sees_hands)
        memory.prepare_event(None)
        return {move(game, view, memory): 1.0}

    return policy


def best_hint(
    game: Hanabi, view: View, ahead: int, value_of: Callable[[Hinted], int]
) -> tuple[int, int]:
    """Return the value of the best hint to a seat, and the hint; (0, -1) if no hint has a value
    above 0."""
    seat = (view.me + ahead) % game.players
    best = (0, -1)
    for value, touched in enumerate(touched_by(game, view.hands[seat])):
        if touched:
            gain = value_of(Hinted(view.me, seat, value, tuple(touched)))
            if gain > best[0]:
                best = (gain, game.hint(ahead, value))
    return best


def best_of_all_hints(
    game: Hanabi, view: View, value_of: Callable[[Hinted], int]
) -> tuple[int, int]:
    """Return the value of the best hint to any seat, and the hint; (0, -1) if no hint has a value
    above 0."""
    hints = (best_hint(game, view, ahead, value_of) for ahead in range(1, game.players))
    return max(hints, key=lambda gain_and_hint: gain_and_hint[0])


def warning(
    game: Hanabi, view: View, chop: int | None, keep: int, value_of: Callable[[Hinted], int]
) -> int | None:
    """Return a hint that stops the next seat from discarding the card in its slot `chop` if that is
    one of the cards `keep` (a bit set), or None."""
    hand = view.hands[(view.me + 1) % game.players]
    if chop is None or not keep >> hand[chop] & 1:
        return None
    gain, hint = best_hint(game, view, 1, value_of)
    return hint if gain > 0 else game.hint(1, game.colours + hand[chop] % game.ranks)


# --- sets of cards as bits, and a memory of what every card may be --------------------------------


Cards = int  # a set of cards, one bit each


def is_one(cards: Cards) -> bool:
    """Return whether a set holds exactly one card."""
    return cards != 0 and cards & (cards - 1) == 0


def within(cards: Cards, others: Cards) -> bool:
    """Return whether a set is a non-empty subset of another."""
    return cards != 0 and not cards & ~others


class IdentityMemory(Memory):
    """The possible identities of every card in a hand, from public events."""

    def __init__(self, game: Hanabi, me: int) -> None:
        ranks, colours = game.ranks, game.colours
        self.everything: Cards = (1 << game.highest) - 1
        by_colour = [((1 << ranks) - 1) << c * ranks for c in range(colours)]
        by_rank = [sum(1 << c * ranks + r for c in range(colours)) for r in range(ranks)]
        self.values = (*by_colour, *by_rank)  # the cards that match a hint, by its value
        self.copies = [game.copies_of[card % ranks] for card in range(game.highest)]
        self.may_be: dict[int, Cards] = {}
        self.hints: dict[int, Cards] = {}  # possible identities by the hints alone
        super().__init__(game, me)

    def add_card(self, id: int) -> None:
        self.may_be[id] = self.hints[id] = self.everything

    def process_outcome(self, event: Played | Discarded) -> None:
        del self.may_be[event.id], self.hints[event.id]

    def narrow(self, id: int, cards: Cards) -> None:
        """Restrict a card to these identities; if none of them is possible, keep all identities
        that the hints allow."""
        self.may_be[id] = (self.may_be[id] & cards) or self.hints[id]

    def hear(self, id: int, value: int, fits: bool) -> None:
        """Apply a hint to one card."""
        cards = self.values[value] if fits else ~self.values[value]
        self.hints[id] &= cards
        self.narrow(id, cards)

    def rank_of(self, cards: Cards) -> int:
        """Return the rank shared by all cards of a set, or -1."""
        return self._common(cards, range(self.game.colours, self.game.colours + self.game.ranks))

    def colour_of(self, cards: Cards) -> int:
        """Return the colour shared by all cards of a set, or -1."""
        return self._common(cards, range(self.game.colours))

    def _common(self, cards: Cards, values: Sequence[int]) -> int:
        for n, value in enumerate(values):
            if within(cards, self.values[value]):
                return n
        return -1

    def exhausted_cards(self) -> Cards:
        """Return the cards whose copies are all played, discarded or known to be in a hand."""
        gone, certain = self.all_gone(), dict[Cards, int]()
        for cards in self.may_be.values():
            if cards and not cards & (cards - 1):  # `is_one`, inlined for speed
                certain[cards] = certain.get(cards, 0) + 1
        for cards, n in certain.items():
            card = cards.bit_length() - 1
            if self.gone[card] + n >= self.copies[card]:
                gone |= cards
        return gone

    @of_the_table
    def all_gone(self) -> Cards:
        """Return the cards whose copies are all played or discarded."""
        return sum(1 << card for card, n in enumerate(self.gone) if n >= self.copies[card])

    @of_the_table
    def on_piles(self) -> Cards:
        """Return the cards that have been played."""
        ranks = self.game.ranks
        return sum(((1 << height) - 1) << c * ranks for c, height in enumerate(self.piles))

    @of_the_table
    def last_copies(self) -> Cards:
        """Return the cards of which one copy is left."""
        return sum(1 << c for c, n in enumerate(self.gone) if n == self.copies[c] - 1)
