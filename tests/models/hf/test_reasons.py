"""Why a forward pass failed, in one line."""

from __future__ import annotations

from sally.models.hf.engine import _failure


class OutOfMemoryError(RuntimeError):
    """As torch names its own, which cannot be raised without an accelerator."""


def test_out_of_memory_is_reported_with_one_message() -> None:
    long = OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.\nGPU 0 has ...")
    assert (
        _failure(long).fault.detail
        == "The accelerator ran out of memory; run fewer calls concurrently."
    )


def test_first_line_of_other_failures_is_kept() -> None:
    detail = _failure(RuntimeError("shapes differ.\nHere is a trace\nand more")).fault.detail
    assert detail == "The forward pass failed: RuntimeError: shapes differ."
