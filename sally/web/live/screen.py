"""The screen of a seat, made only from that seat's turns, views and words.

No function here receives a state or another seat's turn, so none can leak that information.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from hashlib import blake2b
from math import isfinite
from typing import Any, Literal

import msgspec

from sally.core.display.scenes import Scene
from sally.core.errors import IllegalMove
from sally.core.log.events import Censored, Ended
from sally.core.match.player import Decision, Turn
from sally.core.match.seat_context import SeatContext
from sally.core.rules.board import Board, Note
from sally.core.rules.game import Tool
from sally.core.rules.menu import (
    Amounts,
    Choice,
    Field,
    Form,
    Many,
    Options,
    Text,
    Whole,
    fill_form,
)
from sally.core.rules.probe import ProbeReport, Question
from sally.core.rules.replay import AskId
from sally.core.rules.words import Words, as_tuples
from sally.web.texts import Texts

Json = dict[str, Any]
Rewrite = Callable[[str], str]


class Option(msgspec.Struct, frozen=True):
    """An option: its label and its value."""

    label: str
    value: Any


class Ask(msgspec.Struct, frozen=True):
    """A move or probe that the seat is asked for now."""

    id: str
    kind: Literal["move", "probe"]
    question: str
    format: str
    answer: Literal["choice", "odds", "values", "number", "move"]
    options: tuple[Option, ...] = ()
    forms: tuple[Json, ...] = ()
    items: tuple[Option, ...] = ()
    range: tuple[float, float] | None = None
    tools: tuple[Json, ...] = ()
    looked: tuple[Json, ...] = ()  # tool calls for this decision so far
    refused: str | None = None  # why the last answer was refused
    draft: Any = None  # the move that the rules refused, to be corrected
    tries_left: int | None = None  # after a refused move: how many more may be sent
    is_checked: bool = False  # whether the rules can say before a move is sent that they refuse it


class Score(msgspec.Struct, frozen=True):
    """What a seat got, in words for people."""

    who: str  # empty: this seat
    points: str
    most: str = ""  # the most points that were possible; empty: not known
    money: str = ""


REMOVED = "removed by the experimenter"  # detail of a match that a participant did not leave


class Over(msgspec.Struct, frozen=True):
    """The end of the match for this seat."""

    how: Literal["ended", "censored"]
    payoff: float | None
    text: str
    scores: tuple[Score, ...] = ()
    why: str = ""
    hidden: tuple[Note, ...] = ()


class Screen(msgspec.Struct, frozen=True):
    """Everything that a browser receives about its match."""

    version: int
    title: str
    seat: str
    role: str
    rules: str
    brief: str  # the rules in a few sentences; empty: the rules are short themselves
    example: Board | None  # the picture beside the rules
    lines_from: int  # number of lines that the browser has already
    lines: tuple[str, ...]
    now: str
    board: Board | None
    asks: tuple[Ask, ...]
    told: tuple[str, ...]
    waiting_for: tuple[str, ...]
    over: Over | None
    sent: str = ""  # the seat's own move in this turn, while others are still to move
    due: float | None = None  # Unix time until which the answer is awaited


@lru_cache(10_000)  # needed several times per move
def ask_name(match: str, id: AskId) -> str:
    """Return the opaque id of an ask for browsers; it does not reveal a probe's name."""
    return blake2b(msgspec.json.encode((match, *id)), digest_size=12).hexdigest()


INSIDE = re.compile(r"(?<=[a-z0-9])_(?=[a-z0-9])")  # an underscore within a name


def plain(text: str) -> str:
    """Return a text with the underscores of identifiers replaced by spaces."""
    return INSIDE.sub(" ", text) if "_" in text else text


def title_of(name: str) -> str:
    return name.replace("_", " ")


# --- asks ---------------------------------------------------------------------------------------


class Rejection(msgspec.Struct, frozen=True):
    """A move that the rules refused: why, the move, and how many more may be sent."""

    why: str
    move: Any
    tries_left: int


