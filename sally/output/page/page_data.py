"""The store behind a page: its frame, studies and provenance."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from hashlib import sha256

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from sally import store
from sally.core.log.events import Episode
from sally.core.registry.study import Study
from sally.frames.frame import Frame, as_frame
from sally.frames.rows import setup_of
from sally.output.files.provenance import Provenance, provenance_of
from sally.store import Where


class PageData:
    """The data of a page: every episode of a store once, as tables."""

    def __init__(self, source: Where | Frame) -> None:
        self.frame = as_frame(source)
        (self.where,) = self.frame.stores
        self.manifest: store.Manifest | None = store.manifest_of(self.where)
        self.studies: dict[str, Study] = store.studies(self.where)
        self.people: store.PeoplePlan | None = store.people_plan(self.where)

    @cached_property
    def provenance(self) -> Provenance:
        """The provenance of the episodes."""
        return provenance_of(self.frame)

    @cached_property
    def seats(self) -> Frame:
        """The frame of the episodes that can be measured here."""
        return self.frame.playable()

    def __len__(self) -> int:
        return len(self.frame)

    def __iter__(self) -> Iterator[Episode]:
        return iter(self.frame)

    def lineups(self) -> NDArray[np.int64]:
        """Return a code of the cell and lineup of each episode."""
        kinds = self.frame.episodes.select("cell", "setup").unique(maintain_order=True)
        codes_by_lineup: dict[bytes, int] = {}
        codes = [
            codes_by_lineup.setdefault(
                msgspec.msgpack.encode((cell, setup_of(text).lineup)), len(codes_by_lineup)
            )
            for cell, text in kinds.rows()
        ]
        coded = kinds.with_columns(pl.Series("code", codes, dtype=pl.Int64))
        episodes = self.frame.episodes.select("cell", "setup")
        return episodes.join(coded, on=["cell", "setup"], maintain_order="left")["code"].to_numpy()

    def digest(self) -> str:
        """Return the SHA-256 of the hashes of all episodes, sorted by id."""
        ids = self.frame.episodes["episode"]
        return sha256(b"".join(self.frame.column("digest").gather(ids.arg_sort()))).hexdigest()
