"""Partners for public goods: free riders, givers, and conditional cooperators, each with a fixed
rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sally.core.match.partner import Answerer, Partner, Script, by_name
from sally.core.match.player import NoAnswer, Turn
from sally.core.rules.game import Seat
from sally.core.rules.probe import ProbeReport
from sally.core.rules.simultaneous import View, others_of
from sally.games.public_goods.contribution_rules import RULES, Rule, nearest
from sally.games.public_goods.rules import PublicGoods, others_mean
from sally.parts.importers import recorded_partner

if TYPE_CHECKING:
    from sally.stats.ideal import Belief, Ideal


def their_last_mean(view: View) -> float | None:
    """Return the others' mean contribution in the last played round; None in the first round."""
    return None if view.last is None else others_mean(view.last, view.number)


def _script(rule: Callable[..., Rule]) -> Callable[..., Script]:
    def make_script(game: PublicGoods, seat: Seat, **settings: Any) -> Script:
        gives = rule(**settings)

        def script(turn: Turn[int, View]) -> int:
            return nearest(game, gives(game, their_last_mean(turn.view)))

        return script

    return make_script


def _expects_the_same_again(game: PublicGoods, seat: Seat, **settings: Any) -> Answerer:
    """Return a function that answers probes with the expectation that the others repeat their last
    contributions."""

    def answer(turn: Turn[int, View]) -> ProbeReport | NoAnswer:
        question, last = turn.question, turn.view.last
        assert question is not None
        if last is None:
            return NoAnswer("nothing has been given yet")
        others = others_of(last, turn.view.number)
        if question.probe == "their_least":
            return ProbeReport(min(others))
        return ProbeReport(int(sum(others) / len(others) + 0.5))

    return answer


# --- the Bayes-adaptive player --------------------------------------------------------------------


def _belief(game: PublicGoods, view: View) -> tuple[Ideal, Belief]:
    """Return the ideal observer of the pool of rules, and its belief after the rounds so far."""
    from sally.games.public_goods.ideal import ideal_of  # imports the metrics

    ideal, menu = ideal_of(game), game.menu
    belief = ideal.start()
    for contributions in view.past:
        if contributions is not None:
            other_contribution = nearest(game, others_mean(contributions, view.number))
            belief = ideal.update_belief(
                belief, menu.index(contributions[view.number]), menu.index(other_contribution)
            )
    return ideal, belief


def _bayes_adaptive(game: PublicGoods, seat: Seat) -> Script:
    def script(turn: Turn[int, View]) -> int:
        ideal, belief = _belief(game, turn.view)
        best = ideal.best(belief, game.rounds - turn.view.round + 1)
        return game.menu[turn.draws.pick(best)]

    return script


def _observer(game: PublicGoods, seat: Seat) -> Answerer:
    """Return a function that answers probes with the ideal observer's forecast: one contribution
    for all others, because they follow the same rule."""

    def answer(turn: Turn[int, View]) -> ProbeReport:
        ideal, belief = _belief(game, turn.view)
        odds = ideal.forecast(belief)
        likeliest = [n for n, p in enumerate(odds) if p >= odds.max() - 1e-9]
        return ProbeReport(game.menu[turn.draws.pick(likeliest)])

    return answer


def _partner(name: str, about: str, source: str, memory: int, **params: float) -> Partner:
    return Partner(
        name=name,
        about=about,
        source=source,
        make=_script(RULES[name]),
        answers=_expects_the_same_again,
        params=params,
        memory=memory,
    )


FISCHBACHER = "after Fischbacher, Gächter and Fehr 2001"
PARTNERS = by_name(
    _partner("free_rider", "gives nothing", FISCHBACHER, 0),
    _partner("giver", "gives a fixed `share` of its tokens", "ours", 0, share=1.0),
    _partner(
        "conditional_cooperator",
        "gives `offset` of its tokens plus `slope` times what the others gave last on average; "
        "`first` of its tokens at first",
        FISCHBACHER,
        1,
        first=0.5,
        slope=0.8,
        offset=0.0,
    ),
    _partner(
        "matcher",
        "gives what the others gave last on average; `first` of its tokens at first",
        FISCHBACHER,
        1,
        first=1.0,
    ),
    _partner(
        "threshold",
        "gives everything if the others gave at least `threshold` of theirs last, else "
        "nothing; `first` of its tokens at first",
        "ours",
        1,
        threshold=0.5,
        first=1.0,
    ),
    Partner(
        "bayes_adaptive",
        "infers which rule of the declared pool all others follow and maximises the expected "
        "total; its predictions are those of the ideal observer",
        "Duff 2002",
        _bayes_adaptive,
        answers=_observer,
    ),
    recorded_partner(name=""),
)
