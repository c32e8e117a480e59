"""The scripted partners of Wavelength: declared dials, a learner, and mindless players."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from sally.core.match.partner import Answerer, Partner, Script, by_name
from sally.core.match.player import Turn
from sally.core.rules.game import Seat
from sally.core.rules.probe import ProbeReport
from sally.games.association.minds import hubness
from sally.games.association.partners import (
    LEAST,
    OURS,
    declaring,
    for_seat,
    shares,
)
from sally.games.wavelength.dials import (
    PLAIN,
    Dial,
    Floats,
    best_clue,
    legal_rows,
    reading,
    set_for,
)
from sally.games.wavelength.rules import (
    DIAL,
    GUESSER,
    PSYCHIC,
    Action,
    Clue,
    View,
    Wavelength,
    legal,
)
from sally.games.wavelength.spec import tenth

DialTurn = Turn[Action, View]
SHIFTS = (-30.0, -20.0, -10.0, 0.0, 10.0, 20.0, 30.0)
STRETCHES = (-1.0, 0.5, 1.0, 1.5)
SLACK = 3.0  # scale of the error model, in dial positions


# --- declared dials -------------------------------------------------------------------------------


def _own_dial(turn: DialTurn, dial: Dial) -> Action:
    view = turn.view
    if view.seat == PSYCHIC:
        assert view.target is not None
        return Clue(best_clue(dial, view.left, view.right, view.target))
    return set_for(dial, view.clue or "", view.left, view.right)


def _by_dial(turn: DialTurn, dial: Dial) -> ProbeReport:
    """Return the answer to a probe, assuming that the other seat has this dial."""
    question, view = turn.question, turn.view
    assert question is not None
    if question.probe == "placing":
        return ProbeReport(set_for(dial, question.about, view.left, view.right))
    if question.probe == "target":
        position = tenth(set_for(dial, view.clue or "", view.left, view.right))
        return ProbeReport(
            position, tuple(float(choice == position) for choice in question.choices)
        )
    clue_word = turn.pending.word if isinstance(turn.pending, Clue) else ""
    position = set_for(dial, clue_word, view.left, view.right)
    if question.probe == "their_dial":
        return ProbeReport(position)
    assert view.target is not None
    return ProbeReport("left" if position < view.target else "right")


# --- the learner ----------------------------------------------------------------------------------


def grid() -> tuple[Dial, ...]:
    """Return the dials that the learner considers: every combination of a shift and a stretch."""
    return tuple(Dial(shift, stretch) for shift in SHIFTS for stretch in STRETCHES)


def prior() -> Floats:
    """Return the prior over the dials that the learner considers: one half on the undistorted dial,
    the rest divided equally among the others."""
    plain = np.array([dial == PLAIN for dial in grid()])
    return np.where(plain, 0.5, 0.5 / (len(plain) - 1))


def belief(view: View) -> Floats:
    """Return the posterior over the partner's dial, given the rounds so far.

    A psychic has seen the dial position for each clue; a guesser has seen the target of each clue,
    which is roughly the clue's position on the psychic's own dial.
    """
    weights = np.log(prior())
    for past_round in view.past:
        if past_round.clue is not None and past_round.dial is not None:
            fact = past_round.dial if view.seat == PSYCHIC else past_round.target
            weights = weights + _evidence(past_round.clue, fact, past_round.left, past_round.right)
    return shares(weights)


@lru_cache(maxsize=4096)
def _evidence(clue: str, fact: int, left_pole: str, right_pole: str) -> Floats:
    """Return the log-likelihood of one revealed position under each dial that the learner
    considers."""
    expected = np.array([set_for(dial, clue, left_pole, right_pole) for dial in grid()])
    log_odds: Floats = -np.abs(expected - fact) / SLACK
    return np.maximum(log_odds, LEAST)


@lru_cache(maxsize=256)
def _readings(left_pole: str, right_pole: str) -> Floats:
    """Return the position of each vocabulary word on each dial that the learner considers."""
    return np.stack([np.rint(reading(dial, left_pole, right_pole)) for dial in grid()])


def points_at_distance(game: Wavelength, away: Floats) -> Floats:
    """Return the points for each distance from the target."""
    points: Floats = np.zeros_like(away)
    for width, band_points in sorted(game.bands, reverse=True):
        points = np.where(away <= width, float(band_points), points)
    return points


def clue_under(game: Wavelength, odds: Floats, left_pole: str, right_pole: str, target: int) -> str:
    """Return the clue with the highest expected points; in a tie, the clue whose mean position
    is nearest to the target."""
    away = np.abs(_readings(left_pole, right_pole)[:, legal_rows(left_pole, right_pole)] - target)
    value = odds @ points_at_distance(game, away) - 1e-4 * (odds @ away)
    return legal(left_pole, right_pole)[int(np.argmax(np.round(value, 9)))]


def dial_under(game: Wavelength, odds: Floats, left_pole: str, right_pole: str, clue: str) -> int:
    """Return the dial position with the highest expected points."""
    meant = np.array([set_for(dial, clue, left_pole, right_pole) for dial in grid()], dtype=float)
    away = np.abs(meant[:, None] - np.array(DIAL)[None, :])
    value = odds @ points_at_distance(game, away) - 1e-4 * (odds @ away)
    return int(np.argmax(np.round(value, 9)))


def _adapts(game: Wavelength, seat: Seat) -> Script:
    def act(turn: DialTurn) -> Action:
        view, odds = turn.view, belief(turn.view)
        if seat == PSYCHIC:
            assert view.target is not None
            return Clue(clue_under(game, odds, view.left, view.right, view.target))
        return dial_under(game, odds, view.left, view.right, view.clue or "")

    return act


def _adapts_answers(game: Wavelength, seat: Seat) -> Answerer:
    """Return a function that answers probes, assuming the most probable dial of the other seat."""
    return lambda turn: _by_dial(turn, grid()[int(np.argmax(belief(turn.view)))])


# --- mindless -------------------------------------------------------------------------------------


def _psychic(name: str, about: str, say: Callable[[View], str]) -> Partner:
    return for_seat(name, about, PSYCHIC, lambda turn: Clue(say(turn.view)))


def at_the_pole(view: View, opposite: bool) -> str:
    """Return the word nearest to the pole on the target's side, or, with `opposite`, to the
    other pole."""
    assert view.target is not None
    right_pole = (view.target >= 50) != opposite
    return best_clue(PLAIN, view.left, view.right, 100 if right_pole else 0)


def by_hubness(view: View, takes_fewest: bool) -> str:
    """Return the clue that is near to the most other words or, with `takes_fewest`, to the
    fewest."""
    rows = legal_rows(view.left, view.right)
    nearness = hubness()[rows]
    return legal(view.left, view.right)[
        int(np.argmin(nearness) if takes_fewest else np.argmax(nearness))
    ]


def _end(turn: DialTurn) -> int:
    return turn.draws.pick((0, 100))


PARTNERS = by_name(
    declaring(
        "own_dial",
        "places words by a dial of its own: shifted, stretched, leaning; as psychic it says "
        "the word that it would itself put on the target",
        Dial,
        lambda view: len(view.past),
        _own_dial,
        _by_dial,
    ),
    Partner(
        "adapts",
        "learns the other's shift and stretch from the rounds, by Bayes over a grid",
        OURS,
        _adapts,
        answers=_adapts_answers,
    ),
    _psychic("pole", "the end of the target's side", lambda view: at_the_pole(view, False)),
    _psychic("other_pole", "the end of the other side", lambda view: at_the_pole(view, True)),
    _psychic("hub", "the word that is near to most", lambda view: by_hubness(view, False)),
    _psychic("loner", "the word that is near to fewest", lambda view: by_hubness(view, True)),
    for_seat("middle", "always 50", GUESSER, lambda turn: 50),
    for_seat("end", "an end of the dial, drawn", GUESSER, _end),
)
