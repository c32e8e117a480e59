"""The Bayes-adaptive player: optimal play against a partner drawn from a pool."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from sally.core.errors import BadInput
from sally.core.log.events import PlayerSpec
from sally.core.match.partner import Answerer, Line, Partner, Script
from sally.core.rules.game import Seat
from sally.core.rules.history import Follower
from sally.core.rules.probe import ProbeReport
from sally.games.repeated_games.partners.basis import RoundTurn
from sally.games.repeated_games.rules import RepeatedGame, View

if TYPE_CHECKING:
    from sally.stats.ideal import Belief, Ideal

LOOKAHEAD = 4  # rounds of exact recursion where a partner of the pool moves by chance


def _ideal(game: RepeatedGame, seat: Seat, pool: Any, lookahead: int) -> Ideal:
    from sally.games.repeated_games.ideal import declared_pool, ideal_of  # loads numpy

    if pool is None:
        return ideal_of(game, seat, declared_pool(game, seat), lookahead)
    wrong = BadInput(
        'pool must list partners, such as ["tit_for_tat", {"player": "mixed", "params": {}}].'
    )
    if not pool:
        raise wrong
    try:
        specs = [PlayerSpec(member) if isinstance(member, str) else member for member in pool]
        return ideal_of(game, seat, msgspec.convert(specs, Sequence[PlayerSpec]), lookahead)
    except (msgspec.ValidationError, TypeError):
        raise wrong from None


def _follower(ideal: Ideal) -> Follower[Belief]:
    return Follower(ideal.start(), ideal.update_belief, View.rounds)


def _plays(game: RepeatedGame, seat: Seat, pool: Any = None, lookahead: int = LOOKAHEAD) -> Script:
    ideal = _ideal(game, seat, pool, lookahead)
    follower = _follower(ideal)

    def act(turn: RoundTurn) -> int:
        rounds_left = game.rounds - turn.view.round + 1
        return turn.draws.pick(ideal.best(follower.state(turn.view), rounds_left))

    return act


def _answers(
    game: RepeatedGame, seat: Seat, pool: Any = None, lookahead: int = LOOKAHEAD
) -> Answerer:
    """Return a function that answers probes with the ideal observer's forecast."""
    ideal = _ideal(game, seat, pool, lookahead)
    follower = _follower(ideal)

    def report(turn: RoundTurn) -> ProbeReport:
        odds = ideal.forecast(follower.state(turn.view))
        assert turn.question is not None
        if turn.question.kind == "odds":
            return ProbeReport(None, tuple(float(p) for p in odds / odds.sum()))
        likeliest = [m for m, p in enumerate(odds) if p >= odds.max() - 1e-9]
        return ProbeReport(turn.draws.pick(likeliest))

    return report


PARTNERS = {
    "bayes_adaptive": Partner(
        name="bayes_adaptive",
        about="infers which partner of a pool it faces and maximises the expected total; its "
        "predictions are those of the ideal observer (`pool`: the declared one by default)",
        source="Duff 2002",
        make=_plays,
        params={"pool": None, "lookahead": LOOKAHEAD},
        answers=_answers,
        lines=(Line("FFFFFF", "??FFFF", "ipd"), Line("SSSSSS", "?RRRRR", "rps")),
    )
}
