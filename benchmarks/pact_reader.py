"""Precision and recall of the reader of bargaining messages, on messages labelled by two labellers.

    python -m benchmarks.pact_reader LOGS

LOGS is a checkout of github.com/lechmazur/pact or its folder of logs. `labels/pact.json` holds
hashes of messages' places (game, round, seat) and the labels: two passes of a first labeller, and
one pass of a second who saw neither those labels nor the reader's results. Both are language models
and followed the same guide. No message text is stored. Labelling guide:

- `announced`: the number that the speaker says it will itself quote in this round, without a
  condition; a statement for several rounds counts if this one is among them. No number for a bound,
  a range, a proposal to both sides, a question, a demand on the other, or a conditional offer.
- `claimed`: the number that the speaker states as its own value or cost, exactly; no number for
  "around", "high", a bound, or a price that merely equals it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from hashlib import sha256
from itertools import combinations
from pathlib import Path
from typing import Any

import msgspec

from sally.core.rules.game import Seat
from sally.games.bargaining.talk import read_message
from sally.papers.pact.reader import SEAT_OF, Record, files_under, read_record
from sally.stats.agreement import cohens_kappa

LABELS = Path(__file__).parent / "labels/pact.json"
PLAYER_ID = {seat: name for name, seat in SEAT_OF.items()}


Labels = tuple[int | None, int | None, int | None]  # in the order of PASSES
PASSES = ("first labeller, pass 1", "first labeller, pass 2", "second labeller")


class Label(msgspec.Struct, frozen=True, array_like=True):
    """The labels of one message."""

    place: str
    announced: Labels
    claimed: Labels


def place_of(game: str, round: int, seat: Seat) -> str:
    """Return a hash that identifies a message by its game, round (counted from 1) and sender."""
    return sha256(f"{game}/{round}/{PLAYER_ID[seat]}".encode()).hexdigest()[:16]


def measure_reader(records: Iterable[Record], labels: bytes) -> dict[str, Any]:
    """Return the agreement of the reader with every labelling pass, and of the passes with one
    another."""
    labels_by_place = {
        label.place: label for label in msgspec.json.decode(labels, type=list[Label])
    }
    read: dict[str, list[int | None]] = {"announced": [], "claimed": []}
    labelled_rows: dict[str, list[Labels]] = {"announced": [], "claimed": []}
    for record in records:
        for number, recorded in enumerate(record.rounds, 1):
            for seat, text in recorded.messages:
                label = labels_by_place.get(place_of(record.id, number, seat))
                if label is not None:
                    note = read_message(text, seat)
                    for kind in read:
                        read[kind].append(getattr(note, kind))
                        labelled_rows[kind].append(getattr(label, kind))
    results: dict[str, Any] = {"labelled": len(labels_by_place), "found": len(read["announced"])}
    for kind, rows in labelled_rows.items():
        columns = [[row[n] for row in rows] for n in range(len(PASSES))]
        for first, two in combinations(range(len(PASSES)), 2):
            results[f"{kind}: {PASSES[first]} and {PASSES[two]}"] = {
                "agree": sum(a == b for a, b in zip(columns[first], columns[two], strict=True)),
                "kappa": cohens_kappa(columns[first], columns[two]),
            }
        for name, column in zip(PASSES, columns, strict=True):
            results[f"{kind}: reader against {name}"] = scores(zip(read[kind], column, strict=True))
    return results


def scores(rows: Iterable[tuple[int | None, int | None]]) -> dict[str, Any]:
    """Return precision and recall from pairs (read, labelled); a pair of equal numbers is right."""
    rows = list(rows)
    read = [row for row in rows if row[0] is not None]
    labelled_rows = [row for row in rows if row[1] is not None]
    right = sum(a == b for a, b in read)
    return {
        "read": len(read),
        "there": len(labelled_rows),
        "right": right,
        "precision": round(right / len(read), 3) if read else None,
        "recall": round(right / len(labelled_rows), 3) if labelled_rows else None,
    }


if __name__ == "__main__":
    logs = map(read_record, files_under(Path(sys.argv[1])))
    print(json.dumps(measure_reader(logs, LABELS.read_bytes()), indent=1))
