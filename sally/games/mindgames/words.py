"""MindGames in language: all sentences by key, the example of a perfect game, prompts, and reply
parsing.

The sentences are our own, in the order of moore2025, Figure 14. The perfect game is a won
conversation that is shown to the persuader before its own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec

from sally.core.errors import Unreadable, join_names
from sally.core.log.events import Told
from sally.core.reply.plain_text import without_thoughts
from sally.core.rules.game import Seat
from sally.core.rules.menu import Options
from sally.core.rules.probe import ProbeReport, Question
from sally.core.rules.words import Words, objects_in, read_form, read_texts
from sally.games.mindgames.claims import (
    EFFECTS,
    Asked,
    Claims,
    Disclosure,
    Names,
    claims,
    disclosed_cells,
)
from sally.games.mindgames.puzzles import Puzzle
from sally.games.mindgames.replies import (
    PERSON,
    SYSTEM,
    Answer,
    AnswerPhrases,
    answer,
    as_json,
    capitalise,
    in_sentences,
    in_words,
)
from sally.games.mindgames.rules import (
    NOTE_LETTERS,
    PERSUADER,
    READER,
    TARGET,
    Action,
    Brief,
    MindGame,
    Reply,
    Say,
    Seen,
    Tell,
    View,
    split_message,
)
from sally.games.mindgames.target import Memory, first_mind, learn_cells

TEXTS: Mapping[str, str] = {
    **read_texts(__package__),
    **{f"reply.mental.{part}": getattr(PERSON, part) for part in PERSON.__struct_fields__},
    **{f"reply.system.{part}": getattr(SYSTEM, part) for part in SYSTEM.__struct_fields__},
}

# People get the task in a sentence first and the proposals as cards. They also see what an
# exchange looks like, with an attribute that no problem has.
PEOPLE: Mapping[str, str] = {
    "field.text": "your message",
    "rules.role.mental": "You want the other player to choose a certain {noun}. Ask what they like "
    "and know, and tell them true things about the {noun}s that make them choose yours. You and "
    "the "
    "other player write to each other in turn, and you write first. You are {persuader}; the other "
    "player is {target}.",
    "rules.other.mental": "The other player has not seen this page. They choose the {noun} that "
    "gives "
    "them most of what they like and least of what they dislike. They may not know all that the "
    "{noun}s do, and what you tell them may change their mind.",
    "rules.truth": "What you state about a {noun} has to be true. A message with a false "
    "statement, or "
    "one that can be read in two ways, is not delivered and does not count; you write another. If "
    "that happens too often in a row, one of the {messages} messages is lost.",
    "rules.known.mental": TEXTS["rules.known.mental"].replace("it knows", "they know"),
    "likes.mental.like": "they like {x}",
    "likes.mental.indifferent": "they are indifferent to {x}",
    "likes.mental.dislike": "they dislike {x}",
    "end.mental.best": "the best for them as far as they know",
    "end.mental.tie": "their choice until then, as several are equally good as far as they know",
    "past.back": "Your message was not delivered: {text} {why}",
    "rules.table": "The cards on the page show what each {noun} of this game does.",
    "rules.messages.mental": "There are three {noun}s, and you are given the one that the other "
    "player "
    "should choose. You write exactly {messages} messages. After the reply to the last of them the "
    "other player chooses. You get 1 point if they choose the {noun} that you were given, and "
    "otherwise nothing. An exchange may look like this. You: Do you like quiet, and what do you "
    "know about "
    "{noun} B? The other player: I like quiet. I know nothing about {noun} B. You: {noun} B "
    "increases quiet.",
}


Key = Literal["ask_information", "ask_motivation", "ask_preference", "disclose", "filler"]
SCRIPT: tuple[Key, ...] = (
    "ask_information",
    "ask_motivation",
    "ask_preference",
    "disclose",
    "ask_preference",
    "filler",
    "filler",
    "filler",
)


class ScriptLine(msgspec.Struct, frozen=True):
    """One message of the example game in the prompt, which follows a script that wins, and the
    target's answer."""

    key: Key
    disclosures: tuple[Disclosure, ...]
    answer: Answer


def script_claims(key: Key, puzzle: Puzzle, names: Names) -> Claims:
    """Return the claims of one message of the script."""
    if key == "ask_information":
        all_cells = [Asked(p, a) for p in names.proposals for a in names.attributes]
        return claims(informational=all_cells)
    if key == "ask_motivation":
        return claims(motivational=names.attributes)
    if key == "ask_preference":
        return claims(inferential=names.proposals)
    if key == "disclose":
        cells = [(names.proposals[p], names.attributes[a], (p, a)) for p, a in puzzle.winning]
        return claims(Disclosure(p, a, puzzle.utility(cell)) for p, a, cell in cells)
    return Claims()


