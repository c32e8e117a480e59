"""Players with the exact posterior: from counting only, or also from a declared partner's moves."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sally.core.errors import BadInput
from sally.games.hanabi.belief import Odds, count_own_hand, read
from sally.games.hanabi.bots.rule_agents import (
    PreparedView,
    Rule,
    first_applicable,
    knowing_rules,
    probable,
)
from sally.games.hanabi.rules import Hanabi
from sally.games.hanabi.state import Card, Policy, View

MOST = 1_000  # a reader enumerates every hand, so there may not be more than this


class ExactSight(PreparedView):
    """A view with exact probabilities for each slot, from the joint distribution of the hand."""

    def __init__(self, game: Hanabi, view: View, odds: Odds) -> None:
        super().__init__(game, view)
        self._odds = odds

    @property
    def slots(self) -> list[dict[Card, float]]:  # type: ignore[override]
        return [{card: p for card, p in enumerate(slot) if p > 0} for slot in self._odds]


def bookkeeper(game: Hanabi, risk: float = 0.9) -> Policy:
    """Return a policy that plays a card if counting gives a probability of at least `risk` that
    the card scores."""
    rules = _check_risk(risk)

    def policy(view: View) -> Mapping[int, float]:
        return first_applicable(rules, ExactSight(game, view, count_own_hand(game, view).all_odds))

    return policy


def reader(game: Hanabi, of: Callable[[Hanabi], Policy], risk: float = 0.9) -> Policy:
    """Return a policy that infers its own hand from counting and from the others' moves, given
    their policy.

    The policy plays a card if the probability that it scores is at least `risk`; otherwise it hints
    and discards like the others, so that they can interpret its moves.
    """
    rules = _check_risk(risk)
    if game.highest**game.hand_size > MOST:
        raise BadInput(
            "this game has too many possible hands to enumerate them; use "
            "hanabi_mini, hanabi_small or hanabi_very_small"
        )

    own_policy, others, first = of(game), of(game), 2 * game.hand_size

    def policy(view: View) -> Mapping[int, float]:
        reading = read(game, view, {s: others for s in range(game.players) if s != view.me})
        if reading is None:  # the others do not play as declared: fall back on counting
            return bookkeeper(game, risk)(view)
        sight = ExactSight(game, view, reading.odds)
        play, own_odds = probable(risk)(sight), own_policy(view)
        if play is not None:
            return play
        tells = all(action >= first or action < game.hand_size for action in own_odds)
        return own_odds if tells else first_applicable(rules, sight)

    return policy


def _check_risk(risk: float) -> tuple[Rule, ...]:
    if not 0 < risk <= 1:
        raise BadInput(f"risk must be above 0 and at most 1, not {risk}")
    return knowing_rules(risk)
