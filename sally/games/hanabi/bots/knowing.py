"""Players that hold the exact posterior: by counting, and by reading a declared partner's moves."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sally.core.errors import BadInput
from sally.games.hanabi.belief import counted
from sally.games.hanabi.bots.memory import Policy
from sally.games.hanabi.bots.rule_agents import Rule, Sight, knowing_rules, probable
from sally.games.hanabi.cards import Card
from sally.games.hanabi.reading import read
from sally.games.hanabi.rules import Hanabi
from sally.games.hanabi.table import View

MOST = 1_000  # a reader goes through every hand, so there may not be more than this


class ExactSight(Sight):
    """A view whose slots hold the exact chances, with all slots taken together."""

    def __init__(self, game: Hanabi, view: View, odds: tuple[tuple[float, ...], ...]) -> None:
        super().__init__(game, view)
        self._odds = odds

    @property
    def slots(self) -> list[dict[Card, float]]:  # type: ignore[override]
        return [{card: p for card, p in enumerate(slot) if p > 0} for slot in self._odds]


def bookkeeper(game: Hanabi, risk: float = 0.9) -> Policy:
    """Knows all that hints and counting can tell; plays a card at least this likely to score."""
    rules = _checked(risk)

    def policy(view: View) -> Mapping[int, float]:
        known = counted(game, view)
        odds = tuple(known.odds(slot) for slot in range(view.slots))
        return _first(rules, ExactSight(game, view, odds))

    return policy


def reader(game: Hanabi, of: Callable[[Hanabi], Policy], risk: float = 0.9) -> Policy:
    """Knows the policy of the others as well, and what their moves say of its own hand.

    It plays what is likely enough, and tells and discards as that policy does, so that the others
    understand it.
    """
    rules = _checked(risk)
    if game.highest**game.hand_size > MOST:
        raise BadInput(
            "a reader goes through every hand it may hold, and here there are too many; it plays "
            "hanabi_mini, hanabi_small and hanabi_very_small"
        )

    mine, others, first = of(game), of(game), 2 * game.hand_size

    def policy(view: View) -> Mapping[int, float]:
        found = read(game, view, {s: others for s in range(game.players) if s != view.me})
        if found is None:  # the others do not play as declared: what is left is counting
            return bookkeeper(game, risk)(view)
        sight = ExactSight(game, view, found.odds)
        play, wanted = probable(risk)(sight), mine(view)
        if play is not None:
            return play
        tells = all(action >= first or action < game.hand_size for action in wanted)
        return wanted if tells else _first(rules, sight)

    return policy


def _checked(risk: float) -> tuple[Rule, ...]:
    if not 0 < risk <= 1:
        raise BadInput(f"risk must be above 0 and at most 1, not {risk}")
    return knowing_rules(risk)


def _first(rules: tuple[Rule, ...], sight: Sight) -> Mapping[int, float]:
    return next(odds for rule in rules if (odds := rule(sight)) is not None)