def ask_of(
    match: str,
    turn: Turn,
    scene: Scene,
    refused: str | None,
    plainly: Rewrite,
    rejection: Rejection | None = None,
) -> Ask:
    """Return the ask that a browser receives for a turn, in words for people."""
    if turn.question is not None:
        return _probe(ask_name(match, turn.id), turn, turn.question, scene, refused, plainly)
    words, options = turn.context.words, turn.options
    scale = words.scale(options)
    ready = _ready(turn.context, options)
    forms = [o for o in options if type(o) is Form]

    def label_form(form: Form[Any]) -> Any:
        """Return a form with the game's labels for people (`field.KIND.NAME`, or `field.NAME` in
        every form)."""

        def field_label(label: str) -> str:
            general = words.texts.get(f"field.{label}", label)
            return words.texts.get(f"field.{form.kind}.{label}", general)

        return relabel(form_of(form), field_label)

    return Ask(
        ask_name(match, turn.id),
        "move",
        plainly(scene.question),
        "",  # the format is for text replies; browsers have buttons and fields
        "move" if scale is None else "number",
        tuple(Option(plainly(words.name(o)), msgspec.to_builtins(o)) for o in ready),
        tuple(relabel(label_form(form), plainly, ["labels"]) for form in forms),
        range=_ends(scale),
        tools=tuple(_tool(tool, words) for tool in turn.context.spec.tools),
        looked=tuple(
            {"tool": look.tool, "arguments": look.given, "found": look.found}
            for look in turn.looked
        ),
        refused=refused or (rejection.why if rejection else None),
        draft=rejection.move if rejection else None,
        tries_left=rejection.tries_left if rejection else None,
        is_checked=bool(forms) and is_checked(words, forms),
    )


def is_checked(words: Words, forms: Sequence[Form[Any]]) -> bool:
    """Return whether a move in these forms can be refused for what was typed."""
    typed = [field for form in forms for _, field in form.fields if isinstance(field, Text)]
    return bool(typed) and (
        type(words).refusal is not Words.refusal or any(field.pattern for field in typed)
    )


def _ready(context: SeatContext, options: Options[Any]) -> list[Any]:
    """Return the options that are shown as buttons; empty if the options form a scale, which is
    shown as a slider."""
    return (
        [o for o in options if type(o) is not Form] if context.words.scale(options) is None else []
    )


def menu_of(context: SeatContext, options: Options[Any]) -> list[str]:
    """Return the labels of the options that are shown as buttons."""
    return [context.words.name(option) for option in _ready(context, options)]


def _probe(
    name: str,
    turn: Turn,
    question: Question,
    scene: Scene,
    refused: str | None,
    plainly: Rewrite,
) -> Ask:
    number_scale = question.scale
    labels = map(plainly, scene.options)
    scale = (question.low, question.high) if question.kind == "values" else _ends(number_scale)
    return Ask(
        name,
        "probe",
        plainly(scene.question),
        turn.context.words.say("aside.intro"),
        question.kind if number_scale is None else "number",
        items=tuple(map(Option, labels, question.choices)) if number_scale is None else (),
        range=(0.0, 100.0) if question.kind == "odds" else scale,
        refused=refused,
    )


def _ends(scale: Whole | None) -> tuple[float, float] | None:
    """Return the bounds of the slider that replaces a long row of buttons; None if there is no
    slider."""
    return None if scale is None else (scale.low, scale.high)


def form_of(form: Form[Any]) -> Json:
    """Return the JSON description of a form."""
    fields = [field_of(name, field) for name, field in form.fields]
    return {"kind": form.kind, "label": title_of(form.kind), "fields": fields}


def relabel(form: Any, rewrite: Rewrite, keys: Sequence[str] = ("label", "labels")) -> Any:
    """Return a form or field with the labels under these keys rewritten."""
    if isinstance(form, list):
        return [relabel(element, rewrite, keys) for element in form]
    if not isinstance(form, dict):
        return form
    new_form = {key: relabel(value, rewrite, keys) for key, value in form.items()}
    for key in keys:
        if isinstance(label := form.get(key), str):
            new_form[key] = rewrite(label)
        elif label is not None:
            new_form[key] = [rewrite(element) for element in label]
    return new_form


def field_of(name: str, field: Field) -> Json:
    """Return the JSON description of a field."""
    head = {"name": name, "label": title_of(name)}
    match field:
        case Choice(values):
            labels = [plain(str(value)) for value in values]
            return {**head, "type": "choice", "values": list(values), "labels": labels}
        case Whole(low, high):
            return {**head, "type": "whole", "low": low, "high": high}
        case Text(limit, pattern, _, minimum):
            return {**head, "type": "text", "limit": limit, "least": minimum, "pattern": pattern}
        case Amounts(maximum):
            labels = [plain(item) for item, _ in maximum]
            return {**head, "type": "amounts", "most": list(map(list, maximum)), "labels": labels}
        case Many(of, maximum):
            return {**head, "type": "many", "of": field_of(name, of), "most": maximum}
        case Form():
            return {**head, "type": "form", **form_of(field), "label": title_of(name)}


def _tool(tool: Tool[Any], words: Words) -> Json:
    needed = tool.parameters.get("required", ())
    fields = []
    for name, schema in tool.parameters.get("properties", {}).items():
        field: Field = Choice(tuple(schema["enum"])) if "enum" in schema else Text(200)
        fields.append({**field_of(name, field), "required": name in needed})
    label = words.texts.get(f"field.{tool.name}", title_of(tool.name))
    return {"name": tool.name, "label": label, "about": tool.about, "fields": fields}


