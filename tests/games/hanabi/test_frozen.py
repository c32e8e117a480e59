"""Frozen deals stay as they are, and the number of a deal means the same everywhere."""

from __future__ import annotations

import pytest

from sally.core.errors import BadInput
from sally.core.registry import registry
from sally.games.hanabi.frozen import DEALS, SETS, frozen_decks
from sally.games.hanabi.state import shuffled


@pytest.mark.parametrize("game", sorted(SETS))
def test_the_frozen_deals_are_those_of_their_numbers(game: str) -> None:
    decks = frozen_decks(game)
    assert len(decks) == DEALS
    rules = SETS[game]
    assert decks == tuple(shuffled(rules.cards, deal) for deal in range(DEALS))
    assert len(set(decks)) > 0.9 * DEALS
    built = registry.game(game).build({"deal": 7})
    assert built.start().deck == decks[7]


def test_a_set_that_is_not_there_is_answered_with_those_that_are() -> None:
    with pytest.raises(BadInput, match="did you mean hanabi_mini"):
        frozen_decks("hanabi_mni")
