"""Public goods in language: the return of a token, past contributions, and questions about
others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from sally.core.errors import join_names
from sally.core.log.events import Told
from sally.core.rules.game import Seat
from sally.core.rules.menu import Options, Whole, span
from sally.core.rules.probe import Question
from sally.core.rules.simultaneous import View, others_of
from sally.core.rules.words import Words, read_texts
from sally.games.public_goods.rules import PublicGoods

TEXTS: Mapping[str, str] = read_texts(__package__)


class PublicGoodsWords(Words[int, View]):
    """Texts of public goods; contributions are named and answered as numbers."""

    label: ClassVar[str] = "Number"
    foreseen_label: ClassVar[str] = "Prediction"  # `... Number:` would be read as the move

    game: PublicGoods

    def rules(self, seat: Seat) -> str:
        game = self.game
        pays = self.say(
            "pays", ratio=f"{game.ratio:g}", players=game.players, back=f"{game.back:.3g}"
        )
        return f"{self._setting()} {pays}\n{self._length()}"

    def rules_without_payoffs(self, seat: Seat) -> str:
        return f"{self._setting()} {self.say('payoffs.none')}\n{self._length()}"

    def _setting(self) -> str:
        game = self.game
        parts = [self.say("rules", players=game.players, tokens=game.tokens)]
        if game.unit == game.tokens > 1:
            parts.append(self.say("rules.all", tokens=game.tokens))
        elif game.unit > 1:
            parts.append(self.say("rules.units", unit=game.unit))
        return " ".join(parts)

    def _length(self) -> str:
        if self.game.rounds == 1:
            return self.say("rounds.one")
        return self.say("rounds.many", rounds=self.game.rounds)

    def lines(self, view: View, since: int, form: str) -> Iterator[str]:
        for number, contributions in enumerate(view.rounds(since), since + 1):
            if contributions is None:
                yield self.say("past.void", round=number)
            else:
                yield self.say(
                    "past",
                    round=number,
                    mine=contributions[view.number],
                    theirs=join_names(map(str, others_of(contributions, view.number))),
                    pot=sum(contributions),
                    paid=amount(self.game.round_payoffs(contributions)[view.number]),
                )

    def now(self, view: View) -> str:
        if self.game.rounds == 1:
            return ""
        return self.say("now", round=min(view.round, self.game.rounds), rounds=self.game.rounds)

    def question(self, view: View, options: Options[int]) -> str:
        return self.say("question", tokens=self.game.tokens)

    def scale(self, options: Options[int]) -> Whole | None:
        return span(options) if self.game.unit == 1 else None

    def aside(self, question: Question, view: View, pending: int | None = None) -> str:
        return self.say(f"aside.{question.probe}")

    def told(self, injected: Told, question: Question | None = None) -> str:
        about = self.say(f"told.{injected.probe}")
        return self.say(f"told.{injected.source}", about=about, value=injected.value)

    def state_in_history(self, injected: Told, view: View) -> str:
        return self.say("kept", round=view.round, told=self.told(injected))


def amount(pay: float) -> str:
    """Return a payoff as text, with two decimals if it is not whole."""
    return f"{pay:g}" if pay == round(pay, 2) else f"{pay:.2f}"
