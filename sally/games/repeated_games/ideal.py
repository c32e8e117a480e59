"""The pool of partners that the ideal observer of repeated games assumes, and the observer's view
of an episode.

The pool contains every constant player and five reciprocal players, all deterministic, so
Bayes-adaptive play can be computed exactly. Every partner of the pool is equally likely.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import msgspec
import numpy as np

from sally.core.errors import BadInput
from sally.core.log.events import PlayerSpec
from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.core.rules.metric import Played
from sally.games.repeated_games import rounds
from sally.games.repeated_games.optimum import machine_of, pay_table
from sally.games.repeated_games.rules import RepeatedGame, other_seat
from sally.metrics.answers import list_counted_reports
from sally.stats.ideal import Ideal, IdealProblem, SeenRound, pool_place

RECIPROCAL = (
    "tit_for_tat",
    "suspicious_tit_for_tat",
    "tit_for_two_tats",
    "grim_trigger",
    "win_stay_lose_shift",
)


def declared_pool(game: RepeatedGame, seat: Seat) -> tuple[PlayerSpec, ...]:
    """Return the partners that may play opposite `seat`: constant ones, then reciprocal ones."""
    constant = [PlayerSpec("single_action", {"action": m}) for m in game.moves_of(other_seat(seat))]
    if len(game.moves_of(seat)) != len(game.moves_of(other_seat(seat))):
        return tuple(constant)  # the others copy moves
    return (*constant, *(PlayerSpec(name) for name in RECIPROCAL))


def ideal_of(game: RepeatedGame, seat: Seat, pool: Sequence[PlayerSpec], lookahead: int) -> Ideal:
    """Return the ideal observer of a pool in this game.

    Raises:
        BadInput: The game may stop by chance, or a partner has no automaton.
    """
    if game.stop_chance:
        raise BadInput("The Bayes-adaptive player needs a fixed number of rounds (stop_chance=0).")
    return _ideal(game, seat, msgspec.json.encode(list(pool), order="sorted"), lookahead)


@lru_cache(maxsize=256)  # its tables serve every episode of the game; labels make 36 games
def _ideal(game: RepeatedGame, seat: Seat, pool: bytes, lookahead: int) -> Ideal:
    partners, machines = registry.partners(rounds.FAMILY), []
    for player in msgspec.json.decode(pool, type=list[PlayerSpec]):
        partner = registry.pick("partner of repeated_games", player.player, partners)
        if partner.automaton is None:
            raise BadInput(f"{player.player} has no automaton and cannot be in a pool.")
        params = {**partner.params, **player.params}
        machines.append(machine_of(game, seat, partner.automaton(game, other_seat(seat), **params)))
    return Ideal(pay_table(game, seat), machines, lookahead=lookahead)


def IDEAL(played: Played, seat: Seat) -> IdealProblem | None:
    """Return the rounds played against a partner of the pool, to be compared with ideal play; None
    against any other partner."""
    game = rounds.rules(played)
    pool = declared_pool(game, seat)
    place = pool_place(rounds.FAMILY, pool, played.episode.setup.lineup.get(str(other_seat(seat))))
    if place is None or game.stop_chance or not rounds.is_finished(played):
        return None
    choices = len(game.moves_of(other_seat(seat)))
    stated: dict[int, tuple[float, ...]] = {}
    for answer in list_counted_reports(played, seat):
        value, odds = answer.report.value, answer.report.odds
        if odds is not None:
            stated[answer.turn] = tuple(odds)
        elif isinstance(value, int) and answer.question.kind == "choice":
            stated[answer.turn] = tuple(np.eye(choices)[value])
    seen_rounds = tuple(
        SeenRound(past_round.own_move, past_round.other_move, stated.get(past_round.turn))
        for past_round in rounds.rounds(played, seat)
        if past_round.own_move is not None and past_round.other_move is not None
    )
    return IdealProblem(ideal_of(game, seat, pool, 4), place, seen_rounds)
