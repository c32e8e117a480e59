"""The hash of a prompt depends on what is shown, and not on how the text was grown."""

import copy
import pickle
from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sally.core.prompt import hashed_text as under_test
from sally.core.prompt.hashed_text import HashedText, text_digest
from sally.core.prompt.model import (
    Assistant,
    Message,
    System,
    ToolCall,
    ToolResult,
    ToolSpec,
    User,
)
from sally.core.prompt.prompt_hash import prompt_hash

# Lone surrogates included: replies may hold them.
TEXTS = st.text(st.characters(exclude_categories=[]), max_size=20)


@given(st.lists(TEXTS, max_size=8))
def test_hashed_text_has_the_same_hash_as_plain_text(parts: list[str]) -> None:
    grown = reduce(HashedText.plus, parts, HashedText.start())
    plain = "".join(parts)
    assert grown == plain
    assert text_digest(grown) == text_digest(plain)
    assert prompt_hash([System("s"), User(grown)]) == prompt_hash([System("s"), User(plain)])
    assert prompt_hash(grown, candidates=["J"]) == prompt_hash(plain, candidates=["J"])


def test_two_pages_fork_from_one_history() -> None:
    history = HashedText.start("Round 1: J F\n")
    probe, move = history.plus("What will they do?"), history.plus("Your move?")
    assert history.digest() == text_digest("Round 1: J F\n")
    assert probe.digest() == text_digest("Round 1: J F\nWhat will they do?")
    assert move.digest() == text_digest("Round 1: J F\nYour move?")


def test_hashing_a_long_page_reads_only_the_appended_text(monkeypatch: pytest.MonkeyPatch) -> None:
    page = HashedText.start("x" * 100_000)
    page.digest()
    read = 0
    utf8 = under_test._utf8

    def counted(text: str) -> bytes:
        nonlocal read
        read += len(text)
        return utf8(text)

    monkeypatch.setattr(under_test, "_utf8", counted)
    prompt_hash([User(page.plus("y" * 50))])
    assert read == 50


def test_hashed_text_can_be_copied_and_pickled() -> None:
    grown = HashedText.start("a").plus("b")
    for other_item in (copy.deepcopy(grown), pickle.loads(pickle.dumps(grown))):
        assert isinstance(other_item, HashedText)
        assert other_item.plus("c").digest() == text_digest("abc")
    assert type(str(grown)) is str
    assert type(grown + "c") is str


def test_prompts_with_any_visible_difference_have_different_hashes() -> None:
    call = ToolCall("1", "look", "{}")
    tool = ToolSpec("look", "Look in a box.", {"type": "object"})
    conversations: list[list[Message]] = [
        [],
        [User("ab")],
        [System("ab")],
        [Assistant("ab")],
        [User("a"), User("b")],
        [User("ab"), User("")],
        [User("b"), User("a")],
        [Assistant("ab", (call,))],
        [Assistant("ab", (call, call))],
        [ToolResult("1", "look", "ab")],
        [ToolResult("look", "1", "ab")],
    ]
    hashes = [prompt_hash(messages) for messages in conversations]
    hashes += [prompt_hash("ab"), prompt_hash("ab", candidates=["J"])]
    hashes += [prompt_hash("ab", candidates=["J", "F"]), prompt_hash([User("ab")], [tool])]
    hashes += [prompt_hash([User("ab")], [tool, tool])]
    assert len(set(hashes)) == len(hashes)


def test_hash_ignores_key_order_in_a_schema() -> None:
    tool_spec = ToolSpec("look", "Look.", {"type": "object", "required": []})
    other_tool_spec = ToolSpec("look", "Look.", {"required": [], "type": "object"})
    assert prompt_hash([User("a")], [tool_spec]) == prompt_hash([User("a")], [other_tool_spec])


def test_hash_is_the_same_on_every_machine() -> None:
    # Logs outlive versions: a change here breaks the replay of every prompt on disk.
    assert prompt_hash([System("You play."), User("J or F?")]) == "b36a0168efe6b4c365c11f430527eaac"
