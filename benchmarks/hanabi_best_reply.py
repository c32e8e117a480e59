"""The exact best reply to a declared partner, or to one drawn from a declared pool of partners:
expectimax over information states.

A seat sees neither its own hand nor the order of the deck, and it may not know which bot of the
pool its partner is. A case is one possibility: a bot, and a hand for the seat, with the undrawn
cards in any order. An information state is a list of weighted cases; the seat's moves, the bots'
declared moves and every possible draw lead to the next information state. Information states with
the same table, cases and bot memories share one value, and branches that cannot beat the best move
found so far are pruned. This makes a full search of hanabi_very_small, with its ten cards,
possible for one known bot. Against a pool, the best reply is the Bayes-adaptive player.

`python benchmarks/hanabi_best_reply.py simple` goes through all 24 hands of the partner for both
seats, prints each value with the nodes and seconds of processor it took, and the mean over deals.
With `simple,iggi` instead of `simple`, the partner is drawn from a pool of these bots; numbers
after the names select seats.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from itertools import permutations
from typing import Any

import msgspec

from sally.core.errors import BadInput, unknown
from sally.core.registry import registry
from sally.games.hanabi.belief import Hidden
from sally.games.hanabi.bots import BOTS
from sally.games.hanabi.bots.holmes import HolmesMemory
from sally.games.hanabi.bots.memory import Memory, Recall
from sally.games.hanabi.bots.rule_agents import RULES
from sally.games.hanabi.bots.simple import SimpleMemory
from sally.games.hanabi.rules import Hanabi
from sally.games.hanabi.state import Card, State

Case = tuple[State, float, int]  # the state, its weight and the place of the bot in the pool
Odds = Mapping[int, float]
MOST_CARDS = 10  # the search is too large with more cards
CLOSE = 1e-12
# Bots whose memory depends on public events alone; the rule agents have no memory.
MEMORIES: Mapping[str, Callable[[Hanabi, int], Memory]] = {
    "simple": SimpleMemory,
    "holmes": HolmesMemory,
}
DECLARED = (*MEMORIES, *(name for name in RULES if name != "legal_random"))


class BestReply:
    """The exact best reply of one seat of a small game to a partner whose policy is known, or to
    one that is drawn from a pool of known policies.

    Args:
        game: A game of two players with at most ten cards.
        me: The number of the seat, from 0.
        pool: The names of the bots that the partner may be, all equally likely.
    """

    def __init__(self, game: Hanabi, me: int, *pool: str) -> None:
        for of in pool:
            if of not in DECLARED:
                raise unknown("bot with a computable best reply", of, DECLARED)
        if game.players != 2 or len(game.cards) > MOST_CARDS:
            raise BadInput(
                f"the best reply is computed for two players and at most {MOST_CARDS} cards, as in "
                f"hanabi_very_small; this game has {game.players} players and "
                f"{len(game.cards)} cards"
            )
        self.game, self.me, self.other = game, me, 1 - me
        self.policies = [BOTS[of](game) for of in pool]
        self.recalls = [Recall(game, MEMORIES[of]) if of in MEMORIES else None for of in pool]
        self.nodes = 0
        self._moves: dict[Hashable, Odds] = {}
        self._found: dict[Hashable, tuple[float, int]] = {}

    # --- a seat's turn ----------------------------------------------------------------------------

    def dealt(self, partner_hand: tuple[Card, ...]) -> float:
        """Return the expected score right after the deal, given the partner's hand, which this seat
        sees."""
        n_policies = len(self.policies)
        deals = possible_deals(self.game, self.me, partner_hand)
        cases = [(state, w / n_policies, bot) for state, w in deals for bot in range(n_policies)]
        if self.me == 0:
            return self.best(cases)[0]
        value = self._value_after_answers([cases], 0.0, -1.0)
        assert value is not None  # no value is below the floor of -1
        return value

    def best(self, cases: list[Case]) -> tuple[float, int]:
        """Return the expected score at the seat's turn with best play, and the first of the best
        moves."""
        key = self._key(cases)
        if key not in self._found:
            self._found[key] = self._search(cases)
        return self._found[key]

    def _search(self, cases: list[Case]) -> tuple[float, int]:
        self.nodes += 1
        total, bound = sum(w for _, w, _ in cases), score_bound(self.game, cases[0][0])
        best, move = -1.0, -1
        for action in self._order_moves(cases):
            value = self._value(cases, action, best * total)
            if value is not None and value / total > best + CLOSE:
                best, move = value / total, action
                if best > bound - CLOSE:
                    break
        return best, move

    def _order_moves(self, cases: list[Case]) -> list[int]:
        """Return the legal moves, likely good plays first, because a good move found early
        prunes more branches."""
        game, size = self.game, self.game.hand_size
        total = sum(w for _, w, _ in cases)

        def rank(action: int) -> float:
            if not size <= action < 2 * size:
                return -0.5
            slot = action - size
            plays = (w for s, w, _ in cases if game.is_next(s, s.hands[self.me][slot]))
            return -sum(plays) / total

        return sorted(game.legal(cases[0][0], self.me), key=rank)

    def _value(self, cases: list[Case], action: int, floor: float) -> float | None:
        """Return the value of a move times the total weight of the possible states; None if this is
        not above `floor`."""
        done, groups_after = 0.0, _Groups()
        for state, weight, bot in cases:
            for new, chance in outcomes(self.game, state, action):
                if self.game.is_over(new):
                    done += weight * chance * self._payoff(new)
                else:
                    groups_after.add(new.past.last, new, weight * chance, bot)
        return self._value_after_answers(groups_after.cases(), done, floor)

    # --- the partner's turn -----------------------------------------------------------------------

    def _value_after_answers(
        self, groups: Iterable[list[Case]], done: float, floor: float
    ) -> float | None:
        game, groups_after = self.game, _Groups()
        for cases in groups:
            minds = self._minds(cases)
            for state, weight, bot in cases:
                for action, p in self._answer(state, bot, minds[bot]).items():
                    for new, chance in outcomes(game, state, action):
                        if game.is_over(new):
                            done += weight * p * chance * self._payoff(new)
                            continue
                        observation = (state.past.last, new.past.last, new.hands[self.other])
                        groups_after.add(observation, new, weight * p * chance, bot)
        bounded_groups = [(score_bound(game, cases[0][0]) * sum(w for _, w, _ in cases), cases)
                for cases in groups_after.cases()]  # fmt: skip
        bounded_groups.sort(key=lambda bounded_group: -bounded_group[0])
        bound = sum(group_bound for group_bound, _ in bounded_groups)
        for group_bound, cases in bounded_groups:
            if done + bound <= floor + CLOSE:
                return None
            bound -= group_bound
            done += sum(w for _, w, _ in cases) * self.best(cases)[0]
        return done if done + bound > floor + CLOSE else None

    def _answer(self, state: State, bot: int, mind: Hashable) -> Odds:
        """Return a bot's move probabilities, cached by the bot's view and memory."""
        key = (bot, _table(state), state.hands[self.me], mind)
        if key not in self._moves:
            view = self.game.observe(state, self.game.seats[self.other])
            self._moves[key] = self.policies[bot](view)
        return self._moves[key]

    def _minds(self, cases: list[Case]) -> dict[int, Hashable]:
        """Return the memory of each bot that the partner may still be."""
        view = self.game.observe(cases[0][0], self.game.seats[self.other])
        minds: dict[int, Hashable] = {}
        for bot in sorted({bot for _, _, bot in cases}):
            recall, minds[bot] = self.recalls[bot], None
            if recall is not None:
                memory = recall.of(view)
                minds[bot] = tuple(
                    tuple(map(memory.card_memory, hand_ids)) for hand_ids in memory.ids
                )
        return minds

    # --- equality of information states -----------------------------------------------------------

    def _key(self, cases: list[Case]) -> Hashable:
        state, total = cases[0][0], sum(w for _, w, _ in cases)
        hands = sorted((bot, s.hands[self.me], round(w / total, 12)) for s, w, bot in cases)
        minds = tuple(self._minds(cases).values())
        return (_table(state), state.hands[self.other], tuple(hands), minds)

    def _payoff(self, state: State) -> float:
        return self.game.payoffs(state)[self.game.seats[self.me]]


class _Groups:
    """Possible states with their weights, grouped by what a seat has observed; states of one group
    differ only in the hands."""

    def __init__(self) -> None:
        self.by: dict[Hashable, dict[Any, Case]] = {}

    def add(self, observation: Hashable, state: State, weight: float, bot: int) -> None:
        """Add a possible state and bot; states with the same hands are merged for each bot."""
        group = self.by.setdefault(observation, {})
        key = (bot, state.hands)
        if key in group:
            earlier_state, so_far, _ = group[key]
            group[key] = (earlier_state, so_far + weight, bot)
            return
        if group:  # one past for all, so that a memory folds it once
            first = next(iter(group.values()))[0]
            state = msgspec.structs.replace(state, past=first.past)
        group[key] = (state, weight, bot)

    def cases(self) -> list[list[Case]]:
        """Return the possible states with their weights, as one list per group."""
        return [list(group.values()) for group in self.by.values()]


def _table(state: State) -> Hashable:
    """Return the public state of the table without its history."""
    return (
        state.piles,
        state.gone,
        state.tokens,
        state.lives,
        state.last,
        state.marks,
        state.drawn,
    )


def possible_deals(
    game: Hanabi, me: int, partner_hand: tuple[Card, ...]
) -> list[tuple[State, float]]:
    """Return the possible deals for a seat that sees the partner's hand, with their
    probabilities."""
    cards_left = list(game.cards)
    for card in partner_hand:
        cards_left.remove(card)
    counts = tuple(cards_left.count(card) for card in range(game.highest))
    unseen = Hidden(game, (game.unhinted_mark,) * game.hand_size, counts)
    cases = []
    for own_hand, weight in unseen.hands():
        undrawn = list(cards_left)
        for card in own_hand:
            undrawn.remove(card)
        hands = (own_hand, partner_hand) if me == 0 else (partner_hand, own_hand)
        cases.append((game.dealt((*hands[0], *hands[1], *undrawn)), weight / unseen.total))
    return cases


def outcomes(game: Hanabi, state: State, action: int) -> Iterator[tuple[State, float]]:
    """Yield the states after a move, one per card that may be drawn, each with its probability."""
    me, next_card, undrawn = state.mover, state.drawn, state.deck[state.drawn :]
    new = game.step(state, {game.seats[me]: action})
    if new.drawn == next_card:  # a hint, the end of the game or of the deck
        yield new, 1.0
        return
    kept_cards = new.hands[me][:-1]
    for card in sorted(set(undrawn)):
        n = undrawn.index(card)
        yield (
            msgspec.structs.replace(
                new,
                deck=(*state.deck[:next_card], card, *undrawn[:n], *undrawn[n + 1 :]),
                hands=(*new.hands[:me], (*kept_cards, card), *new.hands[me + 1 :]),
            ),
            undrawn.count(card) / len(undrawn),
        )


def score_bound(game: Hanabi, state: State) -> float:
    """Return an upper bound on the score: the cards that can still be played, at most one per
    remaining turn."""
    reach = sum(game.reach(state, colour) for colour in range(game.colours))
    turns = len(state.deck) - state.drawn + state.last
    return float(min(reach, sum(state.piles) + turns))


def main(of: str, seats: tuple[int, ...] = (0, 1)) -> None:
    game = registry.game("hanabi_very_small").build({})
    assert isinstance(game, Hanabi)
    hands = Counter(permutations(game.cards, game.hand_size))
    for me in seats:
        best, mean = BestReply(game, me, *of.split(",")), 0.0
        for hand, ways in sorted(hands.items(), reverse=True):
            start, nodes_before = time.process_time(), best.nodes
            value = best.dealt(hand)
            mean += value * ways / hands.total()
            took = time.process_time() - start
            print(f"{of}, seat {me}, sees {hand}: {value:.10f}; "
                  f"{best.nodes - nodes_before:,} nodes, {took:.1f} s", flush=True)  # fmt: skip
        print(f"{of}, seat {me}: {mean:.4f} of {game.highest} over all deals", flush=True)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "simple", tuple(map(int, sys.argv[2:])) or (0, 1))
