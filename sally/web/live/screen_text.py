"""Screens as people see them: titles and roles instead of identifiers, and reversed options."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from decimal import ROUND_HALF_UP, Decimal
from itertools import groupby
from operator import itemgetter
from typing import Any

import msgspec

from sally.core.display.board import example_of
from sally.core.display.reveal import SeatScore
from sally.core.display.scenes import FOR_MODELS
from sally.core.match.seat_context import SeatContext
from sally.core.rules.board import Board, Table
from sally.core.rules.game import GameSpec
from sally.players.language import checked_pack
from sally.web.live.screen import Ask, Rewrite, Score, Screen, plain, title_of
from sally.web.texts import ENGLISH, Texts, shipped_texts

MOST_WORDS = 60  # of the rules on the first screen; longer rules are folded below a summary
LONGEST = 600  # characters of a sentence that may repeat a value of a request


def words_of(spec: GameSpec, pack: str = "") -> dict[str, str]:
    """Return the texts for people that replace a game's texts for models."""
    if pack == FOR_MODELS:
        return {}
    return dict(checked_pack(pack, spec).texts if pack else spec.people.texts)


def shorten(sentence: str) -> str:
    """Return a sentence, without its middle part if it is too long (it may quote a long value)."""
    half = LONGEST // 2  # the end says what would be right
    return sentence if len(sentence) <= LONGEST else f"{sentence[:half]} … {sentence[-half:]}"


class Labels(msgspec.Struct, frozen=True):
    """Titles, roles and texts shown to people; empty fields default to the game's spec."""

    titles: Mapping[str, str] = {}
    roles: Mapping[str, str] = {}
    words: Mapping[str, Mapping[str, str]] = {}  # by game, texts that replace those for models
    language: str = ENGLISH  # of messages about a match
    reveals: bool = True  # whether the end of a game shows what was hidden
    examples: bool = True  # whether rules are shown with a picture
    per_point: float = 0.0  # money that a point is worth; 0: points are not paid
    currency: str = ""
    packs: Mapping[str, str] = {}  # by game, the words pack that people read

    @property
    def texts(self) -> Texts:
        return shipped_texts(self.language)

    def title(self, context: SeatContext) -> str:
        return self.titles.get(context.spec.name, context.spec.title)

    def role(self, context: SeatContext, seat: str) -> str:
        """Return the role of a seat, such as "the guide", or an empty string.

        A role that only numbers the seat says nothing where there are two: the other one is "the
        other player" everywhere on the page.
        """
        role = self.roles.get(seat, context.spec.people.roles.get(seat, ""))
        is_number = role[-1:].isdigit() and role.lower() == title_of(seat)
        if len(context.game.seats) != 2 or not is_number:
            return role
        return "" if seat == context.seat else self.texts("over.other")

    def brief(self, context: SeatContext, rules: str) -> str:
        """Return the rules in a few sentences, or "" if they are short or are told in words of a
        study, which the game's own sentences would contradict."""
        people, seat, name = context.spec.people, context.seat, context.spec.name
        if len(rules.split()) <= MOST_WORDS or not self.are_ours(context):
            return ""
        keys = (f"{name}.{seat}", name, seat, "")
        brief = next((people.briefs[key] for key in keys if key in people.briefs), "")
        return brief.format_map(context.words.phrases)

    def example(self, context: SeatContext) -> Board | None:
        """Return the picture beside the rules, or None if there is none or the rules are told in
        words of a study."""
        return example_of(context) if self.examples and self.are_ours(context) else None

    def are_ours(self, context: SeatContext) -> bool:
        """Return whether people read the game's own texts, in English."""
        texts = context.spec.people.texts
        return self.language == ENGLISH and self.words.get(context.spec.name, texts) == texts

    def score(self, context: SeatContext, seat: str, score: SeatScore) -> Score:
        """Return what a seat got, as another seat reads it; only its own score is also money."""
        number, is_own = self.texts.number, score.seat == seat
        points = score.points + 0.0  # not -0
        maximum = "" if score.most is None or score.most == math.inf else f"{score.most:g}"
        amount = Decimal(repr(float(points))) * Decimal(repr(float(self.per_point)))
        cents = amount.quantize(Decimal("0.01"), ROUND_HALF_UP)
        money = f"{cents} {self.currency}" if self.per_point else ""
        is_pair = len(context.game.seats) == 2
        unnamed = self.texts("over.other") if is_pair else title_of(score.seat)
        player_role = "" if is_own else self.role(context, score.seat) or unnamed
        return Score(
            player_role,
            number(f"{points:.6g}"),
            number(maximum),
            number(money.strip()) if is_own else "",
        )

    def plainly(self, context: SeatContext) -> Rewrite:
        """Return a function that replaces underscores by spaces and seat identifiers by roles."""
        coded = [str(seat) for seat in context.game.seats if re.search(r"[0-9_]", seat)]
        names = {seat: self.role(context, seat) for seat in coded if self.role(context, seat)}
        if not names:
            return plain
        code = re.compile(rf"\b({'|'.join(map(re.escape, names))})\b")
        return lambda text: plain(code.sub(lambda seat_match: names[seat_match[0]], text))


