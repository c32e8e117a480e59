"""What a seat's browser receives, made of its own turns, views and words and of nothing else.

No function here is handed a state or another seat's turn, so none can give one away.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from math import isfinite
from typing import Any, Literal

import msgspec

from sally.core.errors import IllegalMove
from sally.core.log.events import Censored, Ended
from sally.core.log.scenes import Scene
from sally.core.match.player import AskId, Decision, Turn
from sally.core.match.seat_context import SeatContext
from sally.core.prompt.words import as_tuples
from sally.core.rules.board import Board, board_of
from sally.core.rules.game import Tool
from sally.core.rules.menu import Amounts, Choice, Field, Form, Many, Options, Text, Whole, filled
from sally.core.rules.probe import Question, Report
from sally.web.texts import Texts

Json = dict[str, Any]


class Option(msgspec.Struct, frozen=True):
    """Something to choose, by its name."""

    label: str
    value: Any


class Ask(msgspec.Struct, frozen=True):
    """One thing that this seat is asked now."""

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
    looked: tuple[Json, ...] = ()  # what was looked up for this decision so far
    refused: str | None = None  # why the last answer to this was not taken


class Over(msgspec.Struct, frozen=True):
    """How the match ended for this seat."""

    how: Literal["ended", "censored"]
    payoff: float | None
    text: str


class Screen(msgspec.Struct, frozen=True):
    """All that a browser knows of its match."""

    version: int
    title: str
    seat: str
    role: str
    rules: str
    lines_from: int  # how many lines the browser has already
    lines: tuple[str, ...]
    now: str
    board: Board | None
    asks: tuple[Ask, ...]
    told: tuple[str, ...]
    waiting_for: tuple[str, ...]
    over: Over | None


@lru_cache(10_000)  # each is asked for several times a move
def ask_name(match: str, id: AskId) -> str:
    """What a browser calls an ask: nothing can be read from it, not even a probe's name."""
    return blake2b(msgspec.json.encode((match, *id)), digest_size=12).hexdigest()


INSIDE = re.compile(r"(?<=[a-z0-9])_(?=[a-z0-9])")  # an underscore within a name


def plain(text: str) -> str:
    """A text as people write it: what is one name to a rule is several words to them."""
    return INSIDE.sub(" ", text) if "_" in text else text


def title_of(name: str) -> str:
    return name.replace("_", " ")


# --- what is asked ------------------------------------------------------------------------------


def ask_of(match: str, turn: Turn[Any, Any], scene: Scene, refused: str | None) -> Ask:
    """A turn and its scene as the browser gets them."""
    if turn.question is not None:
        return _probe(ask_name(match, turn.id), turn, turn.question, scene, refused)
    words, options = turn.context.words, turn.options
    scale = words.scale(options)
    ready = _ready(turn.context, options)
    forms = [o for o in options if type(o) is Form]
    return Ask(
        ask_name(match, turn.id),
        "move",
        scene.question,
        "",  # a page says how to answer in text; here there are buttons and fields
        "move" if scale is None else "number",
        tuple(Option(words.name(o), msgspec.to_builtins(o)) for o in ready),
        tuple(_named(form_of(form), words.texts) for form in forms),
        range=_ends(scale),
        tools=tuple(_tool(tool) for tool in turn.context.spec.tools),
        looked=tuple(
            {"tool": look.tool, "arguments": look.given, "found": look.found}
            for look in turn.looked
        ),
        refused=refused,
    )


def _ready(context: SeatContext, options: Options[Any]) -> list[Any]:
    """The options that can be chosen as they stand; of a scale, none is."""
    return (
        [o for o in options if type(o) is not Form] if context.words.scale(options) is None else []
    )


def menu_of(context: SeatContext, options: Options[Any]) -> list[str]:
    """The names of the options that are buttons."""
    return [context.words.name(option) for option in _ready(context, options)]


def _probe(
    name: str, turn: Turn[Any, Any], question: Question, scene: Scene, refused: str | None
) -> Ask:
    whole = question.scale
    scale = (question.low, question.high) if question.kind == "values" else _ends(whole)
    return Ask(
        name,
        "probe",
        scene.question,
        turn.context.words.say("aside.intro"),
        question.kind if whole is None else "number",
        items=tuple(map(Option, scene.options, question.choices)) if whole is None else (),
        range=(0.0, 100.0) if question.kind == "odds" else scale,
        refused=refused,
    )


def _ends(scale: Whole | None) -> tuple[float, float] | None:
    """Where a slider begins and ends; a hundred buttons would be nobody's choice."""
    return None if scale is None else (scale.low, scale.high)


def mirrored(ask: Ask) -> Ask:
    """The same ask with its menu from last to first, for studies that balance option orders."""
    turned: Json = {"options": ask.options[::-1]}
    if ask.answer == "choice":  # numbers are sent in the order of their items
        turned["items"] = ask.items[::-1]
    return msgspec.structs.replace(ask, **turned)


def form_of(form: Form[Any]) -> Json:
    """An action to be filled in, as a form."""
    fields = [field_of(name, field) for name, field in form.fields]
    return {"kind": form.kind, "label": title_of(form.kind), "fields": fields}


