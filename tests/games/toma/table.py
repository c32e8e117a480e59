"""Setting a table for the games of ToMA."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sally
from sally.core.log.events import Episode, Injection, Instance, PlayerSpec, Setup
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.match.seat_context import SeatContext
from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.runner.seating import players_of, resolve_setup


def match_at(
    game: str,
    lineup: Mapping[str, str],
    seed: int = 1,
    arms: Mapping[str, tuple[str, ...]] | None = None,
    injections: tuple[Injection, ...] = (),
    **params: Any,
) -> Match:
    """A match about to begin."""
    player_specs = {seat: PlayerSpec(name) for seat, name in lineup.items()}
    setup = Setup(
        Instance(game, game, params),
        seed,
        player_specs,
        arms=dict(arms or {}),
        injections=injections,
    )
    return Match(registry.game(game), resolve_setup(setup))


def played(game: str, lineup: Mapping[str, str], seed: int = 1, **options: Any) -> Episode:
    """An episode of bots."""
    match = match_at(game, lineup, seed, **options)
    Driver(match, players_of(match)).run()
    return match.episode()


def row_of(episode: Episode, seat: str = "player") -> dict[str, Any]:
    """The seat's row, with every metric."""
    return next(row for row in sally.episodes([episode]) if row["seat"] == seat)


def page_of(match: Match, seat: str) -> str:
    """All that a seat can read now: opening, present, question, format."""
    context = SeatContext(match.spec, match.game, Seat(seat), 1)
    view = match.game.observe(match.state, Seat(seat))
    page = [str(context.opening(view, form)) for form in context.words.forms]
    page.append(context.words.now(view))
    if seat in match.game.to_move(match.state):
        options = match.game.options(match.state, Seat(seat))
        page += [context.words.question(view, options), context.words.format(view, options)]
    for probe in match.spec.probes:
        if seat in probe.seats:
            for question in probe.asks(match.game, view, Seat(seat)):
                page += [context.words.aside(question, view), context.words.aside_format(question)]
    return "\n".join(page)
