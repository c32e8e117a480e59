"""The rules of Hanabi: one sees every hand but one's own; hint, discard or play in turn.

Actions are numbers, in the order of the Hanabi Learning Environment (Bard et al. 2020): discard a
slot, play a slot, tell a seat a colour, tell a seat a rank; seats are counted from the mover.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import msgspec

from sally.core.errors import BadInput
from sally.core.rules.game import NATURE, Game, Seat
from sally.games.hanabi import menus
from sally.games.hanabi.cards import (
    DEALS,
    DIGIT,
    DIGITS,
    Card,
    default_copies,
    full_deck,
    shuffled,
)
from sally.games.hanabi.table import Discarded, Event, Hinted, Passed, Played, State, View

SEATS = tuple(map(Seat, ("ann", "bob", "cat", "dan", "eve")))
MOST_COLOURS = MOST_RANKS = 5


@dataclass(frozen=True)
class Hanabi(Game[State, int, View]):
    """Two to five players; `score` says what piles are worth once all lives are lost."""

    players: int = 2
    colours: int = 5
    ranks: int = 5
    copies: tuple[int, ...] = ()  # of each rank; empty: three, two ..., one
    hand: int | None = None  # None: five for two or three players, four for more
    hints: int = 8
    lives: int = 3
    score: Literal["zero", "kept"] = "zero"  # zero: nothing counts once the lives are lost
    deal: int | None = None  # the number of the shuffle; None: nature names it
    deck: tuple[int, ...] = ()  # an order of one's own, in place of a shuffle
    reminders: bool = True  # whether the page repeats what hints have said of each card
    pass_limit: int = 3  # so many forfeited turns in a row end the episode without a result

    helpers = (NATURE,)
    pays_as_it_goes = True

    def __post_init__(self) -> None:
        check(self)

    @cached_property
    def seats(self) -> tuple[Seat, ...]:  # type: ignore[override]
        return SEATS[: self.players]

    # --- the rules ------------------------------------------------------------------------------

    def start(self) -> State:
        if self.deck:
            return self.dealt(self.deck)
        return State(()) if self.deal is None else self.dealt(shuffled(self.cards, self.deal))

    def to_move(self, state: State) -> tuple[Seat, ...]:
        if not state.deck:
            return self.helpers
        return () if self.over(state) else self._turn[state.mover]

    def options(self, state: State, seat: Seat) -> tuple[int, ...]:
        if seat == NATURE:
            return menus.DIGITS_MENU
        return self.legal(state, self.seats.index(seat))

    def odds(self, state: State) -> Mapping[int, float]:
        return menus.DIGITS_ODDS

    def step(self, state: State, moves: Mapping[Seat, int]) -> State:
        ((_, action),) = moves.items()
        if not state.deck:
            named = (*state.named, action)
            if len(named) < DIGITS:
                return State((), named=named)
            return self.dealt(shuffled(self.cards, _number(named)))
        if action < 2 * self.hand_size:
            return self._parted(state, action)
        return self._told(state, action)

    def forfeit(
        self, state: State, moves: Mapping[Seat, int], forfeited: tuple[Seat, ...]
    ) -> State:
        """The turn passes; in the final round it is that seat's last one."""
        return msgspec.structs.replace(
            state,
            mover=(state.mover + 1) % self.players,
            last=state.last - (state.drawn == len(state.deck)),
            passes=state.passes + 1,
            past=state.past.append(Passed(state.mover)),
        )

    def censored(self, state: State) -> str | None:
        if state.passes < self.pass_limit:
            return None
        return f"{state.passes} turns in a row were forfeited"

    def observe(self, state: State, seat: Seat) -> View:
        hands = state.hands
        me = -1 if seat == NATURE else self.seats.index(seat)
        return View(
            me,
            () if not hands or me < 0 else (*hands[:me], (), *hands[me + 1 :]),
            state.ids,
            state.marks,
            state.piles,
            state.gone,
            state.tokens,
            state.lives,
            len(state.deck) - state.drawn,
            state.mover,
            state.last,
            state.past,
        )

    def payoffs(self, state: State) -> Mapping[Seat, float]:
        """All seats win or lose together."""
        lost = self.score == "zero" and state.deck and not state.lives
        return dict.fromkeys(self.seats, 0.0 if lost else float(sum(state.piles)))

    def widest_menu(self) -> int:
        return 2 * self.hand_size + (self.players - 1) * (self.colours + self.ranks)

    def legal(self, table: State | View, me: int) -> tuple[int, ...]:
        """What seat number `me` may do: nothing of it depends on its own cards."""
        n, own = self.players, len(table.ids[me])
        sizes = (n, self.colours, self.ranks, self.hand_size)
        menu = menus.slot_actions(0, own) if table.tokens < self.hints else ()
        menu += menus.slot_actions(self.hand_size, own)
        if not table.tokens:
            return menu
        colours: tuple[int, ...] = ()
        ranks: tuple[int, ...] = ()
        for ahead in range(1, n):
            bits = 0
            for card in table.hands[(me + ahead) % n]:
                bits |= self.bits[card]
            told = menus.hint_menu(*sizes, ahead, bits)
            colours += told[0]
            ranks += told[1]
        return menu + colours + ranks

    # --- how a turn goes ------------------------------------------------------------------------

    def over(self, state: State) -> bool:
        """Whether the lives are lost, the piles complete, or the final round played."""
        return not state.lives or not state.last or sum(state.piles) == self.highest

    def dealt(self, deck: tuple[Card, ...]) -> State:
        """The table after the deal: the first seat has the first cards of the deck."""
        n, size = self.players, self.hand_size
        ids = tuple(tuple(range(s * size, (s + 1) * size)) for s in range(n))
        return State(
            deck,
            ids,
            tuple(tuple(deck[i] for i in own) for own in ids),
            ((self.unhinted,) * size,) * n,
            n * size,
            (0,) * self.colours,
            (0,) * (self.colours * self.ranks),
            self.hints,
            self.lives,
            last=n,
        )

    def _parted(self, state: State, action: int) -> State:
        """A card leaves a hand, and another is drawn, unless the game or the deck is at its end."""
        me, slot = state.mover, action % self.hand_size
        card, id = state.hands[me][slot], state.ids[me][slot]
        piles, gone, tokens, lives = state.piles, state.gone, state.tokens, state.lives
        colour, rank = divmod(card, self.ranks)
        plays, scored = action >= self.hand_size, piles[colour] == rank
        if plays and scored:
            piles = _counted(piles, colour)
            tokens += rank + 1 == self.ranks and tokens < self.hints
        else:
            gone = _counted(gone, card)
            tokens, lives = (tokens, lives - 1) if plays else (tokens + 1, lives)
        empty = state.drawn == len(state.deck)
        ended = not lives or (plays and sum(piles) == self.highest)
        drew = -1 if empty or ended else state.drawn
        drawn = drew >= 0
        return State(
            state.deck,
            _changed(state.ids, me, slot, (drew,) if drawn else ()),
            _changed(state.hands, me, slot, (state.deck[drew],) if drawn else ()),
            _changed(state.marks, me, slot, (self.unhinted,) if drawn else ()),
            state.drawn + drawn,
            piles,
            gone,
            tokens,
            lives,
            (me + 1) % self.players,
            state.last - empty,
            0,
            state.past.append(
                Played(me, slot, id, card, scored, drew)
                if plays
                else Discarded(me, slot, id, card, drew)
            ),
        )

    def _told(self, state: State, action: int) -> State:
        """A hint: it points at every card it fits, and thereby says what the others are not."""
        ahead, value = self.hint_of(action)
        to = (state.mover + ahead) % self.players
        bit, all_bits, kept = 1 << value, self.bits, self._told_masks[value]
        fits = [all_bits[card] & bit for card in state.hands[to]]
        marks = tuple(
            [
                mark & kept if fit else mark & ~bit
                for mark, fit in zip(state.marks[to], fits, strict=True)
            ]
        )
        touched = tuple([slot for slot, fit in enumerate(fits) if fit])
        return State(
            state.deck,
            state.ids,
            state.hands,
            (*state.marks[:to], marks, *state.marks[to + 1 :]),
            state.drawn,
            state.piles,
            state.gone,
            state.tokens - 1,
            state.lives,
            (state.mover + 1) % self.players,
            state.last - (state.drawn == len(state.deck)),
            0,
            state.past.append(Hinted(state.mover, to, value, touched)),
        )

    # --- cards, actions and their numbers -------------------------------------------------------

    @cached_property
    def hand_size(self) -> int:
        return self.hand if self.hand is not None else 5 if self.players < 4 else 4

    @cached_property
    def copies_of(self) -> tuple[int, ...]:
        """How many cards there are of each rank."""
        return self.copies or default_copies(self.ranks)

    @cached_property
    def cards(self) -> tuple[Card, ...]:
        """The whole deck, sorted."""
        return full_deck(self.colours, self.copies_of)

    @cached_property
    def highest(self) -> int:
        """The score of a perfect game."""
        return self.colours * self.ranks

    @cached_property
    def unhinted(self) -> int:
        """The mark of a card of which nothing was said: every colour and rank is open."""
        return (1 << (self.colours + self.ranks)) - 1

    @cached_property
    def bits(self) -> tuple[int, ...]:
        """The bit of its colour and the bit of its rank, by card."""
        return menus.card_bits(self.colours, self.ranks)

    @cached_property
    def _told_masks(self) -> tuple[int, ...]:
        return menus.told_masks(self.colours, self.ranks)

    def allows(self, mark: int, card: Card) -> bool:
        """Whether hints leave it open that this is the card."""
        return mark & self.bits[card] == self.bits[card]

    def hint_of(self, action: int) -> tuple[int, int]:
        """How many seats ahead a hint goes, and its value."""
        told = action - 2 * self.hand_size
        by_colour = (self.players - 1) * self.colours
        if told < by_colour:
            return told // self.colours + 1, told % self.colours
        told -= by_colour
        return told // self.ranks + 1, self.colours + told % self.ranks

    def hint(self, ahead: int, value: int) -> int:
        """The action that tells the seat so many places ahead a colour or a rank."""
        sizes = (self.players, self.colours, self.ranks, self.hand_size)
        return menus.hint_number(*sizes, ahead, value)

    def action_of(self, event: Event) -> int | None:
        """The action behind an event; None for a forfeited turn."""
        match event:
            case Hinted(by, to, value):
                return self.hint((to - by) % self.players, value)
            case Played(_, slot):
                return self.play(slot)
            case Discarded(_, slot):
                return slot
            case _:
                return None

    def play(self, slot: int) -> int:
        """The action that plays a slot; that which discards it is the slot's own number."""
        return self.hand_size + slot

    @cached_property
    def _turn(self) -> tuple[tuple[Seat, ...], ...]:
        return tuple((seat,) for seat in self.seats)