ESCAPED = re.compile(r"\\(?:u[0-9a-f]{4}|.)")  # an escape sequence of JSON


def plain_board(board: Board | None, plainly: Rewrite) -> Board | None:
    """Return a board with its texts rewritten.

    Boards are drawn after every answer and rarely contain identifiers, so a quick test of each
    part's JSON decides whether it must be rewritten.
    """
    if board is None:
        return None
    parts = tuple(
        part if is_plain(part, plainly) else _plain_part(part, plainly) for part in board.parts
    )
    faces = {plainly(name): _plain_part(face, plainly) for name, face in board.faces.items()}
    return msgspec.structs.replace(board, parts=parts, faces=faces)


def is_plain(part: Any, plainly: Rewrite) -> bool:
    """Return whether rewriting would leave a part of a board unchanged."""
    text = ESCAPED.sub(" ", msgspec.json.encode(part).decode())
    return plainly(text) == text


def _plain_part(part: Any, plainly: Rewrite) -> Any:
    if isinstance(part, str):
        return plainly(part)
    if isinstance(part, tuple):
        return tuple(_plain_part(element, plainly) for element in part)
    if not isinstance(part, msgspec.Struct):
        return part
    fields = {name: _plain_part(getattr(part, name), plainly) for name in part.__struct_fields__}
    return msgspec.structs.replace(part, **fields)


def reverse_options(screen: Screen, labels: list[str]) -> Screen:
    """Return the screen with options reversed, in buttons, questions, tables and rules, for studies
    that balance option orders. `labels` are those of the menu."""
    board = screen.board
    if board is not None:
        parts = tuple(_reverse_table(p, labels) if isinstance(p, Table) else p for p in board.parts)
        board = msgspec.structs.replace(board, parts=parts)
    return msgspec.structs.replace(
        screen,
        board=board,
        asks=tuple(_turned_ask(ask, labels) for ask in screen.asks),
        rules=turned_rules(screen.rules, labels),
    )


def _turned_ask(ask: Ask, labels: list[str]) -> Ask:
    ask = msgspec.structs.replace(ask, options=ask.options[::-1])
    if ask.answer == "choice":
        ask = msgspec.structs.replace(ask, items=ask.items[::-1])
    elif ask.kind == "probe":
        return ask  # numbers keep the order of their items, and so does the question
    return msgspec.structs.replace(ask, question=reverse_names(ask.question, labels))


LAST = r" (?:or|and|oder|und) "  # joins the last two of a list: "Option J or Option F"


def turned_rules(rules: str, labels: list[str]) -> str:
    """Return the text of the rules in which every list of these options, and every block with one
    line per outcome, is in reverse order."""
    if len(labels) < 2:
        return rules
    name = rf"(?<!\w)(?:{'|'.join(map(re.escape, labels))})(?!\w)"
    shape = [re.sub(r"[-+]?\d+(?:\.\d+)?", "#", re.sub(name, "*", line)) for line in _lines(rules)]
    new_lines: list[str] = []
    for line_shape, block in groupby(zip(shape, _lines(rules), strict=True), key=itemgetter(0)):
        lines = [line for _, line in block]
        if len(lines) > 1 and line_shape.count("*") > 1:
            new_lines += lines[::-1]
        else:
            new_lines += [_listed_backwards(line, labels, name) for line in lines]
    return "\n".join(new_lines)


def _lines(text: str) -> list[str]:
    return text.split("\n")


def _listed_backwards(line: str, labels: list[str], name: str) -> str:
    """Return a line with its list of options reversed, if it names every option once."""
    run = re.compile(rf"{name}(?:, (?:\w+ )?{name})*{LAST}(?:\w+ )?{name}")
    return run.sub(lambda options_match: reverse_names(options_match[0], labels), line)


def reverse_names(question: str, labels: list[str]) -> str:
    """Return a question with the option names in reverse order, if it names each of them once."""
    names = dict(zip(labels, labels[::-1], strict=True))
    if len(names) < 2:
        return question
    name_pattern = re.compile(rf"(?<!\w)({'|'.join(map(re.escape, names))})(?!\w)")
    names_each_once = sorted(name_pattern.findall(question)) == sorted(names)
    return name_pattern.sub(lambda name: names[name[0]], question) if names_each_once else question


def _reverse_table(table: Table, labels: list[str]) -> Table:
    if [row.label for row in table.rows] == labels:
        table = msgspec.structs.replace(table, rows=table.rows[::-1])
    if list(table.columns) == labels:
        rows = tuple(msgspec.structs.replace(row, cells=row.cells[::-1]) for row in table.rows)
        table = msgspec.structs.replace(table, columns=table.columns[::-1], rows=rows)
    return table
