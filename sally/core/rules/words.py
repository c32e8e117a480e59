"""The texts of games. They are made from views, never from states, so they cannot leak a secret."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from string import Formatter
from typing import Any, ClassVar, Generic, TypeVar

import msgspec

from sally.core.errors import BadInput, IllegalMove, Unreadable, join_names, unknown
from sally.core.log.events import Told
from sally.core.log.seat import A, Seat, V
from sally.core.reply.named_numbers import read_odds, read_values
from sally.core.reply.plain_text import json_objects, without_thoughts
from sally.core.reply.reader import read_choice, read_number
from sally.core.rules.awareness import EVERYWHERE
from sally.core.rules.menu import Options, Whole, fill_form, is_finite, menu_schema
from sally.core.rules.probe import ProbeReport, Question


def read_texts(package: str, table: str = "texts") -> dict[str, str]:
    """Return a table of the file `texts.toml` in a game's package: `texts` by key, as in a words
    pack, or another (see `PeopleSpec.read`)."""
    return msgspec.convert(read_tables(package)[table], dict[str, str])


@cache
def read_tables(package: str, file: str = "texts.toml") -> Mapping[str, Any]:
    """Return the tables of a TOML file in a game's package."""
    return tomllib.loads((files(package) / file).read_text("utf-8"))


COMMON_TEXTS: Mapping[str, str] = read_texts(__package__)
T = TypeVar("T")
REVERSED, SWAPPED = "reversed", "swapped"
PRIVATE = range(0xE000, 0xF900)  # private-use characters, which have no meaning


