"""Prompting strategies. They see a turn only in words, so each strategy fits every game."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import msgspec

from sally.core.errors import Unreadable
from sally.core.log.events import Told, Value
from sally.core.match.player import Turn
from sally.core.match.seat_context import SeatContext
from sally.core.prompt import answer_schema
from sally.core.prompt.hashed_text import HashedText
from sally.core.prompt.model import Context, Message, Reply, Scores, User
from sally.core.prompt.page_layout import AS_IT_IS, Harness, as_line, form_of
from sally.core.reply.plain_text import sections, without_thoughts
from sally.core.reply.reader import complete_part
from sally.core.rules.chance import derived_seed
from sally.core.rules.menu import is_finite
from sally.core.rules.probe import Point, ProbeReport, Question, StatedPrediction
from sally.core.rules.words import only_object

T = TypeVar("T")


class PromptContext:
    """The texts of one turn, from which a strategy builds its prompts.

    A prompt has two parts. The first (`opening`) contains the rules and the history, so it grows
    from turn to turn: unless the history shown is limited, new text is only appended to it. The
    second (`tail`) contains the question and is written anew for each prompt.
    """

    __slots__ = (
        "_as_schema",
        "_asker",
        "_desk",
        "_harness",
        "_texts",
        "_turn",
        "_words",
    )

    def __init__(
        self,
        turn: Turn,
        texts: Mapping[str, str] | None = None,  # the strategy's own sentences
        context: SeatContext | None = None,  # the context with a words pack; default: the turn's
        harness: Harness = AS_IT_IS,
        as_schema: bool = False,  # whether answers are JSON objects held to a schema
    ) -> None:
        self._harness, self._as_schema = harness, as_schema
        self._turn, self._texts = turn, texts or {}
        self._desk = context or turn.context
        self._words = self._desk.words
        question = turn.question
        self._asker = self._words if question is None else self._words.of(question)

    # --- what is wanted, and what is known ----------------------------------------------------

    @property
    def asked(self) -> Question | None:
        """The probe, or None if a move is asked for."""
        return self._turn.question

    @property
    def purpose(self) -> str:
        """The purpose of the main call: `"probe"` or `"move"`."""
        return "probe" if self.asked else "move"

    @property
    def seed(self) -> int:
        """The seed of this turn, for strategies that sample from scores."""
        return derived_seed(self._turn.context.seed, *self._turn.id)

    def notes(self, kind: type[T]) -> T | None:
        """Return the player's notes from its last turn; None before the first."""
        memory = self._turn.memory
        if memory is None or isinstance(memory, kind):
            return memory
        return msgspec.convert(memory, kind)  # a log returns notes as plain data

    @property
    def told(self) -> tuple[Told, ...]:
        """The information that the player was given about another player's mind."""
        return self._turn.told

    @property
    def mine_is_stated(self) -> bool:
        """Whether the probe is asked after the player's own move."""
        return self._turn.pending is not None

    @property
    def foresee(self) -> tuple[Question, ...]:
        """Return the questions about others that this seat could be asked before it moves."""
        context, view = self._desk, self._turn.view
        return tuple(
            question
            for probe in context.spec.probes
            if can_foresee(probe.kind, probe.point) and context.seat in probe.seats
            for question in probe.asks(context.game, view, context.seat)
        )

    def asking(self, question: Question) -> PromptContext:
        """Return the same turn with this question in place of the move."""
        turn = msgspec.structs.replace(self._turn, question=question, pending=None, told=())
        return PromptContext(turn, self._texts, self._desk, self._harness, self._as_schema)

    def read(self, answer: str | StrategyResult) -> Any:
        """Return the action or report in a reply or strategy result.

        Raises:
            Unreadable: The reply names no action or report, or several.
        """
        turn, question = self._turn, self._turn.question
        if isinstance(answer, StrategyResult):
            if (place := answer.place) is not None:
                if question is None:
                    return turn.options[place]
                return ProbeReport(question.choices[place], answer.odds)
            reply, labels_before = answer.text, answer.before
            if answer.cut and not (reply := complete_part(reply, self.label)):
                raise Unreadable(f"It was cut off at its length limit; be brief. {self.format}")
        else:
            reply, labels_before = answer, ()
        reply = without_thoughts(reply)
        if self._as_schema:
            value = answer_schema.value_in(reply, self.label, labels_before)
            if question is None:
                return answer_schema.read_move(value, self._words, turn.options)
            return answer_schema.read_report(value, question, self.names)
        if self._harness is not AS_IT_IS:
            reply = as_line(self._harness, reply, self.label, self._by_name)
        if question is None:
            return self._desk.read(reply, turn.view, turn.options)
        return self._asker.read_report(reply, question)

    # --- in words -------------------------------------------------------------------------------

    def say(self, key: str, **facts: Any) -> str:
        """Return a sentence of the strategy, or its replacement in a words pack."""
        return {**self._texts, **self._words.texts}[key].format_map(facts)

    def aside(self, question: Question) -> str:
        """Return a question about others in the wording used before the move."""
        return self._words.aside(question, self._turn.view)

    def told_text(self, past: bool = True) -> str:
        """Return the text of the injected information; if `past` is true, what the history already
        contains is left out."""
        injections = self._turn.told
        return "\n".join(
            self._desk.tell_injected(injections)
            if past
            else map(self._words.state_injected, injections)
        )

    def state_prediction(self, question: Question, value: Value) -> str:
        """Return the player's own prediction, in words."""
        number, seat = self._turn.number, self._turn.seat
        prediction = Told(number, seat, question.probe, value, question.about, "own")
        return self._words.told(prediction, question)

    @property
    def now(self) -> str:
        """Return the text that describes the current situation."""
        return self._words.now(self._turn.view)

    @property
    def question(self) -> str:
        """Return the question that asks for the move, or the probe's question."""
        turn = self._turn
        if turn.question is None:
            return self._words.question(turn.view, turn.options)
        return self._asker.aside(turn.question, turn.view, turn.pending)

    @property
    def best_question(self) -> str:
        """Return the question for a move, worded for a player that has just predicted the others'
        moves."""
        return self._words.best_question(self._turn.view, self._turn.options)

    @property
    def format(self) -> str:
        """Return the instruction on how to answer."""
        return self.form()

    def schema(self, *labels_before: str) -> str:
        """Return the JSON schema of the answer with labelled texts in front of it.

        The result is empty if the answer is requested as a line of text.
        """
        if not self._as_schema:
            return ""
        turn, question = self._turn, self._turn.question
        if question is None:
            answer = answer_schema.of_move(self._words, turn.options)
        else:
            answer = answer_schema.of_report(question, self.names)
        return answer_schema.of_answer(self.label, answer, labels_before)

    def texts_before(self, reply: str, *labels: str) -> dict[str, str]:
        """Return the labelled texts in front of an answer; missing texts are left out."""
        if not self._as_schema:
            return sections(reply, (*labels, self.label))
        answer = only_object(reply)
        labelled = {label: answer.get(answer_schema.field_name(label)) for label in labels}
        return {label: text.strip() for label, text in labelled.items() if isinstance(text, str)}

    def form(self, *labels_before: str) -> str:
        """Return the instruction on how to answer.

        If the answer is a JSON object, its schema also has a field for each label in
        `labels_before`: the
        texts that precede the answer, such as thoughts.
        """
        if self._as_schema:
            return self._words.say("format.form", schema=self.schema(*labels_before))
        turn = self._turn
        if turn.question is None:
            usual = self._words.format(turn.view, turn.options)
        else:
            usual = self._asker.aside_format(turn.question)
        if self._harness is AS_IT_IS:
            return usual
        return form_of(self._harness, usual, self.label, self._by_name)

    @property
    def _by_name(self) -> tuple[str, ...]:
        """Return the possible answers by name; empty for a number, odds or a form."""
        turn = self._turn
        if turn.question is not None:
            has_names = turn.question.kind == "choice" and turn.question.scale is None
        else:
            has_names = is_finite(turn.options) and self._words.scale(turn.options) is None
        return self.names if has_names else ()

    @property
    def label(self) -> str:
        """The label before a chosen name in the answer."""
        return self._asker.label

    @property
    def foreseen_label(self) -> str:
        """The label before a prediction that is given together with a move."""
        return self._words.foreseen_label

    @property
    def names(self) -> tuple[str, ...]:
        """The possible answers by name; empty without a finite menu."""
        turn = self._turn
        if turn.question is not None:
            return self.choice_names(turn.question)
        return self._words.menu(turn.options) if is_finite(turn.options) else ()

    def choice_names(self, question: Question) -> tuple[str, ...]:
        """Return the possible answers to a question, by name."""
        words = self._words.of(question)
        return tuple(words.choice_name(question, c) for c in question.choices)

    def choices_said(self, question: Question) -> str:
        """Return the possible answers to a question on one line: names, or a range of numbers."""
        if (scale := question.scale) is not None:
            return f"the whole numbers from {scale.low} to {scale.high}"
        return ", ".join(self.choice_names(question))

    @property
    def stem(self) -> str:
        """Return the end of a prompt; the answer, the name of an option, is to be written right
        after it."""
        turn = self._turn
        if turn.question is None:
            return self._words.stem(turn.view, turn.options)
        return self._asker.aside_stem(turn.question, turn.view, turn.pending)

    @property
    def forms(self) -> tuple[str, ...]:
        """The forms in which this game presents its history; the first is the default."""
        return self._words.forms

    @property
    def examples(self) -> str:
        """Return worked examples that fit the game."""
        return "\n".join(self._words.examples(self._desk.seat))

    # --- pages ------------------------------------------------------------------------------------

    def opening(
        self, form: str = "", after_rules: str = "", history: bool = True, payoffs: bool = True
    ) -> HashedText:
        """Return rules, worked examples if any, and the history; history and payoffs may be left
        out."""
        if not history:
            return self._desk.rules(after_rules, payoffs)
        if (last := self._harness.history) is not None:  # a window does not only grow
            history_lines = self._desk.past(self._turn.view, form or self.forms[0])
            lines = (
                history_lines[len(history_lines) - last :]
                if last < len(history_lines)
                else history_lines
            )
            rules = self._desk.rules(after_rules, payoffs)
            return rules.plus("\n".join(lines) + "\n") if lines else rules
        return self._desk.opening(self._turn.view, form or self.forms[0], after_rules, payoffs)

    @property
    def past(self) -> list[str]:
        """Return the history line by line, for strategies that do not put it into a single
        prompt."""
        return self._desk.past(self._turn.view, self.forms[0])

    def tail(
        self,
        *notes: str,
        given: str = "",
        question: str | None = None,
        format: str | None = None,
        past: bool = True,  # whether the history is above
    ) -> str:
        """Return the part of a prompt that follows its opening: notes, situation, injections,
        question, format."""
        injected_text = self.told_text(past) if self._turn.told else ""
        question_text = self.question if question is None else question
        format_text = self.format if format is None else format
        now = self._words.now(self._turn.view)
        return "\n".join(
            filter(None, (*notes, now, injected_text, given, question_text, format_text))
        )

    def user(
        self, *notes: str, opening: HashedText | None = None, past: bool = True, **tail: str
    ) -> list[Message]:
        """Return the whole prompt as the only message of a conversation."""
        above = self.opening() if opening is None else opening
        page = above.plus(self.tail(*notes, past=past, **tail))
        if self._harness.question == "first":  # above the rules as well as in its usual place
            return [User(f"{tail.get('question', self.question)}\n\n{page}")]
        return [User(page)]


