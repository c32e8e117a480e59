"""Training tasks of public goods, with partners held out by the rule that they follow, and
contributions with the beliefs stated before them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sally.core.log.events import PlayerSpec
from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.core.rules.metric import JudgedReport, Played
from sally.games.public_goods.rules import PublicGoods
from sally.metrics.answers import reports_before_moves
from sally.parts.beliefs import BeliefDecision, decision_of_round
from sally.parts.training import Split, Training, by_partner

_PARTNERS = {
    "train": (PlayerSpec("free_rider"), PlayerSpec("conditional_cooperator")),
    "validation": (PlayerSpec("matcher"),),
    "held_out": (PlayerSpec("threshold"),),
}


def _training_tasks(game: str) -> Split:
    """Return training tasks for the first seat, each with other players that all follow the same
    rule."""
    about = "partners held out by their rule"
    return by_partner(game, about, registry.game(game).build().seats, _PARTNERS)


TRAINING = Training(_training_tasks)


def BELIEFS(played: Played) -> Iterator[BeliefDecision]:
    """Yield the contributions for which a belief was stated before the move."""
    for seat, answer in reports_before_moves(played):
        decision = _decision(played, seat, answer)
        if decision is not None:
            yield decision


def _decision(played: Played, seat: Seat, answer: JudgedReport) -> BeliefDecision | None:
    """Return a contribution; what pays most in the round does not depend on the belief."""
    game, turn = played.replay.rules(PublicGoods), answer.turn
    move: Any = played.replay.move(turn, seat)
    if answer.question.probe != "their_mean" or not isinstance(move, int):
        return None
    menu, mean, truth = game.menu, answer.report.value, answer.truth

    def pays(others: float) -> tuple[float, ...]:
        pot = game.back * others * (game.players - 1)
        return tuple(game.tokens - tokens + game.back * tokens + pot for tokens in menu)

    assert isinstance(mean, int)
    return decision_of_round(
        played,
        seat,
        turn,
        actions=tuple(map(str, menu)),
        move=menu.index(move),
        game=repr((menu, game.players, game.ratio)),
        stated_worth=pays(mean),
        expected=tuple(float(tokens == mean) for tokens in menu) if mean in menu else None,
        true_worth=pays(truth) if isinstance(truth, int) else None,
        decides=False,
    )
