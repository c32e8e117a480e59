"""A way of prompting: it sees a turn in words and nothing else, so it fits every game."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import msgspec

from sally.core.log.events import Told
from sally.core.match.player import Turn
from sally.core.match.seat_context import SeatContext
from sally.core.prompt.hashed_text import HashedText
from sally.core.prompt.model import Context, Message, Reply, Scores, User
from sally.core.prompt.page_layout import AS_IT_IS, Harness, as_line, form_of
from sally.core.reply.reading import bounded
from sally.core.rules.chance import derived_seed
from sally.core.rules.menu import is_finite
from sally.core.rules.probe import Foreseen, Point, ProbeReport, Question, Value

T = TypeVar("T")


class PromptContext:
    """A turn in words. The opening only grows; the tail is written anew for each prompt."""

    __slots__ = ("_asker", "_desk", "_harness", "_retry", "_texts", "_turn", "_words", "kept")

    def __init__(
        self,
        turn: Turn[Any, Any],
        retry: str = "",
        texts: Mapping[str, str] | None = None,  # the strategy's own sentences
        context: SeatContext | None = None,  # where a words pack lies on it; else the turn's
        kept: dict[str, Any] | None = None,  # what earlier tries at this answer came to
        harness: Harness = AS_IT_IS,
    ) -> None:
        self._harness = harness
        self._turn, self._retry, self._texts = turn, retry, texts or {}
        self._desk = context or turn.context
        self._words = self._desk.words
        asked = turn.question
        self._asker = self._words if asked is None else self._words.of(asked)
        self.kept: dict[str, Any] = {} if kept is None else kept

    # --- what is wanted, and what is known ----------------------------------------------------

    @property
    def asked(self) -> Question | None:
        """The probe, or None when a move is wanted."""
        return self._turn.question

    @property
    def seed(self) -> int:
        """Chance of this turn's own, for strategies that sample from scores."""
        return derived_seed(self._turn.context.seed, *self._turn.id)

    def notes(self, kind: type[T]) -> T | None:
        """The player's own notes from its last turn; None before the first."""
        memory = self._turn.memory
        if memory is None or isinstance(memory, kind):
            return memory
        return msgspec.convert(memory, kind)  # a log gives notes back as plain data

    @property
    def told(self) -> tuple[Told, ...]:
        """What the player has been told of another's mind."""
        return self._turn.told

    @property
    def mine_is_stated(self) -> bool:
        """Whether the probe stands behind one's own move."""
        return self._turn.pending is not None

    @property
    def foresee(self) -> tuple[Question, ...]:
        """What this seat could be asked to choose about others before it moves."""
        context, view = self._desk, self._turn.view
        return tuple(
            question
            for probe in context.spec.probes
            if can_foresee(probe.kind, probe.point) and context.seat in probe.seats
            for question in probe.asks(context.game, view, context.seat)
        )

    def asking(self, question: Question) -> PromptContext:
        """The same turn with this question in place of the move, asked before it."""
        turn = msgspec.structs.replace(self._turn, question=question, pending=None, told=())
        return PromptContext(turn, self.retry(), self._texts, self._desk, self.kept, self._harness)

    def read(self, said: str | StrategyResult) -> Any:
        """Return the action or the report in a reply, or in what a strategy came to.

        Raises:
            Unreadable: the reply names none, or several.
        """
        turn, question = self._turn, self._turn.question
        if isinstance(said, StrategyResult):
            if (place := said.place) is not None:
                if question is None:
                    return turn.options[place]
                return ProbeReport(question.choices[place], said.odds)
            reply = bounded(said.readable)
        else:
            reply = bounded(said)
        if self._harness is not AS_IT_IS:
            reply = as_line(self._harness, reply, self.label, self._by_name)
        if question is None:
            return self._desk.read(reply, turn.view, turn.options)
        return self._asker.read_report(reply, question)

    # --- in words -------------------------------------------------------------------------------

    def say(self, key: str, **facts: Any) -> str:
        """A sentence of the strategy, unless a words pack has another."""
        return {**self._texts, **self._words.texts}[key].format_map(facts)

    def retry(self) -> str:
        """What was wrong with the last try; said once, on the first page that is made after it."""
        why, self._retry = self._retry, ""
        return why

    def aside(self, question: Question) -> str:
        """A question about others as it is put before the move."""
        return self._words.aside(question, self._turn.view)

    def told_text(self, past: bool = True) -> str:
        """What the player has been told, in words; what is kept in a past on the page is not."""
        told = self._turn.told
        return "\n".join(self._desk.heard(told) if past else map(self._words.told, told))

    def predicted(self, question: Question, value: Value) -> str:
        """A prediction of one's own, in words."""
        number, seat = self._turn.number, self._turn.seat
        own = Told(number, seat, question.probe, value, question.about, "own")
        return self._words.told(own, question)

    @property
    def now(self) -> str:
        """Where we are."""
        return self._words.now(self._turn.view)

    @property
    def question(self) -> str:
        """What is wanted: the move, or the answer to the probe."""
        turn = self._turn
        if turn.question is None:
            return self._words.question(turn.view, turn.options)
        return self._asker.aside(turn.question, turn.view, turn.pending)

    @property
    def best_question(self) -> str:
        """What is wanted of one who has just predicted the others."""
        return self._words.best_question(self._turn.view, self._turn.options)

    @property
    def format(self) -> str:
        """How to answer."""
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
        """What is answered by one name; empty where a number, odds or a form is wanted."""
        turn = self._turn
        if turn.question is not None:
            named = turn.question.kind == "choice" and turn.question.scale is None
        else:
            named = is_finite(turn.options) and self._words.scale(turn.options) is None
        return self.names if named else ()

    @property
    def label(self) -> str:
        """What stands before a chosen name in the answer."""
        return self._asker.label

    @property
    def foreseen_label(self) -> str:
        """What stands before a prediction that is made within a decision."""
        return self._words.foreseen_label

    @property
    def names(self) -> tuple[str, ...]:
        """What may be answered, by name; empty when there is no finite menu."""
        turn = self._turn
        if turn.question is not None:
            return self.choice_names(turn.question)
        return self._words.menu(turn.options) if is_finite(turn.options) else ()

    def choice_names(self, question: Question) -> tuple[str, ...]:
        """What may be answered to a question, by name."""
        words = self._words.of(question)
        return tuple(words.choice_name(question, c) for c in question.choices)

    def choices_said(self, question: Question) -> str:
        """What may be answered to a question, on one line: names, or a span of numbers."""
        if (scale := question.scale) is not None:
            return f"the whole numbers from {scale.low} to {scale.high}"
        return ", ".join(self.choice_names(question))

    @property
    def stem(self) -> str:
        """The end of a page that a name completes."""
        turn = self._turn
        if turn.question is None:
            return self._words.stem(turn.view, turn.options)
        return self._asker.aside_stem(turn.question, turn.view, turn.pending)

    @property
    def forms(self) -> tuple[str, ...]:
        """The ways in which this game tells its past; the first is the usual one."""
        return self._words.forms

    @property
    def examples(self) -> str:
        """Worked thoughts that fit the game."""
        return "\n".join(self._words.examples(self._desk.seat))

    # --- pages ------------------------------------------------------------------------------------

    def opening(
        self, form: str = "", after_rules: str = "", history: bool = True, payoffs: bool = True
    ) -> HashedText:
        """Rules, worked examples if any, and the past; either may be left out."""
        if not history:
            return self._desk.rules(after_rules, payoffs)
        if (last := self._harness.history) is not None:  # a window does not only grow
            shown = self._desk.past(self._turn.view, form or self.forms[0])
            lines = shown[len(shown) - last :] if last < len(shown) else shown
            rules = self._desk.rules(after_rules, payoffs)
            return rules.plus("\n".join(lines) + "\n") if lines else rules
        return self._desk.opening(self._turn.view, form or self.forms[0], after_rules, payoffs)

    @property
    def past(self) -> list[str]:
        """The past line by line, for strategies that do not tell it on one page."""
        return self._desk.past(self._turn.view, self.forms[0])

    def tail(
        self,
        *notes: str,
        given: str = "",
        question: str | None = None,
        format: str | None = None,
        past: bool = True,  # whether the past stands above
    ) -> str:
        """Return what follows the opening: notes, where we are, what is given, question, format.

        After a failed try, the first tail that is made says what was wrong with it.
        """
        told = self.told_text(past) if self._turn.told else ""
        asked = self.question if question is None else question
        wanted = self.format if format is None else format
        now = self._words.now(self._turn.view)
        why, self._retry = self._retry, ""
        return "\n".join(filter(None, (*notes, now, told, given, asked, why, wanted)))

    def user(
        self, *notes: str, opening: HashedText | None = None, past: bool = True, **tail: str
    ) -> list[Message]:
        """The whole page as the one message of a conversation; `tail` as above."""
        above = self.opening() if opening is None else opening
        page = above.plus(self.tail(*notes, past=past, **tail))
        if self._harness.question == "first":  # above the rules as well as in its usual place
            return [User(f"{tail.get('question', self.question)}\n\n{page}")]
        return [User(page)]


