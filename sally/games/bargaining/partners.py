"""Players of bargaining: partners with a declared quoting rule, a planner against them, and habits.

The parameters of declared partners are prices for the seller's seat; in the buyer's seat the
partner mirrors them (it bids 100 minus the ask).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from sally.core.errors import BadInput, unknown
from sally.core.match.partner import Answerer, Partner, Script, by_name
from sally.core.match.player import NoAnswer, Turn
from sally.core.rules.game import Seat
from sally.core.rules.probe import ProbeReport
from sally.games.bargaining.rules import BUYER, Action, Bargaining, Round, Say, View
from sally.games.bargaining.solver import RULES, Rule, mirror_price, rule_of, unknown_of
from sally.games.bargaining.values import HIGHEST
from sally.stats.ideal import best_moves

if TYPE_CHECKING:
    from sally.games.bargaining.ideal import RulePool

BargainingTurn = Turn[Action, View]
Speech = Callable[[View, Rule], str]
OURS = "Sally"
SILENT = Say("")


# --- partners that declare their rule -------------------------------------------------------------


def quote_of_rule(rule: Rule, view: View) -> int:
    """Return the quote of a declared rule in this round, in the seller's frame."""
    is_buyer = view.seat == BUYER
    limit = view.limit
    assert limit is not None  # quotes are asked for after the deal
    cost = HIGHEST - limit if is_buyer else limit
    last = view.last()
    if last is None:
        return rule.first(cost)
    bid, ask = last.bid, last.ask
    assert bid is not None and ask is not None
    if is_buyer:
        bid, ask = HIGHEST - ask, HIGHEST - bid
    return rule.next_ask(cost, ask, bid)


def _follow_rule(name: str, speech: Speech | None = None) -> Callable[..., Script]:
    def make_script(game: Bargaining, seat: Seat, **params: Any) -> Script:
        rule = rule_of(name, params)
        assert rule is not None
        is_buyer, breaks = seat == BUYER, rule.keep < 1

        def script(turn: BargainingTurn) -> Action:
            view = turn.view
            if view.talking:
                return SILENT if speech is None else Say(speech(view, rule))
            ask = quote_of_rule(rule, view)
            if breaks and turn.draws() >= rule.keep:
                ask = rule.slipped_quote(ask)
            return HIGHEST - ask if is_buyer else ask

        return script

    return make_script


def _announce(view: View, rule: Rule) -> str:
    price = mirror_price(view.is_buyer, quote_of_rule(rule, view))
    return f"I will {'bid' if view.is_buyer else 'ask'} {price} this round."


def _claim(view: View, rule: Rule) -> str:
    assert view.limit is not None
    cost = mirror_price(view.is_buyer, view.limit)
    stated = mirror_price(view.is_buyer, rule.floor(cost))
    return f"My {'value' if view.is_buyer else 'cost'} is {stated}."


def _partner(
    name: str, about: str, speech: Speech | None = None, memory: int = 1, **params: Any
) -> Partner:
    return Partner(name, about, OURS, _follow_rule(name, speech), memory=memory, params=params)


# --- the haggler ----------------------------------------------------------------------------------

CASES = ((False, False), (False, True), (True, False), (True, True))
"""What a haggler reacts to: whether a unit was traded, and whether the other had conceded."""


def case_of(bid_before: int | None, bid: int, ask: int) -> tuple[bool, bool]:
    """Return whether a round had a trade, and whether the bid was higher than the one before."""
    return bid >= ask, bid_before is not None and bid > bid_before


def _haggler(game: Bargaining, seat: Seat, start: int = 60, **params: Any) -> Script:
    """Return a seller whose ask changes after each round by one of four amounts.

    In the buyer's seat, prices are mirrored.
    """
    changes = params.get("changes", [-2, -4, 2, 4])
    if not isinstance(changes, list | tuple) or len(changes) != len(CASES):
        raise BadInput(f"haggler: changes must be {len(CASES)} amounts, not {changes!r}")
    is_buyer = seat == BUYER

    def script(turn: BargainingTurn) -> Action:
        view = turn.view
        if view.talking:
            return SILENT
        ask, bid_before = start, None
        rounds = [
            (
                mirror_price(is_buyer, past.ask if is_buyer else past.bid),
                mirror_price(is_buyer, past.bid if is_buyer else past.ask),
            )
            for past in view.past
            if past.bid is not None and past.ask is not None
        ]
        for bid, last_ask in rounds:
            change = changes[CASES.index(case_of(bid_before, bid, last_ask))]
            ask, bid_before = max(0, min(HIGHEST, last_ask + change)), bid
        return mirror_price(is_buyer, ask)

    return script


# --- the planner ----------------------------------------------------------------------------------


