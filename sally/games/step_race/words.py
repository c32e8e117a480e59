"""The step race in language: messages, moves and positions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from sally.core.errors import IllegalMove, Unreadable, join_names
from sally.core.log.events import Told
from sally.core.reply.plain_text import without_thoughts
from sally.core.rules.game import Seat
from sally.core.rules.menu import Options, admit, is_finite
from sally.core.rules.probe import Question
from sally.core.rules.words import Words, read_form, read_texts
from sally.games.step_race.rules import (
    ORDERS,
    SEATS,
    STAYS,
    Action,
    Done,
    PastTurn,
    Say,
    Spoken,
    StepRace,
    View,
    others_of,
)
from sally.games.step_race.talk import last_announcements

BOTH = " and "  # between the two seats of a question about both
STOP = "<stop>"  # at the end of a message: nothing to add in this turn

TEXTS: Mapping[str, str] = read_texts(__package__)

_LABEL = re.compile(r"(?im)^[ \t>#*_`-]*say[*_` ]*[:：][*_` ]*")
_BLANK = re.compile(r"(?i)\W*<(?:your |the )?message>\W*")


class StepWords(Words[Any, View]):
    """Texts of the step race; every seat reads the same lines about all three seats."""

    def __init__(self, game: StepRace, texts: Mapping[str, str]) -> None:
        super().__init__(game, texts)
        self._race = game
        self._names = tuple(self.say("name", number=n) for n in (1, 2, 3))

    def player_name(self, seat: str | int) -> str:
        """Return the name of a seat, given its number or id."""
        return self._names[seat if isinstance(seat, int) else SEATS.index(Seat(seat))]

    # --- the rules ------------------------------------------------------------------------------

    def rules(self, seat: Seat) -> str:
        race = self._race
        rules_text = self.say(
            "rules",
            names=join_names(self.listing(self._names)),
            me=self.player_name(seat),
            target=race.target,
            max_turns=race.max_turns,
        )
        if not race.talks:
            return f"{rules_text}\n{self.say('rules.silent')}"
        if race.talks == 1:
            return f"{rules_text}\n{self.say('rules.talk.one')}"
        return f"{rules_text}\n{self.say('rules.talk', talks=race.talks)}"

    # --- a page ---------------------------------------------------------------------------------

    def lines(self, view: View, since: int, form: str) -> Iterator[str]:
        yield from list(self._so_far(view))[since:]

    def _so_far(self, view: View) -> Iterator[str]:
        for number, turn in enumerate(view.past, 1):
            yield from self._talk(number, turn.talk)
            yield self._outcome(view, number, turn)
        if not view.over:
            yield from self._talk(view.turn, view.talk)

    def _talk(self, number: int, talk: tuple[Spoken, ...]) -> Iterator[str]:
        """Yield the messages of a turn in the order of speaking."""
        for message in talk:
            name = self.player_name(message.number)
            if text := one_line(message.text):
                yield self.say("said", name=name, turn=number, text=text)
            else:
                yield self.say("said.nothing", name=name, turn=number)

    def _outcome(self, view: View, number: int, turn: PastTurn) -> str:
        names = [self._you(n, view) for n in range(3)]
        moves = [
            self.say("moved.none", name=name)
            if move == STAYS
            else self.say("moved", name=name, move=move, gain=gain)
            for name, move, gain in zip(names, turn.moves, turn.gains, strict=True)
        ]
        places = [
            self.say("position", name=self.player_name(n), position=position)
            for n, position in enumerate(turn.positions)
        ]
        moves_and_places = join_names(self.listing(moves)), join_names(self.listing(places))
        return self.say(
            "past", turn=number, moves=moves_and_places[0], positions=moves_and_places[1]
        )

    def _you(self, number: int, view: View) -> str:
        name = self.player_name(number)
        return self.say("you", name=name) if number == view.number else name

    def now(self, view: View) -> str:
        race = self._race
        others = [
            self.say("now.other", name=self.player_name(n), position=view.positions[n])
            for n in others_of(view.number)
        ]
        facts: dict[str, Any] = {"turn": view.turn, "target": race.target}
        facts |= {"mine": view.positions[view.number], "others": join_names(self.listing(others))}
        if view.speaks:
            assert view.order is not None  # drawn before any seat speaks
            order = join_names([self.player_name(n) for n in ORDERS[view.order]], "then")
            talk_round = len(view.talk) // 3 + 1
            return self.say("now.talk", round=talk_round, talks=race.talks, speakers=order, **facts)
        return self.say("now.move", **facts)

    def question(self, view: View, options: Options[Any]) -> str:
        if view.speaks:
            return self.say("question.talk")
        return self.say("question.move", names=self._or(self.menu(options)))

    def format(self, view: View, options: Options[Any]) -> str:
        return self.say("format.talk") if view.speaks else super().format(view, options)

    def name(self, action: Any) -> str:
        match action:
            case Say(text):
                return one_line(text)
            case Done(text):
                return f"{one_line(text)} {STOP}".strip()
        return str(action)

    def read(self, reply: str, view: View, options: Options[Any]) -> Any:
        """Read a move by its number, or a message after the last `Say:` or as JSON."""
        if is_finite(options):
            return super().read(reply, view, options)
        labels = list(_LABEL.finditer(text := without_thoughts(reply)))
        if not labels:
            if "{" in text:
                return read_form(reply, options)
            raise Unreadable(self.say("format.talk"))
        return self._message(text[labels[-1].end() :], options)

    def _message(self, text: str, options: Options[Any]) -> Action:
        if not text.strip() or _BLANK.fullmatch(text):
            raise Unreadable(self.say("format.talk"))
        done = STOP in text.lower()
        message = one_line(re.sub(re.escape(STOP), " ", text, flags=re.I)).strip('"“”*` ')
        action: Action = Done(message) if done else Say(message)
        try:
            return admit(options, action)  # type: ignore[no-any-return]
        except IllegalMove as error:
            raise Unreadable(str(error)) from None

    # --- probes ---------------------------------------------------------------------------------

    def aside(self, question: Question, view: View, pending: Any = None) -> str:
        if question.probe == "joint":
            first, second = question.about.split(BOTH)
            return self.say(
                "aside.joint", first=self.player_name(first), second=self.player_name(second)
            )
        facts: dict[str, Any] = {"about": self.player_name(question.about)}
        if question.probe == "will_keep":
            facts["move"] = last_announcements(view.talk, view.turn)[
                SEATS.index(Seat(question.about))
            ]
        if question.probe == "who_can_win_now":
            facts["target"] = self._race.target
        return self.say(f"aside.{question.probe}", **facts)

    def choice_name(self, question: Question, choice: int | str) -> str:
        if question.probe in ("their_move", "their_pick", "next_pick"):
            return self.say("steps.one" if choice == 1 else "steps", number=choice)
        if question.probe == "joint":
            return self._joint(question.about, str(choice))
        return str(choice)

    def _joint(self, about: str, choice: str) -> str:
        """Return a pair of moves as text, such as `3-5`, with the lower seat's move first."""
        (first, second), (first_move, two) = about.split(BOTH), choice.split("-")
        names = {"first": self.player_name(first), "second": self.player_name(second)}
        return self.say("joint", one=first_move, two=two, **names)

    def told(self, injected: Told, question: Question | None = None) -> str:
        value = str(injected.value)
        if injected.probe == "joint":
            fact = self.say("fact.joint", value=self._joint(injected.about, value))
        else:
            fact = self.say(
                f"fact.{injected.probe}", about=self.player_name(injected.about), value=value
            )
        return self.say(f"told.{injected.source}", fact=fact)

    def state_in_history(self, injected: Told, view: View) -> str:
        return self.say("kept", turn=view.turn, told=self.told(injected))


def one_line(text: str) -> str:
    """Return a text on one line, so that no message can imitate a line of the prompt."""
    return " ".join(text.split())
