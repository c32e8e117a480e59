"""What every model in this process refuses, and how it reads a turn that candidates continue."""

from __future__ import annotations

import pytest

from sally.core.errors import BadInput
from sally.core.prompt.model import (
    AS_THE_PROVIDER_DOES,
    Assistant,
    ModelFailure,
    Settings,
    System,
    Usage,
    User,
)
from sally.models import hf, in_process
from sally.models.weights import Unavailable

ASKED = (System("Rules."), User("J or F?"))


@pytest.mark.parametrize(
    ("messages", "settings", "kind"),
    [
        (ASKED, Settings(reasoning_effort="low"), "unsupported"),
        (ASKED, Settings(reasoning_tokens=10), "unsupported"),
        ((), AS_THE_PROVIDER_DOES, "bad_request"),
        ((*ASKED, Assistant("J")), AS_THE_PROVIDER_DOES, "bad_request"),
    ],
)
def test_unanswerable_requests_are_refused_with_a_kind(messages, settings, kind):
    with pytest.raises(ModelFailure) as refused:
        in_process.check_answerable("it", messages, settings)
    assert refused.value.kind == kind
    in_process.check_answerable("it", ASKED, AS_THE_PROVIDER_DOES)


def test_lone_surrogate_is_refused_with_its_position():
    in_process.check_encodable(["whole", "\U0001f600"])
    with pytest.raises(ModelFailure, match="position 2"):
        in_process.check_encodable(["whole", "ab\ud800"])


def test_open_assistant_turn_is_the_prefix_of_candidates():
    turns, begun = in_process.open_turn((*ASKED, Assistant("Option")))
    assert ([turn["role"] for turn in turns], begun) == (["system", "user"], "Option")
    assert in_process.open_turn(ASKED) == (turns, "")
    with pytest.raises(ModelFailure, match="no message before the assistant's unfinished answer"):
        in_process.open_turn((Assistant("Option"),))


def test_invalid_log_probabilities_are_a_bad_reply():
    assert in_process.scores(["J", "F"], iter((-1.0, -2.0)), Usage()).logprobs == (-1.0, -2.0)
    with pytest.raises(ModelFailure) as refused:
        in_process.scores(["J"], [float("nan")], Usage())
    assert refused.value.kind == "bad_reply"


def test_calls_at_once_defaults_to_cpu_without_torch(monkeypatch):
    def no_torch() -> str:
        raise Unavailable("torch is not installed")

    monkeypatch.setattr(hf.loader, "device_here", no_torch)
    assert hf.MODEL.calls_at_once == hf.AT_ONCE["cpu"]


@pytest.mark.parametrize(("said", "rows"), [("", None), ("64", 64)])
def test_row_count_follows_the_environment_variable(said, rows, monkeypatch):
    monkeypatch.setenv("SALLY_HF_ROWS", said)
    assert hf.rows_wanted() == rows


@pytest.mark.parametrize("said", ["0", "many", "-3", "1.5"])
def test_invalid_row_count_is_refused(said, monkeypatch):
    monkeypatch.setenv("SALLY_HF_ROWS", said)
    with pytest.raises(BadInput, match="SALLY_HF_ROWS must be a whole number"):
        hf.rows_wanted()
