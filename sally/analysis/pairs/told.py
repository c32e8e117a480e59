"""The effect of a stated forecast on moves: does a player act on what it is led to expect?

An informant, whose reliability the page states, says what another player will do. In each position
several statements are made, in separate episodes; two of them form a pair in which only the
statement differs. The slope is the share of moves that are best replies to a forecast where it is
stated, less the same share where the other forecast is stated: J of the pair, 0 for every player
that ignores the statement, q for one that follows it with probability q and else does not.

The slope is the effect of the statement if the page tells nothing else about what the other does.
A player that sees more than the page would have a slope above 0 where statements are true and below
0 where they are false; both are computed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from statistics import fmean
from typing import Any

import msgspec

from sally.core.log.events import Episode, Forfeited, Moved, Reported, Told, label
from sally.core.match.playback import replay_episode
from sally.core.registry import registry
from sally.core.registry.packs import pack_name
from sally.core.rules.game import GameSpec, Seat
from sally.core.rules.menu import is_finite
from sally.core.rules.metric import judge_report
from sally.core.rules.probe import Question
from sally.frames.frame import Frame
from sally.stats.cluster_interval import mean_by_rule
from sally.stats.intervals import Estimate
from sally.stats.pairs import BOUNDS, outcome_of

TOLD, IRRELEVANT, TWIN = "told", "irrelevant", "twin"
ARMS = (TOLD, IRRELEVANT, TWIN)
GroupKey = tuple[str, str, float]  # player, arm, reliability
MOST_UNREADABLE = 0.5  # share of answers that cannot be read, above which a slope is blank


class InformedDecision(msgspec.Struct, frozen=True):
    """One decision after the statement of an informant."""

    player: str
    arm: str
    reliability: float
    position: str
    stated: Any
    is_true: bool | None  # None: what the other did is not known
    best: tuple[Any, ...]  # replies to the stated forecast
    ideal: tuple[Any, ...]  # the best moves of a player that believes the stated reliability
    is_same_label: bool | None  # the best reply has the label of the forecast; None: no such labels
    move: Any  # None: forfeited
    forecast: Any  # reported after the statement; None: not asked, or not read
    is_asked: bool  # whether a forecast was asked


class StatedPair(msgspec.Struct, frozen=True):
    """Two decisions of one player in one position, after different statements."""

    position: str
    slope: float  # of moves that are best replies to the stated forecast
    repeats: float | None  # the same for moves that have the label of the forecast
    forecast: float | None  # the same for reported forecasts
    ideal: float
    is_same_label: bool | None
    is_true: bool | None  # None: one statement is true and the other one is not


class ToldSlope(msgspec.Struct, frozen=True):
    """How moves and reported forecasts of a player follow stated forecasts, in one arm.

    A slope is None without a pair, or if too few answers could be read.
    """

    player: str
    arm: str
    reliability: float
    positions: int
    slope: Estimate | None
    ideal: float | None  # the slope that earns most, if the stated reliability is believed
    forecast: Estimate | None
    same_label: Estimate | None  # the slope where the best reply has the label of the forecast
    other_label: Estimate | None
    repeats: Estimate | None  # of moves that have the label of the forecast
    if_true: Estimate | None  # the slope where the statements of a position are true
    if_false: Estimate | None
    moves: int
    unreadable_moves: int
    forecasts: int
    unreadable_forecasts: int


class ToldDifference(msgspec.Struct, frozen=True):
    """How much larger a slope is than in another arm, over the positions that both have."""

    player: str
    arm: str
    reliability: float
    base_arm: str
    base_reliability: float
    positions: int
    slope: Estimate | None
    forecast: Estimate | None


class ToldResult(msgspec.Struct, frozen=True):
    """The slopes of every player and arm, and the differences that the controls ask for."""

    slopes: tuple[ToldSlope, ...]
    differences: tuple[ToldDifference, ...]


def has_informant(frame: Frame) -> bool:
    """Return whether an informant speaks in one of the episodes."""
    return any(injection.is_informant for setup in frame.setups() for injection in setup.injections)


# --- from episodes to pairs -----------------------------------------------------------------------


def read_informed(episode: Episode) -> InformedDecision | None:
    """Return the decision of a position in which an informant spoke; None if there is none, if the
    episode has no result, or if the game defines no best reply to the statement."""
    position = episode.setup.instance.position
    if not position or episode.payoffs is None:
        return None
    statement = next(
        (e for e in episode.events if isinstance(e, Told) and e.reliability is not None), None
    )
    spec = registry.game(episode.setup.instance.game)
    if statement is None or statement.value is None or spec.measured.best_replies is None:
        return None
    assert statement.reliability is not None
    seat = Seat(statement.seat)
    replay = replay_episode(spec, episode)
    view = replay.view(statement.turn, seat)
    judged = judge_report(spec, replay, statement)
    if judged is None:
        return None
    question = judged.question
    best = _replies(spec, replay.game, view, statement.about, statement.value)
    ideal = _replies(spec, replay.game, view, statement.about, _odds(question, statement))
    if best is None or ideal is None:
        return None
    event = next(
        (
            e
            for e in episode.events
            if isinstance(e, Moved | Forfeited) and e.seat == statement.seat
        ),
        None,
    )
    if event is None:
        return None
    reports = [
        e
        for e in episode.events
        if isinstance(e, Reported)
        and (e.seat, e.probe, e.about) == (seat, statement.probe, statement.about)
    ]
    player = episode.setup.lineup[seat]
    is_twin = pack_name(str(player.params.get("pack", ""))).endswith("_twin")
    if is_twin:
        plain = {key: value for key, value in player.params.items() if key != "pack"}
        player = msgspec.structs.replace(player, params=plain)
    menu = replay.game.options(replay.states[statement.turn], seat)
    has_labels = is_finite(menu) and tuple(menu) == tuple(question.choices)
    return InformedDecision(
        label(player),
        IRRELEVANT if statement.source == "informant_elsewhere" else TWIN if is_twin else TOLD,
        statement.reliability,
        f"{episode.setup.instance.id} {episode.setup.repeat}",
        statement.value,
        judged.right,
        best,
        ideal,
        (best == (statement.value,)) if has_labels else None,
        event.action if isinstance(event, Moved) else None,
        reports[-1].value if reports else None,
        bool(reports),
    )


def _odds(question: Question, statement: Told) -> tuple[float, ...]:
    """Return the odds of each choice for a player that believes the stated reliability, and that
    a statement about another game says nothing about its own."""
    assert statement.reliability is not None
    if statement.source == "informant_elsewhere":
        return (1 / len(question.choices),) * len(question.choices)
    wrong = (1 - statement.reliability) / max(len(question.choices) - 1, 1)
    return tuple(
        statement.reliability if choice == statement.value else wrong for choice in question.choices
    )


def _replies(
    spec: GameSpec, game: Any, view: Any, about: str, belief: Any
) -> tuple[Any, ...] | None:
    assert spec.measured.best_replies is not None
    replies = spec.measured.best_replies(game, view, {about: belief})
    return replies if isinstance(replies, tuple) else None


def stated_pairs(decisions: Iterable[InformedDecision]) -> list[StatedPair]:
    """Return the pairs of decisions in one position with different statements whose best replies
    differ; the decisions are those of one player in one arm."""
    by_position: dict[str, list[InformedDecision]] = {}
    for decision in decisions:
        by_position.setdefault(decision.position, []).append(decision)
    return [
        _pair(first, second)
        for group in by_position.values()
        for first, second in combinations(group, 2)
        if first.stated != second.stated and not set(first.best) & set(second.best)
    ]


def _pair(first: InformedDecision, second: InformedDecision) -> StatedPair:
    best = (first.best, second.best)
    stated = ((first.stated,), (second.stated,))
    moves = (first.move, second.move)
    is_same = first.is_same_label if first.is_same_label == second.is_same_label else None
    has_labels = first.is_same_label is not None and second.is_same_label is not None
    is_asked = first.is_asked and second.is_asked
    return StatedPair(
        first.position,
        outcome_of(moves, best).j,
        outcome_of(moves, stated).j if has_labels else None,
        outcome_of((first.forecast, second.forecast), stated).j if is_asked else None,
        fmean(outcome_of((x, y), best).j for x in first.ideal for y in second.ideal),
        is_same,
        first.is_true if first.is_true == second.is_true else None,
    )


# --- slopes ---------------------------------------------------------------------------------------


def told_slopes(episodes: Iterable[Episode]) -> ToldResult:
    """Return the slopes of every player, arm and stated reliability of these episodes, and the
    differences between arms over the positions that both have."""
    groups: dict[GroupKey, list[InformedDecision]] = {}
    for episode in episodes:
        if (decision := read_informed(episode)) is not None:
            key = decision.player, decision.arm, decision.reliability
            groups.setdefault(key, []).append(decision)
    keys = sorted(groups, key=lambda key: (key[0], ARMS.index(key[1]), key[2]))
    slopes = tuple(slope_of(groups[key]) for key in keys)
    differences = tuple(difference_of(groups[key], groups[base]) for key, base in _contrasts(keys))
    return ToldResult(slopes, differences)


def slope_of(decisions: Sequence[InformedDecision]) -> ToldSlope:
    """Return the slopes of one player in one arm at one stated reliability."""
    first, pairs = decisions[0], stated_pairs(decisions)
    asked_decisions = [decision for decision in decisions if decision.is_asked]
    lost_moves = sum(decision.move is None for decision in decisions)
    lost_forecasts = sum(decision.forecast is None for decision in asked_decisions)
    has_moves = lost_moves <= MOST_UNREADABLE * len(decisions)
    has_forecasts = lost_forecasts <= MOST_UNREADABLE * len(asked_decisions)
    moved = pairs if has_moves else []
    return ToldSlope(
        first.player,
        first.arm,
        first.reliability,
        len({pair.position for pair in pairs}),
        _mean(moved, "slope"),
        fmean(pair.ideal for pair in pairs) if pairs else None,
        _mean(pairs if has_forecasts else [], "forecast"),
        _mean([pair for pair in moved if pair.is_same_label], "slope"),
        _mean([pair for pair in moved if pair.is_same_label is False], "slope"),
        _mean(moved, "repeats"),
        _mean([pair for pair in moved if pair.is_true], "slope"),
        _mean([pair for pair in moved if pair.is_true is False], "slope"),
        len(decisions),
        lost_moves,
        len(asked_decisions),
        lost_forecasts,
    )


def _mean(pairs: Sequence[StatedPair], measure: str) -> Estimate | None:
    """Return the mean of a measure over pairs. Positions are the clusters; those whose best reply
    has the label of the forecast, and the others, are strata, which the design fixed."""
    measured = [
        (value, pair.position, str(pair.is_same_label))
        for pair in pairs
        if (value := getattr(pair, measure)) is not None
    ]
    if not measured:
        return None
    values, positions, strata = zip(*measured, strict=True)
    return mean_by_rule(values, positions, BOUNDS, strata if len(set(strata)) > 1 else None)


def _contrasts(keys: Sequence[GroupKey]) -> Iterator[tuple[GroupKey, GroupKey]]:
    """Yield the groups to compare: a statement with each control of the same reliability, and the
    highest stated reliability with the lowest."""
    for player in dict.fromkeys(player for player, _, _ in keys):
        own_keys = [key for key in keys if key[0] == player]
        told_keys = [key for key in own_keys if key[1] == TOLD]
        for key in told_keys:
            yield from ((key, base) for base in own_keys if base[1] != TOLD and base[2] == key[2])
        if len(told_keys) > 1:
            yield told_keys[-1], told_keys[0]


def difference_of(
    decisions: Sequence[InformedDecision], base: Sequence[InformedDecision]
) -> ToldDifference:
    """Return how much larger the slopes of one group of decisions are than those of another."""
    slopes = slope_of(decisions), slope_of(base)
    pairs = stated_pairs(decisions), stated_pairs(base)

    def difference(measure: str) -> Estimate | None:
        if None in (getattr(slope, measure) for slope in slopes):
            return None
        values, base_values = (_by_position(side, measure) for side in pairs)
        shared = [position for position in values if position in base_values]
        gaps = [values[position] - base_values[position] for position in shared]
        return mean_by_rule(gaps, shared, (2 * BOUNDS[0], 2 * BOUNDS[1])) if gaps else None

    positions, base_positions = ({pair.position for pair in side} for side in pairs)
    return ToldDifference(
        slopes[0].player,
        slopes[0].arm,
        slopes[0].reliability,
        slopes[1].arm,
        slopes[1].reliability,
        len(positions & base_positions),
        difference("slope"),
        difference("forecast"),
    )


def _by_position(pairs: Iterable[StatedPair], measure: str) -> dict[str, float]:
    """Return the mean of a measure in each position."""
    values: dict[str, list[float]] = {}
    for pair in pairs:
        if (value := getattr(pair, measure)) is not None:
            values.setdefault(pair.position, []).append(value)
    return {position: fmean(group) for position, group in values.items()}
