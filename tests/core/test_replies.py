"""The reply rule: both errors on real replies, its examples, and what must never happen."""

from __future__ import annotations

import contextlib
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.reply_reader import SETS, is_formatted, kappa, rates, read_labelled
from sally.core.errors import Unreadable
from sally.core.reply.plain_text import MOST_READ, plain, sections
from sally.core.reply.reader import (
    CANNOT_CHECK,
    VERSION,
    complete_part,
    read_choice,
    read_each,
    read_number,
    reads_to,
    restates_answer,
)
from sally.core.rules.words import objects_in

# --- both errors --------------------------------------------------------------------------------


def test_errors_on_real_replies_are_as_documented() -> None:
    replies = [reply for path in SETS for reply in read_labelled(path)]
    assert len(replies) == 1912 and kappa(replies)[1] > 0.9
    formatted = [reply for reply in replies if is_formatted(reply)]
    assert len(formatted) > 600
    assert rates(formatted)["refused"] <= 0.01
    assert rates(replies)["misread"] <= 0.005 and rates(replies)["taken"] <= 0.01


# --- the rule -----------------------------------------------------------------------------------

RPS = ("R", "P", "S")


@pytest.mark.parametrize(
    ("reply", "name"),
    [
        # (a) thoughts are removed
        ('<think>P or R?</think>{"option": "R"}', "R"),
        ("Let me think.\nOption: P\n</think>\nR", "R"),  # the prompt opened the tag
        # (b) a call or a JSON object
        ("move(R)", "R"),
        ("I beat S.\n`choose(option='R')`", "R"),
        ('{"option": "R"}', "R"),
        ('<tool_call>{"name": "play", "arguments": {"move": "R"}}</tool_call>', "R"),
        ('They like S.\n```json\n{"Answer": "r"}\n```', "R"),
        # (c) the last labelled line
        ("Option: R", "R"),
        ("**Option:** `R`.", "R"),
        ("option： ｒ", "R"),
        ("Option: R!", "R"),
        ("Option: R (beats S)", "R"),
        ("Option: R - the safest one", "R"),
        ("Option: R, which beats S", "R"),
        ("Option: R. It beats S.", "R"),
        ("Option:\n\nR", "R"),
        ("Option: Option R", "R"),
        ("Answer: Option: R", "R"),
        ("### Final answer: R", "R"),
        ("1. My final option: R", "R"),
        ("Option B is bad.\nOption: S", "S"),
        ("Option: P\nOn reflection, S is better.\nOption: S", "S"),  # the last one counts
        ('{"option": "P"}\nFinal answer: S', "S"),
        ('Option: P\n{"option": "S"}', "S"),
        ("Option: <S>", "S"),
        ("So $\\boxed{P}$ it is.", "P"),
        ("\\boxed{\\text{Option: P}}", "P"),
        ("\\[ Answer: P \\]", "P"),
        # (d) nothing but an option
        ("R", "R"),
        (" **R**.\n", "R"),
        ("Option R", "R"),
        ("the R", "R"),
        ("<b>R</b>", "R"),
    ],
)
def test_reply_in_the_format_is_read(reply: str, name: str) -> None:
    assert RPS[read_choice(reply, RPS, "Option")] == name


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "Option:",
        "Option: R or S",
        "Option: R, S",
        "Option: R, S or P",
        "Option: R - S",
        "Option: R/S",
        "Option: R?",
        "Option: not R",
        "Option: RS",
        "Option: R because it beats S",
        "Option: X",
        "Option: R\nAnswer: it depends",  # the last one counts
        "I pick R.",
        "I rule out R.",
        "Bob will probably play R",
        "The other player picked R.",
        "R\n\nBecause R beats S.",
        "R S",
        "R, because it beats S",
        "<think>Option: R",  # not closed
        '{"option": null}',
        '{"option": true}',
        '{"option": ["R"]}',
        '{"option": {"R": 0.34, "P": 0.33, "S": 0.33}}',
        '{"option": "R", "option": "S"}',
        '{"option": "R", "reason": "it beats S"}',  # a further field
        '{\n"option": "R",\n"reason": "it beats S"\n}',
        "Option: P\n{'option': null}\nOption: none",
        '{"name": "play", "arguments": {"move": "R", "then": "S"}}',
        "move(R, S)",
        "move(R) or move(S)",
    ],
)
def test_any_other_reply_is_refused_with_the_format(reply: str) -> None:
    with pytest.raises(Unreadable, match=r"exactly one of R, P or S|each field .* once"):
        read_choice(reply, RPS, "Option")


