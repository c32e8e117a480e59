"""A TradeCraft table for tests: moves given one after the other, by seat."""

from __future__ import annotations

from typing import Any

from sally.core.log.events import Instance, PlayerSpec, Setup
from sally.core.match.engine import Match
from sally.core.match.player import Decision
from sally.core.match.seat_context import SeatContext
from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.games.tradecraft.actions import Craft, Propose

P1, P2, P3 = Seat("p1"), Seat("p2"), Seat("p3")
HANDS = (
    {"iron_ingot": 1, "coal": 2, "birch_planks": 1},
    {"raw_iron": 3, "oak_planks": 2, "cobblestone": 2},
)
THREE = (*HANDS, {"cobblestone": 4, "stick": 3})
TARGETS = ({"shears": 1}, {"torch": 1}, {"lever": 1})


def match_of(
    hands: Any = HANDS,
    targets: Any = None,
    max_turns: int = 15,
    arms: Any = None,
    retries: int = 2,
    **params: Any,
) -> Match:
    """A match about to begin."""
    actual_params = {
        "hands": hands,
        "targets": targets or TARGETS[: len(hands)],
        "max_turns": max_turns,
    }
    problem = Instance("table", "tradecraft", {**actual_params, **params})
    lineup = {f"p{n + 1}": PlayerSpec("random") for n in range(len(hands))}
    setup = Setup(problem, 1, lineup, arms=arms or {}, retries=retries)
    return Match(registry.game("tradecraft"), setup)


def play(match: Match, *moves: tuple[str, Any]) -> Match:
    """The match after these moves."""
    for seat, action in moves:
        match.answer((match.turn, seat, "", ""), Decision(action))
    return match


def propose(to: str, offer: dict[str, Any], request: dict[str, Any], message: str = "") -> Propose:
    def texts(goods: dict[str, Any]) -> tuple[tuple[str, str], ...]:
        return tuple((item, str(amount)) for item, amount in goods.items())

    return Propose(to, texts(offer), texts(request), message)


def craft(inputs: dict[str, Any], output: str, amount: int = 1) -> Craft:
    return Craft(tuple((item, str(n)) for item, n in inputs.items()), output, amount)


def page(match: Match, seat: Seat) -> str:
    """All that a seat can read or see in the present state."""
    view = match.game.observe(match.state, seat)
    context = SeatContext(match.spec, match.game, seat, 1)
    movers = match.game.to_move(match.state)
    options = match.game.options(match.state, seat) if seat in movers else ()
    asked = context.words.format(view, options) if options else ""
    return f"{context.opening(view, 'agent_first')}{context.words.now(view)}{asked}{options}{view}"
