"""Metrics of the step race: the gain of each move relative to a random and to the best move,
promises, and behaviour towards truthful players.

Ratios are stored as two sums in a `TurnSums`, so that tables can pool episodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import inf
from typing import Any

import msgspec

from sally.core.log.events import PlayerSpec, Setup
from sally.core.rules.game import Seat
from sally.core.rules.metric import Metric, Played, cache_by_seat
from sally.games.step_race.rules import MOVES, SEATS, StepRace, Triple, View, others_of
from sally.games.step_race.solver import SAME, Solved, hindsight, solved_against, steps, value
from sally.games.step_race.spec import missing_of, move_in_turn
from sally.games.step_race.talk import Announced, last_announcements


class ObservedMove(msgspec.Struct, frozen=True):
    """One move of a seat, with the others' moves and all announcements."""

    turn: int  # of the log
    view: View
    own_move: int
    other_moves: tuple[int, int]  # of the two others, in seat order; 0 for a missing move
    missing: Triple
    announcements: Announced
    last: bool  # whether the race ended with it

    @property
    def worths(self) -> tuple[float, float, float]:
        """The value of each move, in points, with uniform play afterwards."""
        return hindsight(self.missing, self.view.number, self.other_moves)


def game_of(played: Played) -> StepRace:
    """Return the rules of an episode."""
    return played.replay.rules(StepRace)


@cache_by_seat
def list_moves(played: Played, seat: Seat) -> list[ObservedMove]:
    """Return every turn in which the seat moved."""
    game, replay, number = game_of(played), played.replay, SEATS.index(seat)
    first_opponent, two = others_of(number)
    final = len(replay) - 1 if played.episode.payoffs is not None else -1
    moves = []
    for turn in range(len(replay)):
        own_move = move_in_turn(replay, turn, seat)
        if own_move is None:
            continue
        view: View = replay.view(turn, seat)
        other_moves = (
            move_in_turn(replay, turn, SEATS[first_opponent]) or 0,
            move_in_turn(replay, turn, SEATS[two]) or 0,
        )
        announcements, missing = (
            last_announcements(view.talk, view.turn),
            missing_of(game, view.positions),
        )
        moves.append(
            ObservedMove(turn, view, own_move, other_moves, missing, announcements, turn == final)
        )
    return moves


class TurnSums(msgspec.Struct, frozen=True):
    """Sums over the turns of a seat; a measure is a ratio of two of them."""

    turns: int = 0
    win: float = 0.0  # points above the mean move, in hindsight
    win_most: float = 0.0  # what the best move has above the mean move
    win_early: float = 0.0  # the same two without the last turn of the race
    win_early_most: float = 0.0
    best: int = 0  # moves that were best in hindsight
    survived: int = 0  # other moves after which the seat had no fewer points to expect than before
    steps: float = 0.0  # steps above the mean move
    steps_most: float = 0.0
    gained: int = 0  # steps
    collided: int = 0
    fought: int = 0  # turns in which the two others collided with each other and not with this seat
    announced: int = 0
    kept: int = 0
    upwards: int = 0  # broken with a larger number
    truthful: int = 0  # turns in which both others announced and kept
    free: int = 0  # steps of the largest number that they left
    taken: int = 0  # steps gained there
    hit: int = 0  # collisions with one of them
    betrayed: int = 0  # own announcements broken there

    def plus(self, other: TurnSums) -> TurnSums:
        """Return the sums of two tallies."""
        tuples = (msgspec.structs.astuple(sums) for sums in (self, other))
        return TurnSums(*map(sum, zip(*tuples, strict=True)))


def tally_of(observed: ObservedMove) -> TurnSums:
    """Return the tally of a single turn."""
    worths, gains = observed.worths, steps(observed.other_moves)
    move_index = MOVES.index(observed.own_move)
    gain, largest_gain = worths[move_index] - sum(worths) / 3, max(worths) - sum(worths) / 3
    early = not observed.last
    own_announcement = observed.announcements[observed.view.number]
    others = others_of(observed.view.number)
    other_announcements = [observed.announcements[opponent] for opponent in others]
    honest = all(
        s is not None and s == m
        for s, m in zip(other_announcements, observed.other_moves, strict=True)
    )
    free = max(move for move in MOVES if move not in observed.other_moves) if honest else 0
    collided = gains[move_index] == 0
    erred = worths[move_index] < max(worths) - SAME
    value_before = value(observed.missing, observed.view.number)
    return TurnSums(
        turns=1,
        win=gain,
        win_most=largest_gain,
        win_early=gain if early else 0.0,
        win_early_most=largest_gain if early else 0.0,
        best=int(not erred),
        survived=int(erred and worths[move_index] >= value_before - SAME),
        steps=gains[move_index] - sum(gains) / 3,
        steps_most=max(gains) - sum(gains) / 3,
        gained=gains[move_index],
        collided=int(collided),
        fought=int(observed.other_moves[0] == observed.other_moves[1] != observed.own_move),
        announced=int(own_announcement is not None),
        kept=int(own_announcement == observed.own_move),
        upwards=int(own_announcement is not None and observed.own_move > own_announcement),
        truthful=int(honest),
        free=free,
        taken=gains[move_index] if honest else 0,
        hit=int(honest and collided),
        betrayed=int(
            honest and own_announcement is not None and own_announcement != observed.own_move
        ),
    )


def total(tallies: Iterable[TurnSums]) -> TurnSums:
    """Return the sum of several tallies."""
    sum_so_far = TurnSums()
    for tally in tallies:
        sum_so_far = sum_so_far.plus(tally)
    return sum_so_far


@cache_by_seat
def tally(played: Played, seat: Seat) -> TurnSums:
    """Return the tally of a seat's turns."""
    return total(map(tally_of, list_moves(played, seat)))


