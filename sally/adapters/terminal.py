"""A human player at the terminal, who answers with a number, a name or a form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from sally.core.display.scenes import Scene, moment
from sally.core.errors import IllegalMove, Unreadable, join_names
from sally.core.match.player import Decision, Fault, Turn
from sally.core.rules.menu import (
    Amounts,
    Choice,
    Field,
    Form,
    Many,
    Text,
    Whole,
    fill_form,
    is_finite,
)
from sally.core.rules.probe import ProbeReport

Show = Callable[[str], None]
Read = Callable[[str], str]
LEFT = Fault("left", "the person left the table")


class Left(Exception):
    """Raised by `read` at the end of the input."""


class Person(msgspec.Struct, frozen=True):
    """A human player; every line of the history is shown once."""

    show: Show
    read: Read

    def decide(self, turn: Turn) -> Decision[Any] | Fault:
        scene = self._show_scene(turn)
        for text in scene.told:
            self.show(text)
        self._show_position(turn, scene)
        self.show(scene.question)
        for tool in turn.context.spec.tools:
            keys = "".join(f" {key}=..." for key in tool.parameters.get("properties", {}))
            self.show(f"(type `?{tool.name}{keys}` to look up: {tool.about})")
        while True:
            try:
                action, typed = self._ask(turn)
                return Decision(action, reply=typed)
            except (IllegalMove, Unreadable) as error:
                self.show(f"Try again: {error}")
            except Left:
                return LEFT

    def report(self, turn: Turn) -> ProbeReport | Fault:
        question, words = turn.question, turn.context.words
        assert question is not None
        scene = self._show_scene(turn)
        self._show_position(turn, scene)
        self.show(f"{words.say('aside.intro')} {scene.question}")
        numbered = not any(name.isdigit() for name in scene.options)
        if question.kind != "choice":
            self.show(scene.format)
        else:
            self._menu(scene.options, numbered, question.scale)
        while True:
            try:
                typed = self.read("aside> ").strip()
                by_number = question.kind == "choice" and numbered and typed.isdigit()
                if by_number and 1 <= int(typed) <= len(question.choices):
                    return ProbeReport(question.choices[int(typed) - 1], reply=typed)
                asker = words.of(question)
                labelled = typed if ":" in typed else f"{asker.label}: {typed}"
                return asker.read_report(labelled, question)
            except Unreadable as error:
                menu = question.kind == "choice" and question.scale is None
                advice = _pick_one(scene.options, numbered) if menu else str(error)
                self.show(f"Try again: {advice}")
            except Left:
                return LEFT

    def _show_scene(self, turn: Turn) -> Scene:
        """Print the rules once, then only new lines."""
        reader = turn.context.reader
        if not reader.begun:
            self.show(turn.context.words.rules(turn.seat))
            self.show("")
        scene = moment(turn, reader.news(turn.view))
        for line in scene.new:
            self.show(line)
        return scene

    def _show_position(self, turn: Turn, scene: Scene) -> None:
        """Print the board, if the game draws one, and the current position."""
        for text in (turn.context.words.drawn(turn.view), scene.now):
            if text:
                self.show(text)

    def _read_typed(self, turn: Turn) -> str:
        """Return the typed answer, after answering any tool calls (`?tool key=value`)."""
        while (typed := self.read("> ").strip()).startswith("?"):
            tool, *arguments = typed[1:].split()
            try:
                result = turn.use(tool, dict(part.split("=", 1) for part in arguments))
                self.show(msgspec.json.encode(result).decode())
            except ValueError as error:  # includes BadInput
                self.show(f"Try again: {error}")
        return typed

    def _ask(self, turn: Turn) -> tuple[Any, str]:
        words, options = turn.context.words, turn.options
        if is_finite(options):
            names = words.menu(options)
            numbered = not any(name.isdigit() for name in names)  # avoid two kinds of numbers
            self._menu(names, numbered, words.scale(options))
            typed = self._read_typed(turn)
            if numbered and typed.isdigit() and 1 <= int(typed) <= len(options):
                return options[int(typed) - 1], typed
            try:
                return words.read(f"{words.label}: {typed}", turn.view, options), typed
            except Unreadable:  # its message describes the line that a model writes
                raise Unreadable(_pick_one(names, numbered)) from None
        kinds = [o.kind if type(o) is Form else words.name(o) for o in options]
        chosen = options[0]
        if len(options) > 1:
            self._menu(kinds)
            typed = self._read_typed(turn)
            if not typed.isdigit() or not 1 <= int(typed) <= len(options):
                raise IllegalMove(f"Type a number from 1 to {len(options)}.")
            chosen = options[int(typed) - 1]
        if type(chosen) is not Form:
            return chosen, str(chosen)
        plain = {"kind": chosen.kind} | {n: self._fill(n, field) for n, field in chosen.fields}
        return fill_form(options, plain), msgspec.json.encode(plain).decode()

    def _menu(
        self, names: Sequence[str], numbered: bool = True, scale: Whole | None = None
    ) -> None:
        if scale is not None:
            self.show(f"(a whole number from {scale.low} to {scale.high})")
            return
        places = [f"{i}) {name}" for i, name in enumerate(names, 1)]
        self.show("   ".join(places if numbered else names))

    def _fill(self, name: str, field: Field) -> Any:
        """Read one field of a form."""
        match field:
            case Choice(values):
                typed = self.read(f"  {name} ({', '.join(map(str, values))}): ").strip()
                return next((v for v in values if str(v) == typed), typed)
            case Whole(low, high):
                typed = self.read(f"  {name} ({low} to {high}): ").strip()
                return int(typed) if typed.lstrip("-").isdigit() else typed
            case Text():  # the form refuses a text that is too long
                return self.read(f"  {name}: ").strip()
            case Amounts(limit):
                limits_text = ", ".join(f"{item} up to {amount}" for item, amount in limit)
                typed = self.read(f"  {name} (such as `2 wood, 1/2 iron`; {limits_text}): ")
                return tuple(_pair(part) for part in typed.split(",") if part.strip())
            case Many(of, limit):
                return self._fill_many(name, of, limit)
            case Form(fields=fields):
                return {n: self._fill(f"{name}.{n}", f) for n, f in fields}

    def _fill_many(self, name: str, of: Field, limit: int) -> tuple[Any, ...]:
        typed = self.read(f"  how many {name} (0 to {limit}): ").strip()
        count = int(typed) if typed.isdigit() else 0
        return tuple(self._fill(f"{name} {i + 1}", of) for i in range(min(count, limit)))


def _pick_one(names: Sequence[str], numbered: bool) -> str:
    lead = f"a number from 1 to {len(names)}, or one of " if numbered else "one of "
    return f"Type {lead}{join_names(names, 'or')}."


def _pair(part: str) -> tuple[str, str]:
    amount, _, item = part.strip().partition(" ")
    return item.strip(), amount
