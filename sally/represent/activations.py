"""Activations of stored prompts in files beside a store: 16-bit floats, in resumable parts.

A part is an array of prompts x layers x width with a list of the prompts' hashes. A part without
its list is incomplete and is computed again.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sally.core.errors import BadInput
from sally.models.in_process import batches
from sally.represent.prompts import Decision

PART = 64  # prompts in one file; an interrupted command loses at most these
ABOUT = "model.json"


class Reader(Protocol):
    """A network whose residual stream can be read."""

    name: str
    dtype: str
    layers: int
    width: int

    @property
    def sha256(self) -> str: ...

    @property
    def budget(self) -> int: ...

    def tokens(self, prompt: Any, candidates: Sequence[str] = ()) -> NDArray[np.int64]: ...

    def read(self, prompts: Sequence[NDArray[np.int64]]) -> NDArray[np.float16]: ...


def activations(
    decisions: Sequence[Decision],
    reader: Reader,
    folder: Path,
    tell: Callable[[int, int], None] = lambda done, of: None,
) -> NDArray[np.float16]:
    """Return the residual stream at each decision: decisions x layers x width.

    Prompts that the folder already holds are not read again; equal prompts are read once.

    Raises:
        BadInput: The folder holds activations of another network.
    """
    _claim(folder, reader)
    stored_rows = _index_stored(folder)
    missing = {
        decision.hash: decision for decision in decisions if decision.hash not in stored_rows
    }
    done, n_missing = 0, len(missing)
    tell(done, n_missing)
    ordered = sorted(
        (
            (reader.tokens(decision.prompt, decision.candidates), key)
            for key, decision in missing.items()
        ),
        key=lambda pair: len(pair[0]),
    )
    number = 1 + max((int(path.stem) for path in folder.glob("*.npy")), default=-1)
    for start in range(0, len(ordered), PART):
        part = ordered[start : start + PART]
        arrays = []
        for batch in batches([tokens for tokens, _ in part], len, reader.budget):
            arrays.append(reader.read(batch))
            done += len(batch)
            tell(done, n_missing)
        keys = [key for _, key in part]
        _write_part(folder, number, np.concatenate(arrays), keys)
        stored_rows |= {key: (number, row) for row, key in enumerate(keys)}
        number += 1
    return _gather_rows(folder, [stored_rows[decision.hash] for decision in decisions], reader)


def folder_of(out: Path, reader: Reader) -> Path:
    """Return the folder of a network's activations."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", Path(reader.name).name)
    return out / "activations" / f"{plain}-{reader.dtype}"


def _claim(folder: Path, reader: Reader) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    own_entry = {
        "name": reader.name,
        "sha256": reader.sha256,
        "dtype": reader.dtype,
        "layers": reader.layers,
        "width": reader.width,
    }
    path = folder / ABOUT
    if not path.exists():
        path.write_text(json.dumps(own_entry) + "\n")
    stored_entry = json.loads(path.read_text())
    if stored_entry != own_entry:
        raise BadInput(
            f"{folder} holds activations of another network ({stored_entry['name']}, "
            f"{stored_entry['sha256'][:12]}); give another folder."
        )


def _index_stored(folder: Path) -> dict[str, tuple[int, int]]:
    """Return, for each prompt hash, the number of the part and the row in it that hold its
    activations."""
    rows_by_hash = {}
    for path in sorted(folder.glob("*.json")):
        if path.name != ABOUT:
            for row, key in enumerate(json.loads(path.read_text())):
                rows_by_hash[key] = (int(path.stem), row)
    return rows_by_hash


def _write_part(folder: Path, number: int, array: NDArray[np.float16], keys: list[str]) -> None:
    path = folder / f"{number:05}.npy"
    aside = path.with_suffix(".part")
    with aside.open("wb") as file:  # written directly, so that no second copy is in memory
        np.save(file, array.astype(np.float16, copy=False))
        file.flush()
        os.fsync(file.fileno())
    aside.rename(path)
    path.with_suffix(".json").write_text(json.dumps(keys))


def _gather_rows(
    folder: Path, places: Sequence[tuple[int, int]], reader: Reader
) -> NDArray[np.float16]:
    streams = np.empty((len(places), reader.layers, reader.width), np.float16)
    parts = {number for number, _ in places}
    for number in sorted(parts):
        array = np.load(folder / f"{number:05}.npy", mmap_mode="r")
        for index, (part, row) in enumerate(places):
            if part == number:
                streams[index] = array[row]
    return streams
