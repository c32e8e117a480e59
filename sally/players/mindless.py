"""Players without a theory of mind: what they score is what a score is worth."""

from __future__ import annotations

from typing import Any

import msgspec

from sally.core.errors import BadInput
from sally.core.game import Game, GameSpec, Seat
from sally.core.menu import example, is_finite
from sally.core.player import Decision, PlayerKind, Turn
from sally.core.probe import Report


class Random(msgspec.Struct, frozen=True):
    """Any option as likely as any other; answers probes the same way."""

    def decide(self, turn: Turn[Any, Any]) -> Decision[Any]:
        return Decision(example(turn.options, turn.draws))

    def report(self, turn: Turn[Any, Any]) -> Report:
        question = turn.question
        assert question is not None
        if question.kind == "values":
            draws = turn.draws
            span = int(question.high - question.low) + 1
            return Report({str(c): question.low + draws.below(span) for c in question.choices})
        even = tuple(1 / len(question.choices) for _ in question.choices)
        return Report(turn.draws.pick(question.choices), even)


class Constant(msgspec.Struct, frozen=True):
    """The same place on the menu every time, as far as the menu has it."""

    place: int = 0

    def decide(self, turn: Turn[Any, Any]) -> Decision[Any]:
        if not is_finite(turn.options):
            raise BadInput(f"`constant` needs a finite menu; seat {turn.seat!r} has a form here.")
        return Decision(turn.options[self.place % len(turn.options)])


def _random(spec: GameSpec[Any, Any, Any], game: Game[Any, Any, Any], seat: Seat) -> Random:
    return Random()


def _constant(
    spec: GameSpec[Any, Any, Any], game: Game[Any, Any, Any], seat: Seat, place: int = 0
) -> Constant:
    return Constant(place)


PLAYERS = {
    kind.name: kind
    for kind in (
        PlayerKind("random", "any legal move, each as likely as any other", _random),
        PlayerKind("constant", "the same place on the menu every time", _constant, {"place": 0}),
    )
}
