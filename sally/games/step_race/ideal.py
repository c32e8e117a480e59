"""The pool of opponents that the ideal player of the step race assumes, and exact Bayes-adaptive
play against it.

Each opponent is drawn independently and uniformly from the silent, deterministic minds: always 1,
always 3, always 5, `finisher` and `rotator`. The past moves leave a set of consistent minds for
each opponent, all equally likely, so the recursion over positions and sets is exact. As in the
solver, the turn limit is ignored; races that reached the limit are left out.
"""

from __future__ import annotations

from functools import cache, lru_cache
from itertools import product
from math import nan
from typing import NamedTuple

import numpy as np

from sally.core.log.events import PlayerSpec
from sally.core.rules.game import Seat
from sally.core.rules.metric import Played
from sally.games.step_race.metrics import game_of, list_moves
from sally.games.step_race.rules import MOVES, SEATS, Triple, others_of, prize, triple
from sally.games.step_race.solver import NOBODY, Floats, mind_of, missing_after
from sally.games.step_race.spec import PAIRS, joint_odds, missing_of
from sally.stats.ideal import TIE, IdealProblem, SeenRound, pool_place

POOL = (
    *(PlayerSpec("always", {"move": move}) for move in MOVES),
    PlayerSpec("finisher"),
    PlayerSpec("rotator"),
)
MINDS = tuple(
    mind for player in POOL if (mind := mind_of(player.player, player.params)) is not None
)
PERIOD = max(mind.period for mind in MINDS)
Fits = tuple[int, ...]  # the minds of the pool that fit an opponent's moves


class Belief(NamedTuple):
    """What a player knows during a race: how many steps each seat still needs, the phase of the
    opponents' periodic habits, and which scripted players of the pool fit each opponent's moves."""

    missing: Triple
    phase: int
    fits: tuple[Fits, Fits]


@cache
def _is_periodic(fits: Fits) -> bool:
    """Return whether the moves of a mind depend on the number of the turn."""
    return any(MINDS[n].period > 1 for n in fits)


