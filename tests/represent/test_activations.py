"""Parts of activations are written to disk without a second copy in memory."""

import json
import tracemalloc
from pathlib import Path

import numpy as np

from sally.represent.activations import _write_part


def test_part_is_written_without_a_second_copy(tmp_path: Path) -> None:
    array = np.arange(4_000_000, dtype=np.float16).reshape(4, 1000, 1000)
    tracemalloc.start()
    _write_part(tmp_path, 3, array, ["a", "b", "c", "d"])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < array.nbytes / 2
    assert np.array_equal(np.load(tmp_path / "00003.npy"), array, equal_nan=True)
    assert json.loads((tmp_path / "00003.json").read_text()) == ["a", "b", "c", "d"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["00003.json", "00003.npy"]
