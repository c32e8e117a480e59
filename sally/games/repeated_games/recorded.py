"""Recorded play from other projects, replayed through a match round by round."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from sally.core.log.events import Episode, Forfeited, Moved, PlayerSpec, Setup
from sally.core.log.imported import HUMAN, recorded_player
from sally.core.match.engine import Match
from sally.core.match.player import Decision, Forfeit, NoAnswer
from sally.core.registry import registry
from sally.core.rules.game import NATURE, Seat
from sally.core.rules.partner import Script
from sally.core.rules.probe import ProbeReport
from sally.games.repeated_games.partners.basis import Drawn, Odds
from sally.games.repeated_games.rules import AGENT, GO_ON, PARTNER, STOP, RepeatedGame

Made = int | str  # a move, or the reason why there is none
NOT_SAID = "no prediction is on record"


class Round(msgspec.Struct, frozen=True):
    """One recorded round: each seat's move (or the reason why it forfeited), and any
    predictions."""

    agent: Made
    partner: Made
    said: Mapping[str, ProbeReport] = {}  # by seat: what it said the other would do


def person(participant: str = "") -> PlayerSpec:
    """Return the player spec of a recorded human player."""
    return recorded_player(HUMAN, participant)


def bot(name: str, params: Mapping[str, Any] | None = None) -> PlayerSpec:
    """Return the spec of the partner that represents a recorded bot."""
    partner = registry.pick("partner", name, registry.partners("repeated_games"))
    return PlayerSpec(name, dict(params or {}), {"player": partner.version})


class RecordedFeed:
    """A match that takes its moves from a record, and compares them with those of bots."""

    def __init__(self, setup: Setup) -> None:
        spec = registry.game(setup.instance.game)
        self.match: Match[Any, int, Any] = Match(spec, setup, ask_nature=True)
        assert isinstance(self.match.game, RepeatedGame)
        self.game = self.match.game

    def script(self, seat: Seat, who: PlayerSpec) -> Script:
        """Return a bot's script in this game."""
        partner = registry.partners("repeated_games")[who.player]
        made: Script = partner.make(self.game, seat, **who.params)
        return made

    def odds(self, seat: Seat, script: Script) -> Odds:
        """Return a bot's move probabilities for the next round in this seat."""
        asked = self.match.asks()
        turn = next(turn for turn in asked if turn.seat == seat and turn.question is None)
        return script.odds(turn.view) if isinstance(script, Drawn) else {script(turn): 1.0}

    def play(self, played: Round, last: bool) -> None:
        """Play one recorded round and, in a game that may stop at random, nature's recorded
        decision to stop or continue."""
        number = self.match.turn
        for turn in self.match.asks():
            if turn.question is not None:
                self.match.answer(turn.id, played.said.get(turn.seat) or NoAnswer(NOT_SAID))
        for seat, made in ((AGENT, played.agent), (PARTNER, played.partner)):
            given = Forfeit(made) if isinstance(made, str) else Decision(made)
            self.match.answer((number, seat, "", ""), given)
        if any(turn.seat == NATURE for turn in self.match.asks()):
            self.match.move(NATURE, STOP if last else GO_ON)

    def episode(self, cell: str, used: Mapping[str, Any]) -> Episode:
        """Return the episode of the match; if the record ends early, the episode is censored."""
        if not self.match.over:
            self.match.censor("left", f"{len(self.match.state.past)} rounds are on record")
        return self.match.episode(cell, used)


def rounds_of(episode: Episode) -> list[Round]:
    """Return the rounds of a stored episode, without predictions, so that they can be replayed."""
    made: dict[int, dict[str, Made]] = {}
    for event in episode.events:
        if isinstance(event, Moved) and event.seat != NATURE:
            made.setdefault(event.turn, {})[event.seat] = event.action
        elif isinstance(event, Forfeited):
            made.setdefault(event.turn, {})[event.seat] = event.reason
    return [Round(made[turn][AGENT], made[turn][PARTNER]) for turn in sorted(made)]


class BotAgreement(msgspec.Struct, frozen=True):
    """How well our version of a bot agrees with the bot's recorded moves."""

    certain: tuple[int, int] = (0, 0)  # rounds with one possible move: as recorded, all
    tied: tuple[int, int] = (0, 0)  # rounds with two, equally likely: among them, all
    likeliest: tuple[int, int] = (0, 0)  # rounds with one likeliest move: as recorded, all
    outside: tuple[int, ...] = ()  # rounds, from 1, whose recorded move our bot never makes there


def followed(setup: Setup, seat: Seat, who: PlayerSpec, rounds: Sequence[Round]) -> BotAgreement:
    """Return how well our version of a bot agrees with the recorded moves of a seat."""
    return fed(setup, rounds, {seat: who}, "", {})[1][seat]


def fed(
    setup: Setup,
    rounds: Sequence[Round],
    bots: Mapping[Seat, PlayerSpec],
    cell: str,
    used: Mapping[str, Any],
) -> tuple[Episode, dict[Seat, BotAgreement]]:
    """Return the episode of a record, and how well each of `bots` agrees with the recorded
    moves."""
    feed = RecordedFeed(setup)
    scripts = {seat: feed.script(seat, who) for seat, who in bots.items()}
    seen: dict[Seat, list[tuple[int, Odds]]] = {seat: [] for seat in bots}
    for at, each in enumerate(rounds):
        if feed.match.over:
            break
        for seat, script in scripts.items():
            made = each.agent if seat == AGENT else each.partner
            if isinstance(made, int):
                seen[seat].append((made, feed.odds(seat, script)))
            else:
                seen[seat].append((-1, {}))
        feed.play(each, last=at + 1 == len(rounds))
    return feed.episode(cell, used), {seat: _judged(moves) for seat, moves in seen.items()}


def _judged(moves: Iterable[tuple[int, Odds]]) -> BotAgreement:
    certain, tied, likeliest = [0, 0], [0, 0], [0, 0]
    outside = []
    for number, (made, odds) in enumerate(moves, 1):
        if not odds:
            continue
        if len(odds) <= 2:
            kind = certain if len(odds) == 1 else tied
            kind[1] += 1
            kind[0] += made in odds
        if made not in odds:
            outside.append(number)
        top = [move for move, p in odds.items() if p == max(odds.values())]
        if len(top) == 1:
            likeliest[1] += 1
            likeliest[0] += made == top[0]
    one, two, best = ((kind[0], kind[1]) for kind in (certain, tied, likeliest))
    return BotAgreement(one, two, best, tuple(outside))
