"""The audit of a file of items, on items of our own."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from sally.cli import cli
from sally.core.errors import BadInput
from sally.games.battery.audit import (
    audit_items,
    named_first_unless_seen,
    negation_second_on_ties,
)
from sally.games.battery.items import Item, encode_items
from sally.games.battery.mindless import negation, share

CELLS = {"true_belief": "sees", "false_belief": "does not see", "true_control": "sees"}


def items(count: int = 10) -> list[Item]:
    """Return items with BigToM's design, in which the negation rule meets the weaker criterion."""
    return [
        Item(
            id=f"b-{n}-{cell}",
            story=f"A pear is ripe. It is swapped for a hard one. Mo {percept} the swap.",
            question="Does Mo believe it is ripe or hard?",
            options=("Mo believes it is hard.", "Mo believes it is ripe."),
            answer=int(cell != "true_belief"),
            task="forward_belief",
            order=1,
            condition=cell,
            pair=f"s-{n}",
            belief_stated=True,
        )
        for n in range(count)
        for cell, percept in CELLS.items()
    ]


def test_rule_about_negations_meets_the_weaker_criterion_and_not_the_strict_one() -> None:
    audit = audit_items(items(), learn=False)
    strict = {name: value for name, value in audit.strict.items() if "published" not in name}
    weak = {name: value for name, value in audit.strict.items() if "published" in name}
    assert list(weak.values()) == [100.0] and "negation" in next(iter(weak))
    assert max(strict.values()) == 0.0
    by_cell = {cell: share(negation, [i for i in items() if i.condition == cell]) for cell in CELLS}
    assert by_cell == {"true_belief": 100, "false_belief": 100, "true_control": 0}


def test_counts_flags_and_keys() -> None:
    broken = Item("x", "s", "q", ("a", "b"), 1, pair="x", flags=("broken",), published_answer=0)
    audit = audit_items([*items(), broken], learn=False)
    assert (audit.items, audit.stories, audit.not_scored, audit.differ) == (31, 11, 1, 1)
    assert audit.flags == {"broken": 1}


def test_named_first_unless_seen_follows_the_belief_condition() -> None:
    text = "They see a jar, a tin and a box. Mo leaves. Lu moves the nut to the tin."
    old, new = (
        Item("x", text, "?", ("Box", "Tin", "Jar"), 0, "False Belief Task", 1, cell)
        for cell in ("false_belief", "true_belief")
    )
    assert named_first_unless_seen(old) == (2,)
    assert named_first_unless_seen(new) == (1,)


def test_blind_learner_finds_a_word_that_reveals_the_key() -> None:
    given_away = [
        Item(f"w-{n}", "s", "Which?", (f"thing {n}", "surely"), 1, pair=f"p-{n}") for n in range(40)
    ]
    assert audit_items(given_away).lines[0].blind == pytest.approx(100)


def test_only_learner_with_story_finds_leak_in_last_sentence() -> None:
    line = audit_items([item for item in items(30) if item.condition != "true_control"]).lines[0]
    assert line.page == pytest.approx(100)
    assert line.blind is not None and line.blind < 70


def test_negation_rule_with_ties_to_the_second_option() -> None:
    by_cell = {
        cell: share(negation_second_on_ties, [i for i in items() if i.condition == cell])
        for cell in CELLS
    }
    assert by_cell == {"true_belief": 100, "false_belief": 100, "true_control": 0}
    act = Item("x", "The jar is red.", "What?", ("Mo waits.", "Mo leaves."), 1, "forward_action")
    assert negation_second_on_ties(act) == (0,)  # a tie: the second is old, and nothing is denied


def test_command_prints_the_table_and_refuses_other_games(tmp_path: Path) -> None:
    file = tmp_path / "items.jsonl"
    file.write_bytes(encode_items(items()))
    result = CliRunner().invoke(cli, ["audit", "battery", "--items", str(file)])
    assert result.exit_code == 0, result.output
    assert "30 items of 10 stories" in result.output and "written after looking" in result.output
    with pytest.raises(BadInput, match="ipd has no items"):
        CliRunner().invoke(cli, ["audit", "ipd", "--items", str(file)], catch_exceptions=False)


def test_items_that_are_all_flagged_are_refused() -> None:
    with pytest.raises(BadInput, match="all of them are flagged"):
        audit_items([Item("x", "s", "q", ("a", "b"), 0, flags=("broken",))])
