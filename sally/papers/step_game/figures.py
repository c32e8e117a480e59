"""Figures of the published games of the step race (Mazur 2025): models, mindless players, findings,
and a rating.

A game is a cluster, because its three seats depend on each other; models are not clusters, so
intervals hold for these models only. Measures are ratios of sums over turns; the rating is an
additive fit of points on models, with a bootstrap over games.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise

import msgspec
import numpy as np

from sally.core.rules.chance import Stream
from sally.core.rules.metric import Played
from sally.games.step_race.metrics import (
    METRICS,
    RATIOS,
    ObservedMove,
    TurnSums,
    list_moves,
    tally_of,
    total,
)
from sally.games.step_race.partners import free_of_last, repeat_own_last
from sally.games.step_race.rules import MOVES, SEATS
from sally.games.step_race.solver import (
    EVEN,
    Odds,
    free_of_announced,
    stage_equilibrium,
    steps,
    sure,
)
from sally.papers.step_game.names import rewritten
from sally.stats.additive_ratings import additive_ratings
from sally.stats.bradley_terry import components
from sally.stats.cluster_interval import Bounds, ratio_by_rule
from sally.stats.intervals import Estimate

DRAWS = 200
RATED = "additive fit, bootstrap over games"
TALK = ("promise_kept", "broken_upwards", "announced_rate", "free_taken", "collides_with_truthful")
BOUNDS = {metric.name: metric.bounds for metric in METRICS}
SHARE = (0.0, 1.0)
SHOWN = ("doing_win", "doing_steps", *TALK)


class SeatGame(msgspec.Struct, frozen=True):
    """One seat of one game."""

    game: str
    seat: int
    raw: str  # the model's raw name
    points: float
    turns: tuple[ObservedMove, ...]
    tallies: tuple[TurnSums, ...]
    sums: TurnSums
    rewritten: bool  # whether its messages, or those of another seat, were rewritten


def seat_games(games: Iterable[Played]) -> list[SeatGame]:
    """Return every seat of every imported game."""
    seats = []
    for played in games:
        names = played.episode.used.get("names", {})
        payoffs = played.episode.payoffs
        if not names or payoffs is None:
            continue
        odd = any(rewritten(str(name_entry["raw"])) for name_entry in names.values())
        for number, seat in enumerate(SEATS):
            turns = tuple(list_moves(played, seat))
            tallies = tuple(map(tally_of, turns))
            seats.append(
                SeatGame(
                    played.episode.setup.instance.id,
                    number,
                    str(names[seat]["raw"]),
                    payoffs[seat],
                    turns,
                    tallies,
                    total(tallies),
                    odd,
                )
            )
    return seats


def ratio(
    pairs: Sequence[tuple[float, float]], games: Sequence[str], bounds: Bounds | None
) -> Estimate | None:
    """Return the sum of the numerators divided by the sum of the denominators, with its interval.

    `pairs` holds (numerator, denominator) pairs, and `games` the game of each pair; the interval
    treats each game as a cluster.
    """
    if sum(b for _, b in pairs) <= 0:
        return None
    return ratio_by_rule([a for a, _ in pairs], [b for _, b in pairs], list(games), bounds)


def measure(seats: Sequence[SeatGame], metric: str) -> Estimate | None:
    """Return one measure, pooled over these seats."""
    above, below = RATIOS[metric]
    counted_seats = [
        seat_game for seat_game in seats if not (metric in TALK and seat_game.rewritten)
    ]
    pairs = [(above(seat_game.sums), below(seat_game.sums)) for seat_game in counted_seats]
    return ratio(pairs, [seat_game.game for seat_game in counted_seats], BOUNDS[metric])


def win_share(seats: Sequence[SeatGame]) -> Estimate | None:
    """Return the mean points of these seats; equally strong players would get one third each."""
    return ratio([(seat.points, 1.0) for seat in seats], [seat.game for seat in seats], SHARE)


# --- mindless players on the same turns -----------------------------------------------------------

Rule = Callable[[ObservedMove], Odds]


def rules() -> Mapping[str, Rule]:
    """Return, for each mindless player, the function that gives its move probabilities in a
    recorded turn."""
    equilibrium, _ = stage_equilibrium()
    return {
        "uniform": lambda observed: EVEN,
        "always_5": lambda observed: sure(5),
        "always_3": lambda observed: sure(3),
        "always_1": lambda observed: sure(1),
        "free_of_last": lambda observed: sure(free_of_last(observed.view)),
        "free_of_announced": lambda observed: sure(
            free_of_announced(observed.announcements, observed.view.number)
        ),
        "repeat_own_last": lambda observed: sure(repeat_own_last(observed.view)),
        "stage_equilibrium": lambda observed: equilibrium,
    }


def mindless(seats: Sequence[SeatGame], rule: Rule, metric: str) -> Estimate | None:
    """Return the score `doing_win` or `doing_steps` that a mindless player would get in the
    recorded turns."""
    games: dict[str, tuple[float, float]] = {}
    for seat in seats:
        above, below = games.get(seat.game, (0.0, 0.0))
        for observed, sums in zip(seat.turns, seat.tallies, strict=True):
            worths = observed.worths if metric == "doing_win" else steps(observed.other_moves)
            mean = sum(worths) / 3
            above += sum(p * w for p, w in zip(rule(observed), worths, strict=True)) - mean
            below += sums.win_most if metric == "doing_win" else sums.steps_most
        games[seat.game] = above, below
    return ratio(list(games.values()), list(games), BOUNDS[metric])


# --- findings -------------------------------------------------------------------------------------


def findings(seats: Sequence[SeatGame]) -> dict[str, Estimate | None]:
    """Return the main results over all models."""
    # a turn has three seats and counts once
    first_seats = [seat for seat in seats if seat.seat == 0]

    def by_turn(holds: Callable[[ObservedMove], bool], of: Sequence[SeatGame]) -> Estimate | None:
        pairs = [(float(sum(map(holds, s.turns))), float(len(s.turns))) for s in of]
        return ratio(pairs, [s.game for s in of], SHARE)

    def kept_share(is_near: bool) -> Estimate | None:
        pairs, games = [], []
        for seat in seats:
            if seat.rewritten:
                continue
            games.append(seat.game)
            tallies = [
                t
                for d, t in zip(seat.turns, seat.tallies, strict=True)
                if (min(d.missing) <= MOVES[-1]) == is_near
            ]
            sums = total(tallies)
            pairs.append((float(sums.kept), float(sums.announced)))
        return ratio(pairs, games, SHARE)

    def fives(observed: ObservedMove) -> bool:
        return (observed.own_move, *observed.other_moves).count(5) > 1

    return {
        "win doing, all models": measure(seats, "doing_win"),
        "win doing without the last turn": measure(seats, "doing_win_before_last"),
        "steps doing, all models": measure(seats, "doing_steps"),
        "best reply rate": measure(seats, "best_reply_rate"),
        "errors survived": measure(seats, "errors_survived"),
        "steps a turn": measure(seats, "steps_per_turn"),
        "full split of 1, 3 and 5": by_turn(
            lambda d: len({d.own_move, *d.other_moves}) == 3, first_seats
        ),
        "collision on 5": by_turn(fives, first_seats),
        "announced": measure(seats, "announced_rate"),
        "promise kept": measure(seats, "promise_kept"),
        "broken upwards": measure(seats, "broken_upwards"),
        "kept before anybody can arrive": kept_share(False),
        "kept once somebody can": kept_share(True),
        "free number taken from the truthful": measure(seats, "free_taken"),
        "collides with the truthful": measure(seats, "collides_with_truthful"),
    }


def models(seats: Sequence[SeatGame]) -> dict[str, list[SeatGame]]:
    """Return the seats of each model, with the most frequent model first."""
    seats_by_model: dict[str, list[SeatGame]] = {}
    for seat in seats:
        seats_by_model.setdefault(seat.raw, []).append(seat)
    return dict(sorted(seats_by_model.items(), key=lambda of: (-len(of[1]), of[0])))


# --- rating ---------------------------------------------------------------------------------------


class Rating(msgspec.Struct, frozen=True):
    """Opponent-adjusted ratings, and the groups of models that are connected by games."""

    ratings: dict[str, Estimate]
    groups: tuple[tuple[str, ...], ...]  # models that met, directly or through others


def rating(seats: Sequence[SeatGame], draws: int = DRAWS, seed: int = 1) -> Rating:
    """Return ratings from a ridge regression (penalty 1) of points on models, adjusted for
    opponents.

    A seat's points minus a third are regressed on the rating of its model minus the mean rating of
    the two other models. Seat numbers have separate terms, so that a model that had one seat more
    often than another is neither helped nor hurt. Intervals are the middle 95 % of a bootstrap over
    games.
    """
    names = sorted({seat_game.raw for seat_game in seats})
    place = {name: n for n, name in enumerate(names)}
    games: dict[str, list[SeatGame]] = {}
    for seat_game in seats:
        games.setdefault(seat_game.game, []).append(seat_game)
    rows = [_rows(three, place) for three in games.values()]
    x, y = np.array([r for r, _ in rows]), np.array([p for _, p in rows])
    chance = Stream("step_game", "rating", seed).generator()
    fit, low, high = additive_ratings(x, y, len(names), draws, chance)
    often = Counter(seat_game.raw for seat_game in seats)
    ratings_found = {
        name: Estimate(float(fit[n]), float(low[n]), float(high[n]), often[name], RATED)
        for name, n in place.items()
    }
    ordered = dict(sorted(ratings_found.items(), key=lambda seat_game: -fit[place[seat_game[0]]]))
    rows_of = ([place[seat_game.raw] for seat_game in three] for three in games.values())
    pairs_met = np.array([pair for three in rows_of for pair in pairwise(three)])
    groups: dict[int, list[str]] = {}
    for name, group in zip(names, components(len(names), pairs_met), strict=True):
        groups.setdefault(int(group), []).append(name)
    return Rating(ordered, tuple(sorted(map(tuple, groups.values()), key=len, reverse=True)))


def _rows(
    three: Sequence[SeatGame], place: Mapping[str, int]
) -> tuple[list[list[float]], list[float]]:
    """Return the three regression rows of a game (model terms first, then two seat terms) and their
    points."""
    rows, points = [], []
    for seat in three:
        row = [0.0] * (len(place) + 2)
        row[place[seat.raw]] += 1.0
        for opponent in three:
            if opponent is not seat:
                row[place[opponent.raw]] -= 0.5
        if seat.seat:
            row[len(place) + seat.seat - 1] = 1.0
        rows.append(row)
        points.append(seat.points - 1 / 3)
    return rows, points
