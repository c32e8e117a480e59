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

from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.core.rules.metric import Played
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
from sally.games.cipher.metrics import rounds
from sally.games.cipher.partners import past_guesses
from sally.games.cipher.rules import ENCODER, INTERCEPTOR, Cipher, Record, Revealed, View, Void
from sally.stats.ideal import TIE, IdealProblem, SeenRound

POOL = ("by_history", "by_bayes", "random")
PRIOR = (1 / len(POOL),) * len(POOL)
MIND = Mind()
WIDTH = 40  # nearest words per digit among which the player searches
NEAR = 1e-12  # log weights of codes that count as equal, as in `likeliest`
Weights = tuple[float, ...]  # of the interceptors of the pool


# --- what the interceptors guess ------------------------------------------------------------------


@lru_cache(maxsize=4096)
def guess_odds(filed: Filed, hints: tuple[str, ...], left: tuple[int, ...]) -> Floats:
    """Return the probability of each guess, as (interceptor of the pool, remaining code)."""
    rows = []
    for name in POOL:
        odds = listener_odds(Listener(LISTENERS[name]), filed, hints, left)
        if name != "random":  # the others guess the most probable code
            odds = np.eye(len(left))[left.index(likeliest(odds, left))]
        rows.append(odds)
    return np.array(rows)


def updated(weights: Weights, odds: Floats, guess: int) -> Weights:
    """Return the weights of the interceptors after the guess with this index."""
    found = np.array(weights) * odds[:, guess]
    return tuple((found / found.sum()).tolist()) if found.sum() > 0 else weights


def weights_of(view: View) -> Weights:
    """Return the weights of the interceptors, given the guesses that a seat has seen."""
    weights: Weights = PRIOR
    for record, hints, guess in past_guesses(view):
        odds = guess_odds(record.filed, hints, record.left)
        weights = updated(weights, odds, record.left.index(guess))
    return weights


# --- what a round is worth ------------------------------------------------------------------------


class Stage(NamedTuple):
    """The rounds and tokens of a game, the number of remaining codes, and whether any hints are
    filed."""

    played: int
    missed: int
    caught: int
    left: int
    filed: bool

    def then(self, missed: bool, caught: bool) -> Stage:
        """Return the stage after a round with this result."""
        return Stage(
            self.played + 1, self.missed + missed, self.caught + caught, self.left - 1, True
        )


def stage_of(record: Record) -> Stage:
    """Return the stage of a game with this record."""
    tokens = record.miscommunications, record.interceptions
    return Stage(record.played, *tokens, len(record.left), any(record.filed))


def opening(past: Sequence[PastRound]) -> Stage:
    """Return the stage before the first round of a game that has these past rounds."""
    return Stage(0, 0, 0, len(CODES) - len(past), bool(past))


@lru_cache(maxsize=4096)
def survives(length: int, tokens: int, listens: bool, at: Stage) -> float:
    """Return the highest probability that the team wins, before the next code is drawn.

    Args:
        length: The rounds of a game.
        tokens: The number of tokens of one kind that lose the game.
        listens: Whether the interceptor uses the hints; if not, or if no hints are filed, it is
            right by chance.
        at: The stage of the game.
    """
    if at.missed >= tokens or at.caught >= tokens:
        return 0.0
    if at.played >= length:
        return 1.0
    hit = 0.0 if listens and at.filed else 1 / at.left
    free, token = (survives(length, tokens, listens, at.then(False, c)) for c in (False, True))
    return (1 - hit) * free + hit * token


def survival(game: Cipher, at: Stage) -> Floats:
    """Return, for each interceptor of the pool, the highest probability that the team wins."""
    return np.array([survives(game.rounds, game.tokens, name != "random", at) for name in POOL])


def later(game: Cipher, number: int) -> Floats:
    """Return, for each interceptor, the highest expected payoff of the games from this one on."""
    found = np.zeros(len(POOL))
    for problem in game.row[number : game.games]:
        found += 2 * survival(game, opening(problem.past)) - 1
    return found


def results(game: Cipher, at: Stage) -> Floats:
    """Return the payoff of the game as (interceptor, decoder wrong, interceptor right)."""
    stages = [[at.then(missed, caught) for caught in (False, True)] for missed in (False, True)]
    return np.array([[2 * survival(game, one) - 1 for one in row] for row in stages]).transpose(
        2, 0, 1
    )


