"""k-ToM: a player that infers its opponent's depth of inference, for games with two moves per seat.

Source: Devaine et al. 2014. The equations are reimplemented from the public package tomsup 1.4.1,
and the tests compare the choice probabilities with those of tomsup. Volatility and temperature are
logarithms; other quantities are logits where noted.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log, sqrt
from typing import NamedTuple

from sally.core.errors import BadInput

Parameters = tuple[float, ...]  # volatility, temperature, then dilution and bias where used
Gains = tuple[tuple[float, float], tuple[float, float]]
"""For oneself and for the other: what move 1 pays more than 0 if the opponent plays 0, plays 1."""

VOLATILITY, TEMPERATURE, DILUTION, BIAS = 0, 1, 2, -1
DEEPEST = 5  # a level costs about three times the one below
SURE = 0.001  # choice probabilities stay this far from 0 and 1
STEP = 1e-4  # of the forward differences
FIRST_BIAS_SLOPE = 0.999999997998081  # of tomsup, before the first round


class Zero(NamedTuple):
    """The state of a 0-ToM: mean and variance of the logit of the chance that the opponent plays
    1."""

    mean: float = 0.0
    variance: float = 1.0


class OpponentModel(NamedTuple):
    """A deeper player's model of its opponent, assuming that the opponent has a certain level."""

    weight: float
    mean: Parameters
    variance: Parameters
    logit: float  # of the chance that the other plays 1
    slope: Parameters  # of the logit, by each parameter
    mind: Mind  # the other, as it is imagined

    @property
    def spread(self) -> float:
        return sum(g * g * v for g, v in zip(self.slope, self.variance, strict=True))


class KTomState(NamedTuple):
    """The state of a k-ToM with k > 0: one `OpponentModel` for each level below k."""

    guesses: tuple[OpponentModel, ...]


Mind = Zero | KTomState


