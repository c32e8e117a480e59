"""What strategies say in the locker and at the trade has been read by a human eye, and stays."""

from __future__ import annotations

import pytest

from sally.core.registry import registry
from tests.conversations.tables import TABLES, conversation, fits, goldens, path_of
from tests.conversations.word_tables import SEATS

REFUSED = {  # TradeCraft has moves that are written freely, and no question with choices
    ("tradecraft", name) for name in ("lm", "social_lm", "social_qa", "tom_cot", "tom_guide")
}


@pytest.mark.parametrize(
    ("game", "strategy"), goldens(), ids=lambda x: x if isinstance(x, str) else x.name
)
def test_conversation_is_unchanged(game, strategy):
    assert conversation(game, strategy) == path_of(game, strategy).read_text("utf-8")


def test_exactly_the_fitting_strategies_have_a_conversation():
    all_index_entries = registry.entries("strategies")
    full_tables = [game for game in TABLES if game not in SEATS]
    refused = {
        (game, name)
        for game in full_tables
        for name in all_index_entries
        if not fits(game, all_index_entries[name])
    }
    assert refused == REFUSED
    pairs = {
        (p.parent.name, p.stem)
        for g in TABLES
        for p in path_of(g, all_index_entries["qa"]).parent.glob("*")
    }
    assert pairs == {(game, strategy.name) for game, strategy in goldens()}


@pytest.mark.parametrize("game", TABLES)
def test_conversations_contain_no_forfeit(game):
    """A golden conversation shows play, not refusals: every page got a readable reply."""
    for strategy in (s for g, s in goldens() if g == game):
        text = path_of(game, strategy).read_text("utf-8")
        assert text.count("=== page") >= 3, strategy.name
        assert "could not be" not in text
