"""A key that a reply repeats is stored nowhere."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from hashlib import sha256

import pytest

from sally.core import redaction as keys
from sally.core.log.calls import KEPT, cut
from sally.core.log.events import Instance, PlayerSpec, Setup
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.prompt.model import Reply, ToolCall, Usage
from sally.core.registry import registry
from sally.models.stub import Scripted
from sally.runner.seating import players_of

KEY = "lab-0123456789abcdef"


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(keys, "_used_keys", set())
    keys.known_keys.cache_clear()
    keys._needles.cache_clear()
    yield
    keys.known_keys.cache_clear()
    keys._needles.cache_clear()


def test_key_in_environment_is_redacted_by_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_PROVIDER_API_KEY", KEY)
    monkeypatch.setenv("KEYBOARD_LAYOUT", "a quite ordinary value")
    assert keys.scrub(f"I saw {KEY}!") == "I saw [key]!"
    assert "ordinary" in keys.scrub("a quite ordinary value")


def test_used_key_is_redacted_and_short_key_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    assert keys.scrub(KEY) == KEY
    for short in ("k", "no", "sevenis"):
        keys.remember(short)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    keys.remember(KEY)
    for scrub in (keys.scrub, keys.reply_without_keys):
        assert scrub(f"{KEY}, no, I pick sevenis") == "[key], no, I pick sevenis"
    keys.remember("eight888")
    assert keys.reply_without_keys("so eight888") == "so [key]"


def test_secret_of_the_environment_is_no_reason_to_change_a_reply(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A provider can repeat only what it was sent; a password may be an ordinary word."""
    monkeypatch.setenv("DATABASE_PASSWORD", "cooperate")
    keys.known_keys.cache_clear()
    assert keys.reply_without_keys("I cooperate. Option: J") == "I cooperate. Option: J"
    assert keys.scrub("cannot log in with cooperate") == "cannot log in with [key]"


def test_key_repeated_by_model_is_in_no_stored_line() -> None:
    keys.remember(KEY)
    echo = Scripted(lambda messages, settings: Reply(f"{KEY}\nOption: J", reasoning=f"so {KEY}"))
    lineup = {
        "agent": PlayerSpec("language", {"model": echo}),
        "partner": PlayerSpec("tit_for_tat"),
    }
    setup = Setup(Instance("ipd", "ipd", {"rounds": 2}), 1, lineup)
    match = Match(registry.game("ipd"), setup)
    Driver(match, players_of(match)).run()
    assert all(KEY not in repr(event) for event in match.events)
    assert any("[key]" in repr(event) for event in match.events)


def test_key_passed_to_tool_is_redacted_in_the_log() -> None:
    keys.remember(KEY)
    replies = iter((Reply("", (ToolCall(KEY, "look", f'{{"at": "{KEY}"}}'),)),))
    echo = Scripted(lambda messages, settings: next(replies, Reply("Option: J")))
    lineup = {
        "agent": PlayerSpec("language", {"model": echo}),
        "partner": PlayerSpec("tit_for_tat"),
    }
    match = Match(registry.game("ipd"), Setup(Instance("ipd", "ipd", {"rounds": 2}), 1, lineup))
    Driver(match, players_of(match)).run()
    assert all(KEY not in repr(event) for event in match.events)
    assert any("[key]" in repr(event) for event in match.events)


@pytest.mark.parametrize("before", ["", "a", "ab", "Basic user:"])
def test_part_of_a_key_and_an_encoded_key_are_scrubbed(before: str) -> None:
    keys.remember(KEY)
    assert keys.scrub(f"it begins {KEY[:12]} and so on") == "it begins [key] and so on"
    assert keys.scrub(f"x{KEY[5:]}x{KEY[:13]}") == "x[key]x[key]"
    assert keys.scrub(KEY[:11]) == KEY[:11]  # too short to be known from a word
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        sentence = keys.scrub(f"= {encode(f'{before}{KEY} tail'.encode()).decode()}")
        assert "[key]" in sentence
        assert not any(KEY[i : i + 12] in _decoded(sentence) for i in range(len(KEY) - 11))
    assert keys.scrub(KEY.encode().hex()) == "[key]"


def _decoded(text: str) -> str:
    """Whatever can be read from the pieces of base64 in a text."""
    pieces = [piece[n:] for piece in re.findall(r"[\w+/-]{4,}", text) for n in range(4)]
    whole = [piece[: len(piece) // 4 * 4].replace("-", "+").replace("_", "/") for piece in pieces]
    return " ".join(base64.b64decode(piece).decode("latin-1") for piece in whole)


def test_address_is_shown_without_user_and_query() -> None:
    redacted_address = keys.address_without_secrets
    assert (
        redacted_address("https://me:pw@lab.example:8000/v1?key=abc#x")
        == "https://lab.example:8000/v1"
    )
    assert redacted_address("http://[::1]:8000/v1") == "http://[::1]:8000/v1"
    redacted_text = keys.without_credentials(
        "no route to https://me:pw@lab/v1?api-key=abc&n=1, sorry"
    )
    assert redacted_text == "no route to https://lab/v1?api-key=[key]&n=1, sorry"


def test_long_reply_is_stored_as_both_ends_with_size_and_hash() -> None:
    long = "a" * 5_000_000 + "b" * 5_000_000
    short = cut(long)
    assert len(short) < KEPT + 200 and cut(short) == short
    assert short.startswith("a" * 1000) and short.endswith("b" * 1000)
    assert f"10,000,000 characters, sha256 {sha256(long.encode()).hexdigest()}" in short
    assert cut(long[:KEPT]) == long[:KEPT]


def test_huge_replies_are_stored_truncated_and_read_in_full() -> None:
    thought = f"<think>{'hm ' * 1_000_000}</think>Option: J"  # an answer after a long thought
    rambling = "so " * 3_000_000
    replies = iter((rambling, rambling, rambling, thought))
    huge = Scripted(lambda messages, settings: Reply(next(replies), usage=Usage(10**30, -1)))
    lineup = {
        "agent": PlayerSpec("language", {"model": huge}),
        "partner": PlayerSpec("tit_for_tat"),
    }
    match = Match(registry.game("ipd"), Setup(Instance("ipd", "ipd", {"rounds": 2}), 1, lineup))
    Driver(match, players_of(match)).run()
    calls = [call for event in match.events for call in event.calls]
    assert [len(call.reply) < KEPT + 200 for call in calls] == [True] * 4
    assert all(call.usage.get("input", 0) == 0 for call in calls)  # 10^30 tokens are not believed
    kinds = [type(event).__name__ for event in match.events if event.seat == "agent"]
    assert kinds == ["Forfeited", "Moved"]
