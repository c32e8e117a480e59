"""SimpleBot of Quuxplusone/Hanabi (Arthur O'Dwyer): every card that a hint touches can be
played."""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial

import msgspec

from sally.games.hanabi.bots.memory import Memory, best_of_all_hints, remembering
from sally.games.hanabi.rules import Hanabi
from sally.games.hanabi.state import Discarded, Hinted, Played, Policy, View


class CardInformation(msgspec.Struct):
    """The information about a card; a colour or rank is -1 if it was not hinted."""

    colour: int = -1
    rank: int = -1
    go: bool = False


class SimpleMemory(Memory):
    """Notes on every card in a hand."""

    def __init__(self, game: Hanabi, me: int) -> None:
        self.notes: dict[int, CardInformation] = {}
        super().__init__(game, me)

    def add_card(self, id: int) -> None:
        self.notes[id] = CardInformation()

    def card_memory(self, id: int) -> Hashable:
        return msgspec.structs.astuple(self.notes[id])

    def process_hint(self, event: Hinted) -> None:
        if self.is_tempo(event):
            return
        colours = self.game.colours
        for slot in event.touched:
            note = self.notes[self.ids[event.to][slot]]
            if event.value < colours:
                note.colour, note.rank = event.value, self.piles[event.value]
            else:
                note.rank = event.value - colours
            note.go = True

    def process_outcome(self, event: Played | Discarded) -> None:
        del self.notes[event.id]
        if isinstance(event, Played):
            colour, rank = divmod(event.card, self.game.ranks)
            for note in self.notes.values():
                may_be_same = note.colour in (-1, colour) and note.rank in (-1, rank)
                if may_be_same and note.rank != self.game.ranks - 1:
                    note.go = False


def simple(game: Hanabi) -> Policy:
    """Return the bot for this game."""
    return remembering(game, SimpleMemory, _move)


def _move(game: Hanabi, view: View, memory: SimpleMemory) -> int:
    own_notes = [memory.notes[id] for id in view.ids[view.me]]
    going = [slot for slot, note in enumerate(own_notes) if note.go]
    if going:
        return game.play(min(going, key=lambda slot: own_notes[slot].rank))
    if view.tokens:
        gain_of_hint, hint = best_of_all_hints(game, view, partial(_hint_value, view, memory))
        if gain_of_hint > 0:
            return hint
    return tempo_hint(game, view) if view.tokens == game.hints else 0


def _hint_value(view: View, memory: SimpleMemory, hint: Hinted) -> int:
    """Return how many touched cards were not yet hinted as playable; 0 if the hint touches a card
    that is not playable."""
    nexts, hand, ids = memory.next_cards(), view.hands[hint.to], view.ids[hint.to]
    if not all(nexts >> hand[slot] & 1 for slot in hint.touched):
        return 0
    return sum(not memory.notes[ids[slot]].go for slot in hint.touched)


def tempo_hint(game: Hanabi, view: View) -> int:
    """Return the hint of the rank of the previous seat's oldest card, which means nothing by
    convention.

    In games with one-card hands, the previous seat may have no card left; the move returned is then
    a play instead of a hint.
    """
    if not view.hands[view.me - 1]:
        return game.play(0)
    card = view.hands[view.me - 1][0]
    return game.hint(game.players - 1, game.colours + card % game.ranks)
