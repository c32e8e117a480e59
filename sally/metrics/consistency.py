"""Acting on a prediction: whether moves are best replies to the player's own prediction.

The truth is not used. A random move is sometimes a best reply too; `chance` is the share of random
moves that would be best replies, for comparison.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.core.rules.menu import is_finite
from sally.core.rules.metric import JudgedReport, Metric, Played, cache_by_seat
from sally.metrics.answers import list_counted_reports


class DecisionFit(msgspec.Struct, frozen=True):
    """One decision and whether it fits the prediction that the player had stated."""

    turn: int
    fits: bool  # whether the move is a best reply to the prediction
    chance: float | None  # the share of the menu that fits; None for free text
    best: tuple[int, ...] | None = None  # the options that fit, by their index in the menu
    decides: bool | None = None  # whether another prediction has other best replies, if known


@cache_by_seat
def list_decision_fits(played: Played, seat: Seat) -> list[DecisionFit]:
    """Return a seat's decisions for which it had predicted all that a best reply depends on."""
    game_function: Callable[[Played, Seat], list[DecisionFit]] | None = registry.part(
        played.spec.name, "acting"
    )
    if game_function is not None:
        return game_function(played, seat)
    if played.spec.measured.best_replies is None:
        return []
    return [
        fit
        for turn, belief in beliefs(played, seat)
        if (fit := judge_decision(played, seat, turn, belief)) is not None
    ]


def belief_answers(played: Played, seat: Seat) -> Iterator[JudgedReport]:
    """Yield the predictions of a seat that best replies depend on."""
    spec = played.spec
    for answer in list_counted_reports(played, seat):
        probe = answer.report.probe
        if spec.probe(probe).of_mind and probe in (spec.measured.acts_on or (probe,)):
            yield answer