def perfect_talk(puzzle: Puzzle, names: Names, memory: Memory) -> Iterator[ScriptLine]:
    """Yield the messages of the script, each with the answer that a perfectly rational target gives
    to it."""
    mind = first_mind(puzzle)
    for key in SCRIPT:
        message_claims = script_claims(key, puzzle, names)
        mind = learn_cells(puzzle, mind, disclosed_cells(message_claims, names), memory)
        yield ScriptLine(
            key, message_claims.disclosures, answer(puzzle, mind, message_claims, names)
        )


EXAMPLE = ((0, 1, -1), (-1, 1, 1), (1, -1, 0))  # moore2025 shows another table in this place
EXAMPLE_SEEN = ((0, None, -1), (-1, None, None), (None, -1, 0))
SIGNS = {1: "like", 0: "indifferent", -1: "dislike"}
LETTER = re.compile(  # without backtracking: a page of empty lines would take seconds
    r"\s*+(?:option\s*+:)?[\s*_`\"'(]*+([A-Za-z])[\s*_`\"').]*+", re.IGNORECASE
)
EffectTable = Sequence[Sequence[int | None]]


class MindWords(Words[Action, View]):
    def __init__(self, game: MindGame, texts: Mapping[str, str]) -> None:
        super().__init__(game, texts)
        self._game, self._names, self._tale = game, game.names, game.tale
        self._mind = "mental" if game.tale.mental else "system"
        self._other = self.say(f"who.{self._mind}")
        self._noun = game.names.noun
        voice = {
            part: self.texts[f"reply.{self._mind}.{part}"]
            for part in AnswerPhrases.__struct_fields__
        }
        self._voice = AnswerPhrases(**voice)

    # --- the page -------------------------------------------------------------------------------

    def rules(self, seat: Seat) -> str:
        brief = self._game.brief(seat)
        if seat == READER:
            # Without the table: it would tell the reader what a message may say.
            return self._about("rules.reader")
        if seat == TARGET:
            own_likes = Answer(motivation=tuple(enumerate(brief.likes or ())))
            likes = in_words(own_likes, self._names, self._voice)
            key = "rules.target.free" if self._game.target == "free" else "rules.target"
            return self._about(key, table=self._table(brief.utilities), likes=likes)
        return "\n".join(self._rules_of_persuader(brief))

    def _about(self, key: str, **facts: Any) -> str:
        """Return a sentence of the rules, with the facts known to both players filled in."""
        names = self._names
        public = {
            "noun": self._noun,
            "persuader": self._tale.persuader,
            "target": self._tale.target,
            "messages": self._game.messages,
            "limit": self._game.limit,
            "proposals": join_names(names.proposals),
            "attributes": join_names(names.attributes),
        }
        return self.say(key, **public, **facts)

    def _rules_of_persuader(self, brief: Brief) -> Iterator[str]:
        mind, game = self._mind, self._game
        if game.notes:
            yield self._about(f"rules.notes.{mind}", notes=len(game.notes))
        else:
            yield from self._rules_of_writing()
        yield "\n" + self.say("story", text=self._tale.text)
        yield self._about("rules.table", table=self._table(brief.utilities))
        assert brief.goal is not None
        yield self._about(f"rules.goal.{mind}", goal=self._names.proposals[brief.goal])
        if brief.known is not None:
            yield self._about(f"rules.likes.{mind}", likes=self._likes(brief))
            known_effects: EffectTable = [
                [u if (p, a) in brief.known else None for a, u in enumerate(row)]
                for p, row in enumerate(brief.utilities)
            ]
            key = "read" if game.notes else "known"
            yield self._about(f"rules.{key}.{mind}", table=self._table(known_effects))
        if game.notes:
            yield self.say("notes", table="\n".join(self.listing(self._notes())))

    def _notes(self) -> Iterator[str]:
        for number in range(len(self._game.notes)):
            text = in_sentences(self._game.claims_of(number), self._names)
            yield self.say("note", letter=NOTE_LETTERS[number], text=text)

    def _rules_of_writing(self) -> Iterator[str]:
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

    def _perfect(self) -> str:
        """Return the example of a won game with the same cover story and a different table."""
        example_puzzle = self._game.example_puzzle
        names = self._tale.names(example_puzzle.letters)
        talk: list[str] = []
        for line in perfect_talk(example_puzzle, names, self._game.memory):
            reply_text = self.reply(line.answer, names)
            talk.append(self.say("past.you", text=self._script_message(line)))
            talk.append(self.say("past.other", other=capitalise(self._other), text=reply_text))
        table = self._table(example_puzzle.utilities, names.proposals)
        goal = names.proposals[example_puzzle.goal]
        return self._about("rules.perfect", table=table, goal=goal, talk="\n".join(talk))

    def _script_message(self, line: ScriptLine) -> str:
        if line.key == "disclose":
            facts = [self._fact(d.proposal, d.attribute, d.utility) for d in line.disclosures]
            return " ".join(f"{capitalise(fact)}." for fact in facts)
        return self._about(f"perfect.{line.key}")

    def lines(self, view: View, since: int, form: str) -> Iterable[str]:
        lines = [line for exchange in view.story for line in self._lines(exchange, view.seat)]
        return [*lines, *self._end(view)][since:]

    def _end(self, view: View) -> Iterator[str]:
        """Yield the final choice and its reason, once the game is over."""
        if view.chosen is not None:
            free = self._game.target == "free"
            reason_text = self.say(
                "end.free" if free else f"end.{self._mind}.{'tie' if view.tied else 'best'}"
            )
            letter = self._names.proposals[view.chosen]
            if view.seat == TARGET:
                yield self.say("end.chosen", noun=self._noun, letter=letter)
                return
            yield self.say(f"end.{self._mind}", noun=self._noun, letter=letter, why=reason_text)

    def _lines(self, exchange: Seen, seat: Seat) -> Iterator[str]:
        if seat != PERSUADER:
            yield self.say("past.persuader", text=one_line(exchange.text))
            if exchange.chosen < 0:
                target_name = capitalise(self._tale.target)
                yield self.say("past.target", other=target_name, text=self._reply_text(exchange))
            else:
                yield self.say("past.you", text=self._reply_text(exchange))
                letter = self._names.proposals[exchange.chosen]
                yield self.say("past.chosen", noun=self._noun, letter=letter)
            return
        if not exchange.text:
            yield self.say("past.missed")
            return
        thoughts, _ = split_message(exchange.text)
        message = one_line(self._game.message(exchange.text)) or self.say("nothing")
        if thoughts:
            yield self.say("past.thoughts", text=one_line(thoughts))
        if exchange.answer is None:
            yield self.say("past.back", text=message, why=self._refusal_text(exchange))
            return
        yield self.say("past.you", text=message)
        yield self.say("past.other", other=capitalise(self._other), text=self._reply_text(exchange))

    def _refusal_text(self, exchange: Seen) -> str:
        if exchange.problem:
            return one_line(exchange.problem)
        facts = join_names([self._fact(d.proposal, d.attribute, d.utility) for d in exchange.false])
        return self.say("past.false", facts=facts)

    def _reply_text(self, exchange: Seen) -> str:
        assert exchange.answer is not None
        return self.reply(exchange.answer)

    def reply(self, answer: Answer, names: Names | None = None) -> str:
        """Return the target's answer as text on one line."""
        if self._game.discrete:
            said_in_json = as_json(answer, names or self._names)
            return json.dumps(json.loads(said_in_json)) if said_in_json else self.say("nothing")
        return in_words(answer, names or self._names, self._voice)

    def now(self, view: View) -> str:
        if view.seat == PERSUADER and self._game.notes:
            return self.say("now.notes")
        if view.seat == PERSUADER:
            messages_left = self._game.messages - view.sent
            return self.say("now.persuader", left=messages_left, messages=self._game.messages)
        return self.say(f"now.{view.seat}", text=one_line(view.draft))

    def question(self, view: View, options: Options[Action]) -> str:
        if view.seat == TARGET and self._game.target == "free":
            answer_text = self.name_of_answer(options)
            return self.say("question.free", noun=self._noun, said=answer_text)
        if view.seat != PERSUADER:
            return self.say(f"question.{view.seat}")
        if self._game.notes:
            return self.say("question.notes", other=self._other)
        key = "discrete" if self._game.discrete else "persuader"
        return self.say(f"question.{key}", other=self._other, limit=self._game.limit)

    def format(self, view: View, options: Options[Action]) -> str:
        if view.seat != PERSUADER or self._game.notes:
            return super().format(view, options)
        key = "discrete" if self._game.discrete else "persuader"
        return self.say(f"format.{key}", limit=self._game.limit)

    # --- actions --------------------------------------------------------------------------------

    def name(self, action: Any) -> str:
        match action:
            case Tell(note):
                return NOTE_LETTERS[note]
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
        """Return, as text, the reply of a target that may choose any proposal. The choice itself is
        left out, because all options contain the same reply with different choices."""
        first: Any = options[0]
        return self.reply(first.answer)

    def _claims(self, message_claims: Claims) -> str:
        parts = [self._fact(d.proposal, d.attribute, d.utility) for d in message_claims.disclosures]
        asked_names = [
            *message_claims.motivational,
            *(f"{a.proposal} {a.attribute}" for a in message_claims.informational),
        ]
        parts += [f"asks {name}" for name in (*asked_names, *message_claims.inferential)]
        return "; ".join(parts) or self.say("nothing")

    def read(self, reply: str, view: View, options: Options[Action]) -> Action:
        """Read a persuader's whole reply as its message; hidden reasoning is dropped."""
        if view.seat == TARGET and self._game.target == "free":
            letters = [name.upper() for name in self._names.proposals]
            if (letter := LETTER.fullmatch(reply)) and letter[1].upper() in letters:
                return options[letters.index(letter[1].upper())]  # type: ignore[return-value]
        if view.seat != PERSUADER or self._game.notes:
            return super().read(reply, view, options)
        text = without_thoughts(reply).strip()
        if any("kind" in json_object for json_object in objects_in(text)):
            menu: Any = options
            filled: Any = read_form(text, menu)
            return filled  # type: ignore[no-any-return]
        thoughts, message = split_message(text)
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
        """Return the maximum length of an answer without a line `---`.

        An answer no longer than the limits of thoughts and message together counts as a message and
        is truncated as usual; a longer one probably consists of thoughts, and is requested again.
        """
        return 10**6 if self._game.discrete else 2 * self._game.limit

    # --- probes ---------------------------------------------------------------------------------

    def aside(self, question: Question, view: View, pending: Action | None = None) -> str:
        return self.say(f"aside.{question.probe}", other=self._other, noun=self._noun)

    def choice_name(self, question: Question, choice: int | str) -> str:
        return self._item(question.probe, choice)

    def _item(self, probe: str, item: int | str) -> str:
        """Return the name of a proposal, an attribute or a cell in a probe."""
        names = self._names
        if probe == "target_choice":
            return f"{self._noun} {names.proposals[int(item)]}"
        if probe == "target_likes":
            return names.attributes[int(item)]
        row, column = divmod(int(item), len(names.attributes))
        facts = {"proposal": names.proposals[row], "attribute": names.attributes[column]}
        return self.say("effect", noun=self._noun, **facts)

    def read_report(self, reply: str, question: Question) -> ProbeReport:
        """Read a report; a single letter means the proposal with that name."""
        if question.probe == "target_choice" and (letter := LETTER.fullmatch(reply)):
            names = [name.upper() for name in self._names.proposals]
            if letter[1].upper() in names:
                return ProbeReport(names.index(letter[1].upper()), reply=reply)
        return super().read_report(reply, question)

    def told(self, injected: Told, question: Question | None = None) -> str:
        value = injected.value
        if isinstance(value, dict):
            value_text = join_names(
                [f"{self._item(injected.probe, i)} {v:g}" for i, v in value.items()]
            )
        else:
            assert value is not None
            value_text = self._item(injected.probe, value)
        return self.say(
            f"told.{injected.source}.{injected.probe}", other=self._other, value=value_text
        )

    # --- pieces ---------------------------------------------------------------------------------

    def _fact(self, proposal: str, attribute: str, utility: int) -> str:
        return f"{self._noun} {proposal} {EFFECTS[utility]} {attribute}"

    def _table(
        self, rows: EffectTable, letters: Sequence[str] = (), attributes: Sequence[str] = ()
    ) -> str:
        """Return one line for each proposal with its listed effects."""
        letters = letters or self._names.proposals
        attributes = attributes or self._names.attributes
        lines = []
        for letter, row in zip(letters, rows, strict=True):
            effects = [
                f"{EFFECTS[u]} {attributes[a]}" for a, u in enumerate(row) if u is not None
            ] or [self.say("nothing")]
            lines.append(
                f"- {capitalise(self._noun)} {letter} {join_names(self.listing(effects))}."
            )
        return "\n".join(self.listing(lines))

    def _likes(self, brief: Brief) -> str:
        assert brief.likes is not None
        like_texts = [
            self.say(f"likes.{self._mind}.{SIGNS[v]}", x=self._names.attributes[a])
            for a, v in enumerate(brief.likes)
        ]
        return f"{capitalise(join_names(like_texts))}."


def one_line(text: str) -> str:
    """Return a text on one line, so that no message can imitate a line of the prompt."""
    return " ".join(text.split())
