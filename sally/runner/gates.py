"""Gates: after a failure, all calls of a model wait together; a run stops if none is answered, or
if no answer can be read."""

from __future__ import annotations

import time
from collections import Counter

from sally.core.log.events import Episode, Forfeited, Reported
from sally.core.prompt.model import ModelFailure

WAITING = frozenset({"rate_limit", "server", "timeout", "connection"})
FINAL = frozenset({"auth", "quota"})  # refusals of the key itself, which waiting does not change
MOST_FINAL = 3  # final refusals in a row after which a run stops
MOST_BAD_REPLIES = 30  # replies in a row that are no chat completion, likewise
MOST_WAITS = 7  # waits in a row without any answer after which a run stops: a minute
MOST_UNREADABLE = 100  # answers of a model that cannot be read, and no other, likewise
LONGEST = 120.0  # maximum wait in seconds


class Gate:
    """A gate at which all calls of a model wait after a failure or a rate limit."""

    def __init__(self, first_wait: float = 1.0) -> None:
        self._first, self._until, self._counted = first_wait, 0.0, 0.0
        self.forget()

    def forget(self) -> None:
        """Forget all answers and refusals."""
        self.answered, self.words = 0, ""
        self.waits = self.final_refusals = self.bad_replies = 0  # since the last answer

    async def wait_turn(self) -> float:
        """Wait until the model may be called; return the current time."""
        import asyncio  # late: not needed for bots

        while (seconds_left := self._until - time.monotonic()) > 0:
            await asyncio.sleep(seconds_left)
        return time.monotonic()

    def record_success(self) -> None:
        """Record a success."""
        self.answered += 1
        self.waits = self.final_refusals = self.bad_replies = 0

    def record_failure(self, begun: float, failure: ModelFailure) -> None:
        """Record a failure; wait as long as the provider says, else double the last wait."""
        self.words = failure.fault.detail
        if failure.kind == "bad_reply":
            self.bad_replies += 1
            return
        if failure.kind not in WAITING:
            # A model that has answered may refuse a single page, but not its key.
            self.final_refusals += failure.kind in FINAL or not self.answered
            return
        if begun >= self._counted:  # concurrent failures count once
            self.waits, self._counted = self.waits + 1, time.monotonic()
        requested_wait = failure.fault.retry_after
        wait = self._first * 2 ** (self.waits - 1) if requested_wait is None else requested_wait
        if self.is_hopeless:
            wait = self._first  # nothing is gained by a longer one
        self._until = max(self._until, time.monotonic() + min(wait, LONGEST))

    @property
    def is_hopeless(self) -> bool:
        """Whether so many calls in a row were refused that a run should stop."""
        return (
            self.final_refusals >= MOST_FINAL
            or self.bad_replies >= MOST_BAD_REPLIES
            or self.waits >= MOST_WAITS
        )


_gates: dict[tuple[str, str, float], Gate] = {}  # by model, address and first wait


def gate_of(model: str, address: str | None, first_wait: float) -> Gate:
    """Return the gate at which calls of a model wait after a failure or a rate limit. All calls of
    this process to that model at that address share one gate."""
    return _gates.setdefault((model, address or "", first_wait), Gate(first_wait))


def hopeless() -> str | None:
    """Return why a run should stop, in the provider's words; None if it may go on."""
    for (model, address, _), gate in _gates.items():
        if gate.is_hopeless:
            address_text = f" at {address}" if address and address not in gate.words else ""
            failure = (
                f"stopped answering after {gate.answered:,} calls"
                if gate.answered
                else "answered none of the calls"
            )
            return f"{model}{address_text} {failure}: {gate.words.rstrip('.')}."
    for model in unreadable_models():
        count = _unread[model]
        return f"None of the {count:,} answers of {model} could be read; `sally show` prints them."
    return None


def forget_refusals() -> None:
    """Reset the counts of refusals at the start of a run."""
    for gate in _gates.values():
        gate.forget()


# --- answers that cannot be read ------------------------------------------------------------------

_read, _unread = Counter[str](), Counter[str]()  # answers in this run, by model


def record_answers(episode: Episode) -> None:
    """Count the answers of an episode's models that could be read, and those that could not."""
    for event in episode.events:
        if event.calls:
            model = str(episode.setup.lineup[event.seat].params.get("model", "embedded"))
            is_unread = isinstance(event, Forfeited) or (
                isinstance(event, Reported) and event.value is None
            )
            (_unread if is_unread else _read)[model] += 1


def unreadable_models() -> list[str]:
    """Return the models that gave many answers in this run, of which none could be read."""
    return [
        model for model, count in _unread.items() if count >= MOST_UNREADABLE and not _read[model]
    ]


def forget_answers() -> None:
    """Reset the counts of answers at the start of a run."""
    _read.clear()
    _unread.clear()
