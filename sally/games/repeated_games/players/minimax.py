"""The maximin player, which maximises its worst-case expected payoff."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import msgspec

from sally.core.errors import BadInput
from sally.core.match.player import Decision, NoAnswer, PlayerKind, Turn
from sally.core.rules.game import Game, GameSpec, Seat
from sally.core.rules.probe import ProbeReport
from sally.games.repeated_games.optimum import pay_table
from sally.games.repeated_games.rules import RepeatedGame, other_seat
from sally.players.mindless import question_of
from sally.stats.zero_sum import maximin_odds


@lru_cache(maxsize=1024)
def security(game: RepeatedGame, seat: Seat) -> Mapping[int, float]:
    """Return the move probabilities that maximise the worst-case expected payoff of a round."""
    return maximin_odds(pay_table(game, seat))


class Minimax(msgspec.Struct, frozen=True):
    """A player that draws from its maximin strategy and expects the other seat to do the same."""

    own_odds: Mapping[int, float]
    other_odds: Mapping[int, float]

    def decide(self, turn: Turn) -> Decision[int]:
        return Decision(turn.draws.draw(self.own_odds))

    def report(self, turn: Turn) -> ProbeReport | NoAnswer:
        question = question_of(turn)
        if question.about != other_seat(turn.seat):
            return NoAnswer("minimax only expects moves of the other")
        odds = tuple(self.other_odds.get(int(choice), 0.0) for choice in question.choices)
        return ProbeReport(turn.draws.draw(self.other_odds), odds)


def _minimax(spec: GameSpec, game: Game, seat: Seat) -> Minimax:
    if not isinstance(game, RepeatedGame):
        raise BadInput(f"`minimax` is defined for matrix games only, and {spec.name} is not one")
    return Minimax(security(game, seat), security(game, other_seat(seat)))


PLAYERS = {
    "minimax": PlayerKind(
        "minimax", "the odds that maximise its worst expected payoff in a round", _minimax
    ),
}
