"""What no page and no board may give away."""

from __future__ import annotations

from typing import Any

import msgspec

from sally.core.match.seat_context import SeatContext
from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.games.level_k.board import BOARD

ONE, TWO = Seat("player_1"), Seat("player_2")


def render_page(params: dict[str, Any], moves: dict[Seat, int], seat: Seat) -> str:
    """Everything that a seat can read or see after a round that was void, and before the next."""
    spec = registry.game("hide_and_seek")
    game = spec.build({"rounds": 2, **params})
    view = game.observe(game.forfeit(game.start(), moves, (TWO,)), seat)
    context = SeatContext(spec, game, seat, 1)
    probe_session = [
        context.words.aside(question, view)
        for probe in spec.probes
        for question in probe.asks(game, view, seat)
    ]
    page = f"{context.opening(view, 'agent_first')}{context.words.now(view)}"
    data = msgspec.json.encode(BOARD(context, view)).decode()
    return "\n".join([page, context.words.question(view, game.menu(seat)), data, *probe_session])  # type: ignore[attr-defined]


def test_void_round_does_not_reveal_the_other_move() -> None:
    for seat in (ONE, TWO):
        assert render_page({}, {ONE: 0}, seat) == render_page({}, {ONE: 3}, seat)


def test_salient_box_is_hidden_from_all_seats() -> None:
    first, third = ({"pays": {"kind": "boxes", "salient": place}} for place in (0, 2))
    for seat in (ONE, TWO):
        assert render_page(first, {ONE: 0}, seat) == render_page(third, {ONE: 0}, seat)