class RacePool:
    """Inference and play against two opponents of the pool.

    Args:
        missing: For each seat, the number of steps from its starting position to the target.
        number: The player's seat, from 0.
    """

    def __init__(self, missing: Triple, number: int) -> None:
        self.number, self.others = number, others_of(number)
        all_minds = tuple(range(len(MINDS)))
        self._start = self._belief(missing, 0, (all_minds, all_minds))
        self._values: dict[Belief, float] = {}

    def start(self) -> Belief:
        """Return the belief before the first turn."""
        return self._start

    def _belief(self, missing: Triple, phase: int, fits: tuple[Fits, Fits]) -> Belief:
        """Return a belief; the phase of periodic habits is dropped once no remaining mind depends
        on it."""
        periodic = _is_periodic(fits[0]) or _is_periodic(fits[1])
        return Belief(missing, phase % PERIOD if periodic else 0, fits)

    def _groups(self, belief: Belief) -> tuple[dict[int, Fits], dict[int, Fits]]:
        """Return, for each opponent, the minds that are consistent with its past moves, grouped by
        their next move."""
        groups_of_both: list[dict[int, Fits]] = []
        for opponent, fits in zip(self.others, belief.fits, strict=True):
            groups: dict[int, Fits] = {}
            for n in fits:
                odds = MINDS[n].moves(belief.missing, opponent, belief.phase + 1, NOBODY)
                move = MOVES[odds.index(1.0)]
                groups[move] = (*groups.get(move, ()), n)
            groups_of_both.append(groups)
        return groups_of_both[0], groups_of_both[1]

    def expects(self, belief: Belief) -> tuple[dict[int, float], dict[int, float]]:
        """Return the probabilities of each opponent's next move."""
        first_odds, two = (
            {move: len(groups.get(move, ())) / len(fits) for move in MOVES}
            for groups, fits in zip(self._groups(belief), belief.fits, strict=True)
        )
        return first_odds, two

    def forecast(self, belief: Belief) -> Floats:
        """Return the ideal observer's probability of each pair of opponents' moves."""
        joint = joint_odds(*self.expects(belief))
        return np.array([joint[pair] for pair in product(MOVES, MOVES)])

    def update_belief(self, belief: Belief, own_move: int, other_moves: int) -> Belief:
        """Return the belief after a turn; a move that no mind would make leaves the belief about
        that opponent unchanged."""
        a, b = MOVES[other_moves // len(MOVES)], MOVES[other_moves % len(MOVES)]
        first_groups, two = self._groups(belief)
        fits = first_groups.get(a, belief.fits[0]), two.get(b, belief.fits[1])
        return self._move_belief(belief, MOVES[own_move], a, b, fits)

    def _move_belief(
        self, belief: Belief, own_move: int, first_move: int, two: int, fits: tuple[Fits, Fits]
    ) -> Belief:
        missing = missing_after(belief.missing, self.number, own_move, first_move, two)
        return self._belief(missing, belief.phase + 1, fits)

    def gain(self, belief: Belief, own_move: int, other_moves: int) -> float:
        """Return the points of a turn that ends the race, else 0."""
        return self._points(self.update_belief(belief, own_move, other_moves)) or 0.0

    def _points(self, belief: Belief) -> float | None:
        if min(belief.missing) > 0:
            return None
        points = prize(triple(-r for r in belief.missing), 0)
        return None if points is None else points[self.number]

    def outcomes(self, belief: Belief, turns_left: int) -> Floats:
        """Return the value of a turn plus that of the later turns, indexed by (own move, pair of
        others' moves)."""
        table = np.zeros((len(MOVES), len(PAIRS)))
        for own_move, other_moves in product(range(len(MOVES)), range(len(PAIRS))):
            table[own_move, other_moves] = self._belief_value(
                self.update_belief(belief, own_move, other_moves)
            )
        return table

    def worths(self, belief: Belief, turns_left: int) -> Floats:
        """Return the expected points of each move, with Bayes-adaptive play afterwards.

        The value of a move that is certain to change nothing is that of the best other move in the
        next turn.
        """
        values = np.array(self._changing(belief))
        return np.where(np.isnan(values), self.value(belief, turns_left), values)

    def _changing(self, belief: Belief) -> list[float]:
        """Return the expected points of each move; NaN for a move that is certain to change
        nothing.

        With deterministic minds, a turn changes nothing only if all seats make the same move and
        each opponent's remaining minds agree on it.
        """
        first_groups, two = self._groups(belief)
        n_pairs = len(belief.fits[0]) * len(belief.fits[1])
        values = []
        for own_move in MOVES:
            value = 0.0
            for (a, first_fits), (b, second_fits) in product(first_groups.items(), two.items()):
                next_belief = self._move_belief(belief, own_move, a, b, (first_fits, second_fits))
                points = nan if next_belief == belief else self._belief_value(next_belief)
                value += len(first_fits) * len(second_fits) / n_pairs * points
            values.append(value)
        return values

    def _belief_value(self, belief: Belief) -> float:
        points = self._points(belief)
        return self.value(belief, 0) if points is None else points

    def value(self, belief: Belief, turns_left: int) -> float:
        """Return the expected points of Bayes-adaptive play."""
        value = self._values.get(belief)
        if value is None:
            value = max(v for v in self._changing(belief) if v == v)  # without NaN
            self._values[belief] = value
        return value

    def best(self, belief: Belief) -> int:
        """Return the best move of the Bayes-adaptive player, the largest in a tie; moves certain
        to change nothing are excluded."""
        values = np.array(self._changing(belief))
        return int(np.flatnonzero(values >= np.nanmax(values) - TIE)[-1])

    def known_value(self, place: int, turns_left: int) -> float:
        """Return the optimum against a known pair of minds."""
        first_mind, two = divmod(place, len(MINDS))
        start = self._start
        return self.value(self._belief(start.missing, 0, ((first_mind,), (two,))), turns_left)

    def informed_value(self, turns_left: int) -> float:
        """Return the expected points of a player that knows both minds from the start."""
        pairs = len(MINDS) ** 2
        return sum(self.known_value(place, turns_left) for place in range(pairs)) / pairs


@lru_cache(maxsize=64)
def ideal_of(missing: Triple, number: int) -> RacePool:
    """Return the pool from the perspective of a seat."""
    return RacePool(missing, number)


def IDEAL(played: Played, seat: Seat) -> IdealProblem | None:
    """Return a seat's turns, to be compared with ideal play; None unless both opponents are from
    the pool, a seat reached the target and no move was forfeited."""
    game, number = game_of(played), SEATS.index(seat)
    lineup = played.episode.setup.lineup
    others = [lineup.get(str(SEATS[opponent])) for opponent in others_of(number)]
    first_place, two = (pool_place("step_race", POOL, player) for player in others)
    turns = list_moves(played, seat)
    is_over = (
        played.episode.payoffs is not None and max(played.replay.present.positions) >= game.target
    )
    if (
        first_place is None
        or two is None
        or not is_over
        or len(turns) < len(played.replay.present.past)
    ):
        return None
    if any(0 in observed.other_moves for observed in turns):
        return None
    seen_rounds = []
    for observed in turns:
        pair = f"{observed.other_moves[0]}-{observed.other_moves[1]}"
        predicted = _predict_jointly(played, seat, observed.turn)
        seen_rounds.append(SeenRound(MOVES.index(observed.own_move), PAIRS.index(pair), predicted))
    ideal = ideal_of(missing_of(game, game.positions), number)
    return IdealProblem(ideal, first_place * len(MINDS) + two, tuple(seen_rounds), paid_once=True)


def _predict_jointly(played: Played, seat: Seat, turn: int) -> tuple[float, ...] | None:
    """Return the joint probabilities of both opponents' moves, computed from the seat's reports on
    each of them; None if a report is missing."""
    stated: list[dict[int, float]] = []
    for opponent in others_of(SEATS.index(seat)):
        for probe in ("their_move", "their_pick"):
            report = played.replay.report(turn, seat, probe, str(SEATS[opponent]))
            if report is None:
                continue
            if report.odds is not None:
                stated.append(dict(zip(MOVES, report.odds, strict=True)))
                break
            if report.value in MOVES:
                stated.append({move: float(move == report.value) for move in MOVES})
                break
    if len(stated) < 2:
        return None
    joint = joint_odds(stated[0], stated[1])
    return tuple(joint[pair] for pair in product(MOVES, MOVES))
