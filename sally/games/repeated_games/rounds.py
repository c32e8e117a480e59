"""Rounds of a repeated game in the form that metrics use, and optimal play against the partner.

A void round (one that a seat forfeited) pays nothing and does not change the state of the partner's
automaton.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import msgspec

from sally.core.errors import BadInput
from sally.core.log.events import PlayerSpec, Setup
from sally.core.match.partner import Automaton, Partner
from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.core.rules.metric import Played, cache_by_seat
from sally.games.repeated_games.optimum import (
    Floats,
    Machine,
    Plan,
    machine_of,
    optimal_course,
    optimal_rate,
    pay_table,
    plan,
    random_reward,
    transitions_of,
)
from sally.games.repeated_games.rules import Joint, RepeatedGame, other_seat


class Round(msgspec.Struct, frozen=True, gc=False):
    """One round from a seat's perspective; a move is None if that seat forfeited."""

    turn: int
    own_move: int | None
    other_move: int | None

    @property
    def is_played(self) -> bool:
        return self.own_move is not None and self.other_move is not None


SCORED_THERE = "scored_there"
"""In `used` of an imported episode, by seat and turn: moves that another program put in the place
of an unreadable reply. The other side answered them, so they are moves of the match, but they are
no decisions of the seat."""


def not_decided(played: Played, seat: Seat) -> frozenset[int]:
    """Return the turns in which the recorded move was not the seat's own choice."""
    marked = played.episode.used.get(SCORED_THERE, {}).get(seat, {})
    return frozenset(int(turn) for turn in marked)


def rounds(played: Played, seat: Seat) -> list[Round]:
    """Return the rounds in which the seat decided or forfeited, including void rounds."""
    all_rounds, marked = table_rounds(played, seat), not_decided(played, seat)
    return (
        [past_round for past_round in all_rounds if past_round.turn not in marked]
        if marked
        else all_rounds
    )


@cache_by_seat
def table_rounds(played: Played, seat: Seat) -> list[Round]:
    """Return every round, including void ones; turns of nature are not rounds."""
    game, replay, them = rules(played), played.replay, other_seat(seat)
    to_move, seats = game.to_move, game.seats
    numbered_moves = enumerate(zip(replay.moves, replay.states, strict=False))
    return [
        Round(turn, moves.get(seat), moves.get(them))
        for turn, (moves, state) in numbered_moves
        if to_move(state) == seats
    ]


@cache_by_seat
def joints(played: Played, seat: Seat) -> list[Joint]:
    """Return the moves of each played round, as (own move, other's move)."""
    return [
        (r.own_move, r.other_move)
        for r in rounds(played, seat)
        if r.own_move is not None and r.other_move is not None
    ]


@cache_by_seat
def cells(played: Played, seat: Seat) -> dict[Joint, int]:
    """Return how often each cell of the matrix (own move, other's move) occurred."""
    counts: dict[Joint, int] = {}
    for joint in joints(played, seat):
        counts[joint] = counts.get(joint, 0) + 1
    return counts


def rules(played: Played) -> RepeatedGame:
    """Return the game that was played.

    Raises: BadInput if it is not a repeated game.
    """
    game = played.replay.game
    if not isinstance(game, RepeatedGame):
        raise BadInput(f"{played.spec.name} is not a repeated game.")
    return game


@cache_by_seat
def rewards(played: Played, seat: Seat) -> list[float]:
    """Return the seat's payoff in each played round."""
    pays = pays_of(rules(played), seat)
    return [pays[own_move][other_move] for own_move, other_move in joints(played, seat)]


def is_finished(played: Played) -> bool:
    """Return whether the episode reached its end."""
    return played.episode.payoffs is not None


# --- the partner across the table ---------------------------------------------------------------


@cache_by_seat
def partner_of(played: Played, seat: Seat) -> tuple[Partner, PlayerSpec] | None:
    """Return the scripted partner in the other seat, if there is one.

    Raises: BadInput if the installed version of the partner is not the one that was played.
    """
    player_spec = played.episode.setup.lineup.get(other_seat(seat))
    partners = registry.partners(played.spec.family or played.spec.name)
    if player_spec is None or player_spec.player not in partners:
        return None
    partner = partners[player_spec.player]
    version = player_spec.versions.get("player", partner.version)
    if version != partner.version:
        raise BadInput(
            f"Episode {played.episode.id} was played against version {version} of "
            f"{partner.name}; version {partner.version} is installed."
        )
    return partner, player_spec


FAMILY = "repeated_games"
Maker = Callable[..., Automaton[Any]]


@cache_by_seat
def automaton_of(played: Played, seat: Seat) -> tuple[Maker, bytes] | None:
    """Return the function that makes the other seat's automaton, and its parameters as JSON."""
    partner_and_spec = partner_of(played, seat)
    family = played.spec.family or played.spec.name
    return None if partner_and_spec is None else automaton_maker(partner_and_spec[1], family)


def automaton_maker(player: PlayerSpec | None, family: str = FAMILY) -> tuple[Maker, bytes] | None:
    """Return the function that makes a partner's automaton, and its parameters as JSON; None if
    the player has no automaton."""
    partner = None if player is None else registry.partners(family).get(player.player)
    if player is None or partner is None or partner.automaton is None:
        return None
    return partner.automaton, msgspec.json.encode(player.params, order="sorted")


@lru_cache(maxsize=512)
def machine(game: RepeatedGame, seat: Seat, make: Maker, params: bytes) -> Machine:
    """Return the arrays of an automaton that plays opposite `seat`."""
    return machine_of(game, seat, make(game, other_seat(seat), **msgspec.json.decode(params)))