def worth_of(
    game: Cipher, at: Position, stage: Stage, weights: Weights, hints: Sequence[str]
) -> float:
    """Return the expected payoff of the current game if these hints are given."""
    missed = int(likeliest(decoder_odds(MIND, at.keywords, hints, at.left), at.left) != at.code)
    hit = guess_odds(at.filed, tuple(hints), at.left)[:, at.left.index(at.code)]
    paid = results(game, stage)[:, missed]
    return float(np.array(weights) @ (paid[:, 0] + hit * (paid[:, 1] - paid[:, 0])))


def perfect_worth(game: Cipher, at: Position, stage: Stage, weights: Weights) -> float:
    """Return the expected payoff of the current game with perfect hints in this round."""
    hit = guess_odds(at.filed, at.keywords[:LENGTH], at.left)[:, at.left.index(at.code)]
    if stage.filed:  # without hints from earlier rounds, no interceptor depends on the hints
        hit = np.where([name == "random" for name in POOL], hit, 0.0)
    paid = results(game, stage)[:, 0]
    return float(np.array(weights) @ (paid[:, 0] + hit * (paid[:, 1] - paid[:, 0])))


# --- the best hints -------------------------------------------------------------------------------


def _is_read(weights: Sequence[Floats], at: Position) -> Floats:
    """Return, for each triple of words, whether a listener with these log weights guesses the true
    code."""
    places_of = PLACES[[INDEX[code] for code in at.left]]
    first, second, third = (w[:, places_of[:, j]] for j, w in enumerate(weights))
    every = first[:, None, None, :] + second[None, :, None, :] + third[None, None, :, :]
    top = every >= every.max(axis=-1, keepdims=True) - NEAR
    return np.asarray(top.argmax(axis=-1) == at.left.index(at.code), dtype=float)


@lru_cache(maxsize=1024)
def adaptive_hints(
    game: Cipher, at: Position, stage: Stage, weights: Weights, width: int = WIDTH
) -> tuple[str, ...]:
    """Return the hints of the Bayes-adaptive player, found among all triples of the `width` nearest
    words per digit."""
    words = [unsaid(MIND, at, digit)[:width] for digit in digits(at.code)]
    read = [by_keywords(MIND, at.keywords, some) for some in words]
    missed = 1 - _is_read(read, at)
    caught = {
        "by_history": _is_read([by_history(MIND, at.filed, some) for some in words], at),
        "by_bayes": _is_read([by_bayes(MIND, at.filed, some) for some in words], at),
        "random": np.full(missed.shape, 1 / len(at.left)),
    }
    worth, clean = np.zeros(missed.shape), np.zeros(missed.shape)  # clean: without a new token
    for name, weight, paid in zip(POOL, weights, results(game, stage), strict=True):
        hit = caught[name]
        free, token = (paid[0, c] + missed * (paid[1, c] - paid[0, c]) for c in (0, 1))
        worth += weight * (free + hit * (token - free))
        clean += weight * (1 - missed) * (1 - hit)
    clean = np.where(worth >= worth.max() - TIE, clean, -np.inf)
    unclear = np.where(clean >= clean.max() - TIE, chances(read, at), np.inf)
    a, b, c = np.unravel_index(int(np.argmin(np.round(unclear, 12))), unclear.shape)
    return (words[0][int(a)], words[1][int(b)], words[2][int(c)])


# --- an episode -----------------------------------------------------------------------------------


class HintRound(NamedTuple):
    """One round of an episode: the position, the hints given, and the payoff if it ended a game."""

    game: int
    at: Position
    stage: Stage
    hints: tuple[str, ...]
    paid: float


class Belief(NamedTuple):
    """The number of rounds seen, and the weights of the interceptors."""

    seen: int
    weights: Weights