def _counted(counts: tuple[int, ...], at: int) -> tuple[int, ...]:
    return (*counts[:at], counts[at] + 1, *counts[at + 1 :])


def _changed(
    rows: tuple[tuple[int, ...], ...], row: int, slot: int, new: tuple[int, ...]
) -> tuple[tuple[int, ...], ...]:
    """The rows after a slot was emptied: the gap closes, the new one comes last."""
    old = rows[row]
    return (*rows[:row], old[:slot] + old[slot + 1 :] + new, *rows[row + 1 :])


def _number(digits: tuple[int, ...]) -> int:
    number = 0
    for digit in digits:
        number = number * DIGIT + digit
    return number


def check(game: Hanabi) -> None:
    """One clear sentence if these parameters cannot be a game."""
    _within("players", game.players, 2, len(SEATS))
    _within("colours", game.colours, 1, MOST_COLOURS)
    _within("ranks", game.ranks, 2, MOST_RANKS)
    _within("hints", game.hints, 1, 99)
    _within("lives", game.lives, 1, 99)
    _within("hand", game.hand_size, 1, 10)
    _within("pass_limit", game.pass_limit, 1, 10**6)
    if game.copies and (len(game.copies) != game.ranks or min(game.copies) < 1):
        raise BadInput(f"copies must be {game.ranks} numbers of at least 1, one for each rank")
    if game.players * game.hand_size > len(game.cards):
        raise BadInput(
            f"{game.players} hands of {game.hand_size} need more than the {len(game.cards)} cards"
        )
    if game.deal is not None and game.deck:
        raise BadInput("deal and deck cannot both be given: each fixes the order of the cards")
    if game.deal is not None:
        _within("deal", game.deal, 0, DEALS - 1)
    if game.deck and tuple(sorted(game.deck)) != game.cards:
        raise BadInput(f"deck must hold all {len(game.cards)} cards of the game, and no others")


def _within(parameter: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise BadInput(f"{parameter} must be from {low} to {high}, not {value}")
