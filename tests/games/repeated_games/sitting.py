"""Putting a script in front of a past: the turn it would see, with void rounds or without."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sally.core.match.partner import Partner, Script
from sally.core.match.player import Turn
from sally.core.match.seat_context import SeatContext
from sally.core.registry import registry
from sally.core.rules.chance import Stream
from sally.core.rules.game import Seat
from sally.games.repeated_games.rules import AGENT, PARTNER, Joint, RepeatedGame

FAMILY = "repeated_games"


def partner(name: str) -> Partner:
    return registry.partners(FAMILY)[name]


def rules(name: str, **params: Any) -> RepeatedGame:
    game = registry.game(name).build(params)
    assert isinstance(game, RepeatedGame)
    return game


def turn_after(
    game: RepeatedGame, past: Sequence[Joint | None], seat: Seat = PARTNER, seed: int = 1
) -> Turn[int, Any]:
    """What `seat` is shown after these rounds, given as (agent's, partner's); None is void."""
    state = game.start()
    for joint in past:
        if joint is None:
            state = game.forfeit(state, {}, (AGENT,))
        else:
            state = game.step(state, {AGENT: joint[0], PARTNER: joint[1]})
    spec = registry.game(FAMILY)
    context = SeatContext(spec, game, seat, seed)
    view = game.observe(state, seat)
    return Turn((len(past), seat, "", ""), context, view, game.moves_of(seat))


def moves(script: Script, game: RepeatedGame, against: Sequence[int], seed: int = 1) -> list[int]:
    """What the partner plays against these moves of the agent."""
    past: list[Joint] = []
    for other_move in against:
        past.append((other_move, script(turn_after(game, past, seed=seed))))
    return [joint[1] for joint in past]


def said(text: str, names: Sequence[str]) -> list[int]:
    return [names.index(letter) for letter in text]


def shown(picked: Sequence[int], names: Sequence[str], like: str) -> str:
    """The moves by name; a question mark where the line leaves the move open."""
    return "".join("?" if open == "?" else names[m] for m, open in zip(picked, like, strict=True))


def drawn(turn: Turn[int, Any], odds: Mapping[int, float]) -> int:
    """The move that a script has to draw if these are its odds."""
    return Stream(turn.context.seed, turn.seat, turn.number, "move").draw(odds)
