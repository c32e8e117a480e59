"""Exact values of the step race, by backward induction over the steps that the seats still need.

A state is the number of steps that each seat still needs, so one table serves every target. A turn
changes nothing only if all three choose the same number; the equation of such a state, whose value
depends on itself, is solved in closed form, or by iteration if announcements or a partner's habit
change from turn to turn. The game's turn limit is ignored: an endless race has value 0 for every
seat.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import product
from math import sqrt

import msgspec
import numpy as np
from numpy.typing import NDArray

from sally.core.errors import BadInput
from sally.games.step_race.rules import MOVES, Triple, gains, others_of, prize, triple

Floats = NDArray[np.float64]
Odds = tuple[float, float, float]  # of the moves 1, 3 and 5
Said = tuple[int | None, int | None, int | None]  # each seat's last announcement, if any

SAME = 1e-9  # values closer than this are equal
USUAL = 24  # the largest target of the published games: one table serves all of them
STILL = 1e-14  # iteration stops when no value changes by more
MOST_SWEEPS = 10_000
EVEN: Odds = (1 / 3, 1 / 3, 1 / 3)
NOBODY: Said = (None, None, None)


def sure(move: int) -> Odds:
    """Return the distribution that puts probability 1 on one move."""
    return triple(float(move == option) for option in MOVES)


# --- the turn as a game of its own ----------------------------------------------------------------


def stage_equilibrium() -> tuple[Odds, float]:
    """Return the symmetric mixed equilibrium of a single turn in which steps are the payoff, and
    its value.

    Move m pays m times the chance that neither other seat chose it, and all three moves pay the
    same value v: p(m) = 1 - sqrt(v / m).
    """
    root = 2 / sum(1 / sqrt(move) for move in MOVES)
    return triple(1 - root / sqrt(move) for move in MOVES), root * root


# --- minds whose moves are declared ---------------------------------------------------------------


class Mind(msgspec.Struct, frozen=True):
    """The behaviour of a scripted player, as probabilities.

    `moves` is a function of how many steps each seat still needs, the player's own seat number, the
    turn (from 1) and each seat's announcement. `announces` is the distribution of its
    announcements, drawn anew in each turn. `hears` states whether `moves` uses the others'
    announcements; play against such a mind is not solved, because the player's own messages would
    then affect the outcome too.
    """

    moves: Callable[[Triple, int, int, Said], Odds]
    period: int = 1  # number of turns after which its habit repeats
    announces: tuple[tuple[int | None, float], ...] = ((None, 1.0),)
    hears: bool = False
    by_place: bool = False  # whether `moves` uses the steps still needed


def mute(mind: Mind) -> Mind:
    """Return the same mind without announcements."""
    return msgspec.structs.replace(mind, announces=((None, 1.0),))


def always(move: int = 5) -> Mind:
    """Play the same move in every turn."""
    if move not in MOVES:
        raise BadInput(f"always: move must be 1, 3 or 5, not {move}")
    odds = sure(move)
    return Mind(lambda missing, number, turn, announcements: odds)


def uniform() -> Mind:
    """Play each move with equal probability."""
    return Mind(lambda missing, number, turn, announcements: EVEN)


def mixed_equilibrium() -> Mind:
    """Play the symmetric mixed equilibrium of a single turn."""
    odds, _ = stage_equilibrium()
    return Mind(lambda missing, number, turn, announcements: odds)


def arriving(missing: int) -> int | None:
    """Return the smallest move that reaches the target, or None if no move does; `missing` is the
    number of steps still needed."""
    return next((move for move in MOVES if move >= missing), None)


def finisher() -> Mind:
    """Play the smallest move that reaches the target; if no move does, play 5."""

    def moves(missing: Triple, number: int, turn: int, announcements: Said) -> Odds:
        return sure(arriving(missing[number]) or MOVES[-1])

    return Mind(moves, by_place=True)


def blocker() -> Mind:
    """Play the smallest move that takes the leading opponent (in a tie, the lower seat) to the
    target; if no move does, play any move."""

    def moves(missing: Triple, number: int, turn: int, announcements: Said) -> Odds:
        nearest = min(others_of(number), key=lambda opponent: missing[opponent])
        move = arriving(missing[nearest])
        return EVEN if move is None else sure(move)

    return Mind(moves, by_place=True)


def rotator(offset: int = 0) -> Mind:
    """Play 1, 3 and 5 in turn; seats start at different numbers, so three rotators never
    collide."""
    if not isinstance(offset, int):
        raise BadInput(f"rotator: offset must be a whole number, not {offset!r}")

    def moves(missing: Triple, number: int, turn: int, announcements: Said) -> Odds:
        return sure(MOVES[(turn - 1 + number + offset) % len(MOVES)])

    return Mind(moves, period=len(MOVES))


def keeper(p: float = 1.0) -> Mind:
    """Announce a uniformly drawn number, play it with probability `p`, and another number
    otherwise."""
    if not 0 <= p <= 1:
        raise BadInput(f"keeper: p must be from 0 to 1, not {p}")
    odds_by_announcement: dict[int | None, Odds] = {None: EVEN}
    for move in MOVES:
        odds_by_announcement[move] = triple(
            p if option == move else (1 - p) / 2 for option in MOVES
        )

    def moves(missing: Triple, number: int, turn: int, announcements: Said) -> Odds:
        return odds_by_announcement[announcements[number]]

    return Mind(moves, announces=tuple((move, 1 / 3) for move in MOVES))


def free_of_announced(announcements: Said, number: int) -> int:
    """Return the largest move that neither other seat announced."""
    announced = {announcements[opponent] for opponent in others_of(number)}
    return max(move for move in MOVES if move not in announced)


def follower() -> Mind:
    """Play the largest move that neither other seat announced."""

    def moves(missing: Triple, number: int, turn: int, announcements: Said) -> Odds:
        return sure(free_of_announced(announcements, number))

    return Mind(moves, hears=True)


# --- induction ------------------------------------------------------------------------------------

BELOW = MOVES[-1] - 1  # how far beyond the target a seat can land


class Solved(msgspec.Struct, frozen=True):
    """The solution for one seat against two known minds: the value of every state."""

    number: int
    others: tuple[Mind, Mind]
    values: Floats  # by phase, then missing steps of each seat, offset by `BELOW`
    period: int

    def value(self, missing: Triple, turn: int = 1) -> float:
        """Return the seat's expected points in this state, before the announcements of this
        turn."""
        first, second, third = (r + BELOW for r in missing)
        return float(self.values[(turn - 1) % self.period, first, second, third])

    def worths(
        self, missing: Triple, turn: int = 1, announcements: Said = NOBODY
    ) -> tuple[float, float, float]:
        """Return the value of each move in this state, after these announcements.

        If the state does not change because all three choose the same number, a move is valued
        as if it were repeated until the state changes.
        """
        first_odds, two = (
            dict(zip(MOVES, mind.moves(missing, opponent, turn, announcements), strict=True))
            for mind, opponent in zip(self.others, others_of(self.number), strict=True)
        )
        repeats = self.period == 1 and _single(self.others)
        values = []
        for own_move in MOVES:
            value = 0.0
            for a, b in product(MOVES, MOVES):
                if (chance := first_odds[a] * two[b]) and not a == b == own_move:
                    value += chance * self.value(
                        missing_after(missing, self.number, own_move, a, b), turn + 1
                    )
            loop = first_odds[own_move] * two[own_move]
            if loop:
                if not repeats:
                    value += loop * self.value(missing, turn + 1)
                else:
                    value = value / (1 - loop) if loop < 1 else 0.0
            values.append(value)
        return triple(values)


def missing_after(missing: Triple, number: int, own_move: int, first_move: int, two: int) -> Triple:
    """Return how many steps each seat still needs after seat `number` has moved `own_move` and the
    other two have moved `first_move` and `two`."""
    a, b, c = _gains_from(number, own_move, first_move, two)
    return missing[0] - a, missing[1] - b, missing[2] - c


@cache
def _gains_from(number: int, own_move: int, first_move: int, two: int) -> Triple:
    """Return the steps gained by each seat, by the move of seat `number` and the other two."""
    moves = [first_move, two]
    moves.insert(number, own_move)
    return gains(triple(moves))


def best(worths: Sequence[float]) -> tuple[int, ...]:
    """Return the moves with the highest value; there may be several."""
    top = max(worths)
    return tuple(move for move, value in zip(MOVES, worths, strict=True) if value >= top - SAME)


def _single(others: Sequence[Mind]) -> bool:
    """Return whether none of the minds ever announces a move."""
    return all(announcement is None for mind in others for announcement, _ in mind.announces)


def solve_race(
    target: int, number: int, others: tuple[Mind, Mind], own_mind: Mind | None = None
) -> Solved:
    """Return the solution for a seat against two minds: optimal play, or `own_mind` if it is given.

    Raises: BadInput if a mind reacts to announcements.
    """
    if any(mind.hears for mind in (*others, *([own_mind] if own_mind else []))):
        raise BadInput("no best reply can be computed to a player that reacts to announcements")
    period = max(mind.period for mind in (*others, *([own_mind] if own_mind else [])))
    size = target + BELOW + 1
    table = np.zeros((period, size, size, size))
    flat = table.reshape(period, -1)
    _fill_ends(flat, target, number)
    signals = list(_signals(number, others))
    for states in _layers(target):
        indices = _place(states, size)
        cases: list[list[tuple[float, Floats, Floats, Floats | None]]] = []
        for phase in range(period):
            cases.append(
                [
                    (
                        chance,
                        *_case(
                            flat,
                            states,
                            size=size,
                            number=number,
                            phase=phase,
                            period=period,
                            others=others,
                            own_mind=own_mind,
                            announcements=announcements,
                        ),
                    )
                    for chance, announcements in signals
                ]
            )
        simple = period == 1 and len(signals) == 1
        flat[:, indices] = _closed_form(cases[0][0]) if simple else _iterate_values(cases)
    return Solved(number, others, table, period)


def _signals(number: int, others: tuple[Mind, Mind]) -> Iterator[tuple[float, Said]]:
    """Yield every pair of announcements of the two others, after its probability."""
    first_seat, two = others_of(number)
    for (a, p), (b, q) in product(*(mind.announces for mind in others)):
        announcements: list[int | None] = [None, None, None]
        announcements[first_seat], announcements[two] = a, b
        yield p * q, triple(announcements)


def _layers(target: int) -> Iterator[NDArray[np.int64]]:
    """Yield the states in layers, nearest to the end first; no state leads to another in its
    layer."""
    grid = np.indices((target, target, target)).reshape(3, -1).T + 1
    total = grid.sum(axis=1)
    order = np.argsort(total, kind="stable")
    cuts = np.flatnonzero(np.diff(total[order])) + 1
    yield from np.split(grid[order], cuts)


def _place(states: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    moved = states + BELOW
    return (moved[:, 0] * size + moved[:, 1]) * size + moved[:, 2]


def _fill_ends(flat: Floats, target: int, number: int) -> None:
    """Write the seat's points for all states in which a seat has reached the target."""
    size = target + BELOW + 1
    grid = np.indices((size, size, size)).reshape(3, -1) - BELOW
    nearest = grid.min(axis=0)
    points = (grid[number] == nearest) / (grid == nearest).sum(axis=0)
    flat[:] = np.where(nearest <= 0, points, 0.0)


