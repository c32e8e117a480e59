"""Messages labelled by hand, kept as hashes, and the reader's accuracy on them.

A label is the move that a message announces for its own speaker in the turn, or 0 for none. Each
message was labelled twice, in two different orders, by one labeller (a language model that wrote
the reader's rules between the passes); there is no second labeller. No message is kept.
"""

from __future__ import annotations

from hashlib import sha256
from importlib import resources
from pathlib import Path

import msgspec

from sally.core.errors import BadInput
from sally.games.step_race.talk import announcement
from sally.papers.step_game.importer import files_under, read_game
from sally.stats.intervals import share_interval


class Labelled(msgspec.Struct, frozen=True, array_like=True):
    """One labelled message."""

    hash: str  # of game/turn/sub-round/speaker and the message
    first: int  # label of the first pass
    second: int  # label of the second pass


class Measured(msgspec.Struct, frozen=True):
    """The reader's results on the labelled messages that were found."""

    labelled: int
    found: int
    agreed: int  # of those found, the two passes gave the same label
    right: int  # of those agreed on, read as labelled
    precision: str
    recall: str


def hash_of(game: str, turn: int, sub_round: int, speaker: int, message: str) -> str:
    """Return the hash under which a message is labelled; speakers are counted from 1."""
    key = f"{game}/{turn}/{sub_round}/{speaker}\n{message}"
    return sha256(key.encode("utf-8")).hexdigest()[:24]


def known() -> dict[str, Labelled]:
    """Return the labels by hash."""
    file = resources.files(__package__) / "labels.json"
    found = msgspec.json.decode(file.read_bytes(), type=list[Labelled])
    return {each.hash: each for each in found}


def measured(path: Path) -> Measured:
    """Run the reader over the labelled messages under a path."""
    labels = known()
    read: list[tuple[Labelled, int]] = []
    for file in files_under(path):
        game = read_game(file)
        for turn in game.turns:
            for n, said in enumerate(turn.talk, 1):
                for seat, message in zip(turn.order, said, strict=True):
                    label = labels.get(hash_of(game.id, turn.number, n, seat + 1, message))
                    if label is not None:
                        read.append((label, announcement(message, seat, turn.number) or 0))
    if not read:
        raise BadInput(f"None of the {len(labels)} labelled messages is under {path}.")
    agreed = [(each.first, got) for each, got in read if each.first == each.second]
    right = sum(want == got for want, got in agreed)
    announces = [(want, got) for want, got in agreed if got]
    there = sum(want > 0 for want, _ in agreed)
    hits = sum(want == got for want, got in announces)
    return Measured(
        len(labels),
        len(read),
        len(agreed),
        right,
        _share(hits, len(announces)),
        _share(hits, there),
    )


def _share(hits: int, n: int) -> str:
    if not n:
        return "not defined"
    found = share_interval(hits, n)
    return f"{hits} of {n} ({found.value:.3f} [{found.low:.3f}, {found.high:.3f}])"
