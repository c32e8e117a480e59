"""What each decision lost in its own round, as riemer2025 counts it."""

from __future__ import annotations

from typing import Any

import msgspec

from sally.core.errors import BadInput
from sally.core.rules.game import Seat
from sally.core.rules.metric import Played, shared
from sally.games.repeated_games.rounds import (
    finished,
    functional_regret,
    joints,
    loss_table,
    mean_of,
    move_of,
    plain,
    predictions,
    rounds,
    rules,
)
from sally.games.repeated_games.rules import other


class Losses(msgspec.Struct, frozen=True):
    """The myopic loss of one decision, in two steps: to the best reply to the prediction, and on.

    inference + translation = what the move lost against the best reply to the actual move.
    """

    inference: float  # best reply to the truth, less best reply to the prediction
    translation: float  # best reply to the prediction, less what was done; below 0 if that was luck


@shared
def losses(played: Played, seat: Seat) -> list[Losses]:
    """The losses of each played round with a prediction.

    Where several moves are best replies to the prediction, the one that was done counts if it
    is among them, else their mean.
    """
    if not (made := predictions(played, seat)):
        return []
    table = loss_table(rules(played), seat)
    known: dict[Any, tuple[int, ...]] = {}  # here, best replies hang on the belief alone
    found = []
    for answer in made:
        mine = played.replay.move(answer.turn, seat)
        if not isinstance(mine, int):
            continue
        # odds are the belief where odds were asked for; else the one move that was named is
        report, lost = answer.report, table[move_of(answer.truth)]
        belief = report.odds if answer.question.kind == "odds" else report.value
        if belief not in known:
            known[belief] = _replies(played, seat, answer.turn, belief)
        inferred = lost[mine] if mine in known[belief] else mean_of(lost, known[belief])
        found.append(Losses(inferred, lost[mine] - inferred))
    return found


def _replies(played: Played, seat: Seat, turn: int, belief: Any) -> tuple[int, ...]:
    rational, replay = played.spec.best_replies, played.replay
    about = {str(other(seat)): belief}
    replies = rational and rational(replay.game, replay.view(turn, seat), about)
    if not isinstance(replies, tuple) or not replies:
        raise BadInput(f"{played.spec.name} does not say what the best replies are.")
    return replies


def mean_inference_loss(played: Played, seat: Seat) -> float | None:
    """Per predicted round: what wrong predictions would cost a player that replies best to them."""
    found = losses(played, seat) if finished(played) else []
    return sum(each.inference for each in found) / len(found) if found else None


def mean_translation_loss(played: Played, seat: Seat) -> float | None:
    """Per predicted round: what not replying best to one's own prediction cost."""
    found = losses(played, seat) if finished(played) else []
    return sum(each.translation for each in found) / len(found) if found else None


@shared
def myopic_regret(played: Played, seat: Seat) -> float | None:
    """Per played round: the loss against the best reply to the other's actual move."""
    table = loss_table(rules(played), seat)
    lost = [table[theirs][mine] for mine, theirs in joints(played, seat)]
    return sum(lost) / len(lost) if lost and finished(played) else None


def horizon_term(played: Played, seat: Seat) -> float | None:
    """Functional regret less myopic regret: what looking ahead changes, with its sign."""
    far, near = functional_regret(played, seat), myopic_regret(played, seat)
    return None if far is None or near is None else far - near


def format_loss(played: Played, seat: Seat) -> float | None:
    """Per round, void ones included: the best reply's payoff in rounds that the seat forfeited.

    The move that the other had made counts although it was never revealed; where both
    forfeited there was nothing to reply to, and nothing is charged.
    """
    if plain(played):
        return 0.0 if played.replay.moves else None
    game, everything = rules(played), rounds(played, seat)
    if not everything:
        return None
    missed = [r.theirs for r in everything if r.mine is None and r.theirs is not None]
    best = [float(game.pay(seat, game.best_replies(seat, t)[0], t)) for t in missed]
    return sum(best) / len(everything)