def _case(
    flat: Floats,
    states: NDArray[np.int64],
    *,
    size: int,
    number: int,
    phase: int,
    period: int,
    others: tuple[Mind, Mind],
    own_mind: Mind | None,
    announcements: Said,
) -> tuple[Floats, Floats, Floats | None]:
    """Return the expected value over outcomes that change the state, and the probability that the
    state does not change.

    Both are given for each move and state. The third value holds the move probabilities of
    `own_mind`;
    it is None if `own_mind` is not given.
    """
    turn = phase + 1
    first_seat, two = others_of(number)
    first, second = (
        _odds(mind, states, seat, turn, announcements)
        for mind, seat in zip(others, (first_seat, two), strict=True)
    )
    ahead = flat[(phase + 1) % period]
    values, loop = np.zeros((3, len(states))), np.zeros((3, len(states)))
    for (i, m), (j, a), (k, b) in product(enumerate(MOVES), repeat=3):
        chance = first[j] * second[k]
        if m == a == b:
            loop[i] += chance
        else:
            moved = np.array(missing_after((0, 0, 0), number, m, a, b))
            values[i] += chance * ahead[_place(states + moved, size)]
    own_odds = None if own_mind is None else _odds(own_mind, states, number, turn, announcements)
    return values, loop, own_odds


