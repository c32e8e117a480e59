"""The battery in language: a story, a question, lettered options."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sally.core.errors import join_names
from sally.core.log.events import Told
from sally.core.reply.reader import read_choice
from sally.core.rules.game import Seat
from sally.core.rules.menu import Options
from sally.core.rules.probe import ProbeReport, Question
from sally.core.rules.words import Words, read_texts
from sally.games.battery.casts import cast_of
from sally.games.battery.items import Belief, Item
from sally.games.battery.rules import Battery, View

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
TEXTS: Mapping[str, str] = read_texts(__package__)
PEOPLE: Mapping[str, str] = {  # the board shows the story, and buttons show the options
    "choice": "{text}",
    "option": "",
    "rules.story": "",
    "now": "{turn}",
    "rules.many": "You answer {count} questions about short stories.",
}


class BatteryWords(Words[int, View]):
    """Texts of the battery; options are named by their text and answered by letter or text."""

    game: Battery

    def __init__(self, game: Battery, texts: Mapping[str, str]) -> None:
        super().__init__(game, texts)
        self._alone = len(game.schedule) == 1
        cast = cast_of(self.texts["cast"])
        items_told = [*game.told_of(cast), *([game.practice_item(cast)] if game.practice else ())]
        self._told: dict[str, Item] = {item.id: item for item in items_told}
        self._names = {
            turn.base + option: text
            for turn in game.schedule
            for option, text in enumerate(self._told[turn.item.id].options)
        }

    # --- a page ---------------------------------------------------------------------------------

    def rules(self, seat: Seat) -> str:
        sentences = [
            self.say("rules.one" if self._alone else "rules.many", count=len(self.game.schedule))
        ]
        if self.game.practice:
            sentences.append(self.say("rules.practice"))
        sentences.append(self.say("rules.score"))
        opening = " ".join(sentences)
        if self._alone:
            opening += self.say(
                "rules.story", story=self._told[self.game.schedule[0].item.id].story
            )
        return opening

    def lines(self, view: View, since: int, form: str) -> Iterator[str]:
        if not since and view.practised is not None:
            options, own_answer = self._told[self.game.schedule[0].item.id].options, view.answers[0]
            key = options[view.practised]
            if own_answer is None:
                yield self.say("past.forfeit", right=key)
            elif own_answer == view.practised:
                yield self.say("past.right", mine=options[own_answer])
            else:
                yield self.say("past.wrong", mine=options[own_answer], right=key)

    def now(self, view: View) -> str:
        posed = view.asked
        if posed is None or self._alone:
            return ""
        practice = int(self.game.practice)
        turn = (
            self.say("practice")
            if view.turn < practice
            else self.say("turn", turn=view.turn + 1 - practice, turns=view.turns - practice)
        )
        return self.say("now", turn=turn, story=self._told[posed.id].story)

    def question(self, view: View, options: Options[int]) -> str:
        posed = view.asked
        assert posed is not None  # the reader is asked only then
        question = self._told[posed.id].question
        return self._with_options(question, [self.name(option) for option in options])

    def _with_options(self, question: str, texts: Sequence[str]) -> str:
        lines = [
            self.say("option", letter=letter, text=text)
            for letter, text in zip(LETTERS, self.listing(texts), strict=False)
        ]
        return "\n".join([question, *filter(None, lines)])

    # --- answers --------------------------------------------------------------------------------

    def name(self, action: Any) -> str:
        """Return the text of an option; its letter depends on the order in which it is shown."""
        return self._names[int(action)]

    def menu(self, options: Options[int]) -> tuple[str, ...]:
        return tuple(self.listing(LETTERS[: len(options)]))

    def read(self, reply: str, view: View, options: Options[int]) -> int:
        listed_options: list[Any] = self.listing(options)
        return int(
            listed_options[
                read_option(reply, [self.name(option) for option in listed_options], self.label)
            ]
        )

    # --- the probe ------------------------------------------------------------------------------

    def aside(self, question: Question, view: View, pending: int | None = None) -> str:
        posed = view.asked
        assert posed is not None
        belief = self._belief(posed.id)
        texts = [belief.options[int(choice)] for choice in question.choices]
        return self._with_options(self.say("aside.belief", question=belief.question), texts)

    def choice_name(self, question: Question, choice: int | str) -> str:
        place = self.listing(question.choices).index(choice)
        text = self._belief(question.about).options[int(choice)]
        return self.say("choice", letter=LETTERS[place], text=text)

    def read_report(self, reply: str, question: Question) -> ProbeReport:
        listed_choices, texts = self.listing(question.choices), self._belief(question.about).options
        place = read_option(reply, [texts[int(choice)] for choice in listed_choices], self.label)
        return ProbeReport(listed_choices[place], reply=reply)

    def told(self, injected: Told, question: Question | None = None) -> str:
        belief = self._belief(injected.about)
        assert isinstance(injected.value, int)
        about = self.say("about.belief", question=belief.question)
        return self.say(
            f"told.{injected.source}", about=about, value=belief.options[injected.value]
        )

    def _belief(self, id: str) -> Belief:
        """Return an item's question about a mind, as worded in this words pack."""
        belief = self._told[id].belief
        assert belief is not None  # it is asked only then
        return belief

    def state_in_history(self, injected: Told, view: View) -> str:
        return self.say("kept", told=self.told(injected))


def read_option(reply: str, texts: Sequence[str], label: str) -> int:
    """Return the option that a reply names by its letter or its text.

    Raises:
        Unreadable: The reply names no option, or several.

    >>> read_option("Option: B", ["the jar", "the tin"], "Option")
    1
    >>> read_option("Option: A. the jar", ["the jar", "the tin"], "Option")
    0
    """
    letters = LETTERS[: len(texts)]
    teach = f"Answer with one letter, {join_names(letters, 'or')}, and nothing else."
    return read_choice(reply, texts, label, letters, teach)
