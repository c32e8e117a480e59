"""The perfect game: a won conversation, shown to the persuader before its own (moore2025)."""

from collections.abc import Iterator
from typing import Literal

import msgspec

from sally.games.mindgames.claims import Asked, Claims, Disclosure, Names, claims, disclosed_cells
from sally.games.mindgames.puzzles import Puzzle
from sally.games.mindgames.replies import Answer, answer
from sally.games.mindgames.target import Memory, first_mind, told

Key = Literal["ask_information", "ask_motivation", "ask_preference", "disclose", "filler"]
SCRIPT: tuple[Key, ...] = (
    "ask_information",
    "ask_motivation",
    "ask_preference",
    "disclose",
    "ask_preference",
    "filler",
    "filler",
    "filler",
)


class Line(msgspec.Struct, frozen=True):
    """One message of the script, and the target's answer."""

    key: Key
    told: tuple[Disclosure, ...]
    answer: Answer


def scripted(key: Key, puzzle: Puzzle, names: Names) -> Claims:
    """What a message of the script means."""
    if key == "ask_information":
        every = [Asked(p, a) for p in names.proposals for a in names.attributes]
        return claims(informational=every)
    if key == "ask_motivation":
        return claims(motivational=names.attributes)
    if key == "ask_preference":
        return claims(inferential=names.proposals)
    if key == "disclose":
        cells = [(names.proposals[p], names.attributes[a], (p, a)) for p, a in puzzle.winning]
        return claims(Disclosure(p, a, puzzle.utility(cell)) for p, a, cell in cells)
    return Claims()


def perfect_talk(puzzle: Puzzle, names: Names, memory: Memory) -> Iterator[Line]:
    """The script played out with the exact target."""
    mind = first_mind(puzzle)
    for key in SCRIPT:
        found = scripted(key, puzzle, names)
        mind = told(puzzle, mind, disclosed_cells(found, names), memory)
        yield Line(key, found.disclosures, answer(puzzle, mind, found, names))