class StrategyResult(msgspec.Struct, frozen=True):
    """The result of a strategy: a reply or a chosen option, with notes and predictions."""

    text: str  # read by the game's words unless an index was chosen
    place: int | None = None  # index in the menu, if chosen by score
    odds: tuple[float, ...] | None = None  # over the menu, when scored
    memory: Any = None  # notes for the next turn
    foreseen: tuple[StatedPrediction, ...] = ()
    cut: bool = False  # whether the text was cut off by the length limit
    before: tuple[str, ...] = ()  # labels of texts before the answer, if it is a JSON object


class Speaker(Protocol):
    """A model whose calls are counted and logged."""

    async def say(
        self, purpose: str, messages: Sequence[Message], *, schema: str = "", **settings: Any
    ) -> Reply: ...

    async def score(self, purpose: str, context: Context, candidates: Sequence[str]) -> Scores: ...


Run = Callable[[PromptContext, Speaker], Awaitable[StrategyResult]]


@dataclass(frozen=True)
class Strategy:
    """A registered prompting strategy: how it acts, and how it answers a probe."""

    name: str
    about: str
    source: str
    make: Callable[..., tuple[Run, Run]]  # (**params) -> (act, answer a probe)
    calls: str  # calls per decision, in words, for the docs
    needs: frozenset[str] = frozenset()  # of: finite, scoring, told, probe
    points: tuple[Point, ...] = ("start", "before", "after")  # where it can be probed
    params: Mapping[str, Any] = field(default_factory=dict)  # names and defaults
    texts: Mapping[str, str] = field(default_factory=dict)  # its sentences; a pack may replace any
    version: int = 1
    schema: bool = False  # whether its answers can be held to a JSON schema


def can_foresee(kind: str, point: Point) -> bool:
    """Return whether the answer to a probe can be given together with the move, as a prediction:
    the probe must ask for one choice and not be asked after the move."""
    return kind == "choice" and point != "after"


def spoken(
    reply: Reply,
    memory: Any = None,
    foreseen: tuple[StatedPrediction, ...] = (),
    before: tuple[str, ...] = (),
) -> StrategyResult:
    """Return a reply as a strategy result; `before` has the labels of the texts that were asked for
    before the answer."""
    cut = reply.finish == "length"
    text = reply.text if reply.text.strip() else "\n".join(map(str, reply.tool_calls))
    return StrategyResult(text, None, None, memory, foreseen, cut, before)


async def answered(
    prompt: PromptContext, speaker: Speaker, *notes: str, **page: Any
) -> StrategyResult:
    """Ask one question and return the answer: a move, or a report that answers a probe.

    The question is asked on the page `prompt.user(*notes, **page)`.
    """
    messages = prompt.user(*notes, **page)
    return spoken(await speaker.say(prompt.purpose, messages, schema=prompt.schema()))
