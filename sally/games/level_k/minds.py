"""Minds that declare their depth, their expectations of the others, and their moves.

They are separate from the partners because probes also need them: the true depth of a seat is the
depth that its mind declares.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import exp, factorial, isfinite
from typing import Any

from sally.core.errors import BadInput, unknown
from sally.core.log.events import PlayerSpec
from sally.core.rules.game import Seat
from sally.core.rules.history import Follower
from sally.games.level_k.k_tom import Gains, KTom
from sally.games.level_k.payoffs import Boxes, Contest, Pennies, Request
from sally.games.level_k.people import people_at
from sally.games.level_k.rules import LevelGame, View
from sally.games.level_k.solvers import (
    Odds,
    best_replies,
    equilibrium,
    evenly,
    mix_odds,
    nearest,
    pay_table,
)

DEEPEST = 20
BASES = ("salient", "uniform")


@dataclass(frozen=True)
class Mind:
    """A declared mind: the probabilities of its own moves, and of the moves it expects from
    others."""

    does: Callable[[View], Odds]
    expects: Callable[[View], Odds] | None = None  # None: it does not think of the others
    depth: int | None = None  # how many steps it thinks ahead; None: that has no meaning
    always: Odds | None = None  # the odds of its moves if they are the same in every round


def fixed_mind(does: Odds, expects: Odds | None = None, depth: int | None = None) -> Mind:
    """Return a mind with the same moves and expectations in every round."""
    expected = None if expects is None else lambda view: expects
    return Mind(lambda view: does, expected, depth, does)


# --- levels ---------------------------------------------------------------------------------------


def ground(game: LevelGame, seat: Seat, base: str | Sequence[float] = "") -> Odds:
    """Return a level-0 player's move probabilities: the salient move, a uniform distribution, or
    the probabilities given in `base`.

    The default is the salient move; for a coin, where neither side is salient, it is uniform.
    """
    menu = game.menu(seat)
    if not isinstance(base, str):
        return _given_odds(base, menu)
    if base not in ("", *BASES):
        raise unknown("base", base, BASES)
    if base == "uniform" or (not base and isinstance(game.pays, Pennies)):
        return evenly(menu)
    return {_salient(game): 1.0}


def _salient(game: LevelGame) -> int:
    match game.pays:
        case Request(high=high):
            return high
        case Contest(low=low, high=high):
            return nearest(Fraction(low + high, 2), range(low, high + 1))
        case Boxes(salient=salient):
            return salient
        case Pennies():
            raise BadInput("no side of a coin is salient; base must be uniform, or probabilities")


def _given_odds(base: Sequence[float], menu: tuple[int, ...]) -> Odds:
    fine = len(base) == len(menu) and all(isfinite(p) and p >= 0 for p in base)
    if not fine or abs(sum(base) - 1) > 1e-6:
        raise BadInput(f"base must be {len(menu)} probabilities that sum to 1, or one of {BASES}")
    return {move: float(p) for move, p in zip(menu, base, strict=True) if p > 0}


def level_odds(game: LevelGame, seat: Seat, k: int, base: str | Sequence[float] = "") -> Odds:
    """Return a level-k player's move probabilities: the best reply to level k-1, with ties split
    evenly.

    In a contest, the player names the number nearest to share^k times the mean of level 0, ignoring
    its own weight in the mean, as is usual since Nagel (1995).
    """
    if k == 0:
        return ground(game, seat, base)
    if isinstance(game.pays, Contest):
        return _nearest_move(game, seat, Fraction(_mean0(game, seat, base)) * game.pays.fraction**k)
    (them,) = game.others(seat)
    return _reply(game, seat, level_odds(game, them, k - 1, base))


def _mean0(game: LevelGame, seat: Seat, base: str | Sequence[float]) -> float:
    return sum(move * p for move, p in ground(game, seat, base).items())


def _nearest_move(game: LevelGame, seat: Seat, number: float | Fraction) -> Odds:
    return {nearest(number, game.menu(seat)): 1.0}


def _reply(game: LevelGame, seat: Seat, expected: Odds) -> Odds:
    replies = best_replies(game, seat, [expected])
    assert replies is not None  # two seats are always gone through
    return evenly(replies)


def _depth(k: int) -> None:
    if type(k) is not int or not 0 <= k <= DEEPEST:
        raise BadInput(f"k must be a whole number from 0 to {DEEPEST}, not {k!r}")


def level(game: LevelGame, seat: Seat, k: int = 1, base: str | Sequence[float] = "") -> Mind:
    _depth(k)
    below = level_odds(game, game.others(seat)[0], k - 1, base) if k else None
    return fixed_mind(level_odds(game, seat, k, base), below, k)


def cognitive_hierarchy(
    game: LevelGame,
    seat: Seat,
    k: int = 2,
    tau: float = 1.5,
    base: str | Sequence[float] = "",
) -> Mind:
    """Return a mind that best-responds to levels 0 to k-1, Poisson-distributed with mean tau."""
    _depth(k)
    if not (isfinite(tau) and tau > 0):
        raise BadInput(f"tau must be above 0, not {tau}")
    return _hierarchy(game, seat, k, tau, base, {})


def _hierarchy(
    game: LevelGame,
    seat: Seat,
    k: int,
    tau: float,
    base: str | Sequence[float],
    minds_below: dict[tuple[Seat, int], Mind],  # the levels below are the same for all above them
) -> Mind:
    if k == 0:
        return fixed_mind(ground(game, seat, base), None, 0)
    parts, them = [], game.others(seat)[0]
    for j in range(k):
        if (them, j) not in minds_below:
            minds_below[them, j] = _hierarchy(game, them, j, tau, base, minds_below)
        weight = exp(-tau) * tau**j / factorial(j)
        parts.append((weight, minds_below[them, j].does(NOTHING)))
    expected = mix_odds(parts)
    if isinstance(game.pays, Contest):
        aim = float(game.pays.fraction) * sum(m * p for m, p in expected.items())
        return fixed_mind(_nearest_move(game, seat, aim), expected, k)
    return fixed_mind(_reply(game, seat, expected), expected, k)


NOTHING: Any = None  # a fixed mind looks at no view


def people(game: LevelGame, seat: Seat) -> Mind:
    """Return a mind that draws from the choices of people in a published experiment."""
    choices = people_at(game.pays)
    if choices is None:
        raise BadInput(
            "people's choices are only known for the request game from 11 to 20 with a bonus of "
            "20 and a gap of 1"
        )
    return fixed_mind(choices.odds)


def equilibrium_mind(game: LevelGame, seat: Seat) -> Mind:
    """Return a mind that plays its equilibrium strategy and expects the others to play theirs."""
    return fixed_mind(equilibrium(game, seat), equilibrium(game, game.others(seat)[0]))


def note_reader(game: LevelGame, seat: Seat) -> Mind:
    """Return a mind that expects what the notes of the game make it expect."""
    if game.notes is None or seat != game.seats[1]:
        raise BadInput("note_reader plays only player_2 of a request game with `notes`")
    expected: Odds = {game.notes.amounts_read()[-1]: 1.0}
    if game.notes.depth == 2:
        expected = _reply(game, game.others(seat)[0], expected)
    return fixed_mind(_reply(game, seat, expected), expected)


# --- k-ToM ----------------------------------------------------------------------------------------


def _both_moves(view: View, since: int) -> Iterator[tuple[int, int] | None]:
    """Yield the rounds of a two-player game from an index on, as (own move, other's move)."""
    for moves in view.rounds(since):
        yield None if moves is None else (moves[view.number], moves[1 - view.number])


def gains_of(game: LevelGame, seat: Seat) -> Gains:
    """Return how much more move 1 pays than move 0, for each move of the opponent and for both
    seats."""
    if len(game.seats) != 2 or len(game.menu(seat)) != 2:
        raise BadInput("k_tom plays games of two players with two moves each")
    own_pays, other_pays = (
        pay_table(game, seat_of_table) for seat_of_table in (seat, *game.others(seat))
    )
    return (
        (float(own_pays[1, 0] - own_pays[0, 0]), float(own_pays[1, 1] - own_pays[0, 1])),
        (float(other_pays[1, 0] - other_pays[0, 0]), float(other_pays[1, 1] - other_pays[0, 1])),
    )


def k_tom(
    game: LevelGame,
    seat: Seat,
    k: int = 1,
    volatility: float = -2.0,
    temperature: float = -1.0,
    bias: float | None = None,
    dilution: float | None = None,
) -> Mind:
    thinks = KTom(gains_of(game, seat), k, volatility, temperature, bias, dilution)
    follower = Follower(thinks.start, thinks.update_mind, _both_moves)

    def does(view: View) -> Odds:
        chance = thinks.chance(follower.state(view))
        return {0: 1 - chance, 1: chance}

    def expects(view: View) -> Odds:
        chance = thinks.expects(follower.state(view))
        return {0: 1 - chance, 1: chance}

    return Mind(does, expects, k)


# --- by name --------------------------------------------------------------------------------------


def _random(game: LevelGame, seat: Seat) -> Mind:
    return fixed_mind(evenly(game.menu(seat)), None, 0)


def _constant(game: LevelGame, seat: Seat, place: int = 0) -> Mind:
    menu = game.menu(seat)
    return fixed_mind({menu[place % len(menu)]: 1.0})


@dataclass(frozen=True)
class Declared:
    """A constructor of minds, and its default settings."""

    make: Callable[..., Mind]  # (game, seat, **settings)
    settings: Mapping[str, Any] = field(default_factory=dict)


MINDS: Mapping[str, Declared] = {
    "level": Declared(level, {"k": 1, "base": ""}),
    "cognitive_hierarchy": Declared(cognitive_hierarchy, {"k": 2, "tau": 1.5, "base": ""}),
    "people": Declared(people),
    "equilibrium": Declared(equilibrium_mind),
    "note_reader": Declared(note_reader),
    "k_tom": Declared(
        k_tom,
        {"k": 1, "volatility": -2.0, "temperature": -1.0, "bias": None, "dilution": None},
    ),
    "random": Declared(_random),  # a level-0 player to whom nothing stands out
    "constant": Declared(_constant, {"place": 0}),
}


def mind_of(game: LevelGame, seat: Seat, player: PlayerSpec | None) -> Mind | None:
    """Return the declared mind of the player in a seat; None if the player declares none."""
    declared = MINDS.get(player.player) if player else None
    return declared.make(game, seat, **player.params) if declared and player else None


def ladder(game: LevelGame, seat: Seat, highest: int = 3) -> tuple[Mind, ...]:
    """Return the minds of levels 0 to `highest`; for matching pennies, these are k-ToM players."""
    if isinstance(game.pays, Pennies):
        return tuple(k_tom(game, seat, k) for k in range(highest + 1))
    return tuple(level(game, seat, k) for k in range(highest + 1))
