"""A table of real-looking replies with what a careful person reads, and what must never happen."""

from __future__ import annotations

import contextlib
import time
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sally.core.errors import Unreadable
from sally.core.prompt.strategy import StrategyResult
from sally.core.prompt.words import objects_in
from sally.core.reply.named_numbers import read_odds, read_values
from sally.core.reply.reading import (
    MOST_READ,
    choices_in,
    named,
    plain,
    read_choice,
    read_each,
    read_number,
    read_numbered,
    sections,
)
from sally.players.language import readable

TABLE: list[dict[str, Any]] = tomllib.loads(
    (Path(__file__).parent / "replies.toml").read_text("utf-8")
)["group"]
ROWS = [
    (group, reply, said)
    for group in TABLE
    for reply, said in (*group["reads"], *((r, "!refused") for r in group["refuses"]))
]


def read(group: dict[str, Any], reply: str) -> str:
    names, label = group["names"], group["label"]
    match group["kind"]:
        case "choice":
            return str(names[read_choice(reply, names, label)])
        case "probe":
            return str(names[read_choice(reply, names, label, theirs=True)])
        case "cut":
            return str(names[read_choice(readable(StrategyResult(reply, cut=True)), names, label)])
        case "numbered":
            return str(names[read_numbered(reply, names, label)])
        case "number":
            return str(read_number(reply, *map(int, names), label))
        case "odds":
            return "/".join(f"{100 * p:g}" for p in read_odds(reply, names))
        case _:
            values = read_values(reply, names, 0, 10)
            return " ".join(f"{names[i]} {v:g}" for i, v in values.items())


def test_the_table_is_large_and_looks_both_ways() -> None:
    refused = sum(said == "!refused" for _, _, said in ROWS)
    assert len(ROWS) >= 150
    assert refused >= 60 and len(ROWS) - refused >= 80


@pytest.mark.parametrize(("group", "reply", "said"), ROWS)
def test_a_reply_is_read_as_a_careful_person_would(
    group: dict[str, Any], reply: str, said: str
) -> None:
    if said == "!refused":
        with pytest.raises(Unreadable) as why:
            read(group, reply)
        assert len(str(why.value)) > 20  # it teaches
    else:
        assert read(group, reply) == said


# --- what no reply may do -----------------------------------------------------------------------

NAMES = ("Rock", "Paper", "Scissors")
noise = st.text(alphabet=st.characters(), max_size=60)
pieces = st.sampled_from(
    ["Option:", "option", "J", "F", "\n", " ", "or", "not", "because", "**", "`", "{", "}", ":"]
)
jumble = st.lists(pieces, max_size=14).map(" ".join)


@given(st.one_of(noise, jumble))
def test_no_reply_crashes_a_reader(reply: str) -> None:
    for group in TABLE:
        with contextlib.suppress(Unreadable):
            read(group, reply)
    list(objects_in(reply))
    sections(reply, ("Plans", "Insights"))
    read_each(reply, [("J", "F"), ("a", "b")], "Predicted Action")


@given(noise.filter(lambda text: not any(plain(name) in plain(text) for name in NAMES)))
def test_a_reply_without_a_name_is_never_a_move(reply: str) -> None:
    for said in (reply, f"Option: {reply}", f"Thoughts: {reply}\nOption:"):
        with pytest.raises(Unreadable):
            read_choice(said, NAMES, "Option")


@given(
    st.sampled_from(NAMES),
    st.sampled_from(["Option: {}", "**Option:** {}.", "option: `{}`", "Option: {}!", "{}"]),
    st.sampled_from([str, str.upper, str.lower, str.title]),
)
def test_case_and_markup_do_not_matter(name: str, shape: str, case: Any) -> None:
    assert NAMES[read_choice(shape.format(case(name)), NAMES, "Option")] == name


@given(jumble)
def test_one_more_contradicting_answer_makes_it_unreadable(thoughts: str) -> None:
    for first, second in (("J", "F"), ("F", "J")):
        with pytest.raises(Unreadable):
            read_choice(f"Option: {first}\n{thoughts}\nOption: {second}", ("J", "F"), "Option")


@given(st.permutations(range(3)), st.sampled_from(["Option: {}", "I pick {} because of {}"]))
def test_the_order_of_the_menu_does_not_change_what_is_read(order: list[int], shape: str) -> None:
    reply = shape.format("Paper", "Rock")
    shuffled = [NAMES[i] for i in order]
    one = {NAMES[i] for i in choices_in(reply, NAMES, "Option")}
    assert one == {shuffled[i] for i in choices_in(reply, shuffled, "Option")}


@pytest.mark.parametrize(
    "reply",
    [
        "\n" * 50_000,
        " " * 50_000,
        "Option: " * 8_000,
        "J " * 25_000,
        "{" * 50_000,
        '{"a": ' * 10_000,
        "<think>" * 7_000,
        "\\boxed{" * 7_000,
        "because " * 6_000,
        "Option: " + "J or F " * 7_000,
        "- J\n" * 12_000,
        "\ud800" * 1_000,
        "Predicted Action 1: J\n" * 2_000,
    ],
)
def test_a_reply_of_fifty_thousand_characters_is_read_in_no_time(reply: str) -> None:
    reply = reply[:MOST_READ]
    began = time.process_time()
    for group in TABLE:
        with contextlib.suppress(Unreadable):
            read(group, reply)
    list(objects_in(reply))
    read_each(reply, [("J", "F")] * 3, "Predicted Action")
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


def test_a_denied_name_is_not_named() -> None:
    assert named("I never pick J", ("J", "F")) == []
    assert named("J it is", ("J", "F")) == [0]
