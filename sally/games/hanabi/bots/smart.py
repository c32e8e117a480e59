"""SmartBot of Quuxplusone/Hanabi (Arthur O'Dwyer): it also draws conclusions from the absence of
a hint."""

from __future__ import annotations

from functools import partial

from sally.games.hanabi.bots.memory import (
    Cards,
    IdentityMemory,
    best_of_all_hints,
    is_one,
    of_the_table,
    remembering,
    warning,
    within,
)
from sally.games.hanabi.bots.simple import tempo_hint
from sally.games.hanabi.rules import Hanabi
from sally.games.hanabi.state import Discarded, Event, Hinted, Played, Policy, View


class SmartMemory(IdentityMemory):
    """The possible identities of every card, for a seat that also sees the others' cards."""

    # --- kinds of cards ---------------------------------------------------------------------------

    @of_the_table
    def worthless(self) -> Cards:
        """Return the cards that can no longer score: those already played, and those above a
        rank of which all copies are discarded."""
        ranks, cards = self.game.ranks, 0
        for colour, height in enumerate(self.piles):
            reach = height
            while reach < ranks and self.gone[colour * ranks + reach] < self.copies[reach]:
                reach += 1
            for rank in (*range(height), *range(reach, ranks)):
                cards |= 1 << colour * ranks + rank
        return cards

    @of_the_table
    def valuable(self) -> Cards:
        """Return the cards of which one copy is left and that can still score."""
        return self.last_copies() & ~self.worthless()

    def chop(self, seat: int) -> int | None:
        """Return the slot that a seat is about to discard (its chop); None if the seat has a
        better move or must keep all its cards."""
        nexts, worthless, valuable = self.next_cards(), self.worthless(), self.valuable()
        own_cards = [self.may_be[id] for id in self.ids[seat]]
        if any(within(cards, nexts) or within(cards, worthless) for cards in own_cards):
            return None
        slots = [slot for slot, cards in enumerate(own_cards) if not within(cards, valuable)]
        return max(slots, key=lambda s: share(own_cards[s], worthless), default=None)

    # --- conventions ------------------------------------------------------------------------------

    def prepare_event(self, event: Event | None) -> None:
        """Update the card counts, and draw conclusions from warnings that were not given."""
        changed = True
        while changed:
            changed = False
            exhausted = self.exhausted_cards()
            for id, cards in self.may_be.items():
                if cards & exhausted and cards & (cards - 1) and cards & ~exhausted:
                    self.may_be[id] = cards & ~exhausted
                    changed = True
        if event is not None and self.tokens and self.left:
            next_seat = (event.by + 1) % self.game.players
            if not isinstance(event, Hinted) or event.to != next_seat:
                self._not_warned(next_seat)

    def _not_warned(self, seat: int) -> None:
        chop = self.chop(seat)
        if chop is not None:
            id = self.ids[seat][chop]
            self.may_be[id] = self.may_be[id] & ~self.valuable() or self.may_be[id]

    def process_hint(self, event: Hinted) -> None:
        heard = self.after_hint(event)
        for slot, id in enumerate(self.ids[event.to]):
            self.hear(id, event.value, slot in event.touched)
            self.may_be[id] = heard[slot] or self.hints[id]

    def after_hint(self, event: Hinted, warns: bool | None = None) -> list[Cards]:
        """Return the possible identities of a seat's cards after a hint; an empty set is a
        contradiction.

        A caller that already knows whether the hint is a warning can pass `warns` to save the
        computation.
        """
        old = [self.may_be[id] for id in self.ids[event.to]]
        fits = self.values[event.value]
        new = [c & fits if s in event.touched else c & ~fits for s, c in enumerate(old)]
        if self.is_tempo(event):
            return new
        if self.warns(event) if warns is None else warns:
            chop = self.chop(event.to)
            assert chop is not None
            new[chop] &= self.valuable()
            return new
        slot = self.signalled_slot(event, old, new)
        if slot is not None:
            new[slot] &= self.next_cards()
        return new

    def signalled_slot(self, event: Hinted, old: list[Cards], new: list[Cards]) -> int | None:
        """Return the slot that a hint signals as playable; None if the literal content of the
        hint already proves that a card is playable."""
        nexts = self.next_cards()
        maybe = [s for s, cards in enumerate(old) if cards & nexts and cards & ~nexts]
        if any(within(new[slot], nexts) for slot in maybe):
            return None
        open_still = [s for s in maybe if s in event.touched and new[s] & nexts]
        return max(open_still, default=None)

    def warns(self, event: Hinted) -> bool:
        """Return whether a rank hint warns the next seat that the card it would discard must be
        kept."""
        if event.value < self.game.colours or event.to != (event.by + 1) % self.game.players:
            return False
        chop = self.chop(event.to)
        if chop is None or chop not in event.touched:
            return False
        cards, valuable = self.may_be[self.ids[event.to][chop]], self.valuable()
        return bool(cards & ~valuable and cards & valuable & self.values[event.value])

    def process_parting(self, event: Played | Discarded) -> None:
        """Infer from the discard of a known playable card that another seat holds a copy."""
        cards = self.may_be[event.id]
        if isinstance(event, Discarded) and is_one(cards) and cards & self.next_cards():
            others = [s for s in range(self.game.players) if s not in (event.by, self.me)]
            holds = [s for s in others if self.faces.get(self.ids[s][-1]) == event.card]
            if not holds and event.by != self.me:
                holds = [self.me]
            for seat in holds:
                self.narrow(self.ids[seat][-1], cards)


