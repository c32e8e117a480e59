"""HolmesBot of Quuxplusone/Hanabi (Arthur O'Dwyer).

The bot extends SimpleBot with negative information and warnings about cards that must be kept.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial

import msgspec

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


class Flags(msgspec.Struct):
    """The status of a card by convention, besides its possible identities."""

    go: bool = False
    valuable: bool = False
    worthless: bool = False


class HolmesMemory(IdentityMemory):
    """The possible identities and flags of every card in a hand."""

    def __init__(self, game: Hanabi, me: int) -> None:
        self.flags: dict[int, Flags] = {}
        super().__init__(game, me)

    def add_card(self, id: int) -> None:
        super().add_card(id)
        self.flags[id] = Flags()

    def card_memory(self, id: int) -> Hashable:
        flags = msgspec.structs.astuple(self.flags[id])
        return (self.may_be[id], self.hints[id], *flags)

    @of_the_table
    def valuable(self) -> Cards:
        """Return the cards of which one copy is left and that still have to be played."""
        return self.last_copies() & ~self.on_piles()

    def chop(self, seat: int) -> int | None:
        """Return the slot that a seat is about to discard (its chop); None if the seat has a
        better move or must keep all its cards."""
        own_flags = [self.flags[id] for id in self.ids[seat]]
        if any(flag.go or flag.worthless for flag in own_flags):
            return None
        return next((slot for slot, flag in enumerate(own_flags) if not flag.valuable), None)

    def prepare_event(self, event: Event | None) -> None:
        """Apply all inferences that follow from public events."""
        nexts, played, valuable = self.next_cards(), self.on_piles(), self.valuable()
        changed = True
        while changed:
            changed = False
            exhausted = self.exhausted_cards()
            for id, cards in self.may_be.items():
                flag = self.flags[id]
                if not is_one(cards):
                    remaining = cards & ~exhausted
                    remaining &= valuable if flag.valuable else -1
                    remaining &= nexts if flag.go else -1
                    remaining &= played if flag.worthless else -1
                    if remaining and remaining != cards:
                        self.may_be[id] = cards = remaining
                        changed = True
                changed |= _flag(flag, cards, nexts, played, valuable)

    def process_hint(self, event: Hinted) -> None:
        if self.is_tempo(event):
            return
        colours, ids = self.game.colours, self.ids[event.to]
        warned = event.value >= colours and self.warns(event.to, event.value, event.touched)
        if warned:
            self._warn(event)
        for slot, id in enumerate(ids):
            touched = slot in event.touched
            self.hear(id, event.value, touched)
            flag = self.flags[id]
            if not touched or flag.worthless:
                continue
            if event.value < colours:
                if self.rank_of(self.may_be[id]) < 0:
                    self.narrow(id, self.next_of(event.value))
            elif not warned and self.colour_of(self.may_be[id]) < 0:
                flag.go = True

    def next_of(self, colour: int) -> Cards:
        """Return the next playable card of a colour; an empty set once the pile of this colour
        is complete."""
        return self.next_cards() & self.values[colour]

    def warns(self, seat: int, value: int, touched: tuple[int, ...]) -> bool:
        """Return whether a rank hint warns that the card about to be discarded must be kept."""
        chop = self.chop(seat)
        if chop is None or chop not in touched:
            return False
        open_there = self.may_be[self.ids[seat][chop]]
        return bool(open_there & self.valuable() & self.values[value])

    def _warn(self, event: Hinted) -> None:
        chop = self.chop(event.to)
        assert chop is not None
        flag = self.flags[self.ids[event.to][chop]]
        flag.valuable = True
        flag.go = flag.go or event.value - self.game.colours == min(self.piles)

    def process_parting(self, event: Played | Discarded) -> None:
        """Remove the play signal from the other copies of a card that is about to be played
        successfully."""
        was_last = self.last_copies() >> event.card & 1
        if isinstance(event, Played) and event.scored and not was_last:
            for id, flag in self.flags.items():
                if flag.go and not flag.valuable and self.may_be[id] >> event.card & 1:
                    flag.go = False

    def process_outcome(self, event: Played | Discarded) -> None:
        super().process_outcome(event)
        del self.flags[event.id]


def _flag(flag: Flags, cards: Cards, nexts: Cards, played: Cards, valuable: Cards) -> bool:
    """Set the flags implied by the possible identities of a card; return whether any flag
    changed."""
    go, keep = flag.go, flag.valuable
    if not go and not keep and within(cards, played):
        new = not flag.worthless
        flag.worthless = True
        return new
    if not keep and within(cards, valuable):
        flag.valuable = True
    if not go and within(cards, nexts):
        flag.go = True
    return flag.go is not go or flag.valuable is not keep


def holmes(game: Hanabi) -> Policy:
    """Return the bot for this game."""
    return remembering(game, HolmesMemory, _move)


def _move(game: Hanabi, view: View, memory: HolmesMemory) -> int:
    flags = [memory.flags[id] for id in view.ids[view.me]]
    may_be = [memory.may_be[id] for id in view.ids[view.me]]
    gain = partial(_hint_value, game, view, memory)
    if view.tokens:
        chop = memory.chop((view.me + 1) % game.players)
        warned = warning(game, view, chop, memory.valuable(), gain)
        if warned is not None:
            return warned
    going = [slot for slot, flag in enumerate(flags) if flag.go]
    if going:
        return game.play(min(going, key=lambda slot: memory.rank_of(may_be[slot])))
    if view.tokens:
        gain_of_hint, hint = best_of_all_hints(game, view, gain)
        if gain_of_hint > 0:
            return hint
    if view.left <= 1:
        for slot in reversed(range(len(flags))):
            if not flags[slot].worthless and not is_one(may_be[slot]):
                return game.play(slot)
    if view.tokens == game.hints:
        return tempo_hint(game, view)
    return _discard(memory, flags, may_be)


def _discard(memory: HolmesMemory, flags: list[Flags], may_be: list[Cards]) -> int:
    for slot, flag in enumerate(flags):
        if flag.worthless:
            return slot
    for slot, flag in enumerate(flags):
        if not flag.valuable:
            return slot
    return max(range(len(flags)), key=lambda slot: memory.rank_of(may_be[slot]))


def _hint_value(game: Hanabi, view: View, memory: HolmesMemory, hint: Hinted) -> int:
    """Return how many new playable cards a hint touches; 0 if it would mislead."""
    hand, ids = view.hands[hint.to], view.ids[hint.to]
    value, touched = hint.value, hint.touched
    if value >= game.colours and memory.warns(hint.to, value, touched):
        return 0
    known_part = memory.rank_of if value < game.colours else memory.colour_of
    nexts, n_new = memory.next_cards(), 0
    for slot in touched:
        flag = memory.flags[ids[slot]]
        if nexts >> hand[slot] & 1:
            n_new += not flag.go
        elif known_part(memory.may_be[ids[slot]]) < 0 and not flag.worthless:
            return 0
    return n_new
