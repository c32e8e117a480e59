"""The ideal observer of Hanabi: the probabilities of the partner's next move, by Bayes' rule over a
declared pool of bots and over the hands that the seat may hold.

Each bot is equally likely to be the partner. A bot and a hand together determine the probability of
all the partner's past moves (see `belief`), so the posterior is exact. It is computed for two
players and at most 1,000 ordered hands, as in hanabi_mini, hanabi_small and hanabi_very_small. The
value of Bayes-adaptive play is not computed: `benchmarks/hanabi_best_reply.py` can search it in
games of up to ten cards, but takes too long to do so for each episode.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sally.core.rules.game import Seat
from sally.core.rules.metric import Played
from sally.games.hanabi.belief import hidden, likelihoods, movers_view
from sally.games.hanabi.bots import BOTS
from sally.games.hanabi.probes import move_name, moves_of
from sally.games.hanabi.rules import Hanabi
from sally.games.hanabi.state import Policy, View
from sally.stats.ideal import ObserverProblem, SeenRound, stated_odds

POOL = ("simple", "holmes", "smart", "iggi", "outer", "piers", "van_den_bergh")
MOST_HANDS = 1_000


def is_observable(game: Hanabi) -> bool:
    """Return whether the ideal observer is computed for a game."""
    return game.players == 2 and game.highest**game.hand_size <= MOST_HANDS


class PoolObserver:
    """The ideal observer of one episode.

    Args:
        game: The rules.
        pool: The names of the bots that the partner may be, all equally likely.
    """

    def __init__(self, game: Hanabi, pool: Sequence[str] = POOL) -> None:
        self.game = game
        self.policies = [_cache_decisions(BOTS[name](game)) for name in pool]

    def forecast(self, view: View) -> dict[str, float] | None:
        """Return the probability of each move that the probe `their_move` lists, at the partner's
        turn; None if no bot of the pool explains the past."""
        game, partner = self.game, view.mover
        odds = dict.fromkeys(moves_of(game, view), 0.0)
        hands, weights = zip(*hidden(game, view).hands(), strict=True)
        for policy in self.policies:
            chances = likelihoods(game, view, hands, {partner: policy})
            for hand, weight, chance in zip(hands, weights, chances, strict=True):
                if chance:
                    for action, p in policy(movers_view(view, hand)).items():
                        odds[move_name(game, partner, action)] += weight * chance * p
        total = sum(odds.values())
        return {move: p / total for move, p in odds.items()} if total else None


def _cache_decisions(policy: Policy) -> Policy:
    """Return a policy that computes each decision of one episode once; in one episode, the number
    of past events and the visible hands determine a view."""
    odds_by_view: dict[object, dict[int, float]] = {}

    def moves(view: View) -> dict[int, float]:
        key = (len(view.past), view.hands)
        if key not in odds_by_view:
            odds_by_view[key] = dict(policy(view))
        return odds_by_view[key]

    return moves


def IDEAL(played: Played, seat: Seat) -> ObserverProblem | None:
    """Return a seat's predictions of its partner's moves, to be compared with the ideal observer;
    None unless the partner is a bot of the pool and the game is small."""
    game, lineup = played.replay.rules(Hanabi), played.episode.setup.lineup
    payoffs = played.episode.payoffs
    if not is_observable(game) or payoffs is None:
        return None
    (other_seat,) = (candidate for candidate in game.seats if candidate != seat)
    partner = lineup.get(str(other_seat))
    if partner is None or partner.player not in POOL:
        return None
    observer, forecasts, rounds = PoolObserver(game), [], []
    for step in played.replay.steps():
        report = played.replay.report(step.turn, seat, "their_move", str(other_seat))
        if report is None or other_seat not in step.moves:
            continue
        view = game.observe(step.before, seat)
        odds = observer.forecast(view)
        choices = moves_of(game, view)
        move_index = choices.index(move_name(game, view.mover, step.moves[other_seat]))
        stated = stated_odds(report.odds, report.value, choices)
        if stated is None:
            continue
        assert odds is not None  # the partner is a bot of the pool
        forecasts.append(np.array(list(odds.values())))
        rounds.append(SeenRound(0, move_index, stated))
    return ObserverProblem(tuple(forecasts), tuple(rounds), float(payoffs[str(seat)]))
