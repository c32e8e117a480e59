"""Precision and recall of the message reader on messages labelled twice.

`labels.json` holds hashes of messages' places (game, round, seat) and the result of two passes of
labelling; no message is kept. Labelling guide:

- `announced`: the number that the speaker says it will itself quote in this round, without a
  condition; a statement for several rounds counts if this one is among them. No number for a bound,
  a range, a proposal to both sides, a question, a demand on the other, or a conditional offer.
- `claimed`: the number that the speaker states as its own value or cost, exactly; no number for
  "around", "high", a bound, or a price that merely equals it.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from typing import Any

import msgspec

from sally.core.rules.game import Seat
from sally.games.bargaining.talk import read_message
from sally.papers.pact.reading import SEAT_OF, Record

PLAYER_ID = {seat: name for name, seat in SEAT_OF.items()}


class Label(msgspec.Struct, frozen=True, array_like=True):
    """The labels of two passes for one message."""

    place: str
    announced: tuple[int | None, int | None]
    claimed: tuple[int | None, int | None]


def place_of(game: str, round: int, seat: Seat) -> str:
    """Return the hash of a message's place; round from 1."""
    return sha256(f"{game}/{round}/{PLAYER_ID[seat]}".encode()).hexdigest()[:16]


def measure_reader(records: Iterable[Record], labels: bytes) -> dict[str, Any]:
    """Compare the reader with both passes, and the passes with each other."""
    wanted = {label.place: label for label in msgspec.json.decode(labels, type=list[Label])}
    pairs: dict[str, list[tuple[int | None, int | None, int | None]]] = {
        "announced": [],
        "claimed": [],
    }
    for record in records:
        for number, each in enumerate(record.rounds, 1):
            for seat, text in each.said:
                label = wanted.get(place_of(record.id, number, seat))
                if label is not None:
                    note = read_message(text, seat)
                    pairs["announced"].append((note.announced, *label.announced))
                    pairs["claimed"].append((note.claimed, *label.claimed))
    found: dict[str, Any] = {"labelled": len(wanted), "found": len(pairs["announced"])}
    for kind, rows in pairs.items():
        found[f"{kind}: both passes agree"] = sum(a == b for _, a, b in rows)
        for number in (1, 2):
            read = [(row[0], row[number]) for row in rows]
            found[f"{kind}: pass {number}"] = scores(read)
    return found


def scores(rows: Iterable[tuple[int | None, int | None]]) -> dict[str, Any]:
    """Return precision and recall of (read, labelled); equal numbers count as right."""
    rows = list(rows)
    read = [row for row in rows if row[0] is not None]
    there = [row for row in rows if row[1] is not None]
    right = sum(a == b for a, b in read)
    return {
        "read": len(read),
        "there": len(there),
        "right": right,
        "precision": round(right / len(read), 3) if read else None,
        "recall": round(right / len(there), 3) if there else None,
    }
