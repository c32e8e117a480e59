"""Setting a table for the word games."""

from __future__ import annotations

from typing import Any

from sally.core.log.events import Instance, PlayerSpec, Setup
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.match.playback import replay_episode
from sally.core.match.player import Decision
from sally.core.match.seat_context import SeatContext
from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.core.rules.metric import Played
from sally.runner.seating import players_of, resolve_setup

Who = tuple[str, dict[str, Any]]
RANDOM: Who = ("random", {})


def match_at(game: str, params: dict[str, Any], arms: Any = None, **players: Who) -> Match:
    """A match about to begin; seats that are not named are taken by chance."""
    spec = registry.game(game)
    seats = spec.build(params).seats
    lineup = {str(seat): PlayerSpec(*players.get(seat, RANDOM)) for seat in seats}
    setup = Setup(Instance(game, game, params), 1, lineup, arms=dict(arms or {}))
    return Match(spec, resolve_setup(setup), ask_nature=False)


def played(game: str, params: dict[str, Any], arms: Any = None, **players: Who) -> Played:
    """An episode of bots, laid open for measuring."""
    match = match_at(game, params, arms, **players)
    Driver(match, players_of(match, match.setup.lineup)).run()
    episode = match.episode()
    return Played(match.spec, episode, replay_episode(match.spec, episode))


def measured(episode: Played, seat: str, name: str) -> float | None:
    """One metric of an episode."""
    family = episode.spec.family or episode.spec.name
    return registry.metrics(family)[name].measure(episode, Seat(seat))


def say(match: Match, seat: str, move: Any) -> None:
    """Make a move in a seat, by hand."""
    match.answer((match.turn, seat, "", ""), Decision(move))


def page_of(match: Match, seat: str) -> str:
    """All that a seat can read now, the view included."""
    context = SeatContext(match.spec, match.game, Seat(seat), 1)
    view = match.game.observe(match.state, Seat(seat))
    page = [str(context.opening(view, form)) for form in context.words.forms]
    for probe in match.spec.probes:
        if seat in probe.seats:
            for question in probe.asks(match.game, view, Seat(seat)):
                page += [context.words.aside(question, view), str(question.choices)]
    draw: Any = registry.part(match.spec.name, "board")
    return "\n".join([*page, context.words.now(view), repr(view), repr(draw(context, view))])