def beliefs(played: Played, seat: Seat) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield each turn in which a seat moved and all its predictions are readable, with the
    predictions."""
    replay = played.replay
    beliefs_by_turn: dict[int, dict[str, Any]] = {}
    for answer in belief_answers(played, seat):
        report = answer.report
        belief = report.odds if answer.question.kind == "odds" else report.value
        beliefs_by_turn.setdefault(report.turn, {})[report.about] = belief
    for turn in range(len(replay)):
        if (
            replay.move(turn, seat) is not None
            and None not in beliefs_by_turn.get(turn, {}).values()
        ):
            yield turn, beliefs_by_turn.get(turn, {})


class ForecastFit(msgspec.Struct, frozen=True):
    """One move, and the moves that are best in the next round if the player's forecast is right;
    moves are given by their index in the menu."""

    move: int
    best: frozenset[int]
    menu: int  # number of options
    copies: frozenset[int] = frozenset()  # the options that copy the forecast move
    # the best replies here to each forecast of the episode; None: it cannot be made here
    replies: tuple[frozenset[int] | None, ...] = ()

    @property
    def is_best_copied(self) -> bool:
        """Whether the only best reply is to copy the forecast move."""
        return len(self.best) == 1 and self.best <= self.copies


def forecast_fits(
    played: Played, seat: Seat, labels: Mapping[int, int | None] | None = None
) -> list[ForecastFit]:
    """Return the moves after a forecast, with the best replies to it in the next round alone.

    `labels` has the option with the label of the forecast move, by turn.

    Later rounds, and what the other will really do, do not matter: the player was asked about the
    next round only.
    """
    if played.spec.measured.best_replies is None:
        return []
    fits: dict[int, ForecastFit] = {}  # by turn
    for turn, belief in beliefs(played, seat):
        if not belief:
            continue
        fit = judge_decision(played, seat, turn, belief)
        menu = played.replay.game.options(played.replay.states[turn], seat)
        if fit is not None and fit.best is not None and is_finite(menu):
            move = menu.index(played.replay.move(turn, seat))
            copies = copied_options(played, seat, turn, belief, labels or {})
            fits[turn] = ForecastFit(move, frozenset(fit.best), len(menu), copies)
    return with_replies(played, seat, fits)


def with_replies(played: Played, seat: Seat, fits: Mapping[int, ForecastFit]) -> list[ForecastFit]:
    """Return the fits, by turn, with the best replies there to each forecast of the episode, if
    they decide which moves can be contrasted."""
    if not contrast_of(list(fits.values()))[0]:
        return list(fits.values())
    replies = replies_by_turn(played, seat)
    return [msgspec.structs.replace(fit, replies=replies[turn]) for turn, fit in fits.items()]


def replies_by_turn(played: Played, seat: Seat) -> dict[int, tuple[frozenset[int] | None, ...]]:
    """Return, by turn, the best replies to each forecast of the episode if it had been stated
    there; None for a forecast that cannot be made there."""
    stated = [(turn, belief) for turn, belief in beliefs(played, seat) if belief]
    choices = {
        (answer.turn, answer.report.about): answer.question.choices
        for answer in belief_answers(played, seat)
        if answer.question.kind == "choice"
    }
    forecasts: list[tuple[Any, ...]] = []
    for _, belief in stated:
        forecast = tuple(belief[about] for about in sorted(belief))
        if forecast not in forecasts:
            forecasts.append(forecast)

    def replies_to(
        turn: int, abouts: Sequence[str], forecast: tuple[Any, ...]
    ) -> frozenset[int] | None:
        if len(forecast) != len(abouts) or not all(
            value in choices.get((turn, about), (value,))
            for about, value in zip(abouts, forecast, strict=True)
        ):
            return None
        fit = judge_decision(played, seat, turn, dict(zip(abouts, forecast, strict=True)))
        return None if fit is None or fit.best is None else frozenset(fit.best)

    return {
        turn: tuple(replies_to(turn, sorted(belief), forecast) for forecast in forecasts)
        for turn, belief in stated
    }


def copied_options(
    played: Played, seat: Seat, turn: int, belief: dict[str, Any], labels: Mapping[int, int | None]
) -> frozenset[int]:
    """Return the options that copy a forecast move: with its label, or the same move where the
    other chooses from the same menu."""
    game, state = played.replay.game, played.replay.states[turn]
    menu, label = game.options(state, seat), labels.get(turn)
    copies = set() if label is None else {label}
    for about, forecast in belief.items():
        is_move = about in game.to_move(state) and game.options(state, Seat(about)) == menu
        if is_move and len(belief) == 1 and type(forecast) in (int, str) and forecast in menu:
            copies.add(menu.index(forecast))
    return frozenset(copies)


def contrast_of(fits: Sequence[ForecastFit]) -> tuple[int, float]:
    """Return how many moves can be contrasted, and the sum of their contrasts.

    The contrast of a move is whether it is a best reply to its own forecast, less the share of best
    replies to that forecast among the moves after forecasts whose best replies are others. Moves
    that do not depend on forecasts have a sum of 0 in expectation; moves that follow a share q of
    them have a mean of q. Two moves are not compared if the same forecasts have other best replies
    in one of their rounds: the best replies would then depend on the round, as the move may, and
    even random forecasts would fit. Moves after a forecast to which the best reply is to copy it
    are not contrasted: whether a player copies its forecast or replies to it cannot be told.

    >>> zero, one = frozenset({0}), frozenset({1})
    >>> contrast_of([ForecastFit(0, zero, 2), ForecastFit(1, one, 2)])
    (2, 2.0)
    >>> contrast_of([ForecastFit(0, zero, 2), ForecastFit(0, one, 2)])
    (2, 0.0)
    >>> contrast_of([ForecastFit(0, zero, 2, zero), ForecastFit(1, one, 2, one)])
    (0, 0.0)
    >>> here, there = (zero, one), (one, zero)
    >>> contrast_of([ForecastFit(0, zero, 2, replies=here), ForecastFit(1, one, 2, replies=there)])
    (0, 0.0)
    """
    groups: dict[tuple[Hashable, ...], list[ForecastFit]] = {}
    for fit in fits:
        key = fit.menu, fit.replies, fit.best, fit.is_best_copied
        groups.setdefault(key, []).append(fit)
    contrasted, contrast = 0, 0.0
    for (*round_kind, _, _), group in groups.items():
        moves, best = [fit.move for fit in group], group[0].best
        if group[0].is_best_copied:
            continue
        others = [
            fit.move
            for (*other_kind, _, _), other_group in groups.items()
            if other_kind == round_kind and not other_group[0].best & best
            for fit in other_group
        ]
        if others:
            hits = sum(move in best for move in moves)
            share = sum(move in best for move in others) / len(others)
            contrasted, contrast = contrasted + len(moves), contrast + hits - share * len(moves)
    return contrasted, contrast


def judge_decision(
    played: Played, seat: Seat, turn: int, belief: dict[str, Any]
) -> DecisionFit | None:
    """Return whether a seat's move was a best reply to a belief, and which moves are; None if that
    is not defined."""
    replay, rule = played.replay, played.spec.measured.best_replies
    replies = rule and rule(replay.game, replay.view(turn, seat), belief)
    if replies is None:
        return None
    is_best = replies if callable(replies) else replies.__contains__
    fits = bool(is_best(replay.move(turn, seat)))
    menu = replay.game.options(replay.states[turn], seat)
    if not is_finite(menu):
        return DecisionFit(turn, fits, None)
    fitting = tuple(n for n, option in enumerate(menu) if is_best(option))
    return DecisionFit(turn, fits, len(fitting) / len(menu), fitting)


def _action_consistency(played: Played, seat: Seat) -> float | None:
    decision_fits = list_decision_fits(played, seat)
    return (
        sum(decision.fits for decision in decision_fits) / len(decision_fits)
        if decision_fits
        else None
    )


METRICS = (
    Metric(
        name="action_consistency",
        about="share of moves that are best replies to the player's own prediction, right or wrong",
        measure=_action_consistency,
        better="higher",
        bounds=(0, 1),
        headline=True,
    ),
)
