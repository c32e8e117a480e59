"""Level-k games in language: the payoffs of a round, the moves so far, and questions about
others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, ClassVar

from sally.core.errors import join_names
from sally.core.log.events import Told
from sally.core.rules.game import Seat
from sally.core.rules.menu import Options, Whole, span
from sally.core.rules.probe import Question
from sally.core.rules.simultaneous import Moves, others_of
from sally.core.rules.words import Words, read_texts
from sally.games.level_k.notes import OTHER
from sally.games.level_k.payoffs import Boxes, Contest, Pennies, Request
from sally.games.level_k.rules import LevelGame, View

DEPTHS = ("none", "one", "two", "three or more")

TEXTS: Mapping[str, str] = read_texts(__package__)


class LevelWords(Words[int, View]):
    """Texts of games whose moves have names: boxes and sides."""

    def __init__(self, game: LevelGame, texts: Mapping[str, str]) -> None:
        super().__init__(game, texts)
        self.game, self.pays = game, game.pays
        self._many = "many" if len(game.seats) > 2 else "one"
        self._sides = self.relabel(game.pays.names) if isinstance(game.pays, Pennies) else ()

    # --- the rules ------------------------------------------------------------------------------

    def rules(self, seat: Seat) -> str:
        payoffs = self._payoffs(seat)
        return "\n".join((f"{self._setting(seat)} {payoffs}", self._length, *self._notes(seat)))

    def rules_without_payoffs(self, seat: Seat) -> str:
        payoffs = self.say("payoffs.none")
        return "\n".join((f"{self._setting(seat)} {payoffs}", self._length, *self._notes(seat)))

    def _notes(self, seat: Seat) -> Iterator[str]:
        """Yield what the first player knows of the notes; the other player learns nothing here."""
        notes = self.game.notes
        if notes is None or self.game.number[seat]:
            return
        other_person = notes.people[OTHER]
        subjects = {"you": self.say("notes.you"), "other": other_person}
        yield self.say(
            "notes.people",
            other=other_person,
            others=join_names(notes.people[1:]),
            notes="; ".join(
                self.say(
                    "notes.note",
                    colour=note.colour,
                    subject=subjects[note.about],
                    amount=note.amount,
                )
                for note in notes.notes
            ),
        )
        yield self.say("notes.first" if notes.depth == 1 else "notes.second", other=other_person)
        for reading in notes.readings:
            key = "notes.sees" if reading.sees_you else "notes.reads"
            colour = notes.notes[reading.note].colour
            yield self.say(key, person=notes.people[reading.person], colour=colour)

    def _setting(self, seat: Seat) -> str:
        match self.pays:
            case Request(low=low, high=high):
                return self.say("rules.request", low=low, high=high)
            case Contest(players=players, low=low, high=high):
                key = "rules.contest" if players > 2 else "rules.contest.two"
                return self.say(key, others=players - 1, low=low, high=high)
            case Boxes(labels=labels):
                box_facts = {"boxes": len(labels), "labels": join_names(labels)}
                return self.say(
                    "rules.boxes", **box_facts, role=self.say(f"role.{self._role(seat)}")
                )
            case Pennies():
                return self.say("rules.pennies", names=self._or(self._sides))

    def _payoffs(self, seat: Seat) -> str:
        match self.pays:
            case Request(gap=gap, bonus=bonus):
                return self.say("pays.request", gap=gap, bonus=f"{bonus:g}")
            case Contest(share=share, prize=prize):
                return self.say("pays.contest", share=share, prize=f"{prize:g}")
            case Boxes(prize=prize):
                return self.say("pays.boxes", prize=f"{prize:g}")
            case Pennies(stake=stake):
                place = "second" if self.game.number[seat] else "first"
                return self.say(f"pays.pennies.{place}", stake=f"{stake:g}")

    @cached_property
    def _length(self) -> str:
        if self.game.rounds == 1:
            return self.say("rounds.one")
        company = self.say(f"company.{self._many}")
        return self.say("rounds.many", rounds=self.game.rounds, company=company)

    def _role(self, seat: Seat) -> str:
        return "seeker" if self.game.number[seat] else "hider"

    # --- a page ---------------------------------------------------------------------------------

    def lines(self, view: View, since: int, form: str) -> Iterator[str]:
        for number, moves in enumerate(view.rounds(since), since + 1):
            if moves is None:
                yield self.say("past.void", round=number)
            else:
                yield self._round(number, moves, view.number)

    def _round(self, number: int, moves: Moves, seat: int) -> str:
        paid = [_amount(pay) for pay in self.pays.pay(moves)]
        own_name, others = self.name(moves[seat]), [self.name(m) for m in others_of(moves, seat)]
        facts = {
            "round": number,
            "mine": own_name,
            "theirs": join_names(others),
            "my_pay": paid[seat],
        }
        if isinstance(self.pays, Contest) and len(moves) > 2:
            goal = float(self.pays.fraction) * sum(moves) / len(moves)
            return self.say("past.many", **facts, share=self.pays.share, goal=f"{goal:.2f}")
        return self.say("past.two", **facts, their_pay=paid[1 - seat])

    def now(self, view: View) -> str:
        if self.game.rounds == 1:
            return ""
        return self.say("now", round=min(view.round, self.game.rounds), rounds=self.game.rounds)

    def question(self, view: View, options: Options[int]) -> str:
        match self.pays:
            case Request():
                return self.say("question.request")
            case Contest():
                return self.say("question.contest")
            case Boxes():
                names = self._or(self.menu(options))
                return self.say(f"question.{self._role(view.seat)}", names=names)
            case Pennies():
                return self.say("question.pennies", names=self._or(self.menu(options)))

    def name(self, action: Any) -> str:
        match self.pays:
            case Boxes():
                return f"Box {int(action) + 1}"
            case Pennies():
                return self._sides[int(action)]
            case _:
                return str(action)

    # --- probes ---------------------------------------------------------------------------------

    def aside(self, question: Question, view: View, pending: int | None = None) -> str:
        if question.probe == "their_depth":
            own_name = "nothing yet" if pending is None else self.name(pending)
            company = self.say(f"thinks.{self._many}")
            return self.say("aside.their_depth", mine=own_name, company=company)
        return self.say(self._asking(f"aside.{question.probe}"))

    def _asking(self, key: str) -> str:
        return f"{key}.many" if self._many == "many" and f"{key}.many" in self.texts else key

    def choice_name(self, question: Question, choice: int | str) -> str:
        return DEPTHS[int(choice)] if question.probe == "their_depth" else self.name(choice)

    def told(self, injected: Told, question: Question | None = None) -> str:
        assert isinstance(injected.value, int)
        depth = injected.probe == "their_depth"
        value = DEPTHS[injected.value] if depth else self.name(injected.value)
        about = self.say(self._asking(f"told.{injected.probe}"))
        return self.say(f"told.{injected.source}", about=about, value=value)

    def state_in_history(self, injected: Told, view: View) -> str:
        return self.say("kept", round=view.round, told=self.told(injected))


class NumberWords(LevelWords):
    """Texts of games whose moves are numbers, answered as numbers."""

    label: ClassVar[str] = "Number"
    foreseen_label: ClassVar[str] = "Prediction"  # `... Number:` would be read as the move

    def scale(self, options: Options[int]) -> Whole | None:
        return span(options)


def words_of(game: LevelGame, texts: Mapping[str, str]) -> LevelWords:
    """Return the texts for a game with numeric or with named moves."""
    return NumberWords(game, texts) if game.numeric else LevelWords(game, texts)


def _amount(pay: float) -> str:
    return f"{pay:g}" if pay == round(pay, 2) else f"{pay:.2f}"
