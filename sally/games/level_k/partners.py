"""Partners for the level-k games: minds that declare a depth, and simple habits."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sally.core.errors import BadInput
from sally.core.match.partner import Answerer, Partner, Script, by_name
from sally.core.match.player import NoAnswer, Turn
from sally.core.rules.game import Seat
from sally.core.rules.probe import ProbeReport, Question
from sally.games.level_k.minds import MINDS, Mind
from sally.games.level_k.rules import LevelGame, View
from sally.games.level_k.solvers import SAME, Odds, evenly
from sally.games.level_k.words import DEPTHS
from sally.parts.importers import recorded_partner

if TYPE_CHECKING:
    from sally.stats.ideal import Belief, Ideal

Making = Callable[..., Mind]


def _script(make: Making) -> Callable[..., Script]:
    def make_script(game: LevelGame, seat: Seat, **settings: Any) -> Script:
        mind = make(game, seat, **settings)

        def script(turn: Turn[int, View]) -> int:
            odds = mind.does(turn.view)
            return next(iter(odds)) if len(odds) == 1 else turn.draws.draw(odds)

        return script

    return make_script


def _answers(make: Making) -> Callable[..., Answerer]:
    """Return a factory of answerers that report what the mind expects, or give no answer if it
    expects nothing."""

    def make_answerer(game: LevelGame, seat: Seat, **settings: Any) -> Answerer:
        mind = make(game, seat, **settings)

        def answer(turn: Turn[int, View]) -> ProbeReport | NoAnswer:
            question = turn.question
            assert question is not None
            if question.probe == "their_move" and mind.expects is not None:
                return _report_likeliest(question, mind.expects(turn.view), turn)
            if question.probe == "their_depth" and mind.depth:
                return _sure(question, min(mind.depth - 1, len(DEPTHS) - 1))
            return NoAnswer("this mind has no such thought")

        return answer

    return make_answerer


def _report_likeliest(question: Question, odds: Odds, turn: Turn[int, View]) -> ProbeReport:
    """Return a report of the most probable move (ties are broken at random) and of all
    probabilities."""
    chances = tuple(odds.get(int(choice), 0.0) for choice in question.choices)
    likely = [c for c, p in zip(question.choices, chances, strict=True) if p >= max(chances) - SAME]
    return ProbeReport(turn.draws.pick(likely), tuple(p / sum(chances) for p in chances))


def _sure(question: Question, value: int) -> ProbeReport:
    return ProbeReport(value, tuple(float(choice == value) for choice in question.choices))


# --- habits: what a mind without a theory of the other does ---------------------------------------


def _habit(name: str, about: str, source: str, repeats: Callable[[float], bool]) -> Partner:
    """Return a partner that repeats or changes its last move, depending on the last payoff."""

    def make_script(game: LevelGame, seat: Seat) -> Script:
        if game.rounds < 2:
            raise BadInput(f"{name} needs a game of several rounds")
        menu = game.menu(seat)

        def script(turn: Turn[int, View]) -> int:
            view = turn.view
            last = view.last
            if last is None:
                return turn.draws.pick(menu)
            paid, own_move = game.pays.pay(last), last[view.number]
            if repeats(paid[view.number] - sum(paid) / len(paid)):
                return own_move
            return turn.draws.draw(evenly(set(menu) - {own_move}))

        return script

    return Partner(name, about, source, make_script, memory=1)


# --- the Bayes-adaptive player --------------------------------------------------------------------


def _adaptive(game: LevelGame, seat: Seat) -> tuple[Ideal, Callable[[View], Belief]]:
    """Return the ideal observer for partners of levels 0 to 3, and a function from a view to the
    observer's belief."""
    from sally.games.level_k.ideal import has_levels, ideal_of  # loads numpy

    if not has_levels(game):
        raise BadInput("bayes_adaptive plays only the request and box games for two players")
    ideal, own_menu, other_menu = (
        ideal_of(game, seat),
        game.menu(seat),
        game.menu(game.others(seat)[0]),
    )

    def belief(view: View) -> Belief:
        current = ideal.start()
        for my_move, their_move in view.played():
            current = ideal.update_belief(
                current, own_menu.index(my_move), other_menu.index(their_move)
            )
        return current

    return ideal, belief


def _bayes_adaptive(game: LevelGame, seat: Seat) -> Script:
    ideal, belief = _adaptive(game, seat)
    menu = game.menu(seat)

    def script(turn: Turn[int, View]) -> int:
        rounds_left = game.rounds - turn.view.round + 1
        return menu[turn.draws.pick(ideal.best(belief(turn.view), rounds_left))]

    return script


def _observer(game: LevelGame, seat: Seat) -> Answerer:
    """Return an answerer that reports the ideal observer's forecast."""
    ideal, belief = _adaptive(game, seat)
    other_menu = game.menu(game.others(seat)[0])

    def answer(turn: Turn[int, View]) -> ProbeReport | NoAnswer:
        question = turn.question
        assert question is not None
        if question.probe != "their_move":
            return NoAnswer("it only forecasts moves")
        odds = ideal.forecast(belief(turn.view)).tolist()
        return _report_likeliest(
            question, {m: p for m, p in zip(other_menu, odds, strict=True) if p > 0}, turn
        )

    return answer


def _mind(name: str, about: str, source: str, memory: int | None = 0) -> Partner:
    declared = MINDS[name]
    return Partner(
        name=name,
        about=about,
        source=source,
        make=_script(declared.make),
        answers=_answers(declared.make),
        params=declared.settings,
        memory=memory,
    )


PARTNERS = by_name(
    _mind(
        "level",
        "thinks `k` steps ahead: replies best to a player of level k-1; level 0 does what "
        "stands out (`base` salient), anything (uniform), or draws from odds",
        "Stahl and Wilson 1995; Nagel 1995",
    ),
    _mind(
        "cognitive_hierarchy",
        "thinks `k` steps ahead: replies best to levels 0 to k-1 as a Poisson law with mean "
        "`tau` has them",
        "Camerer, Ho and Chong 2004",
    ),
    _mind(
        "people",
        "draws from what people did in a published experiment (the request game only)",
        "Arad and Rubinstein 2012",
    ),
    _mind(
        "note_reader",
        "believes the last note it read, or takes the other to believe the last one it saw the "
        "other read, and replies best (the request game with `notes`)",
        "Sally",
    ),
    _mind("equilibrium", "plays its part of an equilibrium of the round", "Nash 1951"),
    _mind(
        "k_tom",
        "infers from the past how deep the other infers, up to level `k`-1 (two moves each); "
        "`volatility` and `temperature` are logarithms",
        "Devaine et al. 2014; equations as in tomsup 1.4.1",
        memory=None,
    ),
    Partner(
        "bayes_adaptive",
        "infers which level from 0 to 3 it faces and maximises the expected total; its "
        "predictions are those of the ideal observer (request and box games)",
        "Duff 2002",
        _bayes_adaptive,
        answers=_observer,
    ),
    _habit(
        "repeater", "does again what it did last; anything at first", "a habit", lambda ahead: True
    ),
    _habit(
        "switcher",
        "does anything but what it did last; anything at first",
        "a habit",
        lambda ahead: False,
    ),
    _habit(
        "win_stay_lose_shift",
        "repeats its move if the last round paid it at least the mean, else changes it",
        "Nowak and Sigmund 1993",
        lambda ahead: ahead >= 0,
    ),
    _habit(
        "win_shift_lose_stay",
        "changes its move if the last round paid it at least the mean, else repeats it",
        "the inverse of win-stay, lose-shift",
        lambda ahead: ahead < 0,
    ),
    recorded_partner(name=""),
)
