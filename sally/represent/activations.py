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
    found: Sequence[Decision],
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
    known = _known(folder)
    missing = {one.hash: one for one in found if one.hash not in known}
    done, whole = 0, len(missing)
    tell(done, whole)
    ordered = sorted(
        ((reader.tokens(one.prompt, one.candidates), key) for key, one in missing.items()),
        key=lambda pair: len(pair[0]),
    )
    number = 1 + max((int(path.stem) for path in folder.glob("*.npy")), default=-1)
    for start in range(0, len(ordered), PART):
        part = ordered[start : start + PART]
        arrays = []
        for batch in batches([tokens for tokens, _ in part], len, reader.budget):
            arrays.append(reader.read(batch))
            done += len(batch)
            tell(done, whole)
        keys = [key for _, key in part]
        _put(folder, number, np.concatenate(arrays), keys)
        known |= {key: (number, row) for row, key in enumerate(keys)}
        number += 1
    return _gathered(folder, [known[one.hash] for one in found], reader)


def folder_of(out: Path, reader: Reader) -> Path:
    """Return the folder of a network's activations."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", Path(reader.name).name)
    return out / "activations" / f"{plain}-{reader.dtype}"


def _claim(folder: Path, reader: Reader) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    mine = {
        "name": reader.name,
        "sha256": reader.sha256,
        "dtype": reader.dtype,
        "layers": reader.layers,
        "width": reader.width,
    }
    path = folder / ABOUT
    if not path.exists():
        path.write_text(json.dumps(mine) + "\n")
    theirs = json.loads(path.read_text())
    if theirs != mine:
        raise BadInput(
            f"{folder} holds activations of another network ({theirs['name']}, "
            f"{theirs['sha256'][:12]}); give another folder."
        )


def _known(folder: Path) -> dict[str, tuple[int, int]]:
    """Return, for each prompt hash, the number of the part and the row in it that hold its
    activations."""
    found = {}
    for path in sorted(folder.glob("*.json")):
        if path.name != ABOUT:
            for row, key in enumerate(json.loads(path.read_text())):
                found[key] = (int(path.stem), row)
    return found


def _put(folder: Path, number: int, array: NDArray[np.float16], keys: list[str]) -> None:
    path = folder / f"{number:05}.npy"
    aside = path.with_suffix(".part")
    with aside.open("wb") as file:  # written directly, so that no second copy is in memory
        np.save(file, array.astype(np.float16, copy=False))
        file.flush()
        os.fsync(file.fileno())
    aside.rename(path)
    path.with_suffix(".json").write_text(json.dumps(keys))


def _gathered(
    folder: Path, places: Sequence[tuple[int, int]], reader: Reader
) -> NDArray[np.float16]:
    found = np.empty((len(places), reader.layers, reader.width), np.float16)
    parts = {number for number, _ in places}
    for number in sorted(parts):
        array = np.load(folder / f"{number:05}.npy", mmap_mode="r")
        for at, (part, row) in enumerate(places):
            if part == number:
                found[at] = array[row]
    return found
