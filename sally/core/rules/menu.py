"""Menus: the actions from which a seat may choose, and the forms it may fill in to make an action.

One description serves the prompt, the parser, the tool call, the web form and the Gymnasium space,
so they always agree on what is legal.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Generic, TypeVar, cast

import msgspec

from sally.core.errors import IllegalMove, join_names
from sally.core.rules.chance import Stream

A = TypeVar("A")
Value = int | str


class Act(msgspec.Struct, frozen=True, tag_field="kind", tag=str.lower, forbid_unknown_fields=True):
    """Base class of structured actions, which are frozen and tagged by their class name."""


class Choice(msgspec.Struct, frozen=True, tag="choice"):
    """A field whose value is one of `values`."""

    values: tuple[Value, ...]

    def problem(self, value: Any) -> str | None:
        if type(value) in (int, str) and value in self.values:
            return None
        return f"{value!r} is not one of {join_names(map(str, self.values), 'or')}"

    def example(self, draws: Stream) -> Value:
        return draws.pick(self.values)

    def schema(self) -> dict[str, Any]:
        return {"enum": list(self.values)}


class Whole(msgspec.Struct, frozen=True, tag="whole"):
    """A whole number from `low` to `high`."""

    low: int
    high: int

    def problem(self, value: Any) -> str | None:
        if type(value) is int and self.low <= value <= self.high:
            return None
        return f"{value!r} is not a whole number from {self.low} to {self.high}"

    def example(self, draws: Stream) -> int:
        return self.low + draws.below(self.high - self.low + 1)

    def schema(self) -> dict[str, Any]:
        return {"type": "integer", "minimum": self.low, "maximum": self.high}


class Text(msgspec.Struct, frozen=True, tag="text"):
    """Free text of at most `limit` characters, matching a pattern if one is given."""

    limit: int
    pattern: str = ""
    samples: tuple[str, ...] = ("Hello.",)  # what a random player says
    least: int = 1
    form: str = ""  # what the pattern asks for, in words for people

    def problem(self, value: Any) -> str | None:
        if not isinstance(value, str):
            return f"{value!r} is not a text"
        if len(value) > self.limit:
            return f"the text has {len(value)} characters, at most {self.limit} are allowed"
        if len(value.strip()) < self.least:
            return "the text is empty"
        if not _is_writable(value):
            return "the text holds half a character, which cannot be written down"
        if self.pattern and not re.fullmatch(self.pattern, value):
            return f"{value!r} does not have the form {self.pattern}"
        return None

    def example(self, draws: Stream) -> str:
        return draws.pick(self.samples)

    def schema(self) -> dict[str, Any]:
        shape = {"pattern": f"^(?:{self.pattern})$"} if self.pattern else {}
        return {"type": "string", "minLength": self.least, "maxLength": self.limit, **shape}


class Amounts(msgspec.Struct, frozen=True, tag="amounts"):
    """A choice of items, each with an amount above 0 and at most the amount available.

    Amounts are written as text ("2", "2/3"), so that they are exact and every JSON reader preserves
    them.
    """

    most: tuple[tuple[str, str], ...]

    def problem(self, value: Any) -> str | None:
        limits = dict(self.most)
        if not isinstance(value, tuple) or not all(map(_is_pair, value)):
            return f"{value!r} is not a list of (item, amount)"
        items = [item for item, _ in value]
        if len(set(items)) != len(items):
            return "an item is named twice"
        for item, amount in value:
            if item not in limits:
                return f"{item!r} is not one of {join_names(limits, 'or')}"
            if (wrong := amount_problem(amount, limits[item])) is not None:
                return f"{wrong} of {item}"
        return None

    def example(self, draws: Stream) -> tuple[tuple[str, str], ...]:
        whole_limits = [
            (item, int(Fraction(limit))) for item, limit in self.most if Fraction(limit) >= 1
        ]
        return tuple(
            (item, str(1 + draws.below(limit))) for item, limit in whole_limits if draws() < 0.5
        )

    def schema(self) -> dict[str, Any]:
        pair = {
            "type": "array",
            "prefixItems": [{"enum": [item for item, _ in self.most]}, AMOUNT_SCHEMA],
            "minItems": 2,
            "maxItems": 2,
        }
        return {"type": "array", "items": pair, "maxItems": len(self.most)}


def _is_pair(entry: Any) -> bool:
    return isinstance(entry, tuple) and len(entry) == 2 and isinstance(entry[0], str)


def _is_writable(text: str) -> bool:
    """Return whether a text has no lone surrogate, which JSON cannot hold."""
    return not re.search("[\ud800-\udfff]", text)


AMOUNT_PATTERN = r"[0-9]{1,9}(?:/[0-9]{1,9}|\.[0-9]{1,9})?"
AMOUNT_SCHEMA = {"type": "string", "pattern": f"^{AMOUNT_PATTERN}$"}


def amount_problem(amount: Any, limit: str) -> str | None:
    """Return why `amount` is not above 0 and at most `limit`, or None if it is."""
    if _is_whole(amount) and limit.isdecimal() and 0 < int(amount) <= int(limit):
        return None  # whole amounts are common, and fractions take ten times as long
    if not isinstance(amount, str) or not re.fullmatch(AMOUNT_PATTERN, amount):
        return f'{amount!r} is not an amount such as "2" or "2/3"'
    if "/" in amount and int(amount.partition("/")[2]) == 0:
        return f"{amount!r} divides by zero"
    if not 0 < Fraction(amount) <= Fraction(limit):
        return f"{amount} is not above 0 and at most {limit}"
    return None


def _is_whole(amount: Any) -> bool:
    return type(amount) is str and len(amount) < 10 and amount.isascii() and amount.isdecimal()


class Many(msgspec.Struct, frozen=True, tag="many"):
    """A list of up to `most` values, each described by the field `of`."""

    of: Field
    most: int = 100

    def problem(self, value: Any) -> str | None:
        if not isinstance(value, tuple):
            return f"{value!r} is not a list"
        if len(value) > self.most:
            return f"{len(value)} entries are more than {self.most}"
        problems = (self.of.problem(v) for v in value)
        return next((wrong for wrong in problems if wrong is not None), None)

    def example(self, draws: Stream) -> tuple[Any, ...]:
        return tuple(self.of.example(draws) for _ in range(draws.below(min(self.most, 2) + 1)))

    def schema(self) -> dict[str, Any]:
        return {"type": "array", "items": self.of.schema(), "maxItems": self.most}


class Form(msgspec.Struct, Generic[A], frozen=True):
    """An action to be filled in: its type, and the values allowed in each field."""

    make: type[A]
    fields: tuple[tuple[str, Field], ...] = ()

    @property
    def kind(self) -> str:
        """The tag under which the filled-in action is logged."""
        return kind_of(self.make)

    def problem(self, action: Any) -> str | None:
        if not isinstance(action, self.make):
            return f"it is not a {self.kind}"
        for name, field in self.fields:
            if (wrong := field.problem(getattr(action, name))) is not None:
                return f"{name}: {wrong}"
        if action != self.make(**{name: getattr(action, name) for name, _ in self.fields}):
            return f"a field is filled in that this {self.kind} does not have"
        return None

    def example(self, draws: Stream) -> A:
        return self.make(**{name: field.example(draws) for name, field in self.fields})

    def schema(self) -> dict[str, Any]:
        kind: dict[str, Any] = {"kind": {"const": self.kind}}
        return closed_schema(kind | {name: field.schema() for name, field in self.fields})


def closed_schema(properties: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of an object with exactly these fields."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def kind_of(action: type[Any]) -> str:
    """Return the tag of a struct type."""
    return str(action.__struct_config__.tag)


Field = Choice | Whole | Text | Amounts | Many | Form[Any]
Options = tuple[A | Form[A], ...]


def is_finite(options: Options[A]) -> bool:
    """Return whether the menu is finite: every option is one complete action, not a form to be
    filled in."""
    return not any(type(option) is Form for option in options)


def span(options: Options[Any]) -> Whole | None:
    """Return the range of a menu of consecutive whole numbers; None for any other menu."""
    numbers = [option for option in options if type(option) is int]
    if not numbers or len(numbers) < len(options):
        return None
    low, high = numbers[0], numbers[-1]
    return Whole(low, high) if numbers == list(range(low, high + 1)) else None


def admit(options: Options[A], action: A) -> A:
    """Return the menu's own copy of an action; raises IllegalMove with the reason if it is not
    legal."""
    if action in options:
        # the menu's object, not an equal one of another type
        return cast(A, options[options.index(action)])
    reasons = [o.problem(action) for o in options if type(o) is Form]
    if None in reasons:
        return action
    of_its_kind = [o for o in options if type(o) is Form and isinstance(action, o.make)]
    if of_its_kind:
        raise IllegalMove(f"{of_its_kind[0].problem(action)}.")
    option_texts = [o.kind if type(o) is Form else repr(o) for o in options]
    raise IllegalMove(f"{action!r} is not among the options {join_names(option_texts, 'or')}.")


def example(options: Options[A], draws: Stream) -> A:
    """Return a random legal action; every option of the menu is equally likely."""
    option: Any = draws.pick(options)
    return cast(A, option.example(draws) if type(option) is Form else option)


def fill_form(options: Options[A], plain: Any) -> A:
    """Return the action that plain JSON data describes; raises IllegalMove if it is not legal.

    An optional field that is empty or null counts as not given.
    """
    if not isinstance(plain, Mapping):
        ready: A = plain
        return admit(options, ready)
    types: list[Any] = [o.make if type(o) is Form else type(o) for o in options]
    kinds = {kind_of(t): t for t in types if issubclass(t, msgspec.Struct)}
    make = kinds.get(str(plain.get("kind")))
    if make is None:
        raise IllegalMove(f"kind must be {join_names(kinds, 'or')}, not {plain.get('kind')!r}.")
    optional = make.__struct_fields__[len(make.__struct_fields__) - len(make.__struct_defaults__) :]
    fields = {k: v for k, v in plain.items() if not (k in optional and v in (None, "", (), []))}
    try:
        action: A = msgspec.convert(fields, make)
    except (msgspec.ValidationError, UnicodeError) as error:  # a key may hold a lone surrogate
        raise IllegalMove(f"{error}.") from None
    return admit(options, action)


def menu_schema(options: Options[Any]) -> dict[str, Any]:
    """Return a JSON schema that exactly the legal actions satisfy."""
    ready = [msgspec.to_builtins(o) for o in options if type(o) is not Form]
    forms = [o.schema() for o in options if type(o) is Form]
    kinds: list[dict[str, Any]] = ([{"enum": ready}] if ready else []) + forms
    return kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