@lru_cache(maxsize=4096)
def _course(
    game: RepeatedGame, seat: Seat, make: Maker, params: bytes, played: int, horizon: int
) -> tuple[float, ...]:
    against = machine(game, seat, make, params)
    return tuple(map(float, optimal_course(game, seat, against, played, horizon)))


def random_reward_per_round(setup: Setup, seat: Seat) -> float | None:
    """Return the expected payoff per round of a uniformly random player; None if the partner has no
    automaton.

    The result is also None if the game may stop by chance, because there is no exact formula for
    the mean over episodes of different lengths.
    """
    spec = registry.game(setup.instance.game)
    game = spec.build(setup.instance.params)
    automaton = automaton_maker(setup.lineup.get(other_seat(seat)), spec.family or spec.name)
    if not isinstance(game, RepeatedGame) or automaton is None or game.stop_chance:
        return None
    return _random_reward(game, seat, *automaton) / game.rounds


@lru_cache(maxsize=256)
def _random_reward(game: RepeatedGame, seat: Seat, make: Maker, params: bytes) -> float:
    return random_reward(game, seat, machine(game, seat, make, params), game.rounds)


@lru_cache(maxsize=256)
def long_run_rate(game: RepeatedGame, seat: Seat, make: Maker, params: bytes) -> float:
    """Return the optimal long-run reward per round against an automaton."""
    return optimal_rate(game, seat, make(game, other_seat(seat), **msgspec.json.decode(params)))


def optimum_by_round(played: Played, seat: Seat) -> tuple[float, ...] | None:
    """Return the optimal total reward after 1, 2, ... rounds, up to the number of rounds played."""
    automaton = automaton_of(played, seat)
    if automaton is None:
        return None
    n, game = len(rewards(played, seat)), rules(played)
    void = len(rounds(played, seat)) - n
    return _course(game, seat, *automaton, n, game.rounds - void)


@cache_by_seat
def worths_ahead(played: Played, seat: Seat) -> dict[int, Floats]:
    """Return, for each turn, the value of each pair of moves (own, other's), with optimal play
    afterwards.

    The result is empty if the partner is not an automaton. Void rounds do not change the
    automaton's state.
    """
    automaton, game = automaton_of(played, seat), rules(played)
    if automaton is None:
        return {}
    pay, ahead = pay_table(game, seat), _plan(game, seat, *automaton).values
    follow, cached_tables = _transitions(game, seat, *automaton)
    machine_state, tables = 0, {}
    # with a fixed end the plan is for what is left; void rounds count towards the end
    for n, past_round in enumerate(table_rounds(played, seat)):
        rounds_left = game.rounds - n - 1
        if (table := cached_tables.get((rounds_left, machine_state))) is None:
            values_after = ahead[rounds_left][follow[machine_state]]  # (theirs, mine)
            table = cached_tables[rounds_left, machine_state] = (
                pay + (1 - game.stop_chance) * values_after.T
            )
        tables[past_round.turn] = table
        if past_round.own_move is not None and past_round.other_move is not None:
            machine_state = follow[machine_state][past_round.other_move][past_round.own_move]
    return tables


def expected_ahead(played: Played, seat: Seat) -> list[tuple[Round, Floats, float]]:
    """Return, for each round, the expected value of each own move and the value of a void round.

    Rounds in which the seat did not decide are left out. The list is empty if the partner is not an
    automaton.
    """
    automaton, game = automaton_of(played, seat), rules(played)
    if automaton is None:
        return []
    marked = not_decided(played, seat)
    against, ahead = machine(game, seat, *automaton), _plan(game, seat, *automaton).values
    tables, follow, machine_state, out = worths_ahead(played, seat), transitions_of(against), 0, []
    for n, past_round in enumerate(table_rounds(played, seat)):
        void = (1 - game.stop_chance) * float(ahead[game.rounds - n - 1][machine_state])
        if past_round.turn not in marked:
            out.append((past_round, tables[past_round.turn] @ against.odds[machine_state], void))
        if past_round.own_move is not None and past_round.other_move is not None:
            machine_state = int(follow[machine_state, past_round.other_move, past_round.own_move])
    return out


Ahead = dict[tuple[int, int], Floats]  # rounds left and the automaton's place -> values


@lru_cache(maxsize=64)
def _transitions(
    game: RepeatedGame, seat: Seat, make: Maker, params: bytes
) -> tuple[list[list[list[int]]], Ahead]:
    """Return the automaton's transitions, and a cache of the values computed so far."""
    follow: list[list[list[int]]] = transitions_of(machine(game, seat, make, params)).tolist()
    return follow, {}


@lru_cache(maxsize=256)
def _plan(game: RepeatedGame, seat: Seat, make: Maker, params: bytes) -> Plan:
    return plan(game, seat, machine(game, seat, make, params), game.rounds)


def optimum_of(played: Played, seat: Seat, length: int) -> float | None:
    """Return the optimal reward per round over `length` rounds; None if the partner has no
    automaton."""
    automaton = automaton_of(played, seat)
    if automaton is None or not length:
        return None
    game = rules(played)
    return _course(game, seat, *automaton, length, game.rounds)[-1] / length


@lru_cache(maxsize=256)
def pays_of(game: RepeatedGame, seat: Seat) -> list[list[float]]:
    """Return the seat's payoffs, indexed by (own move, other's move); the list is shared and must
    not be changed."""
    pays: list[list[float]] = pay_table(game, seat).tolist()
    return pays
