"""MindGames in language: the persuader's page, the target's voice, and the reader's task."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from sally.core.errors import Unreadable, listed
from sally.core.log.events import Told
from sally.core.prompt.words import Words, objects_in, read_form
from sally.core.rules.game import Seat
from sally.core.rules.menu import Options
from sally.core.rules.probe import Question, Report
from sally.games.mindgames.claims import Claims, Names
from sally.games.mindgames.perfect import Line, perfect_talk
from sally.games.mindgames.replies import EFFECTS, Answer, Voice, as_json, in_words
from sally.games.mindgames.rules import (
    PERSUADER,
    READER,
    TARGET,
    Action,
    Brief,
    MindGame,
    Reply,
    Say,
    Seen,
    View,
    spoken,
)

EXAMPLE = ((0, 1, -1), (-1, 1, 1), (1, -1, 0))  # moore2025 shows another table in this place
EXAMPLE_SEEN = ((0, None, -1), (-1, None, None), (None, -1, 0))
SIGNS = {1: "like", 0: "indifferent", -1: "dislike"}
LETTER = re.compile(  # nothing is tried twice: a page of empty lines would take seconds
    r"\s*+(?:option\s*+:)?[\s*_`\"'(]*+([A-Za-z])[\s*_`\"').]*+", re.IGNORECASE
)
THINKING = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)
Table = Sequence[Sequence[int | None]]


class MindWords(Words[Action, View]):
    def __init__(self, game: MindGame, texts: Mapping[str, str]) -> None:
        super().__init__(game, texts)
        self._game, self._names, self._tale = game, game.names, game.tale
        self._mind = "mental" if game.tale.mental else "system"
        self._other = self.say(f"who.{self._mind}")
        self._noun = game.names.noun
        voice = {part: self.texts[f"reply.{self._mind}.{part}"] for part in Voice.__struct_fields__}
        self._voice = Voice(**voice)

    # --- the page -------------------------------------------------------------------------------

    def rules(self, seat: Seat) -> str:
        brief = self._game.brief(seat)
        if seat == READER:
            return self._about("rules.reader", table=self._table(brief.utilities))
        if seat == TARGET:
            own = Answer(motivation=tuple(enumerate(brief.likes or ())))
            likes = in_words(own, self._names, self._voice)
            key = "rules.target.free" if self._game.target == "free" else "rules.target"
            return self._about(key, table=self._table(brief.utilities), likes=likes)
        return "\n".join(self._rules_of_persuader(brief))

    def _about(self, key: str, **facts: Any) -> str:
        """A sentence of the rules with the facts that everybody may know."""
        names = self._names
        public = {
            "noun": self._noun,
            "persuader": self._tale.persuader,
            "target": self._tale.target,
            "messages": self._game.messages,
            "limit": self._game.limit,
            "proposals": listed(names.proposals),
            "attributes": listed(names.attributes),
        }
        return self.say(key, **public, **facts)

    def _rules_of_persuader(self, brief: Brief) -> Iterator[str]:
        mind, game = self._mind, self._game
        yield self._about(f"rules.role.{mind}")
        yield self._about(f"rules.messages.{mind}")
        if not game.discrete:
            yield self._about("rules.limit")
        yield self._about(f"rules.other.{mind}")
        yield self._about("rules.lying" if game.lying else "rules.truth")
        full, part = (self._table(t, "abc", "xyz") for t in (EXAMPLE, EXAMPLE_SEEN))
        yield self._about(f"rules.example.{mind}", full=full, part=part)
        if game.variant == "add_hint":
            yield self._about("rules.hint")
        if game.discrete:
            yield self._about("rules.discrete")
        if game.variant == "perfect_game":
            yield self._perfect()
        yield "\n" + self.say("story", text=self._tale.text)
        yield self._about("rules.table", table=self._table(brief.utilities))
        assert brief.goal is not None
        yield self._about(f"rules.goal.{mind}", goal=self._names.proposals[brief.goal])
        if brief.known is not None:
            yield self._about(f"rules.likes.{mind}", likes=self._likes(brief))
            known: Table = [
                [u if (p, a) in brief.known else None for a, u in enumerate(row)]
                for p, row in enumerate(brief.utilities)
            ]
            yield self._about(f"rules.known.{mind}", table=self._table(known))

    def _perfect(self) -> str:
        """A won game under the same story, with another table."""
        shown = self._game.shown
        names = self._tale.names(shown.letters)
        talk: list[str] = []
        for line in perfect_talk(shown, names, self._game.memory):
            said = self.reply(line.answer, names)
            talk.append(self.say("past.you", text=self._scripted(line)))
            talk.append(self.say("past.other", other=_capital(self._other), text=said))
        table = self._table(shown.utilities, names.proposals)
        goal = names.proposals[shown.goal]
        return self._about("rules.perfect", table=table, goal=goal, talk="\n".join(talk))

    def _scripted(self, line: Line) -> str:
        if line.key == "disclose":
            facts = [self._fact(d.proposal, d.attribute, d.utility) for d in line.told]
            return " ".join(f"{_capital(fact)}." for fact in facts)
        return self._about(f"perfect.{line.key}")

    def lines(self, view: View, since: int, form: str) -> Iterable[str]:
        lines = [line for seen in view.story for line in self._lines(seen, view.seat)]
        return [*lines, *self._end(view)][since:]

    def _end(self, view: View) -> Iterator[str]:
        """Who chose what and why, once the game is over."""
        if view.chosen is not None:
            free = self._game.target == "free"
            why = self.say(
                "end.free" if free else f"end.{self._mind}.{'tie' if view.tied else 'best'}"
            )
            letter = self._names.proposals[view.chosen]
            if view.seat == TARGET:
                yield self.say("end.chosen", noun=self._noun, letter=letter)
                return
            yield self.say(f"end.{self._mind}", noun=self._noun, letter=letter, why=why)

    def _lines(self, seen: Seen, seat: Seat) -> Iterator[str]:
        if seat != PERSUADER:
            yield self.say("past.persuader", text=one_line(seen.text))
            if seen.chosen < 0:
                other = _capital(self._tale.target)
                yield self.say("past.target", other=other, text=self._said(seen))
            else:
                yield self.say("past.you", text=self._said(seen))
                letter = self._names.proposals[seen.chosen]
                yield self.say("past.chosen", noun=self._noun, letter=letter)
            return
        if not seen.text:
            yield self.say("past.missed")
            return
        thoughts, _ = spoken(seen.text)
        message = one_line(self._game.message(seen.text)) or self.say("nothing")
        if thoughts:
            yield self.say("past.thoughts", text=one_line(thoughts))
        if seen.answer is None:
            yield self.say("past.back", text=message, why=self._why(seen))
            return
        yield self.say("past.you", text=message)
        yield self.say("past.other", other=_capital(self._other), text=self._said(seen))

    def _why(self, seen: Seen) -> str:
        if seen.problem:
            return one_line(seen.problem)
        facts = listed([self._fact(d.proposal, d.attribute, d.utility) for d in seen.false])
        return self.say("past.false", facts=facts)

    def _said(self, seen: Seen) -> str:
        assert seen.answer is not None
        return self.reply(seen.answer)

    def reply(self, said: Answer, names: Names | None = None) -> str:
        """An answer of the target as it is read, on one line."""
        if self._game.discrete:
            said_in_json = as_json(said, names or self._names)
            return json.dumps(json.loads(said_in_json)) if said_in_json else self.say("nothing")
        return in_words(said, names or self._names, self._voice)

    def now(self, view: View) -> str:
        if view.seat == PERSUADER:
            left = self._game.messages - view.sent
            return self.say("now.persuader", left=left, messages=self._game.messages)
        return self.say(f"now.{view.seat}", text=one_line(view.draft))

    def question(self, view: View, options: Options[Action]) -> str:
        if view.seat == TARGET and self._game.target == "free":
            said = self.name_of_answer(options)
            return self.say("question.free", noun=self._noun, said=said)
        if view.seat != PERSUADER:
            return self.say(f"question.{view.seat}")
        key = "discrete" if self._game.discrete else "persuader"
        return self.say(f"question.{key}", other=self._other, limit=self._game.limit)

    def format(self, view: View, options: Options[Action]) -> str:
        if view.seat != PERSUADER:
            return super().format(view, options)
        key = "discrete" if self._game.discrete else "persuader"
        return self.say(f"format.{key}", limit=self._game.limit)

    # --- actions --------------------------------------------------------------------------------

    def name(self, action: Any) -> str:
        match action:
            case Say(text):
                return one_line(self._game.message(text))
            case Reply(_, chosen) if self._game.target == "free":
                return f"{self._noun} {self._names.proposals[chosen]}"
            case Reply(answer):
                return self.reply(answer)
            case Claims():
                return self._claims(action)
        return str(action)

    def name_of_answer(self, options: Options[Action]) -> str:
        """What a target that chooses freely answers in any case, because it is so."""
        first: Any = options[0]
        return self.reply(first.answer)

    def _claims(self, found: Claims) -> str:
        parts = [self._fact(d.proposal, d.attribute, d.utility) for d in found.disclosures]
        asked = [*found.motivational, *(f"{a.proposal} {a.attribute}" for a in found.informational)]
        parts += [f"asks {name}" for name in (*asked, *found.inferential)]
        return "; ".join(parts) or self.say("nothing")

    def read(self, reply: str, view: View, options: Options[Action]) -> Action:
        """A persuader's whole reply is its message; hidden reasoning is dropped."""
        if view.seat == TARGET and self._game.target == "free":
            letters = [name.upper() for name in self._names.proposals]
            if (letter := LETTER.fullmatch(reply)) and letter[1].upper() in letters:
                return options[letters.index(letter[1].upper())]  # type: ignore[return-value]
        if view.seat != PERSUADER:
            return super().read(reply, view, options)
        text = THINKING.sub("", reply).strip()
        if any("kind" in found for found in objects_in(text)):
            menu: Any = options
            filled: Any = read_form(text, menu)
            return filled  # type: ignore[no-any-return]
        thoughts, message = spoken(text)
        if not message or message == "null":
            raise Unreadable("Write a message below the line `---`.")
        if not self._game.discrete and message[0] in "{[":
            raise Unreadable("Write your message in sentences, not as JSON.")
        if not thoughts and "---" not in text and len(message) > self._room():
            raise Unreadable(
                f"Your message has {len(message)} characters. If some of it are thoughts, put a "
                "line `---` between them and the message."
            )
        return Say(text)

    def _room(self) -> int:
        """How long an answer without a line `---` may be before it is asked for again.

        Up to what thoughts and message may take together it is a message, cut like any other;
        beyond that it is mostly thoughts, and none of them would be the message.
        """
        return 10**6 if self._game.discrete else 2 * self._game.limit

    # --- probes ---------------------------------------------------------------------------------

    def aside(self, question: Question, view: View, pending: Action | None = None) -> str:
        return self.say(f"aside.{question.probe}", other=self._other, noun=self._noun)

    def choice_name(self, question: Question, choice: int | str) -> str:
        return self._item(question.probe, choice)

    def _item(self, probe: str, item: int | str) -> str:
        """What a proposal, an attribute or a cell is called in a probe."""
        names = self._names
        if probe == "target_choice":
            return f"{self._noun} {names.proposals[int(item)]}"
        if probe == "target_likes":
            return names.attributes[int(item)]
        row, column = divmod(int(item), len(names.attributes))
        facts = {"proposal": names.proposals[row], "attribute": names.attributes[column]}
        return self.say("effect", noun=self._noun, **facts)

    def read_report(self, reply: str, question: Question) -> Report:
        """As in every game, and a lone letter is the proposal of that name."""
        if question.probe == "target_choice" and (letter := LETTER.fullmatch(reply)):
            names = [name.upper() for name in self._names.proposals]
            if letter[1].upper() in names:
                return Report(names.index(letter[1].upper()), reply=reply)
        return super().read_report(reply, question)

    def told(self, told: Told, question: Question | None = None) -> str:
        value = told.value
        if isinstance(value, dict):
            said = listed([f"{self._item(told.probe, i)} {v:g}" for i, v in value.items()])
        else:
            assert value is not None
            said = self._item(told.probe, value)
        return self.say(f"told.{told.source}.{told.probe}", other=self._other, value=said)

    # --- pieces ---------------------------------------------------------------------------------

    def _fact(self, proposal: str, attribute: str, utility: int) -> str:
        return f"{self._noun} {proposal} {EFFECTS[utility]} {attribute}"

    def _table(
        self, rows: Table, letters: Sequence[str] = (), attributes: Sequence[str] = ()
    ) -> str:
        """One line a proposal with what is given of it."""
        letters = letters or self._names.proposals
        attributes = attributes or self._names.attributes
        lines = []
        for letter, row in zip(letters, rows, strict=True):
            effects = [
                f"{EFFECTS[u]} {attributes[a]}" for a, u in enumerate(row) if u is not None
            ] or [self.say("nothing")]
            lines.append(f"- {_capital(self._noun)} {letter} {listed(self.listing(effects))}.")
        return "\n".join(self.listing(lines))

    def _likes(self, brief: Brief) -> str:
        assert brief.likes is not None
        said = [
            self.say(f"likes.{self._mind}.{SIGNS[v]}", x=self._names.attributes[a])
            for a, v in enumerate(brief.likes)
        ]
        return f"{_capital(listed(said))}."


def one_line(text: str) -> str:
    """A text on one line, so that no message can look like a line of the page."""
    return " ".join(text.split())


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