class EncoderPool:
    """Inference and play of an encoder in the positions of one episode.

    Move 0 is the hints that were given, move 1 perfect hints. The interceptor's moves are the
    indices of the remaining codes. A forecast is for the hints that were given.
    """

    def __init__(self, game: Cipher, rounds: Sequence[HintRound]) -> None:
        self.game, self.rounds = game, tuple(rounds)

    def start(self) -> Belief:
        """Return the belief before the first round."""
        return Belief(0, PRIOR)

    def forecast(self, belief: Belief) -> Floats:
        """Return the ideal observer's odds of the interceptor's guess, given the hints."""
        return np.asarray(np.array(belief.weights) @ self._odds(belief))

    def _odds(self, belief: Belief) -> Floats:
        one = self.rounds[belief.seen]
        return guess_odds(one.at.filed, one.hints, one.at.left)

    def after(self, belief: Belief, mine: int, theirs: int) -> Belief:
        """Return the belief after a round."""
        return Belief(belief.seen + 1, updated(belief.weights, self._odds(belief), theirs))

    def _later(self, belief: Belief) -> float:
        number = self.rounds[belief.seen].game
        return float(np.array(belief.weights) @ later(self.game, number + 1))

    def outcomes(self, belief: Belief, left: int) -> Floats:
        """Return the expected payoff of the remaining games after each move, averaged over the
        guesses: a guess is a reply to the hints, so it is not a separate dimension."""
        return self.worths(belief, left)[:, None].repeat(len(self.rounds[belief.seen].at.left), 1)

    def worths(self, belief: Belief, left: int) -> Floats:
        """Return the expected payoff of the remaining games after each move."""
        _, at, stage, hints, _ = self.rounds[belief.seen]
        given = worth_of(self.game, at, stage, belief.weights, hints)
        perfect = perfect_worth(self.game, at, stage, belief.weights)
        return np.array([given, perfect]) + self._later(belief)

    def value(self, belief: Belief, left: int) -> float:
        """Return the highest expected payoff of the remaining games, before the next code is
        drawn."""
        if belief.seen >= len(self.rounds):
            return 0.0
        now = 2 * survival(self.game, self.rounds[belief.seen].stage) - 1
        return float(np.array(belief.weights) @ now) + self._later(belief)

    def gain(self, belief: Belief, mine: int, theirs: int) -> float:
        """Return the payoff of a round: that of the game it ended, else 0."""
        return self.rounds[belief.seen].paid

    def known_value(self, place: int, left: int) -> float:
        """Return the highest expected payoff against a known interceptor."""
        return float(later(self.game, 0)[place])

    def informed(self, left: int) -> float:
        """Return the highest expected payoff of an encoder that knows the interceptor."""
        return float(np.array(PRIOR) @ later(self.game, 0))


def IDEAL(played: Played, seat: Seat) -> IdealProblem | None:
    """Return an encoder's rounds, to be compared with ideal play; None for the other seats, for
    listeners outside the pool, and if hints or a guess were forfeited."""
    game, lineup = played.replay.game, played.episode.setup.lineup
    assert isinstance(game, Cipher)
    known = registry.partners("cipher")
    for other, names in (("decoder", ("by_keywords",)), ("interceptor", POOL)):
        who = lineup.get(other)
        if who is None or who.player not in names:
            return None
        defaults = known[who.player].params if who.player in known else {}
        if {**defaults, **who.params} != dict(defaults):
            return None
    events = played.replay.states[-1].log
    forfeits = any(
        isinstance(e, Void) or (isinstance(e, Revealed) and 0 in (e.decoder, e.interceptor))
        for e in events
    )
    if seat != ENCODER or played.episode.payoffs is None or forfeits:
        return None
    found, seen = [], []
    for each in rounds(played):
        assert each.interceptor is not None  # no guess was forfeited
        state = played.replay.states[each.turn]
        before, after = (
            game.payoffs(s)[seat] for s in (state, played.replay.states[each.turn + 2])
        )
        stage = stage_of(game.record(state))
        found.append(HintRound(each.game, each.at, stage, each.hints, after - before))
        report = played.replay.report(each.turn, seat, "their_guess", INTERCEPTOR)
        left, odds = each.at.left, None
        if report is not None and report.odds is not None:
            odds = tuple(report.odds)
        elif report is not None and report.value in left:
            odds = tuple(np.eye(len(left))[left.index(report.value)].tolist())
        seen.append(SeenRound(0, left.index(each.interceptor), odds))
    place = POOL.index(lineup["interceptor"].player)
    pool = EncoderPool(game, found)
    return IdealProblem(pool, place, tuple(seen), paid_once=True, about_reply=True)
