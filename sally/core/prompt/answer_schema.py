"""Answers as JSON: the schema of an answer, and the code that reads an answer from a JSON object.

With `format = schema` a prompt asks for one JSON object, replies are constrained to its schema if
the provider supports that, and the answer is the value of one field: nothing is guessed.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, cast

from sally.core.errors import IllegalMove, Unreadable, join_names
from sally.core.rules.menu import Options, Whole, closed_schema, fill_form, is_finite, menu_schema
from sally.core.rules.probe import ProbeReport, Question
from sally.core.rules.words import Words, as_tuples, only_object

VERSION = 1  # of the wording and the schemas; stored with players whose format is `schema`
MOST_THOUGHT = 2_000  # characters of a text in front of the answer


def field_name(label: str) -> str:
    """Return the field name of a label: `final_answer` for `Final answer`."""
    return label.casefold().replace(" ", "_")


def of_answer(label: str, answer: dict[str, Any], labels_before: Sequence[str] = ()) -> str:
    """Return, as JSON, the schema of an object with labelled texts followed by the answer.

    >>> of_answer("Option", {"type": "string", "enum": ["J", "F"]})
    '{"type":"object","properties":{"option":{"type":"string","enum":["J","F"]}},"required":["option"],"additionalProperties":false}'
    """
    text = {"type": "string", "maxLength": MOST_THOUGHT}
    properties = {field_name(text_label): text for text_label in labels_before} | {
        field_name(label): answer
    }
    return json.dumps(closed_schema(properties), separators=(",", ":"), ensure_ascii=False)


def of_move(words: Words, options: Options[Any]) -> dict[str, Any]:
    """Return the schema of a move: one of the names, a whole number, or a form."""
    if not is_finite(options):
        return menu_schema(options)
    if (scale := words.scale(options)) is not None:
        return scale.schema()
    return {"type": "string", "enum": list(words.menu(options))}


def of_report(question: Question, names: Sequence[str]) -> dict[str, Any]:
    """Return the schema of an answer to a probe."""
    if question.scale is not None:
        return question.scale.schema()
    if question.kind == "choice":
        return {"type": "string", "enum": list(names)}
    span = (0, 100) if question.kind == "odds" else (question.low, question.high)
    number = {"type": "number", "minimum": span[0], "maximum": span[1]}
    return closed_schema(dict.fromkeys(names, number))


def value_in(reply: str, label: str, labels_before: Sequence[str] = ()) -> Any:
    """Return the answer in the one JSON object of a reply.

    Raises:
        Unreadable: There is no object, there are several, or its fields are not those of the
            schema.
    """
    answer, names = only_object(reply), [*map(field_name, labels_before), field_name(label)]
    if sorted(answer) != sorted(names):
        field_names = join_names([f"`{name}`" for name in names])
        raise Unreadable(
            f"Answer with one JSON object that has the field {field_names} and no other."
        )
    return answer[names[-1]]


def read_move(value: Any, words: Words, options: Options[Any]) -> Any:
    """Return the move that a value represents; raise Unreadable if it is not a move."""
    if not is_finite(options):
        try:
            return fill_form(options, as_tuples(value))
        except (IllegalMove, RecursionError) as error:
            raise Unreadable(str(error)) from None
    if (scale := words.scale(options)) is not None:
        return _read_whole(value, scale)
    names = words.menu(options)
    return options[_place(value, names)]


def read_report(value: Any, question: Question, names: Sequence[str]) -> ProbeReport:
    """Return the report for a value; raise Unreadable if it is not a valid report."""
    if question.scale is not None:
        return ProbeReport(_read_whole(value, question.scale))
    choices = question.choices
    if question.kind == "choice":
        return ProbeReport(choices[_place(value, names)])
    low, high = (0, 100) if question.kind == "odds" else (question.low, question.high)
    if not isinstance(value, dict) or sorted(value) != sorted(names):
        raise Unreadable("Give a number for each name in the schema, and for no other.")
    numbers = [value[name] for name in names]
    if not all(type(number) in (int, float) and low <= number <= high for number in numbers):
        raise Unreadable(f"Give each name a number from {low:g} to {high:g}.")
    if question.kind == "values":
        return ProbeReport({str(c): float(n) for c, n in zip(choices, numbers, strict=True)})
    if not 99 <= (total := sum(numbers)) <= 101:
        raise Unreadable(f"The odds must sum to 100; yours sum to {total:g}.")
    odds = tuple(number / total for number in numbers)
    return ProbeReport(choices[max(range(len(odds)), key=odds.__getitem__)], odds)


def _read_whole(value: Any, scale: Whole) -> int:
    if (problem := scale.problem(value)) is not None:
        raise Unreadable(f"{problem[0].upper()}{problem[1:]}.")
    return cast(int, value)


def _place(value: Any, names: Sequence[str]) -> int:
    if value not in names:
        raise Unreadable(f"{value!r} is not one of the names in the schema.")
    return names.index(value)
