"""Registry entry of elicitation: its questions as probes, and best replies to the answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from sally.core.log.events import Value
from sally.core.rules.chance import Stream
from sally.core.rules.game import Doing, GameSpec, MeasureSpec, PeopleSpec, Seat
from sally.core.rules.probe import At, Point, Probe, Question
from sally.core.rules.replay import Trajectory
from sally.games.elicitation.payoffs import best_of
from sally.games.elicitation.rules import (
    PLAYER,
    BeliefQuestion,
    Elicitation,
    State,
    View,
    example_questions,
)
from sally.games.elicitation.words import TEXTS, ElicitationWords

BELIEF, AFTER = "belief", "belief_after"
Past = Trajectory[State, int, View]


def as_question(belief: BeliefQuestion) -> Question:
    """Return a question of the problem as the question of a probe."""
    probe, names = AFTER if belief.is_after else BELIEF, belief.names
    if belief.kind == "odds" or belief.kind == "choice":
        return Question(probe, belief.kind, names, belief.ask)
    low, high = belief.bounds if belief.kind == "number" else (0.0, MOST_COUNT)
    return Question(probe, "values", names, belief.ask, low, high)


MOST_COUNT = 100_000.0


def _asks(is_after: bool) -> Callable[[Elicitation, View, Seat], tuple[Question, ...]]:
    def asks(game: Elicitation, view: View, seat: Seat) -> tuple[Question, ...]:
        return tuple(as_question(q) for q in game.questions if q.is_after is is_after)

    return asks


def truth(replay: Past, place: At) -> Value | None:
    """Return what turned out to be true; None if that is unknown or the problem is not scored."""
    game: Any = replay.game
    belief = next(question for question in game.questions if question.ask == place.about)
    if game.adaptive or belief.truth is None:
        return None
    if isinstance(belief.truth, str):
        return belief.truth
    return dict(zip(belief.names, belief.vector(belief.truth), strict=True))


def best_replies(
    game: Elicitation, view: View, belief: Mapping[str, Any]
) -> tuple[int, ...] | None:
    """Return the actions that pay most, given the answers before the move; None if the answers do
    not determine them, if all actions pay the same, or if the problem is not scored."""
    if game.adaptive:
        return None
    by_name = {question.ask: question for question in game.questions}
    values = game.values({ask: by_name[ask].vector(answer) for ask, answer in belief.items()})
    best = () if values is None else best_of(values)
    return best if 0 < len(best) < len(game.menu) else None


def _probe(name: str, about: str, point: Point) -> Probe:
    # Its questions have kinds of their own; `values` is the one with the fewest assumptions.
    return Probe(name, about, point, "values", (PLAYER,), _asks(name == AFTER), truth)


def value_range(game: Elicitation, seat: Seat) -> tuple[float, float]:
    """Return the least and the largest payoff, given what the others did."""
    values = game.true_values or (0.0,)
    return min(values), max(values)


def pay_range(game: Elicitation, seat: Seat) -> tuple[float, float]:
    """Return the least and the largest payoff of an episode; a forfeit pays nothing."""
    low, high = value_range(game, seat)
    return min(low, 0.0), max(high, 0.0)


def _fresh(draws: Stream, name: str) -> Mapping[str, Any]:
    """Return the default problem with other replies, for visitors of the web page."""
    replies = [draws.pick(("L", "M", "H")) for _ in range(4)]
    return {"questions": msgspec.to_builtins(example_questions(replies))}


GAME: GameSpec[State, int, View] = GameSpec(
    name="elicitation",
    about="one recorded decision with stated beliefs about others",
    game=Elicitation,
    words=ElicitationWords,
    texts=TEXTS,
    probes=(
        _probe(BELIEF, "the questions about others that were not asked after the move", "before"),
        _probe(AFTER, "the questions about others that were asked after the move", "after"),
    ),
    people=PeopleSpec.read(__package__, fresh=_fresh),
    measured=MeasureSpec(
        best_replies=best_replies,
        acts_on=(BELIEF,),
        doing=Doing("earned", regret="earned_regret", range=value_range),
        pays=pay_range,
    ),
)
