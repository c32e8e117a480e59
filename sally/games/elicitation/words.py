"""Elicitation in language: what each action pays, and questions about others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from sally.core.errors import join_names
from sally.core.log.events import Told
from sally.core.rules.game import Seat
from sally.core.rules.menu import Options
from sally.core.rules.probe import Question
from sally.core.rules.words import Words, read_texts
from sally.games.elicitation.payoffs import (
    ALONE,
    GROUP,
    KEPT,
    SHARED,
    Inspection,
    LinearPublicGood,
    SequentialTransfer,
    ThresholdOfFive,
)
from sally.games.elicitation.rules import Elicitation, View

TEXTS: Mapping[str, str] = read_texts(__package__)


class ElicitationWords(Words[int, View]):
    """Texts of elicitation; actions and answers are named as in the problem."""

    label: ClassVar[str] = "Option"

    game: Elicitation

    def rules(self, seat: Seat) -> str:
        game = self.game
        if not game.menu:
            return self.say("rules.beliefs")
        parts = [self.say("rules"), self._menu(), self._pays()]
        return " ".join(part for part in parts if part)

    @property
    def phrases(self) -> Mapping[str, str]:
        return {"pays": self._pays()}

    def rules_without_payoffs(self, seat: Seat) -> str:
        if not self.game.menu:
            return self.say("rules.beliefs")
        return " ".join((self.say("rules"), self._menu(), self.say("pays.none")))

    def _menu(self) -> str:
        return self.say("menu", names=self._or(self.game.menu))

    def _pays(self) -> str:
        match self.game.pays:
            case SequentialTransfer() as pays:
                steps = [
                    self.say("step", name=name, amount=f"{step:g}")
                    for name, step in zip(self.game.menu, pays.steps, strict=True)
                ]
                return self.say(
                    "pays.sequential_transfer",
                    endowment=f"{pays.endowment:g}",
                    steps=join_names(self.listing(steps)),
                    factor=f"{pays.factor:g}",
                )
            case ThresholdOfFive() as pays:
                text = self.say(
                    "pays.threshold_of_five",
                    group=GROUP,
                    threshold=pays.threshold,
                    both=f"{SHARED:g}",
                    most=f"{SHARED + KEPT:g}",
                    kept=f"{KEPT:g}",
                )
                if len(self.game.menu) < 3:
                    return text
                loners = self.say("pays.loners", alone=f"{ALONE:g}", share=f"{pays.loners_in:g}")
                return f"{text} {loners}"
            case Inspection() as pays:
                return self.say(
                    "pays.inspection",
                    cost=f"{pays.cost:g}",
                    works=f"{pays.works:g}",
                    caught=f"{pays.caught:g}",
                )
            case LinearPublicGood() as pays:
                return self.say(
                    "pays.linear_public_good",
                    players=pays.players,
                    tokens=pays.tokens,
                    back=f"{pays.back:g}",
                )
        return self.say("pays.none")

    def lines(self, view: View, since: int, form: str) -> list[str]:
        if not view.is_over or since:
            return []
        if view.move is None:
            return [self.say("past.forfeit")]
        return [self.say("past", name=self.name(view.move))]

    def question(self, view: View, options: Options[int]) -> str:
        return self.say("question" if self.game.menu else "question.beliefs")

    def name(self, action: int) -> str:
        return self.game.menu[action] if self.game.menu else self.say("go_on")

    def aside(self, question: Question, view: View, pending: int | None = None) -> str:
        belief = next(q for q in self.game.questions if q.ask == question.about)
        text = self.say(f"aside.{question.probe}", ask=belief.ask.replace("_", " "))
        return f"{text} {self.say('about', about=belief.about)}" if belief.about else text

    def choice_name(self, question: Question, choice: int | str) -> str:
        return str(choice)

    def told(self, injected: Told, question: Question | None = None) -> str:
        value = injected.value
        if isinstance(value, dict):
            value = join_names(f"{name} {number:g}" for name, number in value.items())
        return self.say(
            f"told.{injected.source}", about=injected.about.replace("_", " "), value=value
        )
