"""Recorded play from other projects, replayed through a match round by round."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from sally.core.log.events import Episode, Forfeited, Moved, PlayerSpec, Setup
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.match.partner import Script
from sally.core.match.player import WAIT, Forfeit, NoAnswer, Turn
from sally.core.registry import registry
from sally.core.rules.game import NATURE, Seat
from sally.core.rules.probe import ProbeReport
from sally.games.repeated_games.partners.basis import Drawn, Odds
from sally.games.repeated_games.rules import AGENT, GO_ON, PARTNER, STOP
from sally.parts.importers import HUMAN, recorded_player

Made = int | str  # a move, or the reason why there is none
NOT_SAID = "no prediction is on record"


class Round(msgspec.Struct, frozen=True):
    """One recorded round: each seat's move (or the reason why it forfeited), and any
    predictions."""

    agent: Made
    partner: Made
    reports: Mapping[str, ProbeReport] = {}  # by seat: what it said the other would do


def person(participant: str = "") -> PlayerSpec:
    """Return the player spec of a recorded human player."""
    return recorded_player(HUMAN, participant)


def bot(name: str, params: Mapping[str, Any] | None = None) -> PlayerSpec:
    """Return the spec of the partner that represents a recorded bot."""
    partner = registry.pick("partner", name, registry.partners("repeated_games"))
    return PlayerSpec(name, dict(params or {}), {"player": partner.version})


def rounds_of(episode: Episode) -> list[Round]:
    """Return the rounds of a stored episode, without predictions, so that they can be replayed."""
    moves_by_turn: dict[int, dict[str, Made]] = {}
    for event in episode.events:
        if isinstance(event, Moved) and event.seat != NATURE:
            moves_by_turn.setdefault(event.turn, {})[event.seat] = event.action
        elif isinstance(event, Forfeited):
            moves_by_turn.setdefault(event.turn, {})[event.seat] = event.reason
    return [
        Round(moves_by_turn[turn][AGENT], moves_by_turn[turn][PARTNER])
        for turn in sorted(moves_by_turn)
    ]


class BotAgreement(msgspec.Struct, frozen=True):
    """How well our version of a bot agrees with the bot's recorded moves."""

    certain: tuple[int, int] = (0, 0)  # rounds with one possible move: as recorded, all
    tied: tuple[int, int] = (0, 0)  # rounds with two, equally likely: among them, all
    likeliest: tuple[int, int] = (0, 0)  # rounds with one likeliest move: as recorded, all
    outside: tuple[int, ...] = ()  # rounds, from 1, whose recorded move our bot never makes there


def agreement_with_bot(
    setup: Setup, seat: Seat, bot: PlayerSpec, rounds: Sequence[Round]
) -> BotAgreement:
    """Return how well our version of a bot agrees with the recorded moves of a seat."""
    return fed(setup, rounds, {seat: bot}, "", {})[1][seat]


def fed(
    setup: Setup,
    rounds: Sequence[Round],
    bots: Mapping[Seat, PlayerSpec],
    cell: str,
    used: Mapping[str, Any],
) -> tuple[Episode, dict[Seat, BotAgreement]]:
    """Return the episode of a record, and how well each of `bots` agrees with the recorded moves.

    If the record ends early, the episode is censored.
    """
    match: Match[Any, int, Any] = Match(registry.game(setup.instance.game), setup, ask_nature=True)
    partners = registry.partners("repeated_games")
    scripts = {
        seat: partners[spec.player].make(match.game, seat, **spec.params)
        for seat, spec in bots.items()
    }
    compared: dict[Seat, list[tuple[int, int, Odds]]] = {seat: [] for seat in bots}

    def answer_from_record(turn: Turn) -> Any:
        number = len(match.state.past)
        if turn.seat == NATURE:
            return STOP if number == len(rounds) else GO_ON
        if number == len(rounds):
            return WAIT
        if turn.question is not None:
            return rounds[number].reports.get(turn.seat) or NoAnswer(NOT_SAID)
        move = rounds[number].agent if turn.seat == AGENT else rounds[number].partner
        if isinstance(move, str):
            return Forfeit(move)
        if turn.seat in scripts:
            compared[turn.seat].append((number + 1, move, _odds(scripts[turn.seat], turn)))
        return move

    Driver(match, dict.fromkeys((AGENT, PARTNER, NATURE), answer_from_record)).run()
    if not match.over:
        match.censor("left", f"{len(match.state.past)} rounds are on record")
    agreement = {seat: _judge_moves(moves) for seat, moves in compared.items()}
    return match.episode(cell, used), agreement


def _odds(script: Script, turn: Turn) -> Odds:
    """Return a bot's move probabilities."""
    return script.odds(turn.view) if isinstance(script, Drawn) else {script(turn): 1.0}


def _judge_moves(moves: Iterable[tuple[int, int, Odds]]) -> BotAgreement:
    """Return how well a bot agrees with moves, each given as its round, the move and the odds."""
    certain, tied, likeliest = [0, 0], [0, 0], [0, 0]
    outside = []
    for number, move, odds in moves:
        if len(odds) <= 2:
            kind = certain if len(odds) == 1 else tied
            kind[1] += 1
            kind[0] += move in odds
        if move not in odds:
            outside.append(number)
        top = [move for move, p in odds.items() if p == max(odds.values())]
        if len(top) == 1:
            likeliest[1] += 1
            likeliest[0] += move == top[0]
    certain_pair, two, best = ((kind[0], kind[1]) for kind in (certain, tied, likeliest))
    return BotAgreement(certain_pair, two, best, tuple(outside))