def _planner(game: Bargaining, seat: Seat, against: str = "responsive", **settings: Any) -> Script:
    """Return exact optimal play against a declared partner whose limit has a known prior."""
    if against not in RULES:
        raise unknown("declared partner", against, RULES)
    params = settings.get("params") or {}
    if not isinstance(params, Mapping):
        raise BadInput(f"params must be the parameters of {against} by name, not {params!r}")
    rule = rule_of(against, params)
    assert rule is not None
    is_buyer = seat == BUYER

    def script(turn: BargainingTurn) -> Action:
        view = turn.view
        if view.talking:
            return SILENT
        assert view.limit is not None
        plan = unknown_of(rule, is_buyer, view.limit, game.family, game.rounds)
        past = [
            (past_round.ask, past_round.bid)
            if is_buyer
            else (HIGHEST - past_round.bid, HIGHEST - past_round.ask)
            for past_round in view.past
            if past_round.bid is not None and past_round.ask is not None
        ]
        bid = plan.bid(past)
        return bid if is_buyer else HIGHEST - bid

    return script


# --- the Bayes-adaptive player --------------------------------------------------------------------


def _adaptive(game: Bargaining, seat: Seat) -> Callable[[View], tuple[RulePool, Any]]:
    """Return a function from a seat's view to its knowledge about the declared pool."""
    from sally.games.bargaining.ideal import ideal_of  # loads numpy tables

    is_buyer = seat == BUYER

    def pool_and_belief(view: View) -> tuple[RulePool, Any]:
        assert view.limit is not None
        pool = ideal_of(is_buyer, view.limit, game.family, game.rounds)
        belief = pool.start()
        for past_round in view.past:
            if past_round.bid is not None and past_round.ask is not None:
                bid, ask = (
                    mirror_price(not is_buyer, price) for price in (past_round.bid, past_round.ask)
                )
                belief = pool.update_belief(belief, *((bid, ask) if is_buyer else (ask, bid)))
        return pool, belief

    return pool_and_belief


def _bayes_adaptive(game: Bargaining, seat: Seat) -> Script:
    read_belief = _adaptive(game, seat)

    def script(turn: BargainingTurn) -> Action:
        if turn.view.talking:
            return SILENT
        pool, belief = read_belief(turn.view)
        bids = best_moves(pool, belief, game.rounds - len(turn.view.past))
        return mirror_price(seat != BUYER, turn.draws.pick(bids))

    return script


def _observer(game: Bargaining, seat: Seat) -> Answerer:
    """Return an answerer that reports the ideal observer's forecast of the other seat's quote."""
    read_belief = _adaptive(game, seat)

    def report(turn: BargainingTurn) -> ProbeReport | NoAnswer:
        question = turn.question
        assert question is not None
        if question.probe != "their_quote":
            return NoAnswer("it only forecasts quotes")
        pool, belief = read_belief(turn.view)
        odds = pool.forecast(belief)
        likeliest = [ask for ask, p in enumerate(odds) if p >= odds.max() - 1e-9]
        return ProbeReport(mirror_price(seat != BUYER, turn.draws.pick(likeliest)))

    return report


# --- habits: quotes without a thought of the other ------------------------------------------------

Habit = Callable[[View, int, Round | None], int]  # the view, the limit, the last round -> a quote


def halfway(view: View, limit: int, last: Round | None = None) -> int:
    """Return the midpoint between the seat's limit and its best possible price; halves are rounded
    up."""
    return (limit + 1) // 2 if view.is_buyer else (limit + HIGHEST + 1) // 2


def cap_at_limit(view: View, limit: int, price: int) -> int:
    """Return a price, or the seat's limit if the price is beyond the limit."""
    return min(price, limit) if view.is_buyer else max(price, limit)


def three_quarters(view: View, limit: int, last: Round | None) -> int:
    return (3 * limit + 2) // 4 if view.is_buyer else (3 * limit + HIGHEST + 2) // 4


def _one_quarter(view: View, limit: int, last: Round | None) -> int:
    return (limit + 2) // 4 if view.is_buyer else (limit + 3 * HIGHEST + 2) // 4


