"""The past of a repeated game, told line by line as it grows or all at once."""

from __future__ import annotations

import pytest

from sally.core.match.seat_context import SeatContext
from sally.core.registry import registry
from sally.games.repeated_games.rules import AGENT, PARTNER


@pytest.mark.parametrize("seat", [AGENT, PARTNER])
@pytest.mark.parametrize("form", ["agent_first", "partner_first"])
def test_lines_of_a_round_are_equal_whether_rendered_early_or_late(seat, form):
    spec = registry.game("ipd")
    game = spec.build({"rounds": 9, "names": ["\ue000", "{round}"]})  # names that could confuse
    words, state, grown = SeatContext(spec, game, seat, 1).words, game.start(), list[str]()
    for moves in ({AGENT: 0, PARTNER: 1}, {AGENT: 1}, {PARTNER: 1}, {AGENT: 1, PARTNER: 1}, {}):
        if len(moves) == 2:
            state = game.step(state, moves)
        else:
            lost_seats = tuple(s for s in game.seats if s not in moves)
            state = game.forfeit(state, moves, lost_seats)
        grown += words.lines(game.observe(state, seat), len(grown), form)
    assert grown == list(words.lines(game.observe(state, seat), 0, form))
    assert ["not played" in line for line in grown] == [False, True, True, False, True]
    assert [line.partition(":")[0] for line in grown] == [f"Round {n}" for n in range(1, 6)]
    assert "{round}" in grown[3] and "\ue000" in grown[0]