def _named(form: Any, texts: Mapping[str, str]) -> Any:
    """A form whose labels are a game's own where it has words for people (`field.NAME`)."""
    if isinstance(form, list):
        return [_named(each, texts) for each in form]
    if not isinstance(form, dict):
        return form
    named = {key: _named(value, texts) for key, value in form.items()}
    for key in ("label", "labels"):
        if isinstance(label := form.get(key), str):
            named[key] = texts.get(f"field.{label}", label)
        elif label is not None:
            named[key] = [texts.get(f"field.{each}", each) for each in label]
    return named


def field_of(name: str, field: Field) -> Json:
    """One field of a form."""
    head = {"name": name, "label": title_of(name)}
    match field:
        case Choice(values):
            labels = [plain(str(value)) for value in values]
            return {**head, "type": "choice", "values": list(values), "labels": labels}
        case Whole(low, high):
            return {**head, "type": "whole", "low": low, "high": high}
        case Text(limit, pattern, _, least):
            return {**head, "type": "text", "limit": limit, "least": least, "pattern": pattern}
        case Amounts(most):
            labels = [plain(item) for item, _ in most]
            return {**head, "type": "amounts", "most": list(map(list, most)), "labels": labels}
        case Many(of, most):
            return {**head, "type": "many", "of": field_of(name, of), "most": most}
        case Form():
            return {**head, "type": "form", **form_of(field), "label": title_of(name)}


def _tool(tool: Tool[Any]) -> Json:
    needed = tool.parameters.get("required", ())
    fields = []
    for name, schema in tool.parameters.get("properties", {}).items():
        field: Field = Choice(tuple(schema["enum"])) if "enum" in schema else Text(200)
        fields.append({**field_of(name, field), "required": name in needed})
    return {"name": tool.name, "label": title_of(tool.name), "about": tool.about, "fields": fields}


# --- what is answered ---------------------------------------------------------------------------


def decided(turn: Turn[Any, Any], value: Any, tries: int) -> Decision[Any]:
    """The move that plain JSON describes; raises IllegalMove with the reason."""
    if type(value) not in (int, str, dict):
        raise IllegalMove("A move is one of the options, or a form filled in.")
    action = filled(turn.options, as_tuples(value))
    return Decision(action, None, _reply(value), tries)


def reported(turn: Turn[Any, Any], value: Any, tries: int) -> Report:
    """The answer to a probe that plain JSON describes; raises IllegalMove with the reason."""
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
        return Report(value, reply=_reply(value), tries=tries)
    numbers = _numbers(value, question)
    if question.kind == "odds":
        odds = _odds(numbers)
        best = max(range(len(odds)), key=odds.__getitem__)
        return Report(question.choices[best], odds, _reply(value), tries)
    given = {str(c): n for c, n in zip(question.choices, numbers, strict=True) if n is not None}
    if not given:
        raise IllegalMove("Give a number for at least one of the items.")
    return Report(dict(given), reply=_reply(value), tries=tries)


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
    """Percentages as odds; like a model's, they may be one percent off a hundred."""
    given = [p or 0.0 for p in percents]
    total = sum(given)
    if not 99 <= total <= 101:
        raise IllegalMove(f"The percentages must make 100; yours make {total:g}.")
    return tuple(p / total for p in given)


def _reply(value: Any) -> str:
    return msgspec.json.encode(value).decode()


# --- the end ------------------------------------------------------------------------------------


def over_of(seat: str, end: Ended | Censored, said: Texts) -> Over:
    """The end as one seat may know it: its own payoff, and of a fault no detail."""
    if isinstance(end, Ended):
        payoff = end.payoffs.get(seat)
        if payoff is None:
            return Over("ended", None, said("over.ended"))
        return Over("ended", payoff, said("over.ended_with", payoff=said.number(f"{payoff:g}")))
    if end.cause == "left" and end.seat == seat:
        return Over("censored", None, said("over.you_left"))
    why = f"over.{end.cause}"
    return Over("censored", None, said(why if why in said.said else "over.stopped"))


def screen_of(
    context: SeatContext,
    rules: str,
    scenes: Sequence[Scene],  # of what is asked, or the one of a seat that waits
    lines: Sequence[str],
    asks: Sequence[Ask],
    waiting_for: Sequence[str],
    over: Over | None,
) -> Screen:
    """Everything for one seat, with its whole past."""
    first = scenes[0]
    return Screen(
        0,
        context.spec.title,
        context.seat,
        "",
        rules,
        0,
        tuple(lines),
        "" if over is not None else first.now,
        board_of(context, first.view),
        tuple(asks),
        tuple(told for scene in scenes for told in scene.told),
        tuple(waiting_for),
        over,
    )


def since(screen: Screen, lines: int) -> Screen:
    """The screen without what the browser has: the first lines of the past, and then the rules."""
    if not 0 < lines <= len(screen.lines):
        return screen
    return msgspec.structs.replace(screen, rules="", lines_from=lines, lines=screen.lines[lines:])
