"""Comparison of an encoder's rounds in Cipher with the ideal observer and with perfect hints. The
pool of interceptors and the upper bound of payoffs are those of `interceptors`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sally.core.log.events import PlayerSpec
from sally.core.rules.game import Seat
from sally.core.rules.metric import Played
from sally.games.cipher.interceptors import (
    POOL,
    PRIOR,
    Stage,
    Weights,
    guess_odds,
    later,
    perfect_worth,
    stage_of,
    survival,
    update_weights,
    worth_of,
)
from sally.games.cipher.listeners import Floats, Position
from sally.games.cipher.metrics import rounds
from sally.games.cipher.rules import ENCODER, INTERCEPTOR, Cipher, Revealed, Void
from sally.stats.ideal import IdealProblem, SeenRound, pool_place, stated_odds


class HintRound(NamedTuple):
    """One round of an episode: the position, the hints given, and the payoff if it ended a game."""

    game: int
    position: Position
    stage: Stage
    hints: tuple[str, ...]
    paid: float


class Belief(NamedTuple):
    """The number of rounds seen, and the weights of the interceptors."""

    rounds_seen: int
    weights: Weights


class EncoderPool:
    """Inference and play of an encoder in the positions of one episode.

    The encoder has two moves: move 0 gives the hints that it gave in the episode; move 1 gives
    perfect hints, which the decoder reads correctly and an interceptor that listens does not. The
    interceptor's moves are the indices of the remaining codes. A forecast of its guess is for the
    hints that were given.
    """

    def __init__(self, game: Cipher, rounds: Sequence[HintRound]) -> None:
        self.game, self.rounds = game, tuple(rounds)

    def start(self) -> Belief:
        """Return the belief before the first round."""
        return Belief(0, PRIOR)

    def forecast(self, belief: Belief) -> Floats:
        """Return the ideal observer's odds of the interceptor's guess, given the hints."""
        return np.asarray(np.array(belief.weights) @ self._odds(belief))

    def _odds(self, belief: Belief) -> Floats:
        hint_round = self.rounds[belief.rounds_seen]
        return guess_odds(
            hint_round.position.filed, hint_round.hints, hint_round.position.codes_left
        )

    def update_belief(self, belief: Belief, own_move: int, other_move: int) -> Belief:
        """Return the belief after a round."""
        return Belief(
            belief.rounds_seen + 1, update_weights(belief.weights, self._odds(belief), other_move)
        )

    def _later(self, belief: Belief) -> float:
        number = self.rounds[belief.rounds_seen].game
        return float(np.array(belief.weights) @ later(self.game, number + 1))

    def outcomes(self, belief: Belief, rounds_left: int) -> Floats:
        """Return the expected payoff of the remaining games, by the encoder's move (rows) and the
        interceptor's guess (columns).

        All columns are equal: the guess is a reply to the hints, so the payoff of a move is already
        averaged over the guesses.
        """
        return self.worths(belief, rounds_left)[:, None].repeat(
            len(self.rounds[belief.rounds_seen].position.codes_left), 1
        )

    def worths(self, belief: Belief, rounds_left: int) -> Floats:
        """Return the expected payoff of the remaining games after each move."""
        _, position, stage, hints, _ = self.rounds[belief.rounds_seen]
        payoff_of_hints = worth_of(self.game, position, stage, belief.weights, hints)
        perfect = perfect_worth(self.game, position, stage, belief.weights)
        return np.array([payoff_of_hints, perfect]) + self._later(belief)

    def value(self, belief: Belief, rounds_left: int) -> float:
        """Return the highest expected payoff of the remaining games, before the next code is
        drawn."""
        if belief.rounds_seen >= len(self.rounds):
            return 0.0
        now = 2 * survival(self.game, self.rounds[belief.rounds_seen].stage) - 1
        return float(np.array(belief.weights) @ now) + self._later(belief)

    def gain(self, belief: Belief, own_move: int, other_move: int) -> float:
        """Return the payoff of a round: that of the game it ended, else 0."""
        return self.rounds[belief.rounds_seen].paid

    def known_value(self, place: int, rounds_left: int) -> float:
        """Return the highest expected payoff against a known interceptor."""
        return float(later(self.game, 0)[place])

    def informed_value(self, rounds_left: int) -> float:
        """Return the highest expected payoff of an encoder that knows the interceptor."""
        return float(np.array(PRIOR) @ later(self.game, 0))


def IDEAL(played: Played, seat: Seat) -> IdealProblem | None:
    """Return an encoder's rounds, to be compared with ideal play; None for the other seats, for
    listeners outside the pool, and if hints or a guess were forfeited."""
    game, lineup = played.replay.rules(Cipher), played.episode.setup.lineup
    decoder = pool_place("cipher", [PlayerSpec("by_keywords")], lineup.get("decoder"))
    interceptors = [PlayerSpec(name) for name in POOL]
    place = pool_place("cipher", interceptors, lineup.get("interceptor"))
    if decoder is None or place is None:
        return None
    events = played.replay.states[-1].log
    forfeits = any(
        isinstance(e, Void) or (isinstance(e, Revealed) and 0 in (e.decoder, e.interceptor))
        for e in events
    )
    if seat != ENCODER or played.episode.payoffs is None or forfeits:
        return None
    hint_rounds, seen_rounds = [], []
    for played_round in rounds(played):
        assert played_round.interceptor is not None  # no guess was forfeited
        state = played.replay.states[played_round.turn]
        payoff_before, payoff_after = (
            game.payoffs(s)[seat] for s in (state, played.replay.states[played_round.turn + 2])
        )
        stage = stage_of(game.record(state))
        hint_rounds.append(
            HintRound(
                played_round.game,
                played_round.position,
                stage,
                played_round.hints,
                payoff_after - payoff_before,
            )
        )
        report = played.replay.report(played_round.turn, seat, "their_guess", INTERCEPTOR)
        codes_left = played_round.position.codes_left
        odds = None if report is None else stated_odds(report.odds, report.value, codes_left)
        seen_rounds.append(SeenRound(0, codes_left.index(played_round.interceptor), odds))
    pool = EncoderPool(game, hint_rounds)
    return IdealProblem(pool, place, tuple(seen_rounds), paid_once=True, about_reply=True)
