"""Single decisions of Cipher: losses, costs, training tasks, and depths of reasoning."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

from sally.core.rules.depth import DepthDecision, Depths, Reasoned
from sally.core.rules.game import Seat
from sally.core.rules.metric import Cost, Played, Terms, terms_of
from sally.games.association.conditions import series_training
from sally.games.association.minds import Mind
from sally.games.cipher.instances import Problem, frozen
from sally.games.cipher.listeners import Listener, Position, Way, best_hints, digits, value_hints
from sally.games.cipher.metrics import (
    declared_decoder,
    declared_interceptor,
    scored_guesses,
    scored_hints,
    splits,
)
from sally.games.cipher.partners import MENUS
from sally.games.cipher.rules import ENCODER, Cipher, Hints, record_of

GOOD = 0.8  # minimum value of the right hints

HINTS = (
    "chance that the decoder alone is right, by the declared listeners and all triples of the 25 "
    "nearest words a digit"
)
GUESSES = {
    "decoder": "chance of the code, by the posterior under the declared encoder",
    "interceptor": "chance of the code, by a Bayesian listener",
}


def LOSSES(played: Played, seat: Seat) -> Terms:
    """Return the mean losses over the rounds in which the encoder's model of the listeners is
    known."""
    parts = [(split.modelling, split.play, split.regret) for split in splits(played, seat)]
    return terms_of(parts, None)


def COSTS(played: Played, seat: Seat) -> list[Cost]:
    """Return the cost of every decision of a seat for which a cost can be computed."""
    if seat == ENCODER:
        return [
            Cost(
                hint_score.round.turn,
                max(hint_score.regret, 0.0),
                (Hints(*hint_score.best.hints),),
                HINTS,
            )
            for hint_score in scored_hints(played, seat)
        ]
    return [
        Cost(guess_score.turn, max(guess_score.regret, 0.0), guess_score.best, GUESSES[seat])
        for guess_score in scored_guesses(played, seat)
    ]


TRAINING = series_training(
    lambda: frozen(Cipher().set),
    "interceptor",
    {"encoder": "nearest", "decoder": "by_keywords"},
)

# --- depths of reasoning --------------------------------------------------------------------------

LEVELS: Mapping[Way, int] = {
    "history": 0,
    "bayes": 1,
}  # how deeply an interceptor reasons about the encoder
ABOUT = (
    "depth 0 gives the clearest hints and thinks of no interceptor; depth 1 gives the best hints "
    "against one that compares hints with earlier hints (by_history); depth 2 against one that "
    "infers keywords from what the encoder would say (by_bayes), a model of the encoder; right: "
    f"hints whose chance that only the decoder is right is at least {GOOD}"
)
NOTES = (
    "The set `which`: against by_history the reasoner of depth 1 is right, against by_bayes the "
    "one of depth 2; each is wrong against the other interceptor, so depths beyond "
    "the partner's plus one are left out, as in level-k games.",
    "Chance is that of the clearest hints.",
)


def position_of(problem: Problem) -> Position:
    """Return the encoder's position in a certified problem, after the problem's fixed earlier
    rounds."""
    record = record_of(problem.past, ())
    return Position(problem.keywords, record.filed, record.remaining_codes, problem.codes[0])


@lru_cache(maxsize=1024)
def reason_about(position: Position, listening: Way) -> Reasoned:
    """Return, for one position and one way in which the interceptor may interpret hints, whether
    the hints given by a reasoner of each depth are right."""
    mind, listener = Mind(), Listener(listening)
    hints = [tuple(MENUS["nearest"](mind, position, digit)[0] for digit in digits(position.code))]
    for level in list(LEVELS)[: LEVELS[listening] + 1]:
        hints.append(best_hints(mind, Listener(level), position).hints)
    by_depth = tuple(
        (value_hints(mind, listener, position, given_hints).value >= GOOD,) for given_hints in hints
    )
    block = LEVELS[listening] + 1
    return Reasoned(by_depth, (True,), 0.0, block, f"which, interceptor by_{listening}")


def _questions() -> Iterator[Reasoned]:
    for listening in LEVELS:
        for row in frozen("which").rows:
            yield from (reason_about(position_of(problem), listening) for problem in row)


def _judge_hints(played: Played, seat: Seat) -> Iterator[DepthDecision]:
    """Yield, for each of the encoder's decisions whose required depth of reasoning is known,
    whether the hints are right.

    Nothing is yielded unless decoder and interceptor both associate words by meaning alone.
    """
    game, listener = played.replay.rules(Cipher), declared_interceptor(played)
    plain = listener is not None and listener.way in LEVELS and listener == Listener(listener.way)
    if game.set != "which" or not plain or declared_decoder(played) != Mind():
        return
    assert listener is not None
    for hint_score in scored_hints(played, seat):
        if hint_score.round.position in _certified_positions():
            yield DepthDecision(
                reason_about(hint_score.round.position, listener.way),
                hint_score.hint_value.value >= GOOD,
            )


@lru_cache(maxsize=1)
def _certified_positions() -> frozenset[Position]:
    return frozenset(position_of(p) for row in frozen("which").rows for p in row)


DEPTHS = Depths(ABOUT, _questions, _judge_hints, NOTES)