def _odds(
    mind: Mind, states: NDArray[np.int64], number: int, turn: int, announcements: Said
) -> Floats:
    """Return a mind's move probabilities by move and state; if they do not depend on the state
    (`by_place` is False), there is a single column."""
    if not mind.by_place:
        return np.array([mind.moves((0, 0, 0), number, turn, announcements)]).T
    rows = [mind.moves(triple(map(int, state)), number, turn, announcements) for state in states]
    return np.array(rows).T


def _closed_form(case: tuple[float, Floats, Floats, Floats | None]) -> Floats:
    """Return the values of a set of states, in closed form; this requires that a turn without
    change leads back to exactly the same situation."""
    _, values, loop, own_odds = case
    if own_odds is not None:
        stays = (own_odds * loop).sum(axis=0)
        leads = (own_odds * values).sum(axis=0)
        out = np.zeros_like(leads)
        return np.asarray(np.divide(leads, 1 - stays, out=out, where=stays < 1))
    repeated = np.divide(values, 1 - loop, out=np.zeros_like(values), where=loop < 1)
    return np.asarray(repeated.max(axis=0))


def _iterate_values(
    cases: Sequence[Sequence[tuple[float, Floats, Floats, Floats | None]]],
) -> Floats:
    """Compute the values of a set of states by iteration.

    This is needed if a turn may leave the state unchanged while announcements or the players'
    habits differ from one turn to the next.
    """
    period = len(cases)
    values = np.zeros((period, cases[0][0][1].shape[1]))
    for _ in range(MOST_SWEEPS):
        values_before = values.copy()
        for phase in reversed(range(period)):
            ahead = values[(phase + 1) % period]
            total = np.zeros(values.shape[1])
            for chance, case_values, loop, own_odds in cases[phase]:
                move_values = case_values + loop * ahead
                total += chance * (
                    move_values.max(axis=0)
                    if own_odds is None
                    else (own_odds * move_values).sum(axis=0)
                )
            values[phase] = total
        if np.abs(values - values_before).max() < STILL:
            return values
    raise ArithmeticError(f"the values of the positions did not converge in {MOST_SWEEPS} sweeps")


