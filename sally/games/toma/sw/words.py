"""Speak or wait in language: sentences of our own, in the order and formats used in the prompts of
kang2026."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from sally.core.errors import Unreadable, join_names
from sally.core.log.events import Told
from sally.core.reply.plain_text import after_label, without_thoughts
from sally.core.rules.game import Seat
from sally.core.rules.menu import Options, admit
from sally.core.rules.probe import ProbeReport, Question
from sally.core.rules.words import Words, read_form, read_texts
from sally.games.toma.sw.rules import (
    EAVESDROPPER,
    GUIDE,
    LETTERS,
    PASS,
    READER,
    SIDE,
    STEPS,
    WAIT,
    Action,
    CellOf,
    Guess,
    Guessed,
    Move,
    Open,
    Radio,
    Speak,
    SpeakOrWait,
    View,
    is_blocked,
    ways,
)

TEXTS: Mapping[str, str] = read_texts(__package__)

QUOTED = r"[\"“”'‘](?P<text>.+)[\"“”'’]"
ACT = re.compile(
    rf"(?is)SPEAK\s*:?\s*{QUOTED}|OPEN\s+\[?(?P<password>\d{{4}})\]?"
    r"|MOVE\s+\[?(?P<way>NORTH|SOUTH|WEST|EAST)\]?|(?P<wait>WAIT)"
)
LABELS = ("My Next Action", "Final Action", "Action")
ALLY = "ally agent's next action"


class RadioWords(Words[Action, View]):
    label: ClassVar[str] = "My Next Action"
    foreseen_label: ClassVar[str] = ALLY

    def __init__(self, game: SpeakOrWait, texts: Mapping[str, str]) -> None:
        super().__init__(game, texts)
        self._turns, self._win, self._names = game.turns, game.win, game.landmarks
        self._may_pass = game.may_pass

    # --- pages ------------------------------------------------------------------------------------

    def rules(self, seat: Seat) -> str:
        if seat == READER:
            return self.say("role.reader", names=join_names(self._names))
        if seat == EAVESDROPPER:
            parts = [self.say("role.eavesdropper"), self.say("penalty")]
            parts += [self.say("context.eavesdropper", turns=self._turns), self.say("grid")]
            return "\n\n".join(parts)
        return "\n\n".join(
            (
                self.say(f"role.{seat}", win=self.say(f"win.{self._win}")),
                self.say("security"),
                self.say("context.team", turns=self._turns),
                self.say("grid"),
                self.say(f"actions.{seat}"),
            )
        )

    def lines(self, view: View, since: int, form: str) -> Iterator[str]:
        if view.seat == EAVESDROPPER:
            overheard = list(self._overheard(view))
        elif view.seat == READER:
            overheard = [self._radio(n, radio) for n, radio in enumerate(view.radio, 1)]
        else:  # an act is shown once the radio of its turn is known
            pairs = zip(view.radio, view.acts, strict=False)
            overheard = [self._turn(n, view, *pair) for n, pair in enumerate(pairs, 1)]
        yield from overheard[since:]

    def _overheard(self, view: View) -> Iterator[str]:
        guessed = {guess.turn: guess for guess in view.guesses}
        for number, radio in enumerate(view.radio, 1):
            yield self._radio(number, radio)
            if number in guessed:
                yield self._guess(guessed[number])

    def _guess(self, guess_record: Guessed) -> str:
        if guess_record.guess is None:
            return self.say("guess.none", turn=guess_record.turn)
        cell_facts = {"row": guess_record.guess.row, "col": guess_record.guess.col}
        target = self.say(f"who.{guess_record.guess.target}")
        return self.say("guess.wrong", turn=guess_record.turn, target=target, **cell_facts)

    def _radio(self, number: int, radio: Radio) -> str:
        speaker = self.say(f"who.{radio.speaker}") if radio.speaker else ""
        facts = {"turn": number, "speaker": speaker, "text": one_line(radio.text)}
        return self.say(f"radio.{radio.kind}", **facts)

    def _turn(self, number: int, view: View, radio: Radio, act: Action | None) -> str:
        if "field.own_speech" in self.texts and isinstance(act, Speak) and radio.kind == "speech":
            return self.say("field.own_speech", turn=number, text=one_line(radio.text))
        line = self._radio(number, radio)
        line += self.say("own.none") if act is None else self.say("own", act=self.name(act))
        if isinstance(act, Open):
            line += self.say(f"own.{self._door_result(number, view.opened_in)}")
        return line

    def _door_result(self, number: int, opened_in: int) -> str:
        """Return the result of trying a password in this turn."""
        if opened_in and number > opened_in:
            return "again"
        return "opened" if number == opened_in else "wrong"

    def now(self, view: View) -> str:
        if view.seat == READER:
            message = view.said
            return (
                self.say("now.read", speaker=message.speaker, text=message.text) if message else ""
            )
        turn = len(view.radio) + (view.seat != EAVESDROPPER)
        parts = [self.say("now", turn=min(max(turn, 1), self._turns), turns=self._turns)]
        if view.seat == EAVESDROPPER:
            parts.append(
                self.say(
                    "now.objects", objects=", ".join(self.listing(map(cell_text, view.objects)))
                )
            )
            if is_blocked(view.guesses, len(view.radio)):
                parts.append(self.say("now.blocked"))
            return "\n".join(parts)
        if view.seat == GUIDE and view.treasure is not None:
            row, col = view.treasure
            parts.append(self.say("now.opened", row=row, col=col))
        elif view.seat == GUIDE:
            parts.append(self.say("now.locked"))
        elif view.cell is not None:
            row, col = view.cell
            moves = join_names(map(self._direction_text, ways(view.cell)), "or")
            parts.append(
                self.say("now.explorer", password=view.password, row=row, col=col, moves=moves)
            )
        landmark_texts = self.listing(f"{name} {cell_text(cell)}" for name, cell in view.landmarks)
        marks = ", ".join(landmark_texts)
        return "\n".join([*parts, self.say("now.landmarks", landmarks=marks)])

    def drawn(self, view: View) -> str:
        """Return the map as this seat knows it.

        Landmarks are shown by letter, or as `o` if their names are not known; B is shown as `B`,
        and the treasure as `T`.
        """
        marks = {cell: name[0].lower() for name, cell in view.landmarks}
        marks |= dict.fromkeys(view.objects, "o")
        if view.treasure is not None:
            marks[view.treasure] = "T"
        if view.cell is not None:
            marks[view.cell] = "B"
        if not marks:
            return ""
        rows = [" ".join(marks.get((row, col), ".") for col in range(SIDE)) for row in range(SIDE)]
        return "\n".join(["    0 1 2 3", *(f"  {n} {row}" for n, row in enumerate(rows))])

    def question(self, view: View, options: Options[Action]) -> str:
        role = view.seat if view.seat in (EAVESDROPPER, READER) else "team"
        return self.say(f"question.{role}")

    def format(self, view: View, options: Options[Action]) -> str:
        if view.seat == READER:
            return super().format(view, options)
        format_text = self.say(f"format.{view.seat}")
        may_pass = view.seat == EAVESDROPPER and self._may_pass
        return format_text + (self.say("format.pass") if may_pass else "")

    # --- actions ----------------------------------------------------------------------------------

    def name(self, action: Any) -> str:
        match action:
            case Speak(text):
                return self.say("act.speak", text=one_line(text))
            case Open(password):
                return self.say("act.open", password=password)
            case Move(direction):
                return self.say("act.move", way=self._direction_text(direction))
            case _ if action == WAIT:
                return self.say("act.wait")
            case Guess(target, row, col):
                return f"Target: {target}, Guess: [{row}, {col}]"
        return str(action) if isinstance(action, str | int) else type(action).__name__.upper()

    def _direction_text(self, direction: str) -> str:
        return self.say(f"way.{direction.lower()}")

    def choice_name(self, question: Question, choice: int | str) -> str:
        return self.say(f"kind.{str(choice).lower()}")

    def read(self, reply: str, view: View, options: Options[Action]) -> Action:
        if view.seat == READER or "{" in reply:
            filled: Any = read_form(reply, options)
            return filled  # type: ignore[no-any-return]
        chosen: Action = read_guess(reply) if view.seat == EAVESDROPPER else read_act(reply)
        try:
            return admit(options, chosen)
        except ValueError as error:
            raise Unreadable(f"{self.name(chosen)} is not possible here: {error}") from None

    # --- probes -----------------------------------------------------------------------------------

    def aside(self, question: Question, view: View, pending: Action | None = None) -> str:
        return self.say("aside.ally_action", ally=LETTERS[Seat(question.about)])

    def aside_format(self, question: Question) -> str:
        names = " | ".join(self.choice_name(question, choice) for choice in question.choices)
        return self.say("format.ally", names=names)

    def read_report(self, reply: str, question: Question) -> ProbeReport:
        stated = after_label(reply, ALLY) or after_label(reply, self.label) or reply
        kind = kind_named(stated)
        if kind not in question.choices:
            names = join_names(map(str, question.choices), "or")
            raise Unreadable(f"Answer with one line `{ALLY}:` and one of {names}.")
        return ProbeReport(kind, reply=reply)

    def told(self, injected: Told, question: Question | None = None) -> str:
        return self.say(
            f"told.{injected.source}", ally=LETTERS[Seat(injected.about)], value=injected.value
        )


def one_line(text: str) -> str:
    """Return a message on one line, so that it cannot imitate another line of the log."""
    return " ".join(text.split()).replace('"', "'")


def cell_text(cell: CellOf) -> str:
    return f"({cell[0]}, {cell[1]})"


def read_act(reply: str) -> Action:
    """Return the act that follows the label in a reply, or the whole reply if it is just an act."""
    # A prediction of the ally's WAIT is not a second answer about the player's own act.
    own_lines = "\n".join(line for line in reply.split("\n") if not _of_the_ally(line))
    stated = next(
        (s for label in LABELS if (s := after_label(own_lines, label)) is not None), own_lines
    )
    act = ACT.fullmatch(stated.strip(" \t\n*`[].").strip())
    if act is None:
        raise Unreadable(
            'Answer with `My Next Action:` and one of SPEAK "message", OPEN 1234, '
            f"MOVE {join_names(STEPS, 'or')}, WAIT, as far as your role allows; messages stand in "
            "quotation marks."
        )
    if act["text"]:
        return Speak(act["text"])
    if act["password"]:
        return Open(act["password"])
    return Move(act["way"].upper()) if act["way"] else WAIT


def _of_the_ally(line: str) -> bool:
    return line.lstrip(" \t*_`#>-").lower().startswith(f"{ALLY}:")


# What may follow a target or a cell; an `or` or a question mark may not.
_THEN = r"(?=[\s*_`\]),.;:-]*(?:$|target\b|guess\b|because\b|since\b|as\b|\())"
_TARGET = re.compile(rf"(?i)\btarget[*_` ]*:[*_`\[ ]*(B|TREASURE|NONE)\b{_THEN}")
_CELL = re.compile(rf"(?i)\bguess[*_` ]*:[*_` ]*[\[(]?\s*([0-3])\s*,\s*([0-3])(?!\d){_THEN}")


def read_guess(reply: str) -> Action:
    """Return the guess in a reply, which must name exactly one target and one cell."""
    lines = without_thoughts(reply).split("\n")
    targets = {hit.upper() for line in lines for hit in _TARGET.findall(line)}
    cells = {hit for line in lines for hit in _CELL.findall(line)}
    if targets == {"NONE"}:
        return PASS
    if len(targets) != 1 or len(cells) != 1:
        raise Unreadable(
            "Answer with `Target:` B or TREASURE, and `Guess:` [row, col], both from 0 to 3."
        )
    (target,), ((row, col),) = targets, cells
    return Guess(target, int(row), int(col))


def kind_named(stated: str) -> str | None:
    """Return SPEAK, OPEN, MOVE or WAIT if a text is one of them, with or without an argument."""
    plain_text = stated.strip(" \t\n*`[].").strip()
    if plain_text.upper() in ("SPEAK", "OPEN", "MOVE", "WAIT"):
        return plain_text.upper()
    act = ACT.fullmatch(plain_text)
    return plain_text.split()[0].strip(":").upper() if act else None