def test_nouns_of_a_menu_are_part_of_its_names() -> None:
    boxes = ("box 0", "box 1", "box 2")
    for reply in ("Box 2", "Box: 2", "Answer: #2", "2", "Answer: box 2.", "the box 2"):
        assert read_choice(reply, boxes, "Box") == 2
    for reply in ("Option: Game", "a game", "Option: the game"):
        assert read_choice(reply, ("a game", "a test"), "Option") == 0


def test_tag_and_name_must_agree() -> None:
    halls = ("Amber Hall", "Dune Hall")
    for reply in ("Answer: 2", "Dune Hall", "Answer: 2 (Dune Hall)", "2. Dune Hall", "Answer: [2]"):
        assert read_choice(reply, halls, "Answer", "12") == 1
    replies = ("Answer: -2", "Answer: 1.5", "Answer: 2%", "Answer: 3", "Answer: 1 or 2", "1-2")
    for reply in (*replies, "2. Amber Hall", "Answer: 1 (Dune Hall)"):
        with pytest.raises(Unreadable):
            read_choice(reply, halls, "Answer", "12")


def test_whole_name_counts_before_a_shortened_one() -> None:
    jars = ("jar", "the jar", "a tin", "the tin")
    assert [read_choice(f"Option: {name}", jars, "Option") for name in jars] == [0, 1, 2, 3]
    with pytest.raises(Unreadable):
        read_choice("Option: tin", jars, "Option")


def test_names_that_differ_only_in_markup_are_refused() -> None:
    assert read_choice("Option: F", ("J", "*J*", "F"), "Option") == 2
    with pytest.raises(Unreadable):
        read_choice("Option: J", ("J", "*J*", "F"), "Option")


@pytest.mark.parametrize(
    "reply",
    ["Number: 17", "**Number:** $17", "Number: 17.0", "**17**", "bid(17)", "Answer: number 17"],
)
def test_whole_number_is_read(reply: str) -> None:
    assert read_number(reply, 11, 20, "Number") == 17


@pytest.mark.parametrize(
    "reply",
    [
        *("Number: -17", "17.5", "Number: 17 or 18", "17/20", "1,700", "Number: 21", "17%"),
        *("Number: 17, 18", "Number: 17-18", "My value is 17.", "I ask for 17.", "Round 17"),
    ],
)
def test_invalid_number_is_refused(reply: str) -> None:
    with pytest.raises(Unreadable, match="whole number from 11 to 20"):
        read_number(reply, 11, 20, "Number")


def test_two_different_labelled_lines_are_marked_as_restated() -> None:
    assert restates_answer("Option: R\nOption: S", "Option")
    assert restates_answer('Option: R\n{"option": "S"}', "Option")
    assert not restates_answer("Option: R\nOption: R.", "Option") and not restates_answer(
        "Option: R", "Option"
    )


@pytest.mark.parametrize(
    ("reply", "part"),
    [
        ("Option: R\nbecause it", "Option: R"),
        ("I think.\nOption: R\n\nThis is", "I think.\nOption: R\n"),
        ("Option: R", ""),  # of Rice, say
        ("R\nbecause it", ""),
        ("It takes R.\nSo I", ""),
        ("Option: R\nNo, wait.\nOption: S", ""),
        ('{"option": "R"}\nbecause', ""),
        ("<think>\nOption: R\nOr", ""),
    ],
)
def test_reply_cut_off_is_read_only_to_a_complete_labelled_line(reply: str, part: str) -> None:
    assert complete_part(reply, "Option") == part


def test_stored_reply_of_an_older_rule_cannot_be_checked_unless_it_is_in_the_format() -> None:
    def read(reply: str) -> int:
        return read_choice(reply, RPS, "Option")

    for version in (3, VERSION):
        assert reads_to(version, "Option: P", read) == 1
    assert reads_to(VERSION, "\\boxed{P}", read) == 1
    assert reads_to(VERSION, "I pick P.", read) is None
    for reply in ("I pick P.", "\\boxed{P}"):
        assert reads_to(VERSION - 1, reply, read) is CANNOT_CHECK


def test_longer_name_is_not_read_as_its_prefix() -> None:
    names = ("Rice", "Rice cake", "J" * 20)
    assert read_choice("Option: Rice cake", names, "Option") == 1
    assert read_choice("Option: Rice", names, "Option") == 0
    with pytest.raises(Unreadable):
        read_choice("Option: " + "J" * 19, names, "Option")


