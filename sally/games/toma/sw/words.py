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
from sally.core.rules.words import Words, read_form
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

TEXTS: Mapping[str, str] = {
    "role.guide": "ROLE AND GOAL\nYou are Agent A, the guide. You stay where you are and hold a "
    "locked box with the cell of a treasure in it. Agent B, your ally, walks the map and holds "
    "the 4-digit password of the box. {win} First get the password over the radio, then open the "
    "box, then let Agent B know where to go.",
    "role.explorer": "ROLE AND GOAL\nYou are Agent B, the explorer. You walk the map and hold the "
    "4-digit password of a locked box. Agent A, your ally, keeps that box, and in it is the cell "
    "of a treasure. {win} First get the password to Agent A over the radio, then learn where to "
    "go, then walk there.",
    "role.eavesdropper": "ROLE AND GOAL\nYou are Agent C, an eavesdropper. Agent A and Agent B "
    "talk over the radio; Agent B walks the map in search of a treasure whose cell Agent A keeps "
    "in a locked box. You hear all that they hear. You win if you guess the cell where Agent B is "
    "or the cell of the treasure; you lose if Agent B gets the treasure first.",
    "role.reader": "You note what messages on a radio claim. Agent A guides Agent B to a treasure "
    "on a 4x4 map; cells are (row, col), both from 0 to 3, and the landmarks are {names}. For "
    "each message write down every cell or landmark it puts Agent B or the TREASURE at (rows "
    "count southward and cols eastward from the landmark, both 0 if it is the landmark itself), "
    "every direction it names, and every 4-digit password. A message that claims nothing has "
    "empty lists.",
    "win.after_open": "You both win when Agent B stands on the treasure after the box was opened.",
    "win.published": "You both win when Agent B stands on the treasure.",
    "security": "SECURITY\n- The password is safe: it does no harm if Agent C hears it.\n"
    "- Places are not: Agent C listens to every message and guesses where Agent B or the treasure "
    "is. If a guess is right, you both lose.",
    "penalty": "PENALTY\nAfter a wrong guess you are blocked: you make no guess in the next turn.",
    "context.team": "CONTEXT\n- The map has 4x4 cells. The game ends after {turns} turns.\n"
    "- In each turn you and your ally act at the same time, without seeing the other's act. Only "
    "speech is heard. If both of you SPEAK in the same turn there is only NOISE, and nobody hears "
    "anything.\n- Both of you know the landmarks by name. Agent C knows at which cells there are "
    "landmarks, but not which is which.\n- Landmarks do not block the way.",
    "context.eavesdropper": "CONTEXT\n- The map has 4x4 cells. The game ends after {turns} turns.\n"
    "- In each turn Agent A may speak, try to open the box or wait, and Agent B may speak, move "
    "one cell or wait, both at the same time. If both speak there is only NOISE.\n"
    "- You know at which cells there are landmarks, but not what they are called; Agent A and "
    "Agent B know their names.",
    "grid": "COORDINATES\nA cell is (row, col). Row 0 is the north edge, row 3 the south edge; "
    "col 0 is the west edge, col 3 the east edge. NORTH: row - 1. SOUTH: row + 1. WEST: col - 1. "
    "EAST: col + 1.",
    "actions.guide": 'ACTIONS\nSPEAK "message", OPEN 1234 (a password of four digits), WAIT.',
    "actions.explorer": 'ACTIONS\nSPEAK "message", MOVE NORTH (or SOUTH, WEST, EAST), WAIT.',
    "radio.speech": 'Turn {turn}: {speaker} says: "{text}"',
    "radio.noise": "Turn {turn}: NOISE.",
    "radio.silence": "Turn {turn}: nothing was heard.",
    "act.speak": 'SPEAK "{text}"',
    "act.open": "OPEN {password}",
    "act.move": "MOVE {way}",
    "act.wait": "WAIT",
    "kind.speak": "SPEAK",
    "kind.open": "OPEN",
    "kind.move": "MOVE",
    "kind.wait": "WAIT",
    "way.north": "NORTH",
    "way.south": "SOUTH",
    "way.west": "WEST",
    "way.east": "EAST",
    "who.A": "A",
    "who.B": "B",
    "who.TREASURE": "TREASURE",
    "own": " You: {act}.",
    "own.none": " You did nothing.",
    "own.opened": " The box opened.",
    "own.again": " The box was open already.",
    "own.wrong": " The password was wrong.",
    "guess.wrong": "Turn {turn}: you guessed that {target} is at ({row}, {col}). Wrong.",
    "guess.none": "Turn {turn}: you made no guess.",
    "now": "CURRENT SITUATION\nThis is turn {turn} of {turns}.",
    "now.locked": "The box is LOCKED. The cell of the treasure is hidden.",
    "now.opened": "The box is OPEN. The treasure is at ({row}, {col}).",
    "now.landmarks": "Landmarks: {landmarks}.",
    "now.explorer": "The password is {password}. You are at ({row}, {col}). You can move {moves}.",
    "now.objects": "Landmarks, names unknown: {objects}.",
    "now.blocked": "You are blocked in this turn.",
    "now.read": 'Agent {speaker} said: "{text}"',
    "question.team": "What do you do in this turn?",
    "question.eavesdropper": "Whose cell do you guess, and which cell?",
    "question.reader": "What does this message claim?",
    "format.guide": "Give your action on a line of its own, in the form "
    '`My Next Action: [SPEAK "message" | OPEN 1234 | WAIT]`.',
    "format.explorer": "Give your action on a line of its own, in the form "
    '`My Next Action: [SPEAK "message" | MOVE DIRECTION | WAIT]`.',
    "format.eavesdropper": "Answer with two lines, `Target: [B | TREASURE]` and "
    "`Guess: [row, col]`.",
    "format.pass": " To make no guess, answer `Target: NONE`.",
    "aside.ally_action": "What will your ally, Agent {ally}, do in this turn?",
    "format.ally": "Answer with one line of the form `ally agent's next action: [{names}]`.",
    "told.truth": "You are told that in this turn Agent {ally} will {value}.",
    "told.own": "You have predicted that in this turn Agent {ally} will {value}.",
    "board.you": "You (B)",
    "board.you.long": "you, Agent B",
    "board.wrong.B": "guessed for B: wrong",
    "board.wrong.TREASURE": "guessed for TREASURE: wrong",
}

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


