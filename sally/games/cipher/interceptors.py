"""The pool of interceptors that the ideal encoder of Cipher assumes, and play against it.

The interceptor is `by_history`, `by_bayes` or `random`, equally likely and the same in all games of
an episode; the decoder is `by_keywords`. All associate words by meaning alone. The observer is
exact: the first two interceptors are deterministic, so the weight of each follows from its guesses
by Bayes' rule.

What the hints of a round change in later rounds cannot be enumerated. Values are therefore an upper
bound: every round is assumed to have *perfect hints*, which the decoder reads correctly and which
an interceptor who listens does not, whichever it is. No encoder earns more than this bound. The
Bayes-adaptive player takes the hints with the highest value among all triples of the nearest words
per digit. Of equally good triples, those that are likeliest to cost no token are preferred (the
bound counts only the token that loses a game), and of these the one that is least clear to the
decoder, which gives the interceptor the fewest clues for later rounds. `python -m benchmarks.ideal`
compares the bound with what the player earns.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from sally.games.association.minds import Mind
from sally.games.cipher.instances import PastRound
from sally.games.cipher.listeners import (
    CODES,
    INDEX,
    LENGTH,
    LISTENERS,
    PLACES,
    Filed,
    Floats,
    Listener,
    Position,
    by_bayes,
    by_history,
    by_keywords,
    chances,
    decoder_odds,
    digits,
    likeliest,
    listener_odds,
    unsaid,
)
from sally.games.cipher.rules import Cipher, Record, View, past_guesses
from sally.stats.ideal import TIE

POOL = ("by_history", "by_bayes", "random")
PRIOR = (1 / len(POOL),) * len(POOL)
MIND = Mind()
WIDTH = 40  # nearest words per digit among which the player searches
NEAR = 1e-12  # log weights of codes that count as equal, as in `likeliest`
Weights = tuple[float, ...]  # of the interceptors of the pool


# --- what the interceptors guess ------------------------------------------------------------------


@lru_cache(maxsize=4096)
def guess_odds(filed: Filed, hints: tuple[str, ...], codes_left: tuple[int, ...]) -> Floats:
    """Return the probability of each guess, as (interceptor of the pool, remaining code)."""
    rows = []
    for name in POOL:
        odds = listener_odds(Listener(LISTENERS[name]), filed, hints, codes_left)
        if name != "random":  # the others guess the most probable code
            odds = np.eye(len(codes_left))[codes_left.index(likeliest(odds, codes_left))]
        rows.append(odds)
    return np.array(rows)


def update_weights(weights: Weights, odds: Floats, guess: int) -> Weights:
    """Return the weights of the interceptors after the guess with this index."""
    new_weights = np.array(weights) * odds[:, guess]
    return tuple((new_weights / new_weights.sum()).tolist()) if new_weights.sum() > 0 else weights


def weights_of(view: View) -> Weights:
    """Return the weights of the interceptors, given the guesses that a seat has seen."""
    weights: Weights = PRIOR
    for record, hints, guess in past_guesses(view):
        odds = guess_odds(record.filed, hints, record.remaining_codes)
        weights = update_weights(weights, odds, record.remaining_codes.index(guess))
    return weights


# --- what a round is worth ------------------------------------------------------------------------


class Stage(NamedTuple):
    """The rounds and tokens of a game, the number of remaining codes, and whether any hints are
    filed."""

    played: int
    missed: int
    caught: int
    n_codes_left: int
    filed: bool

    def next_stage(self, missed: bool, caught: bool) -> Stage:
        """Return the stage after a round with this result."""
        return Stage(
            self.played + 1, self.missed + missed, self.caught + caught, self.n_codes_left - 1, True
        )


def stage_of(record: Record) -> Stage:
    """Return the stage of a game with this record."""
    tokens = record.miscommunications, record.interceptions
    return Stage(record.played, *tokens, len(record.remaining_codes), any(record.filed))


def opening(past: Sequence[PastRound]) -> Stage:
    """Return the stage at the start of a game. Its instance may state rounds that count as already
    played (`past`); their codes do not occur again."""
    return Stage(0, 0, 0, len(CODES) - len(past), bool(past))


@lru_cache(maxsize=4096)
def survives(length: int, tokens: int, listens: bool, stage: Stage) -> float:
    """Return the highest probability that the team wins, before the next code is drawn.

    Args:
        length: The rounds of a game.
        tokens: The number of tokens of one kind that lose the game.
        listens: Whether the interceptor uses the hints; if not, or if no hints are filed, it is
            right by chance.
        stage: The stage of the game.
    """
    if stage.missed >= tokens or stage.caught >= tokens:
        return 0.0
    if stage.played >= length:
        return 1.0
    hit = 0.0 if listens and stage.filed else 1 / stage.n_codes_left
    free, token = (
        survives(length, tokens, listens, stage.next_stage(False, c)) for c in (False, True)
    )
    return (1 - hit) * free + hit * token


def survival(game: Cipher, stage: Stage) -> Floats:
    """Return, for each interceptor of the pool, the highest probability that the team wins."""
    return np.array([survives(game.rounds, game.tokens, name != "random", stage) for name in POOL])


def later(game: Cipher, number: int) -> Floats:
    """Return, for each interceptor, the highest expected payoff of the games from this one on."""
    payoffs = np.zeros(len(POOL))
    for problem in game.row[number : game.games]:
        payoffs += 2 * survival(game, opening(problem.past)) - 1
    return payoffs


def results(game: Cipher, stage: Stage) -> Floats:
    """Return the expected payoff of the game after a round, as an array with three axes: the
    interceptor of the pool, whether the decoder was wrong, and whether the interceptor was
    right."""
    stages = [
        [stage.next_stage(missed, caught) for caught in (False, True)] for missed in (False, True)
    ]
    return np.array(
        [[2 * survival(game, next_stage) - 1 for next_stage in row] for row in stages]
    ).transpose(2, 0, 1)


def worth_of(
    game: Cipher, position: Position, stage: Stage, weights: Weights, hints: Sequence[str]
) -> float:
    """Return the expected payoff of the current game if these hints are given."""
    missed = int(
        likeliest(
            decoder_odds(MIND, position.keywords, hints, position.codes_left), position.codes_left
        )
        != position.code
    )
    hit = guess_odds(position.filed, tuple(hints), position.codes_left)[
        :, position.codes_left.index(position.code)
    ]
    paid = results(game, stage)[:, missed]
    return float(np.array(weights) @ (paid[:, 0] + hit * (paid[:, 1] - paid[:, 0])))


def perfect_worth(game: Cipher, position: Position, stage: Stage, weights: Weights) -> float:
    """Return the expected payoff of the current game with perfect hints in this round."""
    hit = guess_odds(position.filed, position.keywords[:LENGTH], position.codes_left)[
        :, position.codes_left.index(position.code)
    ]
    if stage.filed:  # without hints from earlier rounds, no interceptor depends on the hints
        hit = np.where([name == "random" for name in POOL], hit, 0.0)
    paid = results(game, stage)[:, 0]
    return float(np.array(weights) @ (paid[:, 0] + hit * (paid[:, 1] - paid[:, 0])))


# --- the best hints -------------------------------------------------------------------------------


def _is_read(weights: Sequence[Floats], position: Position) -> Floats:
    """Return, for each triple of words, whether a listener with these log weights guesses the true
    code."""
    places_of = PLACES[[INDEX[code] for code in position.codes_left]]
    first, second, third = (w[:, places_of[:, j]] for j, w in enumerate(weights))
    triple_weights = first[:, None, None, :] + second[None, :, None, :] + third[None, None, :, :]
    top = triple_weights >= triple_weights.max(axis=-1, keepdims=True) - NEAR
    return np.asarray(top.argmax(axis=-1) == position.codes_left.index(position.code), dtype=float)


@lru_cache(maxsize=1024)
def adaptive_hints(
    game: Cipher, position: Position, stage: Stage, weights: Weights, width: int = WIDTH
) -> tuple[str, ...]:
    """Return the hints of the Bayes-adaptive player, found among all triples of the `width` nearest
    words per digit."""
    words = [unsaid(MIND, position, digit)[:width] for digit in digits(position.code)]
    read = [by_keywords(MIND, position.keywords, digit_words) for digit_words in words]
    missed = 1 - _is_read(read, position)
    caught = {
        "by_history": _is_read(
            [by_history(MIND, position.filed, digit_words) for digit_words in words], position
        ),
        "by_bayes": _is_read(
            [by_bayes(MIND, position.filed, digit_words) for digit_words in words], position
        ),
        "random": np.full(missed.shape, 1 / len(position.codes_left)),
    }
    payoffs, clean = np.zeros(missed.shape), np.zeros(missed.shape)  # clean: without a new token
    for name, weight, paid in zip(POOL, weights, results(game, stage), strict=True):
        hit = caught[name]
        free, token = (paid[0, c] + missed * (paid[1, c] - paid[0, c]) for c in (0, 1))
        payoffs += weight * (free + hit * (token - free))
        clean += weight * (1 - missed) * (1 - hit)
    clean = np.where(payoffs >= payoffs.max() - TIE, clean, -np.inf)
    unclear = np.where(clean >= clean.max() - TIE, chances(read, position), np.inf)
    a, b, c = np.unravel_index(int(np.argmin(np.round(unclear, 12))), unclear.shape)
    return (words[0][int(a)], words[1][int(b)], words[2][int(c)])
