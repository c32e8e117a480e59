"""Speak or wait as people read it: no capitals, and a role where a model's page has a letter."""

from __future__ import annotations

from collections.abc import Mapping

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
