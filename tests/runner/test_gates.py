"""When a run stops because its calls are refused, and when it does not."""

from __future__ import annotations

import time

import pytest

from sally.core.prompt.model import FaultKind, ModelFailure
from sally.runner import gates
from sally.runner.gates import MOST_BAD_REPLIES, MOST_FINAL, MOST_WAITS, Gate


def refuse(gate: Gate, kind: FaultKind, times: int) -> None:
    for _ in range(times):
        gate.record_failure(time.monotonic(), ModelFailure(kind, "slow down."))


@pytest.mark.parametrize("answers", [0, 400])
@pytest.mark.parametrize(
    ("kind", "most"),
    [("rate_limit", MOST_WAITS), ("quota", MOST_FINAL), ("auth", MOST_FINAL),
     ("bad_reply", MOST_BAD_REPLIES)],
)  # fmt: skip
def test_gate_is_hopeless_after_refusals_in_a_row(kind: FaultKind, most: int, answers: int) -> None:
    gate = Gate(first_wait=0.0)
    for _ in range(answers):
        gate.record_success()
    refuse(gate, kind, most - 1)
    assert not gate.is_hopeless
    gate.record_success()  # one answer in between
    refuse(gate, kind, most - 1)
    assert not gate.is_hopeless
    refuse(gate, kind, 1)
    assert gate.is_hopeless


def test_concurrent_refusals_count_once() -> None:
    gate = Gate(first_wait=0.0)
    begun = time.monotonic()
    for _ in range(100):
        gate.record_failure(begun, ModelFailure("rate_limit", "slow down."))
    assert gate.waits == 1 and not gate.is_hopeless


def test_model_that_has_answered_may_refuse_single_pages() -> None:
    gate = Gate()
    refuse(gate, "bad_request", MOST_FINAL)
    assert gate.is_hopeless
    gate.record_success()
    refuse(gate, "context_length", 50)
    assert not gate.is_hopeless


def test_reason_has_the_words_of_the_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Gate()
    gate.record_success()
    refuse(gate, "quota", MOST_FINAL)
    monkeypatch.setattr(gates, "_gates", {("lab/m", "http://x/v1", 1.0): gate})
    reason = "lab/m at http://x/v1 stopped answering after 1 calls: slow down."
    assert gates.hopeless() == reason
    gates.forget_refusals()
    assert gates.hopeless() is None