@dataclass(frozen=True)
class KTom:
    """The settings of a k-ToM; its learned state is a `Mind`, which every method takes as an
    argument or returns."""

    gains: Gains
    k: int
    volatility: float = -2.0
    temperature: float = -1.0
    bias: float | None = None  # towards move 1
    # logit of how much is forgotten per round; 0: nothing, as in tomsup
    dilution: float | None = None

    def __post_init__(self) -> None:
        if type(self.k) is not int or not 0 <= self.k <= DEEPEST:
            raise BadInput(f"k must be a whole number from 0 to {DEEPEST}, not {self.k!r}")

    @property
    def start(self) -> Mind:
        """The state before the first round."""
        return self._start(self.k)

    def update_mind(self, mind: Mind, own_move: int, other_move: int) -> Mind:
        """Return the state after one more round."""
        return self._learn(mind, self._own_parameters, self.gains, own_move, other_move)

    def expects(self, mind: Mind) -> float:
        """Return the probability that the player assigns to its opponent playing 1."""
        return _expected_chance(mind)

    def chance(self, mind: Mind) -> float:
        """Return the probability that the player itself plays 1."""
        return self._chance(mind, self._own_parameters, self.gains)

    # Below, parameters are those of the imagined player, and gains are from its side.

    @property
    def _own_parameters(self) -> Parameters:
        optional = (self.dilution, self.bias)
        return (self.volatility, self.temperature, *(p for p in optional if p is not None))

    def _start(self, k: int) -> Mind:
        if k == 0:
            return Zero()
        n = len(self._own_parameters)
        slope = [0.0] * n
        if self.bias is not None:
            slope[BIAS] = FIRST_BIAS_SLOPE
        return KTomState(
            tuple(
                OpponentModel(1 / k, (0.0,) * n, (1.0,) * n, 0.0, tuple(slope), self._start(j))
                for j in range(k)
            )
        )

    def _chance(self, mind: Mind, parameters: Parameters, gains: Gains) -> float:
        p = _expected_chance(mind)
        gain = (1 - p) * gains[0][0] + p * gains[0][1]
        lean = parameters[BIAS] if self.bias is not None else 0.0
        return min(max(_logistic(gain / exp(parameters[TEMPERATURE]) + lean), SURE), 1 - SURE)

    def _learn(
        self, mind: Mind, parameters: Parameters, gains: Gains, own_move: int, other_move: int
    ) -> Mind:
        if isinstance(mind, Zero):
            return _track_frequency(mind, parameters, other_move)
        forgets = parameters[DILUTION] if self.dilution is not None else 0.0
        weights = _weights(mind.guesses, other_move, _logistic(forgets) if forgets else 0.0)
        return KTomState(
            tuple(
                self._guessed_again(guess, weight, parameters, gains, own_move, other_move)
                for guess, weight in zip(mind.guesses, weights, strict=True)
            )
        )

    def _guessed_again(
        self,
        guess: OpponentModel,
        weight: float,
        parameters: Parameters,
        gains: Gains,
        own_move: int,
        other_move: int,
    ) -> OpponentModel:
        """Return a guess with updated parameters and the move probability that they imply."""
        p = _logistic(guess.logit)
        drift = [
            exp(parameters[VOLATILITY]) if i == VOLATILITY else 0.0 for i in range(len(parameters))
        ]
        variance = tuple(
            1 / (1 / (v + d) + weight * p * (1 - p) * g * g)
            for v, d, g in zip(guess.variance, drift, guess.slope, strict=True)
        )
        mean = tuple(
            m + weight * v * g * (other_move - p)
            for m, v, g in zip(guess.mean, variance, guess.slope, strict=True)
        )
        swapped = (gains[1], gains[0])

        mind = self._learn(guess.mind, mean, swapped, other_move, own_move)
        logit = _logit(self._chance(mind, mean, swapped))
        slope = []
        for i, m in enumerate(mean):
            step = max(STEP * abs(m), STEP)
            moved = (*mean[:i], m + step, *mean[i + 1 :])
            # what is learned depends on volatility and dilution only, the choice on all
            learns = i == VOLATILITY or (i == DILUTION and self.dilution is not None)
            mind_after = (
                self._learn(guess.mind, moved, swapped, other_move, own_move) if learns else mind
            )
            slope.append((_logit(self._chance(mind_after, moved, swapped)) - logit) / step)
        return OpponentModel(weight, mean, variance, logit, tuple(slope), mind)


def _track_frequency(mind: Zero, parameters: Parameters, other_move: int) -> Zero:
    """Return the state of a 0-ToM after the opponent's choice."""
    p = _logistic(mind.mean)
    variance = 1 / (1 / (exp(parameters[VOLATILITY]) + mind.variance) + p * (1 - p))
    return Zero(mind.mean + variance * (other_move - p), variance)


def _weights(guesses: tuple[OpponentModel, ...], other_move: int, dilution: float) -> list[float]:
    """Return the posterior probability of each possible level of the opponent after the opponent's
    choice.

    The numerical constants are those of tomsup; they approximate the mean of the logistic function
    of a normal variable.
    """
    joint = []
    for guess in guesses:
        prior = (1 - dilution) * guess.weight + dilution / len(guesses)
        spread = guess.spread
        p = _logistic((guess.logit - 0.319 * spread**0.781) / sqrt(1 + 0.205 * spread**0.870))
        joint.append(prior * (p if other_move == 1 else 1 - p))
    return [weight / sum(joint) for weight in joint]


def _expected_chance(mind: Mind) -> float:
    if isinstance(mind, Zero):
        return _logistic(mind.mean / sqrt(1 + 0.36 * mind.variance))
    return sum(g.weight * _logistic(g.logit / sqrt(1 + 0.36 * g.spread)) for g in mind.guesses)


def _logistic(x: float) -> float:
    return 1 / (1 + exp(-x)) if x >= 0 else exp(x) / (1 + exp(x))


def _logit(p: float) -> float:
    return log(p / (1 - p))
