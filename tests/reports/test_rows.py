"""Rows: who is one player, and what is not known."""

from __future__ import annotations

from sally.core.log import Call
from sally.core.study import sitter
from sally.reports.rows import label, tokens


def test_two_ways_of_asking_a_model_are_two_players():
    cold = sitter("language", model="lab/x", settings={"temperature": 0.0, "max_tokens": 9})
    warm = sitter("language", model="lab/x", settings={"temperature": 1.0, "max_tokens": 9})
    assert (label(cold), label(warm)) == ("lab/x qa T=0.0", "lab/x qa T=1.0")
    assert label(sitter("language", model="lab/x")) == "lab/x qa"


def test_tokens_that_one_call_did_not_count_are_not_known_in_sum():
    counted, failed = (
        Call("move", "x", usage={"input": 5, "output": 2}),
        Call("move", "x", failure="server"),
    )
    assert tokens([counted, failed], "input") == 5
    assert tokens([counted, Call("move", "x", "hm", usage={"seconds": 1.0})], "input") is None
    assert tokens([], "output") == 0
