"""How well a dial was understood: points, exact regret, and where it was lost."""

from __future__ import annotations

from math import inf

import msgspec
import numpy as np
import scipy

from sally.core.rules.game import Seat
from sally.core.rules.metric import Metric, Played, shared
from sally.games.association.measures import learning, losses, mean
from sally.games.wavelength.dials import best_points, expected_points, targets_behind
from sally.games.wavelength.partners import dials_of
from sally.games.wavelength.rules import GUESSER, PSYCHIC, Wavelength

FEWEST = 5  # rounds for a monotone fit


class Scored(msgspec.Struct, frozen=True):
    """One round: what it earned, what it could have earned, what was foreseen."""

    number: int
    points: int
    best: float | None  # None: the partner has no declared dial
    target: int
    dial: int | None
    foreseen: int | None = None  # where the psychic expected the dial


@shared
def rounds(played: Played, seat: Seat) -> list[Scored]:
    """Every round of an episode, for one seat."""
    game = played.replay.game
    assert isinstance(game, Wavelength)
    past = played.replay.view(len(played.replay), seat).past
    return [
        Scored(n, seen.points, _best(played, seat, game, n), seen.target, seen.dial, said)
        for n, (seen, said) in enumerate(zip(past, _foreseen(played, game), strict=False))
    ]


def _best(played: Played, seat: Seat, game: Wavelength, number: int) -> float | None:
    """The most that this seat could have earned with this partner in a round."""
    other = GUESSER if seat == PSYCHIC else PSYCHIC
    player_spec = played.episode.setup.lineup[other]
    if player_spec.player != "own_dial":
        return None
    dial, then, until = dials_of(dict(player_spec.params))
    mine = then if until and number >= until else dial
    now = game.row[number]
    if seat == PSYCHIC:
        return float(best_points(game, mine, now.left, now.right, now.target))
    clue = played.replay.view(len(played.replay), seat).past[number].clue
    behind = targets_behind(mine, now.left, now.right, clue) if clue else ()
    return float(expected_points(game, behind).max()) if behind else float(game.most)


def _foreseen(played: Played, game: Wavelength) -> list[int | None]:
    """By round, where the psychic expected the dial, if it was asked and answered."""
    said: list[int | None] = [None] * game.rounds
    for report in played.replay.reports.values():
        if report.probe == "their_dial" and isinstance(report.value, int):
            said[len(played.replay.state(report.turn).past)] = report.value
    return said


def _points(played: Played, seat: Seat) -> float | None:
    return mean([each.points for each in rounds(played, seat)])


def regrets(played: Played, seat: Seat) -> list[float]:
    """By round, the best less what was earned; empty where the best is not known."""
    return [each.best - each.points for each in rounds(played, seat) if each.best is not None]


def _regret(played: Played, seat: Seat) -> float | None:
    return mean(regrets(played, seat))


def split(played: Played, seat: Seat) -> list[tuple[float, float]]:
    """By round with a prediction: (inference loss, translation loss); they sum to the regret.

    Translation: the best less what the predicted dial would have earned; who hopes for more than
    can be had acted on it all the same. Inference: the rest.
    """
    game = played.replay.game
    assert isinstance(game, Wavelength)
    found = []
    for each in rounds(played, seat) if seat == PSYCHIC else ():
        if each.best is not None and each.foreseen is not None and each.dial is not None:
            hoped = min(game.points(each.target, each.foreseen), each.best)
            found.append((hoped - each.points, each.best - hoped))
    return found


@shared
def errors(played: Played, seat: Seat) -> tuple[float, float] | None:
    """(association, calibration) of the predicted dials; None with too few of them.

    The best rising curve from true to predicted dials is fitted. What it leaves is association:
    the order of clues was wrong. How far it lies from the diagonal is calibration: the order was
    right and the place was not.
    """
    pairs = sorted(
        (each.dial, each.foreseen)
        for each in rounds(played, seat)
        if each.dial is not None and each.foreseen is not None
    )
    if seat != PSYCHIC or len(pairs) < FEWEST:
        return None
    true, said = np.array(pairs, dtype=float).T
    fitted = scipy.optimize.isotonic_regression(said).x
    return float(np.abs(said - fitted).mean()), float(np.abs(fitted - true).mean())


def _association(played: Played, seat: Seat) -> float | None:
    found = errors(played, seat)
    return None if found is None else found[0]


def _calibration(played: Played, seat: Seat) -> float | None:
    found = errors(played, seat)
    return None if found is None else found[1]


PER_ROUND = "points per round"
METRICS = (
    Metric(
        "wavelength_points",
        "mean points of a round",
        _points,
        better="higher",
        unit=PER_ROUND,
        within=lambda game, seat: (0.0, float(game.most)),
        label="points",
        headline=True,
    ),
    Metric(
        "wavelength_regret",
        "the best that this partner allowed, found by trying every word or place, less the points",
        _regret,
        better="lower",
        unit=PER_ROUND,
        label="regret",
        headline=True,
    ),
    *learning("wavelength", regrets),
    *losses(
        "wavelength",
        split,
        "points that the predicted dial would have earned, less those of the true one",
        "the best less what the predicted dial would have earned: not acting on one's prediction",
        PER_ROUND,
    ),
    Metric(
        "wavelength_association",
        "how far predicted dials are from their best rising curve: the order of clues was wrong",
        _association,
        better="lower",
        unit="places of the dial",
        bounds=(0, inf),
    ),
    Metric(
        "wavelength_calibration",
        "how far that curve is from the true dials: the order was right and the place was not",
        _calibration,
        better="lower",
        unit="places of the dial",
        bounds=(0, inf),
    ),
)
