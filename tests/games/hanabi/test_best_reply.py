"""The best reply to a declared partner: against a search that leaves nothing out, and in play."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import pytest

from benchmarks.hanabi_best_reply import BestReply, Case
from sally.core.errors import BadInput
from sally.core.rules.game import Seat
from sally.games.hanabi.bots import BOTS
from sally.games.hanabi.rules import Hanabi
from sally.games.hanabi.state import Policy, State

SIX_CARDS = Hanabi(colours=1, ranks=3, hand=1, hints=2, lives=1)
TWO_EACH = Hanabi(colours=1, ranks=3, hand=2, hints=1, lives=1)


def deals(game: Hanabi) -> list[tuple[State, float]]:
    """Every order of the deck, with its chance."""
    orders = Counter(permutations(game.cards))
    total = orders.total()
    return [(game.dealt(deck), n / total) for deck, n in orders.items()]


def plainly(game: Hanabi, me: int, pool: list[Policy], cases: list[Case]) -> float:
    """The best that a seat can get: whole decks, every move, grouped by what the seat sees."""
    total = sum(w * game.payoffs(s)[game.seats[me]] for s, w, _ in cases if game.is_over(s))
    going = [case for case in cases if not game.is_over(case[0])]
    if not going:
        return total
    mover = game.seats[going[0][0].mover]
    if going[0][0].mover != me:
        triples_after = [
            (game.step(s, {mover: action}), w * p, bot)
            for s, w, bot in going
            for action, p in pool[bot](game.observe(s, mover)).items()
        ]
        return total + plainly(game, me, pool, triples_after)
    by_view: dict[object, list[Case]] = {}
    for s, w, bot in going:
        by_view.setdefault(seen_by(game, s, mover), []).append((s, w, bot))
    for group in by_view.values():
        total += max(
            plainly(game, me, pool, [(game.step(s, {mover: a}), w, bot) for s, w, bot in group])
            for a in game.legal(group[0][0], me)
        )
    return total


def seen_by(game: Hanabi, state: State, seat: Seat) -> object:
    """What a seat has seen: the hands that it sees and the whole past."""
    view = game.observe(state, seat)
    return view.hands, tuple(view.past)


@pytest.mark.parametrize(
    ("pool", "me"),
    [
        (["simple"], 0),
        (["van_den_bergh"], 1),
        (["outer", "holmes"], 1),
    ],
)
def test_best_reply_value_equals_search_over_whole_decks(pool: list[str], me: int) -> None:
    game = SIX_CARDS
    best, many_count = BestReply(game, me, *pool), len(pool)
    policies = [BOTS[of](game) for of in pool]
    for their_hand in {state.hands[1 - me] for state, _ in deals(game)}:
        pairs = [(s, w) for s, w in deals(game) if s.hands[1 - me] == their_hand]
        total = sum(w for _, w in pairs)
        cases = [(s, w / total / many_count, bot) for s, w in pairs for bot in range(many_count)]
        assert best.dealt(their_hand) == pytest.approx(plainly(game, me, policies, cases))


def test_no_bot_beats_the_best_reply_to_a_pool_in_expectation() -> None:
    game, pool = TWO_EACH, ("simple", "holmes", "van_den_bergh")
    best, known_best_replies = BestReply(game, 0, *pool), [BestReply(game, 0, of) for of in pool]
    exact = informed = 0.0
    values = {
        hand: (
            best.dealt(hand),
            sum(known_best_reply.dealt(hand) for known_best_reply in known_best_replies)
            / len(pool),
        )
        for hand in {s.hands[1] for s, _ in deals(game)}
    }
    for state, chance in deals(game):
        exact += chance * values[state.hands[1]][0]
        informed += chance * values[state.hands[1]][1]
    assert exact < informed - 1e-6  # not to know the partner has a price
    for name in ("simple", "holmes", "smart", "van_den_bergh"):
        assert sum(beside(game, name, of) for of in pool) / len(pool) <= exact + 1e-9


def test_best_reply_beats_every_bot_with_two_card_hands() -> None:
    game, of = TWO_EACH, "simple"
    best = BestReply(game, 0, of)
    value = {hand: best.dealt(hand) for hand in {s.hands[1] for s, _ in deals(game)}}
    exact = sum(w * value[s.hands[1]] for s, w in deals(game))
    ours = {name: beside(game, name, of) for name in ("simple", "smart", "iggi")}
    assert all(score <= exact + 1e-9 for score in ours.values()), ours
    assert exact > max(ours.values()) + 0.1


def beside(game: Hanabi, first: str, second: str) -> float:
    """The mean payoff of two bots over every deal."""
    mean = 0.0
    for state, chance in deals(game):
        policies = [BOTS[first](game), BOTS[second](game)]
        while not game.is_over(state):
            seat = game.seats[state.mover]
            odds = policies[state.mover](game.observe(state, seat))
            state = game.step(state, {seat: max(odds, key=lambda a: (odds[a], -a))})
        mean += chance * game.payoffs(state)[game.seats[0]]
    return mean


def test_bots_without_exact_best_reply_are_refused_with_one_message() -> None:
    with pytest.raises(BadInput, match="no bot with a computable best reply named 'info'"):
        BestReply(SIX_CARDS, 0, "info")
    with pytest.raises(BadInput, match="at most 10 cards"):
        BestReply(Hanabi(), 0, "simple")
