"""Setting a table for tests: any game of the shelf, anybody in the seats, and ways to play."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sally.core import shelf
from sally.core.chance import Stream
from sally.core.drive import play_bots
from sally.core.game import GameSpec, Seat
from sally.core.log import Episode, Instance, Setup, Sitter
from sally.core.match import Match
from sally.core.player import Forfeit, Player, Turn
from sally.core.probe import Injection
from sally.players.mindless import Random
from sally.runner.seating import players_of, resolved

Spec = GameSpec[Any, Any, Any]
Arms = Mapping[str, tuple[str, ...]]

# Other shapes of the games on the shelf that every rule of conduct must hold for, too.
SHAPES: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "repeated_games, unlike seats": (
        "repeated_games",
        {
            "matrix": [[[1, 2], [3, 4], [5, 6]], [[6, 5], [4, 3], [2, 1]]],
            "names": ["Tea", "Milk"],
            "partner_names": ["Cup", "Glass", "Mug"],
        },
    ),
    "ipd, chance to stop": ("ipd", {"stop_chance": 0.3}),
    "beauty_contest, five players": (
        "beauty_contest",
        {"pays": {"kind": "contest", "players": 5, "share": "4/3"}, "rounds": 3},
    ),
    "mindgames, discrete": ("mindgames", {"variant": "discrete_game"}),
    "haggle, no secrets": ("haggle", {"secret_turns": 0}),
    "hanabi, three players": ("hanabi_small", {"players": 3, "score": "kept"}),
    "tradecraft, three players": (
        "tradecraft",
        {
            "ruleset": "alchemy",
            "hands": [
                {"clay": 2, "ember": 1, "moonlight": 1},
                {"ember": 1, "flint": 1},
                {"dew": 1, "salt": 2, "seed": 1},
            ],
            "targets": [{"pale_crystal": 1}, {"shard": 1}, {"shoot": 1}],
        },
    ),
}


# Whatever these write is a message; what is wrong with it the rules say, and send it back.
SENT_BACK = {("mindgames, discrete", "persuader")}


def every() -> list[str]:
    """Every game of the shelf by name, and the shapes above."""
    return [*shelf.games(), *SHAPES]


def problem_of(name: str) -> Instance:
    """A small instance of a game."""
    game, params = SHAPES.get(name, (name, {}))
    known = shelf.game(game).parameters
    short = {name: n for name, n in (("rounds", 6), ("max_turns", 4)) if name in known}
    return Instance(name, game, {**short, **params})


def spec_of(name: str) -> Spec:
    return shelf.game(problem_of(name).game)


def all_probes(name: str) -> Arms:
    """The arm in which every seat is asked everything."""
    spec = spec_of(name)
    seats = spec.build(problem_of(name).params).seats
    return {s: tuple(p.name for p in spec.probes if s in p.seats) for s in seats}


def table(
    name: str,
    seed: int = 1,
    *,
    arms: Arms | None = None,
    injections: tuple[Injection, ...] = (),
    who: str = "random",
    **lineup: Sitter,
) -> Setup:
    """A setup with `who` in every seat that the lineup does not fill."""
    problem = problem_of(name)
    seats = shelf.game(problem.game).build(problem.params).seats
    sitting = {str(seat): lineup.get(seat, Sitter(who)) for seat in seats}
    return resolved(Setup(problem, seed, sitting, arms=dict(arms or {}), injections=injections))


def match_of(setup: Setup) -> Match[Any, Any, Any]:
    return Match(shelf.game(setup.instance.game), setup)


def players_at(match: Match[Any, Any, Any]) -> dict[str, Player[Any, Any]]:
    """Everybody at a table; `random` is the mindless one, who also answers questions.

    A family of games may have a partner of that name, who would sit down in its place.
    """
    lineup = match.setup.lineup
    named = players_of(match, {s: who for s, who in lineup.items() if who.player != "random"})
    return {str(s): Random() for s, who in lineup.items() if who.player == "random"} | named


def played(setup: Setup) -> Episode:
    """The episode, played by bots."""
    match = match_of(setup)
    play_bots(match, players_at(match))
    return match.episode()


def answered_by(turn: Turn[Any, Any], players: Mapping[str, Player[Any, Any]]) -> Any:
    """What the player in a seat says to an ask."""
    player: Any = players[turn.seat]
    return player.decide(turn) if turn.question is None else player.report(turn)


def asked_in_turn(match: Match[Any, Any, Any]) -> Iterator[tuple[Turn[Any, Any], Any]]:
    """Every ask with the answer about to be given to it, as a match of bots goes on."""
    players = players_at(match)
    while asks := match.asks():
        turn = asks[0]
        given = answered_by(turn, players)
        yield turn, given
        if not match.over:
            match.answer(turn.id, given)


def play_in_any_order(match: Match[Any, Any, Any], draws: Stream, forfeits: float = 0.0) -> None:
    """Answer open asks in a random order; players (not helpers) forfeit with the given chance."""
    players = players_at(match)
    while asks := match.asks():
        turn = draws.pick(asks)
        lost = forfeits and turn.question is None and turn.seat not in match.game.helpers
        mishap = Stream("mishap", turn.number, turn.seat)  # by ask, not by order
        given = answered_by(turn, players)
        if lost and mishap() < forfeits:
            given = Forfeit("unreadable", "Hm.")
        match.answer(turn.id, given)


def seat(name: str) -> Seat:
    return Seat(name)
