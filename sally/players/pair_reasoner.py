"""A player that solves the positions of certified pairs, as well and as often as it is told to.

It is the yardstick of pairs: a player of known knowledge whose score is known beforehand.
"""

from __future__ import annotations

from typing import Any

import msgspec

from sally.core.errors import BadInput
from sally.core.match.partner import by_name
from sally.core.match.player import Decision, PlayerKind, Turn
from sally.core.registry.recipes import find_recipe, recipes_of
from sally.core.rules.chance import Stream
from sally.core.rules.game import Game, GameSpec, Seat
from sally.core.rules.menu import example
from sally.core.rules.pair import PairRecipe
from sally.core.rules.probe import ProbeReport
from sally.players.mindless import question_of, ready, report_choice

REASONER = "pair_reasoner"


class Reasoner(msgspec.Struct, frozen=True):
    """A reasoner of one order, which knows and acts with given probabilities and guesses otherwise.

    With `knows` q and `acts` r, knowing is q, doing is q times r, and acting on it is r.
    """

    recipe: PairRecipe
    order: int
    knows: float
    acts: float

    def report(self, turn: Turn) -> ProbeReport:
        question = question_of(turn)
        return report_choice(question, self._predict(turn, question.choices))

    def decide(self, turn: Turn) -> Decision[Any]:
        chance = Stream(turn.context.seed, turn.number, "action")
        if chance() >= self.acts:
            return Decision(example(turn.options, chance))
        choices = self._choices(turn)
        prediction = self._predict(turn, choices)
        moves = self.recipe.best_moves(turn.context.game, turn.view, prediction)
        menu = ready(turn, REASONER)
        return Decision(chance.pick([move for move in moves if move in menu] or menu))

    def _predict(self, turn: Turn, choices: tuple[Any, ...]) -> Any:
        """Return the prediction, which is the same for the probe and for the move of a turn."""
        chance = Stream(turn.context.seed, turn.number, "prediction")
        if chance() >= self.knows:
            return chance.pick(choices)
        try:
            return self.recipe.reason(turn.context.game, turn.view, self.order)
        except (AssertionError, LookupError, ValueError) as error:
            raise BadInput(
                f"`{REASONER}` answers positions of certified pairs; its recipe "
                f"{self.recipe.name!r} cannot read this turn of {turn.context.spec.name}."
            ) from error

    def _choices(self, turn: Turn) -> tuple[Any, ...]:
        """Return the choices of the recipe's probe in this turn."""
        context = turn.context
        probe = context.spec.probe(self.recipe.probe)
        for question in probe.asks(context.game, turn.view, Seat(context.seat)):
            if self.recipe.asks_probe(probe.name, question.about):
                return tuple(question.choices)
        raise BadInput(f"{context.spec.name} does not ask {self.recipe.probe!r} in this turn.")


def _reasoner(
    spec: GameSpec,
    game: Game,
    seat: Seat,
    recipe: str = "",
    order: int = 1,
    knows: float = 1.0,
    acts: float = 1.0,
) -> Reasoner:
    for name, share in (("knows", knows), ("acts", acts)):
        if not 0 <= share <= 1:
            raise BadInput(f"{name} must be from 0 to 1, not {share}.")
    if isinstance(order, bool) or not isinstance(order, int) or order < 0:
        raise BadInput(f"order must be a whole number of at least 0, not {order!r}.")
    if not recipe:
        recipes = recipes_of(spec.name)
        if not recipes:
            raise BadInput(f"`{REASONER}` needs a game with certified pairs; {spec.name} has none.")
        recipe = recipes[0].name
    return Reasoner(find_recipe(spec.name, recipe), order, knows, acts)


PLAYERS = by_name(
    PlayerKind(
        REASONER,
        "solves a position of a certified pair by reasoning of one order",
        _reasoner,
        {"recipe": "", "order": 1, "knows": 1.0, "acts": 1.0},
    ),
)
