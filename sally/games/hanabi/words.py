"""Hanabi in language: prompts, and the reading of replies."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from sally.core.errors import join_names
from sally.core.log.events import Told
from sally.core.rules.game import Seat
from sally.core.rules.menu import Options
from sally.core.rules.probe import Question
from sally.core.rules.words import Words, read_texts
from sally.games.hanabi.rules import SEATS, Hanabi
from sally.games.hanabi.state import (
    Card,
    Discarded,
    Event,
    Hinted,
    Passed,
    Played,
    View,
    revealed_faces,
)


class HanabiWords(Words[int, View]):
    """Texts of Hanabi for one seat."""

    game: Hanabi

    def __init__(self, game: Hanabi, texts: Mapping[str, str]) -> None:
        super().__init__(game, texts)
        self._cards: dict[Card, str] = {}  # cached names

    # --- names ------------------------------------------------------------------------------------

    def card(self, card: Card) -> str:
        """Return the name of a card."""
        if card not in self._cards:
            colour, rank = divmod(card, self.game.ranks)
            self._cards[card] = self.say("card", colour=self.colour(colour), rank=rank + 1)
        return self._cards[card]

    def colour(self, colour: int) -> str:
        """Return the name of a colour."""
        return self.say(f"colour.{colour}")

    def player(self, number: int) -> str:
        """Return the name of a seat."""
        return self.say(f"seat.{SEATS[number]}")

    def name(self, action: Any) -> str:
        """Return the name of an action for this seat; hints name their target."""
        game = self.game
        if action < game.hand_size:
            return self.say("act.discard", number=action + 1)
        if action < 2 * game.hand_size:
            return self.say("act.play", number=action - game.hand_size + 1)
        ahead, value = game.hint_of(action)
        me = game.seats.index(self.seat) if self.seat in game.seats else 0
        seat = self.player((me + ahead) % game.players)
        if value < game.colours:
            return self.say("act.colour", seat=seat, colour=self.colour(value))
        return self.say("act.rank", seat=seat, rank=value - game.colours + 1)

    # --- the page ---------------------------------------------------------------------------------

    def rules(self, seat: Seat) -> str:
        game = self.game
        me = game.seats.index(seat)
        counts = enumerate(game.copies_of, 1)
        parts = [
            self.say(
                "rules.aim",
                me=self.player(me),
                others=join_names(
                    self.listing(self.player(s) for s in range(game.players) if s != me)
                ),
                deck=len(game.cards),
                colours=join_names(self.listing(map(self.colour, range(game.colours)))),
                ranks=game.ranks,
                copies=join_names(self.say("copies", count=n, rank=rank) for rank, n in counts),
                highest=game.highest,
            ),
            self.say("rules.hands", hand=game.hand_size),
            self.say(
                "rules.hint",
                order=", ".join(map(self.player, range(game.players))),
                hints=game.hints,
            ),
            self.say(
                "rules.discard.any" if game.discard_at_full else "rules.discard", hints=game.hints
            ),
            self.say("rules.play"),
            self.say(f"rules.end.{game.score}", lives=self._lives()),
            self.say("rules.end"),
        ]
        return "\n".join(parts)

    @property
    def phrases(self) -> Mapping[str, str]:
        game = self.game
        return {
            "highest": str(game.ranks),
            "other": "the other player" if game.players == 2 else "another player",
            "end": "you get 0 points" if game.score == "zero" else "the game ends",
        }

    def _lives(self) -> str:
        count = self.game.lives
        return self.say("lives.one" if count == 1 else "lives.many", count=count)

    def lines(self, view: View, since: int, form: str) -> Iterator[str]:
        """Yield the deal, then one line per turn; the seat's own cards are not named until they are
        revealed."""
        faces = revealed_faces(view)
        if not since:
            yield self._deal(view, faces)
        for event in view.past.since(max(0, since - 1)):
            yield self._event(view, event, faces)

    def _deal(self, view: View, faces: Mapping[int, Card]) -> str:
        size = self.game.hand_size
        hands = [
            self.say("past.holds", seat=self.player(seat), cards=join_names(map(self.card, cards)))
            for seat in range(self.game.players)
            if seat != view.me
            for cards in [[faces[id] for id in range(seat * size, (seat + 1) * size)]]
        ]
        return self.say("past.dealt", hands=" ".join(hands), count=size)

    def _event(self, view: View, event: Event, faces: Mapping[int, Card]) -> str:
        by = self.say("You") if event.by == view.me else self.player(event.by)
        match event:
            case Passed():
                return self.say("past.passed", by=by)
            case Hinted():
                return self._hint(view, event, by)
            case Played() | Discarded():
                kind = "discarded"
                if isinstance(event, Played):
                    kind = "scored" if event.scored else "lost"
                facts = {"by": by, "number": event.slot + 1, "card": self.card(event.card)}
                return " ".join(
                    (self.say(f"past.{kind}", **facts), *self._drew(view, event, faces))
                )

    def _drew(
        self, view: View, event: Played | Discarded, faces: Mapping[int, Card]
    ) -> Iterator[str]:
        if event.drew >= 0:
            if event.by == view.me:
                yield self.say("drew.me")
            else:
                card = self.card(faces[event.drew])
                yield self.say("drew.other", by=self.player(event.by), card=card)

    def _hint(self, view: View, event: Hinted, by: str) -> str:
        colours = self.game.colours
        to = self.say("you") if event.to == view.me else self.player(event.to)
        numbers = join_names(str(slot + 1) for slot in event.touched)
        touched = self.say(
            f"touched.{'one' if len(event.touched) == 1 else 'some'}", numbers=numbers
        )
        if event.value < colours:
            hinted_value = {"colour": self.colour(event.value)}
            return self.say("past.hint.colour", by=by, to=to, touched=touched, **hinted_value)
        rank = event.value - colours + 1
        return self.say("past.hint.rank", by=by, to=to, touched=touched, rank=rank)

    def now(self, view: View) -> str:
        game = self.game
        piles = (
            self.say("pile", colour=self.colour(c), height=height)
            for c, height in enumerate(view.piles)
        )
        gone = [self.card(card) for card, n in enumerate(view.gone) for _ in range(n)]
        hands = [
            self.say("past.holds", seat=self.player(seat), cards=join_names(map(self.card, hand)))
            for seat, hand in enumerate(view.hands)
            if seat != view.me
        ]
        parts = [
            self.say(
                "now",
                piles=join_names(self.listing(piles)),
                tokens=view.tokens,
                hints=game.hints,
                lives=view.lives,
                most_lives=game.lives,
                left=view.left,
                discards=join_names(self.listing(gone)) if gone else self.say("none"),
                hands=" ".join((*hands, self.say("now.mine", count=view.slots))),
            )
        ]
        if game.reminders:
            parts.append(self._known_lines(view))
        if not view.left:
            parts.append(self.say("now.last"))
        return "\n".join(parts)

    # --- what hints have said ---------------------------------------------------------------------

    def _known_lines(self, view: View) -> str:
        others = (
            self.say(
                "known.of", seat=self.player(seat), what=self.hand_information(view.marks[seat])
            )
            for seat in range(self.game.players)
            if seat != view.me
        )
        return self.say(
            "now.known", mine=self.hand_information(view.marks[view.me]), others=" ".join(others)
        )

    def hand_information(self, marks: tuple[int, ...]) -> str:
        """Return the information that hints have given about the cards of a hand."""
        card_texts = [
            self.say("known.card", number=slot + 1, what=card_text)
            for slot, mark in enumerate(marks)
            if (card_text := self.of_card(mark))
        ]
        return ", ".join(card_texts) or self.say("known.nothing")

    def of_card(self, mark: int) -> str:
        """Return the information that hints have given about one card; empty if there is none."""
        game = self.game
        colours = [c for c in range(game.colours) if mark >> c & 1]
        ranks = [r for r in range(game.ranks) if mark >> game.colours + r & 1]
        parts = []
        one_colour = len(colours) == 1 and game.colours > 1
        if one_colour or len(ranks) == 1:
            is_ = [self.colour(colours[0])] if one_colour else []
            if len(ranks) == 1:
                rank = ranks[0] + 1
                is_.append(str(rank) if one_colour else self.say("known.rank", rank=rank))
            parts.append(self.say("known.is", what=" ".join(is_)))
        out = [self.colour(c) for c in range(game.colours) if c not in colours]
        out = out if len(colours) > 1 else []
        if len(ranks) > 1:
            lacking = (r for r in range(game.ranks) if r not in ranks)
            out += [self.say("known.rank", rank=r + 1) for r in lacking]
        if out:
            parts.append(self.say("known.not", what=join_names(out, "or")))
        return join_names(parts) if parts else ""

    # --- asking -----------------------------------------------------------------------------------

    def question(self, view: View, options: Options[int]) -> str:
        return self.say("question")

    def aside(self, question: Question, view: View, pending: int | None = None) -> str:
        seat, _, slot = question.about.rpartition(" ")
        facts = {"number": slot}
        if question.probe.startswith("their"):
            facts["seat"] = self.say(f"seat.{seat or slot}")
        return self.say(f"aside.{question.probe}", **facts)

    def choice_name(self, question: Question, choice: int | str) -> str:
        return self.answer(question.probe, choice)

    def answer(self, probe: str, choice: int | str) -> str:
        """Return the name of an answer to a probe."""
        if probe in ("own_card", "own_card_odds", "their_belief"):
            return self.card(int(choice))
        if probe == "own_playable":
            return self.say("slot", number=choice)
        if probe == "their_known":
            return self.say(str(choice))
        kind, _, rest_of_choice = str(choice).partition(" ")
        if kind == "hint":
            return self.say("move.hint", seat=self.say(f"seat.{rest_of_choice}"))
        return self.say(f"move.{kind}", number=rest_of_choice)

    def told(self, injected: Told, question: Question | None = None) -> str:
        if injected.value is None:
            return super().told(injected, question)
        if isinstance(injected.value, dict):
            chances_by_name = {
                self.answer(injected.probe, item): p for item, p in injected.value.items()
            }
            value = ", ".join(f"{name} {p:g}" for name, p in chances_by_name.items() if p)
        else:
            value = self.answer(injected.probe, injected.value)
        seat, _, slot = injected.about.rpartition(" ")
        about = injected.about
        if injected.probe.startswith("their"):
            name = self.say(f"seat.{seat or slot}")
            about = f"{name}'s {self.say('slot', number=slot)}" if seat else name
        return self.say(f"told.{injected.source}.{injected.probe}", about=about, value=value or "0")

    def drawn(self, view: View) -> str:
        """Return the hands in rows, with the seat's own hand face down."""
        rows = []
        for seat in range(self.game.players):
            hand = view.hands[seat]
            cards = ["?"] * view.slots if seat == view.me else [self.card(card) for card in hand]
            rows.append(f"{self.player(seat)}: " + "  ".join(f"[{card}]" for card in cards))
        return "\n".join(rows)


TEXTS: Mapping[str, str] = read_texts(__package__)


def _plain_number(text: str) -> str:
    """Return a text that speaks of numbers instead of ranks; its placeholders stay."""
    return re.sub(r"(?<!\{)\brank\b(?!\})", "number", text)


# People get the task in a sentence first; the page says whose turn it is.
PEOPLE: Mapping[str, str] = {
    **{key: _plain_number(text) for key, text in TEXTS.items() if _plain_number(text) != text},
    "rules.aim": "In short: you see the cards of {others}, but not your own. In a turn you give a "
    "hint, discard a card or play one, and together you put cards on a pile for each colour, in "
    "the order 1, 2, 3 and so on.\n" + _plain_number(TEXTS["rules.aim"]),
    "question": "What do you do?",
}
