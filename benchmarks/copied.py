"""A store of very many sound episodes with its index, in a fraction of the time of playing them.

A thousand episodes are played and noted as a run does it. Their moves are then written under the
ids, seeds and repeats of the others, with columns to match: all numbers of a piece of a thousand
lines are those of the played ones. Such lines replay, and to read them takes what it takes to read
played ones; the variety of their numbers is that of a thousand episodes. The last piece is measured
from its lines, and must come out as it was written.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from hashlib import blake2b
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from sally import store
from sally.analysis.columns import measured_table, seat_table
from sally.analysis.columns.measured import setting
from sally.analysis.columns.replayed_rows import replayed_columns
from sally.core.log.events import Episode, PlayerSpec, Setup, from_line, to_line
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.registry import registry
from sally.core.registry.fingerprint import fingerprint
from sally.core.registry.study import Study
from sally.core.rules.game import Seat
from sally.output.files.index_writer import IndexWriter
from sally.output.files.provenance import key_of, trial_key
from sally.output.page import lines as page
from sally.players.language import uses_model
from sally.runner.local import manifest, orders
from sally.runner.orders import Order
from sally.runner.seating import portable_study, seated
from sally.store import index
from sally.store import summary as surveying
from sally.store.lines import sealed

RANDOM = PlayerSpec("random")
FILE = 4  # pieces in a file, about as many as a run's shards of a million episodes have


def copy_out(study: Study, folder: Path, say: Callable[[str], None]) -> None:
    """Fill a folder with all that a study of one lineup wants."""
    wanted = orders(study, open_models=False)
    folder.mkdir(parents=True)
    store.claim(folder, manifest(study), portable_study(study))
    pattern = Pattern(wanted[: index.PIECE])
    file, held = count(), list[tuple[bytes, index.Columns]]()
    for start in range(0, len(wanted), index.PIECE):
        held.append(pattern.piece(wanted[start : start + index.PIECE]))
        if len(held) == FILE or start + index.PIECE >= len(wanted):
            name = f"{next(file):05d}-copied.jsonl"
            (folder / name).write_bytes(b"".join(lines for lines, _ in held))
            made = [(store.sum_of_lines(lines), columns) for lines, columns in held]
            store.fill(folder, name, fingerprint(), made)
            last, held = held[-1], []
            say(f"{start + index.PIECE:,} of {len(wanted):,}")
    pattern.check(*last)


def played(setup: Setup) -> Match[Any, Any, Any]:
    """One episode of bots; in the name of a model, one that moves at random does."""
    spec = registry.game(setup.instance.game)
    match = Match(spec, setup)
    dice = {seat: RANDOM if uses_model(who) else who for seat, who in setup.lineup.items()}
    Driver(match, {s: seated(spec, match.game, Seat(s), who) for s, who in dice.items()}).run()
    return match


class Pattern:
    """A thousand episodes as they were played and noted, to be written again as others."""

    def __init__(self, first: Sequence[Order]) -> None:
        noted, self._episodes = IndexWriter(), list[Episode]()
        for _, cell, setup in first:
            match = played(setup)
            episode, replay = match.episode(cell), match.replay
            line = to_line(episode)
            self._episodes.append(from_line(line))
            noted.add(sealed(line), self._episodes[-1], replay)
        if len(noted._made) != 1:
            sys.exit("What was played could not be noted as one piece.")
        self._columns, self._parts = noted._made[0][1], noted._begun

    def piece(self, orders: Sequence[Order]) -> tuple[bytes, index.Columns]:
        """The lines of other episodes with the same moves, and their columns."""
        if len(orders) != len(self._episodes):
            sys.exit(f"Ask for a multiple of {len(self._episodes)} episodes.")
        made = [
            msgspec.structs.replace(episode, id=id, setup=setup)
            for episode, (id, _, setup) in zip(self._episodes, orders, strict=True)
        ]
        plain = [to_line(episode) for episode in made]
        found = dict(self._columns)
        for name, change in CHANGES.items():
            found[name] = change(found[name], made, plain)
        return b"".join(map(sealed, plain)), found

    def check(self, lines: bytes, columns: index.Columns) -> None:
        """Refuse to go on if a piece is not what its lines say."""
        each = [("", n, line) for n, line in enumerate(lines.splitlines(keepends=True))]
        found = replayed_columns(each, self._parts())
        wrong = [name for name in columns if columns[name] != found[name]]
        if wrong:
            sys.exit(f"The columns {', '.join(wrong)} are not what the lines say.")


# --- what differs from piece to piece -------------------------------------------------------------


def _survey(column: bytes, made: Sequence[Episode], plain: Sequence[bytes]) -> bytes:
    return _with(surveying.SummaryRows, column, ids=[e.id for e in made])


def _seats(column: bytes, made: Sequence[Episode], plain: Sequence[bytes]) -> bytes:
    repeats = [e.setup.repeat for e in made]
    return _with(seat_table.Piece, column, ids=[e.id for e in made], repeat=repeats)


def _seeds(column: bytes, made: Sequence[Episode], plain: Sequence[bytes]) -> bytes:
    return msgspec.msgpack.encode([e.setup.seed for e in made])


def _measured(column: bytes, made: Sequence[Episode], plain: Sequence[bytes]) -> bytes:
    found = msgspec.msgpack.decode(column, type=measured_table.Piece)
    kinds = np.frombuffer(found.kind, dtype=np.int64)
    rows = [e for e, many in zip(made, found.rows, strict=True) for _ in range(many)]
    seats = [found.shared[kind].seat for kind in kinds.tolist()]
    settings = [setting(e.setup, seat) for e, seat in zip(rows, seats, strict=True)]
    return _with(
        measured_table.Piece,
        column,
        ids=[e.id for e in made],
        seed=[e.setup.seed for e in rows],
        repeat=[e.setup.repeat for e in rows],
        setting="".join(settings).encode(),
    )


def _page(column: bytes, made: Sequence[Episode], plain: Sequence[bytes]) -> bytes:
    known: dict[bytes, str] = {}
    keys = [key_of(trial_key(e.setup, known)) for e in made]
    return _with(
        page.Piece,
        column,
        ids=[e.id for e in made],
        size=[len(line) for line in plain],
        sums=b"".join(blake2b(line, digest_size=page.SUM_BYTES).digest() for line in plain),
        keys=np.array(keys, dtype=np.uint64).tobytes(),
    )


def _with(kind: type[msgspec.Struct], column: bytes, **changed: Any) -> bytes:
    found = msgspec.msgpack.decode(column, type=kind)
    return msgspec.msgpack.encode(msgspec.structs.replace(found, **changed))


CHANGES: dict[str, Callable[[bytes, Sequence[Episode], Sequence[bytes]], bytes]] = {
    surveying.COLUMN: _survey,
    seat_table.SEATS: _seats,
    seat_table.SEEDS: _seeds,
    measured_table.column(): _measured,
    page.COLUMN: _page,
}
