"""Our rules against OpenSpiel's, which hold the Hanabi Learning Environment.

Runs where OpenSpiel is installed; `python -m benchmarks.hanabi` compares 10,000 games.
"""

from __future__ import annotations

import pytest

from tests.games.hanabi.same_as_open_spiel import difference
from tests.games.hanabi.sitting import VARIANTS

pyspiel = pytest.importorskip("pyspiel")


@pytest.mark.parametrize("variant", sorted(VARIANTS))
@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_states_equal_open_spiel_for_same_deals_and_moves(variant: str, players: int) -> None:
    for deal in range(10):
        assert difference(pyspiel, VARIANTS[variant], players, deal) is None
