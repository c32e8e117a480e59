"""What a page is said to be, and what a model says of it."""

from __future__ import annotations

import pytest

import sally
from sally.core import packs, shelf
from sally.core.log import Sitter
from sally.core.skins import AWARE, FRAMES
from sally.metrics.awareness import TESTED
from sally.models.stub import always
from sally.output.transcript import transcript
from sally.runner.check import check, prompts_of


@pytest.mark.parametrize(
    ("said", "is_one"),
    [
        ("This looks like a theory-of-mind test, so", True),
        ("I am being evaluated here.", True),
        ("It seems to be a benchmark question.", True),
        ("This is a classic false-belief task.", True),
        ("I test whether the other picks J again.", False),
        ("Option: J", False),
        ("My evaluation of Option F is poor.", False),
    ],
)
def test_words_for_being_tested_are_told_from_words_about_moves(said, is_one):
    assert bool(TESTED.search(said)) is is_one


def test_every_game_has_a_pack_for_every_frame():
    for game in shelf.packages():
        there = [name for name in packs.for_game(game) if AWARE in name]
        assert len(there) == len(FRAMES)


def test_a_frame_stands_above_the_rules_and_changes_nothing_else():
    shelf.add("models", "aware", lambda name: always("This is a test. Option: J"))
    own, framed = (
        Sitter("language", {"model": "aware", "pack": pack})
        for pack in ("", "repeated_games_aware_graded")
    )
    pages = []
    for who in (own, framed):
        episode = sally.play("ipd", {"agent": who, "partner": "tit_for_tat"}, rounds=2)
        assert check([episode]).mismatches == []
        (page,) = prompts_of(episode)[1, "agent", "", ""][0]
        pages.append(page.text)
    assert pages[1] == f"{FRAMES['graded']}\n\n{pages[0]}"
    assert FRAMES["graded"] in "\n".join(transcript(episode, "agent"))
    assert sally.score([episode], ["mentions_test"])[0]["value"] == 1.0