# --- answers ------------------------------------------------------------------------------------


def read_move(turn: Turn, value: Any, tries: int) -> Decision[Any]:
    """Convert JSON to a move; raises IllegalMove with the reason."""
    if type(value) not in (int, str, dict):
        raise IllegalMove("A move must be one of the options or a filled-in form.")
    try:
        action = fill_form(turn.options, as_tuples(value))
    except IllegalMove as error:
        raise IllegalMove(_in_words(str(error), turn.options)) from None
    return Decision(action, None, _reply(value), tries)


def _in_words(reason: str, options: Options[Any]) -> str:
    """Return why a form was refused, without the regular expression of a field."""
    for form in (option for option in options if type(option) is Form):
        for _, field in form.fields:
            if isinstance(field, Text) and field.pattern:
                form_in_words = f"is not {field.form}" if field.form else "has another form"
                reason = reason.replace(f"does not have the form {field.pattern}", form_in_words)
    return reason


def refusal_of(turn: Turn, value: Any) -> str:
    """Return why the rules would refuse a move as it is typed now; "" if they would not."""
    try:
        action = read_move(turn, value, 1).action
    except IllegalMove as error:
        return str(error)
    return turn.context.words.refusal(turn.view, action)


def read_report(turn: Turn, value: Any, tries: int) -> ProbeReport:
    """Convert JSON to a probe answer; raises IllegalMove with the reason."""
    question = turn.question
    assert question is not None
    if question.kind == "choice":
        if type(value) not in (int, str) or value not in question.choices:
            scale = question.scale
            raise IllegalMove(
                "Choose one of the answers."
                if scale is None
                else f"Give a whole number from {scale.low} to {scale.high}."
            )
        return ProbeReport(value, reply=_reply(value), tries=tries)
    numbers = _numbers(value, question)
    if question.kind == "odds":
        odds = _odds(numbers)
        best = max(range(len(odds)), key=odds.__getitem__)
        return ProbeReport(question.choices[best], odds, _reply(value), tries)
    amounts = {str(c): n for c, n in zip(question.choices, numbers, strict=True) if n is not None}
    if not amounts:
        raise IllegalMove("Give a number for at least one of the items.")
    return ProbeReport(dict(amounts), reply=_reply(value), tries=tries)


def _numbers(value: Any, question: Question) -> list[float | None]:
    low, high = (0.0, 100.0) if question.kind == "odds" else (question.low, question.high)
    if not isinstance(value, list) or len(value) != len(question.choices):
        raise IllegalMove(f"Give a list of {len(question.choices)} numbers, one for each item.")
    for number in value:
        if number is None and question.kind == "values":
            continue
        if type(number) not in (int, float) or not isfinite(number) or not low <= number <= high:
            raise IllegalMove(f"Each number must be from {low:g} to {high:g}.")
    return [None if n is None else float(n) for n in value]


def _odds(percents: Sequence[float | None]) -> tuple[float, ...]:
    """Return percentages as probabilities; as for models, their sum may differ from 100 by one."""
    shares = [p or 0.0 for p in percents]
    total = sum(shares)
    if not 99 <= total <= 101:
        raise IllegalMove(f"The percentages must add up to 100; yours add up to {total:g}.")
    return tuple(p / total for p in shares)


def _reply(value: Any) -> str:
    return msgspec.json.encode(value).decode()


# --- the end ------------------------------------------------------------------------------------


def over_of(seat: str, end: Ended | Censored, texts: Texts) -> Over:
    """Return the end as a seat may see it: with its own payoff, without details of a fault."""
    if isinstance(end, Ended):
        payoff = end.payoffs.get(seat)
        if payoff is None:
            return Over("ended", None, texts("over.ended"))
        payoff += 0.0  # not -0
        return Over("ended", payoff, texts("over.ended_with", payoff=texts.number(f"{payoff:g}")))
    if end.cause == "left" and end.seat == seat:
        key = "over.stopped" if end.detail == REMOVED else "over.you_left"
        return Over("censored", None, texts(key))
    text_key = f"over.{end.cause}"
    return Over("censored", None, texts(text_key if text_key in texts.said else "over.stopped"))


def since(screen: Screen, lines: int) -> Screen:
    """Return the screen without the parts that the browser already has: the rules, their picture
    and the first `lines` lines, if `lines` is not 0."""
    if not 0 < lines <= len(screen.lines):
        return screen
    return msgspec.structs.replace(
        screen, rules="", brief="", example=None, lines_from=lines, lines=screen.lines[lines:]
    )
