"""ToM_k: a partner of order k, which recursively models the other seat's expectations.

After de Weerd, Verbrugge and Verheij, Artificial Intelligence 199-200 (2013), 67-92, in any matrix
game. The paper's equations were not available to us: these are our own, based on the paper's
description, and only the finding that orders 1 and 2 outperform lower orders is checked.
"""

from __future__ import annotations

from typing import NamedTuple

from sally.core.errors import BadInput
from sally.core.match.partner import Line, Partner, Script
from sally.core.rules.game import Seat
from sally.core.rules.history import Follower
from sally.games.repeated_games.partners.basis import Drawn, Odds, best_to, evenly
from sally.games.repeated_games.rules import RepeatedGame, View, other_seat

DEEPEST = 4
Belief = tuple[float, ...]  # by move


class _Thoughts(NamedTuple):
    """The learned state of a ToM_k mind."""

    of_them: Belief  # what the other does
    of_me: Belief  # what the other expects of me
    trust: tuple[float, ...]  # in the predictions of each order above 0


class _Tom:
    """The mind of one seat, of order k; methods take and return its learned state.

    The mind has beliefs about the other seat's moves and about its own, and shifts each towards the
    last move by `rate`; it assumes that the other seat learns in the same way. Order i predicts the
    other seat as a mind of order i-1 that is certain of its own prediction. The prediction is
    therefore a chain of best replies that starts from a belief.
    """

    def __init__(self, game: RepeatedGame, seat: Seat, k: int, rate: float) -> None:
        self.game, self.seat, self.k, self.rate = game, seat, k, rate

    def start(self) -> _Thoughts:
        other_moves, own_moves = (self.game.moves_of(s) for s in (other_seat(self.seat), self.seat))
        even = tuple(tuple(1 / len(moves) for _ in moves) for moves in (other_moves, own_moves))
        return _Thoughts(even[0], even[1], (0.0,) * self.k)

    def update_thoughts(self, thoughts: _Thoughts, own_move: int, other_move: int) -> _Thoughts:
        """Return the state after one more round, with updated trust in each order and updated
        beliefs."""
        of_them, of_me, trust = thoughts
        foreseen = (self.foresees(thoughts, order) for order in range(1, self.k + 1))
        new_trust = tuple(
            self._towards(t, odds.get(other_move, 0.0))
            for t, odds in zip(trust, foreseen, strict=True)
        )
        return _Thoughts(
            self._belief_after(of_them, other_move), self._belief_after(of_me, own_move), new_trust
        )

    def foresees(self, thoughts: _Thoughts, order: int) -> Odds:
        """Return the other seat's predicted move probabilities if it is of order `order` - 1."""
        believed = dict(enumerate(thoughts.of_me if order % 2 else thoughts.of_them))
        for step in range(order):  # the last to reply is the other, so begin on the right side
            reasoning_seat = other_seat(self.seat) if (order - step) % 2 else self.seat
            believed = dict(evenly(best_to(self.game, reasoning_seat, believed)))
        return believed

    def expects(self, thoughts: _Thoughts) -> Odds:
        """Return the move probabilities that this mind expects of the other seat.

        The predictions of all orders of reasoning are mixed; the weight of an order (its trust)
        depends on how well it has predicted so far.
        """
        belief = dict(enumerate(thoughts.of_them))
        for order, trust in enumerate(thoughts.trust, 1):
            foreseen = self.foresees(thoughts, order)
            belief = {m: (1 - trust) * p + trust * foreseen.get(m, 0.0) for m, p in belief.items()}
        return belief

    def _towards(self, old_value: float, now: float) -> float:
        return (1 - self.rate) * old_value + self.rate * now

    def _belief_after(self, belief: Belief, move: int) -> Belief:
        return tuple(self._towards(p, float(m == move)) for m, p in enumerate(belief))


def _tom_k(game: RepeatedGame, seat: Seat, k: int = 1, rate: float = 0.5) -> Script:
    if type(k) is not int or not 0 <= k <= DEEPEST:
        raise BadInput(f"k must be a whole number from 0 to {DEEPEST}, not {k!r}")
    if not 0 < rate <= 1:
        raise BadInput(f"rate must be above 0 and at most 1, not {rate}")
    mind = _Tom(game, seat, k, rate)
    follower = Follower(mind.start(), mind.update_thoughts, View.rounds)

    def odds(view: View) -> Odds:
        return evenly(best_to(game, seat, mind.expects(follower.state(view))))

    return Drawn(odds)


PARTNERS = {
    "tom_k": Partner(
        name="tom_k",
        about="foresees the other as a mind of order `k`-1 and trusts each order as far as it "
        "foresaw rightly; learns by `rate`",
        source="after de Weerd, Verbrugge and Verheij 2013; the equations are ours",
        make=_tom_k,
        memory=None,
        params={"k": 1, "rate": 0.5},
        lines=(
            Line("RRPPS", "?PPPS", "rps", {"k": 0}),
            Line("JJFF", "FJJF", "ibs", {"k": 0, "rate": 0.4}),
        ),
    ),
}