@lru_cache(maxsize=4)
def _all_uniform(target: int) -> Solved:
    return solve_race(target, 0, (uniform(), uniform()), uniform())


def value(missing: Triple, number: int = 0) -> float:
    """Return the expected points of a seat if all three play uniformly from this state on.

    >>> round(value((1, 5, 5)), 6)
    0.639985
    """
    first_seat, two = others_of(number)
    table = _all_uniform(max(USUAL, *missing))
    return table.value((missing[number], missing[first_seat], missing[two]))


def hindsight(
    missing: Triple, number: int, other_moves: tuple[int, int]
) -> tuple[float, float, float]:
    """Return the value of each own move given the others' moves, with uniform play afterwards.

    In `other_moves`, 0 stands for a seat that made no move.
    """
    return weigh_moves(missing, number, {other_moves: 1.0})


def weigh_moves(
    missing: Triple, number: int, joint: Mapping[tuple[int, int], float]
) -> tuple[float, float, float]:
    """Return the value of each own move given the probability of each pair of the others' moves."""
    move_values = []
    for own_move in MOVES:
        total = 0.0
        for (first_move, two), chance in joint.items():
            if chance:
                total += chance * standing(
                    missing_after(missing, number, own_move, first_move, two), number
                )
        move_values.append(total)
    return triple(move_values)


def standing(missing: Triple, number: int) -> float:
    """Return the points of a seat if the race is over, else its value under uniform play."""
    points = prize(triple(-r for r in missing), 0)
    return value(missing, number) if points is None else points[number]


def steps(other_moves: tuple[int, int]) -> tuple[int, int, int]:
    """Return the steps that each own move gains, given the others' moves."""
    return triple(move if move not in other_moves else 0 for move in MOVES)


MINDS: Mapping[str, Callable[..., Mind]] = {
    "always": always,
    "uniform": uniform,
    "stage_equilibrium": mixed_equilibrium,
    "finisher": finisher,
    "blocker": blocker,
    "rotator": rotator,
    "keeper": keeper,
    "follower": follower,
}
"""The declared minds of the game by partner name."""


def mind_of(player: str, params: Mapping[str, object]) -> Mind | None:
    """Return the mind of a player, that is, the probabilities of its actions; None if no mind is
    defined for this player."""
    if player == "random":
        return uniform()
    make = MINDS.get(player)
    return None if make is None else make(**params)


@lru_cache(maxsize=64)
def _solved_by_name(
    target: int,
    number: int,
    others: tuple[tuple[str, str], tuple[str, str]],
    talk: bool,
    own_mind: str = "",
) -> Solved | None:
    minds = []
    for player, params in others:
        mind = mind_of(player, msgspec.json.decode(params))
        if mind is None or mind.hears:
            return None
        minds.append(mind if talk else mute(mind))
    return solve_race(
        target, number, (minds[0], minds[1]), mind_of(own_mind, {}) if own_mind else None
    )


def solved_against(
    target: int,
    number: int,
    others: Sequence[tuple[str, Mapping[str, object]]],
    talk: bool = True,
    own_mind: str = "",
) -> Solved | None:
    """Return the solution against two players, given by name and parameters. The seat plays
    optimally or, if `own_mind` is given, like that player. None if there is no exact solution."""
    first_key, two = (
        (player, msgspec.json.encode(dict(params), order="deterministic").decode())
        for player, params in others
    )
    return _solved_by_name(max(USUAL, target), number, (first_key, two), talk, own_mind)
