"""The scripted partners of Taboo: partners with their own associations, a learner, and mindless
partners."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from sally.core.match.partner import Partner, by_name
from sally.core.match.player import Turn
from sally.core.rules.probe import ProbeReport
from sally.games.association.english import vocabulary
from sally.games.association.lexicon import cards, open_rows, place, plain
from sally.games.association.minds import Mind, closeness, hubness, ties
from sally.games.association.nouns import columns
from sally.games.association.partners import (
    GRID,
    Floats,
    declaring,
    for_seat,
    likeliest,
    log_share,
    shares,
)
from sally.games.taboo.instances import Problem
from sally.games.taboo.rules import GIVER, GUESSER, Action, Guess, Hint, Tries, View, hidden
from sally.games.taboo.solver import best_hint, guess, strengths
from sally.games.taboo.spec import OTHER

TabooTurn = Turn[Action, View]


def problem_of(view: View) -> Problem:
    """Return the problem that the giver sees."""
    return Problem(view.target, view.banned)


# --- minds ----------------------------------------------------------------------------------------


def _associates(turn: TabooTurn, mind: Mind) -> Action:
    view = turn.view
    if view.seat == GIVER:
        return Hint(best_hint(mind, problem_of(view), view.tries)[0])
    if view.cue:
        return Guess(guess(mind, (), view.cue))
    return Guess(guess(mind, view.tries, view.hint or ""))


def _by_mind(turn: TabooTurn, mind: Mind) -> ProbeReport:
    """Return the answer to a probe, assuming that the guesser has this mind."""
    question, view = turn.question, turn.view
    assert question is not None
    if question.probe == "closeness":
        return ProbeReport(closeness(mind, *question.about.split()))
    hint_word = turn.pending.word if isinstance(turn.pending, Hint) else ""
    guessed_word = guess(mind, view.tries, hint_word)
    if question.probe == "will_find":
        return ProbeReport("yes" if guessed_word == view.target else "no")
    return ProbeReport(guessed_word if guessed_word in question.choices else OTHER)


# --- the learner ----------------------------------------------------------------------------------


def belief(view: View) -> Floats:
    """Return the posterior over the minds (ways of associating words) that the learner considers,
    given the guesses so far."""
    weights = np.zeros(len(GRID))
    for cue, answer in view.cues:
        weights = weights + _evidence((), cue, answer)
    for tries in (*(past_round.tries for past_round in view.past), view.tries):
        for n, (hint, guessed_word) in enumerate(tries):
            weights = weights + _evidence(tries[:n], hint, guessed_word)
    return shares(weights)


@lru_cache(maxsize=4096)
def _evidence(tries: Tries, hint: str | None, guessed_word: str | None) -> Floats:
    """Return the log-likelihood of one guess under each mind (way of associating words) that the
    learner considers."""
    column = columns().get(plain(guessed_word)) if guessed_word else None
    if hint is None or column is None:
        return np.zeros(len(GRID))
    return np.array([log_share(strengths(mind, tries, hint), column) for mind in GRID])


def _adapts(turn: TabooTurn) -> Action:
    view = turn.view
    return Hint(best_hint(likeliest(belief(view)), problem_of(view), view.tries)[0])


def _adapts_answer(turn: TabooTurn) -> ProbeReport:
    return _by_mind(turn, likeliest(belief(turn.view)))


# --- mindless -------------------------------------------------------------------------------------

Scores = Callable[[View], npt.NDArray[np.float32]]  # score of every word of the vocabulary


def _giver(name: str, about: str, score_words: Scores) -> Partner:
    def act(turn: TabooTurn) -> Action:
        return Hint(_highest_scoring(turn.view, score_words(turn.view)))

    return for_seat(name, about, GIVER, act)


def _highest_scoring(view: View, scores: npt.NDArray[np.float32]) -> str:
    """Return the legal word with the highest score that has not been said in this round."""
    rows = open_rows(hidden(problem_of(view)))
    hints_said = {plain(hint) for hint, _ in view.tries if hint}
    order = rows[np.argsort(-scores[rows], kind="stable")]
    return next(vocabulary()[int(row)] for row in order if vocabulary()[int(row)] not in hints_said)


def _nearness(view: View) -> npt.NDArray[np.float32]:
    strengths: npt.NDArray[np.float32] = ties(Mind())[:, place(view.target)]
    return strengths


def _names_in_order(name: str, about: str, nouns: Sequence[str]) -> Partner:
    """Return a guesser that names the given nouns in order."""

    def act(turn: TabooTurn) -> Action:
        named_words = {plain(word) for _, word in turn.view.tries if word}
        return Guess(next(word for word in nouns if word not in named_words))

    return for_seat(name, about, GUESSER, act)


PARTNERS = by_name(
    declaring(
        "associates",
        "guesses the noun that the hints bring to its own mind; as giver it says the hint "
        "that would work best on itself",
        Mind,
        lambda view: len(view.past),
        _associates,
        _by_mind,
    ),
    for_seat(
        "adapts",
        "a giver who learns the guesser's mind from its guesses, by Bayes over four minds",
        GIVER,
        _adapts,
        _adapts_answer,
    ),
    _giver("nearest", "the legal word nearest to the target, for any listener", _nearness),
    _giver("farthest", "the legal word farthest from the target", lambda view: -_nearness(view)),
    _giver("hub", "the legal word that is near to most", lambda view: hubness()),
    _giver("loner", "the legal word that is near to fewest", lambda view: -hubness()),
    _names_in_order("list_order", "names the nouns from a on, ignoring hints", cards()),
    _names_in_order("list_backwards", "names the nouns from z on, ignoring hints", cards()[::-1]),
)
