"""Cost of each decision of an episode, with the player's predictions and the truth.

A game may declare its own costs (`COSTS`). For independent decisions, each either right or wrong,
the cost follows from the best replies to the truth. Otherwise, paired continuations estimate it
(`sally.analysis.decisions.rollouts`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from sally.core.display.scenes import about, named_move, named_value, texts_of
from sally.core.errors import unknown
from sally.core.log.events import Episode, Forfeited, Moved, Reported
from sally.core.match.seat_context import SeatContext
from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.core.rules.metric import Cost, Costs, Played, judge_report
from sally.core.rules.probe import At
from sally.frames.measured_seat import seats_under_study
from sally.frames.replays import replay_for_measures as replay_of

RIGHT = "the best reply to what was true"
FORFEITED = "(forfeited)"


class Expected(msgspec.Struct, frozen=True):
    """A prediction that a player stated before its move, and the truth."""

    probe: str
    said: str
    true: str | None
    right: bool | None


class DecisionCost(msgspec.Struct, frozen=True):
    """One decision in words, with its cost."""

    turn: int
    seat: str
    did: str
    best: tuple[str, ...]  # empty if not known for each move
    loss: float
    how: str
    expected: tuple[Expected, ...] = ()
    interval: list[float] | None = None  # of a sampled loss


def costs_of(played: Played, seat: Seat) -> list[Cost]:
    """Return the costs of a seat's decisions, as far as the game defines them."""
    game_costs: Costs | None = registry.part(played.spec.name, "costs")
    if game_costs is not None:
        return game_costs(played, seat)
    value_if_right = played.spec.measured.doing.right
    return [] if value_if_right is None else list(_of_choices(played, seat, value_if_right))


def _of_choices(played: Played, seat: Seat, value_if_right: float) -> Iterator[Cost]:
    """Yield the costs of independent decisions, each of which is either right or wrong."""
    for step in played.replay.steps():
        if seat in (*step.moves, *step.forfeited):
            best = _right_moves(played, seat, step.turn)
            if best is not None:
                is_wrong = step.moves.get(seat) not in best
                yield Cost(step.turn, value_if_right * is_wrong, best, RIGHT)


def _right_moves(played: Played, seat: Seat, turn: int) -> tuple[Any, ...] | None:
    """Return the moves that are best given the true answers about the other players; None if a true
    answer is unknown."""
    spec, replay = played.spec, played.replay
    if spec.measured.best_replies is None:
        return None
    view, belief = replay.view(turn, seat), dict[str, Any]()
    for probe in spec.probes:
        is_acted_on = probe.name in (spec.measured.acts_on or (probe.name,))
        fits = probe.of_mind and seat in probe.seats and is_acted_on
        for question in probe.asks(replay.game, view, seat) if fits else ():
            true = probe.truth(replay, At(turn, seat, probe.name, question.about))
            if true is None:
                return None
            belief[question.about] = true
    replies = spec.measured.best_replies(replay.game, view, belief)
    return replies if isinstance(replies, tuple) else None


# --- in words -------------------------------------------------------------------------------------


def decisions_by_cost(played: Played, seats: Sequence[str] = ()) -> list[DecisionCost]:
    """Return the decisions of these seats, or of the studied ones, costliest first."""
    chosen = chosen_seats(played, seats)
    decisions = [in_words(played, seat, cost) for seat in chosen for cost in costs_of(played, seat)]
    return sorted(decisions, key=lambda decision: (-decision.loss, decision.turn))


def chosen_seats(played: Played, seats: Sequence[str]) -> list[Seat]:
    """Return the named seats; if none are named, the studied seats, or else all seats.

    Raises:
        BadInput: If a seat is unknown.
    """
    everyone = played.replay.game.seats
    for seat in seats:
        if seat not in everyone:
            raise unknown(f"seat of {played.spec.name}", seat, everyone)
    selected = seats or seats_under_study(played.episode.setup) or everyone
    return [seat for seat in everyone if seat in selected]


def in_words(
    played: Played, seat: Seat, cost: Cost, interval: list[float] | None = None
) -> DecisionCost:
    """Describe the cost of a decision in words, with the names of the moves and the player's
    predictions."""
    words = _context(played, seat).words
    move = played.replay.move(cost.turn, seat)
    return DecisionCost(
        cost.turn,
        seat,
        FORFEITED if move is None else named_move(words, seat, move),
        tuple(named_move(words, seat, best_move) for best_move in cost.best),
        cost.loss,
        cost.how,
        tuple(_list_expectations(played, seat, cost.turn)),
        interval,
    )


def _list_expectations(played: Played, seat: Seat, turn: int) -> Iterator[Expected]:
    words = _context(played, seat).words
    for event in played.episode.events:
        if not (isinstance(event, Reported) and (event.turn, event.seat) == (turn, seat)):
            continue
        judged = judge_report(played.spec, played.replay, event)
        question = judged.question if judged else None
        stated = named_value(words, question, event.value, event)
        true = judged.truth if judged else None
        true_name = None if true is None else named_value(words, question, true, event)
        yield Expected(about(event), stated, true_name, judged.right if judged else None)


def _context(played: Played, seat: Seat) -> SeatContext:
    texts = texts_of(played.episode.setup.lineup.get(seat))
    return SeatContext(played.spec, played.replay.game, seat, 0, texts)


def costs_by_turn(episode: Episode) -> dict[tuple[int, str], DecisionCost]:
    """Return the costs of an episode's decisions by turn and seat."""
    return {
        (decision.turn, decision.seat): decision
        for decision in decisions_by_cost(replay_of(episode))
    }


def list_decisions(episode: Episode) -> list[tuple[int, str]]:
    """Return the turn and seat of each move and forfeit."""
    return [(e.turn, e.seat) for e in episode.events if isinstance(e, Moved | Forfeited)]
