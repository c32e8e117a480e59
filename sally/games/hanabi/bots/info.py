"""A hat-guessing bot: every hint encodes one number for all the other seats at once.

The idea is from Cox et al. 2015 ("How to make the perfect fireworks display") and from the
information strategy in hanabi.rs (Wu). The bot was written from descriptions, not from that code;
details that the descriptions leave open (questions, signals, order of moves) are our own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from sally.games.hanabi.bots.memory import Cards, is_one, of_the_table, remembering, within
from sally.games.hanabi.bots.smart import SmartMemory
from sally.games.hanabi.rules import Hanabi
from sally.games.hanabi.state import Discarded, Event, Hinted, Played, Policy, View

ALMOST = 0.75  # a card this likely to be playable, and harmless otherwise, is played
PLENTY = 4  # more tokens than this are not saved


class InfoMemory(SmartMemory):
    """The publicly possible identities of every card, the same for every seat."""

    def __init__(self, game: Hanabi, me: int) -> None:
        super().__init__(game, me)
        self._fit: dict[Cards, int] = {}  # hint values that match some card of a set, as bits

    # --- encoding of numbers as hints -------------------------------------------------------------

    def others(self, giver: int) -> list[int]:
        """Return the seats that a hint addresses, in turn order after its giver."""
        n = self.game.players
        return [(giver + ahead) % n for ahead in range(1, n)]

    def signals(self, seat: int) -> int:
        """Return how many different signals a hint to this seat can carry."""
        possible_cards = [self.may_be[id] for id in self.ids[seat]]
        if len(possible_cards) < 2:
            return 2 * len(possible_cards)
        can, colours = (
            [self._fitting(cards) for cards in possible_cards],
            (1 << self.game.colours) - 1,
        )
        return 3 + (_has_disjoint_pair(can, colours) and _has_disjoint_pair(can, ~colours))

    def _fitting(self, cards: Cards) -> int:
        if cards not in self._fit:
            fits = (1 << v for v, fitting in enumerate(self.values) if cards & fitting)
            self._fit[cards] = sum(fits)
        return self._fit[cards]

    def signal_slot(self, seat: int) -> int:
        """Return the slot of `seat` about which a hint sends a signal by touching it or not: the
        slot with the most possible identities."""
        possible_cards = [self.may_be[id].bit_count() for id in self.ids[seat]]
        return possible_cards.index(max(possible_cards))

    def signal(self, hint: Hinted) -> int:
        """Return the index of the signal that a hint gives to its target seat."""
        by_colour = hint.value < self.game.colours
        if self.signal_slot(hint.to) in hint.touched:
            return int(by_colour)
        return 2 + (by_colour and self.signals(hint.to) == 4)

    def numbers(self, giver: int) -> int:
        """Return how many different numbers a hint by the seat `giver` can encode."""
        return sum(map(self.signals, self.others(giver)))

    def number(self, hint: Hinted) -> int:
        """Return the number that a hint encodes."""
        seats_before = self.others(hint.by)[: (hint.to - hint.by) % self.game.players - 1]
        return sum(map(self.signals, seats_before)) + self.signal(hint)

    # --- questions about a hand -------------------------------------------------------------------

    def chance(self, cards: Cards, kind: Cards) -> float:
        """Return the probability that a card with the possible identities `cards` is in the set
        `kind`, from public counts."""
        total = likely = 0
        for card, n in self.out_of_sight():
            if cards >> card & 1:
                total += n
                likely += n * (kind >> card & 1)
        return likely / total if total else 0.0

    @of_the_table
    def out_of_sight(self) -> list[tuple[int, int]]:
        """Return (card, number of copies) for every card with copies neither played nor
        discarded."""
        copies_left = [n - gone for n, gone in zip(self.copies, self.gone, strict=True)]
        return [(card, n) for card, n in enumerate(copies_left) if n]

    def question(self, seat: int, numbers: int) -> Question | None:
        """Return the question that the next hint answers for a seat: which card to play, or what
        a card is."""
        nexts, dead = self.next_cards(), self.worthless()
        own_cards = {id: self.may_be[id] for id in self.ids[seat]}
        unsure = [id for id, c in own_cards.items() if not (is_one(c) or within(c, dead))]
        unsure.sort(key=lambda id: -self.chance(own_cards[id], nexts))
        question: Question | None = None
        if not any(within(cards, nexts) for cards in own_cards.values()):
            items = [id for id in unsure if own_cards[id] & nexts][: numbers - 1]
            if items:
                question = FirstYes([(id, nexts) for id in items])
                unsure = [id for id in unsure if id not in items]
        for id in unsure:
            numbers_left = numbers // question.answers if question else numbers
            if numbers_left < 2:
                break
            cards = [card for card in range(self.game.highest) if own_cards[id] >> card & 1]
            next_question = WhichBlock(id, blocks(cards, dead, numbers_left))
            question = QuestionPair(question, next_question) if question else next_question
        return question

    def questions(self, giver: int) -> dict[int, Question | None]:
        """Return the question that the giver's next hint answers for each other seat."""
        numbers = self.numbers(giver)
        return {seat: self.question(seat, numbers) for seat in self.others(giver)}

    def read_answers(
        self, questions: Mapping[int, Question | None], faces: Mapping[int, int]
    ) -> dict[int, int]:
        """Return each seat's answer to its question, as a number, for the seats whose cards are
        all in `faces`."""
        return {
            seat: question.answer(faces) if question else 0
            for seat, question in questions.items()
            if all(id in faces for id in self.ids[seat])
        }

    # --- conventions ------------------------------------------------------------------------------

    def prepare_event(self, event: Event | None) -> None:
        """Update the card counts only, because in this convention the absence of a hint means
        nothing."""
        super().prepare_event(None)

    def process_parting(self, event: Played | Discarded) -> None:
        """Do nothing, because in this convention a discard means nothing."""

    def process_hint(self, event: Hinted) -> None:
        numbers, hint_number = self.numbers(event.by), self.number(event)
        visible_faces = {id: face for id, face in self.faces.items() if id not in self.ids[self.me]}
        questions = self.questions(event.by)
        answers = self.read_answers(questions, visible_faces)
        if event.by != self.me:
            answers[self.me] = (hint_number - sum(answers.values())) % numbers
        for seat, answer in answers.items():
            question = questions[seat]
            if question is not None and answer < question.answers:
                for id, cards in question.says(answer).items():
                    self.narrow(id, cards)
        for slot, id in enumerate(self.ids[event.to]):
            self.hear(id, event.value, slot in event.touched)


