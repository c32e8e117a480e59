"""The rules of Hanabi: seats see every hand but their own and hint, discard or play in turn.

Actions are numbers, in the order of the Hanabi Learning Environment (Bard et al. 2020): discard a
slot, play a slot, hint a colour to a seat, hint a rank to a seat; seats are counted from the mover.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

import msgspec

from sally.core.errors import BadInput
from sally.core.rules.game import NATURE, Game, Seat
from sally.games.hanabi.state import (
    DEALS,
    DIGIT,
    DIGITS,
    Card,
    Discarded,
    Event,
    Hinted,
    Passed,
    Played,
    State,
    View,
    default_copies,
    full_deck,
    shuffle_cards,
)

SEATS = tuple(map(Seat, ("ann", "bob", "cat", "dan", "eve")))
MOST_COLOURS = MOST_RANKS = 5


@dataclass(frozen=True)
class Hanabi(Game[State, int, View]):
    """Hanabi for two to five players."""

    players: int = 2
    colours: int = 5
    ranks: int = 5
    copies: tuple[int, ...] = ()  # copies of each rank; empty: three, two, ..., one
    hand: int | None = None  # None: five for two or three players, four for more
    hints: int = 8
    lives: int = 3
    score: Literal["zero", "kept"] = "zero"  # score once all lives are lost
    deal: int | None = None  # the number of the shuffle; None: drawn by nature
    deck: tuple[int, ...] = ()  # an explicit order, instead of a shuffle
    reminders: bool = True  # whether the prompt repeats what hints have said
    pass_limit: int = 3  # forfeits in a row after which the episode is censored
    discard_at_full: bool = False  # whether a card may be discarded while no token is missing

    helpers = (NATURE,)
    pays_as_it_goes = True

    def __post_init__(self) -> None:
        check(self)

    @cached_property
    def seats(self) -> tuple[Seat, ...]:  # type: ignore[override]
        return SEATS[: self.players]

    # --- the rules --------------------------------------------------------------------------------

    def start(self) -> State:
        if self.deck:
            return self.dealt(self.deck)
        return State(()) if self.deal is None else self.dealt(shuffle_cards(self.cards, self.deal))

    def to_move(self, state: State) -> tuple[Seat, ...]:
        if not state.deck:
            return self.helpers
        return () if self.is_over(state) else self._turn[state.mover]

    def options(self, state: State, seat: Seat) -> tuple[int, ...]:
        if seat == NATURE:
            return DIGITS_MENU
        return self.legal(state, self.seats.index(seat))

    def odds(self, state: State) -> Mapping[int, float]:
        return DIGITS_ODDS

    def step(self, state: State, moves: Mapping[Seat, int]) -> State:
        ((_, action),) = moves.items()
        if not state.deck:
            numbers = (*state.named, action)
            if len(numbers) < DIGITS:
                return State((), named=numbers)
            return self.dealt(shuffle_cards(self.cards, _number(numbers)))
        if action < 2 * self.hand_size:
            return self._play_or_discard(state, action)
        return self._hint(state, action)

    def forfeit(
        self, state: State, moves: Mapping[Seat, int], forfeited: tuple[Seat, ...]
    ) -> State:
        """Pass the turn; in the final round, the seat loses its last turn."""
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
        """Return the shared score for every seat."""
        counts_nothing = self.score == "zero" and state.deck and not state.lives
        return dict.fromkeys(self.seats, 0.0 if counts_nothing else float(sum(state.piles)))

    def widest_menu(self) -> int:
        return 2 * self.hand_size + (self.players - 1) * (self.colours + self.ranks)

    def legal(self, table: State | View, me: int) -> tuple[int, ...]:
        """Return the legal actions of seat number `me`; they do not depend on the seat's own
        cards."""
        n, n_slots = self.players, len(table.ids[me])
        menu = slot_actions(0, n_slots) if self.may_discard(table) else ()
        menu += slot_actions(self.hand_size, n_slots)
        if not table.tokens:
            return menu
        colours: tuple[int, ...] = ()
        ranks: tuple[int, ...] = ()
        for ahead in range(1, n):
            bits = 0
            for card in table.hands[(me + ahead) % n]:
                bits |= self.bits[card]
            hint_actions = hint_menu(*self._sizes, ahead, bits)
            colours += hint_actions[0]
            ranks += hint_actions[1]
        return menu + colours + ranks

    def may_discard(self, table: State | View) -> bool:
        """Return whether the rules allow a discard now."""
        return self.discard_at_full or table.tokens < self.hints

    # --- transitions ------------------------------------------------------------------------------

    def is_over(self, state: State) -> bool:
        """Return whether the game is over: no lives left, all piles complete or the final round
        played."""
        return not state.lives or not state.last or sum(state.piles) == self.highest

    def dealt(self, deck: tuple[Card, ...]) -> State:
        """Return the state after the deal: the first seat gets the first cards of the deck."""
        n, size = self.players, self.hand_size
        ids = tuple(tuple(range(s * size, (s + 1) * size)) for s in range(n))
        return State(
            deck,
            ids,
            tuple(tuple(deck[i] for i in hand_ids) for hand_ids in ids),
            ((self.unhinted_mark,) * size,) * n,
            n * size,
            (0,) * self.colours,
            (0,) * (self.colours * self.ranks),
            self.hints,
            self.lives,
            last=n,
        )

    def _play_or_discard(self, state: State, action: int) -> State:
        """Play or discard a card, and draw a new one unless the game is over or the deck is
        empty."""
        me, slot = state.mover, action % self.hand_size
        card, id = state.hands[me][slot], state.ids[me][slot]
        piles, gone, tokens, lives = state.piles, state.gone, state.tokens, state.lives
        colour, rank = divmod(card, self.ranks)
        plays, scored = action >= self.hand_size, piles[colour] == rank
        if plays and scored:
            piles = _add_one(piles, colour)
            tokens += rank + 1 == self.ranks and tokens < self.hints
        else:
            gone = _add_one(gone, card)
            if plays:
                lives -= 1
            elif tokens < self.hints:  # else: a discard that gains nothing, if it is allowed
                tokens += 1
        empty = state.drawn == len(state.deck)
        ended = not lives or (plays and sum(piles) == self.highest)
        drew = -1 if empty or ended else state.drawn
        has_drawn = drew >= 0
        return State(
            state.deck,
            _replace_entry(state.ids, me, slot, (drew,) if has_drawn else ()),
            _replace_entry(state.hands, me, slot, (state.deck[drew],) if has_drawn else ()),
            _replace_entry(state.marks, me, slot, (self.unhinted_mark,) if has_drawn else ()),
            state.drawn + has_drawn,
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

    def _hint(self, state: State, action: int) -> State:
        """Give a hint, which marks every matching card and rules the value out for all other
        cards."""
        ahead, value = self.hint_of(action)
        to = (state.mover + ahead) % self.players
        bit, all_bits, mask = 1 << value, self.bits, self._hint_masks[value]
        fits = [all_bits[card] & bit for card in state.hands[to]]
        marks = tuple(
            [
                mark & mask if fit else mark & ~bit
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

    # --- numbering of cards and actions -----------------------------------------------------------

    @cached_property
    def hand_size(self) -> int:
        return self.hand if self.hand is not None else 5 if self.players < 4 else 4

    @cached_property
    def copies_of(self) -> tuple[int, ...]:
        """The number of copies of each rank."""
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
    def unhinted_mark(self) -> int:
        """The mark of a card without hints, which allows every colour and rank."""
        return (1 << (self.colours + self.ranks)) - 1

    @cached_property
    def _sizes(self) -> tuple[int, int, int, int]:
        return self.players, self.colours, self.ranks, self.hand_size

    @cached_property
    def bits(self) -> tuple[int, ...]:
        """The colour and rank bits of each card."""
        cards = range(self.highest)
        return tuple(
            1 << card // self.ranks | 1 << self.colours + card % self.ranks for card in cards
        )

    @cached_property
    def _hint_masks(self) -> tuple[int, ...]:
        """For each hint value, the bit mask of the values that remain possible for a card that the
        hint touches."""
        colours = (1 << self.colours) - 1
        ranks = self.unhinted_mark & ~colours
        by_colour = [1 << value | ranks for value in range(self.colours)]
        by_rank = [1 << self.colours + rank | colours for rank in range(self.ranks)]
        return (*by_colour, *by_rank)

    def is_next(self, table: State | View, card: Card) -> bool:
        """Return whether a card can be played now."""
        return table.piles[card // self.ranks] == card % self.ranks

    def next_cards(self, table: State | View) -> list[Card]:
        """Return the cards that can be played now."""
        return [c * self.ranks + n for c, n in enumerate(table.piles) if n < self.ranks]

    def reach(self, table: State | View, colour: int) -> int:
        """Return the height that a pile can still reach with the cards not yet discarded."""
        height = table.piles[colour]
        while (
            height < self.ranks
            and table.gone[colour * self.ranks + height] < self.copies_of[height]
        ):
            height += 1
        return height

    def is_useless(self, table: State | View, card: Card) -> bool:
        """Return whether a card can no longer be played."""
        colour, rank = divmod(card, self.ranks)
        return rank < table.piles[colour] or rank >= self.reach(table, colour)

    def allows(self, mark: int, card: Card) -> bool:
        """Return whether a card is consistent with the hints recorded in `mark`."""
        return mark & self.bits[card] == self.bits[card]

    def hint_of(self, action: int) -> tuple[int, int]:
        """Return how many places ahead of its giver a hint's target is (1 for the next seat),
        and the hinted value."""
        hint_index = action - 2 * self.hand_size
        by_colour = (self.players - 1) * self.colours
        if hint_index < by_colour:
            return hint_index // self.colours + 1, hint_index % self.colours
        hint_index -= by_colour
        return hint_index // self.ranks + 1, self.colours + hint_index % self.ranks

    def hint(self, ahead: int, value: int) -> int:
        """Return the action that hints a colour or a rank to the seat `ahead` places ahead."""
        return hint_number(*self._sizes, ahead, value)

    def action_of(self, event: Event) -> int | None:
        """Return the action that caused an event; None for a forfeited turn."""
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
        """Return the action number that plays the card in `slot`; the number that discards it is
        `slot` itself."""
        return self.hand_size + slot

    @cached_property
    def _turn(self) -> tuple[tuple[Seat, ...], ...]:
        return tuple((seat,) for seat in self.seats)


def _add_one(counts: tuple[int, ...], index: int) -> tuple[int, ...]:
    return (*counts[:index], counts[index] + 1, *counts[index + 1 :])


def _replace_entry(
    rows: tuple[tuple[int, ...], ...], row: int, slot: int, new: tuple[int, ...]
) -> tuple[tuple[int, ...], ...]:
    """Return `rows` with one entry of a row removed and the entries `new` appended to that row."""
    old = rows[row]
    return (*rows[:row], old[:slot] + old[slot + 1 :] + new, *rows[row + 1 :])


def _number(digits: tuple[int, ...]) -> int:
    number = 0
    for digit in digits:
        number = number * DIGIT + digit
    return number


def check(game: Hanabi) -> None:
    """Raise BadInput if the parameters do not define a playable game."""
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


# --- tables that depend on the sizes of a game alone, shared by all matches of that size ----------


DIGITS_ODDS = dict.fromkeys(range(DIGIT), 1 / DIGIT)
DIGITS_MENU = tuple(DIGITS_ODDS)


@lru_cache(maxsize=256)
def slot_actions(first: int, slots: int) -> tuple[int, ...]:
    """Return one action per slot, numbered from `first`."""
    return tuple(range(first, first + slots))


def hint_number(players: int, colours: int, ranks: int, size: int, ahead: int, value: int) -> int:
    """Return the action number of a hint; after the plays come all colour hints, then all rank
    hints, each ordered by target seat."""
    if value < colours:
        return 2 * size + (ahead - 1) * colours + value
    return 2 * size + (players - 1) * colours + (ahead - 1) * ranks + value - colours


@lru_cache(maxsize=1 << 16)
def hint_menu(
    players: int, colours: int, ranks: int, size: int, ahead: int, bits: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the colour hints and the rank hints that touch at least one card of a hand; bit v of
    `bits` says whether the hand has a card with hint value v."""
    values = [v for v in range(colours + ranks) if bits >> v & 1]
    sizes = (players, colours, ranks, size)
    return (
        tuple(hint_number(*sizes, ahead, v) for v in values if v < colours),
        tuple(hint_number(*sizes, ahead, v) for v in values if v >= colours),
    )
