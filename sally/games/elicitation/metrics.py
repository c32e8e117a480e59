"""Metrics of elicitation: the payoff of the choice, given what the others did, and what the best
choice would have added."""

from __future__ import annotations

from math import inf

from sally.core.log.events import Setup
from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.core.rules.metric import Metric, Played
from sally.games.elicitation.rules import Elicitation


def _values_and_action(played: Played) -> tuple[tuple[float, ...], int] | None:
    """Return the true value of each action, and the action; None if the decision is not scored."""
    game, move = played.replay.rules(Elicitation), played.replay.states[-1].move
    if move is None or game.true_values is None or game.adaptive:
        return None
    return game.true_values, move


def _true_value(played: Played, seat: Seat) -> float | None:
    scored = _values_and_action(played)
    return None if scored is None else scored[0][scored[1]]


def _regret(played: Played, seat: Seat) -> float | None:
    scored = _values_and_action(played)
    return None if scored is None else max(scored[0]) - scored[0][scored[1]]


def _random(setup: Setup, seat: Seat) -> float | None:
    game = registry.game(setup.instance.game).build(setup.instance.params)
    assert isinstance(game, Elicitation)
    values = game.true_values
    return None if values is None or game.adaptive else sum(values) / len(values)


METRICS = (
    Metric(
        name="earned",
        about="payoff of the choice, given what the others did; blank if that is not known",
        measure=_true_value,
        at_random=_random,
        better="higher",
        unit="payoff",
        headline=True,
    ),
    Metric(
        name="earned_regret",
        about="what the best choice would have added, given what the others did",
        measure=_regret,
        better="lower",
        unit="payoff",
        bounds=(0.0, inf),
    ),
)