def _has_disjoint_pair(can: Sequence[int], values: int) -> bool:
    """Return whether some two of these cards have no possible value in common."""
    return any(not a & b & values for n, a in enumerate(can) for b in can[:n])


def info(game: Hanabi) -> Policy:
    """Return the bot for this game."""
    return remembering(
        game,
        InfoMemory,
        lambda game, view, memory: _Chooser(game, view, memory).move(),
        sees_hands=True,
    )


class _Chooser:
    """The decision on a seat's move in one turn."""

    def __init__(self, game: Hanabi, view: View, memory: InfoMemory) -> None:
        self.game, self.view, self.memory = game, view, memory
        self.nexts, self.dead = memory.next_cards(), memory.worthless()
        self.seen = list(memory.gone)
        for hand in view.hands:
            for card in hand:
                self.seen[card] += 1
        out = sum(1 << c for c, n in enumerate(self.seen) if n >= memory.copies[c])
        public = [memory.may_be[id] for id in view.ids[view.me]]
        self.own = [cards & ~out or cards for cards in public]

    def move(self) -> int:
        """Return the move: a certain play, a slightly risky play, a hint or a discard."""
        play = self._sure()
        if play is None and self.view.lives > 1 and self._discards_are_free():
            play = self._almost()
        if play is not None:
            return self.game.play(play)
        full = self.view.tokens == self.game.hints
        hint = self._hint() if self.view.tokens else None
        if hint is not None and (full or self._has_news()):
            return hint
        useless = [s for s, cards in enumerate(self.own) if within(cards, self.dead)]
        if useless and not full and self._discards_are_free():
            return useless[0]
        if hint is not None and self.view.tokens > PLENTY:
            return hint
        if full:
            return self.game.play(self._least_valuable())
        return useless[0] if useless else self._least_valuable()

    def _discards_are_free(self) -> bool:
        """Return whether a discard has no cost yet, because enough turns remain to draw all
        cards."""
        discards = sum(self.view.gone)
        game = self.game
        return discards <= len(game.cards) - game.highest - game.players * game.hand_size

    def _sure(self) -> int | None:
        """Return the most urgent certainly playable slot, or None; low cards, and cards that no
        other seat is known to hold, are more urgent."""
        sure = [s for s, cards in enumerate(self.own) if within(cards, self.nexts)]
        return max(sure, key=self._urgency, default=None)

    def _urgency(self, slot: int) -> float:
        cards, others = self.own[slot], self.memory.others(self.view.me)
        known_cards = [self.memory.may_be[id] for seat in others for id in self.view.ids[seat]]
        holders = 1 + sum(within(other_cards, cards) for other_cards in known_cards)
        return (10 - self._rank(cards)) / holders

    def _rank(self, cards: Cards) -> float:
        ranks = [card % self.game.ranks for card in range(self.game.highest) if cards >> card & 1]
        return sum(ranks) / len(ranks)

    def _chance(self, slot: int, kind: Cards) -> float:
        """Return the probability that the seat's card in a slot is in the set `kind`, from the
        copies not yet seen."""
        cards, copies = self.own[slot], self.memory.copies
        copies_left = {c: copies[c] - self.seen[c] for c in range(len(copies)) if cards >> c & 1}
        total = sum(copies_left.values())
        return sum(n for c, n in copies_left.items() if kind >> c & 1) / total if total else 0.0

    def _almost(self) -> int | None:
        """Return the slot of a card that is certainly either playable or worthless, and probably
        playable; None if there is no such slot."""
        slots = [s for s, cards in enumerate(self.own) if within(cards, self.nexts | self.dead)]
        best = max(slots, key=lambda s: self._chance(s, self.nexts), default=None)
        return best if best is not None and self._chance(best, self.nexts) > ALMOST else None

    def _has_news(self) -> bool:
        """Return whether some seat holds a playable card but does not know that any of its cards
        is playable."""
        memory = self.memory
        for seat in memory.others(self.view.me):
            hand = list(zip(self.view.ids[seat], self.view.hands[seat], strict=True))
            if any(within(memory.may_be[id], self.nexts) for id, _ in hand):
                continue
            if any(self.nexts >> face & 1 for _, face in hand):
                return True
        return False

    def _hint(self) -> int | None:
        """Return the most informative of the hints that encode the number that this seat has to
        send, or None."""
        view, memory, game = self.view, self.memory, self.game
        numbers = memory.numbers(view.me)
        faces = {
            id: face
            for hand_ids, hand in zip(view.ids, view.hands, strict=True)
            for id, face in zip(hand_ids, hand, strict=False)
        }
        seat_answers = memory.read_answers(memory.questions(view.me), faces)
        number_to_send = sum(seat_answers.values()) % numbers if numbers else 0
        best: tuple[int, int] | None = None
        for action in game.legal(view, view.me):
            if action < 2 * game.hand_size:
                continue
            ahead, value = game.hint_of(action)
            seat = (view.me + ahead) % game.players
            hand = view.hands[seat]
            touched = tuple(s for s, card in enumerate(hand) if game.bits[card] >> value & 1)
            if memory.number(Hinted(view.me, seat, value, touched)) == number_to_send:
                n_ruled_out = self._tells(seat, value, touched)
                best = max(best or (n_ruled_out, action), (n_ruled_out, action))
        return None if best is None else best[1]

    def _tells(self, seat: int, value: int, touched: tuple[int, ...]) -> int:
        """Return how many identities a hint rules out by its literal meaning."""
        fits, n_ruled_out = self.memory.values[value], 0
        for slot, id in enumerate(self.view.ids[seat]):
            cards = self.memory.may_be[id]
            n_ruled_out += (cards & ~fits if slot in touched else cards & fits).bit_count()
        return n_ruled_out

    def _least_valuable(self) -> int:
        """Return the slot of the least valuable card: preferably one that is useless or also
        visible in another hand, is not a last copy, and has a high rank."""
        valuable = self.memory.valuable()
        elsewhere = sum(1 << card for hand in self.view.hands for card in hand)

        def discard_value(slot: int) -> float:
            spare = 20 * self._chance(slot, elsewhere | self.dead)
            return spare + 10 * self._chance(slot, ~valuable) + self._rank(self.own[slot])

        return max(range(len(self.own)), key=discard_value)


