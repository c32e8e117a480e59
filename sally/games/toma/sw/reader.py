"""The claims of a message on the radio, read by fixed rules."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sally.games.toma.sw.rules import SIDE, STEPS, CellClaim, LandmarkClaim, Reading

NUMBERS = {"a": 1, "one": 1, "two": 2, "three": 3}
NUMBER = r"(?:[0-3]|one|two|three|a)"
DENIES = re.compile(r"\b(?:not|never|no longer|isn't|don't|neither|nor)\b", re.IGNORECASE)
CELL = re.compile(
    r"[\[(]\s*([0-3])\s*[,;]\s*([0-3])\s*[\])]"
    r"|\brow\s+([0-3])\W+(?:and\s+)?col(?:umn)?\s+([0-3])\b"
    r"|\bat\s+([0-3])\s*,\s*([0-3])\b",
    re.IGNORECASE,
)
PASSWORD = re.compile(r"(?<!\d)\d{4}(?!\d)")
UNIT = r"(?:(?:cells?|steps?|squares?|rows?|columns?)\s+)?(?:to the\s+)?"
ONE_OFFSET = rf"(?:({NUMBER})\s+)?{UNIT}(north|south|west|east)"
OF_B = re.compile(r"\b(?:i am|i'm|my (?:cell|position|location)|agent b is|you are)\b", re.I)
OF_TREASURE = re.compile(r"\btreasure\b", re.I)


def read_claims(text: str, speaker: str, landmarks: Sequence[str]) -> Reading:
    """Return the cells, landmarks, directions and passwords that a message claims.

    A negated sentence claims nothing. A sentence that names neither the treasure nor B is taken to
    be about the treasure if A speaks, and about B if B speaks.
    """
    cells: list[CellClaim] = []
    landmark_claims: list[LandmarkClaim] = []
    ways: list[str] = []
    for sentence in re.split(r"(?<=[.!?])\s+", text):
        if DENIES.search(sentence):
            continue
        about = _about(sentence, speaker)
        cells += [CellClaim(about, *cell) for cell in _cells(sentence)]
        named_landmarks, remaining_text = _landmarks_in(sentence, landmarks)
        landmark_claims += [LandmarkClaim(about, name, *offset) for name, offset in named_landmarks]
        ways += [
            direction.upper()
            for direction in re.findall(r"(?i)\b(north|south|west|east)\b", remaining_text)
        ]
    passwords = [] if DENIES.search(text) else PASSWORD.findall(text)
    return Reading(
        tuple(cells[:8]),
        tuple(landmark_claims[:8]),
        tuple(ways[:8]),
        tuple(dict.fromkeys(passwords))[:8],
    )


def _about(sentence: str, speaker: str) -> str:
    if OF_TREASURE.search(sentence):
        return "TREASURE"
    if OF_B.search(sentence) or speaker == "B":
        return "B"
    return "TREASURE"


def _cells(sentence: str) -> Iterator[tuple[int, int]]:
    for cell_match in CELL.finditer(sentence):
        row, col = (int(part) for part in cell_match.groups() if part is not None)
        yield row, col


def _landmarks_in(
    sentence: str, landmarks: Sequence[str]
) -> tuple[list[tuple[str, tuple[int, int]]], str]:
    """Return the landmarks in a sentence with their offsets, and the rest of the sentence."""
    named_landmarks = []
    for name in landmarks:
        offset = rf"({ONE_OFFSET})(?:\s*(?:,|and|then)\s*({ONE_OFFSET}))?"
        pattern = rf"(?i)(?:{offset}\s+(?:of|from)\s+)?(?:the\s+)?(?<!\w){re.escape(name)}(?!\w)"
        match = re.search(pattern, sentence)
        if match is None:
            continue
        steps = [part for part in (match[1], match[4]) if part]
        rows, cols = (sum(axis) for axis in zip((0, 0), *map(_step, steps), strict=True))
        if abs(rows) < SIDE and abs(cols) < SIDE:
            named_landmarks.append((name, (rows, cols)))
        sentence = sentence[: match.start()] + sentence[match.end() :]
    return named_landmarks, sentence


def _step(offset: str) -> tuple[int, int]:
    """Return an offset such as `2 north` or `east` as (rows, columns)."""
    match = re.fullmatch(rf"(?i){ONE_OFFSET}", offset)
    assert match is not None  # found by the same pattern
    count = (match[1] or "one").casefold()
    times = NUMBERS[count] if count in NUMBERS else int(count)
    rows, cols = STEPS[match[2].upper()]
    return rows * times, cols * times


def said_at(landmark: str, rows: int, cols: int) -> str:
    """Return an offset from a landmark as text that the reader understands."""
    steps = []
    if rows:
        steps.append(f"{abs(rows)} {'south' if rows > 0 else 'north'}")
    if cols:
        steps.append(f"{abs(cols)} {'east' if cols > 0 else 'west'}")
    return f"{' and '.join(steps)} of {landmark}" if steps else f"at {landmark}"
