"""What a bot remembers: the public past, folded into one table as moves come in."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, TypeVar

from sally.core.rules.history import History
from sally.games.hanabi.rules import Hanabi
from sally.games.hanabi.seen import revealed
from sally.games.hanabi.table import Discarded, Event, Hinted, Passed, Played, View

Policy = Callable[[View], Mapping[int, float]]  # the odds of a bot's moves
NOBODY = -1  # the seat of a memory that several share


M = TypeVar("M", bound="Memory")
T = TypeVar("T")


def of_the_table(count: Callable[[M], T]) -> Callable[[M], T]:
    """What hangs on piles and cards gone alone is counted when one of them changes, and kept."""
    name = count.__name__

    def kept(memory: M) -> T:
        if name not in memory.counted:
            memory.counted[name] = count(memory)
        found: T = memory.counted[name]
        return found

    return kept


class Memory:
    """The table as all saw it; bots that follow conventions add what a card is taken to be."""

    def __init__(self, game: Hanabi, me: int) -> None:
        self.game, self.me = game, me
        size = game.hand_size
        self.ids = [list(range(s * size, (s + 1) * size)) for s in range(game.players)]
        self.piles = [0] * game.colours
        self.gone = [0] * game.highest  # played or discarded
        self.tokens = game.hints
        self.left = len(game.cards) - size * game.players
        self.faces: Mapping[int, int] = {}  # what this seat saw, where that counts
        self.counted: dict[str, Any] = {}  # see `of_the_table`
        for own in self.ids:
            for id in own:
                self.met(id)

    # --- what a bot may add ---------------------------------------------------------------------

    def met(self, id: int) -> None:
        """A card has come into a hand."""

    def before(self, event: Event) -> None:
        """A move is about to be made."""

    def hinted(self, event: Hinted) -> None:
        """A hint was given; tokens are still as before it."""

    def parted(self, event: Played | Discarded) -> None:
        """A card was played or discarded; the table is still as before it."""

    def settled(self, event: Played | Discarded) -> None:
        """A card was played or discarded, and the table shows it."""

    def remembered(self, id: int) -> Hashable:
        """What is remembered of a card in a hand, as a value."""
        return None

    # --- the fold -------------------------------------------------------------------------------

    def see(self, event: Event) -> None:
        """Take one move in."""
        self.before(event)
        if isinstance(event, Passed):
            return
        if isinstance(event, Hinted):
            self.hinted(event)
            self.tokens -= 1
            return
        self.parted(event)
        colour, rank = divmod(event.card, self.game.ranks)
        self.gone[event.card] += 1
        self.counted.clear()
        if isinstance(event, Discarded):
            self.tokens += 1
        elif event.scored:
            self.piles[colour] += 1
            self.tokens += rank + 1 == self.game.ranks and self.tokens < self.game.hints
        self.ids[event.by].remove(event.id)
        if event.drew >= 0:
            self.ids[event.by].append(event.drew)
            self.left -= 1
            self.met(event.drew)
        self.settled(event)

    # --- what all can see -----------------------------------------------------------------------

    @of_the_table
    def next_cards(self) -> int:
        """The cards that can be played now, as bits."""
        ranks = self.game.ranks
        return sum(1 << c * ranks + h for c, h in enumerate(self.piles) if h < ranks)

    def is_tempo(self, hint: Hinted) -> bool:
        """Whether a rank hint only passes the time: all tokens there, the oldest card touched."""
        return (
            hint.value >= self.game.colours
            and self.tokens == self.game.hints
            and (hint.to + 1) % self.game.players == hint.by
            and 0 in hint.touched
        )


def touched_by(game: Hanabi, hand: Sequence[int]) -> list[list[int]]:
    """The slots of a hand that a hint touches, by the hint's value."""
    found: list[list[int]] = [[] for _ in range(game.colours + game.ranks)]
    for slot, card in enumerate(hand):
        colour, rank = divmod(card, game.ranks)
        found[colour].append(slot)
        found[game.colours + rank].append(slot)
    return found


class Recall:
    """Folds the past of a view; goes on from where it was if the past has only grown."""

    def __init__(self, game: Hanabi, make: Callable[[Hanabi, int], Memory]) -> None:
        self.game, self.make = game, make
        self._known: dict[int, tuple[Memory, History[Event]]] = {}

    def of(self, view: View) -> Memory:
        """The memory of what all saw; seats that share it take the past in once."""
        return self._folded(view, NOBODY, {})

    def own(self, view: View) -> Memory:
        """The memory of whoever has this view, which hangs on the cards that this seat has seen."""
        return self._folded(view, view.me, revealed(view))

    def _folded(self, view: View, whose: int, faces: Mapping[int, int]) -> Memory:
        memory, past = self._known.get(whose) or (None, view.past)
        goes_on = memory is not None and view.past.continues(past)
        if memory is None or not goes_on or not memory.faces.items() <= faces.items():
            memory, past = self.make(self.game, whose), History()
        memory.faces = faces
        for event in view.past.since(len(past)):
            memory.see(event)
        self._known[whose] = memory, view.past
        return memory