Ratio = tuple[Callable[[TurnSums], float], Callable[[TurnSums], float]]

RATIOS: dict[str, Ratio] = {
    "doing_win": (lambda t: t.win, lambda t: t.win_most),
    "doing_win_before_last": (lambda t: t.win_early, lambda t: t.win_early_most),
    "doing_steps": (lambda t: t.steps, lambda t: t.steps_most),
    "best_reply_rate": (lambda t: t.best, lambda t: t.turns),
    "errors_survived": (lambda t: t.survived, lambda t: t.turns - t.best),
    "steps_per_turn": (lambda t: t.gained, lambda t: t.turns),
    "collision_rate": (lambda t: t.collided, lambda t: t.turns),
    "others_collide": (lambda t: t.fought, lambda t: t.turns),
    "announced_rate": (lambda t: t.announced, lambda t: t.turns),
    "promise_kept": (lambda t: t.kept, lambda t: t.announced),
    "broken_upwards": (lambda t: t.upwards, lambda t: t.announced),
    "free_taken": (lambda t: t.taken, lambda t: t.free),
    "collides_with_truthful": (lambda t: t.hit, lambda t: t.truthful),
    "betrays_truthful": (lambda t: t.betrayed, lambda t: t.truthful),
}
"""Numerator and denominator of each metric."""


def ratio(name: str, sums: TurnSums) -> float | None:
    """Return the ratio with this name, computed from the sums of a tally; None if its denominator
    is 0."""
    above, below = RATIOS[name]
    denominator = below(sums)
    return above(sums) / denominator if denominator > SAME else None


def _ratio(name: str, about: str, **fields: Any) -> Metric:
    """Return the metric of a ratio, which is from 0 to 1 unless `bounds` are given."""

    def measure(played: Played, seat: Seat) -> float | None:
        return ratio(name, tally(played, seat))

    return Metric(name, about, measure, **{"bounds": (0, 1), **fields})


def solution(played: Played, seat: Seat) -> Solved | None:
    """Return the exact solution of a seat's play against the other players; None if play against
    one of them cannot be solved."""
    return _solution(game_of(played), played.episode.setup, seat)


def _solution(game: StepRace, setup: Setup, seat: Seat, own_mind: str = "") -> Solved | None:
    number = SEATS.index(seat)
    opponents = known_others(setup.lineup, number)
    return solved_against(game.target, number, opponents, game.talks > 0, own_mind)


def known_others(
    lineup: Mapping[str, PlayerSpec], number: int
) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the names and parameters of the two players opposite a seat, in seat order."""
    others = [lineup[SEATS[opponent]] for opponent in others_of(number)]
    return [(player.player, player.params) for player in others]


def _points(played: Played, seat: Seat) -> float | None:
    payoffs = played.episode.payoffs
    return None if payoffs is None else payoffs[seat]


def random_points(setup: Setup, seat: Seat) -> float | None:
    """Return the expected points of a uniformly random player; None if play against these opponents
    cannot be solved exactly.

    The turn limit is ignored, as in all exact solutions.
    """
    game = StepRace(**setup.instance.params)
    solution_found = _solution(game, setup, seat, "uniform")
    return (
        None if solution_found is None else solution_found.value(missing_of(game, game.positions))
    )


def _regret(played: Played, seat: Seat) -> float | None:
    """Return the solved optimum at the start minus the points won."""
    payoffs, game = played.episode.payoffs, game_of(played)
    solution_found = None if payoffs is None else solution(played, seat)
    if solution_found is None or payoffs is None:
        return None
    return solution_found.value(missing_of(game, game.positions)) - payoffs[seat]


METRICS = (
    Metric(
        "points",
        "points won: 1 for the winner, shared by equal totals",
        _points,
        better="higher",
        unit="payoff",
        bounds=(0, 1),
        at_random=random_points,
    ),
    _ratio(
        "doing_win",
        "points above a random move, of those that the best move has, by uniform play from there",
        better="higher",
        bounds=(-inf, 1),
        headline=True,
    ),
    _ratio(
        "doing_win_before_last",
        "doing_win without the last turn of the race, which the winner decides by construction",
        better="higher",
        bounds=(-inf, 1),
    ),
    _ratio(
        "doing_steps",
        "steps above a random move, of those that the best move has in the turn",
        better="higher",
        bounds=(-inf, 1),
        headline=True,
    ),
    Metric(
        "step_regret",
        "the optimum against the others' declared minds, minus the points won",
        _regret,
        better="lower",
        unit="payoff",
        bounds=(-1, 1),
    ),
    _ratio("best_reply_rate", "share of moves that were best in hindsight", better="higher"),
    _ratio(
        "errors_survived",
        "of the moves that were not best in hindsight, those after which the seat's value under "
        "uniform play was not below the value before the turn",
    ),
    _ratio("steps_per_turn", "steps gained per turn", better="higher", unit="steps", bounds=(0, 5)),
    _ratio("collision_rate", "share of moves that collided", better="lower", headline=True),
    _ratio(
        "others_collide",
        "share of turns in which the others collided with each other: unearned help",
    ),
    _ratio(
        "announced_rate",
        "share of turns in which the seat announced its move, by the reader of messages",
    ),
    _ratio("promise_kept", "share of announcements that were kept", headline=True),
    _ratio("broken_upwards", "share of announcements that were broken with a larger number"),
    _ratio(
        "free_taken",
        "if both others announced and kept: steps taken of the largest number they left",
        better="higher",
    ),
    _ratio(
        "collides_with_truthful",
        "if both others announced and kept: share of turns in which the move hit one of them",
        better="lower",
    ),
    _ratio(
        "betrays_truthful",
        "if both others announced and kept: share of turns in which the seat broke its word",
    ),
)