def fifty_capped(view: View, limit: int, last: Round | None) -> int:
    return cap_at_limit(view, limit, HIGHEST // 2)


def _beyond_limit(view: View, limit: int, last: Round | None) -> int:
    """Return the midpoint between the seat's limit and its worst possible price, which is an
    unprofitable quote."""
    return (limit + HIGHEST + 1) // 2 if view.is_buyer else limit // 2


def other_quote(view: View, last: Round) -> int:
    """Return the other seat's quote in a round in which both quoted."""
    quoted = last.ask if view.is_buyer else last.bid
    assert quoted is not None
    return quoted


def copy_last_capped(view: View, limit: int, last: Round | None) -> int:
    return (
        halfway(view, limit) if last is None else cap_at_limit(view, limit, other_quote(view, last))
    )


def _zero_then_last(view: View, limit: int, last: Round | None) -> int:
    """Return the seat's best price in the first round, then the other's last quote."""
    if last is None:
        return 0 if view.is_buyer else HIGHEST
    return cap_at_limit(view, limit, other_quote(view, last))


def _away_from_last(view: View, limit: int, last: Round | None) -> int:
    return halfway(view, limit) if last is None else HIGHEST - other_quote(view, last)


def split_own_and_last(view: View, limit: int, last: Round | None) -> int:
    if last is None:
        return halfway(view, limit)
    assert last.bid is not None and last.ask is not None
    return cap_at_limit(view, limit, (last.bid + last.ask + 1) // 2)


def concede(view: View, limit: int, last: Round | None) -> int:
    steps = len(view.past) if view.is_buyer else -len(view.past)
    return cap_at_limit(view, limit, halfway(view, limit) + steps)


def _harden(view: View, limit: int, last: Round | None) -> int:
    steps = -len(view.past) if view.is_buyer else len(view.past)
    return max(0, min(HIGHEST, halfway(view, limit) + steps))


def _habit(name: str, about: str, habit: Habit, memory: int | None = 0) -> Partner:
    def make_script(game: Bargaining, seat: Seat) -> Script:
        def script(turn: BargainingTurn) -> Action:
            view = turn.view
            if view.talking:
                return SILENT
            if view.limit is None:
                raise BadInput(
                    "this player needs a limit (its reservation price), but the view has none"
                )
            return habit(view, view.limit, view.last())

        return script

    return Partner(name, about, OURS, make_script, memory=memory)


PARTNERS = by_name(
    _partner("constant", "quotes `q` in every round, regardless of its limit", memory=0, q=50),
    _partner("truthful", "quotes its own value or cost", memory=0),
    _partner(
        "clock",
        "concedes `step` per round from `start`, unconditionally, down to its limit plus `margin`",
        start=90,
        step=3,
        margin=2,
    ),
    _partner(
        "responsive",
        "concedes `down` after a round without a trade, takes `up` more after one with a "
        "trade, never beyond its limit plus `margin`",
        start=80,
        down=5,
        up=2,
        margin=5,
    ),
    _partner(
        "splitter",
        "quotes halfway between its last quote and the other's, never beyond its limit plus "
        "`margin`",
        start=90,
        margin=2,
    ),
    Partner(
        "haggler",
        "changes its quote after each round by one of four `changes`: without and with a trade, "
        "each after the other conceded nothing or something",
        OURS,
        _haggler,
        params={"start": 60, "changes": [-2, -4, 2, 4]},
    ),
    _partner("grim", "quotes `q` until the other falls short of it, then always 100", q=65),
    _partner(
        "announcer",
        "says that it will quote `q`; does so with chance `keep`, else takes `slip` more",
        _announce,
        0,
        q=50,
        keep=1.0,
        slip=10,
    ),
    _partner(
        "liar",
        "states a value or cost that is better for itself by `shade`, and quotes that",
        _claim,
        0,
        shade=15,
    ),
    Partner(
        "planner",
        "plays the exact optimum against the declared partner `against` with `params`, whose "
        "limit it knows only by its prior",
        OURS,
        _planner,
        params={"against": "responsive", "params": {}},
    ),
    Partner(
        "bayes_adaptive",
        "infers rule and limit of a silent partner of the declared pool and maximises the "
        "expected total; its predictions are those of the ideal observer",
        "Duff 2002",
        _bayes_adaptive,
        answers=_observer,
    ),
    _habit("half", "quotes halfway between its limit and the best possible price", halfway),
    _habit("three_quarters", "keeps a quarter of the way to the best price", three_quarters),
    _habit("one_quarter", "keeps three quarters of the way to the best price", _one_quarter),
    _habit("fifty_capped", "quotes 50, or its limit where 50 is beyond it", fifty_capped),
    _habit("beyond_limit", "quotes halfway from its limit to the worst price", _beyond_limit),
    _habit(
        "copy_last_capped",
        "quotes what the other quoted last, or its limit where that is beyond it; halfway in "
        "the first round",
        copy_last_capped,
        1,
    ),
    _habit(
        "zero_then_last",
        "bids 0 (asks 100) in the first round, then what the other quoted last, or its limit "
        "where that is beyond it",
        _zero_then_last,
        1,
    ),
    _habit("away_from_last", "quotes 100 less what the other quoted last", _away_from_last, 1),
    _habit(
        "split_own_and_last",
        "quotes halfway between its own last quote and the other's; halves go up",
        split_own_and_last,
        1,
    ),
    _habit("concede_1", "starts halfway and concedes 1 per round, up to its limit", concede, None),
    _habit("harden_1", "starts halfway and takes 1 more per round", _harden, None),
)