def read_all(reply: str) -> None:
    """Every reader on one reply."""
    for read_one in (
        lambda: read_choice(reply, RPS, "Option"),
        lambda: read_choice(reply, ("Amber Hall", "Dune Hall"), "Answer", "12"),
        lambda: read_number(reply, 11, 20, "Number"),
        lambda: list(objects_in(reply)),
    ):
        with contextlib.suppress(Unreadable):
            read_one()
    sections(reply, ("Plans", "Insights"))
    read_each(reply, [("J", "F"), ("a", "b")], "Predicted Action")
    restates_answer(reply, "Option")
    complete_part(reply, "Option")


# --- what no reply may do -----------------------------------------------------------------------

NAMES = ("Rock", "Paper", "Scissors")
noise = st.text(alphabet=st.characters(), max_size=60)
pieces = st.sampled_from(
    ["Option:", "option", "J", "F", "\n", " ", "or", "not", "because", "**", "`", "{", "}", ":"]
)
jumble = st.lists(pieces, max_size=14).map(" ".join)


@given(st.one_of(noise, jumble))
def test_no_reply_crashes_a_reader(reply: str) -> None:
    read_all(reply)


@given(noise.filter(lambda text: not any(plain(name) in plain(text) for name in NAMES)))
def test_reply_without_a_name_is_never_a_move(reply: str) -> None:
    for actual_reply in (reply, f"Option: {reply}", f"Thoughts: {reply}\nOption:"):
        with pytest.raises(Unreadable):
            read_choice(actual_reply, NAMES, "Option")


@given(
    st.sampled_from(NAMES),
    st.sampled_from(["Option: {}", "**Option:** {}.", "option: `{}`", "Option: {}!", "{}"]),
    st.sampled_from([str, str.upper, str.lower, str.title]),
)
def test_case_and_markup_do_not_matter(name: str, shape: str, case: Any) -> None:
    assert NAMES[read_choice(shape.format(case(name)), NAMES, "Option")] == name


@pytest.mark.parametrize(
    "reply",
    [
        "\n" * 50_000,
        " " * 50_000,
        "Option: " * 8_000,
        "J " * 25_000,
        "R " * 25_000,
        "R" * 50_000,
        "I pick R. " * 5_000,
        "选R。" * 12_000,
        "{" * 50_000,
        '{"a": ' * 10_000,
        "<think>" * 7_000,
        "\\boxed{" * 7_000,
        "because " * 6_000,
        "Option: " + "J or F " * 7_000,
        "- J\n" * 12_000,
        "\ud800" * 1_000,
        "Predicted Action 1: J\n" * 2_000,
        "f(" * 25_000,
        "(" * 50_000,
        "Option: \\boxed{" * 3_000,
        "</think>" * 6_000,
    ],
)
def test_reply_of_maximal_length_is_read_within_five_seconds(reply: str) -> None:
    reply = reply[:MOST_READ]
    began = time.process_time()
    read_all(reply)
    assert time.process_time() - began < 5  # a second here; quadratic readers take minutes


# --- sections and several predictions -----------------------------------------------------------


def test_sections_run_to_the_next_label() -> None:
    reply = "Well.\n**Plans:** stay\nwith J\n\nInsights: they copy\nOption: J"
    assert sections(reply, ("Plans", "Insights", "Option")) == {
        "Plans": "stay\nwith J",
        "Insights": "they copy",
        "Option": "J",
    }
    assert sections("nothing", ("Plans",)) == {}


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("Predicted Action 1: J\nPredicted Action 2: b", [0, 1]),
        ("**Predicted Action 2:** b\n**Predicted Action 1:** F", [1, 1]),
        ("Predicted Action (1): J\nPredicted Action (2): a", [0, 0]),
        ("B Reasoning: x\nPredicted Action: J\nC Reasoning: y\nPredicted Action: b", [0, 1]),
        ("Predicted Action: J", [0, None]),
        ("Predicted Action 2: a", [None, 0]),
        ("Predicted Action 1: J or F\nPredicted Action 2: nobody knows", [None, None]),
        ("Option: J", [None, None]),
        ("", [None, None]),
    ],
)
def test_each_prediction_is_read_under_its_own_number(reply: str, said: list[int | None]) -> None:
    assert read_each(reply, [("J", "F"), ("a", "b")], "Predicted Action") == said
