"""The listed deals stay as they are, and the number of a deal means the same everywhere."""

from __future__ import annotations

import json
from importlib.resources import files

import pytest

from sally.core.registry import registry
from sally.games.hanabi.rules import Hanabi
from sally.games.hanabi.spec import PRESETS
from sally.games.hanabi.state import shuffle_cards

DEALS = 1_000


@pytest.mark.parametrize("game", ["hanabi", *PRESETS])
def test_listed_deals_are_those_of_their_numbers(game: str) -> None:
    source = files("sally.games.hanabi") / "instances" / f"{game}.json"
    listed = json.loads(source.read_text("utf-8"))
    decks = [tuple(ord(card) - ord("a") for card in deck) for deck in listed["decks"]]
    rules = registry.game(game).build({"deal": 7})
    assert isinstance(rules, Hanabi)
    assert (listed["colours"], listed["ranks"]) == (rules.colours, rules.ranks)
    assert decks == [shuffle_cards(rules.cards, deal) for deal in range(DEALS)]
    assert len(set(decks)) > 0.9 * DEALS
    assert rules.start().deck == decks[7]
