"""Accuracy of the announcement reader on labelled messages, which are stored as hashes.

    python -m benchmarks.step_game_reader LOGS

LOGS is a checkout of github.com/lechmazur/step_game or its folder of logs.

A label is the move that a message announces for its speaker in the turn, or 0 if it announces none.
Each message was labelled twice, in two different orders, by a first labeller (a language model that
wrote the reader's rules between the passes), and once by a second who saw neither those labels nor
the reader's results (a language model as well). No message text is stored.
"""

from __future__ import annotations

import sys
from hashlib import sha256
from pathlib import Path

import msgspec

from sally.core.errors import BadInput
from sally.games.step_race.talk import announcement
from sally.papers.step_game.importer import files_under, read_game
from sally.stats.agreement import cohens_kappa
from sally.stats.intervals import share_interval

LABELS = Path(__file__).parent / "labels/step_game.json"


class Labelled(msgspec.Struct, frozen=True, array_like=True):
    """One labelled message."""

    hash: str  # of game/turn/sub-round/speaker and the message
    first: int  # first labeller, first pass
    second: int  # first labeller, second pass
    other: int  # second labeller


class ReaderResults(msgspec.Struct, frozen=True):
    """The reader's results on the labelled messages that were found."""

    labelled: int
    found: int
    agreed: int  # of those found, the two passes gave the same label
    right: int  # of those agreed on, read as labelled
    precision: str
    recall: str
    same_by_other: int  # of those found, the second labeller agrees with the first pass
    kappa: float | None  # of the two labellers
    precision_by_other: str  # the reader by the second labeller's labels alone
    recall_by_other: str


def hash_of(game: str, turn: int, sub_round: int, speaker: int, message: str) -> str:
    """Return the hash under which a message is labelled; speakers are counted from 1."""
    key = f"{game}/{turn}/{sub_round}/{speaker}\n{message}"
    return sha256(key.encode("utf-8")).hexdigest()[:24]


def read_labels() -> dict[str, Labelled]:
    """Return the labels by hash."""
    labels = msgspec.json.decode(LABELS.read_bytes(), type=list[Labelled])
    return {label.hash: label for label in labels}


def measure_reader(path: Path) -> ReaderResults:
    """Return the reader's accuracy on the labelled messages under a path."""
    labels = read_labels()
    read: list[tuple[Labelled, int]] = []
    for file in files_under(path):
        game = read_game(file)
        for turn in game.turns:
            for n, round_messages in enumerate(turn.talk, 1):
                for seat, message in zip(turn.order, round_messages, strict=True):
                    label = labels.get(hash_of(game.id, turn.number, n, seat + 1, message))
                    if label is not None:
                        read.append((label, announcement(message, seat, turn.number) or 0))
    if not read:
        raise BadInput(f"None of the {len(labels)} labelled messages was found under {path}.")
    agreed = [(label.first, read_move) for label, read_move in read if label.first == label.second]
    right = sum(want == read_move for want, read_move in agreed)
    first, second_labels = [label.first for label, _ in read], [label.other for label, _ in read]
    return ReaderResults(
        len(labels),
        len(read),
        len(agreed),
        right,
        *_scores(agreed),
        sum(a == b for a, b in zip(first, second_labels, strict=True)),
        cohens_kappa(first, second_labels),
        *_scores([(label.other, read_move) for label, read_move in read]),
    )


def _scores(rows: list[tuple[int, int]]) -> tuple[str, str]:
    """Return precision and recall from pairs (labelled, read); a pair of equal numbers is right."""
    announces = [(want, read_move) for want, read_move in rows if read_move]
    hits = sum(want == read_move for want, read_move in announces)
    return _share(hits, len(announces)), _share(hits, sum(want > 0 for want, _ in rows))


def _share(hits: int, n: int) -> str:
    if not n:
        return "not defined"
    estimate = share_interval(hits, n)
    return f"{hits} of {n} ({estimate.value:.3f} [{estimate.low:.3f}, {estimate.high:.3f}])"


if __name__ == "__main__":
    print(msgspec.json.format(msgspec.json.encode(measure_reader(Path(sys.argv[1]))).decode()))
