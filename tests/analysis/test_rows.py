"""Rows: who is one player, and what is not known."""

from __future__ import annotations

import pytest

import sally
from sally.analysis.columns.rows import decision_rows, mean_of, tokens
from sally.core.log.events import Call, label
from sally.core.registry.study import player_spec


def test_model_with_two_temperatures_counts_as_two_players():
    cold = player_spec("language", model="lab/x", settings={"temperature": 0.0, "max_tokens": 9})
    warm = player_spec("language", model="lab/x", settings={"temperature": 1.0, "max_tokens": 9})
    assert (label(cold), label(warm)) == ("lab/x qa T=0", "lab/x qa T=1")
    assert label(player_spec("language", model="lab/x")) == "lab/x qa"


def test_token_sum_is_unknown_if_a_call_lacks_a_count():
    counted, failed = (
        Call("move", "x", usage={"input": 5, "output": 2}),
        Call("move", "x", failure="server"),
    )
    assert tokens([counted, failed], "input") == 5
    assert tokens([counted, Call("move", "x", "hm", usage={"seconds": 1.0})], "input") is None
    assert tokens([], "output") == 0


def test_repeats_of_instance_or_person_do_not_narrow_the_interval():
    skill = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    rows = [{"instance": f"i{n}", "x": value} for n, value in enumerate(skill) for _ in range(50)]
    alone = mean_of([{"instance": f"i{n}", "x": x} for n, x in enumerate(skill)], "x")
    many = mean_of(rows, "x")
    assert (many.value, many.n) == (2.5, 300)
    assert many.interval == pytest.approx(alone.interval)
    people = [row | {"instance": "the same", "participant": row["instance"]} for row in rows]
    assert mean_of(people, "x").interval == pytest.approx(alone.interval)
    one = [row | {"instance": "the same"} for row in rows]  # nothing to tell episodes apart by
    assert mean_of([*one, {"instance": "i", "x": None}], "x").method == "t over 300 clusters"


def test_only_odds_that_were_stated_are_scored_as_odds():
    lineup = {"agent": "constant", "partner": "tit_for_tat"}
    bare = sally.play("rps", lineup, 1, probes={"agent": ["their_move"]}, rounds=4)
    stated = sally.play(
        "rps", lineup | {"agent": "random"}, 1, probes={"agent": ["their_odds"]}, rounds=4
    )
    for episode, has_odds in ((bare, False), (stated, True)):
        reports = [row for row in decision_rows([episode]) if row["what"] == "report"]
        assert reports and all((row["odds"] is not None) is has_odds for row in reports)
        assert all((row["brier"] is not None) is has_odds for row in reports)
        assert all(row["right"] is not None for row in reports)
