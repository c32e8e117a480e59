"""A player of Sally's in a game that is played elsewhere."""

from __future__ import annotations

import pytest
from mirrored_seat import MirroredSeat

import sally
from sally.core.errors import BadInput
from sally.core.log.events import Moved
from sally.games.repeated_games.rules import AGENT, PARTNER, Joint

AGAINST = [0, 1, 1, 0, 1, 0, 0, 0, 1, 1]


@pytest.mark.parametrize(
    "who", ["tit_for_tat", "grim_trigger", "random", "tom_k", "bayes_adaptive"]
)
def test_partner_plays_same_moves_outside_sally(who: str) -> None:
    episode = sally.play(
        "ipd", {"agent": lambda t: AGAINST[t.view.round - 1], "partner": who}, seed=5, rounds=10
    )
    moves = [e.action for e in episode.events if isinstance(e, Moved) and e.seat == "partner"]
    seat, rounds = MirroredSeat({"rounds": 10}, PARTNER, who, seed=5), list[Joint]()
    for other_move in AGAINST:
        rounds.append((seat.move(rounds), other_move))
    assert [own_move for own_move, _ in rounds] == moves
    # a second game in the same seat, joined in the middle, and another past than its own
    assert seat.move(rounds[:4]) == moves[4]
    assert MirroredSeat({"rounds": 10}, PARTNER, who, seed=5).move(rounds[:7]) == moves[7]


def test_agent_reads_the_matrix_by_rows() -> None:
    matrix = (((1, 0), (0, 1)), ((0, 1), (1, 0)))
    params = {"matrix": matrix, "rounds": 4}
    follows = "fictitious_play"
    first = MirroredSeat(params, AGENT, follows).move([(0, 1)])
    two = MirroredSeat(params, PARTNER, follows).move([(0, 1)])
    assert (first, two) == (1, 0)  # the agent gains by matching, the partner by differing


def test_unplayable_requests_are_refused() -> None:
    seat = MirroredSeat({"rounds": 2}, PARTNER, "tit_for_tat")
    with pytest.raises(BadInput, match="over after 2 rounds"):
        seat.move([(0, 0), (0, 0)])
    with pytest.raises(BadInput):
        seat.move([(0, 7)])
    with pytest.raises(BadInput, match="player of repeated_games"):
        MirroredSeat({}, PARTNER, "tit_for_tatt")