class Words(Generic[A, V]):
    """The texts of one game: every sentence has a key, and a pack may replace it."""

    forms: ClassVar[tuple[str, ...]] = ("agent_first",)  # the forms in which the history is told
    label: ClassVar[str] = "Option"  # the label before a chosen name
    # the label of a prediction inside a decision
    foreseen_label: ClassVar[str] = "Predicted Action"
    seat: Seat | None = None  # the seat these words are for; seats may name moves differently

    def __init__(self, game: Any, texts: Mapping[str, str]) -> None:
        self.game, self.texts = game, {**COMMON_TEXTS, **texts}

    @property
    def phrases(self) -> Mapping[str, str]:
        """What fills the brief that people read, by its placeholders: nouns of the cover story,
        numbers of this problem, or what a choice pays."""
        return {}

    def say(self, key: str, **facts: Any) -> str:
        """Return the sentence under this key, with its placeholders filled in."""
        return self.texts[key].format_map(facts)

    def around(self, key: str, fact: str, **facts: str) -> list[str]:
        """Return the sentence under this key, split where the placeholder `fact` is."""
        filled = (self.texts[key], *facts.values())
        mark = next(m for m in map(chr, PRIVATE) if not any(m in text for text in filled))
        return self.say(key, **{fact: mark}, **facts).split(mark)

    def listing(self, things: Iterable[T]) -> list[T]:
        """Return things in the order in which this wording lists them."""
        listed_things = list(things)
        return listed_things[::-1] if self.texts["order"] == REVERSED else listed_things

    def relabel(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the arbitrary labels of moves as this wording shows them: unchanged, rotated by
        one place, or replaced by other labels."""
        own_labels, labels = tuple(names), self.texts["labels"]
        if labels == SWAPPED:
            return (*own_labels[1:], *own_labels[:1])
        new = tuple(label.strip() for label in labels.split(",")) if labels else ()
        return new[: len(own_labels)] if len(new) >= len(own_labels) else own_labels

    # --- a page: rules, the past, where we are, what is wanted, how to answer -------------

    def rules(self, seat: Seat) -> str:
        """Return the rules, which never change during the game."""
        raise LookupError(f"{type(self).__name__} has no text for the rules")

    def rules_without_payoffs(self, seat: Seat) -> str | None:
        """Return the rules without payoffs; None if they cannot be separated."""
        return None

    def examples(self, seat: Seat) -> tuple[str, ...]:
        """Return three worked examples that fit the game."""
        return tuple(self.say(f"example.{kind}") for kind in ("habit", "aims", "surprise"))

    def lines(self, view: V, since: int, form: str) -> Iterable[str]:
        """Return the history lines from number `since` on; earlier lines never change."""
        return ()

    def now(self, view: V) -> str:
        """Return the current situation as a short line, written for each turn."""
        return ""

    def drawn(self, view: V) -> str:
        """Return the current position as a text drawing for human players; prompts do not contain
        it."""
        return ""

    def question(self, view: V, options: Options[A]) -> str:
        """Return the question that asks for a move; raises LookupError if the game has no text for
        it."""
        raise LookupError(f"{type(self).__name__} has no text for the question")

    def best_question(self, view: V, options: Options[A]) -> str:
        """Return the question that asks a player for the best reply to its own prediction."""
        return self.question(view, options)

    def format(self, view: V, options: Options[A]) -> str:
        """Return the answer format."""
        if (scale := self.scale(options)) is not None:
            return self._number_format(scale)
        if is_finite(options):
            return self.say("format.option", names=self._or(self.menu(options)))
        schema = json.dumps(menu_schema(options), separators=(",", ":"))
        return self.say("format.form", schema=schema)

    def stem(self, view: V, options: Options[A]) -> str:
        """Return the end of a prompt; each action's name is scored as its continuation."""
        parts = (self.now(view), self.question(view, options), f"{self.label}: ")
        return "\n".join(part for part in parts if part)

    # --- actions by name ------------------------------------------------------------------

    def name(self, action: Any) -> str:
        """Return the name of an action in this game."""
        return str(action)

    def refusal(self, view: V, action: A) -> str:
        """Return why the rules reject this action of a seat that sees `view`; "" if they do not.

        A rejected action is logged as a move that changed nothing, and is described as such.
        """
        return ""

    def scale(self, options: Options[A]) -> Whole | None:
        """Return the range of the actions if an action is chosen by typing a number, else None.

        `sally.core.rules.menu.span` computes the range. With a range, people get a number field
        instead of a button for each option; with None, actions are answered by name.
        """
        return None

    def menu(self, options: Options[A]) -> tuple[str, ...]:
        """Return the names of the options, in menu order."""
        return tuple(self.name(option) for option in options)

    def positions(self, options: Options[A]) -> tuple[int, ...]:
        """Return, for each action of the menu, its position (from 0) in the list that a prompt
        shows."""
        order = self.listing(range(len(options)))
        return tuple(sorted(range(len(order)), key=order.__getitem__))

    def read(self, reply: str, view: V, options: Options[A]) -> A:
        """Return the action that a reply names; raises Unreadable, whose message describes the
        expected form."""
        if (scale := self.scale(options)) is not None:
            number: Any = read_number(reply, scale.low, scale.high, self.label)
            return number  # type: ignore[no-any-return]
        if is_finite(options):
            chosen: Any = options[read_choice(reply, self.menu(options), self.label)]
            return chosen  # type: ignore[no-any-return]
        return read_form(reply, options)

    # --- probes ---------------------------------------------------------------------------

    def of(self, question: Question) -> Words:
        """Return the words for a question: the game's, or those common to all games."""
        return EveryGame(self) if question.probe in EVERYWHERE else self

    def aside(self, question: Question, view: V, pending: A | None = None) -> str:
        """Return the text of a probe; raises LookupError if the game has no text for it."""
        raise LookupError(f"{type(self).__name__} has no text for the probe {question.probe!r}")

    def aside_stem(self, question: Question, view: V, pending: A | None = None) -> str:
        """Return the end of a prompt that asks a probe, up to the label after which the answer is
        written."""
        parts = (self.now(view), self.aside(question, view, pending), f"{self.label}: ")
        return "\n".join(part for part in parts if part)

    def choice_name(self, question: Question, choice: int | str) -> str:
        """Return the name of one possible answer to a probe."""
        return self.name(choice)

    def aside_format(self, question: Question) -> str:
        """Return the answer format of a probe."""
        if question.scale is not None:
            return self._number_format(question.scale)
        names = [self.choice_name(question, c) for c in question.choices]
        if question.kind == "choice":
            return self.say("format.option", names=self._or(names))
        names_text = join_names(self.listing(names), "and")
        if question.kind == "odds":
            return self.say("format.odds", names=names_text)
        scale = {"low": f"{question.low:g}", "high": f"{question.high:g}"}
        return self.say("format.values", names=names_text, **scale)

    def read_report(self, reply: str, question: Question) -> ProbeReport:
        """Return the report in a reply; raises Unreadable, whose message describes the expected
        form."""
        if (scale := question.scale) is not None:
            number = read_number(reply, scale.low, scale.high, self.label)
            return ProbeReport(number, reply=reply)
        names = [self.choice_name(question, c) for c in question.choices]
        if question.kind == "choice":
            value = question.choices[read_choice(reply, names, self.label)]
            return ProbeReport(value, reply=reply)
        if question.kind == "odds":
            odds = read_odds(reply, names)
            best = max(range(len(odds)), key=odds.__getitem__)
            return ProbeReport(question.choices[best], odds, reply=reply)
        values = read_values(reply, names, question.low, question.high)
        return ProbeReport({str(question.choices[i]): v for i, v in values.items()}, reply=reply)

    def told(self, injected: Told, question: Question | None = None) -> str:
        """Return injected information in words."""
        value = injected.value
        name = value if isinstance(value, dict) or value is None else self.name(value)
        return self.say(
            f"told.{injected.source}", about=injected.about or injected.probe, value=name
        )

    def state_injected(self, injected: Told) -> str:
        """Return injected information in words, with the reliability of an informant."""
        if injected.reliability is None:
            return self.told(injected)
        statement = self.told(msgspec.structs.replace(injected, source="truth", reliability=None))
        right, of = _cases(injected.reliability)
        return self.say(f"told.{injected.source}", statement=statement, right=right, of=of)

    def state_in_history(self, injected: Told, view: V) -> str:
        """Return injected information as a line of the history, to be placed after the events in
        `view`."""
        return self.told(injected)

    def _number_format(self, scale: Whole) -> str:
        return self.say("format.number", label=self.label, low=scale.low, high=scale.high)

    def _or(self, names: Sequence[str]) -> str:
        return join_names(self.listing(names), "or")


class EveryGame(Words):
    """Texts of the probes that are the same in every game."""

    def __init__(self, inner: Words) -> None:
        super().__init__(inner.game, inner.texts)
        self._inner, self.seat = inner, inner.seat

    def now(self, view: Any) -> str:
        return self._inner.now(view)

    def aside(self, question: Question, view: Any, pending: Any = None) -> str:
        return self.say(f"aside.{question.probe}")

    def aside_format(self, question: Question) -> str:
        names = [self.choice_name(question, choice) for choice in question.choices]
        return COMMON_TEXTS["format.option"].format(names=self._or(names))

    def choice_name(self, question: Question, choice: int | str) -> str:
        return self.say(f"what.{choice}")


def _cases(share: float) -> tuple[int, int]:
    """Return a share as a number of cases out of 10, 100 or 1,000.

    >>> _cases(0.8), _cases(0.25)
    ((8, 10), (25, 100))
    """
    of = next((of for of in (10, 100) if abs(share * of - round(share * of)) < 1e-9), 1000)
    return round(share * of), of


# --- readers of the three kinds of answer -----------------------------------------------------


def read_form(reply: str, options: Options[A]) -> A:
    """Return the action in the only JSON object of a reply."""
    try:
        return fill_form(options, as_tuples(only_object(reply)))
    except (IllegalMove, RecursionError) as error:
        raise Unreadable(str(error)) from None


def only_object(reply: str) -> dict[str, Any]:
    """Return the one JSON object of a reply; raise Unreadable if there is none, or several."""
    json_objects = list(objects_in(reply))
    if len(json_objects) != 1:
        raise Unreadable("Answer with exactly one JSON object.")
    return json_objects[0]


def objects_in(reply: str) -> Iterator[dict[str, Any]]:
    """Return the outermost JSON objects of a reply; braces in prose and thoughts are ignored."""
    return (json_object for json_object, _, _ in json_objects(without_thoughts(reply)))


def as_tuples(plain: Any) -> Any:
    if isinstance(plain, list):
        return tuple(as_tuples(p) for p in plain)
    if isinstance(plain, dict):
        return {key: as_tuples(value) for key, value in plain.items()}
    return plain


# --- packs ------------------------------------------------------------------------------------


class Pack(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A custom wording for a game, such as a paper's exact text or a translation."""

    name: str
    game: str
    texts: dict[str, str]
    version: int = 1


def check_pack(pack: Pack, texts: Mapping[str, str]) -> Pack:
    """Return the pack; raises BadInput if a key is unknown, or if its text has placeholders that
    the original text does not have."""
    ours = {**COMMON_TEXTS, **texts}
    for key, text in pack.texts.items():
        if key not in ours:
            raise unknown(f"text of {pack.game} (words pack {pack.name!r})", key, ours)
        for fact in slots(text, f"words pack {pack.name!r}, {key}") - slots(ours[key], key):
            raise BadInput(
                f"Words pack {pack.name!r}, {key}: {{{fact}}} is not a placeholder of this text; "
                f"its placeholders are {join_names(sorted(slots(ours[key], key)))}."
            )
    return pack


def slots(text: str, source: str, specs: bool = False) -> set[str]:
    """Return the names in braces; raises BadInput for anything but a plain name.

    With `specs`, a format may follow a name, as in `{limit:,}`; it may not contain braces.
    """
    try:
        fields = [(name, spec) for _, name, spec, _ in Formatter().parse(text) if name is not None]
    except ValueError as error:
        raise BadInput(f"{source}: {error}; write {{{{ and }}}} for literal braces.") from None
    for name, spec in fields:
        if specs and spec and "{" in spec:
            raise BadInput(f"{source}: the format of {{{name}}} must not contain braces.")
        if not name.isidentifier() or (spec and not specs):
            raise BadInput(f"{source}: only plain {{names}} are allowed in braces, not {{{name}}}.")
    return {name for name, _ in fields}
