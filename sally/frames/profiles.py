"""Sums of measured seats, from which profiles are computed: a view of the table `profile`.

Seats that differ only in seed and repeat share a `SeatKind`, which is decoded once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cached_property, lru_cache
from typing import Any

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from sally.core.log.events import Setup
from sally.frames import Row
from sally.frames.build import frame_of, without_zeros
from sally.frames.measured_seat import MeasuredSeat, SeatKind
from sally.frames.schema import COUNT, PROFILE, SUMS, TEXT, Column

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]
OF_EPISODE = (
    Column("instance", type=TEXT),
    Column("seed", type=pl.String()),
    Column("repeat", type=COUNT),
)
REMEMBERED = 1 << 14


class MetSetting(msgspec.Struct, frozen=True):
    """What one seat met: the setup with its seed, and the place in the study."""

    setup: Setup
    cell: str
    seat: str

    @property
    def game(self) -> str:
        return self.setup.instance.game


class SeatSums:
    """Measured seats, one in each row.

    Attributes:
        rows: The frame, with the columns of `sally.frames.schema.PROFILE`, the instance, seed and
            repeat; sums that are 0 in every row may be missing.
        shared: The kinds of seats.
        kind: The index into `shared`, by row.
    """

    def __init__(
        self, rows: pl.DataFrame, kind: Codes | None = None, shared: list[SeatKind] | None = None
    ) -> None:
        self.rows = rows
        if kind is None or shared is None:
            codes, texts = _encode_texts(rows["kind"])
            kind, shared = codes, [kind_of(text) for text in texts]
        self.kind, self.shared = kind, shared

    @classmethod
    def of_seats(cls, seats: Iterable[MeasuredSeat]) -> SeatSums:
        """Return the sums of seats that were measured in this process."""
        rows = [
            {
                **seat.row(),
                "instance": seat.setup.instance.id,
                "seed": str(seat.setup.seed),
                "repeat": seat.setup.repeat,
            }
            for seat in seats
        ]
        return cls(without_zeros(frame_of(rows, (*PROFILE, *OF_EPISODE))))

    @classmethod
    def concat(cls, tables: Iterable[SeatSums]) -> SeatSums:
        """Return the rows of several tables, one after another."""
        frames = [table.rows for table in tables]
        if not frames:
            return cls.of_seats(())
        rows = pl.concat(frames, how="diagonal")
        sums = [field for field in SUMS if field in rows.columns]
        return cls(rows.with_columns(pl.col(sums).fill_null(0.0)))

    def select_kinds(self, condition: Callable[[SeatKind], bool]) -> SeatSums:
        """Return the rows whose kinds meet a condition."""
        fitting = np.array([condition(kind) for kind in self.shared], dtype=np.bool_)
        return self.take(fitting[self.kind])

    def __len__(self) -> int:
        return self.rows.height

    def of(self, field: str) -> Floats:
        """Return one column of numbers; NaN where there is none."""
        if field not in self.rows.columns:
            assert field in SUMS  # a sum that is 0 in every row
            return np.zeros(len(self))
        column: Floats = self.rows[field].to_numpy()
        return column

    def kinds(self) -> list[int]:
        """Return the codes of the kinds of measured seats, in order of first appearance."""
        return self._ordered_kinds

    @cached_property
    def _ordered_kinds(self) -> list[int]:
        kinds, first = np.unique(self.kind, return_index=True)
        ordered: list[int] = kinds[np.argsort(first)].tolist()
        return ordered

    def kind_texts(self, kinds: Collection[int]) -> list[str]:
        """Return the texts of some kinds, given by their codes, in the column `kind`."""
        codes, first = np.unique(self.kind, return_index=True)
        texts: list[str] = self.rows["kind"][first[np.isin(codes, list(kinds))]].to_list()
        return texts

    def asked_kinds(self) -> set[int]:
        """Return the codes of the kinds of seats that were asked about others in a row."""
        return set(np.unique(self.kind[self.of("asked") > 0]).tolist())

    def take(self, rows: NDArray[Any]) -> SeatSums:
        """Return some rows, by number or by a boolean mask."""
        if rows.dtype == np.bool_:
            if rows.all():
                return self
            return SeatSums(self.rows.filter(rows), self.kind[rows], self.shared)
        return SeatSums(self.rows[rows], self.kind[rows], self.shared)

    @cached_property
    def settings(self) -> NDArray[np.bytes_]:
        """The hash of all that the player met, by row."""
        hashes, words = self.rows["setting"], np.empty((len(self), 3), dtype="<u4")
        for number in range(3):
            word = hashes.bin.slice(4 * number, 4).bin.reinterpret(dtype=pl.UInt32())
            words[:, number] = word.to_numpy()
        settings: NDArray[np.bytes_] = words.view("S12").ravel()
        return settings

    @cached_property
    def setting_codes(self) -> Codes:
        """The number of what the player met, by row, from 0."""
        codes: Codes = np.unique(self.settings, return_inverse=True)[1]
        return codes

    @property
    def is_censored(self) -> NDArray[np.bool_]:
        """Whether a row has no result."""
        return self.rows["censored"].ne("").to_numpy()

    @property
    def repeats(self) -> Codes:
        """The number of the repeat, by row."""
        return self.rows["repeat"].to_numpy()

    def encode_json(self, field: str) -> tuple[Codes, list[Any]]:
        """Return the code of each JSON text of a column, and the values of the codes; an empty text
        is an empty mapping."""
        codes, texts = _encode_texts(self.rows[field])
        return codes, [msgspec.json.decode(text) if text else {} for text in texts]

    def probe_counts(self) -> pl.DataFrame:
        """Return how many answers to each probe about a mind were right: for each row and probe
        `row`, `probe`, `right` and `answers`."""
        codes, counts = self.encode_json("probes")
        by_code = pl.DataFrame(
            [
                (code, probe, right, answers)
                for code, by_probe in enumerate(counts)
                for probe, (right, answers) in by_probe.items()
            ],
            {"code": pl.Int64, "probe": pl.String, "right": pl.Float64, "answers": pl.Int64},
            orient="row",
        )
        rows = pl.DataFrame({"row": np.arange(len(self)), "code": codes})
        return rows.join(by_code, on="code", maintain_order="left_right").drop("code")

    def setting(self, row: int) -> MetSetting:
        """Return what the seat of a row met."""
        kind = self.shared[self.kind[row]]
        seed, repeat = self.rows.select("seed", "repeat").row(row)
        setup = msgspec.structs.replace(kind.setup, seed=int(seed), repeat=repeat)
        return MetSetting(setup, kind.cell, kind.seat)

    def rows_with_kinds(self, *fields: str) -> Iterator[tuple[SeatKind, Row]]:
        """Yield each row, with these fields, and its kind."""
        rows = self.rows.select(fields).iter_rows(named=True)
        for code, row in zip(self.kind.tolist(), rows, strict=True):
            yield self.shared[code], row


def _encode_texts(series: pl.Series) -> tuple[Codes, list[str]]:
    """Return the code of each text, in order of first appearance, and the texts."""
    physical = series.to_physical().to_numpy()
    values, first, codes = np.unique(physical, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty(len(values), dtype=np.int64)
    place[order] = np.arange(len(values))
    return place[codes], [series[int(n)] for n in first[order]]


@lru_cache(maxsize=REMEMBERED)
def kind_of(text: str) -> SeatKind:
    """Return the kind of a row."""
    return msgspec.json.decode(text, type=SeatKind)
