"""A store of very many sound episodes with its tables, in a fraction of the time of playing them.

A thousand episodes are played and measured as a run does it. Their moves are then written under
the ids, seeds and repeats of the others, with tables to match: all numbers of a thousand lines are
those of the played ones. Such lines replay, and to read them takes what it takes to read played
ones; the variety of their numbers is that of a thousand episodes. The tables of the last file are
built from its lines, and must equal those that were written.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path

import msgspec
import polars as pl

from sally import store
from sally.core.log.events import Episode, PlayerSpec, Setup, from_line, to_line
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.registry import registry
from sally.core.registry.study import Study
from sally.core.rules.game import Seat
from sally.frames import cache
from sally.frames.build import EPISODES, METRICS, PROFILES, SEATS, Builder, build, without_zeros
from sally.frames.measured_seat import setting
from sally.frames.replays import replay_for_measures as replay_episode
from sally.frames.rows import DIGEST_BYTES, trial_key
from sally.frames.writer import metrics_of
from sally.players.language import uses_model
from sally.runner.local import manifest, orders
from sally.runner.orders import Order
from sally.runner.seating import portable_study, seat_player
from sally.store.lines import append_checksum

RANDOM = PlayerSpec("random")
PIECE = 1000  # episodes that are played
FILE = 4  # pieces in a file, about as many as a run's shards of a million episodes have
Tables = dict[str, pl.DataFrame]


def copy_out(study: Study, folder: Path, say: Callable[[str], None]) -> None:
    """Fill a folder with all that a study of one lineup wants."""
    planned = orders(study, open_models=False)
    folder.mkdir(parents=True)
    store.claim(folder, manifest(study), portable_study(study))
    packs = store.place(folder).names("packs")
    pattern = Pattern(planned[:PIECE])
    for number, part in enumerate(_parts(planned, FILE * PIECE)):
        lines, tables = pattern.file(part)
        (folder / f"{number:05d}-copied.jsonl").write_bytes(b"".join(lines))
        cache.write(cache.digest_of(lines, packs), tables)
        say(f"{(number + 1) * FILE * PIECE:,} of {len(planned):,}")
    pattern.check(lines, tables)


def _parts(orders: Sequence[Order], size: int) -> Iterator[Sequence[Order]]:
    for start in range(0, len(orders), size):
        yield orders[start : start + size]


def play(setup: Setup, cell: str) -> Episode:
    """Play one episode of bots; a player that moves at random takes the place of a model."""
    spec = registry.game(setup.instance.game)
    match = Match(spec, setup)
    dice = {seat: RANDOM if uses_model(player) else player for seat, player in setup.lineup.items()}
    Driver(
        match, {s: seat_player(spec, match.game, Seat(s), player) for s, player in dice.items()}
    ).run()
    return from_line(to_line(match.episode(cell)))


class Pattern:
    """A thousand episodes as they were played and measured, to be written again as others."""

    def __init__(self, first: Sequence[Order]) -> None:
        self._episodes = [play(setup, cell) for _, cell, setup in first]
        self._metrics = tuple(metrics_of(self._episodes[0]))
        builder = Builder((EPISODES, SEATS, METRICS, PROFILES), self._metrics)
        for number, episode in enumerate(self._episodes):
            builder.add(episode, replay_episode(episode), line=number, start=0, size=0)
        self._tables = builder.tables()

    def file(self, orders: Sequence[Order]) -> tuple[list[bytes], Tables]:
        """Return the lines of other episodes with the same moves, and their tables."""
        if len(orders) % len(self._episodes):
            sys.exit(f"Ask for a multiple of {len(self._episodes)} episodes.")
        times = len(orders) // len(self._episodes)
        episodes = [
            msgspec.structs.replace(episode, id=id, setup=setup)
            for episode, (id, _, setup) in zip(self._episodes * times, orders, strict=True)
        ]
        lines = [append_checksum(to_line(episode)) for episode in episodes]
        tables = {name: pl.concat([table] * times) for name, table in self._tables.items()}
        sizes = pl.Series("size", [len(line) for line in lines], dtype=pl.Int64)
        tables[EPISODES] = tables[EPISODES].with_columns(
            pl.Series("episode", [episode.id for episode in episodes]),
            pl.Series("seed", [str(episode.setup.seed) for episode in episodes]),
            pl.Series("repeat", [episode.setup.repeat for episode in episodes], dtype=pl.Int64),
            pl.Series("line", range(1, len(lines) + 1), dtype=pl.Int64),
            (sizes.cum_sum() - sizes).alias("start"),
            sizes,
            pl.Series("digest", map(_digest, episodes), dtype=pl.Binary),
            pl.Series("trial", [trial_key(e.setup) for e in episodes], dtype=pl.UInt64),
        )
        for name in (SEATS, PROFILES):
            tables[name] = self._of_seats(tables[name], episodes, times)
        return lines, tables

    def _of_seats(
        self, table: pl.DataFrame, episodes: Sequence[Episode], times: int
    ) -> pl.DataFrame:
        """Return a table of seats with the row numbers and settings of these episodes."""
        height = table.height // times
        piece = pl.Series([n // height for n in range(table.height)], dtype=pl.UInt32)
        table = table.with_columns(pl.col("row") + piece * len(self._episodes))
        seats = table["seat"] if "seat" in table.columns else self._profiled_seats(table)
        rows = zip(table["row"].to_list(), seats.to_list(), strict=True)
        settings = [bytes.fromhex(setting(episodes[row].setup, seat)) for row, seat in rows]
        return table.with_columns(pl.Series("setting", settings, dtype=pl.Binary))

    def _profiled_seats(self, table: pl.DataFrame) -> pl.Series:
        return table["kind"].cast(pl.String).str.json_path_match("$.seat")

    def check(self, lines: Sequence[bytes], tables: Tables) -> None:
        """Refuse to go on if the tables are not what the lines say."""
        rebuilt = build(enumerate(lines, 1), tuple(tables), self._metrics)
        pairs = ((name, without_zeros(table), rebuilt[name]) for name, table in tables.items())
        wrong = [
            name
            for name, table, rebuilt_table in pairs
            if not table.equals(without_zeros(rebuilt_table))
        ]
        if wrong:
            sys.exit(f"The tables {', '.join(wrong)} are not what the lines say.")


def _digest(episode: Episode) -> bytes:
    return blake2b(to_line(episode), digest_size=DIGEST_BYTES).digest()
