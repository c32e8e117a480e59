"""Forms of weights hold the same numbers, and the fastest is measured once."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sally.models import forms
from sally.models.forms import FORMS, TURNS, Form, convert_weights, fastest

gguf: Any = pytest.importorskip("gguf", reason="unpacking weights needs the package gguf")


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    """A file with one packed tensor, one plain one, and some metadata."""
    writer = gguf.GGUFWriter(tmp_path / "tiny.gguf", "llama")
    writer.add_block_count(3)
    writer.add_token_list(["a", "b", "ü"])
    writer.add_file_type(3)
    numbers = np.random.default_rng(5).normal(size=(4, 64)).astype(np.float32)
    kind = gguf.GGMLQuantizationType.Q4_1
    writer.add_tensor("packed", gguf.quants.quantize(numbers, kind), raw_dtype=kind)
    writer.add_tensor("plain", np.arange(5, dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return tmp_path / "tiny.gguf"


def numbers_in(path: Path) -> dict[str, Any]:
    reader = gguf.GGUFReader(path)
    return {t.name: gguf.quants.dequantize(t.data, t.tensor_type) for t in reader.tensors}


def test_f32_form_preserves_the_packed_numbers_exactly(packed: Path, tmp_path: Path) -> None:
    plain = convert_weights(packed, "f32", "tiny", tmp_path)
    numbers_before, numbers_after = numbers_in(packed), numbers_in(plain)
    assert {t.tensor_type.name for t in gguf.GGUFReader(plain).tensors} == {"F32"}
    assert np.array_equal(numbers_before["packed"], numbers_after["packed"])
    assert np.array_equal(numbers_before["plain"], numbers_after["plain"])


def test_q8_0_form_is_accurate_to_half_a_step_per_block(packed: Path, tmp_path: Path) -> None:
    content_before = numbers_in(packed)["packed"].reshape(-1, 32)
    content_after = numbers_in(convert_weights(packed, "q8_0", "tiny", tmp_path))["packed"].reshape(
        -1, 32
    )
    step = np.abs(content_before).max(axis=1, keepdims=True) / 127
    # Steps are kept in half precision, which adds a thousandth of the largest number.
    assert (np.abs(content_before - content_after) <= 0.5 * step + 1e-3 * 127 * step).all()
    assert not np.array_equal(content_before, content_after)


def test_conversion_preserves_metadata(packed: Path, tmp_path: Path) -> None:
    reader = gguf.GGUFReader(convert_weights(packed, "f32", "tiny", tmp_path))
    assert reader.get_field("llama.block_count").contents() == 3
    assert reader.get_field("tokenizer.ggml.tokens").contents() == ["a", "b", "ü"]
    assert reader.get_field("general.file_type").contents() == 0


def test_original_form_returns_the_source_file(packed: Path, tmp_path: Path) -> None:
    assert convert_weights(packed, "original", "tiny", tmp_path) == packed


def test_fastest_form_is_measured_once_per_machine(tmp_path: Path) -> None:
    tried: list[Form] = []

    def seconds(form: Form) -> float:
        tried.append(form)
        return {"original": 3.0, "q8_0": 1.0, "f32": 2.0}[form]

    here = {"processor": "P", "threads": "2"}
    assert fastest("tiny", here, seconds, folder=tmp_path).form == "q8_0"
    assert tried == list(FORMS) * TURNS
    repeated_choice = fastest("tiny", here, seconds, folder=tmp_path)
    assert (repeated_choice.form, repeated_choice.seconds["f32"], len(tried)) == (
        "q8_0",
        2.0,
        3 * TURNS,
    )
    fastest("tiny", {**here, "threads": "1"}, seconds, folder=tmp_path)
    fastest("other", here, seconds, folder=tmp_path)
    assert len(tried) == 9 * TURNS
    fastest("tiny", here, seconds, folder=tmp_path)
    assert len(tried) == 9 * TURNS


def test_one_slow_measurement_does_not_change_the_fastest_form(tmp_path: Path) -> None:
    turns = iter([9.0, 2.0, 3.0, 1.0, 2.0, 3.0, 1.0, 2.0, 3.0])
    assert fastest("tiny", {}, lambda form: next(turns), folder=tmp_path).form == "original"


def test_unreadable_measurements_are_measured_again(tmp_path: Path) -> None:
    (tmp_path / "fastest_form.json").write_text('{"half a')
    times = {"original": 1.0, "q8_0": 2.0, "f32": 3.0}
    for _ in range(2):
        choice = fastest("tiny", {}, lambda form: times[form], folder=tmp_path)
        assert choice.form == "original"
        times["original"] = 9.0


@pytest.mark.parametrize(("load", "free"), [(0.2, 4), (1.4, 3), (9.0, 1)])
def test_free_cores_exclude_the_system_load(
    load: float, free: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3}, raising=False)
    monkeypatch.setattr(os, "getloadavg", lambda: (load, 0.0, 0.0), raising=False)
    assert forms.free_cores() == free