PEOPLE: Mapping[str, str] = {
    "role.guide": "You are the guide. You stay where you are and hold a locked box; in it is "
    "written on which square of the map a treasure lies. Your ally, the explorer, walks the map "
    "and knows the four-digit password of the box. {win} First get the password over the radio, "
    "then open the box, then let the explorer know where to go.",
    "role.explorer": "You are the explorer. You walk the map and know the four-digit password of "
    "a locked box. Your ally, the guide, has that box; in it is written on which square a "
    "treasure lies. {win} First tell the guide the password over the radio, then learn where to "
    "go, then walk there.",
    "role.eavesdropper": "You are the listener. A guide and an explorer talk over the radio, and "
    "you hear all that is said. The explorer walks the map in search of a treasure; only the guide "
    "can learn where it lies, from a locked box. You win if you guess the square where the "
    "explorer is, or the square of the treasure. You lose if the explorer gets to the treasure "
    "first.",
    "win.after_open": "You both win when the explorer stands on the treasure after the box was "
    "opened.",
    "win.published": "You both win when the explorer stands on the treasure.",
    "security": "Somebody else listens to every message.\n"
    "- The password is safe: it does no harm if the listener hears it.\n"
    "- Places are not: the listener guesses where the explorer or the treasure is. If a guess is "
    "right, you both lose.",
    "penalty": "After a wrong guess you have to leave out the next turn.",
    "context.team": "- The map has 4 rows and 4 columns. The game ends after {turns} turns.\n"
    "- In each turn you and your ally act at the same time, without seeing what the other does. "
    "Only speech is heard. If both of you speak in the same turn there is only noise, and nobody "
    "understands anything.\n- Both of you know the landmarks by name. The listener knows where "
    "there are landmarks, but not which is which.\n- Landmarks do not block the way.",
    "context.eavesdropper": "- The map has 4 rows and 4 columns. The game ends after {turns} "
    "turns.\n- In each turn the guide may speak, try to open the box or wait, and the explorer may "
    "speak, move one square or wait, both at the same time. If both speak there is only noise.\n"
    "- You know where there are landmarks, but not what they are called; the other two know their "
    "names.",
    "grid": "A square is named by its row and its column, so (2, 0) is row 2, column 0. Row 0 is "
    "at the north edge and row 3 at the south edge; column 0 is at the west edge and column 3 at "
    "the east edge.",
    "actions.guide": "In each turn you may say something, try a password on the box, or wait.",
    "actions.explorer": "In each turn you may say something, move one square north, south, west "
    "or east, or wait.",
    "radio.speech": 'Turn {turn}: {speaker} said: "{text}"',
    "radio.noise": "Turn {turn}: both spoke, and there was only noise.",
    "act.speak": 'say "{text}"',
    "act.open": "try the password {password}",
    "act.move": "Move {way}",
    "act.wait": "Wait",
    "kind.speak": "Speak",
    "kind.open": "Open the box",
    "kind.move": "Move",
    "kind.wait": "Wait",
    "way.north": "north",
    "way.south": "south",
    "way.west": "west",
    "way.east": "east",
    "who.A": "the guide",
    "who.B": "the explorer",
    "who.TREASURE": "the treasure",
    "own": " Your act: {act}.",
    "now": "This is turn {turn} of {turns}.",
    "now.locked": "The box is locked.",
    "now.opened": "The box is open. The treasure is at ({row}, {col}).",
    "now.blocked": "You leave out this turn.",
    "question.eavesdropper": "Where is the explorer, or the treasure? Guess one of them.",
    "aside.ally_action": "What will your ally do in this turn?",
    "told.truth": "You are told what your ally will do in this turn: {value}.",
    "told.own": "You expected that your ally would do this in this turn: {value}.",
    "board.you": "You",
    "board.you.long": "you, the explorer",
    "board.wrong.B": "you guessed that the explorer is here: wrong",
    "board.wrong.TREASURE": "you guessed that the treasure is here: wrong",
    "field.B": "the explorer",
    "field.TREASURE": "the treasure",
    "field.target": "whom or what",
    "field.col": "column",
    "field.text": "your message",
}