class StrategyResult(msgspec.Struct, frozen=True):
    """What a strategy came to."""

    text: str  # read by the game's words, unless a place was chosen
    place: int | None = None  # on the menu, when chosen by score
    odds: tuple[float, ...] | None = None  # over the menu, when scored
    memory: Any = None  # notes for the next turn
    foreseen: tuple[Foreseen, ...] = ()
    cut: bool = False  # whether the text ends where the model was stopped

    @property
    def readable(self) -> str:
        """The text, without its last line if it was cut by length."""
        return self.text.rpartition("\n")[0] if self.cut else self.text


class Speaker(Protocol):
    """A model with its calls counted and logged."""

    async def say(self, purpose: str, messages: Sequence[Message], **settings: Any) -> Reply: ...

    async def score(self, purpose: str, context: Context, candidates: Sequence[str]) -> Scores: ...


Run = Callable[[PromptContext, Speaker], Awaitable[StrategyResult]]


@dataclass(frozen=True)
class Strategy:
    """One way of prompting on the shelf: how it acts, and how it answers a probe."""

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


def can_foresee(kind: str, point: Point) -> bool:
    """Whether a probe of this kind can be answered within a decision: one choice, before it."""
    return kind == "choice" and point != "after"


def whole_lines(reply: Reply) -> str:
    """Return the text of a reply, without its last line if it was cut by length."""
    return spoken(reply).readable


def spoken(reply: Reply, memory: Any = None, foreseen: tuple[Foreseen, ...] = ()) -> StrategyResult:
    """A reply as what a strategy came to."""
    return StrategyResult(
        reply.text, memory=memory, foreseen=foreseen, cut=reply.finish == "length"
    )


async def answered(prompt: PromptContext, speaker: Speaker) -> StrategyResult:
    """One question, one answer: a move, or what a probe asks."""
    return spoken(await speaker.say("probe" if prompt.asked else "move", prompt.user()))


async def once(prompt: PromptContext, key: str, ask: Callable[[], Awaitable[T]]) -> T:
    """What was found in an earlier try at the same answer, or what asking gives now."""
    if key not in prompt.kept:
        prompt.kept[key] = await ask()
    found: T = prompt.kept[key]
    return found