def share(cards: Cards, kind: Cards) -> float:
    """Return the fraction of possible identities that are in the set `kind`; each identity
    counts once, regardless of its copies."""
    return (cards & kind).bit_count() / cards.bit_count()


def smart(game: Hanabi) -> Policy:
    """Return the bot for this game."""
    return remembering(game, SmartMemory, _move, sees_hands=True)


def _move(game: Hanabi, view: View, memory: SmartMemory) -> int:
    own_cards = _own_cards(view, memory)
    if not view.left:
        sure_move = _sure_play(game, view, memory, own_cards) or _risky_play(
            game, view, memory, own_cards
        )
        if sure_move is not None:
            return sure_move
    gain = partial(_hint_value, view, memory)
    if view.tokens:
        chop = memory.chop((view.me + 1) % game.players)
        warned = warning(game, view, chop, memory.valuable(), gain)
        if warned is not None:
            return warned
    if view.tokens < game.hints and (slot := _double(game, view, memory)) is not None:
        return slot
    play = _sure_play(game, view, memory, own_cards)
    if play is not None:
        return play
    if view.tokens:
        gain_of_hint, hint = best_of_all_hints(game, view, gain)
        if gain_of_hint > 0:
            return hint
    if view.left <= (3 if view.lives == 3 else 1):
        risky = _risky_play(game, view, memory, own_cards)
        if risky is not None:
            return risky
    return (
        tempo_hint(game, view) if view.tokens == game.hints else _discard(view, memory, own_cards)
    )


def _own_cards(view: View, memory: SmartMemory) -> list[Cards]:
    """Return the possible identities of the seat's own cards, given the other hands too."""
    counts = list(memory.gone)
    for hand in view.hands:
        for card in hand:
            counts[card] += 1
    own_cards = [memory.may_be[id] for id in view.ids[view.me]]
    for cards in own_cards:
        if is_one(cards):
            counts[cards.bit_length() - 1] += 1
    out = sum(1 << card for card, n in enumerate(counts) if n >= memory.copies[card])
    return [cards if is_one(cards) else (cards & ~out) or cards for cards in own_cards]


def _sure_play(game: Hanabi, view: View, memory: SmartMemory, own_cards: list[Cards]) -> int | None:
    """Return the play of a certainly playable card, or None; cards that only this seat knows to
    be playable come first, then low cards."""
    nexts = memory.next_cards()
    best, play = 0, None
    for slot, cards in enumerate(own_cards):
        if within(cards, nexts):
            public = memory.may_be[view.ids[view.me][slot]]
            rank = memory.rank_of(cards)
            value = (game.ranks - rank if rank >= 0 else game.ranks + 2) + 100 * (
                not within(public, nexts)
            )
            if value > best:
                best, play = value, game.play(slot)
    return play


def _risky_play(
    game: Hanabi, view: View, memory: SmartMemory, own_cards: list[Cards]
) -> int | None:
    """Return a play of the card most likely to be playable (the newest in a tie), or None."""
    nexts = memory.next_cards()
    slots = [s for s, cards in enumerate(own_cards) if cards & nexts and cards & ~nexts]
    best = max(slots, key=lambda s: (share(own_cards[s], nexts), s), default=None)
    return None if best is None else game.play(best)


def _double(game: Hanabi, view: View, memory: SmartMemory) -> int | None:
    """Return the slot of a known playable card of which another seat holds a copy as its newest
    card, or None."""
    spare_cards = memory.next_cards() & ~memory.valuable()
    for slot, id in enumerate(view.ids[view.me]):
        cards = memory.may_be[id]
        if is_one(cards) and cards & spare_cards:
            card = cards.bit_length() - 1
            newest = [hand[-1] for hand in view.hands if hand]
            if newest.count(card) == 1:
                return slot
    return None


def _discard(view: View, memory: SmartMemory, own_cards: list[Cards]) -> int:
    worthless = memory.worthless()
    public = [memory.may_be[id] for id in view.ids[view.me]]
    useless = [slot for slot, cards in enumerate(own_cards) if within(cards, worthless)]
    if useless:
        return min(useless, key=lambda slot: share(public[slot], worthless))
    chop = memory.chop(view.me)
    if chop is not None:
        return chop
    return max(range(len(own_cards)), key=lambda slot: memory.rank_of(own_cards[slot]))


def _hint_value(view: View, memory: SmartMemory, hint: Hinted) -> int:
    """Return how many identities a hint rules out.

    The result is 0 if the hint warns, misleads or reveals nothing playable.
    """
    if memory.warns(hint):
        return 0
    nexts, hand = memory.next_cards(), view.hands[hint.to]
    old = [memory.may_be[id] for id in view.ids[hint.to]]
    new = memory.after_hint(hint, warns=False)
    newly_playable = [
        s for s, c in enumerate(old) if c & nexts and c & ~nexts and within(new[s], nexts)
    ]
    if not any(nexts >> hand[slot] & 1 for slot in newly_playable):
        return 0
    return sum(o.bit_count() - n.bit_count() for o, n in zip(old, new, strict=True))
