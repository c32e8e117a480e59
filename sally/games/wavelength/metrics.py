"""Metrics of Wavelength: points, exact regret, and errors of predicted dial positions."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

import msgspec
import numpy as np
import scipy

from sally.core.log.events import Setup
from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.core.rules.metric import Metric, Played, cache_by_seat
from sally.games.association.measures import learning, losses, mean
from sally.games.association.partners import declared_at
from sally.games.wavelength.dials import (
    Dial,
    best_points,
    expected_points,
    legal_rows,
    reading,
    targets_behind,
)
from sally.games.wavelength.partners import PARTNERS, points_at_distance
from sally.games.wavelength.rules import GUESSER, PSYCHIC, Wavelength

FEWEST = 5  # rounds for a monotone fit


class ScoredRound(msgspec.Struct, frozen=True):
    """One round: its points, the best possible points and the predicted dial position."""

    number: int
    points: int
    best: float | None  # None: the partner has no declared dial
    target: int
    dial: int | None
    predicted: int | None = None  # where the psychic expected the dial


def declared_dial(played: Played, seat: Seat, number: int) -> Dial | None:
    """Return the declared dial of a seat's player in a round; None if the player declares none."""
    player_spec = played.episode.setup.lineup[seat]
    if player_spec.player != "own_dial":
        return None
    return declared_at(Dial, player_spec.params, number)


def random_points(setup: Setup, seat: Seat) -> float | None:
    """Return the expected points per round of a random clue or of a random dial position.

    A random dial position does not depend on the clue. The value for a random clue is exact if the
    guesser declares its dial, and None otherwise.
    """
    game = registry.game(setup.instance.game).build(setup.instance.params)
    assert isinstance(game, Wavelength)
    problems = game.row[: game.rounds]
    if seat == GUESSER:
        means = [expected_points(game, (now.target,)).mean() for now in problems]
        return float(np.mean(means)) if setup.lineup[PSYCHIC].player in PARTNERS else None
    if setup.lineup[GUESSER].player != "own_dial":
        return None
    means = []
    for number, now in enumerate(problems):
        dial = declared_at(Dial, setup.lineup[GUESSER].params, number)
        positions = np.rint(reading(dial, now.left, now.right))
        means.append(
            points_at_distance(
                game, np.abs(positions[legal_rows(now.left, now.right)] - now.target)
            ).mean()
        )
    return float(np.mean(means))


@cache_by_seat
def rounds(played: Played, seat: Seat) -> list[ScoredRound]:
    """Return every round of an episode for one seat."""
    game = played.replay.rules(Wavelength)
    past = played.replay.view(len(played.replay), seat).past
    return [
        ScoredRound(
            n,
            past_round.points,
            _best(played, seat, game, n),
            past_round.target,
            past_round.dial,
            prediction,
        )
        for n, (past_round, prediction) in enumerate(
            zip(past, _predictions(played, game), strict=False)
        )
    ]


def _best(played: Played, seat: Seat, game: Wavelength, number: int) -> float | None:
    """Return the most points that a seat could have expected in a round, given where its scripted
    partner places words on the dial; None if that is unknown."""
    other_seat = GUESSER if seat == PSYCHIC else PSYCHIC
    other_dial = declared_dial(played, other_seat, number)
    if other_dial is None:
        return None
    now = game.row[number]
    if seat == PSYCHIC:
        return float(best_points(game, other_dial, now.left, now.right, now.target))
    clue = played.replay.view(len(played.replay), seat).past[number].clue
    behind = targets_behind(other_dial, now.left, now.right, clue) if clue else ()
    return float(expected_points(game, behind).max()) if behind else float(game.best_score)


def _predictions(played: Played, game: Wavelength) -> list[int | None]:
    """Return, for each round, the dial position that the psychic expected, or None."""
    predicted_dials: list[int | None] = [None] * game.rounds
    for report in played.replay.reports.values():
        if report.probe == "their_dial" and isinstance(report.value, int):
            predicted_dials[len(played.replay.state(report.turn).past)] = report.value
    return predicted_dials


def regrets(played: Played, seat: Seat) -> list[float]:
    """Return, for each round, the best possible points minus the points earned; empty if the
    partner's dial is not declared."""
    return [
        scored_round.best - scored_round.points
        for scored_round in rounds(played, seat)
        if scored_round.best is not None
    ]


def split(played: Played, seat: Seat) -> list[tuple[float, float]]:
    """Return (inference, translation) loss for each round with a prediction; they sum to the
    regret.

    The translation loss is the best possible points minus the points that the predicted dial
    position would have earned (at most the best); the inference loss is the rest.
    """
    game, losses = played.replay.rules(Wavelength), []
    for scored_round in rounds(played, seat) if seat == PSYCHIC else ():
        if (
            scored_round.best is not None
            and scored_round.predicted is not None
            and scored_round.dial is not None
        ):
            capped = min(
                game.points(scored_round.target, scored_round.predicted), scored_round.best
            )
            losses.append((capped - scored_round.points, scored_round.best - capped))
    return losses


@cache_by_seat
def errors(played: Played, seat: Seat) -> tuple[float, float] | None:
    """Return (association, calibration) error of the predicted dial positions; None if there are
    too few predictions.

    An isotonic curve is fitted from true to predicted dial positions. Its residual is the
    association error (the order of the clues was wrong); its distance from the diagonal is the
    calibration error (the order was right but the positions were not).
    """
    pairs = sorted(
        (scored_round.dial, scored_round.predicted)
        for scored_round in rounds(played, seat)
        if scored_round.dial is not None and scored_round.predicted is not None
    )
    if seat != PSYCHIC or len(pairs) < FEWEST:
        return None
    true, predicted = np.array(pairs, dtype=float).T
    fitted = scipy.optimize.isotonic_regression(predicted).x
    return float(np.abs(predicted - fitted).mean()), float(np.abs(fitted - true).mean())


def _error(n: int) -> Callable[[Played, Seat], float | None]:
    return lambda played, seat: (
        None if (both_errors := errors(played, seat)) is None else both_errors[n]
    )


PER_ROUND = "points per round"
METRICS = (
    Metric(
        "wavelength_points",
        "mean points of a round",
        lambda played, seat: mean([past_round.points for past_round in rounds(played, seat)]),
        at_random=random_points,
        better="higher",
        unit=PER_ROUND,
        within=lambda game, seat: (0.0, float(game.best_score)),
        label="points",
        headline=True,
    ),
    Metric(
        "wavelength_regret",
        "the best that this partner allowed, found by trying every word or place, minus the points",
        lambda played, seat: mean(regrets(played, seat)),
        better="lower",
        unit=PER_ROUND,
        label="regret per decision",
        headline=True,
    ),
    *learning("wavelength", regrets),
    *losses(
        "wavelength",
        split,
        "points that the predicted dial would have earned, minus those of the true one",
        "the best minus what the predicted dial would have earned: not acting on the prediction",
        PER_ROUND,
    ),
    Metric(
        "wavelength_association",
        "how far predicted dials are from their best rising curve: the order of clues was wrong",
        _error(0),
        better="lower",
        unit="places of the dial",
        bounds=(0, inf),
    ),
    Metric(
        "wavelength_calibration",
        "how far that curve is from the true dials: the order was right but the position was not",
        _error(1),
        better="lower",
        unit="places of the dial",
        bounds=(0, inf),
    ),
)
