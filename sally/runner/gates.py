"""Gates: after a failure, all calls of a model wait together; a run stops if all calls fail."""

from __future__ import annotations

import time

from sally.core.prompt.model import ModelFailure

WAITING = frozenset({"rate_limit", "server", "timeout", "connection"})
FINAL = 3  # permanently refused calls (unknown model or key) after which a run stops
PATIENCE = 30  # transient failures without any success after which a run stops
LONGEST = 120.0  # maximum wait in seconds


class Gate:
    """A gate at which all calls of a model wait after a failure or a rate limit."""

    def __init__(self, first_wait: float = 1.0) -> None:
        self._first, self._until, self._streak, self._counted = first_wait, 0.0, 0, 0.0
        self.served, self.refusals, self.words = False, 0, ""

    async def passed(self) -> float:
        """Wait until the model may be called; return the current time."""
        import asyncio  # late: not needed for bots

        while (seconds_left := self._until - time.monotonic()) > 0:
            await asyncio.sleep(seconds_left)
        return time.monotonic()

    def record_success(self) -> None:
        """Record a success."""
        self._streak, self.served = 0, True

    def failed(self, begun: float, failure: ModelFailure) -> None:
        """Record a failure; wait as long as the provider says, else double the last wait."""
        self.refusals += 1 if failure.kind in WAITING else PATIENCE // FINAL
        self.words = failure.fault.detail
        if failure.kind not in WAITING:
            return
        if begun >= self._counted:  # concurrent failures count once
            self._streak, self._counted = self._streak + 1, time.monotonic()
        requested_wait = failure.fault.retry_after
        wait = self._first * 2 ** (self._streak - 1) if requested_wait is None else requested_wait
        self._until = max(self._until, time.monotonic() + min(wait, LONGEST))


_gates: dict[tuple[str, str, float], Gate] = {}  # by model, address and first wait


def gate_of(model: str, address: str | None, first_wait: float) -> Gate:
    """Return the gate at which calls of a model wait after a failure or a rate limit. All calls of
    this process to that model at that address share one gate."""
    return _gates.setdefault((model, address or "", first_wait), Gate(first_wait))


def hopeless() -> str | None:
    """Return why a run should stop, if a model has refused all of many calls; else None."""
    for (model, address, _), gate in _gates.items():
        if not gate.served and gate.refusals >= PATIENCE:
            address_text = f" at {address}" if address and address not in gate.words else ""
            return f"{model}{address_text} answered none of the calls: {gate.words.rstrip('.')}."
    return None


def forget_refusals() -> None:
    """Reset the counts of refusals at the start of a run."""
    for gate in _gates.values():
        gate.served, gate.refusals, gate.words = False, 0, ""