# --- questions about a hand, whose answers are numbers --------------------------------------------


Faces = Mapping[int, int]  # what cards are, by their number in the deck


class Question(Protocol):
    """A question about a hand, with a fixed number of possible answers."""

    @property
    def answers(self) -> int: ...

    def answer(self, faces: Faces) -> int: ...

    def says(self, answer: int) -> Mapping[int, Cards]:
        """Return, for each card that an answer concerns, the identities that remain possible."""


class FirstYes:
    """A question about several cards, each of which is listed with a set of identities: which is
    the first card whose identity is in its own set? The last answer means "none of them"."""

    def __init__(self, items: Sequence[tuple[int, Cards]]) -> None:
        self.items = items

    @property
    def answers(self) -> int:
        return len(self.items) + 1

    def answer(self, faces: Faces) -> int:
        fits = (n for n, (id, kind) in enumerate(self.items) if kind >> faces[id] & 1)
        return next(fits, len(self.items))

    def says(self, answer: int) -> Mapping[int, Cards]:
        meanings = {id: ~kind for id, kind in self.items[:answer]}
        if answer < len(self.items):
            id, kind = self.items[answer]
            meanings[id] = kind
        return meanings


class WhichBlock:
    """The question "which of these sets of identities contains this card?"."""

    def __init__(self, id: int, blocks: Sequence[Cards]) -> None:
        self.id, self.blocks = id, blocks

    @property
    def answers(self) -> int:
        return len(self.blocks)

    def answer(self, faces: Faces) -> int:
        fits = (n for n, block in enumerate(self.blocks) if block >> faces[self.id] & 1)
        return next(fits, 0)  # in none only if a partner breaks the convention

    def says(self, answer: int) -> Mapping[int, Cards]:
        return {self.id: self.blocks[answer]}


class QuestionPair:
    """Two questions about different cards, answered together by one number."""

    def __init__(self, first: Question, second: Question) -> None:
        self.first, self.second = first, second

    @property
    def answers(self) -> int:
        return self.first.answers * self.second.answers

    def answer(self, faces: Faces) -> int:
        return self.first.answer(faces) + self.first.answers * self.second.answer(faces)

    def says(self, answer: int) -> Mapping[int, Cards]:
        second, first = divmod(answer, self.first.answers)
        return {**self.first.says(first), **self.second.says(second)}


def blocks(cards: Sequence[int], dead: Cards, limit: int) -> list[Cards]:
    """Split identities into at most `limit` sets; identities that can no longer score share one
    set."""
    alive = [card for card in cards if not dead >> card & 1]
    useless = sum(1 << card for card in cards if dead >> card & 1)
    room = limit - bool(useless)
    dealt = [sum(1 << card for card in alive[n::room]) for n in range(min(room, len(alive)))]
    return [*([useless] if useless else []), *dealt]
