"""Single decisions of Cipher: losses, costs, and training tasks."""

from __future__ import annotations

from sally.core.log.events import PlayerSpec
from sally.core.rules.game import Seat
from sally.core.rules.metric import Cost, Played, Terms, terms_of
from sally.core.rules.training import Split, Training, by_problem
from sally.games.cipher.instances import frozen
from sally.games.cipher.metrics import scored_guesses, scored_hints, splits
from sally.games.cipher.rules import ENCODER, Cipher, Hints

HINTS = (
    "chance that the decoder alone is right, by the declared listeners and all triples of the 25 "
    "nearest words a digit"
)
GUESSES = {
    "decoder": "chance of the code, by the posterior under the declared encoder",
    "interceptor": "chance of the code, by a Bayesian listener",
}


def LOSSES(played: Played, seat: Seat) -> Terms:
    """Return the mean losses over rounds in which the encoder's model of the listeners is known."""
    parts = [(each.modelling, each.play, each.regret) for each in splits(played, seat)]
    return terms_of(parts, None)


def COSTS(played: Played, seat: Seat) -> list[Cost]:
    """Return the cost of every decision of a seat that can be judged."""
    if seat == ENCODER:
        return [
            Cost(each.round.turn, max(each.regret, 0.0), (Hints(*each.best.hints),), HINTS)
            for each in scored_hints(played, seat)
        ]
    return [
        Cost(each.turn, max(each.regret, 0.0), each.best, GUESSES[seat])
        for each in scored_guesses(played, seat)
    ]


def _training_tasks(game: str) -> Split:
    """Return the frozen games, split into parts; the learner intercepts clear hints."""
    rows = range(len(frozen(Cipher().set).rows))
    problems = {f"{game}_{n}": {"number": n} for n in rows}
    others = {"encoder": PlayerSpec("nearest"), "decoder": PlayerSpec("by_keywords")}
    return by_problem(game, "interceptor", problems, others)


TRAINING = Training(_training_tasks)
