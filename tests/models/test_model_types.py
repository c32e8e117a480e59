"""The types of the two verbs: settings, usage, scores, failures."""

import math
import pickle

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sally.core.prompt.hashed_text import HashedText
from sally.core.prompt.model import (
    Assistant,
    BadCandidates,
    CannotScore,
    Fault,
    Message,
    ModelFailure,
    Scores,
    Settings,
    System,
    ToolCall,
    ToolResult,
    Usage,
    User,
    check_candidates,
)

CONVERSATION: list[Message] = [
    System("You play."),
    User(HashedText.start("Round 1.\n").plus("Look?")),
    Assistant("", (ToolCall("c1", "look", '{"box": 2}'),)),
    ToolResult("c1", "look", "empty"),
    Assistant("I pass."),
]


def test_messages_round_trip_through_json() -> None:
    written = msgspec.json.encode(CONVERSATION, enc_hook=str)  # a growing text is a kind of str
    assert msgspec.json.decode(written, type=list[Message]) == CONVERSATION
    assert b'"role":"tool"' in written


def test_same_settings_have_one_canonical_form() -> None:
    assert Settings(temperature=0).canonical() == Settings(temperature=0.0).canonical()
    assert Settings(seed=3, max_tokens=8).canonical() == '{"max_tokens":8,"seed":3}'
    assert Settings().canonical() == "{}"
    read = msgspec.json.decode('{"stop":["\\n"],"temperature":1}', type=Settings)
    assert read == Settings(temperature=1.0, stop=("\n",))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"temperature": -0.1}, "temperature must be"),
        ({"temperature": math.inf}, "temperature must be"),
        ({"temperature": math.nan}, "temperature must be"),
        ({"top_p": 0}, "top_p must be"),
        ({"max_tokens": 0}, "max_tokens must be at least 1"),
        ({"seed": -1}, "seed must be"),
        ({"stop": ("",)}, "an empty text"),
        ({"stop": "END"}, "tuple of texts"),
    ],
)
def test_invalid_settings_are_refused(wrong: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Settings(**wrong)  # type: ignore[arg-type]


def test_usage_total_is_unknown_if_unknown_in_one_call() -> None:
    known_usage = Usage(
        input=10, output=2, cached=4, evaluated=6, reasoning=0, seconds=1.0, cost=0.5
    )
    assert Usage.total([known_usage, known_usage]) == Usage(20, 4, 8, 12, 0, 2.0, 1.0)
    mixed = Usage.total([known_usage, Usage(input=1)])
    assert (mixed.input, mixed.cached, mixed.cost) == (11, None, None)
    assert Usage.total([]).cost == 0.0


def test_scores_are_normalised_over_the_candidates() -> None:
    scores = Scores(("J", "F"), (math.log(0.3), math.log(0.1)))
    assert scores.normalise() == pytest.approx({"J": 0.75, "F": 0.25})


def test_scores_far_below_the_smallest_float_are_still_normalised() -> None:
    scores = Scores(("J", "F"), (-2000.0, -2000.0 - math.log(3)))
    assert scores.normalise() == pytest.approx({"J": 0.75, "F": 0.25})


@pytest.mark.parametrize("wrong", [-math.inf, math.nan, 0.5])
def test_invalid_log_probability_is_refused(wrong: float) -> None:
    with pytest.raises(ValueError, match="finite and at most 0"):
        Scores(("J",), (wrong,))


def test_scores_need_one_value_per_candidate() -> None:
    with pytest.raises(ValueError, match="2 candidates"):
        Scores(("J", "F"), (-1.0,))


@pytest.mark.parametrize(
    ("candidates", "said"),
    [
        ([], "no candidates"),
        (["J", ""], "candidate is empty"),
        (["J", "F", "J"], "listed twice"),
        (["rocket", "rock-a", "rock"], "'rock' is the beginning of"),
    ],
)
def test_incomparable_candidates_are_refused(candidates: list[str], said: str) -> None:
    with pytest.raises(BadCandidates, match=said):
        check_candidates(candidates)


@given(st.lists(st.text(alphabet="ab", min_size=1, max_size=5), min_size=1, max_size=6))
def test_only_prefixes_and_repetitions_are_refused(candidates: list[str]) -> None:
    clash = any(
        i != j and b.startswith(a)
        for i, a in enumerate(candidates)
        for j, b in enumerate(candidates)
    )
    if clash:
        with pytest.raises(BadCandidates):
            check_candidates(candidates)
    else:
        check_candidates(candidates)


def test_failure_has_a_kind_and_survives_pickling() -> None:
    failure = pickle.loads(pickle.dumps(ModelFailure("rate_limit", "Slow down.", 2.5)))
    assert failure.fault == Fault("rate_limit", "Slow down.", 2.5)
    assert failure.transient
    assert not ModelFailure("context_length", "Too long.").transient
    assert str(failure) == "rate_limit: Slow down."
    encoded = msgspec.json.encode(failure.fault)
    assert msgspec.json.decode(encoded, type=Fault) == failure.fault


def test_cannot_score_error_names_the_model() -> None:
    assert "'talker' cannot score" in str(pickle.loads(pickle.dumps(CannotScore("talker"))))


def test_arguments_of_a_tool_call_are_read_or_refused() -> None:
    assert ToolCall("1", "look", '{"box": 2}').read() == {"box": 2}
    for wrong in ('{"box": ', "[1]", '"\ud800"'):
        with pytest.raises(ModelFailure, match="bad_reply"):
            ToolCall("1", "look", wrong).read()
