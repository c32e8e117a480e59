"""What no page and no board may give away."""

from __future__ import annotations

from typing import Any

import msgspec

from sally.core import shelf
from sally.core.desk import Desk
from sally.core.game import Seat
from sally.games.level_k.board import BOARD

ONE, TWO = Seat("player_1"), Seat("player_2")


def shown(params: dict[str, Any], moves: dict[Seat, int], seat: Seat) -> str:
    """Everything that a seat can read or see after a round that was void, and before the next."""
    spec = shelf.game("hide_and_seek")
    game = spec.build({"rounds": 2, **params})
    view = game.observe(game.forfeit(game.start(), moves, (TWO,)), seat)
    desk = Desk(spec, game, seat, 1)
    asides = [
        desk.words.aside(question, view)
        for probe in spec.probes
        for question in probe.asks(game, view, seat)
    ]
    page = f"{desk.opening(view, 'agent_first')}{desk.words.now(view)}"
    drawn = msgspec.json.encode(BOARD(desk, view)).decode()
    return "\n".join([page, desk.words.question(view, game.menu(seat)), drawn, *asides])  # type: ignore[attr-defined]


def test_a_void_round_does_not_tell_what_the_other_had_picked() -> None:
    for seat in (ONE, TWO):
        assert shown({}, {ONE: 0}, seat) == shown({}, {ONE: 3}, seat)


def test_nobody_is_told_which_box_stands_out() -> None:
    first, third = ({"pays": {"kind": "boxes", "salient": place}} for place in (0, 2))
    for seat in (ONE, TWO):
        assert shown(first, {ONE: 0}, seat) == shown(third, {ONE: 0}, seat)
